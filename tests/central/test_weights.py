"""Records that count with a weight: what one moves, what is refused, what is said."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import attrs
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.audit.exhaustive import p_value, worst_of
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms.mechanism import recording
from sourdine.noise import SYSTEM, SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE
from sourdine.questions import read

B = {"bounds": (0, 2), "step": 1}
ASKED = {
    "count": {},
    "sum": {"bounds": (-1, 2), "step": 1},
    "mean": B,
    "variance": B,
    "std": B,
    "proportion": {"category": 1},
    "histogram": {"bins": [0, 1, 2]},
}
SELECTED = {"median": {**B, "interval": None}}
"""Those that select; their laws are not those of noise on numbers."""
HEAVIEST = 3
RECORDS = list(itertools.product((None, -1, 0, 1, 2), (None, -5, 0, 1, HEAVIEST, 1e9)))


def asked(name, **more):
    said = {"statistic": name, "column": "x", "epsilon": 1, "weights": "w"}
    return read({**said, "weight_bounds": (0, HEAVIEST), **ASKED.get(name, {}), **more})


@pytest.fixture(autouse=True)
def whole_weights(monkeypatch):
    """A lattice of four weights, so that all neighbours can be looked at."""
    from sourdine.central import weights
    from sourdine.grid import Grid

    monkeypatch.setattr(weights, "Grid", lambda low, high: Grid(low, high, step=1))
    lattice = staticmethod(lambda low, high: Grid(low, high, step=1))
    monkeypatch.setattr(weights.WeightedRanks, "weight_grid", lattice)


def table(records):
    return {"x": [x for x, _ in records], "w": [w for _, w in records]}


def drawn_from(question, records):
    """The mechanism of a whole call, and its private input."""
    with recording() as transcript:
        question.release(table(records))
    (step,) = transcript.steps
    return step.mechanism, step.x


def neighbours(relation, rests=([], [(1, 2)], [(0, 1), (None, 2), (2, HEAVIEST)])):
    for rest in rests:
        for one in RECORDS:
            if relation is ADD_REMOVE:
                yield rest, [*rest, one]
            else:
                for two in RECORDS:
                    yield [*rest, one], [*rest, two]


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("name", ASKED)
def test_the_exact_worst_case_of_a_weighted_record(name, relation):
    """A record of any value and weight, added, removed or replaced: the loss is epsilon."""
    question = asked(name, relation=relation)
    found, pairs, laws = {}, {}, {}

    def of(records):
        key = repr(records)
        if key not in found:
            mechanism, x = drawn_from(question, records)
            found[key] = mechanism, tuple(np.ravel(np.array(x, object)).tolist()), x
        return found[key]

    for one, two in neighbours(relation):
        (mechanism, a, x), (_, b, y) = of(one), of(two)
        if a != b:
            for key, v in ((a, x), (b, y)):
                if key not in laws:
                    laws[key] = mechanism.law(mechanism.read(v))
            pairs[tuple(sorted((a, b)))] = (a, b, laws[a], laws[b])
    worst = worst_of(pairs.values(), question.cost)
    assert worst.within(question.cost), worst.pair()
    assert worst.epsilon >= 0.99, "the noise is no larger than it must be"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
def test_the_exact_worst_case_of_a_weighted_distribution(relation):
    """The counts of a tree; as if the largest weight were one step less, they are rejected."""
    question = asked("cdf", relation=relation, n=9, **B)
    laws, pairs = {}, {}

    def of(records):
        mechanism, x = drawn_from(question, records)
        key = tuple(mechanism.counts(x).tolist())
        if key not in laws:
            less = attrs.evolve(mechanism, rows=HEAVIEST - 1)
            laws[key] = mechanism.law(x), less.law(x)
        return key

    for one, two in neighbours(relation, ([], [(1, 2)])):
        a, b = sorted((of(one), of(two)))
        if a != b:
            pairs[a, b] = (a, b, laws[a][0], laws[b][0])
    worst = worst_of(pairs.values(), question.cost)
    assert worst.within(question.cost), worst.pair()
    assert worst.epsilon >= 0.99
    a, b = max(pairs, key=lambda pair: np.abs(np.subtract(*pair)).sum())
    weaker = [(a, b, laws[a][1], laws[b][1])]
    assert not worst_of(weaker, question.cost).within(question.cost)


def test_a_weighted_distribution_and_its_count_cost_what_they_say(monkeypatch):
    """Both ways of it, and the count that chooses."""
    monkeypatch.undo()
    rng = np.random.default_rng(2)
    x, w = rng.integers(0, 501, 300), rng.choice([0, 0.5, 1, 3], 300)
    said = {"column": "x", "epsilon": 1, "weights": "w", "weight_bounds": (0, 3), "step": 1}
    for top, n in ((500, None), (100, 10**6)):
        question = read({"statistic": "cdf", "bounds": (0, top), "n": n, **said})

        def call(rows, question=question):
            seeded = attrs.evolve(question, source=SeededSource(1), error=None)
            more = np.array(rows).reshape(-1, 2)
            release = seeded.release({"x": np.append(x, more[:, 0]), "w": np.append(w, more[:, 1])})
            return replace(release, cost=attrs.evolve(seeded, source=SYSTEM, error=None).cost)

        assert replay(call, [], [(500, 3)]).holds
        assert not replay(call, [], [(500, 3), (500, 3)]).holds


def test_a_record_of_twice_the_weight_breaks_the_promise_of_a_variance():
    """The same noise, as if the largest weight were one step less."""
    question = asked("variance")
    rest = [(1, 2), (0, 3)]
    mechanism, x = drawn_from(question, rest)
    _, y = drawn_from(question, [*rest, (2, HEAVIEST)])
    weaker = attrs.evolve(mechanism, sensitivity=mechanism.sensitivity * (HEAVIEST - 1) / HEAVIEST)
    for drawn, holds in ((mechanism, True), (weaker, False)):
        worst = worst_of([(x, y, drawn.law(x), drawn.law(y))], question.cost)
        assert worst.within(question.cost) is holds


@pytest.mark.quick_cases(1, slow=2)
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize(("method", "q"), [("exponential", 0.5), ("jointexp", [0.3, 0.7])])
def test_the_exact_worst_case_of_weighted_quantiles(method, q, relation):
    """A record of any value and weight moves the law by no more than epsilon.

    The same mechanism, as if a record moved ranks by one step of its weight and not by ten, would
    break the promise.
    """
    said = {"weights": "w", "weight_bounds": (0, 10), "interval": None, "n": 9, **B}
    question = read(
        {"statistic": "quantiles", "q": q, "column": "x", "epsilon": 1, "method": method,
         "relation": relation, **said}
    )  # fmt: skip
    laws, pairs, weaker = {}, {}, {}

    def of(records):
        mechanism, x = drawn_from(question, records)
        key = tuple(x.below(np.arange(4)).tolist())
        if key not in laws:
            laws[key] = mechanism.law(x), attrs.evolve(mechanism, rows=1).law(x)
        return key

    for one, two in neighbours(relation, ([], [(1, 2)], [(0, 10), (2, 10)] * 2)):
        a, b = sorted((of(one), of(two)))
        if a != b:
            pairs[a, b] = (a, b, laws[a][0], laws[b][0])
            weaker[a, b] = (a, b, laws[a][1], laws[b][1])
    worst = worst_of(pairs.values(), question.cost)
    assert worst.within(question.cost), worst.pair()
    assert worst.epsilon >= 0.2
    less = worst_of(weaker.values(), question.cost)
    assert not less.within(question.cost), less.epsilon


@pytest.mark.parametrize("method", ["auto", "exponential", "jointexp", "tree", "histogram"])
def test_weighted_quantiles_lie_where_the_weights_do(method, monkeypatch):
    """Records of weight 9 are most of the weight and few of the records."""
    monkeypatch.undo()
    weights = [9.0] * 2000 + [1.0] * 6000
    data = {"x": [80.0] * 2000 + [20.0] * 6000, "w": weights}
    said = {"column": "x", "bounds": (0, 100), "step": 1, "epsilon": 1, "method": method}
    weighted = sd.quantiles(data, [0.5], weights="w", weight_bounds=(0, 10), **said)
    assert abs(float(weighted.value[0]) - 80) <= 2
    assert abs(float(sd.quantiles(data, [0.5], **said).value[0]) - 20) <= 2
    if method == "auto":
        low, high = weighted.interval()
        assert low[0] <= 80 <= high[0] < 85
        with pytest.raises(ParameterError, match="of must be 'sample'"):
            weighted.interval(of="population")


@pytest.mark.slow
def test_weighted_intervals_of_quantiles_cover():
    """The weighted quantiles of the records, in 200 releases, with the weights' rounding."""
    rng = np.random.default_rng(5)
    x, w = rng.integers(0, 100, 3000), rng.choice([0.0, 1, 2, 10], 3000)
    places = np.cumsum(w[np.argsort(x, kind="stable")])
    orders = [0.25, 0.5, 0.9]
    truth = np.sort(x)[[np.searchsorted(places, q * places[-1]) for q in orders]]
    asked = {"column": "x", "weights": "w", "weight_bounds": (0, 10), "bounds": (0, 100), "step": 1}
    missed = 0
    for seed in range(200):
        r = sd.quantiles({"x": x, "w": w}, orders, epsilon=1, source=SeededSource(seed), **asked)
        low, high = r.interval()
        missed += not bool(np.all((low <= truth) & (truth <= high)))
    assert missed <= 25  # 10 are expected at most; more than 25 have probability 1e-5


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ASKED)
def test_a_whole_weighted_call_is_replayed(name, relation):
    """Also by groups, and for a person with several rows."""
    base = [("p", "a", 1, 2), ("p", "b", 2, 3), ("q", "b", 0, None), ("r", None, None, 1)]
    moved = [[("s", "a", 2, 1e9), ("s", "a", 2, 3)], [("s", "b", 1, 3), ("s", "b", 0, 3)]]
    for more in ({}, {"by": "g", "keys": ["a", "b"], "other": True}):
        question = asked(name, relation=relation, unit="who", rows=2, **more)

        def call(rows, question=question):
            columns = dict(zip(("who", "g", "x", "w"), zip(*rows, strict=True), strict=True))
            seeded = attrs.evolve(question, source=SeededSource(1), error=None)
            release = seeded.release({name: list(own) for name, own in columns.items()})
            return replace(release, cost=attrs.evolve(seeded, source=SYSTEM, error=None).cost)

        for rows in moved:
            other = [row for row in base if relation == "add_remove" or row[0] != "p"] + rows
            result = replay(call, base, other)
            assert result.holds, (rows, result.faults)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("method", "relation"),
    [("laplace", "add_remove"), ("gaussian", "substitute"), ("jointexp", "add_remove")],
)
def test_windows_of_weighted_quantiles_are_replayed(method, relation, monkeypatch):
    """Many records, of which some ranks are read: all of them are compared, and weights of 0 no
    record of; two records are too many.
    """
    monkeypatch.undo()
    rng, n, top = np.random.default_rng(3), 20_000, 200_000
    x, w = rng.integers(0, top + 1, n), rng.choice([0, 0.5, 1, 3], n)
    own = {"delta": 1e-6} if method == "gaussian" else {}
    question = read(
        {"statistic": "quantiles", "q": [0.25, 0.75], "column": "x", "epsilon": 1, "weights": "w",
         "weight_bounds": (0, 3), "bounds": (0, top), "step": 1, "method": method,
         "relation": relation, "interval": None, **own}
    )  # fmt: skip

    def call(rows):
        seeded = attrs.evolve(question, source=SeededSource(1), error=None)
        more = np.array(rows).reshape(-1, 2)
        release = seeded.release({"x": np.append(x, more[:, 0]), "w": np.append(w, more[:, 1])})
        return replace(release, cost=attrs.evolve(seeded, source=SYSTEM, error=None).cost)

    one = [(0, 1)] if relation == "substitute" else []
    found = replay(call, one, [(top, 3)])
    assert found.holds, found.faults
    assert not found.steps[0][0].x.whole
    assert not replay(call, one, [(top, 3), (0, 3)]).holds


