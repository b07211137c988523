"""Sums of products, what is read off them, and how often their intervals hold."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log

import attrs
import numpy as np
import pytest
from scipy.stats import binom

import sourdine as sd
from sourdine.audit import replay
from sourdine.central import Correlation, Covariance, Regression, Std, Variance
from sourdine.central.intervals import laplace_quantile
from sourdine.central.moments import NoisyMoments, noise_quantile
from sourdine.central.products import ProductSums
from sourdine.central.regression import Prediction, RegressionRelease
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE
from sourdine.questions import read
from sourdine.results import svg

ALPHA = 1e-9
RNG = np.random.default_rng(5)
BOUNDS = {"a": (-1, 1), "b": (-1, 1), "c": (-1, 1)}


# ---- How far records move the sums ---------------------------------------------------------------


SETTINGS = [
    {"lasts": (3,)}, {"lasts": (1, 2)}, {"lasts": (4, 3)}, {"lasts": (2, 2), "squares": False},
    {"lasts": (2, 1, 2)}, {"lasts": (1, 2, 1, 2)}, {"lasts": (2, 3), "delta": Fraction(1, 10**6)},
    {"lasts": (1, 2, 2, 1), "delta": Fraction(1, 10**6)},
    {"lasts": (3, 5), "fineness": 7}, {"lasts": (7, 9), "fineness": 100},
]  # fmt: skip


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_no_record_moves_the_sums_further(setting, relation):
    """Every record of a small grid, alone and in place of every other, and one that is missing."""
    sums = ProductSums(epsilon=1, relation=relation, **{"fineness": 1 << 12, **setting})
    norm = 2 if sums.delta else 1
    ticks = list(product(*(range(last + 1) for last in sums.lasts)))
    start = np.array(sums.record([last // 2 for last in sums.lasts]), object) * 3
    records = [np.array(sums.record(t), object) for t in ticks]

    def numbers(x):
        return np.array(sums.numbers(tuple(x)), object)

    def moved(x, y):
        return float((abs(numbers(x) - numbers(y)) ** norm).sum() ** (1 / norm))

    found = [moved(start, start + sign * own) for own in records for sign in (1, -1)]
    if relation is SUBSTITUTE:
        found += [moved(start + one, start + two) for one in records for two in records]
    claimed = float(sums.noise.sensitivity)
    assert max(found) <= claimed
    if sums.exact and norm == 1 and (sums.cells or relation is ADD_REMOVE):
        assert max(found) == claimed
    assert max(found) > (0.6 if setting.get("fineness", 100) >= 100 else 0.5) * claimed


def test_rows_of_one_person_add_up():
    one, three = (ProductSums(epsilon=1, lasts=(4, 4), rows=rows) for rows in (1, 3))
    assert three.noise.sensitivity == 3 * one.noise.sensitivity


def test_moments_follow_from_what_is_released():
    """Without noise the matrix is that of the records, on and off the lattice."""
    for setting in ({}, {"fineness": 50}, {"delta": Fraction(1, 10**6)}):
        for lasts in ((5,), (7, 3), (4, 6, 5), (3, 4, 5, 6)):
            sums = ProductSums(epsilon=1, lasts=lasts, **setting)
            ticks = RNG.integers(0, np.array(lasts) + 1, (20, len(lasts)))
            x = tuple(
                int(sum(np.prod([int(v) ** p for v, p in zip(t, own, strict=True)]) for t in ticks))
                for own in sums.powers
            )
            released = np.array(sums.numbers(x), float) / sums.lattice
            z = np.column_stack((np.ones(20), 2 * ticks / np.array(lasts) - 1))
            off = 0 if sums.exact else len(sums.powers) / sums.lattice
            assert np.abs(sums.loads() @ released - z.T @ z).max() <= off + 1e-9


# ---- The tail ------------------------------------------------------------------------------------


def tail_by_inversion(scales, variance, x):
    """Return P(|X| > x) from the characteristic function."""
    a = np.array(scales, float)
    step = 2 * np.pi / (2 * (x + 60 * max(a.max(), variance**0.5)))
    t = step * (np.arange(400_000) + 0.5)
    phi = np.exp(-variance * t * t / 2) / np.prod(1 + np.outer(t, a) ** 2, axis=1)
    return 1 - 2 / np.pi * float((np.sin(t * x) / t * phi).sum() * step)


@pytest.mark.parametrize(
    ("scales", "variance"),
    [([1.0], 0), ([1.0, 0.3], 0), ([1.0] * 4, 0), ([1.0] * 9, 0), ([1.0, 0.5], 2.0), ([0.1], 9)],
)
def test_the_tail_of_noise_is_not_understated(scales, variance):
    for beta in (0.2, 0.05, 0.005):
        x = noise_quantile(np.array(scales), variance, beta)
        if len(scales) == 1 and not variance:
            tail = exp(-x / scales[0])
        else:
            tail = tail_by_inversion(scales, variance, x)
        assert 0.85 * beta < tail < 1.03 * beta
    assert noise_quantile(np.array([1.0]), 0.0, 1e-10) >= log(1e10)
    assert noise_quantile(np.array([2.0, 1.0]), 0.0, 0.01) == pytest.approx(
        float(laplace_quantile([2.0, 1.0], 0.01)), rel=0.02
    )


# ---- Coverage ------------------------------------------------------------------------------------


def plain(n):
    a = RNG.uniform(-0.8, 0.8, n)
    return {"a": a, "c": np.clip(0.4 * a + RNG.normal(0, 0.2, n), -1, 1)}


def uneven(n):
    """Errors that spread with the predictor."""
    a = RNG.uniform(-0.8, 0.8, n)
    return {"a": a, "c": np.clip(0.3 * a + a * a * RNG.normal(0, 0.7, n), -1, 1)}


def pair(n):
    found = plain(n)
    b = np.clip(0.5 * found["a"] + RNG.uniform(-0.5, 0.5, n), -1, 1)
    return {"a": found["a"], "b": b, "c": found["c"]}


def of(kind, data, **more):
    names = [name for name in data if name != "c"]
    x = names if kind is Regression else names[0]
    bounds = {name: BOUNDS[name] for name in data}
    return kind(y="c", x=x, bounds=bounds, epsilon=1, **more)


def on_grid(question, data):
    return {
        name: np.asarray(grid.values(grid.ticks(data[name])), float)
        for name, grid in zip(question.variables, question.grids, strict=True)
    }


def truth(kind, data):
    if kind is Regression:
        names = [name for name in data if name != "c"]
        z = np.column_stack([np.ones(len(data["c"])), *(data[name] for name in names)])
        return np.linalg.lstsq(z, data["c"], rcond=None)[0]
    if kind is Covariance:
        return np.array([np.cov(data["a"], data["c"], ddof=0)[0, 1]])
    return np.array([np.corrcoef(data["a"], data["c"])[0, 1]])


def ends_of(release, which="sample"):
    found = release.interval(0.95, of=which)
    return np.array(list(found.values()) if isinstance(found, dict) else [found], float)


def least(runs, p=0.95):
    return binom.ppf(ALPHA, runs, p)


def held(kind, law, n, runs, which="sample", **more):
    hits = 0
    everything = truth(kind, on_grid(of(kind, law(9), **more), law(400_000)))
    for _ in range(runs):
        data = law(n)
        question = of(kind, data, **more)
        release = question.release(data)
        true = truth(kind, on_grid(question, data)) if which == "sample" else everything
        ends = ends_of(release, which)
        hits += (ends[:, 0] <= true + 1e-12) & (true <= ends[:, 1] + 1e-12)
    return hits


def test_intervals_of_coefficients_cover_quickly():
    """Those of a third of the noise do not hold: the test has power."""
    runs, hits, weak = 60, 0, 0
    data = plain(2000)
    question = of(Regression, data)
    true = truth(Regression, on_grid(question, data))[1]
    for _ in range(runs):
        drawn = question.draw(sd.Frame(data))
        m = question.moments(drawn)
        less = NoisyMoments(sums=m.sums, loads=m.loads, scale=m.scale / 3, gaussian=False)
        for moments, add in ((m, 1), (less, 0)):
            low, high = moments.fitted(np.array([0.0, 1.0]), 0.05, population=False)
            hits += add * (low <= true <= high)
            weak += (1 - add) * (low <= true <= high)
    assert hits >= least(runs)
    assert weak < least(runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "n", "more"),
    [(plain, 600, {}), (uneven, 5000, {}), (pair, 8000, {}),
     (plain, 5000, {"method": "gaussian", "delta": 1e-6})],
)  # fmt: skip
def test_intervals_of_coefficients_cover(law, n, more):
    runs = 48
    assert (held(Regression, law, n, runs, **more) >= least(runs)).all()
    assert (held(Regression, law, n, runs // 2, "population", **more) >= least(runs // 2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Covariance, Correlation])
@pytest.mark.parametrize("law", [plain, uneven])
def test_intervals_of_two_columns_cover(kind, law):
    runs = 90
    assert (held(kind, law, 3000, runs) >= least(runs)).all()
    assert (held(kind, law, 3000, runs // 2, "population") >= least(runs // 2)).all()


def test_correlations_near_one_stay_inside():
    a = RNG.uniform(-1, 1, 3000)
    for sign in (1, -1):
        data = {"a": a, "c": sign * a}
        release = of(Correlation, data).release(data)
        for which in ("sample", "population"):
            low, high = release.interval(0.95, of=which)
            assert -1 <= low <= release.value <= high <= 1
            assert low <= sign <= high or abs(release.value - sign) < 0.2


# ---- Planned errors ------------------------------------------------------------------------------


@pytest.mark.slow
def test_planned_errors_of_two_columns():
    """Each for data as its plan describes them."""
    n, runs = 20_000, 120
    even = {name: RNG.uniform(-1, 1, n) for name in "abc"}
    off = {
        "a": np.clip(RNG.normal(-0.7, 0.1, n), -1, 1),
        "c": np.clip(RNG.normal(0.7, 0.1, n), -1, 1),
    }
    quarter = {name: RNG.choice([-0.5, 0.5], n) for name in "ac"}
    for kind, data, point in (
        (Covariance, off, None), (Correlation, quarter, None), (Regression, even, 3**-0.5)
    ):  # fmt: skip
        question, hits = of(kind, data), 0
        planned = question.error(0.05, n=n)
        true = truth(kind, on_grid(question, data))
        for _ in range(runs):
            release = question.release(data)
            if point is None:
                off_by = abs(release.value - true[0])
            else:
                fitted = release.predict({"a": point, "b": point}).value
                off_by = abs(fitted - true @ [1, point, point])
            hits += off_by <= planned
        assert hits >= least(runs), kind
        assert planned < 0.1


def test_the_planned_error_of_std():
    asked = {"bounds": (0, 10), "epsilon": 1}
    assert Std(**asked).error(n=500) == Variance(**asked).error(n=500) ** 0.5
    low, high = Variance(**asked).release([2, 4] * 400).interval()
    release = Std(**asked).release([2, 4] * 400)
    assert 0 <= release.interval()[0] <= release.value <= release.interval()[1]
    assert abs(release.value - 1) < 0.3
    assert low <= high


# ---- What users do -------------------------------------------------------------------------------


def test_without_noise_it_is_least_squares():
    data = pair(3000)
    question = of(Regression, data).at(10_000)
    got = list(question.release(data).value.values())
    assert got == pytest.approx(truth(Regression, on_grid(question, data)), abs=1e-4)


def test_records_with_a_missing_value_are_left_out():
    a = [0.5, -0.5, None, 0.25] * 500
    c = [0.25, -0.25, 0.9, float("nan")] * 500
    release = of(Regression, {"a": a, "c": c}).at(1000).release({"a": a, "c": c})
    assert release.value["a"] == pytest.approx(0.5, abs=0.01)


def test_regression_goes_through_json_and_predicts():
    data = pair(3000)
    data["g"] = ["f", "m"] * 1500
    question = of(Regression, {k: data[k] for k in "abc"})
    for release in (
        question.release(data),
        question.changed(by="g", keys=("f", "m")).release(data),
    ):
        back = sd.Release.from_json(release.to_json())
        assert isinstance(back, RegressionRelease)
        assert str(back) == str(release)
        at = release.predict({"a": 0.1, "b": 0})
        again = Prediction.from_dict(json.loads(at.to_json()))
        assert again.value == at.value
        assert again.interval(of="population") == at.interval(of="population")
        assert back.residual_spread == release.residual_spread


# ---- Bounds that are found -----------------------------------------------------------------------


FOUND = {
    "regression": {"x": ["a", "b"], "bounds": "find"},
    "correlation": {"x": "a", "bounds": {"a": "find", "c": (0, 50)}},
    "covariance": {"x": "a", "bounds": {"a": (0, None), "c": (None, 50)}},
    "gaussian": {"x": "a", "bounds": "find", "method": "gaussian", "delta": 1e-6},
    "groups": {"x": "a", "bounds": "find", "by": "g", "keys": "unknown", "delta": 1e-6},
}
"""Each statistic, one side sought alone, Gaussian noise, and groups that are found."""


def found_question(name, **more):
    kind = name if name in {"correlation", "covariance"} else "regression"
    said = {"statistic": kind, "y": "c", "epsilon": 1, **FOUND[name], **more}
    return read(said)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_whole_calls_with_found_bounds_hold_on_neighbours(name, relation):
    """Replay of the whole call: the steps that moved add up to no more than the call's cost."""
    question = found_question(name, relation=relation)

    def call(rows):
        seeded = attrs.evolve(question, source=SeededSource(1), error=None)
        columns = dict(zip("abcg", map(list, zip(*rows, strict=True)), strict=True))
        return replace(seeded.release(columns), cost=question.cost)

    rng = np.random.default_rng(2)
    rows = [(*map(float, own), "fm"[i % 2]) for i, own in enumerate(rng.normal(9, 3, (60, 3)))]
    for one in ((1e9, -1e9, 1e9, "f"), (0.0, None, float("nan"), "m")):
        other = [*rows, one] if relation == "add_remove" else [one, *rows[1:]]
        result = replay(call, rows, other)
        assert result.holds, result.faults


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["regression", "correlation", "covariance", "gaussian"])
def test_nothing_in_the_data_raises_where_bounds_are_found(name):
    hostile = [
        [], [None, None], [1.0], [1e300, -1e300, float("inf"), float("nan")] * 100, [5e-324] * 99,
        [7.0] * 300, ["x", "1", None, 3, True] * 30, [-1e-300, 1e-300] * 99,
    ]  # fmt: skip
    question, usual = found_question(name), None
    for x in hostile:
        release = question.release({"a": x, "b": x[::-1], "c": x})
        numbers = release.value.values() if isinstance(release.value, dict) else [release.value]
        assert np.isfinite(list(numbers)).all()
        usual = usual or (release.caveats, release.cost)
        assert (release.caveats, release.cost) == usual
        assert str(release)
        assert json.dumps(release.derived(), allow_nan=False)
        release.interval(of="population")


