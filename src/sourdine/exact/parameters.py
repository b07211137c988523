"""Reading parameters: what must hold, what was given, what to type instead.

A float means the decimal it prints: ``0.1`` is 1/10, so ten times ``0.1`` is 1.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Number",
    "at_least",
    "flag",
    "fraction",
    "given",
    "integer",
    "kind",
    "listed",
    "number",
    "one_of",
    "positive",
    "probability",
    "rational",
]

WORD = 20
"""Longer texts are not quoted: they may be somebody's answer."""
DIGITS = 40
"""Longer numbers are not quoted."""

LARGEST_POWER = 400
"""A number is written with a power of ten of at most this size: more than any float has."""

_Word = TypeVar("_Word", bound=str)

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
    if type(x) is int:
        return Fraction(x)
    if isinstance(x, Fraction) and type(x.numerator) is type(x.denominator) is int:
        return x
    what, tries = _typed(name, example)
    hint = f"Type a number, such as {what}."
    if isinstance(x, (float, np.floating, Decimal)):
        if not (x.is_finite() if isinstance(x, Decimal) else math.isfinite(x)):
            raise ParameterError(name, "be finite", given(x), hint, **tries)
        if isinstance(x, Decimal) and _immense(x):
            raise ParameterError(name, f"have a {POWER}", given(x), hint, **tries)
        return Fraction(x) if isinstance(x, Decimal) else Fraction(str(x))
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, numbers.Rational):
        raise ParameterTypeError(name, "be a number", given(x), hint, **tries)
    return Fraction(int(x.numerator), int(x.denominator))


POWER = f"power of ten between -{LARGEST_POWER} and {LARGEST_POWER}"


def fraction(text: str) -> Fraction:
    """Return the number that a text spells, exactly: a decimal, or a quotient of whole numbers.

    Whoever writes ``1e999999999`` asks for a number of a billion digits: like any other text that
    spells no number, it raises a ValueError.

    Examples
    --------
    >>> fraction("0.1"), fraction("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    >>> fraction("1e999999999")
    Traceback (most recent call last):
    ValueError: a number has a power of ten between -400 and 400
    """
    mark = text.lower().rfind("e")
    if mark >= 0 and abs(int(text[mark + 1 :])) > LARGEST_POWER:
        raise ValueError(f"a number has a {POWER}")
    return Fraction(text)


def _immense(x: Decimal) -> bool:
    """Return whether a decimal has more digits than anybody means, before or after the point."""
    exponent = x.as_tuple().exponent
    return not isinstance(exponent, int) or max(abs(exponent), abs(x.adjusted())) > LARGEST_POWER


def number(
    x: object,
    name: str,
    *,
    above: Fraction | int,
    most: Fraction | int,
    example: Number | None = None,
) -> Fraction:
    """Return ``x`` as a rational with ``above < x <= most``."""
    middle = Fraction(above + most) / 2 if example is None else example
    value = rational(x, name, example=middle)
    if not above < value <= most:
        what, tries = _typed(name, middle)
        must, hint = (
            f"be above {above} and at most {most}",
            f"Type a number in between, such as {what}.",
        )
        raise ParameterError(name, must, given(x), hint, **tries)
    return value


def positive(x: object, name: str, *, example: Number = 1) -> Fraction:
    """Return ``x`` as a rational above zero.

    Examples
    --------
    >>> positive(0, "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be above 0, got 0. Type a positive number, such as epsilon=1.
    """  # noqa: E501
    value = rational(x, name, example=example)
    if value <= 0:
        what, tries = _typed(name, example)
        hint = f"Type a positive number, such as {what}."
        raise ParameterError(name, "be above 0", given(x), hint, **tries)
    return value


def at_least(x: object, name: str, least: Fraction | int) -> Fraction:
    """Return ``x`` as a rational that is ``least`` or more."""
    value = rational(x, name, example=max(least, 1))
    if value < least:
        what, tries = _typed(name, least)
        raise ParameterError(
            name, f"be at least {least}", given(x), f"Type {what} or more.", **tries
        )
    return value