# ---- Strata --------------------------------------------------------------------------------------


STRATA = {"strata": "g", "strata_keys": ["a", "b"]}


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("name", ["sum", "mean", "proportion"])
def test_no_record_moves_the_sums_of_strata_further(name, relation):
    """Every record of a small grid and every pair of them, in any stratum, through whole calls."""
    question = asked(name, relation=relation, **STRATA)
    records = list(itertools.product("abx", (None, 0, 1, 2), (None, 0, 1, HEAVIEST)))
    rest = [("a", 1, 2), ("b", 0, 3)]

    def drawn(rows):
        columns = dict(zip("gxw", map(list, zip(*rows, strict=True)), strict=True))
        with recording() as transcript:
            question.release(columns)
        _, step = transcript.steps
        return step.mechanism, np.array(step.x, object)

    mechanism, start = drawn(rest)
    found = [drawn([*rest, one])[1] - start for one in records]
    assert all((own >= 0).all() for own in found)
    moved = max(abs(own).sum() for own in found)
    if relation is SUBSTITUTE:
        moved = max(abs(one - two).sum() for one in found for two in found)
    assert moved == mechanism.sensitivity  # no less: with less noise, epsilon is passed
    laws = [mechanism.law(tuple(start)), mechanism.law(tuple(start + found[-1]))]
    if relation is ADD_REMOVE:
        assert worst_of([("", "", *laws)], mechanism.guarantee).within(mechanism.guarantee)
        weaker = attrs.evolve(mechanism, sensitivity=int(mechanism.sensitivity) // 2)
        laws = [weaker.law(tuple(start)), weaker.law(tuple(start + found[-1]))]
        assert not worst_of([("", "", *laws)], weaker.guarantee).within(weaker.guarantee)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ["sum", "mean", "proportion"])