def test_what_finding_bounds_of_a_regression_costs():
    """The parts add up to epsilon, the sums keep a third at least, and the plan says the same."""
    data = pair(4000)
    for n in (None, 4000):
        question = found_question("regression", epsilon=0.7, n=n)
        release = question.release(data)
        spent = {part: Fraction(str(x)) for part, x in release.drawn["spent"].items()}
        assert list(spent) == [*(f"bounds of {name}" for name in "abc"), "regression"]
        assert sum(spent.values()) == Fraction("0.7")
        assert spent["regression"] >= Fraction("0.7") / 3
        assert release.cost.epsilon == Fraction("0.7")
    plan = sd.plan.regression(y="c", x=["a", "b"], bounds="find", n=4000, epsilon=1)
    assert "bounds of a 0.1" in str(plan)
    assert "found widths" in str(plan)
    assert "product" in sd.plan.covariance(y="c", x="a", bounds="find", n=99, epsilon=1).units
    assert sd.plan.correlation(y="c", x="a", bounds="find", n=10**6, error=0.1).epsilon < 0.1
    with pytest.raises(ParameterError, match="be omitted, as its unit is not known"):
        sd.plan.regression(y="c", x="a", bounds="find", n=4000, error=0.1)


def test_finding_bounds_of_few_records_costs_more():
    """About a third with many records, and 62% at most."""
    left = {}
    for n in (30, 20_000):
        question = found_question("regression", source=SeededSource(1))
        spent = question.release(pair(n)).drawn["spent"]
        left[n] = float(Fraction(str(spent["regression"])))
    assert 0.36 <= left[30] <= 0.4
    assert 0.62 <= left[20_000] <= 0.7


