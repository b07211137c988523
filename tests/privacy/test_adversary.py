"""The best test of what is published: exact powers, and nobody does better."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.mechanisms import Warner
from sourdine.privacy import Guarantee
from sourdine.privacy.composition import Adversary

EPSILONS = st.fractions(0, 6, max_denominator=1000)
CHANCES = st.fractions(0, 1, max_denominator=1000)
SIX_SIGMA = 6.1
"""What a binomial count passes with probability 1e-9."""


def telling(epsilon, delta):
    """Return the chances of yes, no, told in and told out, in both worlds."""
    p = exp(epsilon) / (1 + exp(epsilon))
    hidden = 1 - delta
    return [hidden * p, hidden * (1 - p), delta, 0.0], [hidden * (1 - p), hidden * p, 0.0, delta]


@pytest.mark.slow
@given(EPSILONS, CHANCES, CHANCES)
def test_one_release_has_the_power_of_the_formula(epsilon, delta, alarms):
    steep = Adversary(Guarantee(epsilon)).factor
    bound = min(Fraction(1), delta + steep * alarms, 1 - (1 - delta - alarms) / steep)
    assert Adversary(Guarantee(epsilon, delta)).power(alarms) == bound


@pytest.mark.parametrize(("n", "delta"), [(1, 0.0), (3, 0.0), (1, 0.1), (2, 0.05)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_no_test_of_randomised_responses_does_better(n, delta, epsilon):
    """All tests without coins, by enumeration: none is above the curve, and all corners are met."""
    inside, outside = telling(epsilon, delta)
    seen = list(product(range(4 if delta else 2), repeat=n))
    p = np.array([prod(inside[i] for i in word) for word in seen])
    q = np.array([prod(outside[i] for i in word) for word in seen])
    tests = (np.arange(1 << len(seen))[:, None] >> np.arange(len(seen))) & 1
    alarms, power = tests @ q, tests @ p
    adversary = Adversary(Guarantee(epsilon, delta), n)
    corners = adversary.corners()
    curve = np.interp(alarms, *zip(*corners, strict=True))
    assert (power <= curve + 1e-12).all()
    for x, y in corners:
        assert np.hypot(alarms - x, power - y).min() < 1e-12
        assert float(adversary.power(min(x, 1.0))) == pytest.approx(y, abs=1e-12)


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_best_test_reaches_its_power(n, epsilon):
    """The library's own randomised responses, put to the best test with 5% false alarms."""
    runs, alarms = 40_000, 0.05
    coins = Warner.optimum(epsilon)
    found, wrong = (
        _named(coins.simulate(x, n * runs).reshape(runs, n).sum(axis=1), n, epsilon, alarms)
        for x in (1, 0)
    )
    power = float(Adversary(Guarantee(epsilon), n).power(alarms))
    for share, must in ((found, power), (wrong, alarms)):
        error = SIX_SIGMA * (must * (1 - must) / runs) ** 0.5
        assert abs(share - must) < error
        assert error < 0.3 * must, "a power 30% away would be noticed"


def _named(counts, n, epsilon, alarms):
    """Return the share of runs in which the best test says yes."""
    _, outside = telling(epsilon, 0.0)
    chances = [
        sum(
            prod(outside[i] for i in word)
            for word in product((0, 1), repeat=n)
            if word.count(0) == k
        )
        for k in range(n + 1)
    ]
    says, left = np.zeros(n + 1), alarms
    for k in range(n, -1, -1):
        says[k] = min(1.0, left / chances[k])
        left = max(0.0, left - chances[k])
    return (np.random.default_rng(1).random(len(counts)) < says[counts]).mean()


@pytest.mark.slow
@given(EPSILONS, st.fractions(Fraction(1, 10**6), Fraction(1, 50), max_denominator=10**6))
def test_accidents_are_as_rare_as_stated(epsilon, delta):
    """One that passes the factor as often as can be is private, and within what is stated."""
    adversary = Adversary(Guarantee(epsilon, delta))
    c = adversary.factor * Fraction(1001, 1000)
    steep = Adversary(Guarantee(epsilon)).factor
    p = delta / (1 - steep / c)
    q = p / c
    assert p - steep * q == delta, "one way"
    assert (1 - q) - steep * (1 - p) <= delta, "the other way"
    assert Fraction(9, 20) * adversary.passed < p < adversary.passed


def test_beliefs_move_by_the_factor():
    adversary = Adversary(Guarantee(1))
    for prior in (Fraction(1, 2), Fraction(1, 1000)):
        odds = prior / (1 - prior)
        low, high = adversary.posterior(prior)
        assert high / (1 - high) == odds * adversary.factor
        assert low / (1 - low) == odds / adversary.factor
    assert adversary.posterior(0) == (0, 0)
    assert adversary.posterior(1) == (1, 1)


def test_more_releases_find_more():
    powers = [Adversary(Guarantee(0.3, 1e-3), n).power(0.05) for n in range(1, 30)]
    assert powers == sorted(powers)
    assert Adversary(Guarantee(0.3), 2).power(0.05) < Adversary(Guarantee(0.6)).power(0.05)


def test_no_promise_leaves_nothing():
    for empty in (Guarantee.none(), Guarantee(0, 1), Guarantee(10**6)):
        adversary = Adversary(empty, 3)
        assert adversary.power(0) == 1
        assert adversary.corners()[0] == (0.0, 1.0)
    assert Adversary(Guarantee(10**6)).posterior(0.5) == (0, 1)


def test_wrong_numbers_are_refused():
    with pytest.raises(ParameterError, match=r"releases must be at most 1000, got 1001"):
        Adversary(Guarantee(1), 1001)
    with pytest.raises(ParameterError, match=r"alarms must be from 0 to 1, got 5"):
        Adversary(Guarantee(1)).power(5)
