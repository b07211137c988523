"""Warner's coins: their channel, their estimator, the best of them."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.mechanisms import (
    Warner,
)

HALF = Fraction(1, 2)


def test_two_fair_coins():
    """Row L2: matrix 3/4, 1/4; ln 3; f = 2r - 1/2; variance 3/(4n)."""
    coins = Warner(truth=HALF, yes=HALF)
    assert coins.channel == (Fraction(3, 4), Fraction(1, 4))
    assert float(coins.guarantee.epsilon) == pytest.approx(log(3), abs=1e-15)
    assert coins.guarantee.epsilon >= Fraction(log(3)) - Fraction(1, 10**15)
    for r in (0, 250, 600, 1000):
        assert coins.estimate(yes=r, n=1000) == 2 * Fraction(r, 1000) - HALF
    assert coins.variance(0.3, 1000) == coins.variance(0.9, 1000) == Fraction(3, 4000)


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "yes"), [(0.5, 0.5), (0.5, 0.25), (0.2, 0.7), (0.8, 0.1)])
def test_warner_estimator(truth, yes):
    """Unbiased, with the variances given, by simulation."""
    coins = Warner(truth=truth, yes=yes)
    n, runs, people = 200, 20_000, 60
    said = coins.simulate(1, people * runs).reshape(runs, people).sum(axis=1)
    said = said + coins.simulate(0, (n - people) * runs).reshape(runs, n - people).sum(axis=1)
    estimates = np.array([float(coins.estimate(yes=int(s), n=n)) for s in said])
    f = Fraction(people, n)
    variance = float(coins.variance(f, n))
    assert estimates.mean() == pytest.approx(float(f), abs=6 * (variance / runs) ** 0.5)
    assert estimates.var() == pytest.approx(variance, rel=0.06)
    assert coins.bias(f) == 0
    a, b = coins.channel
    assert coins.bias(f, corrected=False) == f * a + (1 - f) * b - f
    sampled = coins.variance(f, n, of="population")
    assert sampled - coins.variance(f, n) == f * (1 - f) / n


@pytest.mark.parametrize("epsilon", [0.3, 1, log(3), 2.5])
def test_warner_optimum_beats_other_coins(epsilon):
    """Every other pair of coins with the same epsilon has a larger variance."""
    best = Warner.optimum(epsilon)
    assert float(best.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-12)
    assert best.guarantee.epsilon <= Fraction(str(epsilon)) + Fraction(1, 10**15)
    for yes in (0.05, 0.25, 0.4, 0.6, 0.9):
        worst = max(yes, 1 - yes)
        least = min(yes, 1 - yes)
        truth = (exp(epsilon) - 1) * least / (1 + (exp(epsilon) - 1) * least)
        other = Warner(truth=truth, yes=yes)
        assert float(other.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-9)
        assert worst > least
        for f in (0, 0.1, 0.5, 0.9, 1):
            assert other.variance(f, 1) > best.variance(f, 1)
    assert float(Warner.optimum(log(3)).truth) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Warner(truth=1),
            ParameterError,
            "truth must be above 0 and below 1, got 1. A certain",
        ),
        (
            lambda: Warner(truth=0.5, yes=0),
            ParameterError,
            "yes must be above 0 and below 1, got 0",
        ),
        (lambda: Warner(truth=1.5), ParameterError, "truth must be from 0 to 1, got 1.5. Use"),
        (lambda: Warner(truth=0.5).variance(0.5, 0), ParameterError, "n must be at least 1"),
        (
            lambda: Warner(truth=0.5).variance(0.5, 9, of="all"),
            ParameterError,
            "of must be 'sample' or 'population', got 'all'. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
