"""Whole public calls: on neighbours, on strange data, through JSON, with wrong parameters."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from sourdine import central
from sourdine.audit import replay
from sourdine.central import (
    Mean,
    Proportion,
    ask,
    by_group,
    count,
    histogram,
    mean,
    proportion,
    variance,
)
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource
from sourdine.release import Release
from sourdine.tally import Frame

NAN, INF = float("nan"), float("inf")
B = {"bounds": (0, 10), "step": 1}
CALLS = {
    "count": lambda x, **k: count(x, epsilon=1, **k),
    "sum": lambda x, **k: central.sum(x, epsilon=1, bounds=(-3, 10), step=0.5, **k),
    "mean": lambda x, **k: mean(x, epsilon=1, **B, **k),
    "mean-exclude": lambda x, **k: mean(x, epsilon=1, missing="exclude", **B, **k),
    "mean-gaussian": lambda x, **k: mean(x, epsilon=1, delta=1e-6, method="gaussian", **B, **k),
    "mean-grid": lambda x, **k: mean(x, epsilon=1, method="exponential", **B, **k),
    "mean-grid-exclude": lambda x, **k: mean(
        x, epsilon=1, method="exponential", missing="exclude", **B, **k
    ),
    "variance": lambda x, **k: variance(x, epsilon=1, **B, **k),
    "proportion": lambda x, **k: proportion(x, epsilon=1, **k),
    "proportion-n": lambda x, **k: proportion(x, epsilon=1, n=6, **k),
    "proportion-of": lambda x, **k: proportion(x, category=3, epsilon=1, **k),
    "histogram": lambda x, **k: histogram(x, epsilon=1, bins=4, bounds=(0, 10), **k),
    "histogram-keys": lambda x, **k: histogram(x, epsilon=1, keys=[1, 2, 3], missing=True, **k),
    "histogram-unknown": lambda x, **k: histogram(x, epsilon=1, delta=0.1, keys="unknown", **k),
}
RELATIONS = ["add_remove", "substitute"]
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
relations = pytest.mark.parametrize("relation", RELATIONS)
STRANGE = {
    "none": [],
    "one": [3.0],
    "two": [3.0, 7.0],
    "all missing": [NAN, NAN, None],
    "infinite": [INF, -INF, 3],
    "equal": [5] * 50,
    "outside": [1e9, -1e9, 55] * 20,
    "texts": ["a", "b", None, "3"],
    "huge": [10**30, -(10**30), 2**63],
}
BASE = [3, 7, 0, 10, NAN, 3]


def pairs(relation):
    """Return neighbours of the base: one record fewer, or of another value, or missing."""
    if relation == "add_remove":
        return [BASE[:i] + BASE[i + 1 :] for i in range(len(BASE))] + [
            [*BASE, v] for v in (0, 10, NAN)
        ]
    return [[*BASE[:-1], v] for v in (0, 10, 99, -99, NAN, INF)] + [[*BASE[:4], 5, 3]]


@every
@relations
def test_neighbours_see_the_same(call, relation):
    for neighbour in pairs(relation):
        result = replay(lambda x: call(x, relation=relation), BASE, neighbour)
        assert result.holds, (neighbour, result.faults)


@relations
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("name", ["count", "sum", "mean", "mean-grid", "variance", "proportion"])
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
    return replace(release, cost=release.mechanism.cost)


def test_what_is_kept_of_a_person_is_said():
    x = {"who": [1, 1, 2], "value": [5, 6, 7]}
    once = count(x, epsilon=1, unit="who").caveats
    assert "The promise is for each who, not for each row: of each one row was kept." in once
    twice = mean(x, epsilon=1, column="value", unit="who", rows=2, **B)
    kept = "The promise is for each who, not for each row: of each at most 2 rows were kept."
    assert kept in twice.caveats
    assert "The promise is for a person, with at most 2 records." in twice.caveats
    trusted = mean([5, 6], epsilon=1, rows=2, **B)
    assert "That nobody owns more is taken on trust: unit= was not given." in trusted.caveats


def test_rows_of_one_person_are_bounded_across_groups():
    x = {"who": [1] * 400, "group": ["a", "b"] * 200, "value": [5] * 400}
    for keys in (["a", "b"], ["b", "a"]):
        found = count(x, epsilon=100, by="group", keys=keys, unit="who", rows=3, column="value")
        assert abs(sum(found.value.values()) - 3) <= 2


@every
@relations
@pytest.mark.parametrize("name", STRANGE)
def test_strange_data_gives_an_ordinary_answer(call, relation, name):
    release = call(STRANGE[name], relation=relation)
    text, back = str(release), release.to_json()
    assert "NaN" not in back
    assert "Infinity" not in back
    assert text.startswith(" ") or text[0].isalpha()
    usual = call([1, 2, 3], relation=relation)
    assert release.caveats == usual.caveats
    assert release.cost == usual.cost
    assert set(json.loads(back)) == set(json.loads(usual.to_json()))
    release.interval(0.9)


@relations
@pytest.mark.parametrize("name", STRANGE)
def test_answers_stay_within_the_bounds(relation, name):
    for method in ("laplace", "exponential"):
        release = mean(STRANGE[name], epsilon=1, relation=relation, method=method, **B)
        low, high = release.interval()
        assert 0 <= low <= release.value <= high <= 10
    assert 0 <= variance(STRANGE[name], epsilon=1, relation=relation, **B).value <= 25
    assert 0 <= proportion(STRANGE[name], epsilon=1, relation=relation).value <= 1


def test_2990_zeros_and_one_1():
    x = [0] * 2990 + [1]
    for relation in RELATIONS:
        release = mean(x, bounds=(0, 1), step=1, epsilon=1, relation=relation)
        assert 0 <= release.value < 0.01
        low, high = release.interval()
        assert high - low < 0.01


@every
@relations
def test_json_both_ways(call, relation):
    release = call([1, 2, 3] * 30, relation=relation)
    back = Release.from_json(release.to_json())
    assert back.to_json() == release.to_json()
    assert str(back) == str(release)
    assert back.mechanism == release.mechanism
    assert str(back.interval(0.9)) == str(release.interval(0.9))
    assert back.cost == release.cost
    assert type(back.value) is type(release.value)
    assert "<table>" in back._repr_html_()


def test_json_of_groups_keeps_keys():
    x = {"v": [1, 2, 3] * 20, "g": [1, 2, 3] * 20, "t": [True, False, True] * 20}
    for by, keys in (("g", [1, 2]), ("t", [True, False])):
        for call in (CALLS["mean"], CALLS["count"], CALLS["variance"]):
            release = call(x, column="v", by=by, keys=keys)
            back = Release.from_json(release.to_json())
            assert list(back.value) == keys
            assert back.value == release.value
            assert back.interval() == release.interval()
            assert str(back) == str(release)
    split = histogram(x, column="v", bins=[0, 2, 4], by="g", keys=[1, 2], epsilon=1)
    assert Release.from_json(split.to_json()).value == split.value
    assert len(str(split).splitlines()) > 5


def test_a_seeded_call_is_not_private():
    for call in CALLS.values():
        one, two = (call([1, 2, 3], source=SeededSource(4)) for _ in range(2))
        assert "NOT PRIVATE" in str(one)
        assert one.to_json() == two.to_json()


def test_a_private_number_of_records_is_never_taken_for_public():
    """With groups, or with rows bounded by person, no statistic may divide by the true number."""
    for statistic in (
        Mean(bounds=(0, 10), epsilon=1, relation="substitute"),
        Proportion(epsilon=1, relation="substitute"),
        Proportion(epsilon=1, n=100),
    ):
        assert statistic.known
        assert not by_group(statistic, "g", ["a"]).part.known
        x = {"value": [1, 0, 1], "g": ["a", "b", "a"], "who": [1, 1, 1]}
        named = replace(statistic, column="value")
        assert not ask(named, x, unit="who").mechanism.known
        assert "records" not in ask(by_group(named, "g", ["a"]), x).drawn["groups"][0]


def test_group_answers():
    x = {"v": [2] * 1000 + [8] * 1000, "g": ["a"] * 1000 + ["b"] * 1000}
    release = mean(x, column="v", by="g", keys=["a", "b", "none"], epsilon=1, **B)
    assert abs(release.value["a"] - 2) < 1
    assert abs(release.value["b"] - 8) < 1
    assert 0 <= release.value["none"] <= 10
    low, high = release.interval()["a"]
    assert low <= release.value["a"] <= high
    assert str(release).splitlines()[0].split()[:2] == ["g", "mean"]


def test_unknown_keys_are_named_if_many_have_them():
    x = ["oak"] * 500 + ["elm"] * 300 + [f"tree {i}" for i in range(200)]
    release = histogram(x, keys="unknown", epsilon=1, delta=1e-6)
    assert set(release.value) == {"oak", "elm"}
    low, high = release.interval(1 - 1e-9)["oak"]
    assert low <= 500 <= high
    assert "oak" in str(release)


WRONG = [
    (lambda: count([1]), "epsilon or error must be given, one of the two, got neither. Type"),
    (lambda: count([1], epsilon=1, error=1), "one of the two, got both"),
    (lambda: count([1], epsilon=0), "epsilon must be above 0, got 0. Type"),
    (lambda: count([1], epsilon=1, rows=0), "rows must be at least 1, got 0. Type"),
    (lambda: count([1], epsilon=1, relation="local"), "must be 'add_remove' or 'substitute'"),
    (lambda: count([1], epsilon=1, relation="x"), "relation must be"),
    (lambda: count([1], epsilon=1, keys=["a"]), "by must be the column that holds the keys"),
    (lambda: count({"a": [1]}, epsilon=1, by="a"), "keys must be a list of the groups, got None"),
    (lambda: count({"a": [1]}, epsilon=1, by="a", keys=[]), "keys must hold at least one"),
    (lambda: count({"a": [1]}, epsilon=1, by="b", keys=["x"]), "The columns are: 'a'"),
    (lambda: count({"a": [1]}, epsilon=1, unit="b"), "The columns are: 'a'"),
    (lambda: count({"a": [1]}, epsilon=1, unit=3), "unit must be a column's name"),
    (lambda: mean([1], error=1e-12, n=10, bounds=(0, 1)), "error must be reachable"),
    (lambda: count([1], error=-1), "error must be above 0"),
    (lambda: mean([1], epsilon=1), "bounds read off the data would give its extreme records away"),
    (lambda: mean([1], epsilon=1, bounds=3), "bounds must be two numbers"),
    (lambda: mean([1], epsilon=1, bounds=(1, 0)), "bounds must be two numbers in order"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), step=0.3), "step must divide"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), step=1e-15), "at most 2**40 points"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), method="x"), "method must be 'laplace'"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), method="gaussian"), "delta must be above 0"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), delta=0.1), "delta must be 0 for method"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), missing="x"), "missing must be 'auto'"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), missing="middle"), "missing must be 'exclude'"),
    (
        lambda: mean(
            {"a": [1], "b": [1]},
            epsilon=1,
            column="a",
            bounds=(0, 1),
            unit="b",
            relation="substitute",
            missing="middle",
        ),
        "missing must be 'exclude' with unit= or by=",
    ),
    (lambda: mean({"a": [1], "b": [1]}, epsilon=1, bounds=(0, 1)), "The columns are: 'a', 'b'"),
    (lambda: mean([1], error=1, bounds=(0, 1)), "n must be a number for the error of a mean"),
    (lambda: proportion([1], epsilon=1, n=0), "n must be at least 1"),
    (lambda: proportion([1], epsilon=1, missing="no"), "missing must be 'exclude'"),
    (lambda: proportion([1], epsilon=1, missing="x"), "missing must be 'auto'"),
    (lambda: proportion([1], epsilon=1, missing="exclude", n=3), "missing must be 'no'"),
    (lambda: histogram([1], epsilon=1), "what is counted must be public"),
    (lambda: histogram([1], epsilon=1, bins=3), "bounds must be two public numbers"),
    (lambda: histogram([1], epsilon=1, bins="x"), "bins must be a number or a list"),
    (lambda: histogram([1], epsilon=1, bins=0, bounds=(0, 1)), "bins must be at least 1"),
    (lambda: histogram([1], epsilon=1, bins=10**7, bounds=(0, 1)), "bins must be at most"),
    (lambda: histogram([1], epsilon=1, bins=[0, 1], bounds=(0, 1)), "bounds must be left out"),
    (lambda: histogram([1], epsilon=1, keys="x"), "keys must be a list or 'unknown'"),
    (lambda: histogram([1], epsilon=1, keys=[]), "keys must hold at least one"),
    (lambda: histogram([1], epsilon=1, keys=[1], missing=1), "missing must be True or False"),
    (
        lambda: histogram([1], epsilon=1, keys=[1], delta=0.1),
        "delta must be 0 where keys are known",
    ),
    (lambda: histogram([1], epsilon=1, keys="unknown"), "would give that person away"),
    (
        lambda: histogram([1], epsilon=1, keys="unknown", delta=0.1, missing=True),
        "must be left out where keys are unknown",
    ),
    (lambda: count([1], epsilon=1).interval(of="law"), "of must be 'sample' or 'population'"),
    (lambda: count([1], epsilon=1).interval(of="population"), "Ask sourdine.mean"),
    (lambda: count([1], epsilon=1).interval(1.2), "confidence must be above 0 and below 1"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text):
    with pytest.raises((ParameterError, ParameterTypeError)) as caught:
        call()
    assert text in str(caught.value)
    assert ", got " in str(caught.value)


def test_parameters_are_read_before_the_data():
    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(name)

    with pytest.raises(ParameterError, match="bounds must be two public numbers"):
        mean(Untouchable(), epsilon=1)
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        histogram(Untouchable(), epsilon=-1, bins=2, bounds=(0, 1))


def test_every_kind_of_data():
    """The mean of a list, an array, a frame and a frame of ours is one and the same."""
    x = [1, 2, 3, None, 5]
    kinds = [x, np.array([1, 2, 3, NAN, 5]), {"value": x}, Frame(x)]
    drawn = {mean(k, epsilon=1, source=SeededSource(1), **B).value for k in kinds}
    assert len(drawn) == 1


def test_numbers_are_shown_to_two_digits_of_their_interval():
    lines = str(mean([5] * 1000, epsilon=1, **B)).splitlines()
    assert all(len(part) <= 6 for part in lines[1].split())
