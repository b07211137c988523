"""zCDP: conversions certified and optimal, against exact divergences."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Concentrated, Guarantee

RHOS = st.fractions(Fraction(1, 10**8), 20)
DELTAS = st.floats(1e-30, 0.9)
X = np.geomspace(1e-8, 1e8, 200_001)


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Exact hockey stick of two Gaussians a distance of mu standard deviations apart."""
    mu = math.sqrt(2 * rho)
    upper = special.log_ndtr(mu / 2 - epsilon / mu)
    lower = epsilon + special.log_ndtr(-mu / 2 - epsilon / mu)
    return math.exp(upper) * -math.expm1(min(lower - upper, 0))


@pytest.mark.slow
@given(RHOS, DELTAS)
def test_epsilon_is_optimal_and_rounded_up(rho, delta):
    found = Concentrated(rho).at(delta)
    assert found.delta == Fraction(str(delta))
    loss = -math.log(delta)
    grid = (1 + X) * float(rho) - np.log1p(1 / X) + (loss - np.log1p(X)) / X
    classical = float(rho) + 2 * math.sqrt(float(rho) * loss)
    least = min(max(grid.min(), 0), classical)
    assert float(found.epsilon) <= least * (1 + 1e-6) + 1e-12
    assert float(found.epsilon) >= least * (1 - 1e-4) - 1e-12
    assert gaussian_delta(float(rho), float(found.epsilon)) <= delta * (1 + 1e-9)


@pytest.mark.slow
@given(RHOS, st.fractions(Fraction(1, 10**4), 60))
def test_delta_is_above_the_gaussian(rho, epsilon):
    found = Concentrated(rho).delta_at(epsilon)
    assert 0 < found <= 1
    true = gaussian_delta(float(rho), float(epsilon))
    assert float(found) >= true * (1 - 1e-7)
    with localcontext(prec=60):
        r, e = decimal(rho), decimal(epsilon)
        classical = (-((e - r) ** 2) / (4 * r)).exp() if e > r else Decimal(1)
        assert decimal(found) <= max(classical, Decimal(-4999).exp())


@pytest.mark.slow
@settings(max_examples=50)
@given(RHOS, st.fractions(Fraction(1, 10**4), 60))
def test_delta_is_optimal_over_orders(rho, epsilon):
    found = Concentrated(rho).delta_at(epsilon)
    r, e = float(rho), float(epsilon)
    grid = X * ((1 + X) * r - e) - np.log(X) - (1 + X) * np.log1p(1 / X)
    least = min(grid.min(), 0)
    if least > -600:
        assert math.log(found) <= least + 1e-6 * abs(least) + 1e-9
        assert math.log(found) >= least - 1e-4 * abs(least) - 1e-8


@pytest.mark.slow
@given(RHOS, st.fractions(Fraction(1, 1000), 1), st.fractions(Fraction(1, 10), 30))
def test_formula_is_certified_at_its_order(rho, delta, x):
    """Independent evaluation at 60 digits of the epsilon certified at one order."""
    from sourdine.privacy.concentrated import _certified_epsilon

    alpha = 1 + x
    bound = _certified_epsilon(rho, delta, alpha).above()
    with localcontext(prec=60):
        a, r, d = decimal(alpha), decimal(rho), decimal(delta)
        true = a * r + (1 - 1 / a).ln() + (1 / (d * a)).ln() / (a - 1)
        assert decimal(bound) >= true - Decimal(10) ** -50
        assert decimal(bound) <= max(true, 0) * (1 + Decimal(10) ** -17) + Decimal(10) ** -50


@pytest.mark.slow
@given(st.fractions(Fraction(1, 10**6), 50), st.floats(1e-30, 0.5))
def test_rho_is_within(epsilon, delta):
    rho = Concentrated.rho_for(epsilon, delta)
    assert rho > 0
    assert Concentrated(rho).at(delta).epsilon <= epsilon
    assert Concentrated(rho * (1 + Fraction(1, 10**6))).at(delta).epsilon > epsilon


def renyi_of_randomised_response(epsilon: float, alpha: float) -> float:
    p = 1 / (1 + math.exp(-epsilon))
    q = 1 - p
    return math.log(p**alpha * q ** (1 - alpha) + q**alpha * p ** (1 - alpha)) / (alpha - 1)


@given(st.floats(0.01, 5), st.floats(1.01, 50))
def test_from_pure_bounds_randomised_response(epsilon, alpha):
    rho = float(Concentrated.from_pure(Guarantee(epsilon, 0, LOCAL)).rho)
    assert renyi_of_randomised_response(epsilon, alpha) <= rho * alpha * (1 + 1e-9) + 1e-12


