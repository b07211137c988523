"""Dates, times and durations as whole numbers of microseconds since 1970-01-01."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given

if TYPE_CHECKING:
    from numpy.typing import NDArray


# ---- Durations -----------------------------------------------------------------------------------


_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - as it is written
_MICROSECOND = dt.timedelta(microseconds=1)
DAY = 86_400 * 10**6
Duration = dt.timedelta | str
"""The types that a duration may be given as."""
_DURATION_UNITS = {"day": DAY, "h": DAY // 24, "min": 60 * 10**6, "s": 10**6, "ms": 1000, "us": 1}
"""The units in which durations are printed, in microseconds, the longest first."""
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
"""The length of the years 1 to 9999."""


def read_duration(x: object) -> dt.timedelta | None:
    """Return a duration in whole microseconds; None if the value is not a duration.

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
    if lasts.denominator != 1 or lasts > LONGEST // _MICROSECOND:
        return None
    return dt.timedelta(microseconds=int(lasts))


def micros(x: dt.timedelta) -> int:
    return x // _MICROSECOND


def spelled(x: dt.timedelta | int) -> str:
    """Return a duration exactly, as a text that can be read back, in the longest unit that fits.

    Examples
    --------
    >>> spelled(dt.timedelta(days=7)), spelled(dt.timedelta(hours=36)), spelled(90 * 10**6)
    ('7 days', '36 h', '90 s')
    """
    whole = x if isinstance(x, int) else micros(x)
    unit = next(name for name, size in _DURATION_UNITS.items() if whole % size == 0)
    number = whole // _DURATION_UNITS[unit]
    return f"{number} {unit}{'s' if unit == 'day' and number != 1 else ''}"


def unit_of(duration: float) -> tuple[str, int]:
    """Return the unit that suits a number of microseconds, and its length."""
    name, size = next(
        ((name, size) for name, size in _DURATION_UNITS.items() if abs(duration) >= size), ("us", 1)
    )
    return "days" if name == "day" else name, size


def about(duration: float) -> str:
    """Return a number of microseconds as a short, rounded text."""
    name, size = unit_of(duration)
    digits = Decimal(f"{duration / size:.4g}")
    number = f"{digits:f}" if digits % 1 else f"{digits:.0f}"
    return f"{number} {'day' if name == 'days' and number == '1' else name}"


# ---- Dates and times as texts --------------------------------------------------------------------
#
# A `DateFormat` parses a text or returns None; the result depends on the text alone, not on a
# locale, another cell or the clock. So a text is the same instant in every engine, because all of
# them pass their texts to this reader.
#
# ``%Y`` ``%y``        the year in four digits; in two: 69 to 99 are 1969 to 1999, 00 to 68 are 2000
#                      to 2068
# ``%m`` ``%b`` ``%B`` the month in one or two digits; its English name, short or long
# ``%d`` ``%j``        the day of the month; of the year
# ``%H`` ``%I`` ``%p`` the hour of 24; of 12, with AM or PM
# ``%M`` ``%S`` ``%f`` minute; second; decimals of a second, of which six count
# ``%z``               the zone: ``Z``, ``UTC`` or an offset such as ``+02:00``
# ``%a`` ``%A``        the English name of a day, which is ignored
# ``%F`` ``%T`` ``%%`` ``%Y-%m-%d``; ``%H:%M:%S``; a percent sign
#
# Second 60, a leap second, is the start of the next minute. Surrounding blanks are ignored.


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DAYS = "mon|tue|wed|thu|fri|sat|sun"
_LONG_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_ZONE = r"Z|UTC|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"
_FORMAT_PARTS = {
    "Y": ("year", "[0-9]{4}"), "y": ("short", "[0-9]{2}"), "m": ("month", "[0-9]{1,2}"),
    "b": ("name", "|".join(_MONTHS)), "B": ("name", "|".join(_LONG)), "d": ("day", "[0-9]{1,2}"),
    "j": ("yearday", "[0-9]{1,3}"), "H": ("hour", "[0-9]{1,2}"), "I": ("twelfth", "[0-9]{1,2}"),
    "p": ("half", "am|pm"), "M": ("minute", "[0-9]{1,2}"), "S": ("second", "[0-9]{1,2}"),
    "f": ("decimals", "[0-9]+"), "z": ("zone", _ZONE), "a": (None, _DAYS), "A": (None, _LONG_DAYS),
}  # fmt: skip
_SHORTHAND = {"F": "%Y-%m-%d", "T": "%H:%M:%S"}
_BLANK = r"[ \t\n\r\f\v]*"
_SECONDS = r"(?::(?P<second>[0-9]{2})(?:[.,](?P<decimals>[0-9]+))?)?"
_TIME = rf"(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}){_SECONDS} ?(?P<zone>{_ZONE})?"
_CLOCK = f"(?:[T ]{_TIME})?"
"""A time in ISO 8601, which may follow a date."""
_ISO = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_HOURS = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_PLAIN = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_HOURS}(?::[0-5][0-9](?:\.[0-9]{{6}})?)?)?"
)
_EXAMPLE = "%d.%m.%Y"
_PIVOT = 69
SECOND, MINUTE, HOUR = 10**6, 60 * 10**6, 3600 * 10**6


