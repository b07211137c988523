"""Chances of the device: enclosures hold, floors and ceilings are those of the true real."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from sourdine.exact import exp_neg

WIDEST = 16
"""An enclosure is this many units wide at most for each unit of its coefficients."""


def cases():
    rng = random.Random(4)  # noqa: S311
    for number in range(400):
        m, n = rng.choice([1, 7, 1 << 50, 3**40]), rng.randint(1, 40)
        few, many = rng.randint(1, 9), rng.randint(10, 10 ** rng.randint(1, 11))
        n = str(n * m // rng.choice([1, 3, 10, 1000]) + 1)
        top = [[few, "0"], [-few, n]] if number % 2 else [[few, n]]
        yield [top, [[few, "0"], [many, n]], str(m), rng.choice([0, 1, 64, 128, 192, 1024])]


def enclosed(terms, m, bits):
    """Return rationals on both sides of a sum of c exp(-n/m), far closer than asked for."""
    low = high = Fraction(0)
    for c, n in terms:
        ends = exp_neg(Fraction(int(n), int(m))).bounds(bits)
        least, most = sorted(Fraction(c * end, 1 << bits) for end in ends)
        low, high = low + least, high + most
    return low, high


@pytest.mark.slow
def test_enclosures_hold_and_ends_are_exact(node):
    given = list(cases())
    for (top, bottom, m, bits), (around, ends) in zip(
        given, node("chances.mjs", given), strict=True
    ):
        fine = bits + 150
        (a, b), (c, d) = enclosed(top, m, fine), enclosed(bottom, m, fine)
        low, high = map(int, around)
        assert low <= a * (1 << bits)
        assert b * (1 << bits) <= high
        assert high - low <= WIDEST * sum(abs(k) for k, _ in top)
        floor, ceiling = map(int, ends)
        assert floor == a * (1 << bits) // d
        assert ceiling == -(-b * (1 << bits) // c)
        assert floor + 1 == ceiling
