"""The work of a small request says nothing about its noise; its time is measured in benchmarks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit.checks import rank_correlation
from sourdine.noise import SeededSource, discrete_gaussian, discrete_laplace, gaussian_around
from sourdine.noise import source as equal_work


class Counting:
    """Counts the calls and bytes asked of a seeded source."""

    private = False

    def __init__(self, seed):
        self.source, self.asked = SeededSource(seed), []

    def bytes(self, count):
        self.asked.append(count)
        return self.source.bytes(count)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("scale", [1, 20, 10**6, 10**12])
def test_every_small_laplace_draw_asks_for_the_same_bytes(scale):
    source = Counting(1)
    seen = set()
    for _ in range(3000):
        source.asked.clear()
        discrete_laplace(scale, source=source)
        seen.add(tuple(source.asked))
    assert len(seen) == 1


@pytest.mark.slow
@pytest.mark.parametrize("variance", [1, 400, 10**10])
def test_the_trials_of_a_small_gaussian_draw_do_not_follow_its_size(variance):
    """A draw may be refused and repeated; whether it was says nothing about what came out."""
    source = Counting(2)
    sizes, asked = np.empty(20_000), np.empty(20_000)
    for i in range(sizes.size):
        source.asked.clear()
        sizes[i] = abs(discrete_gaussian(variance, source=source))
        asked[i] = sum(source.asked)
    if asked.min() < asked.max():
        assert abs(rank_correlation(sizes, asked)) < 0.03


def kind(value):
    """Return how Python makes a number: ready made, or of one, two or three digits."""
    return 0 if -5 <= value <= 256 else -(-abs(value).bit_length() // 30)


@pytest.mark.parametrize("centre", [0, 300, -(2**33), 2**61])
@pytest.mark.parametrize(
    "x",
    [0, -5, -6, 256, 257, 2**30 - 1, -(2**30) + 1, 2**30, -(2**30), 2**60 - 1, 2**60, -(2**60)],
)
def test_whatever_number_is_wanted_one_of_each_kind_is_made(x, centre, monkeypatch):
    """Small numbers are ready made in Python and cost less: with all kinds made none stands out."""
    monkeypatch.setattr(equal_work, "_left", [[]])
    for moved in (x - centre, x):
        got = equal_work.python_int(np.array([moved]), centre)
        assert got == moved + centre
        assert type(got) is int
        assert sorted(map(kind, (got, *equal_work._left[0]))) == [0, 1, 1, 2, 2, 3, 3]


def test_far_centres_are_added_too():
    for centre in (2**62, -(2**62) - 1, 10**30):
        assert equal_work.python_int(np.array([-7]), centre) == centre - 7


@pytest.mark.parametrize("variance", [Fraction(1, 3), 1, 400, 10**10, 2**100, 2**140])
def test_gaussian_around_is_the_same_draw_moved(variance):
    """Bit for bit, on both sides of the ends of 64-bit arithmetic."""
    for centre in (0, 1, -1000, 2**62 - 1, 2**62, -(2**62) - 1, 10**30):
        for seed in range(40):
            alone = discrete_gaussian(variance, source=SeededSource(seed))
            moved = gaussian_around(centre, variance, source=SeededSource(seed))
            assert moved == centre + alone
            assert type(moved) is int