@dataclass(frozen=True)
class DateFormat:
    """A format of dates and times.

    Parameters
    ----------
    text
        Literal text and the codes of the table above, with at least a year, a month and a day;
        None for ISO 8601, ``2024-02-29``. If the format has no time, a text may end with one in
        ISO 8601, after a ``T`` or a blank: ``14:30``, ``14:30:59`` or ``14:30:59.25``, and a zone.

    Examples
    --------
    >>> DateFormat("%d.%m.%Y").read("01.01.1970"), DateFormat("%d.%m.%Y").read("1970-01-01")
    (0, None)
    >>> DateFormat("%d.%m.%Y").read("01.01.1970 00:01")
    60000000
    >>> ISO.read("1970-01-01T02:00+02:00"), ISO.read("1970-02-30")
    (0, None)
    >>> DateFormat("%m/%Y")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: date_format must contain a year, a month and a day, each once, got '%m/%Y'. Use date_format='%d.%m.%Y'.
    """  # noqa: E501

    text: str | None = None
    _pattern: re.Pattern[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        body = _ISO if self.text is None else _translated(self.text)
        timed = re.search(r"\?P<(hour|twelfth)>", body) is not None
        whole = f"{_BLANK}{body}{'' if timed else _CLOCK}{_BLANK}"
        pattern = re.compile(whole, re.IGNORECASE | re.ASCII)
        object.__setattr__(self, "_pattern", pattern)

    def has_time(self, text: str) -> bool:
        """Return whether a text in this format includes a time."""
        found = self._pattern.fullmatch(text)
        parts = found.groupdict() if found else {}
        return any(parts.get(name) is not None for name in ("hour", "twelfth"))

    def read(self, text: str) -> int | None:
        """Return the microseconds from 1970 to a text's instant; None if it is not in this format.

        The year is from 1 to 9999, but a zone may shift the instant beyond it.
        """
        if self.text is None and _PLAIN.fullmatch(text):
            return _plain(text)
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        parts = {name: part for name, part in found.groupdict().items() if part is not None}
        days, clock = _days(parts), _clock(parts)
        return None if days is None or clock is None else days * DAY + clock


def _plain(text: str) -> int | None:
    """Parse most texts of ISO 8601, in a tenth of the time."""
    try:
        since = dt.datetime.fromisoformat(text) - _EPOCH
    except ValueError:
        return None
    return since.days * DAY + since.seconds * SECOND + since.microseconds


def _translated(text: object) -> str:
    """Return the regular expression of a format."""
    if not isinstance(text, str):
        raise ParameterTypeError("date_format", "be a string", given(text), date_format=_EXAMPLE)
    letters = iter(re.sub("%([FT])", lambda found: _SHORTHAND[found[1]], text))
    found: list[str] = []
    names: list[str] = []
    for letter in letters:
        sign = next(letters, "") if letter == "%" else None
        if sign is None or sign == "%":
            found.append(re.escape(letter))
            continue
        if sign not in _FORMAT_PARTS:
            raise ParameterError(
                "date_format",
                "contain no directives other than "
                f"{', '.join(f'%{s}' for s in (*_FORMAT_PARTS, *_SHORTHAND))}",
                f"%{sign}" if sign.isprintable() else "",
                date_format=_EXAMPLE,
            )
        name, pattern = _FORMAT_PARTS[sign]
        found.append(f"(?P<{name}>{pattern})" if name else f"(?:{pattern})")
        names += [name] if name else []
    if len(set(names)) < len(names) or not _is_whole(set(names)):
        raise ParameterError(
            "date_format", "contain a year, a month and a day, each once", given(text),
            date_format=_EXAMPLE,
        )  # fmt: skip
    return "".join(found)


def _is_whole(names: set[str]) -> bool:
    """Return whether parts form one complete date, and a complete time if there is one."""
    year = len(names & {"year", "short"}) == 1
    months = len(names & {"month", "name"})
    day = (months == 1 and "day" in names) != ("yearday" in names and months == 0)
    hours = len(names & {"hour", "twelfth"})
    finer = names & {"minute", "second", "decimals", "zone"}
    clock = hours == 1 or (hours == 0 and not finer)
    return year and day and clock and ("twelfth" in names) == ("half" in names)


def _days(parts: dict[str, str]) -> int | None:
    """Return the days from 1970 to a date; None if there is no such day."""
    year = int(parts["year"]) if "year" in parts else int(parts["short"])
    if "short" in parts:
        year += 1900 if year >= _PIVOT else 2000
    try:
        if "yearday" in parts:
            first, number = dt.date(year, 1, 1).toordinal(), int(parts["yearday"])
            there = dt.date.fromordinal(first + number - 1).year == year
            return first + number - 1 - _EPOCH.toordinal() if there else None
        named = parts.get("name", "")[:3].lower()
        month = _MONTHS.index(named) + 1 if named else int(parts["month"])
        return dt.date(year, month, int(parts["day"])).toordinal() - _EPOCH.toordinal()
    except (ValueError, OverflowError):
        return None


def _clock(parts: dict[str, str]) -> int | None:
    """Return the microseconds from midnight in UTC; None if there is no such time."""
    hour, minute, second = (int(parts.get(p, 0)) for p in ("hour", "minute", "second"))
    if "twelfth" in parts:
        twelfth = int(parts["twelfth"])
        hour = twelfth % 12 + 12 * (parts["half"].lower() == "pm")
        if not 1 <= twelfth <= 12:
            return None
    offset = _offset(parts.get("zone", "Z"))
    if hour > 23 or minute > 59 or second > 60 or offset is None:
        return None
    decimals = 0 if second == 60 else int(parts.get("decimals", "0")[:6].ljust(6, "0"))
    return hour * HOUR + minute * MINUTE + second * SECOND + decimals - offset


def _offset(zone: str) -> int | None:
    """Return how many microseconds a zone is ahead of UTC; None if there is no such zone."""
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[i : i + 2]) for i in (0, 2, 4))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    ahead = hours * HOUR + minutes * MINUTE + seconds * SECOND
    return ahead if zone[0] == "+" else -ahead


