"""How text is read as numbers, categories and dates."""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from math import isnan
from numbers import Integral, Real
from typing import Any

import numpy as np

from sourdine.calendar import ISO, DateFormat, read_instant
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, kind

# ---- How one value is read, as a number or as a text ---------------------------------------------
#
# As a number
#     Integers and floats are themselves, true and false are 1 and 0. A text is a number if it is
#     written in decimal digits with an optional sign, point and exponent, or is ``inf`` or
#     ``infinity``; surrounding blanks are ignored. Up to 38 digits without point and exponent are
#     an integer, exactly; everything else is the nearest float. Anything else is missing: None,
#     NaN, dates, other texts.
#
# As a text
#     A text is itself, an integer its digits, a float that is whole the same digits, another
#     float the shortest decimal that parses back to it, a decimal all its digits, true and false
#     are ``true`` and ``false``, a date its ISO form. None, NaN and the empty text are missing.
#
# The rules are the same for every engine. The result for one value depends on that value alone
# (``test_a_list_is_read_value_by_value``) and no value raises (``test_no_value_raises``).


BLANKS = r"[ \t\n\r\f\v]*"
WRITTEN = (
    rf"{BLANKS}[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?{BLANKS}"
    rf"|{BLANKS}[+-]?(?:[iI][nN][fF]|[iI][nN][fF][iI][nN][iI][tT][yY]){BLANKS}"
)
"""A number as text: a pattern that Python and the engines interpret alike."""
WHOLE = rf"{BLANKS}[+-]?[0-9]{{1,38}}{BLANKS}"

_LONGEST = 100
"""More digits than the decimals of any engine have."""
_WRITTEN, _WHOLE = re.compile(WRITTEN), re.compile(WHOLE)


def read_number(v: object) -> int | float | None:
    """Return a value as a number, None if it is missing.

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
        if _WHOLE.fullmatch(v):
            return int(v)
        return float(v) if _WRITTEN.fullmatch(v) else None
    if isinstance(v, (bool, np.bool_)):
        return float(v)
    if isinstance(v, np.timedelta64) or not isinstance(v, Real):
        return None
    if isinstance(v, Integral):
        return int(v)
    x = as_float(v)
    return None if isnan(x) else x


def as_float(v: Real) -> float:
    """Return the nearest float, infinite beyond their range."""
    try:
        return float(v)
    except OverflowError:
        return float("-inf") if v < 0 else float("inf")


def read_text(v: object) -> str | None:
    """Return a value as a text, None if it is missing.

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
        return str(int(v)) if abs(int(v)) < 1 << 127 else hex(int(v))
    if isinstance(v, (float, np.floating)):
        return None if isnan(v) else float_text(float(v))
    return _other_text(v)


def float_text(x: float) -> str:
    """Return the digits of a whole float, else the shortest decimal that parses back to ``x``."""
    return str(int(x)) if abs(x) < 1 << 53 and x == int(x) else repr(x)


def _decimal_text(v: Decimal) -> str:
    """Return all digits of a decimal, as engines write it; an exponent beyond their range."""
    last = v.as_tuple().exponent
    plain = isinstance(last, int) and last >= -_LONGEST and v.adjusted() < _LONGEST
    return format(v, "f") if plain else str(v)


def _date_text(v: Any) -> str | None:
    if isinstance(v, np.datetime64):
        days = v.dtype in {np.dtype("datetime64[D]"), np.dtype("datetime64[M]")}
        v = v.astype("datetime64[D]" if days else "datetime64[us]").item()
    if not isinstance(v, dt.date) or v != v:  # noqa: PLR0124 - pandas' NaT
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
    except Exception:  # noqa: BLE001 - an unknown object may raise anything: it is not a text
        return None


# ---- `Reading`: the declared format of text ------------------------------------------------------
#
# Nothing is guessed from the rows, so that no row can change how another is read.