def test_from_pure_is_tight_for_small_epsilon():
    rho = float(Concentrated.from_pure(Guarantee(0.01)).rho)
    assert renyi_of_randomised_response(0.01, 1.001) >= rho * 0.999


@pytest.mark.parametrize("alpha", [1.5, 2, 7])
@pytest.mark.parametrize("variance", [0.5, 4, 30])
def test_gaussian_divergence_is_rho_alpha(variance, alpha):
    """The discrete Gaussian at integers, shifted by 3: theorem 4 holds with equality."""
    x = np.arange(-400, 401)
    log_p, log_q = -(x**2) / (2 * variance), -((x - 3) ** 2) / (2 * variance)
    log_p, log_q = (y - special.logsumexp(y) for y in (log_p, log_q))
    divergence = special.logsumexp(alpha * log_p + (1 - alpha) * log_q) / (alpha - 1)
    rho = float(Concentrated.gaussian(3, variance).rho)
    assert divergence <= rho * alpha * (1 + 1e-9)
    if alpha == int(alpha):
        assert divergence == pytest.approx(rho * alpha, rel=1e-9)


def test_concentrated_group():
    one = Concentrated.gaussian(1, 7, ADD_REMOVE)
    assert one.group(5) == Concentrated.gaussian(5, 7, ADD_REMOVE)
    assert one.under(SUBSTITUTE) == Concentrated.gaussian(2, 7, SUBSTITUTE)
    assert one.under(ADD_REMOVE) == one


def test_sums_are_exact():
    tenth = Concentrated(0.1)
    assert tenth.times(10) == Concentrated(1) == Concentrated(0.75) + Concentrated(0.25)
    assert tenth.times(0).at(1e-6) == Guarantee(0, 1e-6)
    assert tenth.times(0).delta_at(0) == 0
    assert str(Concentrated(Fraction(1, 3))) == "rho 0.333334, one record added or removed"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("rho", [1e-250, 1e-20, 1e20, Fraction(10) ** 400])
def test_extremes(rho):
    promise = Concentrated(rho)
    assert promise.at(1e-300).epsilon > promise.at(0.9).epsilon
    assert (promise.delta_at(1) < 1e-300) == (rho < 1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: Concentrated(-1),
            ParameterError,
            "rho must be at least 0, got -1. Use rho=0 or more.",
        ),
        (
            lambda: Concentrated.from_pure(Guarantee(1, 0.1)),
            ParameterError,
            "guarantee must have delta 0, got delta 0.1. "
            "Use compose_advanced(guarantee, times, slack) to compose such guarantees.",
        ),
        (
            lambda: Concentrated.from_pure(Guarantee.none()),
            ParameterError,
            "epsilon must be finite, got NOT PRIVATE (epsilon infinite). "
            "Draw from the system's source, not from a seeded one.",
        ),
        (
            lambda: Concentrated.gaussian(0, 1),
            ParameterError,
            "sensitivity must be above 0, got 0. Use a positive number, such as sensitivity=1.",
        ),
        (
            lambda: Concentrated(1).at(0),
            ParameterError,
            "delta must be above 0 and below 1, got 0. "
            "Use delta=1e-6, or less than one over the number of records.",
        ),
        (
            lambda: Concentrated(1) + Guarantee(1),
            ParameterTypeError,
            "other must be a Concentrated, got a value of type Guarantee. "
            "Use Concentrated.from_pure(guarantee) for a pure guarantee.",
        ),
        (
            lambda: Concentrated(1, SUBSTITUTE) + Concentrated(1, ADD_REMOVE),
            ParameterError,
            "relation must be SUBSTITUTE, got ADD_REMOVE. "
            "Use other.under(SUBSTITUTE) for a guarantee under ADD_REMOVE.",
        ),
        (
            lambda: Concentrated(1, SUBSTITUTE).under(LOCAL),
            ParameterError,
            "relation must be SUBSTITUTE, got LOCAL. A guarantee for one record replaced does "
            "not bound any two inputs of one person. "
            "Ask the mechanism for its guarantee under LOCAL.",
        ),
    ],
)
def test_texts(call, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize("rho", [1e-2, 1e-6, 1e-12])
def test_delta_is_optimised_at_small_epsilon_too(rho):
    """At epsilon 0 the best order is about 1/sqrt(2 rho)."""
    delta = float(Concentrated(rho).delta_at(0))
    x = np.exp(np.linspace(-20, 30, 100_001))
    best = np.exp((x * (1 + x) * rho - np.log(x) - (1 + x) * np.log1p(1 / x)).min())
    assert delta == pytest.approx(best, rel=1e-6)