def test_a_whole_call_with_strata_is_replayed(name, relation):
    """The value and the sums of strata together cost what the call says."""
    question = asked(name, relation=relation, unit="who", rows=2, **STRATA)
    base = [("p", "a", 1, 2), ("p", "b", 2, 3), ("q", "b", 0, None), ("r", None, None, 1)]

    def call(rows):
        columns = dict(zip(("who", "g", "x", "w"), zip(*rows, strict=True), strict=True))
        seeded = attrs.evolve(question, source=SeededSource(1), error=None)
        release = seeded.release({key: list(own) for key, own in columns.items()})
        return replace(release, cost=attrs.evolve(seeded, source=SYSTEM, error=None).cost)

    for rows in ([("s", "a", 2, 1e9), ("s", "b", 0, 3)], [("s", "x", 1, 3), ("s", None, None, 2)]):
        other = [row for row in base if relation == "add_remove" or row[0] != "p"] + rows
        result = replay(call, base, other)
        assert result.holds, result.faults
        assert len(result.steps) == 2


def test_strata_without_noise_give_the_variance_of_the_design():
    """By hand, of a sum and of the line of a mean, on coarse and fine grids."""
    from sourdine.central.weights import POWERS, StrataSums

    rng = np.random.default_rng(8)
    for heaviest, last in ((3, 2), (40, 70)):
        sums = StrataSums(
            heaviest=heaviest, last=last, epsilon=Fraction(10**9), relation=ADD_REMOVE
        )
        want, drawn, x, y = 0.0, [], 0.7, -0.3
        for n in (50, 400):
            w, t = rng.integers(0, heaviest + 1, n), rng.integers(0, last + 1, n)
            found = {(i, k): int((w**i * t**k).sum()) for i, k in POWERS}
            drawn.append(sums.sums(n, found))
            v, u = w / heaviest, t / last
            z = x * v * u + y * v * (1 - u)
            want += n * z.var(ddof=1)
        assert sums.variance(drawn, x, y, 0.05) == pytest.approx(want, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mean", "sum", "proportion"])
def test_intervals_with_strata_cover_the_population(name, monkeypatch):
    monkeypatch.undo()
    rng, sizes, drawn = np.random.default_rng(6), [50_000, 20_000, 5_000], [300, 400, 500]
    parts = [rng.binomial(10, m, n) for m, n in zip((0.2, 0.5, 0.8), sizes, strict=True)]
    whole = np.concatenate(parts)
    truth = {"mean": whole.mean(), "sum": whole.sum(), "proportion": (whole == 5).mean()}[name]
    own = {"category": 5} if name == "proportion" else {"bounds": (0, 10), "step": 1}
    held, widths = 0, []
    for seed in range(60):
        rows = [rng.choice(x, n) for x, n in zip(parts, drawn, strict=True)]
        weights = np.repeat(np.array(sizes) / drawn, drawn)
        data = {"x": np.concatenate(rows), "w": weights, "h": np.repeat(["a", "b", "c"], drawn)}
        release = getattr(sd, name)(
            data, column="x", weights="w", weight_bounds=(0, 170), strata="h",
            strata_keys=["a", "b", "c"], epsilon=2, source=SeededSource(seed), **own,
        )  # fmt: skip
        low, high = release.interval(of="population")
        held += low <= truth <= high
        widths.append((high - low) / np.diff(release.interval())[0])
    assert held >= 48  # 95% of 60 less than this has probability 2e-5
    assert min(widths) > 1


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("mean", {"strata_keys": None}, "strata_keys must list the strata"),
        ("mean", {"strata": None}, "strata_keys must be omitted without strata"),
        ("mean", {"where": "x > 1"}, "where must be omitted with strata"),
        ("mean", {"by": "g", "keys": ["a"]}, "by must be omitted with strata"),
        ("mean", {"weights": None, "weight_bounds": None}, "strata must be omitted unless"),
        ("mean", {"method": "gaussian", "delta": 1e-6}, "strata must be omitted unless"),
        ("mean", {"missing": "exclude", "method": "exponential"}, "strata must be omitted unless"),
        ("mean", {"strata": "none"}, "strata must be one of the columns"),
    ],
)
def test_what_does_not_go_with_strata_is_refused(name, typed, told):
    data = {"x": np.array([1.0]), "w": np.array([1.0]), "g": np.array(["a"])}
    said = {**ASKED.get(name, B), "column": "x", "epsilon": 1, **STRATA}
    said |= {"weights": "w", "weight_bounds": (0, 3), **typed}
    with pytest.raises(ParameterError) as caught:
        getattr(sd, name)(data, **said)
    assert told in str(caught.value)