def test_a_regression_with_found_bounds_is_near_the_one_with_known_bounds():
    rng = np.random.default_rng(3)
    a = rng.uniform(18, 70, 40_000)
    data = {"a": a, "c": 500 * a + rng.normal(0, 5000, len(a)), "g": ["f", "m"] * 20_000}
    for more in ({}, {"by": "g", "keys": ["f", "m"]}):
        release = sd.regression(data, y="c", x="a", bounds="find", epsilon=2, **more)
        parts = release.value.values() if more else [release.value]
        assert all(part["a"] == pytest.approx(500, abs=25) for part in parts)
        back = sd.Release.from_json(release.to_json())
        assert str(back) == str(release)
        assert isinstance(back, RegressionRelease)
        at = release.predict({"a": 40})
        for value in at.value.values() if more else [at.value]:
            assert value == pytest.approx(20_000, abs=500)
        spread = release.residual_spread
        assert max(spread.values() if more else [spread]) == pytest.approx(5000, rel=0.2)
        release.plot()
        assert "found outward" in str(release)


@pytest.mark.parametrize("x", ["a", ["a", "b"]])
@pytest.mark.parametrize(
    "rows", [[], [(0.3, 0.3, 0.1)], [(0.3, 0.3, 0.1)] * 900, [(v, v, v) for v in (-1, 0, 1)] * 200]
)
def test_no_data_raises(x, rows):
    """No rows, one row, constant columns, collinear ones: an interval that says nothing."""
    data = {name: [row[j] for row in rows] for j, name in enumerate("abc")}
    names = [x] if isinstance(x, str) else x
    release = sd.regression(
        data, y="c", x=x, bounds={name: BOUNDS[name] for name in [*names, "c"]}, epsilon=1
    )
    text = str(release)
    assert np.isfinite(list(release.value.values())).all()
    assert json.dumps(release.derived(), allow_nan=False)
    singular = len(rows) in {0, 1, 900} or len(names) == 2
    if singular:
        assert "may be any number" in text
        assert release.interval()["a"] == (-np.inf, np.inf)
    release.plot()
    for of_ in ("sample", "population"):
        release.predict(dict.fromkeys(names, 0)).interval(of=of_)


