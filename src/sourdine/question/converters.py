"""Converters: from what a person may type to what a formula needs, or one structured error.

A converter is named after its parameter, so that its errors can be: it is the only place where the
parameter is read. ``None`` means that it was left out.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, positive, probability, rational
from sourdine.privacy import ADD_REMOVE, ALIKE, LOCAL, Relation
from sourdine.question.dates import DateBounds, dates, duration
from sourdine.tally import Codes, Reading

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    from sourdine.calendar import Duration
    from sourdine.exact.parameters import Number

__all__ = [
    "Bounds",
    "bounds",
    "column",
    "confidence",
    "delta",
    "epsilon",
    "error",
    "flag",
    "label",
    "listed",
    "n",
    "name",
    "part",
    "read",
    "relation",
    "rows",
    "step",
    "unit",
]  # fmt: skip

Bounds = tuple[Fraction, Fraction] | DateBounds
WIDEST = Fraction(10**290)
MOST_SHOWN = 4
"""A longer list is not repeated in an error."""

LARGEST_EPSILON = 10**300
"""It is a float, and nobody means one that is anywhere near."""


def epsilon(x: Number | None) -> Fraction:
    """Return the privacy loss; 0 where an error is asked for instead."""
    if x is None:
        return Fraction(0)
    if (loss := positive(x, "epsilon")) > LARGEST_EPSILON:
        raise ParameterError(
            "epsilon", "be at most 1e300", "more", "Type {epsilon}, or less.", epsilon=10
        )
    return loss


def error(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the error to stay within: a number, or a duration."""
    return None if x is None else duration(x, "error") or positive(x, "error")


def confidence(x: Number) -> Fraction:
    """Return the probability with which an error holds."""
    return between_0_and_1(x, "confidence", 0.95)


def between_0_and_1(x: object, name: str, example: float) -> Fraction:
    """Return a probability that is neither 0 nor 1."""
    chance = rational(x, name, example=example)
    if not 0 < chance <= 1 - Fraction(1, 10**12):
        raise ParameterError(
            name,
            "be above 0 and below 1",
            given(x),
            f"Type a probability, such as {{{name}}}.",
            **{name: example},
        )
    return chance


def flag(x: object, parameter: str) -> bool:
    """Return true or false."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    raise ParameterTypeError(
        parameter, "be True or False", given(x), f"Type {{{parameter}}}.", **{parameter: True}
    )


def read(x: Reading | Mapping[str, Any] | None) -> Reading:
    """Return how text is read."""
    return Reading.of(x)


def delta(x: Number) -> Fraction:
    """Return the probability with which the loss may pass epsilon."""
    return probability(x, "delta", example=1e-6)


_RELATIONS = {relation.value for relation in Relation}


def relation(x: Relation | str) -> Relation:
    """Return which data sets are neighbours of a curator's data."""
    if x in (LOCAL, LOCAL.value, ALIKE, ALIKE.value) or (
        isinstance(x, str) and x not in _RELATIONS
    ):
        raise ParameterError(
            "relation",
            "be 'add_remove' or 'substitute'",
            repr(x.value if isinstance(x, Relation) else x),
            "Type {relation}.",
            relation=ADD_REMOVE.value,
        )
    return Relation.read(x)


def rows(x: int) -> int:
    """Return how many records one person may own."""
    return integer(x, "rows", least=1)


def n(x: int | None) -> int | None:
    """Return the public number of records."""
    return None if x is None else integer(x, "n", least=1)


def name(x: object, parameter: str, example: str) -> str | None:
    """Return the name of a column."""
    if x is None or (isinstance(x, str) and x):
        return x
    raise ParameterTypeError(
        parameter,
        "be a column's name",
        given(x),
        f"Type the name of one, such as {{{parameter}}}.",
        **{parameter: example},
    )


def column(x: str | None) -> str | None:
    """Return the name of the column that is asked about."""
    return name(x, "column", "age")


def unit(x: str | None) -> str | None:
    """Return the name of the column that names a person."""
    return name(x, "unit", "patient")


def listed(x: object, parameter: str, example: list[Any]) -> tuple[Any, ...] | None:
    """Return a list that holds at least one."""
    if x is None:
        return None
    if isinstance(x, str) or not hasattr(x, "__iter__"):
        raise ParameterTypeError(
            parameter, "be a list", given(x), f"Type {{{parameter}}}.", **{parameter: example}
        )
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in x)
    if not values:
        raise ParameterError(
            parameter, "hold at least one", "none", f"Type {{{parameter}}}.", **{parameter: example}
        )
    if not _distinct(values):
        alone = all(_distinct([value]) for value in values)
        raise ParameterError(
            parameter,
            "hold texts, numbers or dates, each once",
            "two that are the same text" if alone else "one that is missing or something else",
            f"Type {{{parameter}}}.",
            **{parameter: example},
        )
    return values