def test_noise_without_the_weight_would_be_too_small():
    """The same call, as if the largest weight were a third of what it is."""
    one, two = [(1, 2)], [(1, 2), (1, HEAVIEST)]
    question = asked("count")
    mechanism, x = drawn_from(question, one)
    _, y = drawn_from(question, two)
    weaker = attrs.evolve(mechanism, sensitivity=1)
    assert (x, y) == (2, 5)
    for drawn, holds in ((mechanism, True), (weaker, False)):
        worst = worst_of([(x, y, drawn.law(x), drawn.law(y))], question.cost)
        assert worst.within(question.cost) is holds


def test_a_weighted_count_follows_its_law():
    question = attrs.evolve(asked("count"), source=SeededSource(4), error=None)
    records = [(1, 2), (0, 3), (None, 3), (2, None)]
    mechanism, x = drawn_from(question, records)
    assert x == 5
    data = question.counted(sd.frames.frame.Frame(table(records)))
    drawn = np.array([question.draw(data)["count"] for _ in range(4000)])
    assert p_value(drawn, mechanism.law(x)) > 1e-9
    assert p_value(drawn, mechanism.law(x + 1)) < 1e-9


X = [10.0, 20.0, None, 40.0, 5.0]
W = [1.5, 2.25, 4.0, None, -3.0]
SURE = {"epsilon": 10**9, "weights": "w", "weight_bounds": (0, 10)}


