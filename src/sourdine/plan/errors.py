"""Errors of a plan: numbers, or durations where the answer is a mean of dates."""

from __future__ import annotations

import datetime as dt
from math import ceil
from typing import TYPE_CHECKING

from sourdine.calendar import LAST, about

if TYPE_CHECKING:
    from sourdine.central import Statistic

__all__ = ["Error", "as_error", "error_text", "number"]

Error = float | dt.timedelta
"""How far off an answer may be."""
_MICROSECOND = dt.timedelta(microseconds=1)


def as_error(error: float, question: Statistic) -> Error:
    """Return what a question says of its error, as a person knows it."""
    return ceil(min(error, LAST)) * _MICROSECOND if question.error_lasts else error


def number(error: Error) -> float:
    """Return an error as a number, in microseconds if it is a duration.

    Examples
    --------
    >>> number(dt.timedelta(seconds=2)), number(0.5)
    (2000000.0, 0.5)
    """
    return float(error // _MICROSECOND) if isinstance(error, dt.timedelta) else error


def error_text(error: Error) -> str:
    """Return an error in four digits.

    Examples
    --------
    >>> error_text(dt.timedelta(hours=55)), error_text(1 / 3)
    ('2.292 days', '0.3333')
    """
    return about(number(error)) if isinstance(error, dt.timedelta) else f"{error:.4g}"
