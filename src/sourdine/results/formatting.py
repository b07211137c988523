"""Numbers, dates and texts as they are printed."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY, moment, read_instant, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# ---- Untrusted texts -----------------------------------------------------------------------------


STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Control characters, line ends, bidirectional controls, and lone surrogates."""


def printable(text: str) -> str:
    r"""Return a text with a visible escape for each character that is not printable.

    Names of columns and keys come from data and schemas, which are untrusted. An escape sequence in
    them would recolour a terminal or overwrite a line, and a line end would forge one. (Markup in
    HTML is escaped by `Sheet.html`.)

    Examples
    --------
    >>> print(printable("yes\x1b[2J\ncost  epsilon 0"))
    yes\x1b[2J\ncost  epsilon 0
    """
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def json_text(facts: object) -> str:
    r"""Return JSON in one line, in which letters are kept and everything else is escaped.

    Examples
    --------
    >>> print(json_text({"vote": "été\x9b2J"}))
    {"vote": "été\u009b2J"}
    """
    text = json.dumps(facts, ensure_ascii=False)
    return STEERING.sub(lambda found: json.dumps(found[0])[1:-1], text)


# ---- Numbers -------------------------------------------------------------------------------------


def decimals(width: float) -> int:
    """Return how many decimals to print of a number that is known to within ``width``.

    Two digits of the width are kept, so rounding loses at most a twentieth of it.

    Examples
    --------
    >>> decimals(0.034), decimals(1200.0), decimals(0.0)
    (3, -2, 6)
    """
    return 6 if width <= 0 else 1 - floor(log10(width))


def shown(value: float, width: float) -> str:
    """Return a number with as many digits as the interval's width supports.

    Examples
    --------
    >>> shown(51234.5678, 120.0), shown(0.123456, 0.004), shown(7, 0.5), shown(12345.6, 5e4)
    ('51,230', '0.1235', '7', '12,000')
    >>> shown(40.0, 0.0)
    '40'
    """
    digits = decimals(width)
    if isinstance(value, int):
        return grouped(str(value))
    rounded = round(float(value), digits) + 0.0
    text = f"{rounded:.{max(digits, 0)}f}"
    return grouped(text if width > 0 or not digits else text.rstrip("0").rstrip("."))


def grouped(text: str) -> str:
    """Separate the thousands of numbers of five digits and more by commas."""
    sign, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, part = rest.partition(".")
    if len(whole) > 4:
        head = len(whole) % 3 or 3
        whole = ",".join([whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))])
    return sign + whole + (f".{part}" if part else "")


def row(value: float, ends: Sequence[float]) -> tuple[str, str, str]:
    """Return the texts of a value and of the ends of its interval, which are rounded outward.

    Examples
    --------
    >>> row(51234.5678, (51004.2, 51496.1))
    ('51,230', '51,000', '51,500')
    """
    low, high = ends
    width = float(high) - float(low)
    value_text = shown(value, own_width(value, width))
    return value_text, outward(low, width, floor), outward(high, width, ceil)


def outward(end: float, width: float, rounded: Callable[[Decimal], int]) -> str:
    """Return an end of an interval, rounded away from its middle.

    Examples
    --------
    >>> outward(0.3, 0.1, floor), outward(0.30000001, 0.1, ceil), outward(0.3, 0.1, ceil)
    ('0.30', '0.31', '0.30')
    """
    if isinstance(end, int) or not isfinite(end):
        return shown(end, width)
    place = Decimal(1).scaleb(-decimals(width))
    return shown(float(rounded(Decimal(repr(float(end))) / place) * place), width)


def own_width(value: float, width: float) -> float:
    """Return the width by which a value is rounded: its interval's, but three digits are kept.

    Examples
    --------
    >>> shown(33199.5, own_width(33199.5, 200_000.0))
    '33,200'
    """
    return min(width, abs(float(value)) / 100) if value else width


# ---- Dates and times -----------------------------------------------------------------------------


_UNITS = (
    *((DAY, "days"), (60 * 10**6, "minutes"), (10**6, "seconds"), (1000, "milliseconds")),
    (1, "microseconds"),
)
_KEPT = 10
"""A time is shown in a unit of which its interval has at least this many."""


def is_date(x: object) -> bool:
    """Return whether something is a date or a time."""
    return isinstance(x, dt.date)


def is_duration(x: object) -> bool:
    """Return whether something is a duration, as the difference of two dates."""
    return isinstance(x, dt.timedelta)


def micros(x: dt.date | dt.timedelta) -> int:
    """Return the microseconds of a duration, or from 1970 to a date or a time."""
    if isinstance(x, dt.timedelta):
        return x // dt.timedelta(microseconds=1)
    return read_instant(x) or 0


def places(values: Sequence[Any]) -> list[float]:
    """Return positions on an axis: dates in days from 1970, durations in days, numbers.

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
        Whether the dropped part is rounded up, not down.

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
    except OverflowError:  # rounded up from the last day of the year 9999
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


def any_row(value: Any, ends: Sequence[Any]) -> tuple[str, str, str]:
    """Return the texts of a number, a date or a duration and of the ends of its interval."""
    if is_date(value):
        return date_row(value, ends)
    return (duration_row if is_duration(value) else row)(value, ends)


def date_axis(axis: Any, *, small: bool = False) -> None:
    """Let an axis whose numbers are days from 1970 show dates, as few and as short as possible."""
    from matplotlib import dates as drawn

    dates: Any = drawn
    locator = dates.AutoDateLocator(minticks=2 if small else 3, maxticks=5 if small else 8)
    axis.set_major_locator(locator)
    looks: dict[str, Any] = {
        "formats": ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
        "zero_formats": ["", "%Y", "%b", "%d %b", "%H:%M", "%H:%M"],
        "offset_formats": ["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"],
    }
    if axis.axis_name == "y":  # the cost is written above it, so each date is written in full
        looks["formats"] = ["%Y", "%b %Y", "%d %b %Y", *["%d %b %Y %H:%M"] * 2, "%H:%M:%S"]
        looks |= {"zero_formats": looks["formats"], "show_offset": False}
    axis.set_major_formatter(dates.ConciseDateFormatter(locator, **looks))
