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
