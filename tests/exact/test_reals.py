"""Reals against decimals of 100 digits, over drawn expressions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sourdine.exact import Real, _exp_series, _log, exp_neg

DIGITS = 100
FUZZ = Decimal(10) ** -80
RATIONALS = st.fractions(0, 1000)
Pair = tuple[Real, Decimal]


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def leaf(x: Fraction) -> Pair:
    with localcontext(prec=DIGITS):
        return Real.of(x), decimal(x)


def exponential(r: Fraction) -> Pair:
    with localcontext(prec=DIGITS):
        return exp_neg(r), (-decimal(r)).exp()


def sqrt(x: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return x[0].sqrt(), x[1].sqrt()


def log(x: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return (1 + x[0]).log(), (1 + x[1]).ln()


def add(x: Pair, y: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return x[0] + y[0], x[1] + y[1]


def subtract(x: Pair, y: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return x[0] - y[0], max(x[1] - y[1], Decimal(0))


def multiply(x: Pair, y: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return x[0] * y[0], x[1] * y[1]


def divide(x: Pair, y: Pair) -> Pair:
    with localcontext(prec=DIGITS):
        return x[0] / (Fraction(1, 7) + y[0]), x[1] / (1 / Decimal(7) + y[1])


EXPRESSIONS = st.recursive(
    st.one_of(
        RATIONALS.map(leaf), st.fractions(0, 60).map(exponential), RATIONALS.map(leaf).map(log)
    ),
    lambda inner: st.one_of(
        inner.map(sqrt),
        inner.map(log),
        *(st.builds(f, inner, inner) for f in (add, subtract, multiply, divide)),
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(EXPRESSIONS, st.integers(0, 120))
def test_bounds_hold_and_are_narrow(pair, bits):
    real, true = pair
    lo, hi = real.bounds(bits)
    assert 0 <= hi - lo <= 2
    with localcontext(prec=DIGITS):
        fuzz = (true + 1) * FUZZ
        assert lo <= (true + fuzz) * 2**bits
        assert hi >= (true - fuzz) * 2**bits


@pytest.mark.slow
@given(EXPRESSIONS)
def test_above_and_below_have_their_bits(pair):
    real, true = pair
    assume(true > Decimal(10) ** -40)  # a zero in disguise is told from none
    with localcontext(prec=DIGITS):
        low, high, fuzz = decimal(real.below(64)), decimal(real.above(64)), (true + 1) * FUZZ
        assert low - fuzz <= true <= high + fuzz
        assert high - low <= true * Decimal(2) ** -60
        assert float(real) == pytest.approx(float(true), rel=1e-15)


@pytest.mark.slow
@given(EXPRESSIONS, st.permutations([0, 1, 40, 200, 300]))
def test_precision_may_be_asked_in_any_order(pair, order):
    real, true = pair
    with localcontext(prec=DIGITS):
        for precision in order:
            lo, hi = real.enclosure(precision)
            fuzz = (true + 1) * FUZZ
            assert lo <= (true + fuzz) * 2**precision
            assert hi >= (true - fuzz) * 2**precision


@settings(max_examples=40)
@given(st.fractions(0, 2000))
def test_exponential_keeps_relative_precision(r):
    with localcontext(prec=DIGITS):
        true, low, high = (-decimal(r)).exp(), exp_neg(r).below(), exp_neg(r).above()
        assert true * (1 - FUZZ) <= decimal(high) <= true * (1 + Decimal(2) ** -60)
        assert true * (1 - Decimal(2) ** -60) <= decimal(low) <= true * (1 + FUZZ)


def test_exponential_of_an_enormous_number_is_found_at_once():
    assert exp_neg(10**14).bounds(64) == (0, 1)
    assert exp_neg(10**10000).bounds(64) == (0, 1)
    assert 0 < exp_neg(10**14).above() < Fraction(1, 2**8000)


def test_exponential_of_a_huge_number():
    with localcontext(prec=DIGITS):
        assert Decimal(-(10**6)).exp() <= decimal(exp_neg(10**6).above()) < Decimal(10) ** -2000
        assert exp_neg(10**6).below() == 0


@given(st.integers(0, 1 << 54))
def test_series_of_the_exponential_is_enclosed(x):
    lo, hi = _exp_series(x, 60)
    with localcontext(prec=DIGITS):
        true = (-Decimal(x) / 2**60).exp() * 2**60
        assert lo <= true <= hi <= lo + 100


@given(st.integers(1 << 60, 1 << 90))
def test_logarithm_is_enclosed(v):
    lo, hi = _log(v, 60)
    with localcontext(prec=DIGITS):
        true = (Decimal(v) / 2**60).ln() * 2**60
        assert lo <= true <= hi <= lo + 100


def test_numbers_that_are_exact():
    assert Real.of(Fraction(3, 4)).bounds(2) == (3, 3)
    assert exp_neg(0).bounds(10) == (1024, 1024)
    assert Real.of(1).log().bounds(20)[0] == 0
    assert (Real.of(1) - 2).above() == 0
    assert Real.of(5).enclosure(0) == (5, 5)
    assert float(Fraction(1, 2) - exp_neg(1)) == pytest.approx(0.13212055882855767)


@pytest.mark.parametrize("divisor", [Real.of(0), Real.of(1) - 1])
def test_division_by_zero_ends(divisor):
    with pytest.raises(ZeroDivisionError, match="a divisor must be above 0"):
        (Real.of(1) / divisor).bounds(4)


@pytest.mark.parametrize(
    "expression",
    [lambda: Real.of(-1), lambda: Real.of(1) - Fraction(-1, 2), lambda: exp_neg(1) * -1],
)
def test_negative_numbers_are_refused(expression):
    with pytest.raises(ArithmeticError, match="a Real must be at least 0, got -1"):
        expression()


@pytest.mark.parametrize("bits", [1, 8, 61])
def test_enclosures_hold_the_exact_number(bits):
    numbers = [Fraction(n, d) for n in (1, 2, 5) for d in (3, 7, 10)]
    for x, y in product(numbers, numbers):
        ways = [(Real.of(x) + y, x + y), (Real.of(x) * y, x * y), (Real.of(x) / y, x / y)]
        if x >= y:
            ways.append((Real.of(x) - y, x - y))
        for real, exact in ways:
            low, high = real.enclosure(bits)
            assert low <= exact * 2**bits <= high
