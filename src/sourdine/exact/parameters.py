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

__all__ = ["Number", "at_least", "flag", "given", "integer", "number", "positive", "probability", "rational"]

Number = Fraction | int | float | Decimal
"""What a person may type for a number."""


def rational(x: object, name: str) -> Fraction:
    """Return the number that ``x`` prints as, exactly.

    Examples
    --------
    >>> 10 * rational(0.1, "epsilon")
    Fraction(1, 1)
    >>> rational(float("nan"), "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be finite, got nan. Type a number, as epsilon=1.
    """
    hint = f"Type a number, as {name}=1."
    if isinstance(x, (bool, np.bool_)):
        raise ParameterTypeError(f"{name} must be a number, got {given(x)}. {hint}")
    if isinstance(x, (float, np.floating)):
        if not math.isfinite(x):
            raise ParameterError(f"{name} must be finite, got {x!s}. {hint}")
        return Fraction(str(x))
    if isinstance(x, Decimal):
        if not x.is_finite():
            raise ParameterError(f"{name} must be finite, got {x!s}. {hint}")
        return Fraction(x)
    if isinstance(x, numbers.Integral):
        return Fraction(int(x))
    if isinstance(x, numbers.Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    raise ParameterTypeError(f"{name} must be a number, got {given(x)}. {hint}")


def number(x: object, name: str, *, above: Fraction | int, most: Fraction | int) -> Fraction:
    """Return ``x`` as a rational with ``above < x <= most``."""
    value = rational(x, name)
    if not above < value <= most:
        raise ParameterError(
            f"{name} must be above {above} and at most {most}, got {x!s}. "
            f"Type a number in between, as {name}={float(Fraction(above + most) / 2):g}."
        )
    return value


def positive(x: object, name: str) -> Fraction:
    """Return ``x`` as a rational above zero.

    Examples
    --------
    >>> positive(0, "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be above 0, got 0. Type a positive number, as epsilon=1.
    """  # noqa: E501
    value = rational(x, name)
    if value <= 0:
        raise ParameterError(
            f"{name} must be above 0, got {x!s}. Type a positive number, as {name}=1."
        )
    return value


def at_least(x: object, name: str, least: Fraction | int) -> Fraction:
    """Return ``x`` as a rational that is ``least`` or more."""
    value = rational(x, name)
    if value < least:
        raise ParameterError(
            f"{name} must be at least {least}, got {x!s}. Type {name}={least} or more."
        )
    return value


def probability(x: object, name: str) -> Fraction:
    """Return ``x`` as a rational in [0, 1]."""
    value = rational(x, name)
    if not 0 <= value <= 1:
        raise ParameterError(
            f"{name} must be from 0 to 1, got {x!s}. Type a probability, as {name}=0.5."
        )
    return value


def integer(x: object, name: str, *, least: int | None = None) -> int:
    """Return ``x`` as an int, ``least`` or more; ``3.0`` is refused, ``numpy.int64(3)`` is not."""
    if type(x) is int:
        value = x
    elif isinstance(x, (bool, np.bool_)) or not isinstance(x, SupportsIndex):
        raise ParameterTypeError(
            f"{name} must be a whole number, got {given(x)}. {_whole_hint(name, least)}"
        )
    else:
        value = x.__index__()
    if least is not None and value < least:
        raise ParameterError(
            f"{name} must be at least {least}, got {value}. {_whole_hint(name, least)}"
        )
    return value


def _whole_hint(name: str, least: int | None) -> str:
    return f"Type a whole number, as {name}={1 if least is None else max(least, 1)}."


def flag(x: object, name: str) -> bool:
    """Return ``x`` if it is True or False; ``"no"`` is refused, for it would count as true."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    raise ParameterTypeError(
        f"{name} must be True or False, got {given(x)}. Type {name}=True or leave it out."
    )


def given(x: object) -> str:
    """Return what was typed; of anything larger than a word or a number, its kind alone."""
    if x is None or isinstance(x, (np.bool_, numbers.Number)):
        return repr(x)
    if isinstance(x, str) and len(x) <= 20:
        return repr(x)
    return f"something of type {type(x).__name__}"
