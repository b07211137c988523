"""Parameters that are dates: bounds and edges, typed in ISO 8601 or as the data is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import ISO, DateFormat, read_date, read_duration, written
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.tally import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DateBounds", "dates", "duration", "in_iso"]

DateBounds = tuple[dt.date, dt.date]
"""Two dates, or two times without a zone."""
EXAMPLE = ("2020-01-01", "2024-12-31")


def dates(x: Iterable[object], parameter: str) -> tuple[dt.date, ...] | None:
    """Return what was typed as dates, all of them times if one is; None if they are no dates.

    Examples
    --------
    >>> dates(["2020-01-01", "2020-01-02T10:00"], "bounds")
    (datetime.datetime(2020, 1, 1, 0, 0), datetime.datetime(2020, 1, 2, 10, 0))
    """
    typed = list(x)
    read = [read_date(part) for part in typed]
    there = [date for date in read if date is not None]
    if not there:
        return None
    example = EXAMPLE if parameter == "bounds" else list(EXAMPLE)
    if len(there) < len(read):
        number = any(_is_number(part) for part in typed)
        got = "a date and a number" if number else "a date and something else"
        raise ParameterError(
            parameter,
            "be all dates or all numbers",
            got,
            f"Type {{{parameter}}}; dates are written as in ISO 8601, or in the date format "
            "that is declared.",
            **{parameter: example},
        )
    timed = any(isinstance(date, dt.datetime) for date in there)
    found = tuple(_at_midnight(date) for date in there) if timed else tuple(there)
    if any(a >= b for a, b in pairwise(found)):
        raise ParameterError(
            parameter,
            "be dates in order",
            " and ".join(map(written, found)) if len(found) == 2 else f"{len(found)} that are not",
            f"Type the earlier one first, such as {{{parameter}}}.",
            **{parameter: example},
        )
    return found


def duration(x: object, parameter: str) -> dt.timedelta | None:
    """Return how long something lasts, above 0; None if what was typed may be a number.

    Examples
    --------
    >>> duration("15 min", "step"), duration(15, "step")
    (datetime.timedelta(seconds=900), None)
    """
    lasting = read_duration(x)
    if lasting is None and isinstance(x, str) and any(map(str.isalpha, x)):
        lasts = any(map(str.isdigit, x))
        raise (ParameterError if lasts else ParameterTypeError)(
            parameter,
            "be a number, or of dates a duration in days, h, min, s, ms or us",
            given(x),
            f"Type {{{parameter}}}.",
            **{parameter: 1},
        )
    if lasting is not None and lasting <= dt.timedelta(0):
        raise ParameterError(
            parameter, "be above 0", "less", f"Type {{{parameter}}}.", **{parameter: "1 day"}
        )
    return lasting


def _at_midnight(date: dt.date) -> dt.datetime:
    if isinstance(date, dt.datetime):
        return date
    return dt.datetime(date.year, date.month, date.day)  # noqa: DTZ001 - as it is written


def _is_number(x: object) -> bool:
    return not isinstance(x, (str, bool)) and isinstance(x, (int, float, np.number))


def in_iso(typed: Mapping[str, Any], read: object) -> dict[str, Any]:
    """Return parameters in which dates that were typed as the data is written are dates.

    Examples
    --------
    >>> in_iso({"bounds": ("01.02.2020", "2021-01-01")}, {"date_format": "%d.%m.%Y"})
    {'bounds': (datetime.date(2020, 2, 1), '2021-01-01')}
    """
    named = read if isinstance(read, Mapping) else vars(read) if isinstance(read, Reading) else {}
    form = named.get("date_format")
    if form is None or not any(name in typed for name in ("bounds", "bins")):
        return dict(typed)
    dates = Reading.of(read).dates
    return {name: _each(x, dates) if name in {"bounds", "bins"} else x for name, x in typed.items()}


def _each(x: Any, form: DateFormat) -> Any:  # noqa: ANN401
    if not isinstance(x, (list, tuple)):
        return x
    return tuple(_declared(part, form) for part in x)


def _declared(x: object, form: DateFormat) -> object:
    """Return the date that a text or a whole number spells in a format; else what was typed."""
    text = str(x) if type(x) is int else x
    if not isinstance(text, str) or ISO.read(text) is not None:
        return x
    found = read_date(text, form)
    return x if found is None else found