@pytest.mark.parametrize("open_", [dict, duckdb.from_arrow, pl.from_arrow], ids=["d", "duck", "pl"])
def test_weighted_statistics_are_those_of_the_weights(open_, monkeypatch):
    monkeypatch.undo()
    rows = {"x": X, "w": W, "g": [*"uuvvv"]}
    data = rows if open_ is dict else open_(pa.table(rows))
    near = {"abs": 1e-3}
    assert sd.count(data, **SURE).value == pytest.approx(7.75, **near)
    assert sd.count(data, column="x", **SURE).value == pytest.approx(3.75, **near)
    said = {"column": "x", "bounds": (0, 100), "step": 1, **SURE}
    assert sd.sum(data, **said).value == pytest.approx(60, **near)
    assert sd.mean(data, **said).value == pytest.approx(16, **near)
    spread = (1.5 * 6**2 + 2.25 * 4**2) / 3.75
    assert sd.variance(data, **said).value == pytest.approx(spread, **near)
    assert sd.std(data, **said).value == pytest.approx(spread**0.5, **near)
    below = sd.cdf(data, **said).probability(None, 15).value
    assert below == pytest.approx(1.5 / 3.75, abs=0.01)
    share = sd.proportion(data, column="g", category="u", **SURE).value
    assert share == pytest.approx(3.75 / 7.75, **near)
    bins = sd.histogram(data, column="x", bins=[0, 15, 100], missing="count", **SURE)
    assert bins.value.tolist() == pytest.approx([1.5, 2.25, 4], **near)
    means = sd.mean(data, by="g", keys=["u", "v"], **said).value
    assert means["u"] == pytest.approx(16, **near)


def test_weights_are_clamped_and_rounded(monkeypatch):
    monkeypatch.undo()
    data = {"w": [1e300, float("inf"), 0.1, float("nan"), -1.0]}
    assert sd.count(data, **SURE).value == pytest.approx(20.1, abs=1e-3)
    question = read({"statistic": "count", "weights": "w", "weight_bounds": (0, 10), "epsilon": 1})
    assert question.copies * question.weight_step == 10
    assert question.weight_step <= Fraction(10, 2**20)


