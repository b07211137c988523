"""Groups and persons: what each costs, what is kept, what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt

import attrs
import numpy as np
import pytest
from scipy.stats import dlaplace, ks_2samp, pearsonr

import sourdine as sd
from sourdine import count, histogram, mean, mode, proportion, quantiles, variance
from sourdine.audit import replay
from sourdine.central import Count, Mean, Proportion, Sum, Variance
from sourdine.central.groups import ByGroup
from sourdine.central.ratio import Together
from sourdine.frames.frame import Frame
from sourdine.noise import SYSTEM, SeededSource
from sourdine.questions import STATISTICS
from sourdine.results.release import Release

B = {"bounds": (0, 10), "step": 1}
CALLS = {
    "count": lambda x, **k: count(x, epsilon=1, **k),
    "sum": lambda x, **k: sd.sum(x, epsilon=1, bounds=(-3, 10), step=0.5, **k),
    "mean": lambda x, **k: mean(x, epsilon=1, **B, **k),
    "mean-grid": lambda x, **k: mean(x, epsilon=1, method="exponential", **B, **k),
    "mean-gaussian": lambda x, **k: mean(x, epsilon=1, method="gaussian", delta=0.01, **B, **k),
    "variance": lambda x, **k: variance(x, epsilon=1, **B, **k),
    "proportion": lambda x, **k: proportion(x, epsilon=1, **k),
    "histogram": lambda x, **k: histogram(x, epsilon=1, bins=[0, 4, 10], **k),
    "mode": lambda x, **k: mode(x, epsilon=1, categories=[3, 7, 10], **k),
    "quantiles": lambda x, **k: quantiles(x, [0.25, 0.75], epsilon=1, **B, **k),
    "quantiles-population": lambda x, **k: quantiles(
        x, [0.25, 0.75], epsilon=1, population=True, **B, **k
    ),
    "cdf": lambda x, **k: sd.cdf(x, epsilon=1, **B, **k),
    "cdf-edges": lambda x, **k: sd.cdf(x, epsilon=1, bounds=(0, 10), **k),
}


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_groups_cost_what_they_say(name, relation, rows):
    """One person's rows move from group to group; the costs of all that moves add up to epsilon.

    Replay adds the whole cost of each group that moved, so for added rows one group is enough.
    """
    people = [(i, g, v) for i, (g, v) in enumerate(zip("aabbcc", [3, 7, 0, 10, 5, 3], strict=True))]

    def frame(records):
        i, g, v = zip(*records, strict=True)
        return {"person": list(i), "group": list(g), "value": list(v)}

    def call(x):
        return CALLS[name](
            x, relation=relation, column="value", by="group", keys=["a", "b", "new"],
            unit="person", rows=rows, source=SeededSource(1),
        )  # fmt: skip

    changed = [(9, "a", v) for v in (0, 10, 4)][:rows]
    if relation == "add_remove":
        neighbours = [people + changed, people[1:]]
    else:
        neighbours = [[(0, g, v), *people[1:]] for g in "abz" for v in (0, 10)]
    for neighbour in neighbours:
        result = replay(lambda x: _private(call(x)), frame(people), frame(neighbour))
        assert result.holds, (neighbour, result.faults)


def _private(release):
    """Return a release of a seeded call with the cost it would have had."""
    asked = attrs.evolve(release.mechanism.question, source=SYSTEM)
    return replace(release, cost=asked.cost)


def test_what_is_kept_of_a_person_is_said():
    x = {"who": [1, 1, 2], "value": [5, 6, 7]}
    once = count(x, epsilon=1, unit="who").caveats
    assert (
        "The guarantee is for each who, not each row: one row was kept of each. "
        "Intervals do not cover the rows that were dropped." in once
    )
    twice = mean(x, epsilon=1, column="value", unit="who", rows=2, **B)
    kept = (
        "The guarantee is for each who, not each row: at most 2 rows were kept of each. "
        "Intervals do not cover the rows that were dropped."
    )
    assert kept in twice.caveats
    trusted = mean([5, 6], epsilon=1, rows=2, **B)
    assert (
        "The guarantee is for persons with at most 2 records; this limit is not enforced, because "
        "no unit was given."
    ) in trusted.caveats
    assert not any("guarantee is for" in caveat for caveat in mean([5, 6], epsilon=1, **B).caveats)


def test_rows_of_one_person_are_bounded_across_groups():
    x = {"who": [1] * 400, "group": ["a", "b"] * 200, "value": [5] * 400}
    for keys in (["a", "b"], ["b", "a"]):
        found = count(x, epsilon=100, by="group", keys=keys, unit="who", rows=3, column="value")
        assert abs(sum(found.value.values()) - 3) <= 2


def test_json_of_groups_keeps_keys():
    x = {"v": [1, 2, 3] * 20, "g": [1, 2, 3] * 20, "t": [True, False, True] * 20}
    for by, keys in (("g", [1, 2]), ("t", [True, False])):
        for call in (CALLS["mean"], CALLS["count"], CALLS["variance"]):
            release = call(x, column="v", by=by, keys=keys)
            back = Release.from_json(release.to_json())
            assert list(back.value) == keys
            assert [type(key) for key in back.value] == [type(key) for key in keys]
            assert back.value == release.value
            assert back.interval() == release.interval()
            assert back.mechanism == release.mechanism
            assert str(back) == str(release)
    split = histogram(x, column="v", bins=[0, 2, 4], by="g", keys=[1, 2], epsilon=1)
    back = Release.from_json(split.to_json())
    assert {k: v.tolist() for k, v in back.value.items()} == {
        k: v.tolist() for k, v in split.value.items()
    }
    assert len(str(split).splitlines()) > 5


def test_a_private_number_of_records_is_never_taken_for_public():
    """With groups, or with rows bounded by person, no statistic may divide by the true number."""
    x = {"value": [1, 0, 1], "g": ["a", "b", "a"], "who": [1, 1, 1]}
    for statistic in (
        Mean(bounds=(0, 10), epsilon=1, relation="substitute", column="value"),
        Proportion(epsilon=1, relation="substitute", column="value"),
    ):
        assert statistic.known
        grouped = attrs.evolve(statistic, by="g", keys=["a"])
        assert not ByGroup(question=grouped).part.known
        assert "records" not in grouped.release(x).drawn["groups"][0]
        person = attrs.evolve(statistic, unit="who")
        assert not person.known
        assert "records" not in person.release(x).drawn


def test_group_answers():
    x = {"v": [2] * 1000 + [8] * 1000, "g": ["a"] * 1000 + ["b"] * 1000}
    release = mean(x, column="v", by="g", keys=["a", "b", "none"], epsilon=1, **B)
    assert abs(release.value["a"] - 2) < 1
    assert abs(release.value["b"] - 8) < 1
    assert 0 <= release.value["none"] <= 10
    low, high = release.interval()["a"]
    assert low <= release.value["a"] <= high
    assert str(release).splitlines()[0].split()[:2] == ["g", "mean"]


WRONG = [
    (lambda: count([1], epsilon=1, keys=["a"]), "by must name the column that holds the keys"),
    (lambda: count({"a": [1]}, epsilon=1, by="a"), "keys must list the groups"),
    (lambda: count({"a": [1]}, epsilon=1, by="a", keys=[]), "keys must hold at least one"),
    (lambda: count({"a": [1]}, epsilon=1, by="a", keys=5), "keys must be a list"),
    (lambda: count({"a": [1]}, epsilon=1, by="b", keys=["x"]), "The columns are: 'a'"),
    (lambda: count({"a": [1]}, epsilon=1, unit="b"), "The columns are: 'a'"),
    (lambda: count({"a": [1]}, epsilon=1, unit=3), "unit must be a column name"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)


LAPLACE = {
    "count": {"epsilon": 1},
    "sum": {"epsilon": 1, "bounds": (-3, 10), "step": 0.5},
    "mean": {"epsilon": 1, **B},
    "variance": {"epsilon": 1, **B},
    "proportion": {"epsilon": 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAPLACE)
def test_noise_of_all_groups_has_the_law_of_each(name):
    """Noise of 4000 groups in one call against that of 4000 single calls: the same law."""
    kind = {"count": Count, "sum": Sum, "mean": Mean, "variance": Variance}.get(name, Proportion)
    made = kind(source=SeededSource(5), **LAPLACE[name])
    rows = Frame([0, 1, 1, 0, 1])
    together = made.draw_all([rows] * 4000)
    alone = [made.draw(rows) for _ in range(4000)]
    assert together[0].keys() == alone[0].keys()
    for number in alone[0]:
        both = ([drawn[number] for drawn in draws] for draws in (together, alone))
        assert ks_2samp(*both).pvalue > 1e-4
    assert all(type(x) is int for drawn in together for x in drawn.values())


def test_intervals_of_groups_hold_together():
    x = {"g": list("abcd") * 50}
    found = count(x, epsilon=0.1, by="g", keys=list("abcd"))
    half = Count(epsilon=0.1).mechanism.error(1 - 0.95**0.25)
    for key, (low, high) in found.interval(0.95).items():
        assert high - found.value[key] == half
        assert low == min(max(found.value[key] - half, 0), found.value[key])
    assert half > Count(epsilon=0.1).mechanism.error(0.05)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("sensitivity", [1, 50, 10**6])
def test_noise_of_all_groups_fits_the_exact_law(sensitivity):
    """The distribution function of 40,000 groups' noise; a scale 10% off would show."""
    made, n = Together(epsilon=1, sensitivity=sensitivity), 20_000
    drawn = made.release_all([(7, -3)] * n, source=SeededSource(9))
    noise = np.sort([x for a, b in drawn for x in (a - 7, b + 3)])

    def off(scale):
        law = dlaplace(1 / scale).cdf(np.unique(noise))
        return abs(law - noise.searchsorted(np.unique(noise), side="right") / (2 * n)).max()

    most = sqrt(np.log(2 / 1e-4) / (4 * n))
    assert off(sensitivity) < most < off(1.1 * sensitivity)


