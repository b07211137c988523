"""Sums: how far one record moves them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sourdine as sd
from sourdine.central import Sum
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

LAST = 3


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("lower", [0, -1, -2, 5, -7, Fraction(1, 3), Fraction(-1, 2)])
def test_a_sum_moves_no_further_than_its_noise_covers(neighbours, lower, furthest):
    of = Sum(bounds=(lower, lower + LAST), step=1, epsilon=1, relation=neighbours)
    p, q = of._whole
    assert (p, q) == (lower / of.tick, 1 / of.tick)
    moved = furthest(lambda x: [p * len(x) + q * sum(x)], neighbours)
    assert moved == of.mechanism.sensitivity
    assert moved * of.tick == max(
        abs(lower), abs(lower + LAST), LAST if neighbours is SUBSTITUTE else 0
    )


@pytest.mark.slow
def test_sum_error_is_that_of_the_noise(simulated, relation):
    asked = Sum(bounds=(-3, 10), step=0.5, epsilon=1, relation=relation)
    values, low, high = simulated(asked, [1.5] * 100, 1500)
    seen = np.quantile(np.abs(values - 150), 0.95)
    assert 0.9 <= asked.error(0.05) / seen <= 1.2
    assert ((low <= 150) & (high >= 150)).mean() >= 0.95 - 6 * (0.0475 / 1500) ** 0.5


def test_sums_of_whole_numbers_are_whole():
    x = [1, 2, 3] * 10
    assert isinstance(sd.sum(x, bounds=(0, 10), step=1, epsilon=1).value, int)
    assert isinstance(sd.sum(x, bounds=(0, 10), step=0.5, epsilon=1).value, float)
