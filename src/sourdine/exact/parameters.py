"""Reading parameters: what must hold, what was given, what to type instead.

A float means the decimal it prints: ``0.1`` is 1/10, so ten times ``0.1`` is 1.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

__all__ = [
    "Number",
    "at_least",
    "flag",
    "given",
    "integer",
    "number",
    "positive",
    "probability",
    "rational",
]

WORD = 20
"""Longer texts are not quoted: they may be somebody's answer."""
DIGITS = 40
"""Longer numbers are not quoted."""

Number = Fraction | int | float | Decimal
"""What a person may type for a number."""


def rational(x: object, name: str, *, example: Number = 1) -> Fraction:
    """Return the number that ``x`` prints as, exactly; ``example`` is what the hint says to type.

    Examples
    --------
    >>> 10 * rational(0.1, "epsilon")
    Fraction(1, 1)
    >>> rational(float("nan"), "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be finite, got nan. Type a number, such as epsilon=1.
    """  # noqa: E501
    hint = f"Type a number, such as {{{name}}}."
    if isinstance(x, (float, np.floating, Decimal)):
        if not (x.is_finite() if isinstance(x, Decimal) else math.isfinite(x)):
            raise ParameterError(name, "be finite", given(x), hint, **{name: example})
        return Fraction(x) if isinstance(x, Decimal) else Fraction(str(x))
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, numbers.Rational):
        raise ParameterTypeError(name, "be a number", given(x), hint, **{name: example})
    return Fraction(int(x.numerator), int(x.denominator))


def number(x: object, name: str, *, above: Fraction | int, most: Fraction | int) -> Fraction:
    """Return ``x`` as a rational with ``above < x <= most``."""
    middle = Fraction(above + most) / 2
    value = rational(x, name, example=middle)
    if not above < value <= most:
        raise ParameterError(
            name,
            f"be above {above} and at most {most}",
            given(x),
            f"Type a number in between, such as {{{name}}}.",
            **{name: middle},
        )
    return value


def positive(x: object, name: str) -> Fraction:
    """Return ``x`` as a rational above zero.

    Examples
    --------
    >>> positive(0, "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be above 0, got 0. Type a positive number, such as epsilon=1.
    """  # noqa: E501
    value = rational(x, name)
    if value <= 0:
        hint = f"Type a positive number, such as {{{name}}}."
        raise ParameterError(name, "be above 0", given(x), hint, **{name: 1})
    return value


def at_least(x: object, name: str, least: Fraction | int) -> Fraction:
    """Return ``x`` as a rational that is ``least`` or more."""
    value = rational(x, name, example=max(least, 1))
    if value < least:
        hint = f"Type {{{name}}} or more."
        raise ParameterError(name, f"be at least {least}", given(x), hint, **{name: least})
    return value


def probability(x: object, name: str, *, example: Number = 0.5) -> Fraction:
    """Return ``x`` as a rational in [0, 1]."""
    value = rational(x, name, example=example)
    if not 0 <= value <= 1:
        hint = f"Type a probability, such as {{{name}}}."
        raise ParameterError(name, "be from 0 to 1", given(x), hint, **{name: example})
    return value


def integer(x: object, name: str, *, least: int | None = None) -> int:
    """Return ``x`` as an int, ``least`` or more; ``3.0`` is refused, ``numpy.int64(3)`` is not."""
    if type(x) is int:
        value = x
    elif isinstance(x, (bool, np.bool_)) or not isinstance(x, SupportsIndex):
        hint, example = _whole(name, least)
        got = repr(x) if isinstance(x, numbers.Number) else given(x)
        raise ParameterTypeError(name, "be a whole number", got, hint, **example)
    else:
        value = x.__index__()
    if least is not None and value < least:
        hint, example = _whole(name, least)
        raise ParameterError(name, f"be at least {least}", given(x), hint, **example)
    return value


def _whole(name: str, least: int | None) -> tuple[str, dict[str, int]]:
    example = 1 if least is None else max(least, 1)
    return f"Type a whole number, such as {{{name}}}.", {name: example}


def flag(x: object, name: str) -> bool:
    """Return ``x`` if it is True or False; ``"no"`` is refused, for it would count as true."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    hint = f"Type {{{name}}}, or leave it out."
    raise ParameterTypeError(name, "be True or False", given(x), hint, **{name: True})


def given(x: object) -> str:
    """Return what was typed; of anything larger than a word or a number, its kind alone.

    Examples
    --------
    >>> given("yes"), given(0.5), given([17, 34]), given("an answer that may be somebody's")
    ("'yes'", '0.5', 'a value of type list', 'a text of 32 characters')
    >>> given(Fraction)
    'the class Fraction'
    """
    if isinstance(x, str):
        return repr(x) if len(x) <= WORD else f"a text of {len(x)} characters"
    if isinstance(x, numbers.Rational) and max(abs(x.numerator), x.denominator) >= 10**DIGITS:
        return f"a number of more than {DIGITS} digits"
    if x is None or isinstance(x, (np.bool_, numbers.Number)):
        return str(x)
    if isinstance(x, type):
        return f"the class {x.__name__}"
    return f"a value of type {type(x).__name__}"
