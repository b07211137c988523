"""What intervals are made of: quantiles of sums of noises, inverted lines, sampling error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.central.intervals import KNOTS, accepted, laplace_quantile, sampled
from sourdine.laws import Law
from sourdine.laws.compare import Tail


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