def test_what_is_refused_says_what_to_type():
    good = {"y": "c", "x": "a", "bounds": {"a": (0, 1), "c": (0, 1)}, "epsilon": 1}
    for wrong, said in (
        ({"x": ["a", "c"]}, "name other columns than"),
        ({"bounds": {"a": (0, 1)}}, "be given for 'c'"),
        ({"bounds": {**good["bounds"], "z": (0, 1)}}, "hold only the columns of"),
        ({"bounds": {"a": ("2020-01-01", "2021-01-01"), "c": (0, 1)}}, "two numbers"),
        ({"x": "intercept", "bounds": {"intercept": (0, 1), "c": (0, 1)}}, "a coefficient"),
        ({"method": "exponential"}, "be one of laplace, gaussian"),
    ):
        with pytest.raises(ParameterError, match=said):
            sd.plan.regression(**{**good, **wrong}, n=100)
    with pytest.raises(ParameterError, match="be given for 'c'"):
        sd.plan.regression(y="c", x="a", bounds={"a": (0, 1)}, error=0.1, n=100)
    with pytest.raises(ParameterError, match="be given, because the error"):
        sd.plan.regression(**{**good, "epsilon": None, "error": 0.1})
    with pytest.raises(ParameterError, match="a number for each of a"):
        sd.regression({"a": [0.5], "c": [0.5]}, **good).predict({"b": 1})