ISO = DateFormat()
"""ISO 8601, the default format of texts."""


# ---- Values and arrays as microseconds since 1970 ------------------------------------------------
#
# Dates and times are the types of Python, NumPy and pandas that hold one, and texts in a
# `DateFormat`. Everything else is missing: numbers, None, NaT, and instants before the year 1 or
# after the year 9999 in UTC. Fractions of a microsecond are dropped. The result for one value
# depends on that value alone, and no value raises (``test_no_value_raises_as_a_date``).


NOWHERE = -(1 << 63)
"""Marks a missing instant in an array, as NumPy's NaT does."""
FIRST = (dt.date.min - _EPOCH.date()).days * DAY
LAST = ((dt.date.max - _EPOCH.date()).days + 1) * DAY - 1
"""The first and the last instant of the years 1 to 9999."""
_UNITS = {"W": 7 * DAY, "D": DAY, "h": DAY // 24, "m": 60 * 10**6, "s": 10**6, "ms": 1000, "us": 1}
_PARTS = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
"""Microseconds per unit, and units per microsecond."""


def read_instant(v: object, date_format: DateFormat = ISO) -> int | None:
    """Return the microseconds from 1970 to a value; None if it is neither a date nor a time."""
    if isinstance(v, str):
        return _within(date_format.read(v))
    if isinstance(v, np.datetime64):
        (found,) = instants_of(np.array([v])).tolist()
        return None if found == NOWHERE else int(found)
    if not isinstance(v, dt.date):
        return None
    try:
        return _within(_of_python(v))
    except Exception:  # noqa: BLE001 - an unknown zone or NaT may raise anything: no instant
        return None


def _of_python(v: dt.date) -> int | None:
    day = dt.date(v.year, v.month, v.day).toordinal() - _EPOCH.toordinal()
    if not isinstance(v, dt.datetime):
        return day * DAY
    if v != v:  # noqa: PLR0124 - pandas' NaT
        return None
    clock = ((v.hour * 60 + v.minute) * 60 + v.second) * 10**6 + v.microsecond
    ahead = v.utcoffset()
    return day * DAY + clock - (0 if ahead is None else ahead // _MICROSECOND)


def _within(instant: int | None) -> int | None:
    return instant if instant is not None and FIRST <= instant <= LAST else None


def instants_of(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the instants of an array of NumPy's datetime64; `NOWHERE` where missing."""
    unit, each = np.datetime_data(array.dtype)
    if unit == "generic":
        return np.full(array.shape, NOWHERE)
    if unit in {"Y", "M"}:
        months = each * (12 if unit == "Y" else 1)
        x = array.view(np.int64)
        inside = (x >= -(1970 * 12 // months)) & (x <= 8030 * 12 // months)
        days = np.where(inside, x * inside * months, 0).astype("datetime64[M]")
        found = instants_of(days.astype("datetime64[D]"))
        return np.where(inside, found, NOWHERE)
    return counted(array.view(np.int64), unit, each)


def counted(x: NDArray[np.int64], unit: str, each: int = 1) -> NDArray[np.int64]:
    """Convert counts of units since 1970 to instants; the lowest integer marks a missing one."""
    if unit in _PARTS:
        size = _PARTS[unit]
        if each > 1 or size > 1000:
            exact = [int(v) * each // size if v != NOWHERE else NOWHERE for v in x.tolist()]
            kept = [v if FIRST <= v <= LAST else NOWHERE for v in exact]
            return np.array(kept, np.int64).reshape(x.shape)
        return np.where(x == NOWHERE, NOWHERE, x // size)
    size = _UNITS[unit] * each
    inside = (x >= -(-FIRST // size)) & (x <= LAST // size)
    return np.where(inside, x * inside * size, NOWHERE)


def moment(instant: int, *, date: bool) -> Any:
    """Return the date, or the time without a zone, of an instant."""
    time = _EPOCH + dt.timedelta(microseconds=instant)
    return time.date() if date else time


def written(x: dt.date) -> str:
    """Return a date or a time as text, without seconds if they are zero."""
    if not isinstance(x, dt.datetime):
        return x.isoformat()
    return x.isoformat(" ", "auto" if x.second or x.microsecond else "minutes")


def read_date(x: object, date_format: DateFormat = ISO) -> Any:
    """Parse a date, or a time in UTC; None if the value is neither.

    A text may be in the declared format or in ISO 8601.

    Examples
    --------
    >>> read_date("2024-02-29"), read_date("2024-02-29T00:00"), read_date(29)
    (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 0, 0), None)
    """
    if isinstance(x, str):
        iso = ISO.read(x)
        instant = date_format.read(x) if iso is None else iso
        date = not (date_format if iso is None else ISO).has_time(x)
    else:
        instant = read_instant(x)
        date = isinstance(x, dt.date) and not isinstance(x, dt.datetime)
        if isinstance(x, np.datetime64):
            date = np.datetime_data(x.dtype)[0] in {"Y", "M", "W", "D"}
    instant = _within(instant)
    return None if instant is None else moment(instant, date=date)


# ---- Public bounds that are dates ----------------------------------------------------------------


DATES, TIMES = "dates", "times"
_ROUND = (DAY, DAY // 24, 60 * 10**6, 10**6, 1000, 1)
ENOUGH = 1 << 20
"""Minimum number of points of a lattice of times without a step, where possible (about 10^6)."""
FINE = 1000
"""Edges of bins are rounded to a unit of which a bin has at least this many."""


def read_lattice(lower: object, upper: object, step: object) -> tuple[int, int, int, str] | None:
    """Return bounds and step in microseconds, and whether the points are dates or times.

    Return None if the bounds are not dates. The step defaults to a day if both bounds are dates;
    otherwise to the longest of a day, an hour, a minute, a second, a millisecond and a microsecond
    that leaves about a million points.

    Examples
    --------
    >>> low, high, step, points = read_lattice("2024-01-01", "2024-12-31", "7 days")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: step must divide upper - lower, got '7 days' for 2024-01-01 to 2024-12-31. Use a step that divides the range, such as step='5 days', or move a bound.
    >>> read_lattice("1970-01-01", "1970-01-11", "5 days")
    (0, 864000000000, 432000000000, 'dates')
    """  # noqa: E501
    low, high = read_date(lower), read_date(upper)
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise ParameterError(
            "upper" if high is None else "lower", "be a date if the other bound is one",
            given(upper if high is None else lower), "Use two dates, or two numbers.",
        )  # fmt: skip
    a, b = _instant(low), _instant(high)
    dates = not (isinstance(low, dt.datetime) or isinstance(high, dt.datetime))
    if a >= b:
        raise ParameterError(
            "lower", "be before upper", f"{written(low)} and {written(high)}",
            "Use the earlier date first.",
        )  # fmt: skip
    if step is None:
        return a, b, DAY if dates else _unit(b - a, ENOUGH), DATES if dates else TIMES
    size = _step(step, b - a, f"{written(low)} to {written(high)}")
    return a, b, size, DATES if dates and size % DAY == 0 else TIMES


def _instant(x: dt.date) -> int:
    instant = read_instant(x)
    assert instant is not None  # noqa: S101 - it was parsed before
    return instant


def _unit(width: int, least: int) -> int:
    """Return the longest round unit of which a range has at least ``least``."""
    return next((unit for unit in _ROUND if width // unit >= least), 1)


def _step(typed: object, width: int, bounds: str) -> int:
    lasting = read_duration(typed)
    if lasting is None or lasting <= dt.timedelta(0):
        raise ParameterError(
            "step", "be a positive duration if bounds are dates", given(typed),
            "Use {step}, or another duration in days, h, min, s, ms or us.",
            step=spelled(_unit(width, 1)),
        )  # fmt: skip
    size = micros(lasting)
    if width % size:
        hint = "Use a step that divides the range, such as {step}, or move a bound."
        got, fits = f"{spelled(size)!r} for {bounds}", spelled(_fitting(width, size))
        raise ParameterError("step", "divide upper - lower", got, hint, step=fits)
    return size


def _fitting(width: int, step: int) -> int:
    """Return the longest whole number of units, at most the step, that divides the range."""
    unit = next(unit for unit in _ROUND if width % unit == 0)
    most = min(max(step // unit, 1), 1 << 12)
    return unit * next(k for k in range(most, 0, -1) if (width // unit) % k == 0)


def even_edges(lower: Any, upper: Any, bins: int) -> list[Any]:
    """Return the edges of bins of equal width, rounded down to whole days or a finer unit.

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
            bins=(high - low) // unit,
        )
    inner = [(high - low) * i // bins // unit * unit for i in range(1, bins)]
    return [lower, *(lower + _MICROSECOND * x for x in inner), upper]
