"""Dates and times as a person wants to read them, in tables and beside axes."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY, moment, read_instant, unit_of
from sourdine.presentation.numbers import row

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["any_row", "date_axis", "date_row", "is_date", "is_duration", "places", "shown_date"]

_UNITS = (
    *((DAY, "days"), (60 * 10**6, "minutes"), (10**6, "seconds"), (1000, "milliseconds")),
    (1, "microseconds"),
)
_KEPT = 10
"""A time is shown in a unit that its interval has at least so many of."""


def is_date(x: object) -> bool:
    """Return whether something is a date or a time."""
    return isinstance(x, dt.date)


def is_duration(x: object) -> bool:
    """Return whether something says how long, as the difference of two dates does."""
    return isinstance(x, dt.timedelta)


def micros(x: dt.date | dt.timedelta) -> int:
    """Return the microseconds of a duration, or from 1970 to a date or a time."""
    if isinstance(x, dt.timedelta):
        return x // dt.timedelta(microseconds=1)
    return read_instant(x) or 0


def places(values: Sequence[Any]) -> list[float]:
    """Return where values lie on an axis: dates in days from 1970, durations in days, numbers.

    Examples
    --------
    >>> places([dt.date(1970, 1, 2), dt.datetime(1970, 1, 1, 12)]), places([3])
    ([1.0, 0.5], [3.0])
    """
    return [micros(v) / DAY if is_date(v) or is_duration(v) else float(v) for v in values]


def shown_date(x: dt.date, width: float, *, up: bool = False) -> str:
    """Return a date, or a time with as much of the clock as an interval's width supports.

    Parameters
    ----------
    x
        A date or a time.
    width
        The width in microseconds.
    up
        Whether what is cut off is rounded up, not down.

    Examples
    --------
    >>> at = dt.datetime(2020, 1, 31, 9, 59, 30, 500)
    >>> shown_date(at, 30 * DAY), shown_date(at, 3600e6), shown_date(at, 30e6, up=True)
    ('2020-01-31', '2020-01-31 09:59', '2020-01-31 09:59:31')
    >>> shown_date(dt.date(2020, 1, 31), 1.0)
    '2020-01-31'
    """
    if not isinstance(x, dt.datetime):
        return x.isoformat()
    unit, spec = next((pair for pair in _UNITS if width >= _KEPT * pair[0]), _UNITS[-1])
    instant = micros(x)
    rounded = -(-instant // unit) * unit if up else instant // unit * unit
    try:
        shown = moment(rounded, date=spec == "days")
    except OverflowError:  # up from the last day of the year 9999
        shown = x
    return str(shown.isoformat() if spec == "days" else shown.isoformat(" ", spec))


def date_row(value: dt.date, ends: Sequence[dt.date]) -> tuple[str, str, str]:
    """Return the texts of a date and of the ends of its interval, which are rounded outward."""
    low, high = ends
    width = micros(high) - micros(low)
    return shown_date(value, width), shown_date(low, width), shown_date(high, width, up=True)


def duration_row(value: dt.timedelta, ends: Sequence[dt.timedelta]) -> tuple[str, str, str]:
    """Return the texts of a duration and of the ends of its interval, in one unit.

    Examples
    --------
    >>> duration_row(dt.timedelta(days=3), (dt.timedelta(days=2), dt.timedelta(days=4.123)))
    ('3.000 days', '2.0 days', '4.2 days')
    """
    name, size = unit_of(max(abs(micros(x)) for x in (value, *ends)))
    texts = row(micros(value) / size, [micros(end) / size for end in ends])
    first, low, high = (f"{text} {name}" for text in texts)
    return first, low, high


def any_row(value: Any, ends: Sequence[Any]) -> tuple[str, str, str]:  # noqa: ANN401
    """Return the texts of a number, a date or a duration and of the ends of its interval."""
    if is_date(value):
        return date_row(value, ends)
    return (duration_row if is_duration(value) else row)(value, ends)


def date_axis(axis: Any, *, small: bool = False) -> None:  # noqa: ANN401
    """Let an axis whose numbers are days from 1970 show dates, as few and as short as will do."""
    from matplotlib import dates as drawn  # noqa: PLC0415 - an extra

    dates: Any = drawn
    locator = dates.AutoDateLocator(minticks=2 if small else 3, maxticks=5 if small else 8)
    axis.set_major_locator(locator)
    looks: dict[str, Any] = {
        "formats": ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
        "zero_formats": ["", "%Y", "%b", "%d %b", "%H:%M", "%H:%M"],
        "offset_formats": ["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"],
    }
    if axis.axis_name == "y":  # above it stands the cost, so that each date says all of itself
        looks["formats"] = ["%Y", "%b %Y", "%d %b %Y", *["%d %b %Y %H:%M"] * 2, "%H:%M:%S"]
        looks |= {"zero_formats": looks["formats"], "show_offset": False}
    axis.set_major_formatter(dates.ConciseDateFormatter(locator, **looks))