def probability(x: object, name: str, *, example: Number = 0.5) -> Fraction:
    """Return ``x`` as a rational in [0, 1]."""
    value = rational(x, name, example=example)
    if not 0 <= value <= 1:
        what, tries = _typed(name, example)
        hint = f"Type a probability, such as {what}."
        raise ParameterError(name, "be from 0 to 1", given(x), hint, **tries)
    return value


def integer(
    x: object,
    name: str,
    *,
    least: int | None = None,
    most: int | None = None,
    example: int | None = None,
) -> int:
    """Return ``x`` as an int within the range; ``3.0`` is refused, ``numpy.int64(3)`` is not.

    Examples
    --------
    >>> integer(9, "size", least=1, most=8)
    Traceback (most recent call last):
    sourdine.errors.ParameterError: size must be at most 8, got 9. Type a whole number, such as size=1.
    """  # noqa: E501
    if type(x) is int and (least is None or x >= least) and (most is None or x <= most):
        return x
    what, tries = _typed(
        name, max(1 if least is None else least, 1) if example is None else example
    )
    hint = f"Type a whole number, such as {what}."
    if isinstance(x, (bool, np.bool_, type)) or not isinstance(x, SupportsIndex):
        got = repr(x) if given(x).removeprefix("-").isdigit() else given(x)  # a Fraction(3, 1)
        raise ParameterTypeError(name, "be a whole number", got, hint, **tries)
    value = x.__index__()
    if least is not None and value < least:
        raise ParameterError(name, f"be at least {least}", given(x), hint, **tries)
    if most is not None and value > most:
        raise ParameterError(name, f"be at most {most}", given(x), hint, **tries)
    return value


def flag(x: object, name: str) -> bool:
    """Return ``x`` if it is True or False; ``"no"`` is refused, for it would count as true."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    what, tries = _typed(name, True)  # noqa: FBT003 - the value to type
    hint = f"Type {what}, or leave it out."
    raise ParameterTypeError(name, "be True or False", given(x), hint, **tries)


def one_of(x: object, name: str, *allowed: _Word) -> _Word:
    """Return ``x`` if it is one of the words allowed; the first is what the hint says to type.

    Examples
    --------
    >>> one_of("l3", "loss", "l1", "l2")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: loss must be 'l1' or 'l2', got 'l3'. Type loss='l1'.
    """
    if isinstance(x, str) and x in allowed:
        return allowed[allowed.index(x)]
    *most, last = map(repr, allowed)
    must = f"be {', '.join(most)} or {last}"
    raise ParameterError(name, must, given(x), f"Type {{{name}}}.", **{name: allowed[0]})


def listed(x: object, name: str, **tries: Sequence[object]) -> list[Any]:
    """Return what can be gone through as a list; a text or a dict is none.

    Examples
    --------
    >>> listed(3, "weights", weights=[1, 2])
    Traceback (most recent call last):
    sourdine.errors.ParameterTypeError: weights must be a list, got 3. Type weights=[1, 2].
    """
    if isinstance(x, Iterable) and not isinstance(x, (str, bytes, Mapping, type)):
        return list(x)
    hint = f"Type {' and '.join(f'{{{each}}}' for each in tries)}."
    raise ParameterTypeError(name, "be a list", given(x), hint, **tries)


def _typed(name: str, value: Number) -> tuple[str, dict[str, Number]]:
    """Return what a hint says to type; of something without a name of its own, the value alone."""
    return (f"{{{name}}}", {name: value}) if name.isidentifier() else (f"{value}", {})


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
    if _is_long(x):
        return f"a number of more than {DIGITS} digits"
    if x is None or isinstance(x, (np.bool_, numbers.Number)):
        return str(x)
    return kind(x)


def _is_long(x: object) -> bool:
    if isinstance(x, Decimal):
        return len(x.as_tuple().digits) > DIGITS
    if not isinstance(x, numbers.Rational):
        return False
    return bool(max(abs(int(x.numerator)), int(x.denominator)) >= 10**DIGITS)


def kind(x: object) -> str:
    """Return of what kind something is, and nothing of its value, which may be private.

    Examples
    --------
    >>> kind(17), kind(Fraction)
    ('a value of type int', 'the class Fraction')
    """
    return (
        f"the class {x.__name__}" if isinstance(x, type) else f"a value of type {type(x).__name__}"
    )
