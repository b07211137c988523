r"""Dates and times as texts.

A `DateFormat` reads a text or says that it is none, whatever the text is, and nothing around it has
a say: no locale, no other cell, no clock. So a text is the same instant in every engine, for they
all hand their texts to this reader.

===================  ==============================================================================
``%Y`` ``%y``        the year in four digits; in two: 69 to 99 are 1969 to 1999, 00 to 68 are 2000
                     to 2068
``%m`` ``%b`` ``%B`` the month in one or two digits; its English name, short or long
``%d`` ``%j``        the day of the month; of the year
``%H`` ``%I`` ``%p`` the hour of 24; of 12, with AM or PM
``%M`` ``%S`` ``%f`` minute; second; decimals of a second, of which six count
``%z``               the zone: ``Z``, ``UTC`` or an offset such as ``+02:00``
``%a`` ``%A``        the English name of a day, which is not looked at
``%F`` ``%T`` ``%%`` ``%Y-%m-%d``; ``%H:%M:%S``; a percent sign
===================  ==============================================================================

Second 60, a leap second, is the beginning of the next minute. Blanks around a text do not matter.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given

__all__ = ["ISO", "DateFormat"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DAYS = "mon|tue|wed|thu|fri|sat|sun"
_LONG_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_ZONE = r"Z|UTC|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"
_PARTS = {
    "Y": ("year", "[0-9]{4}"),
    "y": ("short", "[0-9]{2}"),
    "m": ("month", "[0-9]{1,2}"),
    "b": ("name", "|".join(_MONTHS)),
    "B": ("name", "|".join(_LONG)),
    "d": ("day", "[0-9]{1,2}"),
    "j": ("yearday", "[0-9]{1,3}"),
    "H": ("hour", "[0-9]{1,2}"),
    "I": ("twelfth", "[0-9]{1,2}"),
    "p": ("half", "am|pm"),
    "M": ("minute", "[0-9]{1,2}"),
    "S": ("second", "[0-9]{1,2}"),
    "f": ("decimals", "[0-9]+"),
    "z": ("zone", _ZONE),
    "a": (None, _DAYS),
    "A": (None, _LONG_DAYS),
}
_SHORTHAND = {"F": "%Y-%m-%d", "T": "%H:%M:%S"}
_BLANK = r"[ \t\n\r\f\v]*"
_SECONDS = r"(?::(?P<second>[0-9]{2})(?:[.,](?P<decimals>[0-9]+))?)?"
_TIME = rf"(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}){_SECONDS} ?(?P<zone>{_ZONE})?"
_CLOCK = f"(?:[T ]{_TIME})?"
"""A time as ISO 8601 writes it, which may follow a date."""
_ISO = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_HOURS = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_PLAIN = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{_HOURS}(?::[0-5][0-9](?:\.[0-9]{{6}})?)?)?"
)
_EXAMPLE = "%d.%m.%Y"
_PIVOT = 69
_MIDNIGHT = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - as it is written
_EPOCH = _MIDNIGHT.toordinal()
SECOND, MINUTE, HOUR, DAY = 10**6, 60 * 10**6, 3600 * 10**6, 86_400 * 10**6


@dataclass(frozen=True)
class DateFormat:
    """How dates and times are written.

    Parameters
    ----------
    text
        Letters and the signs of the table above, with a year, a month and a day at least; None for
        ISO 8601, ``2024-02-29``. Where no time is named, one may follow as ISO 8601 writes it,
        after a ``T`` or a blank: ``14:30``, ``14:30:59`` or ``14:30:59.25``, and a zone.

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
    sourdine.errors.ParameterError: date_format must name a year, a month and a day, each once, got '%m/%Y'. Type date_format='%d.%m.%Y'.
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
        """Return whether a text that it reads says a time, too."""
        found = self._pattern.fullmatch(text)
        parts = found.groupdict() if found else {}
        return any(parts.get(name) is not None for name in ("hour", "twelfth"))

    def read(self, text: str) -> int | None:
        """Return the microseconds from 1970 to what a text says; None if it is no such text.

        The year is from 1 to 9999, but the instant may lie beyond: a zone may carry it there.
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
    """Return what most texts of ISO 8601 say, in a tenth of the time."""
    try:
        since = dt.datetime.fromisoformat(text) - _MIDNIGHT
    except ValueError:
        return None
    return since.days * DAY + since.seconds * SECOND + since.microseconds


def _translated(text: object) -> str:
    """Return the regular expression of a format."""
    if not isinstance(text, str):
        raise ParameterTypeError(
            "date_format", "be a text", given(text), "Type {date_format}.", date_format=_EXAMPLE
        )
    letters = iter(re.sub("%([FT])", lambda found: _SHORTHAND[found[1]], text))
    found: list[str] = []
    names: list[str] = []
    for letter in letters:
        sign = next(letters, "") if letter == "%" else None
        if sign is None or sign == "%":
            found.append(re.escape(letter))
            continue
        if sign not in _PARTS:
            raise ParameterError(
                "date_format",
                f"hold the signs {', '.join(f'%{s}' for s in (*_PARTS, *_SHORTHAND))} alone",
                f"%{sign}" if sign.isprintable() else "another",
                "Type {date_format}.",
                date_format=_EXAMPLE,
            )
        name, pattern = _PARTS[sign]
        found.append(f"(?P<{name}>{pattern})" if name else f"(?:{pattern})")
        names += [name] if name else []
    if len(set(names)) < len(names) or not _is_whole(set(names)):
        raise ParameterError(
            "date_format",
            "name a year, a month and a day, each once",
            given(text),
            "Type {date_format}.",
            date_format=_EXAMPLE,
        )
    return "".join(found)


def _is_whole(names: set[str]) -> bool:
    """Return whether parts make up one date, and a time if there is one."""
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
            return first + number - 1 - _EPOCH if there else None
        month = (
            int(parts["month"])
            if "month" in parts
            else _MONTHS.index(parts["name"][:3].lower()) + 1
        )
        return dt.date(year, month, int(parts["day"])).toordinal() - _EPOCH
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
    """Return how many microseconds a zone's clocks are ahead; None if there is no such zone."""
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[i : i + 2]) for i in (0, 2, 4))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    ahead = hours * HOUR + minutes * MINUTE + seconds * SECOND
    return ahead if zone[0] == "+" else -ahead


ISO = DateFormat()
"""ISO 8601: what texts are taken for unless something else is declared."""