def test_large_numbers_are_printed_as_people_write_them():
    """Also a coefficient that noise hides: it has three digits, not those that were drawn."""
    x = np.arange(2000) % 50
    data = {"x": x, "same": np.full(2000, 3), "y": 1000.123 * x + 20_000.4 * (np.arange(2000) % 2)}
    bounds = {"x": (0, 50), "same": (0, 10), "y": (0, 150_000)}
    fit = sd.regression(
        data, y="y", x=["x", "same"], bounds=bounds, epsilon=1, source=SeededSource(1)
    )
    assert "y to 0 to 149,760 in steps of 260" in fit.caveats[0]
    text = str(fit)
    assert "e+0" not in text
    low, high = fit.interval()["same"]
    assert np.isinf([low, high]).any()
    (line,) = [line for line in text.splitlines() if line.startswith("same")]
    digits = line.split()[1].strip("-").replace(",", "").replace(".", "").strip("0")
    assert len(digits) <= 3


def test_a_chart_of_one_predictor_names_both_axes():
    data = {"x": list(range(50)) * 20, "y": list(range(50)) * 20}
    bounds = {"x": (0, 50), "y": (0, 50)}
    fit = sd.regression(data, y="y", x="x", bounds=bounds, epsilon=1, source=SeededSource(1))
    drawn = svg.draw(fit.chart(), 600)
    assert 'text-anchor="start">y</text>' in drawn
    assert 'text-anchor="end">x</text>' in drawn
