r"""How one value is read, as a number or as a text, the same for every engine.

As a number
    Whole numbers and floats are what they are, true and false are 1 and 0. A text is a number if it
    is written in decimal digits with an optional sign, point and exponent, or is ``inf`` or
    ``infinity``; blanks around it do not matter. Up to 38 digits without point and exponent are a
    whole number, exactly; everything else is the nearest float. What is none of this is missing:
    nothing, NaN, dates, other texts.

As a text
    A text is itself, a whole number its digits, a float that is whole the same digits, another
    float the shortest decimal that gives it back, a decimal all its digits, true and false are
    ``true`` and ``false``, a date its ISO form. Nothing, NaN and the empty text are missing.

What becomes of one value depends on that value alone (``test_a_list_is_read_value_by_value``) and
no value raises (``test_no_value_raises``).
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from math import isnan
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["BLANKS", "WHOLE", "WRITTEN", "as_float", "float_text", "read_number", "read_text"]

BLANKS = r"[ \t\n\r\f\v]*"
WRITTEN = (
    rf"{BLANKS}[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?{BLANKS}"
    rf"|{BLANKS}[+-]?(?:[iI][nN][fF]|[iI][nN][fF][iI][nN][iI][tT][yY]){BLANKS}"
)
"""A number as text: a pattern that Python and the engines understand alike."""
WHOLE = rf"{BLANKS}[+-]?[0-9]{{1,38}}{BLANKS}"
"""A whole number as text."""

_LONGEST = 100
"""More digits than the decimals of any engine have."""
_WRITTEN, _WHOLE = re.compile(WRITTEN), re.compile(WHOLE)


def read_number(v: object) -> int | float | None:
    """Return what a value is as a number.

    Examples
    --------
    >>> [read_number(v) for v in (True, " 12 ", "1e3", "9007199254740993", "-inf")]
    [1.0, 12, 1000.0, 9007199254740993, -inf]
    >>> [read_number(v) for v in (None, float("nan"), "nan", "1_000", "12 kg", b"1")]
    [None, None, None, None, None, None]
    """
    if isinstance(v, Decimal):
        v = _decimal_text(v)
    if isinstance(v, str):
        return _written_number(v)
    if isinstance(v, (bool, np.bool_)):
        return float(v)
    if isinstance(v, np.timedelta64) or not isinstance(v, Real):
        return None
    if isinstance(v, Integral):
        return int(v)
    x = as_float(v)
    return None if isnan(x) else x


def _written_number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _WRITTEN.fullmatch(text) else None


def as_float(v: Real) -> float:
    """Return the nearest float, an infinite one for what is beyond them all."""
    try:
        return float(v)
    except OverflowError:
        return float("-inf") if v < 0 else float("inf")


def read_text(v: object) -> str | None:
    """Return what a value is as a text.

    Examples
    --------
    >>> [read_text(v) for v in ("a", 3, 3.0, 0.1, -0.0, True, dt.date(2024, 2, 29))]
    ['a', '3', '3', '0.1', '0', 'true', '2024-02-29']
    >>> [read_text(v) for v in (None, float("nan"), "")]
    [None, None, None]
    """
    if isinstance(v, str):
        return str(v) or None
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (dt.date, np.datetime64)):
        return _date_text(v)
    if isinstance(v, Integral) and not isinstance(v, np.timedelta64):
        return _whole_text(int(v))
    if isinstance(v, (float, np.floating)):
        return None if isnan(v) else float_text(float(v))
    return _other_text(v)


def _whole_text(v: int) -> str:
    return str(v) if abs(v) < 1 << 127 else hex(v)


def float_text(x: float) -> str:
    """Return the digits of a whole float, else the shortest decimal that gives ``x`` back."""
    return str(int(x)) if abs(x) < 1 << 53 and x == int(x) else repr(x)


def _decimal_text(v: Decimal) -> str:
    """Return all digits of a decimal, as engines write it; beyond theirs, an exponent."""
    last = v.as_tuple().exponent
    plain = isinstance(last, int) and last >= -_LONGEST and v.adjusted() < _LONGEST
    return format(v, "f") if plain else str(v)


def _date_text(v: Any) -> str | None:  # noqa: ANN401
    if isinstance(v, np.datetime64):
        days = v.dtype in {np.dtype("datetime64[D]"), np.dtype("datetime64[M]")}
        v = v.astype("datetime64[D]" if days else "datetime64[us]").item()
    if not isinstance(v, dt.date) or v != v:  # noqa: PLR0124 - the pandas date that is none
        return None if v is None or v != v else str(v)  # noqa: PLR0124
    if not isinstance(v, dt.datetime):
        return v.isoformat()
    if v.tzinfo is not None:
        try:
            v = v.astimezone(dt.UTC)
        except OverflowError:
            return None
    return dt.datetime.isoformat(v.replace(tzinfo=None), sep=" ")


def _other_text(v: object) -> str | None:
    if isinstance(v, Decimal):
        return None if v.is_nan() else _decimal_text(v)
    if isinstance(v, bytes):
        return v.decode("utf-8", "replace") or None
    if v is None or type(v).__name__ in {"NAType", "NaTType"}:
        return None
    try:
        return str(v) or None
    except Exception:  # noqa: BLE001 - whatever an unknown object does, it is no text
        return None
