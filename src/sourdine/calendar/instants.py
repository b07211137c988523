"""One value, or an array of values, as microseconds since 1970.

What is a date or a time: the types of Python, NumPy and pandas that hold one, and texts
(`sourdine.calendar.formats`). Everything else is none: numbers, nothing, NaT, and instants before
the year 1 or after the year 9999 in UTC. Parts of a microsecond are dropped. What becomes of
one value depends on that value alone, and no value raises (``test_no_value_raises_as_a_date``).
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar.formats import DAY, ISO, DateFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FIRST",
    "LAST",
    "NOWHERE",
    "instants_of",
    "moment",
    "read_date",
    "read_instant",
    "written",
]

NOWHERE = -(1 << 63)
"""Stands for what is no instant in an array of them, as NumPy's NaT does."""
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - as it is written
_MICROSECOND = dt.timedelta(microseconds=1)
FIRST = (dt.date.min - _EPOCH.date()).days * DAY
LAST = ((dt.date.max - _EPOCH.date()).days + 1) * DAY - 1
"""The first and the last instant of the years 1 to 9999."""
_UNITS = {"W": 7 * DAY, "D": DAY, "h": DAY // 24, "m": 60 * 10**6, "s": 10**6, "ms": 1000, "us": 1}
_PARTS = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
"""Microseconds to a unit, and units to a microsecond."""


def read_instant(v: object, date_format: DateFormat = ISO) -> int | None:
    """Return the microseconds from 1970 to a value; None if it is no date and no time.

    Examples
    --------
    >>> read_instant(dt.date(1970, 1, 2)) == read_instant("1970-01-02") == DAY
    True
    >>> [read_instant(v) for v in (None, 0, "soon", np.datetime64("NaT"), "0000-01-01")]
    [None, None, None, None, None]
    """
    if isinstance(v, str):
        return _within(date_format.read(v))
    if isinstance(v, np.datetime64):
        (found,) = instants_of(np.array([v])).tolist()
        return None if found == NOWHERE else int(found)
    if not isinstance(v, dt.date):
        return None
    try:
        return _within(_of_python(v))
    except Exception:  # noqa: BLE001 - whatever an unknown zone or NaT does, it is no instant
        return None


def _of_python(v: dt.date) -> int | None:
    day = dt.date(v.year, v.month, v.day).toordinal() - _EPOCH.toordinal()
    if not isinstance(v, dt.datetime):
        return day * DAY
    if v != v:  # noqa: PLR0124 - the pandas time that is none
        return None
    clock = ((v.hour * 60 + v.minute) * 60 + v.second) * 10**6 + v.microsecond
    ahead = v.utcoffset()
    return day * DAY + clock - (0 if ahead is None else ahead // _MICROSECOND)


def _within(instant: int | None) -> int | None:
    return instant if instant is not None and FIRST <= instant <= LAST else None


def instants_of(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the instants of an array of NumPy's datetime64; `NOWHERE` for what is none.

    Examples
    --------
    >>> instants_of(np.array(["1970-01-01", "NaT", "20000-01-01"], "datetime64[D]")).tolist()
    [0, -9223372036854775808, -9223372036854775808]
    """
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
    """Return the instants that are so many units after 1970, the least number being none."""
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


def moment(instant: int, *, date: bool) -> Any:  # noqa: ANN401 - a date or a datetime
    """Return the date, or the time without a zone, of an instant.

    Examples
    --------
    >>> moment(DAY, date=True), moment(DAY, date=False)
    (datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 2, 0, 0))
    """
    time = _EPOCH + dt.timedelta(microseconds=instant)
    return time.date() if date else time


def written(x: dt.date) -> str:
    """Return a date or a time as a person writes it, without seconds that are none.

    Examples
    --------
    >>> written(dt.datetime(2024, 2, 29, 14)), written(dt.date(2024, 2, 29))
    ('2024-02-29 14:00', '2024-02-29')
    """
    if not isinstance(x, dt.datetime):
        return x.isoformat()
    return x.isoformat(" ", "auto" if x.second or x.microsecond else "minutes")


def read_date(x: object, date_format: DateFormat = ISO) -> Any:  # noqa: ANN401 - as `moment`
    """Return what a person typed as a date, or as a time in UTC; None if it is neither.

    A text may be in the format that is declared; ISO 8601 always may.

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
