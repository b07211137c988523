"""Intervals and planned errors against simulation, with seeded sources so that nothing flakes."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from sourdine.central import (
    Count,
    Histogram,
    Mean,
    Proportion,
    Sum,
    Variance,
    build,
    by_group,
    epsilon_for,
)
from sourdine.central.intervals import KNOTS, accepted, laplace_quantile, sampled
from sourdine.central.ratio import PLANNED, Ratio, _table
from sourdine.laws import Law, Tail
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE
from sourdine.tally import Frame

RUNS = 150
SIX = 6 * sqrt(0.05 * 0.95 / RUNS)
RNG = np.random.default_rng(8)
DATA = {
    "uniform": RNG.uniform(0, 1000, 200),
    "skewed": np.round(np.exp(RNG.normal(4, 1, 200)), -1),
    "one value": np.where(RNG.uniform(size=200) < 0.9, 100.0, RNG.uniform(0, 1000, 200)),
    "at a bound": np.zeros(200),
}
WAYS = [
    {},
    {"relation": "substitute"},
    {"relation": "substitute", "missing": "exclude"},
    {"method": "gaussian", "delta": 1e-6},
    {"method": "exponential"},
    {"method": "exponential", "relation": "substitute"},
    {"method": "exponential", "relation": "substitute", "missing": "exclude"},
]


def simulated(statistic, x, runs=RUNS, of="sample"):
    data, source = Frame(x), SeededSource(5)
    releases = [statistic.release(data, source=source) for _ in range(runs)]
    ends = np.array([r.interval(of=of) for r in releases], float)
    return np.array([r.value for r in releases], float), ends[:, 0], ends[:, 1]


def shortest(values, truth):
    """Return the width of the shortest interval around a value that would cover 95 % of runs."""
    return 2 * np.quantile(np.abs(values - truth), 0.95)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_mean_intervals_cover(way, name):
    x = DATA[name]
    mean = Mean(bounds=(0, 1000), step=1, epsilon=1, **way)
    truth = np.floor(np.clip(x, 0, 1000) + 0.5).mean()
    values, low, high = simulated(mean, x)
    assert ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean() >= 0.95 - SIX
    assert ((low <= values + 1e-9) & (values - 1e-9 <= high)).all()
    if name != "at a bound":
        assert np.median(high - low) <= 1.6 * shortest(values, truth)


def test_the_interval_has_power():
    """With noise 30 % larger than it is told of, it would not cover."""
    told, true = (Ratio(last=1000, epsilon=Fraction(e, 100), relation=ADD_REMOVE) for e in (13, 10))
    source, hits = SeededSource(2), 0
    for _ in range(2000):
        low, high = told.limits(true.draw(50_000, 25_000_000, source), 0.2)
        hits += low <= 0.5 <= high
    assert hits / 2000 < 0.8 - 6 * sqrt(0.16 / 2000)


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_ratio_intervals_cover(replaced, p):
    ratio = Ratio(last=10, epsilon=1, relation=SUBSTITUTE if replaced else ADD_REMOVE)
    source, n, hits = SeededSource(3), 30, 0
    for _ in range(1000):
        low, high = ratio.limits(ratio.draw(n, round(10 * n * p), source), 0.1)
        hits += low <= p <= high
    assert 0.9 - 6 * sqrt(0.09 / 1000) <= hits / 1000 <= 0.99


def test_the_quantile_of_a_sum_of_noises():
    for weights in ([1.0, 0.0], [1.0, 1.0], [0.8, 0.2], [1.0, 1.0, 1.0], [0.7, 0.2, 0.2]):
        draws = np.random.default_rng(1).laplace(size=(len(weights), 400_000))
        total = np.abs(np.array(weights) @ draws)
        for beta in (0.3, 0.05, 0.001):
            assert (total > laplace_quantile(weights, beta)).mean() == pytest.approx(beta, rel=0.15)


def test_the_discrete_noise_is_within_a_step_of_the_continuous():
    """The exact law of a sum of two discrete noises at the coarsest scale in use."""
    scale = 1024
    tail = Tail.geometric(-1 / scale, Fraction(1, scale))
    one = Law.of([0], [1], [0.0], [0.0], left=tail, right=tail)
    cells = np.arange(-30 * scale, 30 * scale + 1)
    p = one.pmf(cells)
    for a, b in ((1, 1), (3, 1)):
        for beta in (0.5, 0.05, 1e-3):
            q = float(laplace_quantile([a * scale, b * scale], beta)) + a + b
            inner = one.cdf(np.floor((q - b * cells) / a)) - one.cdf(
                np.ceil((-q - b * cells) / a) - 1
            )
            assert 1 - (p * inner).sum() <= beta


@pytest.mark.parametrize("replaced", [False, True])
def test_chords_lie_above_the_quantiles(replaced):
    middle = (KNOTS[1:] + KNOTS[:-1]) / 2
    table = _table(replaced, 0.05, gaussian=False)
    weights = np.stack(
        (np.ones_like(middle), np.abs(1 - 2 * middle)) if replaced else (1 - middle, middle), -1
    )
    assert ((table[1:] + table[:-1]) / 2 >= laplace_quantile(weights, 0.05) * (1 - 1e-3)).all()


def test_a_narrow_interval_between_two_knots_is_found():
    low, high = accepted(-0.3, 0.7, np.full(len(KNOTS), 1e-7))
    assert low == pytest.approx(0.3 - 1e-7, abs=1e-12)
    assert high == pytest.approx(0.3 + 1e-7, abs=1e-12)
    assert accepted(1.0, 1.0, np.full(len(KNOTS), 0.5)) is None
    assert accepted(0.0, 0.0, np.full(len(KNOTS), 0.5)) == (0.0, 1.0)


def test_sampling_ends():
    assert sampled(0.0, 1.0, 10, 0.05) == (0.0, 1.0)
    assert sampled(0.2, 0.3, 0, 0.05) == (0.0, 1.0)
    low, high = sampled(0.0, 0.0, 100, 0.05)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-9)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", DATA)
def test_variance_intervals_cover(relation, name):
    x = DATA[name]
    truth = np.floor(np.clip(x, 0, 1000) + 0.5).var()
    statistic = Variance(bounds=(0, 1000), step=1, epsilon=1, relation=relation)
    _, low, high = simulated(statistic, x, 100)
    assert ((low <= truth + 1e-6) & (truth <= high)).mean() >= 0.95 - 6 * sqrt(0.0475 / 100)


def test_planned_variance_error():
    x = DATA["uniform"]
    statistic = Variance(bounds=(0, 1000), step=1, epsilon=1)
    values, _, _ = simulated(statistic, x, 200)
    truth = np.floor(x + 0.5).var()
    assert np.quantile(np.abs(values - truth), 0.95) <= statistic.error(0.05, n=200)


@pytest.mark.parametrize("way", [{}, {"relation": "substitute"}, {"n": 200}], ids=str)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_proportion_intervals_cover(way, share):
    x = (np.arange(200) < 200 * share).astype(int)
    values, low, high = simulated(Proportion(epsilon=1, **way), x)
    assert ((low <= share) & (share <= high)).mean() >= 0.95 - SIX
    if share == 0.5:
        assert np.median(high - low) <= 1.6 * shortest(values, share)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_populations_are_covered(relation):
    """Fresh samples from a law: sampling error and noise together."""
    rng, source = np.random.default_rng(4), SeededSource(4)
    mean = Mean(bounds=(0, 1), epsilon=1, relation=relation)
    share = Proportion(epsilon=1, relation=relation)
    spread = Variance(bounds=(0, 1), epsilon=1, relation=relation)
    hits = np.zeros(3)
    for _ in range(80):
        x = rng.beta(2, 5, 300)
        a, b = mean.release(Frame(x), source=source).interval(of="population")
        c, d = share.release(Frame((x > 0.5) * 1), source=source).interval(of="population")
        e, f = spread.release(Frame(x), source=source).interval(of="population")
        hits += [a <= 2 / 7 <= b, c <= 0.109375 <= d, e <= 10 / (49 * 8) <= f]
    assert (hits / 80 >= 0.95 - 6 * sqrt(0.0475 / 80)).all()
    assert b - a < 0.2


@pytest.mark.parametrize("way", WAYS[:5], ids=str)
def test_planned_mean_error(way):
    x = DATA["uniform"]
    mean = Mean(bounds=(0, 1000), step=1, epsilon=1, **way)
    data, source = Frame(x), SeededSource(5)
    values = np.array([mean.release(data, source=source).value for _ in range(1500)])
    seen = np.quantile(np.abs(values - np.floor(x + 0.5).mean()), 0.95)
    assert 0.93 <= mean.error(0.05, n=200) / seen <= 1.37  # the quantile itself wavers by 3 %


def test_planned_errors_of_ratios_by_their_laws():
    """Without simulation: the quantiles at the middle, at the planned place and at a bound."""
    for replaced in (False, True):
        q = _table(replaced, 0.05, gaussian=False)
        middle, planned, bound = np.interp([0.5, PLANNED, 0.0], KNOTS, q)
        assert 1.1 <= planned / middle <= 1.27
        assert 1 <= bound / planned <= 1.2
        inside = (KNOTS >= PLANNED) & (KNOTS <= 1 - PLANNED)
        assert (q[inside] <= planned).all()
        ratio = Ratio(last=1000, epsilon=1, relation=SUBSTITUTE if replaced else ADD_REMOVE)
        unit = ratio.scale / (ratio.last * ratio.boost * (2 if replaced else 1))
        assert ratio.error(0.05, 10**7) == pytest.approx(planned * unit / 10**7, rel=2e-3)


@pytest.mark.parametrize("rows", [1, 3])
def test_count_error_is_that_of_the_noise(rows):
    count = Count(epsilon=0.5, rows=rows)
    values, low, high = simulated(count, [0] * 100, 2000)
    seen = np.quantile(np.abs(values - 100), 0.95)
    assert 0.9 <= count.error(0.05) / seen <= 1.2
    assert ((low <= 100) & (high >= 100)).mean() >= 0.95 - 6 * sqrt(0.0475 / 2000)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_histogram_intervals_hold_together(relation):
    x = np.random.default_rng(1).integers(0, 20, 500)
    histogram = Histogram(bins=20, bounds=(0, 20), epsilon=1, relation=relation)
    truth = np.bincount(x, minlength=20)
    data, source = Frame(x), SeededSource(6)
    worst, hits = [], 0
    for _ in range(1000):
        release = histogram.release(data, source=source)
        low, high = release.interval()
        worst.append(np.abs(release.value - truth).max())
        hits += bool(((low <= truth) & (truth <= high)).all())
    assert hits / 1000 >= 0.95 - 6 * sqrt(0.0475 / 1000)
    assert 0.95 <= histogram.error(0.05) / np.quantile(worst, 0.95) <= 1.2


@pytest.mark.parametrize(
    ("make", "n", "error"),
    [
        (lambda e: Count(epsilon=e), None, 7),
        (lambda e: Sum(epsilon=e, bounds=(-3, 10)), None, 25),
        (lambda e: Mean(epsilon=e, bounds=(0, 10)), 500, 0.1),
        (lambda e: Mean(epsilon=e, bounds=(0, 10), relation="substitute"), 500, 0.1),
        (lambda e: Variance(epsilon=e, bounds=(0, 10)), 500, 2),
        (lambda e: Proportion(epsilon=e), 500, 0.02),
        (lambda e: Histogram(epsilon=e, bins=5, bounds=(0, 10)), None, 9),
        (lambda e: Histogram(epsilon=e, keys="unknown", delta=1e-6), None, 9),
        (lambda e: by_group(Mean(epsilon=e, bounds=(0, 10)), "g", ["a", "b"]), 500, 0.3),
    ],
)
def test_a_target_is_reached_and_not_by_less(make, n, error):
    epsilon = epsilon_for(make, error, n=n)
    assert make(epsilon).error(0.05, n=n) <= error
    assert make(epsilon * (1 - 2 / 1000)).error(0.05, n=n) > error
    assert len(f"{float(epsilon):.10g}".replace(".", "").lstrip("0")) <= 4


def test_build_turns_an_error_into_epsilon():
    statistic = build(Mean, error=0.1, n=500, bounds=(0, 10))
    assert statistic.error(0.05, n=500) <= 0.1
    assert build(Count, error=1e9).epsilon == epsilon_for(lambda e: Count(epsilon=e), 1e9)