def label(x: object, parameter: str, example: str) -> Any:  # noqa: ANN401
    """Return a value that a column may hold."""
    plain = x.item() if isinstance(x, np.generic) else x
    if plain is not None and not _distinct([plain]):
        raise ParameterTypeError(
            parameter,
            "be a text, a number or a date",
            given(x),
            f"Type {{{parameter}}}.",
            **{parameter: example},
        )
    return plain


def _distinct(values: Sequence[Any]) -> bool:
    """Return whether these are values that can be told apart as they are read off the data."""
    if any(hasattr(value, "__iter__") and not isinstance(value, str) for value in values):
        return False
    try:
        Codes(None, values)
    except (ParameterError, ParameterTypeError):
        return False
    return True


def bounds(x: Sequence[Number | dt.date | str] | None) -> Bounds:
    """Return public bounds, or say why they must be given."""
    if x is None:
        raise ParameterError("bounds", "be two public numbers", "none", _WHICH, bounds=(0, 120))
    if isinstance(x, str) or not hasattr(x, "__len__") or len(x) != 2:
        raise ParameterTypeError(
            "bounds", "be two numbers", _several(x), "Type {bounds}.", bounds=(0, 120)
        )
    if (typed := dates(x, "bounds")) is not None:
        return typed[0], typed[1]
    texts = any(isinstance(b, str) for b in x)
    must = f"be two finite numbers{', or two dates such as 2020-01-31' if texts else ''}"
    lower, upper = (_bound(b, must) for b in x)
    if max(abs(lower), abs(upper)) > WIDEST or 0 < upper - lower < 1 / WIDEST:
        raise ParameterError(
            "bounds",
            "be within 1e290 of 0, and further than 1e-290 apart",
            "others",
            "Type {bounds}.",
            bounds=(0, 120),
        )
    if lower >= upper:
        raise ParameterError(
            "bounds",
            "be two numbers in order",
            f"{lower} and {upper}",
            "Type the lower one first, such as {bounds}.",
            bounds=(0, 120),
        )
    return lower, upper


def _several(x: Any) -> str:  # noqa: ANN401
    """Return what was typed, where it is a few words or numbers."""
    if not isinstance(x, (list, tuple)) or not 0 < len(x) <= MOST_SHOWN:
        return given(x)
    return given(x[0]) if len(x) == 1 else f"({', '.join(map(given, x))})"


def _bound(x: object, must: str) -> Fraction:
    """Return a bound; a text that is none may be a date in another format."""
    try:
        return part(x, "bounds", must, (0, 120))
    except (ParameterError, ParameterTypeError) as error:
        if not isinstance(x, str) or not any(map(str.isdigit, x)):
            raise
        raise type(error)(
            "bounds", must, error.got,
            "Type {bounds}; declare the date format of dates that are not ISO 8601.",
            bounds=(0, 120),
        ) from None  # fmt: skip


def part(x: object, parameter: str, must: str, example: object) -> Fraction:
    """Return a number out of several."""
    try:
        return rational(x, parameter)
    except (ParameterError, ParameterTypeError) as error:
        raise type(error)(
            parameter, must, error.got, f"Type {{{parameter}}}.", **{parameter: example}
        ) from None


_WHICH = (
    "Noise is fitted to the bounds, and bounds read off the data would give its extreme records "
    "away. Choose them from what everybody knows, before looking: an age is within 0 and 120, a "
    "share within 0 and 1, a yearly salary within 0 and 500000. Bounds that are twice too wide "
    "double the noise; bounds that are too narrow move outliers inwards. Type {bounds}; where "
    "nobody knows them, {bounds:find} spends part of epsilon on finding them."
)


def step(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the lattice's step; a float that is no decimal of few digits means what it is."""
    if x is None:
        return None
    if (lasting := duration(x, "step")) is not None:
        return lasting
    typed = positive(x, "step")
    return binary(float(x)) or typed if isinstance(x, float) else typed


def binary(x: float) -> Fraction | None:
    """Return a float exactly if it is a power of two times a whole number of few bits.

    ``2**-40`` prints as 9.094947017729282e-13, which divides no range: it means :math:`2^{-40}`.

    Examples
    --------
    >>> binary(2**-40), binary(0.1)
    (Fraction(1, 1099511627776), None)
    """
    exact = Fraction(x)
    return exact if exact.numerator.bit_length() <= 16 else None


def unused(x: object, parameter: str, why: str) -> None:
    """Refuse a parameter that would change nothing."""
    if x:
        raise ParameterError(
            parameter, f"be left out {why}", given(x), f"Leave {{{parameter}}} out.",
            **{parameter: LEFT_OUT},
        )  # fmt: skip
