"""Shares: intervals, populations, when the number of records is public, what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine import proportion
from sourdine.central import Proportion
from sourdine.noise import SeededSource

SIX = 6 * sqrt(0.05 * 0.95 / 150)
WAYS = [{}, {"n": 200}, {"relation": "substitute"}, {"n": 200, "missing": "no"}]


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_proportion_intervals_cover(way, share, simulated, shortest):
    x = (np.arange(200) < 200 * share).astype(int)
    values, low, high = simulated(Proportion(epsilon=1, **way), x)
    assert ((low <= share) & (share <= high)).mean() >= 0.95 - SIX
    if share == 0.5:
        assert np.median(high - low) <= 1.6 * shortest(values, share)


@pytest.mark.slow
def test_the_share_of_a_population_is_covered(relation):
    rng = np.random.default_rng(4)
    asked = Proportion(epsilon=1, relation=relation, source=SeededSource(4))
    ends = [asked.release((rng.random(300) < 0.1) * 1).interval(of="population") for _ in range(80)]
    low, high = np.array(ends).T
    assert ((low <= 0.1) & (high >= 0.1)).mean() >= 0.95 - 6 * sqrt(0.0475 / 80)


def test_n_plans_and_is_the_denominator_only_if_missing_values_say_no():
    x = [1, 0, 1, None] * 500
    planned = proportion(x, epsilon=5, n=4000)
    assert "records" not in planned.drawn
    assert abs(planned.value - 2 / 3) < 0.05
    stated = proportion(x, epsilon=5, n=4000, missing="no")
    assert stated.drawn["records"] == 4000
    assert abs(stated.value - 1 / 4) < 0.05
    assert "Missing values count as no." in stated.caveats
    replaced = proportion(x, epsilon=5, n=4000, relation="substitute")
    assert replaced.drawn["records"] == 2000


WRONG = [
    (lambda: proportion([1], epsilon=1, n=0), "n must be at least 1"),
    (lambda: proportion([1], epsilon=1, missing="no"), "missing must be 'exclude'"),
    (lambda: proportion([1], epsilon=1, missing="x"), "missing must be 'auto'"),
    (lambda: proportion([1], error=0.1), "n must be given, because the error of a"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)
