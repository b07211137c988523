"""The work of a small request says nothing about its noise; its time is measured in benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.audit import rank_correlation
from sourdine.noise import SeededSource, discrete_gaussian, discrete_laplace


class Counting:
    """Counts the calls and bytes asked of a seeded source."""

    private = False

    def __init__(self, seed):
        self.source, self.asked = SeededSource(seed), []

    def bytes(self, count):
        self.asked.append(count)
        return self.source.bytes(count)


@pytest.mark.parametrize("scale", [1, 20, 10**6, 10**12])
def test_every_small_laplace_draw_asks_for_the_same_bytes(scale):
    source = Counting(1)
    seen = set()
    for _ in range(3000):
        source.asked.clear()
        discrete_laplace(scale, source=source)
        seen.add(tuple(source.asked))
    assert len(seen) == 1


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