def test_noise_of_groups_is_independent():
    drawn = Count(epsilon=1, source=SeededSource(6)).draw_all([Frame([1])] * 20_000)
    noise = [own["count"] for own in drawn]
    assert abs(pearsonr(noise[1:], noise[:-1]).statistic) < 5 / sqrt(20_000)


def test_sums_beyond_64_bits_keep_their_noise():
    many = Together(epsilon=1, sensitivity=3)
    drawn = many.release_all([(2**70, 5), (-(2**70), 6)] * 500, source=SeededSource(7))
    off = [x - y for (a, b) in drawn for x, y in ((abs(a), 2**70), (b, 5.5))]
    assert max(map(abs, off)) < 3 * 30
    assert len({a for a, _ in drawn}) > 10


@pytest.mark.parametrize("name", LAPLACE)
def test_seeded_groups_are_repeated(name):
    call = getattr(sd, name)
    x = {"g": list("abcab"), "v": [0, 1, 1, 0, 1]}
    asked = {"column": "v", "by": "g", "keys": list("abc"), **LAPLACE[name]}
    first, again = (call(x, source=SeededSource(8), **asked).value for _ in range(2))
    assert first == again


@pytest.mark.parametrize("finds", [False, True])
def test_of_very_many_groups_the_first_are_printed(finds):
    keys = [f"town {i:04d}" for i in range(1000)]
    known = {"keys": "unknown", "delta": 1e-6} if finds else {"keys": keys}
    release = count({"town": keys * 60}, by="town", epsilon=4, **known)
    lines = str(release).splitlines()
    assert len(lines) < 220
    assert any("The first 200 of 1000 groups are shown" in line for line in lines)
    whole = release.columns()
    assert len(whole.values) == 1000
    assert lines[1].endswith(f"[{whole.lower[0]}, {whole.upper[0]}]")
    assert "are shown" not in str(count({"town": keys}, by="town", keys=keys[:200], epsilon=1))


