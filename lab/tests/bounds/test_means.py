"""Row A4 (and A1, A2): the quadratic risks of a private mean."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine_lab import bounds as b


def test_mean_risks():
    n, epsilon, runs = 50, 0.8, 40_000
    rng = np.random.default_rng(1)
    means = rng.uniform(0, 1000, (runs, n)).mean(axis=1)
    variance, ends = 1000**2 / 12, (0, 1000)
    scale = 1000 / (n * epsilon)
    noises = {
        b.mean_risk(n, variance): 0,
        b.mean_risk_laplace(n, variance, epsilon=epsilon, bounds=ends): rng.laplace(0, scale, runs),
        b.mean_risk_gaussian(n, variance, epsilon=epsilon, bounds=ends, c=5): rng.normal(
            0, 5 * scale, runs
        ),
    }
    for risk, noise in noises.items():
        squares = (means + noise - 500) ** 2
        assert abs(squares.mean() - risk) < 6 * squares.std() / sqrt(runs)
        assert 6 * squares.std() / sqrt(runs) < 0.1 * risk  # the test can fail


def test_figures_1_and_3():
    """Row A2: the Gaussian's peak is wider, 6.25 against 1.77, at every epsilon by c/sqrt 2."""
    ends = {"bounds": (0, 1000)}
    for epsilon in (0.1, 0.8, 3):
        laplace = sqrt(b.mean_risk_laplace(1000, 0, epsilon=epsilon, **ends))
        gaussian = sqrt(b.mean_risk_gaussian(1000, 0, epsilon=epsilon, c=5, **ends))
        assert gaussian / laplace == pytest.approx(5 / sqrt(2))
        if epsilon == 0.8:
            assert (laplace, gaussian) == (pytest.approx(1.77, abs=0.005), 6.25)


def test_gaussian_constant():
    assert b.gaussian_constant(1e-5) == pytest.approx(4.84, abs=0.01)  # the report takes 5
    assert b.gaussian_constant(0.9) ** 2 < 2 < b.gaussian_constant(0.4) ** 2


def test_refusals():
    with pytest.raises(ParameterError, match="variance must be at least 0"):
        b.mean_risk(10, -1)
    with pytest.raises(ParameterError, match="n must be at least 1, got 0"):
        b.mean_risk(0, 1)
    with pytest.raises(ParameterError, match="delta must be above 0 and below 1"):
        b.gaussian_constant(0)
