"""Parameters: every kind of number that is read, and the text for every one refused."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sourdine as sd
from sourdine import exact
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import (
    at_least,
    flag,
    fraction,
    integer,
    number,
    positive,
    probability,
    rational,
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints(x):
    assert rational(x, "x") == Fraction(repr(x))
    assert float(rational(x, "x")) == x


@pytest.mark.parametrize(
    "x",
    [
        0.1,
        Decimal("0.1"),
        Fraction(1, 10),
        np.float64(0.1),
        np.float32(0.1),
        np.float16(0.1),
        np.longdouble("0.1"),
    ],
)
def test_a_tenth_however_typed(x):
    assert rational(x, "x") == Fraction(1, 10)


@pytest.mark.parametrize("x", [3, 3.0, np.int64(3), np.uint8(3), Fraction(3), Decimal(3)])
def test_three_however_typed(x):
    value = rational(x, "x")
    assert value == 3
    assert type(value) is Fraction
    assert type(value.numerator) is int


@pytest.mark.parametrize(
    ("x", "got"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.float64("nan"), "nan"),
        (np.float32("inf"), "inf"),
        (Decimal("NaN"), "NaN"),
        (Decimal("sNaN"), "sNaN"),
        (Decimal("-Infinity"), "-Infinity"),
    ],
)
@pytest.mark.parametrize(("read", "example"), [(rational, 1), (positive, 1), (probability, 0.5)])
def test_not_finite(read, example, x, got):
    text = f"epsilon must be finite, got {got}. Use a number, such as epsilon={example}."
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        read(x, "epsilon")


@pytest.mark.parametrize(
    ("x", "got"),
    [
        ("1", "'1'"),
        (None, "None"),
        (True, "True"),
        (np.bool_(0), "False"),
        (1j, "1j"),
        ([1], "a value of type list"),
        (np.arange(3), "a value of type ndarray"),
        ("a long answer that may be somebody's", "a text of 36 characters"),
    ],
)
@pytest.mark.parametrize(("read", "example"), [(rational, 1), (positive, 1), (probability, 0.5)])
def test_not_a_number(read, example, x, got):
    text = f"epsilon must be a number, got {got}. Use a number, such as epsilon={example}."
    with pytest.raises(ParameterTypeError, match=f"^{re.escape(text)}$"):
        read(x, "epsilon")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: positive(0, "epsilon"),
            "epsilon must be above 0, got 0. Use a positive number, such as epsilon=1.",
        ),
        (
            lambda: positive(-0.0, "epsilon"),
            "epsilon must be above 0, got -0.0. Use a positive number, such as epsilon=1.",
        ),
        (
            lambda: positive(Fraction(-1, 3), "epsilon"),
            "epsilon must be above 0, got -1/3. Use a positive number, such as epsilon=1.",
        ),
        (lambda: at_least(1.5, "k", 2), "k must be at least 2, got 1.5. Use k=2 or more."),
        (
            lambda: probability(1.5, "delta"),
            "delta must be from 0 to 1, got 1.5. Use a probability, such as delta=0.5.",
        ),
        (
            lambda: probability(-1e-9, "delta"),
            "delta must be from 0 to 1, got -1e-09. Use a probability, such as delta=0.5.",
        ),
        (
            lambda: number(0, "rate", above=0, most=1),
            "rate must be above 0 and at most 1, got 0. Use a number in between, such as rate=0.5.",
        ),
        (
            lambda: integer(0, "size", least=1),
            "size must be at least 1, got 0. Use a whole number, such as size=1.",
        ),
        (
            lambda: integer(-3, "size", least=0),
            "size must be at least 0, got -3. Use a whole number, such as size=1.",
        ),
    ],
)
def test_values_refused(call, text):
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize("x", [3.0, "3", None, True, np.bool_(1), Fraction(3), Decimal(3)])
def test_not_a_whole_number(x):
    got = str(x) if isinstance(x, np.bool_) else repr(x)
    text = f"size must be a whole number, got {got}. Use a whole number, such as size=2."
    with pytest.raises(ParameterTypeError, match=f"^{re.escape(text)}$"):
        integer(x, "size", least=2)


@pytest.mark.parametrize("x", [0, 1, "no", None, [True]])
def test_only_true_and_false_are_flags(x):
    with pytest.raises(ParameterTypeError, match="monotone must be True or False, got "):
        flag(x, "monotone")
    assert flag(np.bool_(1), "monotone") is True


@pytest.mark.parametrize("digits", [39, 41, 5000])
def test_numbers_too_long_to_print_are_told_by_their_kind(digits):
    with pytest.raises(ParameterError) as refused:
        number(-(10**digits), "rate", above=0, most=1)
    assert len(refused.value.got) < 50
    with pytest.raises(ParameterError):
        positive(-Fraction(1, 10**digits), "epsilon")


def test_an_example_lies_in_the_range():
    with pytest.raises(ParameterTypeError) as refused:
        number("x", "rate", above=0, most=Fraction(1, 2))
    assert str(refused.value).endswith("Use a number, such as rate=0.25.")


def test_ends_of_the_ranges_are_read():
    assert (probability(0, "p"), probability(1, "p")) == (0, 1)
    assert number(1, "rate", above=0, most=1) == 1
    assert at_least(2, "k", 2) == 2
    assert integer(np.int8(3), "size", least=3) == 3
    assert type(integer(np.int8(3), "size")) is int
    assert integer(-5, "shift") == -5


def test_the_tree_of_errors():
    assert issubclass(ParameterError, (SourdineError, ValueError))
    assert issubclass(ParameterTypeError, TypeError)
    assert issubclass(ParameterTypeError, SourdineError)


@pytest.mark.parametrize("text", ["1e999999999", "1E-999999999", "0.5e+401", "1e", "e9", "1/0x"])
def test_a_text_of_an_immense_power_is_no_number(text):
    with pytest.raises(ValueError):  # noqa: PT011 - whichever: it spells no number
        fraction(text)


@pytest.mark.parametrize("text", ["1e999999999", "-1e-999999999", "1" + "0" * 500])
def test_an_immense_decimal_is_refused_at_once(text):
    with pytest.raises(ParameterError, match="must have a power of ten between -400 and 400"):
        rational(Decimal(text), "epsilon")
    assert rational(Decimal("1e-300"), "epsilon") == Fraction(1, 10**300)


def test_what_is_too_long_to_be_read_is_not_written_out():
    for x in (10**5000, -(10**5000), Decimal("9" * 5000), Fraction(1, 10**5000)):
        assert exact.given(x) == "a number of more than 40 digits"


def test_a_parameter_of_thousands_of_digits_is_refused_in_a_sentence():
    for wrong in ({"error": 10**5000, "n": 9}, {"epsilon": "9" * 5000}, {"n": "9" * 5000}):
        paid = {} if "error" in wrong else {"epsilon": 1}
        with pytest.raises(SourdineError, match="got a") as caught:
            sd.mean([1, 2], **{"bounds": (0, 9), **paid, **wrong})
        assert len(str(caught.value)) < 300
    with pytest.raises(SourdineError, match="q must be above 0 and below 1"):
        sd.quantiles([1, 2], [10**5000], bounds=(0, 9), epsilon=1)
