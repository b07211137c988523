"""How long something lasts: steps between dates, and errors of a mean of dates."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np

__all__ = ["DAY", "Duration", "about", "read_duration", "spelled", "unit_of"]

DAY = 86_400 * 10**6
Duration = dt.timedelta | str
"""What a person may type for how long something lasts."""
_UNITS = {"day": DAY, "h": DAY // 24, "min": 60 * 10**6, "s": 10**6, "ms": 1000, "us": 1}
"""The units that are printed, in microseconds, the longest first."""
_NAMES = {
    **dict.fromkeys(("week", "weeks"), 7 * DAY),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("h", "hour", "hours"), DAY // 24),
    **dict.fromkeys(("min", "minute", "minutes"), 60 * 10**6),
    **dict.fromkeys(("s", "second", "seconds"), 10**6),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1000),
    **dict.fromkeys(("us", "\N{MICRO SIGN}s", "microsecond", "microseconds"), 1),
}
PATTERN = r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?|[0-9]{1,9}/[0-9]{1,9})?\s*([A-Za-z\u00b5]+)\s*"
_WRITTEN = re.compile(PATTERN)
LONGEST = dt.timedelta(days=3_652_058)
"""As long as the years 1 to 9999."""


def read_duration(x: object) -> dt.timedelta | None:
    """Return how long something lasts, of whole microseconds; None if nothing says so.

    Examples
    --------
    >>> read_duration("7 days"), read_duration("15 min"), read_duration("1 month")
    (datetime.timedelta(days=7), datetime.timedelta(seconds=900), None)
    """
    if isinstance(x, np.timedelta64):
        exact = np.datetime_data(x.dtype)[0] not in {"Y", "M", "generic"}
        x = x.astype("timedelta64[us]").item() if exact else None
    if isinstance(x, dt.timedelta):
        return dt.timedelta(x.days, x.seconds, x.microseconds)
    found = _WRITTEN.fullmatch(x) if isinstance(x, str) else None
    if found is None or found[2].lower() not in _NAMES or (found[1] or "").endswith("/0"):
        return None
    number = Fraction(1) if found[1] is None else Fraction(found[1])
    lasts = number * _NAMES[found[2].lower()]
    if lasts.denominator != 1 or lasts > LONGEST // dt.timedelta(microseconds=1):
        return None
    return dt.timedelta(microseconds=int(lasts))


def micros(x: dt.timedelta) -> int:
    """Return the microseconds of a duration."""
    return x // dt.timedelta(microseconds=1)


def spelled(x: dt.timedelta | int) -> str:
    """Return a duration, exactly, as it may be typed: in the longest unit that divides it.

    Examples
    --------
    >>> spelled(dt.timedelta(days=7)), spelled(dt.timedelta(hours=36)), spelled(90 * 10**6)
    ('7 days', '36 h', '90 s')
    """
    whole = x if isinstance(x, int) else micros(x)
    unit = next(name for name, size in _UNITS.items() if whole % size == 0)
    number = whole // _UNITS[unit]
    return f"{number} {unit}{'s' if unit == 'day' and number != 1 else ''}"


def unit_of(duration: float) -> tuple[str, int]:
    """Return the unit that suits a number of microseconds, and how many it has.

    Examples
    --------
    >>> unit_of(3.5 * DAY), unit_of(1.5e9)
    (('days', 86400000000), ('min', 60000000))
    """
    name, size = next(
        ((name, size) for name, size in _UNITS.items() if abs(duration) >= size), ("us", 1)
    )
    return "days" if name == "day" else name, size


def about(duration: float) -> str:
    """Return a number of microseconds in few digits, as a person says it.

    Examples
    --------
    >>> about(2.34567 * DAY), about(DAY), about(5400e6), about(0)
    ('2.346 days', '1 day', '1.5 h', '0 us')
    """
    name, size = unit_of(duration)
    digits = Decimal(f"{duration / size:.4g}")
    number = f"{digits:f}" if digits % 1 else f"{digits:.0f}"
    return f"{number} {'day' if name == 'days' and number == '1' else name}"
