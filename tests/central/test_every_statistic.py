"""Every statistic as a whole call: on neighbours, on strange data, through JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sourdine as sd
from sourdine import (
    cdf,
    count,
    histogram,
    mean,
    median,
    mode,
    proportion,
    quantile,
    quantiles,
    variance,
)
from sourdine.audit import replay
from sourdine.central.statistic import Statistic
from sourdine.errors import ParameterTypeError
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource
from sourdine.results.release import Estimator, Release

NAN, INF = float("nan"), float("inf")
B = {"bounds": (0, 10), "step": 1}
CALLS = {
    "count": lambda x, **k: count(x, epsilon=1, **k),
    "count-column": lambda x, **k: count(x, epsilon=1, column="value", **k),
    "sum": lambda x, **k: sd.sum(x, epsilon=1, bounds=(-3, 10), step=0.5, **k),
    "mean": lambda x, **k: mean(x, epsilon=1, **B, **k),
    "mean-exclude": lambda x, **k: mean(x, epsilon=1, missing="exclude", **B, **k),
    "mean-gaussian": lambda x, **k: mean(x, epsilon=1, delta=1e-6, method="gaussian", **B, **k),
    "mean-grid": lambda x, **k: mean(x, epsilon=1, method="exponential", **B, **k),
    "mean-grid-exclude": lambda x, **k: mean(
        x, epsilon=1, method="exponential", missing="exclude", **B, **k
    ),
    "mean-population": lambda x, **k: mean(x, epsilon=1, population=True, **B, **k),
    "mean-population-exclude": lambda x, **k: mean(
        x, epsilon=1, population=True, missing="exclude", **B, **k
    ),
    "variance": lambda x, **k: variance(x, epsilon=1, **B, **k),
    "mean-found": lambda x, **k: mean(x, epsilon=1, bounds="find", **k),
    "mean-found-centre": lambda x, **k: mean(x, epsilon=1, bounds="find", n=1600, **k),
    "sum-found": lambda x, **k: sd.sum(x, epsilon=1, bounds=(0, None), step=1, **k),
    "variance-found": lambda x, **k: variance(x, epsilon=1, bounds=(-5, 1000, "find"), n=1600, **k),
    "histogram-found": lambda x, **k: histogram(
        x, epsilon=1, bins=4, bounds=(None, 20), n=1600, **k
    ),
    "median-found": lambda x, **k: median(x, epsilon=1, bounds="find", **k),
    "proportion": lambda x, **k: proportion(x, epsilon=1, **k),
    "proportion-population": lambda x, **k: proportion(x, epsilon=1, population=True, **k),
    "proportion-planned": lambda x, **k: proportion(x, epsilon=1, n=6, **k),
    "proportion-n": lambda x, **k: proportion(x, epsilon=1, n=6, missing="no", **k),
    "proportion-of": lambda x, **k: proportion(x, category=3, epsilon=1, **k),
    "histogram": lambda x, **k: histogram(x, epsilon=1, bins=4, bounds=(0, 10), **k),
    "histogram-edges": lambda x, **k: histogram(x, epsilon=1, bins=[0, 4, 10], **k),
    "histogram-categories": lambda x, **k: histogram(
        x, epsilon=1, categories=[1, 2, 3], missing="count", **k
    ),
    "histogram-unknown": lambda x, **k: histogram(
        x, epsilon=1, delta=0.1, categories="unknown", **k
    ),
    "mode": lambda x, **k: mode(x, epsilon=1, categories=[3, 7, 10], **k),
    "median": lambda x, **k: median(x, epsilon=1, **B, **k),
    "quantile": lambda x, **k: quantile(x, 0.9, epsilon=1, **B, **k),
    "quantiles": lambda x, **k: quantiles(x, [0.25, 0.5, 0.75], epsilon=1, **B, **k),
    "cdf": lambda x, **k: cdf(x, epsilon=1, **B, **k),
    "cdf-edges": lambda x, **k: cdf(x, epsilon=1, bounds=(0, 10), population=True, **k),
    "quantiles-population": lambda x, **k: quantiles(
        x, [0.25, 0.75], epsilon=1, population=True, **B, **k
    ),
    "quantiles-many": lambda x, **k: quantiles(
        x, [j / 20 for j in range(1, 20)], epsilon=1, interval=0.9, bounds=(0, 10), **k
    ),
    "quantiles-interval": lambda x, **k: quantiles(
        x, [0.25, 0.75], epsilon=1, interval=0.9, **B, **k
    ),
}
BOTH = {"x": "value", "y": "other", "bounds": {"value": (0, 10), "other": (0, 20)}}


def two(ask, **own):
    """Ask of the column and of one that is twice as large, row by row."""

    def call(data, **k):
        k.pop("column", None)
        values = data["value"]
        twice = [2 * v if isinstance(v, (int, float)) else v for v in values]
        return ask({**data, "other": twice}, epsilon=1, **BOTH, **own, **k)

    return call


CALLS |= {
    "std": lambda x, **k: sd.std(x, epsilon=1, **B, **k),
    "covariance": two(sd.covariance),
    "correlation": two(sd.correlation),
    "correlation-gaussian": two(sd.correlation, method="gaussian", delta=1e-6),
    "regression": two(sd.regression),
    "regression-gaussian": two(sd.regression, method="gaussian", delta=1e-6),
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
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
def test_neighbours_see_the_same(call, relation):
    for neighbour in pairs(relation):
        result = replay(lambda x: call({"value": x}, relation=relation), BASE, neighbour)
        assert result.holds, (neighbour, result.faults)


@pytest.mark.grid
@every
@pytest.mark.parametrize("name", STRANGE)
def test_strange_data_gives_an_ordinary_answer(call, relation, name):
    release = call({"value": STRANGE[name]}, relation=relation)
    text, back = str(release), release.to_json()
    assert "NaN" not in back
    assert "Infinity" not in back
    assert text.startswith(" ") or text[0].isalpha()
    usual = call({"value": [1, 2, 3]}, relation=relation)
    assert release.caveats == usual.caveats
    assert release.cost == usual.cost
    assert set(json.loads(back)) == set(json.loads(usual.to_json()))
    if release.mechanism.display.numeric:
        release.interval(0.9)


@pytest.mark.parametrize("name", STRANGE)
def test_answers_stay_within_the_bounds(relation, name):
    for method in ("laplace", "exponential"):
        release = mean(STRANGE[name], epsilon=1, relation=relation, method=method, **B)
        low, high = release.interval()
        assert 0 <= low <= release.value <= high <= 10
    assert 0 <= variance(STRANGE[name], epsilon=1, relation=relation, **B).value <= 25
    assert 0 <= proportion(STRANGE[name], epsilon=1, relation=relation).value <= 1


@pytest.mark.grid
@every
def test_json_both_ways(call, relation):
    release = call({"value": [1, 2, 3] * 30}, relation=relation)
    back = Release.from_json(release.to_json())
    assert back.to_json() == release.to_json()
    assert str(back) == str(release)
    assert back.mechanism == release.mechanism
    if release.mechanism.display.numeric:
        assert str(back.interval(0.9)) == str(release.interval(0.9))
    assert back.cost == release.cost
    assert type(back.value) is type(release.value)
    assert "<table>" in back._repr_html_()


@every
def test_a_seeded_call_is_not_private(call):
    one, two = (call({"value": [1, 2, 3]}, source=SeededSource(4)) for _ in range(2))
    assert "NOT PRIVATE" in str(one)
    assert one.to_json() == two.to_json()


def test_every_kind_of_data():
    """The mean of a list, an array, a frame and a frame of ours is one and the same."""
    x = [1, 2, 3, None, 5]
    kinds = [x, np.array([1, 2, 3, NAN, 5]), {"value": x}, Frame(x)]
    drawn = {mean(k, epsilon=1, source=SeededSource(1), **B).value for k in kinds}
    assert len(drawn) == 1


WHOLE_TABLES = {
    "describe": lambda x, **k: sd.describe(x, columns=["value"], epsilon=1, **k),
    "describe-categories": lambda x, **k: sd.describe(
        x, columns=["value"], kinds={"value": "category"}, epsilon=1, delta=0.1, **k
    ),
    "describe-dates": lambda x, **k: sd.describe(
        x, columns=["value"], kinds={"value": "date"}, epsilon=1, **k
    ),
    "table": lambda x, **k: sd.table(
        x, of={"*": ["count"], "value": ["sum", "mean", "variance", "deciles"]},
        bounds={"value": (0, 10)}, epsilon=1, **k,
    ),
    "table-found": lambda x, **k: sd.table(
        x, of={"value": ["mean", "count"]}, bounds={"value": "find"}, epsilon=1, **k
    ),
    "sql": lambda x, **k: sd.sql(
        x, "SELECT COUNT(*), AVG(value), STDDEV(value) FROM x", bounds={"value": (0, 10)},
        epsilon=1, **k,
    ),
}  # fmt: skip
NO_GROUPS = {
    "describe", "describe-categories", "describe-dates", "histogram-unknown", "proportion-n",
    "sql",
}  # fmt: skip
FEW = ("none", "one", "all missing", "outside")
"""What is drawn from: a count of nobody is negative every other time."""


def values_and_ends(value, ends):
    """Yield each number of a release with the ends of its interval."""
    if isinstance(ends, dict):
        assert list(value) == list(ends)
        for key, own in ends.items():
            yield from values_and_ends(value[key], own)
    else:
        for triple in zip(*map(np.atleast_1d, (value, *ends)), strict=True):
            if triple[1:] != (None, None):  # a bound that was found has no interval
                yield triple


def intervals(release):
    """Yield every kind of interval that a release has."""
    for confidence in (0.05, 0.95):
        yield release.interval(confidence)
        if release.mechanism.display.populations:
            yield release.interval(confidence, of="population")
        if "normal" in release.mechanism.display.extra_intervals:
            yield release.interval(confidence, of="population", assume="normal")


def assert_values_are_in_their_intervals(release):
    seen = 0
    for ends in intervals(release):
        for value, low, high in values_and_ends(release.value, ends):
            assert low <= value <= high
            seen += 1
    assert seen or not np.size(release)
    columns = release.columns()
    for row in zip(columns.values, columns.lower, columns.upper, columns.texts(), strict=True):
        value, low, high, texts = row
        if low is not None:
            assert low <= value <= high
            value, low, high = (float(text.replace(",", "")) for text in texts)
            assert low <= value <= high, texts
    for low, high in columns.extra_intervals.values():
        assert all(a <= v <= b for v, a, b in zip(columns.values, low, high, strict=True))


def test_every_statistic_is_called():
    called = {name.partition("-")[0] for name in {**CALLS, **WHOLE_TABLES}}
    here = {kind for kind, cls in Estimator.kinds.items() if issubclass(cls, Statistic)}
    assert called == here


@pytest.mark.quick_cases(1, slow=60)
@pytest.mark.parametrize(
    ("name", "grouped"),
    [
        *((name, False) for name in [*CALLS, *WHOLE_TABLES] if name != "mode"),
        *((name, True) for name in [*CALLS, *WHOLE_TABLES] if name not in {"mode", *NO_GROUPS}),
    ],
)
def test_no_value_lies_outside_its_own_interval(name, relation, grouped):
    call = {**CALLS, **WHOLE_TABLES}[name]
    by, own = {}, {}
    if grouped:
        by = {"by": "sex", "keys": ["f", "nobody"]}
        own = {} if name in {*WHOLE_TABLES, "count", "count-column"} else {"column": "value"}
    for data in map(STRANGE.get, FEW):
        table = {"value": data, **({"sex": ["f"] * len(data)} if grouped else {})}
        release = call(table, relation=relation, **by, **own)
        assert_values_are_in_their_intervals(release)
        one = next(iter(release.value.values())) if grouped else None
        if isinstance(one, (int, float)):
            assert_values_are_in_their_intervals(release.difference("f", "nobody"))


def test_what_is_no_source_is_refused():
    with pytest.raises(ParameterTypeError, match="source must be a source of random bytes, got 3"):
        sd.mean([1, 2, 3], bounds=(0, 9), epsilon=1, source=3)


def test_a_description_is_asked_again():
    people = {"age": [20, 30, 40] * 1000}
    asked = sd.describe(people, epsilon=1, delta=1e-6).to_dict()["question"]
    assert sd.ask(people, asked).to_dict()["question"] == asked
