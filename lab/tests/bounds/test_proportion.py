"""Rows A13 to A17: a proportion by inverse sensitivity and the lower bound."""

from __future__ import annotations

from math import log, sinh

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.mechanisms import Exponential
from sourdine_lab import bounds as b


def law(n, count, epsilon):
    weights = np.exp(-epsilon / 2 * np.abs(np.arange(n + 1) - count))
    return weights / weights.sum()


CASES = [(n, k, e) for n in (1, 2, 10, 200) for k in {0, 1, n // 2, n} for e in (0.01, 1, 8)]


@pytest.mark.parametrize(("n", "count", "epsilon"), CASES)
def test_proportion_loss_is_that_of_the_law(n, count, epsilon):
    j = np.arange(n + 1)
    exact = law(n, count, epsilon) @ np.abs(j - count) / n
    assert b.proportion_loss(n, count, epsilon) == pytest.approx(exact, rel=1e-9)
    assert b.proportion_distance(n, count, count, epsilon) == pytest.approx(exact, rel=1e-12)


def test_the_law_is_that_of_the_exponential_mechanism():
    n, count = 20, 7
    scores = [-abs(j - count) for j in range(n + 1)]
    mechanism = Exponential(epsilon=1, candidates=n + 1)
    pmf = mechanism.law(mechanism.read(scores)).pmf(range(n + 1))
    assert pmf == pytest.approx(law(n, count, 1))


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_proportion_limit(epsilon):
    n = 10**5
    for f in (0.2, 0.5, 0.9):
        loss = n * b.proportion_loss(n, int(f * n), epsilon)
        assert loss == pytest.approx(b.proportion_limit(epsilon), rel=1e-9)


def test_printed_proportion_limit_is_refuted():
    n = 10**5
    loss = n * b.proportion_loss(n, n // 2, 1)
    assert loss == pytest.approx(1.919, abs=5e-4)
    assert b.proportion_limit(1) == pytest.approx(1.919, abs=5e-4)
    assert b.proportion_limit_printed(1) == pytest.approx(3.164, abs=5e-4)
    for epsilon in (0.1, 1, 5):
        ratio = b.proportion_limit_printed(epsilon) / b.proportion_limit(epsilon)
        assert ratio == pytest.approx(np.exp(epsilon / 2))


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_lower_bound_holds(epsilon):
    for n in (1, 2, 10, 100):
        least = b.unbiased_lower_bound(n, epsilon)
        for count in range(n + 1):
            if b.proportion_is_unbiased(n, count, epsilon):
                assert b.proportion_loss(n, count, epsilon) >= least
        assert 1 / (n * epsilon) >= least  # the Laplace mechanism, whose median is f


def test_lower_bound_is_the_formula():
    assert b.unbiased_lower_bound(10, 0.5) == pytest.approx(1 / (20 * (np.e + 1)))


def test_figure_24_does_not_approach_the_lower_bound():
    for n in (100, 10_000):
        ratio = b.proportion_loss(n, n // 2, 1) / b.unbiased_lower_bound(n, 1)
        assert ratio == pytest.approx(32.2, abs=0.05)
    limit = 2 * (np.exp(2) + 1) / sinh(0.5)
    assert limit == pytest.approx(32.2, abs=0.05)


def test_printed_unbiasedness_is_refuted():
    """Row A14: 1.541 against 1.328 at f = 0, for every epsilon below 2 ln 2; nf <= 59 at .1."""
    n = 10_000
    at, beside = (n * b.proportion_distance(n, 0, t, 1) for t in (0, 1))
    assert (at, beside) == (pytest.approx(1.541, abs=5e-4), pytest.approx(1.328, abs=5e-4))
    assert not b.proportion_is_unbiased(n, 0, 2 * log(2) - 1e-6)
    assert b.proportion_is_unbiased(n, 0, 2 * log(2) + 1e-6)
    held = [b.proportion_is_unbiased(n, count, 0.1) for count in range(100)]
    assert held == [False] * 60 + [True] * 40


@pytest.mark.parametrize("epsilon", [0.2, 1, 2])
def test_unbiased_is_to_be_nearest(epsilon):
    n = 30
    for count in range(n + 1):
        distances = [b.proportion_distance(n, count, t, epsilon) for t in range(n + 1)]
        best = distances[count] <= min(distances) + 1e-15
        assert b.proportion_is_unbiased(n, count, epsilon) == best


def test_proportion_tends_to_a_dirac_mass():
    for n, count, epsilon in ((50, 20, 0.3), (200, 100, 1)):
        for eta in (0, 0.05, 0.2, 0.39):
            away = np.abs(np.arange(n + 1) / n - count / n) > eta + 1e-12
            exact = law(n, count, epsilon)[away].sum()
            tail = b.proportion_tail(n, count, epsilon, eta)
            assert tail == pytest.approx(exact, rel=1e-9, abs=1e-15)
            q = np.exp(-epsilon / 2)
            assert tail <= 2 * q ** (np.floor(eta * n + 1e-9) + 1) / (1 + q) + 1e-15
    assert b.proportion_tail(10**6, 250_000, 0.1, 0.001) < 1e-20
    here, there = (b.proportion_tail(10**6, k, 0.1, 0.001) for k in (250_000, 750_000))
    assert here == there  # both near 0: the two Dirac masses have nothing in common


def test_refusals():
    with pytest.raises(ParameterError, match="count must be at most n = 5, got 6"):
        b.proportion_loss(5, 6, 1)
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        b.unbiased_lower_bound(5, 0)