@pytest.mark.slow
def test_intervals_cover_the_noise_and_no_more(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(2)
    data = {"x": rng.integers(0, 100, 500), "w": rng.gamma(2, 2, 500)}
    w = data["w"].clip(0, 10)
    mean = np.average(data["x"], weights=w)
    true = {"count": w.sum(), "mean": mean}
    true["variance"] = np.average((data["x"] - mean) ** 2, weights=w)
    said = {"column": "x", "weights": "w", "weight_bounds": (0, 10), "epsilon": 1}
    within = {"bounds": (0, 100), "step": 1}
    for name, own in (("count", {}), ("mean", within), ("variance", within)):
        question = read({"statistic": name, **said, **own})
        ends = [question.release(data).interval() for _ in range(400)]
        inside = sum(low <= true[name] <= high for low, high in ends)
        assert inside >= 380 - 26, name  # six standard deviations below 95%
        error = question.error(n=round(true["count"]))
        half = np.median([(high - low) / 2 for low, high in ends])
        assert 0.5 <= error / half <= 2, name
        assert any("not how the survey was drawn" in c for c in question.caveats)
    with pytest.raises(ParameterError):
        question.release(data).interval(of="population")


def test_the_band_of_a_weighted_distribution_covers(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(4)
    x, w = rng.integers(0, 101, 3000), rng.choice([0.0, 1, 2, 10], 3000)
    truth = np.array([w[x <= v].sum() for v in range(101)]) / w.sum()
    said = {"column": "x", "bounds": (0, 100), "step": 1, "weights": "w", "weight_bounds": (0, 10)}
    missed = 0
    for seed in range(120):
        release = sd.cdf({"x": x, "w": w}, epsilon=1, source=SeededSource(seed), **said)
        low, high = release.interval()
        at = np.array(release.columns().labels["at or below"])
        missed += not bool(np.all((low <= truth[at]) & (truth[at] <= high)))
    assert missed <= 20  # 6 are expected at most; more than 20 have probability 1e-6
    with pytest.raises(ParameterError, match="of must be 'sample'"):
        release.interval(of="population")


REFUSED = [
    ({"weight_bounds": None}, "weight_bounds must be given with weights"),
    ({"weights": None}, "weight_bounds must be omitted without weights"),
    ({"weight_bounds": (1, 3)}, "weight_bounds must be 0 and the largest weight, got 1 and 3"),
    ({"weight_bounds": (0, 0)}, "weight_bounds"),
    ({"weight_bounds": ("2020-01-01", "2021-01-01")}, "weight_bounds must be 0 and the largest"),
    ({"weight_bounds": 3}, "weight_bounds must be 0 and the largest weight"),
    ({"population": True}, "population must be omitted with weights"),
    ({"method": "exponential"}, "method must be 'laplace' or 'gaussian' with weights"),
    ({"missing": "middle", "relation": "substitute"}, "missing must be 'exclude' with weights"),
    ({"bounds": "find"}, "bounds must be given with weights, and not found"),
    ({"unit": "who", "rows": "find"}, "rows must be given with weights, and not found"),
    ({"unit": "who", "per_person": "sum"}, "per_person must be omitted with weights"),
    ({"by": "who", "keys": "unknown", "delta": 1e-6}, "keys must be given with weights"),
    ({"weights": "who"}, "weights must hold numbers"),
    ({"weights": "none"}, "weights must be one of the columns"),
]


@pytest.mark.parametrize(("typed", "told"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_go_with_weights_is_refused(typed, told):
    data = {"x": np.array([1.0]), "w": np.array([1.0]), "who": np.array(["a"])}
    said = {"column": "x", "bounds": (0, 2), "epsilon": 1, "weights": "w", "weight_bounds": (0, 3)}
    with pytest.raises(ParameterError) as caught:
        sd.mean(data, **{**said, **typed})
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["regression", "correlation", "mode", "table", "describe"])
def test_other_statistics_take_no_weights(name):
    with pytest.raises(
        ParameterTypeError,
        match="Only count, sum, mean, variance, std, proportion, histogram, median",
    ):
        getattr(sd, name)({"x": [1]}, epsilon=1, weights="x", weight_bounds=(0, 1))


@pytest.mark.parametrize("name", ASKED)
def test_weighted_questions_are_written_and_read_again(name):
    question = asked(name)
    again = read(json.loads(json.dumps(question.to_dict())))
    assert again == question
    assert again.weights == "w"
    release = question.release(table([(1, 2), (0, 1)]))
    assert sd.Release.from_json(release.to_json()).interval() is not None
