"""Public bounds that are dates, as whole numbers of microseconds."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sourdine.calendar.durations import DAY, micros, read_duration, spelled
from sourdine.calendar.instants import read_date, read_instant, written
from sourdine.errors import ParameterError
from sourdine.exact import given

__all__ = ["DATES", "TIMES", "even_edges", "read_lattice"]

DATES, TIMES = "dates", "times"
_ROUND = (DAY, DAY // 24, 60 * 10**6, 10**6, 1000, 1)
ENOUGH = 1 << 20
"""Without a step a lattice of times has at least about a million points, if it can."""
FINE = 1000
"""Edges between bins are round to a unit that a bin has at least so many of."""


def read_lattice(lower: object, upper: object, step: object) -> tuple[int, int, int, str] | None:
    """Return bounds and step in microseconds, and whether the points are dates or times.

    None if the bounds are no dates. Without a step it is a day where both bounds are dates;
    otherwise the longest of a day, an hour, a minute, a second, a millisecond and a microsecond
    that leaves about a million points.

    Examples
    --------
    >>> low, high, step, points = read_lattice("2024-01-01", "2024-12-31", "7 days")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: step must divide upper - lower, got '7 days' for 2024-01-01 to 2024-12-31. Type a step that fits, such as step='5 days', or move a bound.
    >>> read_lattice("1970-01-01", "1970-01-11", "5 days")
    (0, 864000000000, 432000000000, 'dates')
    """  # noqa: E501
    low, high = read_date(lower), read_date(upper)
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise ParameterError(
            "upper" if high is None else "lower",
            "be a date where the other bound is one",
            given(upper if high is None else lower),
            "Type two dates, or two numbers.",
        )
    a, b = (_instant(x) for x in (low, high))
    dates = not (isinstance(low, dt.datetime) or isinstance(high, dt.datetime))
    if a >= b:
        raise ParameterError(
            "lower",
            "be before upper",
            f"{written(low)} and {written(high)}",
            "Type the public bounds in order.",
        )
    if step is None:
        return a, b, DAY if dates else _unit(b - a, ENOUGH), DATES if dates else TIMES
    size = _step(step, b - a, f"{written(low)} to {written(high)}")
    return a, b, size, DATES if dates and size % DAY == 0 else TIMES


def _instant(x: dt.date) -> int:
    instant = read_instant(x)
    assert instant is not None  # noqa: S101 - it was read
    return instant


def _unit(width: int, least: int) -> int:
    """Return the longest round unit of which a range has at least so many."""
    return next((unit for unit in _ROUND if width // unit >= least), 1)


def _step(typed: object, width: int, bounds: str) -> int:
    lasting = read_duration(typed)
    if lasting is None or lasting <= dt.timedelta(0):
        raise ParameterError(
            "step",
            "be a duration above 0 where bounds are dates",
            given(typed),
            "Type {step}, or another in days, h, min, s, ms or us.",
            step=spelled(_unit(width, 1)),
        )
    size = micros(lasting)
    if width % size:
        raise ParameterError(
            "step",
            "divide upper - lower",
            f"{spelled(size)!r} for {bounds}",
            "Type a step that fits, such as {step}, or move a bound.",
            step=spelled(_fitting(width, size)),
        )
    return size


def _fitting(width: int, step: int) -> int:
    """Return the longest whole number of units, at most the step, that divides the range."""
    unit = next(unit for unit in _ROUND if width % unit == 0)
    most = min(max(step // unit, 1), 1 << 12)
    return unit * next(k for k in range(most, 0, -1) if (width // unit) % k == 0)


def even_edges(lower: Any, upper: Any, bins: int) -> list[Any]:  # noqa: ANN401 - dates or times
    """Return the edges of bins of one width, but for rounding down to whole days or a finer unit.

    Examples
    --------
    >>> [str(edge) for edge in even_edges(dt.date(2024, 1, 1), dt.date(2024, 12, 31), 4)]
    ['2024-01-01', '2024-04-01', '2024-07-01', '2024-09-30', '2024-12-31']
    """
    low, high = _instant(lower), _instant(upper)
    dates = not isinstance(lower, dt.datetime)
    unit = DAY if dates else _unit((high - low) // bins, FINE)
    if (high - low) // unit < bins:
        raise ParameterError(
            "bins",
            f"be at most {(high - low) // unit}, one for each {'day' if dates else 'microsecond'}",
            str(bins),
            "Type {bins}.",
            bins=(high - low) // unit,
        )
    inner = [(low + (high - low) * i // bins - low) // unit * unit for i in range(1, bins)]
    start = dt.timedelta(microseconds=1)
    return [lower, *(lower + start * x for x in inner), upper]