def test_json_keeps_groups_whose_names_would_read_alike():
    data = {"a": ["x", "x, y"] * 50, "b": ["y, z", "z"] * 50}
    keys = {"a": ["x", "x, y"], "b": ["y, z", "z"]}
    release = count(data, by=["a", "b"], keys=keys, epsilon=1)
    value = release.to_dict()["value"]
    assert [tuple(json.loads(name)) for name in value] == list(release.value)
    assert list(value.values()) == list(release.value.values())


NAMED_ALIKE = {
    "count": {},
    "proportion": {"column": "y", "category": 1},
    **{name: {"column": "y", "bounds": (0, 3)} for name in ("sum", "mean", "variance", "median")},
    "quantile": {"column": "y", "q": 0.9, "bounds": (0, 3)},
    "histogram": {"column": "y", "categories": [1, 2]},
    "quantiles": {"column": "y", "q": [0.1, 0.9], "bounds": (0, 3)},
    "cdf": {"column": "y", "bounds": (0, 3), "step": 1},
    "mode": {"column": "y", "categories": [1, 2]},
    "table": {"of": {"y": ["mean", "deciles"]}, "bounds": {"y": (0, 3)}},
    "std": {"column": "y", "bounds": (0, 3)},
    **{
        name: {"x": "x", "y": "y", "bounds": {"x": (0, 3), "y": (0, 3)}}
        for name in ("covariance", "correlation", "regression")
    },
}


def test_each_statistic_is_asked_by_columns_named_alike():
    assert NAMED_ALIKE.keys() == STATISTICS.keys() - {"sql"}  # which names its columns itself


@pytest.mark.slow
@pytest.mark.parametrize(("statistic", "asked"), NAMED_ALIKE.items())
def test_groups_keep_their_names_whatever_their_column_is_called(statistic, asked):
    data = {"g": ["a", "b"] * 50, "x": [1, 3, 2, 2] * 25, "y": [1, 2] * 50}
    own = getattr(sd, statistic)(data, by="g", keys=["a", "b"], epsilon=1, **asked).to_frame()
    for name in own.columns[1:]:
        frame = getattr(sd, statistic)(
            {name: data["g"], "x": data["x"], "y": data["y"]},
            by=name,
            keys=["a", "b"],
            epsilon=1,
            **asked,
        ).to_frame()
        assert list(frame.columns) == [f"{name}_", *own.columns[1:]]
        assert set(frame[f"{name}_"]) == {"a", "b"}


def test_a_table_has_its_groups_if_their_column_is_called_q():
    data = {"q": ["a", "b"] * 50, "y": [1, 2] * 50}
    asked = {"of": {"y": ["mean"]}, "bounds": {"y": (0, 3)}, "epsilon": 1}
    text = str(sd.table(data, by="q", keys=["a", "b"], **asked))
    assert [line.split()[0] for line in text.splitlines()[:3]] == ["q", "a", "b"]
