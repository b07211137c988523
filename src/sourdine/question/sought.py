"""Parameters that nobody knows: what a person may type to have them found, for part of epsilon.

``bounds="find"`` leaves both sides open, ``bounds=(0, None)`` the upper one, and
``bounds=(0, 1e9, "find")`` searches within a public range; ``rows="find"`` asks how many rows of a
person to keep. A parameter that is sought is stored as it is typed, numbers exactly, and is settled
before anything is computed from it.
"""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.question import converters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.exact.parameters import Number
    from sourdine.question.converters import Bounds

    Ends = tuple[Fraction | None, Fraction | None]

__all__ = ["FIND", "bounds", "check_step", "ends", "is_sought", "rows"]

FIND = "find"
FURTHEST = Fraction(2) ** 63
"""A bound from which a search starts is no further than this from 0."""
FINEST, COARSEST = Fraction(1, 1 << 100), Fraction(1 << 40)


def bounds(x: Sequence[Number | str | None] | Literal["find"] | None) -> Bounds:
    """Return public bounds, or those that are sought as they are typed.

    Examples
    --------
    >>> bounds((0, 120)), bounds("find"), bounds((None, 5)), bounds([0, 10**9, "find"])[2]
    ((Fraction(0, 1), Fraction(120, 1)), 'find', (None, Fraction(5, 1)), 'find')
    """
    return cast("Bounds", _found(x)) if _asks(x) else converters.bounds(cast("Any", x))


def rows(x: int | Literal["find"]) -> int:
    """Return how many records one person may own, or the word for finding that."""
    return cast("int", FIND if x == FIND else converters.rows(cast("int", x)))


def is_sought(x: object) -> bool:
    """Return whether a settled parameter is one that must be found."""
    return x == FIND or (isinstance(x, tuple) and (None in x or FIND in x))


def ends(x: object) -> Ends:
    """Return the ends of a range that bounds are sought in; None where there is none."""
    return (None, None) if x == FIND else cast("Ends", cast("tuple[Any, ...]", x)[:2])


def _asks(x: object) -> bool:
    if isinstance(x, str):
        return x == FIND
    if not isinstance(x, (list, tuple)):
        return False
    pair = len(x) == 2 and any(part is None for part in x)
    return pair or (len(x) == 3 and isinstance(x[2], str) and x[2] == FIND)


def _found(x: Any) -> Any:  # noqa: ANN401
    if x == FIND or all(part is None for part in x[:2]):
        return FIND
    low, high = (None if part is None else _end(part) for part in x[:2])
    if low is None or high is None:
        return low, high
    return *converters.bounds((low, high)), FIND


def _end(x: object) -> Fraction:
    """Return a public end of the range in which bounds are sought."""
    end = converters.part(x, "bounds", "be finite numbers, or None where nobody knows", (0, None))
    if abs(end) > FURTHEST:
        raise ParameterError(
            "bounds",
            "be within 2**63 of 0 where they are to be found",
            given(x),
            "Type {bounds}.",
            bounds=(0, None),
        )
    return end


def check_step(x: Fraction | timedelta | None, typed: object) -> None:
    """Refuse a step that no search for these bounds can start from."""
    low, high = ends(typed)
    if isinstance(x, timedelta):
        raise ParameterError(
            "step",
            "be a number where bounds are found: those of dates must be known",
            "a duration",
            "Leave {step} out.",
            step=LEFT_OUT,
        )
    most = COARSEST if low is None or high is None else min(COARSEST, high - low)
    if x is not None and not FINEST <= x <= most:
        raise ParameterError(
            "step",
            "be from 2**-100 to 2**40 where bounds are found, and within their range",
            f"{float(x):g}",
            "Leave {step} out.",
            step=LEFT_OUT,
        )
