"""The time of a small request says nothing about its noise."""

from __future__ import annotations

from time import perf_counter_ns

import numpy as np
import pytest

from sourdine.noise import discrete_gaussian, discrete_laplace


def ranks(x):
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(draw, count=20_000):
    draw()
    times, sizes = np.empty(count), np.empty(count)
    for i in range(count):
        start = perf_counter_ns()
        value = draw()
        times[i] = perf_counter_ns() - start
        sizes[i] = abs(value)
    return np.corrcoef(ranks(times), ranks(sizes))[0, 1]


@pytest.mark.parametrize(
    "draw",
    [lambda: discrete_laplace(20), lambda: discrete_gaussian(400)],
    ids=["laplace", "gaussian"],
)
def test_time_does_not_follow_the_noise(draw):
    assert abs(np.mean([spearman(draw) for _ in range(4)])) < 0.03