SEPARATORS = (",", ";", "\t", "|")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
_WIDE = {
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
    *("gbk", "gb2312", "gb18030", "big5", "cp932", "cp949", "cp950", "shift_jis", "euc_jp"),
    "euc_kr",
}
"""Multi-byte encodings in which a line feed ends any incomplete character before it."""
_NARROW = re.compile(r"ascii|(?:cp|kz|iso8859-)\d+|(?:koi8|mac|tis|hp)-\w+")
_RIGHT = "\N{RIGHT SINGLE QUOTATION MARK}"
_THOUSANDS = {"": "", ",": ",", ".": ".", "_": "_", "'": f"'{_RIGHT}", " ": " \N{NBSP}\N{NNBSP}"}
"""Separators between groups of three digits, and the characters accepted for each."""
_GAP = "[ \t\n\r\f\v\N{NBSP}\N{NNBSP}]*"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The layout of a text file, and the format of numbers and dates in text.

    Everything is public and declared before a row is read. It applies to files and to columns of
    text in frames alike; values that are already numbers are not changed. A column whose type is
    text is read as numbers only if ``decimal``, ``thousands`` or ``symbols`` is declared, and as
    dates only if ``date_format`` is; text files have no types and are always read.

    Parameters
    ----------
    encoding
        The encoding of a text file, such as ``"cp1252"`` or ``"utf-16"``.
    separator
        The separator of cells: a comma, semicolon, tab or bar; defaults to the most frequent of
        them in the first line.
    header
        The column names of a text file that has none: its first line is then a record.
    quotes
        Whether cells may be quoted. If not, every line is a record.
    decimal
        The decimal mark: a point or a comma; defaults to a point.
    thousands
        The separator of groups of three digits: a comma, point, blank, apostrophe or underscore.
    symbols
        Symbols that may precede or follow a number, such as ``("€", "cm", "%")``; they are dropped.
    date_format
        The format of dates and times, such as ``"%d.%m.%Y"`` or ``"%m/%d/%y %I:%M %p"``
        (`sourdine.calendar` lists the codes); defaults to ISO 8601. If it has no time, a time in
        ISO 8601 may follow a date.

    Notes
    -----
    *Claim*: how a cell is read depends on that cell alone. *Checked by*
    ``test_a_record_is_read_alone``. *Claim*: every engine reads the same numbers. *Checked by*
    ``test_engines_agree_on_declared_numbers``; and the same dates, *checked by*
    ``test_engines_agree_on_declared_dates``.

    Examples
    --------
    >>> german = Reading(decimal=",", thousands=".", symbols=("€", "cm"))
    >>> [german.number(v) for v in ("1.234,50 €", "-€12", "170 cm", "1.5", 1.5)]
    [1234.5, -12, 170, None, 1.5]
    >>> Reading(date_format="%d.%m.%Y").instant("02.01.1970")  # in microseconds
    86400000000
    """

    encoding: str = "utf-8"
    separator: str | None = None
    header: tuple[str, ...] | None = None
    quotes: bool = True
    decimal: str | None = None
    thousands: str = ""
    symbols: tuple[str, ...] = field(default=())
    date_format: str | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "encoding", _encoding(self.encoding))
        if self.separator is not None:
            if isinstance(self.separator, str):
                set_(self, "separator", _NAMED.get(self.separator, self.separator))
            _require(self.separator, "separator", SEPARATORS, ";")
        if self.header is not None:
            set_(self, "header", _texts(self.header, "header", ("age", "income")))
        _require(self.quotes, "quotes", (True, False), example=True)
        if self.decimal is not None:
            _require(self.decimal, "decimal", (".", ","), ",")
        _require(self.thousands, "thousands", tuple(_THOUSANDS), ".")
        if self.thousands == self.point:
            other = "," if self.point == "." else "."
            raise ParameterError(
                "thousands", "differ from the decimal separator", f"{self.point!r} for both",
                "Use {thousands}.", thousands=other,
            )  # fmt: skip
        set_(self, "symbols", _texts(self.symbols, "symbols", ("€", "cm")))
        _ = self.dates
        for symbol in self.symbols:
            if re.search(r"[0-9+\-.,'_]|^\s|\s$|^(?i:e|inf|infinity)$", symbol):
                raise ParameterError(
                    "symbols", "contain no characters of numbers and no leading or trailing blanks",
                    given(symbol), "Use {symbols}.", symbols=("€", "cm"),
                )  # fmt: skip

    @classmethod
    def of(cls, read: object) -> Reading:
        """Return the declared format: a reading, a dict of its parameters, or the default for None.

        Examples
        --------
        >>> Reading.of({"decimal": ","}).decimal
        ','
        """
        if read is None:
            return STANDARD
        if isinstance(read, cls):
            return read
        if not isinstance(read, Mapping):
            raise ParameterTypeError(
                "read", "be a dict or a Reading", kind(read), "Use {read}.", read={"decimal": ","}
            )
        known = [f.name for f in fields(cls)]
        for name in read:
            if name not in known:
                raise ParameterError(
                    "read", f"hold only {', '.join(known)}", given(name), "Use {read}.",
                    read={"decimal": ","},
                )  # fmt: skip
        try:
            return cls(**read)
        except ParameterError as error:
            must = f"{error.name} must {error.must}"
            tries = {**read, **error.tries}
            raise ParameterError("read", must, error.got, "Use {read}.", read=tries) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that differ from the defaults, as JSON.

        Examples
        --------
        >>> Reading(thousands=",", symbols=["€"]).to_dict()
        {'thousands': ',', 'symbols': ['€']}
        """
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in own.items()
            if value != getattr(STANDARD, name)
        }

    @property
    def point(self) -> str:
        """The decimal mark."""
        return self.decimal or "."

    @property
    def writes_numbers(self) -> bool:
        """Whether a format of numbers in text is declared."""
        return self.decimal is not None or bool(self.thousands or self.symbols)

    @cached_property
    def is_standard(self) -> bool:
        """Whether numbers are written as in Python."""
        return (self.point, self.thousands, self.symbols) == (".", "", ())

    @cached_property
    def dates(self) -> DateFormat:
        """The format of dates."""
        return ISO if self.date_format is None else DateFormat(self.date_format)

    def instant(self, v: object) -> int | None:
        """Return a value as a date or a time; see `sourdine.calendar`."""
        return read_instant(v, self.dates)

    @cached_property
    def pattern(self) -> str:
        """The pattern of a number, its sign and its groups of digits, for Python and DuckDB."""
        digits, point = "[0-9]+", re.escape(self.point)
        if self.thousands:
            mark = f"[{_THOUSANDS[self.thousands]}]"
            digits = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+"
        number = rf"(?:(?:{digits})(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        infinite = "[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
        before = after = ""
        if self.symbols:
            symbol = "|".join(map(re.escape, sorted(self.symbols, key=len, reverse=True)))
            before, after = f"(?:(?:{symbol}){_GAP})?", f"(?:{_GAP}(?:{symbol}))?"
        return f"{BLANKS}{before}([+-]?){before}({number}|{infinite}){after}{BLANKS}"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @property
    def marks(self) -> str:
        """The decimal mark, followed by the characters dropped between digits."""
        return self.point + _THOUSANDS[self.thousands]

    def number(self, v: object) -> int | float | None:
        """Return a value as a number, by the declared format; see `read_number`."""
        if self.is_standard or not isinstance(v, str):
            return read_number(v)
        found = self._compiled.fullmatch(v)
        if found is None:
            return None
        dropped = dict.fromkeys(map(ord, self.marks[1:]))
        return read_number(found[1] + found[2].translate({**dropped, ord(self.point): "."}))


def _require(value: object, name: str, known: tuple[object, ...], example: object) -> None:
    if not any(type(value) is type(each) and value == each for each in known):
        listed = ", ".join(map(repr, known[:-1]))
        raise ParameterError(
            name, f"be {listed} or {known[-1]!r}", given(value), f"Use {{{name}}}.",
            **{name: example},
        )  # fmt: skip


def _texts(values: object, name: str, example: tuple[str, ...]) -> tuple[str, ...]:
    """Return distinct texts, given as a list or between commas."""
    listed = values.split(",") if isinstance(values, str) else values
    texts = tuple(listed) if isinstance(listed, (list, tuple)) else (None,)
    texts = tuple(t.strip() if isinstance(t, str) else t for t in texts)
    if not all(isinstance(t, str) and t for t in texts) or len(set(texts)) < len(texts):
        raise ParameterError(
            name, "be different strings", given(values), f"Use {{{name}}}.", **{name: list(example)}
        )
    return texts


def _encoding(name: object) -> str:
    """Return an encoding in which no record changes how the next is read."""
    try:
        found = codecs.lookup(name).name.removesuffix("-sig") if isinstance(name, str) else ""
    except (LookupError, ValueError):
        found = ""
    if not (found in _WIDE or _NARROW.fullmatch(found)):
        raise ParameterError(
            "encoding", "be a Python encoding that can be read line by line", given(name),
            "Use {encoding}, or another such as utf-16.", encoding="cp1252",
        )  # fmt: skip
    return found


STANDARD = Reading()
"""UTF-8, a header, and numbers as in Python."""
