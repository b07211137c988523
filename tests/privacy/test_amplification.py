"""Amplification by sampling: tight, rounded up, and not the lecture's form."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Guarantee, poisson
from sourdine.privacy.composition import without_replacement

EPSILONS = st.fractions(Fraction(1, 10**6), 30)
RATES = st.fractions(Fraction(1, 10**6), 1)
DELTAS = st.fractions(0, 1)
TINY = Decimal(10) ** -17


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def true_loss(epsilon: Fraction, rate: Fraction) -> Decimal:
    """Log odds of randomised response on a sample that may hold the one record there is."""
    truth = decimal(epsilon).exp() / (1 + decimal(epsilon).exp())
    q = decimal(rate)
    present = q * truth + (1 - q) * (1 - truth)
    absent = 1 - truth
    return (present / absent).ln()


@pytest.mark.slow
@given(EPSILONS, RATES)
def test_amplification_is_tight(epsilon, rate):
    with localcontext(prec=60):
        found = decimal(poisson(Guarantee(epsilon, 0, ADD_REMOVE), rate).epsilon)
        true = true_loss(epsilon, rate)
        assert true * (1 - Decimal(10) ** -40) <= found <= true * (1 + TINY)


@pytest.mark.slow
@given(EPSILONS, DELTAS, st.integers(1, 50), st.integers(0, 50))
def test_sample_of_fixed_size(epsilon, delta, m, rest):
    n = m + rest
    g = without_replacement(Guarantee(epsilon, delta, SUBSTITUTE), m, n)
    assert g.epsilon == poisson(Guarantee(epsilon, 0, ADD_REMOVE), Fraction(m, n)).epsilon
    assert (g.delta, g.relation) == (delta * Fraction(m, n), SUBSTITUTE)


def test_lecture_form_is_false():
    found = poisson(Guarantee(1, 0, ADD_REMOVE), 0.5).epsilon
    with localcontext(prec=60):
        assert round(true_loss(Fraction(1), Fraction(1, 2)), 3) == Decimal("0.620")
    assert round(float(found), 3) == 0.620
    assert found > Fraction(1, 2)


@pytest.mark.slow
@given(EPSILONS, RATES, RATES, DELTAS)
def test_amplified_is_smaller_and_monotone_in_the_rate(epsilon, q, r, delta):
    g = Guarantee(epsilon, delta, ADD_REMOVE)
    low, high = (poisson(g, x) for x in sorted([q, r]))
    assert low.epsilon <= high.epsilon * (1 + Fraction(1, 1 << 60))
    assert high.covers(g)
    assert low.delta == min(q, r) * delta


@pytest.mark.slow
@given(EPSILONS, DELTAS)
def test_all_records_is_the_identity(epsilon, delta):
    g = Guarantee(epsilon, delta, ADD_REMOVE)
    assert poisson(g, 1) == g


def test_extremes_are_quick():
    g = Guarantee(10**8, 0, ADD_REMOVE)
    assert 10**8 - 14 < poisson(g, 1e-6).epsilon < 10**8 - 13
    tiny = poisson(Guarantee(1e-200, 0, ADD_REMOVE), 1e-200).epsilon
    assert Fraction(1, 10**400) < tiny < Fraction(101, 10**402)
    assert poisson(Guarantee(0, 1, ADD_REMOVE), 0.5) == Guarantee(0, 0.5, ADD_REMOVE)


def test_infinite_stays_infinite():
    none = Guarantee.none(ADD_REMOVE)
    assert poisson(none, 0.5) == none
    none = Guarantee.none(SUBSTITUTE)
    assert without_replacement(none, 1, 9) == none


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: poisson(Guarantee(1, 0, SUBSTITUTE), 0.5),
            "guarantee must hold for one record added or removed, got SUBSTITUTE. The size of a "
            "Poisson sample is random, so poisson needs a guarantee under ADD_REMOVE. "
            "Use without_replacement(...).",
        ),
        (
            lambda: without_replacement(Guarantee(1, 0, ADD_REMOVE), 1, 2),
            "guarantee must hold for one record replaced, got ADD_REMOVE. The size of such a "
            "sample is fixed, so without_replacement needs a guarantee under SUBSTITUTE. "
            "Use poisson(...).",
        ),
        (
            lambda: poisson(Guarantee(1, 0, LOCAL), 0.5),
            "guarantee must hold for one record added or removed, got LOCAL. The size of a "
            "Poisson sample is random, so poisson needs a guarantee under ADD_REMOVE. "
            "A local guarantee needs no sample of a curator.",
        ),
        (
            lambda: poisson(Guarantee(1, 0, ADD_REMOVE), 0),
            "rate must be above 0 and at most 1, got 0. Use a number in between, such as rate=0.5.",
        ),
        (
            lambda: without_replacement(Guarantee(1, 0, SUBSTITUTE), 3, 2),
            "sample must be at most n (2), got 3. Use sample=2 or less.",
        ),
        (
            lambda: without_replacement(Guarantee(1, 0, SUBSTITUTE), 0, 2),
            "sample must be at least 1, got 0. Use a whole number, such as sample=1.",
        ),
    ],
)
def test_texts(call, text):
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        call()
