"""Variances: three sums that move together, intervals, planned errors, populations."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine.central import Variance
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

LAST = 3


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
def test_three_sums_move_together(neighbours, furthest):
    variance = Variance(bounds=(0, LAST), step=1, epsilon=1, relation=neighbours)

    def sums(x):
        drawn = variance.three.sums(len(x), sum(x), sum(t * t for t in x))
        k, last = variance.three.boost, LAST
        assert drawn == (
            k * sum((last - t) ** 2 for t in x),
            k * sum(2 * t * (last - t) for t in x),
            k * sum(t * t for t in x),
        )
        return drawn

    assert furthest(sums, neighbours) == variance.three.mechanism.sensitivity


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("heaviest", [1, 5])
def test_divided_sums_move_together(neighbours, heaviest, monkeypatch):
    """Sums whose noise would be too wide, of records of every value and weight: rounding included.

    Without the room for rounding they would move too far.
    """
    monkeypatch.setattr("sourdine.central.variance.WIDE", 5)
    asked = {"bounds": (0, LAST), "step": 1, "relation": neighbours, "rows": heaviest}
    three = Variance(epsilon=1, **asked).three
    assert three.divisor > 1
    records = [(w, w * t, w * t * t) for w in range(heaviest + 1) for t in range(LAST + 1)]
    moved = []
    for rest in ((0, 0, 0), *records, (7, 11, 25), (8, 9, 13)):
        totals = [tuple(np.add(rest, own).tolist()) for own in [(0, 0, 0), *records]]
        sums = [np.array(three.sums(*own)) for own in totals]
        first = sums if neighbours is SUBSTITUTE else sums[:1]
        moved += [int(abs(x - y).sum()) for x in first for y in sums]
    assert max(moved) <= three.mechanism.sensitivity
    assert max(moved) > three.moves / three.divisor


def test_weights_of_a_million_steps_leave_the_noise_as_it_must_be():
    """Divided or not, the noise is the same on each lattice of values."""
    said = {"bounds": (0, 1), "weights": "w", "weight_bounds": (0, 1)}
    for epsilon in (1, 0.001):
        fine = Variance(epsilon=epsilon, **said)
        rough = Variance(epsilon=epsilon, step=1, **said)
        assert fine.three.divisor > 1 == rough.three.divisor
        least = fine.three.rows / epsilon
        assert least <= fine.three.scale <= (1 + 1e-9) * least
        assert rough.three.scale == pytest.approx(least)
    data = {"value": [0.25, 0.75] * 50, "w": [0.5] * 100}
    found = Variance(epsilon=10**6, column="value", **said).release(data)
    assert found.value == pytest.approx(1 / 16, abs=1e-6)
    low, high = found.interval(1 - 1e-9)
    assert low <= 1 / 16 <= high


@pytest.mark.slow_cases(3)
def test_variance_intervals_cover(relation, sample, simulated):
    truth = np.floor(np.clip(sample, 0, 1000) + 0.5).var()
    statistic = Variance(bounds=(0, 1000), step=1, epsilon=1, relation=relation)
    _, low, high = simulated(statistic, sample, 100)
    assert ((low <= truth + 1e-6) & (truth <= high)).mean() >= 0.95 - 6 * sqrt(0.0475 / 100)


@pytest.mark.slow
def test_planned_variance_error(uniform, simulated):
    statistic = Variance(bounds=(0, 1000), step=1, epsilon=1)
    values, _, _ = simulated(statistic, uniform, 200)
    truth = np.floor(uniform + 0.5).var()
    assert np.quantile(np.abs(values - truth), 0.95) <= statistic.error(0.05, n=200)


@pytest.mark.slow
def test_the_variance_of_a_population_is_covered(relation):
    rng = np.random.default_rng(4)
    asked = Variance(bounds=(0, 1), epsilon=1, relation=relation, source=SeededSource(4))
    ends = [asked.release(rng.beta(2, 5, 300)).interval(of="population") for _ in range(80)]
    low, high = np.array(ends).T
    truth = 10 / (49 * 8)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.95 - 6 * sqrt(0.0475 / 80)
