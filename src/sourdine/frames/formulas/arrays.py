"""Formulas by NumPy: this back end defines what a formula means."""

from __future__ import annotations

import re
from functools import reduce
from operator import add, and_, eq, le, lt, mul, or_, sub
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attrs import frozen

from sourdine.calendar import DAY, FIRST, LAST, NOWHERE, moment, read_instant
from sourdine.frames.formulas.tree import (
    BLANKS,
    BOOLEAN,
    CLOCK,
    DATE,
    FLOAT,
    INSTANTS,
    INTEGER,
    LOWER,
    SIZES,
    TEXT,
    UPPER,
    cases,
)
from sourdine.frames.memory import NUMBERS, CodedText, Column, moments
from sourdine.frames.reading import as_float, read_number, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from numbers import Real

    from numpy.typing import NDArray

    from sourdine.frames.cells import Whole
    from sourdine.frames.formulas.tree import Formula, Type

    Flags = NDArray[np.bool_]
    Step = Callable[[Formula, list["Values"]], "Values"]


_INT64 = 1 << 63
_LOWER, _UPPER = str.maketrans(LOWER), str.maketrans(UPPER)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@frozen(eq=False)
class Values:
    """Values of one type, one for each row, or one for all.

    Texts are places in ``texts``, where a missing one is None. A missing float is NaN, and ``gone``
    says which other values are missing; None if none are.
    """

    data: NDArray[Any]
    gone: Flags | None = None
    texts: Sequence[str | None] = ()


def _either(*flags: Flags | None) -> Flags | None:
    some = [one for one in flags if one is not None]
    return reduce(np.logical_or, some) if some else None


class Arrays:
    """Computes the values of typed trees over columns of some rows; each step once."""

    def __init__(self, columns: Mapping[str, Column], rows: int) -> None:
        self._columns, self._rows = columns, rows
        self._known: dict[Formula, Values] = {}

    def column(self, node: Formula) -> Column:
        """Return the values of a formula as a column."""
        found = self.values(node)
        data = np.broadcast_to(found.data, (self._rows,))
        gone = None if found.gone is None else np.broadcast_to(found.gone, (self._rows,))
        if node.type is TEXT:
            texts = list(found.texts)
            return CodedText((texts, data), lambda: np.array(texts, object)[data])
        if node.type in INSTANTS:
            instants = data if gone is None else np.where(gone, NOWHERE, data)
            return moments(instants, date=node.type is DATE)
        return Column(data, gone, holds=NUMBERS)

    def kept(self, node: Formula) -> Whole:
        """Return the rows for which a condition is true, and not missing."""
        found = self.values(node)
        true = found.data if found.gone is None else found.data & ~found.gone
        return np.flatnonzero(np.broadcast_to(true, (self._rows,)))

    def values(self, node: Formula) -> Values:
        """Return the values of a step."""
        if node not in self._known:
            with np.errstate(all="ignore"):
                self._known[node] = self._computed(node)
        return self._known[node]

    def _computed(self, node: Formula) -> Values:
        if node.operation == "column":
            return _read(self._columns[node.value], node.type)
        if node.operation == "constant":
            return _constant(node.value, node.type)
        own = [self.values(one) for one in node.arguments]
        return _STEPS[node.operation](node, own)


# ---- Columns and constants -----------------------------------------------------------------------


def _read(column: Column, kind: Type | None) -> Values:
    if kind is TEXT:
        texts, which = column.coded
        return Values(which, None, texts)
    if kind is FLOAT:
        return Values(column.floats)
    if kind is INTEGER:
        return _integers(column)
    if kind in INSTANTS:
        instants = column.instants
        gone = (instants < FIRST) | (instants > LAST)
        return Values(np.where(gone, 0, instants), gone)
    if column.kind == "b":
        return Values(column.data, column.gone)
    texts, which = column.coded
    known = [None if text is None else _TRUTH.get(text.lower()) for text in texts]
    return _flags(known, which)


def _flags(known: Sequence[bool | None], which: Whole) -> Values:
    return _known(known, np.bool_, which)


def _known(values: Sequence[Any], kind: Any, which: Any = slice(None)) -> Values:
    """Return integers or truth values, of which None is missing, at the places of rows."""
    data = np.array([0 if v is None else v for v in values], kind)
    return Values(data[which], np.array([v is None for v in values], np.bool_)[which])


def _integers(column: Column) -> Values:
    x = column.numbers
    if x.dtype == np.uint64:
        beyond = (x >> np.uint64(63)).astype(np.bool_)
        return Values(np.where(beyond, 0, x).astype(np.int64), _either(column.gone, beyond))
    if x.dtype.kind in "iu":
        return Values(x.astype(np.int64), column.gone)
    if x.dtype.kind == "f":
        return _whole(x)
    there = (v if type(v) is int and -_INT64 <= v < _INT64 else None for v in x)
    return _known(list(there), np.int64)


def _constant(value: Any, kind: Type | None) -> Values:
    if kind is TEXT:
        return Values(np.array(0), None, [value])
    if kind is FLOAT:
        return Values(np.array(np.nan if value is None else value, np.float64))
    gone = np.array(True) if value is None else None  # noqa: FBT003
    return Values(np.array(value or 0, np.bool_ if kind is BOOLEAN else np.int64), gone)


def _is_float(x: Values) -> bool:
    return x.data.dtype.kind == "f"


def _gone(x: Values) -> Flags | None:
    """Return which values are missing."""
    if x.texts:
        return np.asarray(np.array([t is None for t in x.texts], np.bool_)[x.data], np.bool_)
    return np.asarray(np.isnan(x.data), np.bool_) if _is_float(x) else x.gone


# ---- Numbers -------------------------------------------------------------------------------------


def _arithmetic(
    whole: Callable[[Any, Any], tuple[Any, Any]], by_ieee: Callable[[Any, Any], Any]
) -> Step:
    def step(_: Formula, own: list[Values]) -> Values:
        a, b = own
        if _is_float(a):
            return Values(np.asarray(by_ieee(a.data, b.data)))
        data, beyond = whole(a.data, b.data)
        return Values(np.asarray(data), _either(a.gone, b.gone, np.asarray(beyond)))

    return step


def _add(a: Any, b: Any) -> tuple[Any, Any]:
    r = a + b
    return r, ((a ^ r) & (b ^ r)) < 0


def _subtract(a: Any, b: Any) -> tuple[Any, Any]:
    r = a - b
    return r, ((a ^ b) & (a ^ r)) < 0


def _multiply(a: Any, b: Any) -> tuple[Any, Any]:
    """Multiply exactly: where a float says that 64 bits may be too few, as Python integers."""
    r = np.asarray(a * b)
    near = np.abs(np.asarray(a, np.float64) * b) >= float(1 << 62)
    beyond = np.zeros(r.shape, np.bool_)
    if near.any():
        x, y = (np.broadcast_to(one, r.shape)[near].astype(object) for one in (a, b))
        beyond[near] = [not -_INT64 <= v < _INT64 for v in x * y]
    return r, beyond


def _quotient(a: Any, b: Any) -> tuple[Any, Any]:
    beyond = (b == 0) | ((b == -1) & (a == -_INT64))
    return a // np.where(beyond, 1, b), beyond


def _remainder(a: Any, b: Any) -> tuple[Any, Any]:
    none = b == 0
    return np.fmod(a, np.where(none | (b == -1), 1, b)), none


def _divided(a: Any, b: Any) -> Any:
    return np.where(b == 0, np.nan, a / b)


def _float(_: Formula, own: list[Values]) -> Values:
    data, gone = own[0].data.astype(np.float64), own[0].gone
    return Values(data if gone is None else np.where(gone, np.nan, data))


def _whole(x: NDArray[Any]) -> Values:
    whole = np.trunc(x)
    there = (whole >= -float(_INT64)) & (whole < float(_INT64))  # false for NaN
    return Values(np.where(there, whole, 0).astype(np.int64), ~there)


def _round(x: Any) -> Any:
    """Round to a whole number, halves away from zero: the difference is exact."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)


def _sized(f: Callable[[Any], Any]) -> Step:
    """Return a step that keeps the size of a number; the least integer has no counterpart."""

    def step(_: Formula, own: list[Values]) -> Values:
        (a,) = own
        gone = None if _is_float(a) else _either(a.gone, a.data == -_INT64)
        return Values(f(a.data), gone)

    return step


def _of_float(f: Callable[[Any], Any]) -> Step:
    return lambda _, own: Values(np.asarray(f(own[0].data)))


# ---- Conditions ----------------------------------------------------------------------------------


def _compare(f: Callable[[Any, Any], Any]) -> Step:
    def step(node: Formula, own: list[Values]) -> Values:
        a, b = own
        if node.arguments[0].type is TEXT:
            return _truths(a, b, f)
        return Values(np.asarray(f(a.data, b.data)), _either(_gone(a), _gone(b)))

    return step


def _paired(a: Values, b: Values) -> tuple[list[tuple[str | None, str | None]], Whole]:
    """Return the pairs of texts that occur, and the place of each row's pair."""
    n = max(len(b.texts), 1)
    pairs = np.asarray(a.data * n + b.data, np.int64)
    distinct, which = np.unique(pairs, return_inverse=True)
    found = [(a.texts[p // n], b.texts[p % n]) for p in distinct.tolist()]
    return found, which.reshape(pairs.shape)


def _truths(a: Values, b: Values, f: Callable[[Any, Any], Any]) -> Values:
    pairs, which = _paired(a, b)
    return _flags([None if x is None or y is None else bool(f(x, y)) for x, y in pairs], which)


def _among(node: Formula, own: list[Values]) -> Values:
    x, *listed = own
    if node.arguments[0].type is TEXT:
        wanted = {one.texts[0] for one in listed}
        return _flags([None if text is None else text in wanted for text in x.texts], x.data)
    found = np.isin(x.data, np.array([one.data for one in listed], x.data.dtype))
    return Values(found, _gone(x))


def _truth(x: Values) -> tuple[Any, Any]:
    """Return which values are true, and which are false."""
    if x.gone is None:
        return x.data, ~x.data
    return x.data & ~x.gone, ~x.data & ~x.gone


def _logic(true: Callable[[Any, Any], Any], false: Callable[[Any, Any], Any]) -> Step:
    def step(_: Formula, own: list[Values]) -> Values:
        (a, not_a), (b, not_b) = map(_truth, own)
        yes = np.asarray(true(a, b))
        return Values(yes, np.asarray(~(yes | false(not_a, not_b))))

    return step


def _not(_: Formula, own: list[Values]) -> Values:
    return Values(~own[0].data, own[0].gone)


def _missing(_: Formula, own: list[Values]) -> Values:
    gone = _gone(own[0])
    return Values(np.array(False) if gone is None else gone)  # noqa: FBT003


def _choose(node: Formula, own: list[Values]) -> Values:
    found = own[-1]
    for condition, value in reversed(cases(own)):
        found = _where(_truth(condition)[0], value, found, node.type)
    return found


def _coalesce(node: Formula, own: list[Values]) -> Values:
    *first, found = own
    for value in reversed(first):
        gone = _gone(value)
        found = value if gone is None else _where(~gone, value, found, node.type)
    return found


def _where(condition: Any, a: Values, b: Values, kind: Type | None) -> Values:
    if kind is TEXT:
        places = np.where(condition, a.data, b.data + len(a.texts))
        return Values(places, None, [*a.texts, *b.texts])
    data = np.where(condition, a.data, b.data)
    if kind is FLOAT or (a.gone is None and b.gone is None):
        return Values(data)
    gone = (np.array(False) if own is None else own for own in (a.gone, b.gone))  # noqa: FBT003
    return Values(data, np.where(condition, *gone))


# ---- Texts ---------------------------------------------------------------------------------------


def _text(f: Callable[[Formula, str], str]) -> Step:
    """Return a step from a text to a text; one that becomes empty is missing."""

    def step(node: Formula, own: list[Values]) -> Values:
        (x,) = own
        texts = [None if text is None else f(node, text) or None for text in x.texts]
        return Values(x.data, None, texts)

    return step


def _trim(node: Formula, text: str) -> str:
    strip = {"both": text.strip, "left": text.lstrip, "right": text.rstrip}[node.value]
    return strip(BLANKS)


def _substring(node: Formula, text: str) -> str:
    first, long = node.value
    return text[first - 1 :] if long is None else text[first - 1 : first - 1 + long]


def _length(_: Formula, own: list[Values]) -> Values:
    (x,) = own
    sizes = np.array([0 if text is None else len(text) for text in x.texts], np.int64)
    return Values(sizes[x.data], _gone(x))


def _join(_: Formula, own: list[Values]) -> Values:
    pairs, which = _paired(*own)
    return Values(which, None, [None if a is None or b is None else a + b for a, b in pairs])


def _holding(f: Callable[[str, str], bool]) -> Step:
    return lambda _, own: _truths(own[0], own[1], f)


def _like(node: Formula, own: list[Values]) -> Values:
    (x,) = own
    wild = {"%": ".*", "_": "."}
    form = re.compile("".join(wild.get(c, re.escape(c)) for c in node.value), re.DOTALL)
    known = [None if text is None else form.fullmatch(text) is not None for text in x.texts]
    return _flags(known, x.data)


def _number_of(_: Formula, own: list[Values]) -> Values:
    found = (None if text is None else read_number(text) for text in own[0].texts)
    known = [np.nan if number is None else as_float(cast("Real", number)) for number in found]
    return Values(np.array(known, np.float64)[own[0].data])


def _time_of(_: Formula, own: list[Values]) -> Values:
    found = [None if text is None else read_instant(text) for text in own[0].texts]
    return _known(found, np.int64, own[0].data)


def _text_of(node: Formula, own: list[Values]) -> Values:
    (x,) = own
    kind = node.arguments[0].type
    gone, data = _gone(x), np.asarray(x.data)
    safe = data if gone is None else np.where(gone, data.dtype.type(0), data)
    distinct, which = np.unique(safe, return_inverse=True)
    values: list[Any] = distinct.tolist()
    if kind in INSTANTS:
        values = [moment(v, date=kind is DATE) for v in values]
    texts = [*map(read_text, values), None]
    which = which.reshape(data.shape)
    return Values(which if gone is None else np.where(gone, len(texts) - 1, which), None, texts)


# ---- Dates ---------------------------------------------------------------------------------------


def _instant(_: Formula, own: list[Values]) -> Values:
    (x,) = own
    outside = (x.data < FIRST) | (x.data > LAST)
    return Values(np.where(outside, 0, x.data), _either(x.gone, outside))


def _months(micros: Any) -> Any:
    """Return months since the year 0."""
    days = np.asarray(micros // DAY).astype("datetime64[D]")
    return days.astype("datetime64[M]").astype(np.int64) + 1970 * 12


def _days(months: Any) -> Any:
    """Return the days from 1970 to the start of months since the year 0."""
    start = np.asarray(months - 1970 * 12).astype("datetime64[M]")
    return start.astype("datetime64[D]").astype(np.int64)


def _part(node: Formula, own: list[Values]) -> Values:
    (x,) = own
    t, name = x.data, node.value
    if name in CLOCK:
        unit, most = CLOCK[name]
        return Values(np.asarray(t // unit % most), x.gone)
    months, days = _months(t), t // DAY
    if name in {"day", "day_of_year"}:
        first = months if name == "day" else months // 12 * 12
        return Values(np.asarray(days - _days(first) + 1), x.gone)
    found = {
        "year": months // 12,
        "quarter": months % 12 // 3 + 1,
        "month": months % 12 + 1,
        "weekday": (days + 3) % 7 + 1,
    }[name]
    return Values(np.asarray(found), x.gone)


_EACH = {"year": 12, "quarter": 3, "month": 1}


def _start(node: Formula, own: list[Values]) -> Values:
    (x,) = own
    t, unit = x.data, node.value
    if unit in _EACH:
        each = _EACH[unit]
        return Values(np.asarray(_days(_months(t) // each * each) * DAY), x.gone)
    if unit == "week":
        days = t // DAY
        return Values(np.asarray((days - (days + 3) % 7) * DAY), x.gone)
    return Values(np.asarray(t - t % SIZES[unit]), x.gone)


def _date_of(_: Formula, own: list[Values]) -> Values:
    year, month, day = (x.data for x in own)
    there = (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(there, year * 12 + month - 1, 1970 * 12)
    first, after = _days(months), _days(months + 1)
    there &= day <= after - first
    found = (first + np.where(there, day, 1) - 1) * DAY
    return Values(np.where(there, found, 0), _either(~there, *(x.gone for x in own)))


def _looked_up(node: Formula, own: list[Values]) -> Values:
    """Return what a public table says of each text; missing where it says nothing."""
    (x,) = own
    known = dict(node.value)
    found = [None if text is None else known.get(text) for text in x.texts]
    if node.type is TEXT:
        return Values(x.data, None, found)
    if node.type is FLOAT:
        return Values(np.array([np.nan if v is None else v for v in found], np.float64)[x.data])
    return _known(found, np.bool_ if node.type is BOOLEAN else np.int64, x.data)


_STEPS: dict[str, Step] = {
    "add": _arithmetic(_add, add),
    "subtract": _arithmetic(_subtract, sub),
    "multiply": _arithmetic(_multiply, mul),
    "quotient": _arithmetic(_quotient, lambda a, b: np.floor(_divided(a, b))),
    "remainder": _arithmetic(_remainder, lambda a, b: a - b * np.trunc(_divided(a, b))),
    "divide": lambda _, own: Values(np.asarray(_divided(own[0].data, own[1].data))),
    "negate": _sized(np.negative), "abs": _sized(np.abs), "float": _float,
    "whole": lambda _, own: _whole(own[0].data),
    "round": _of_float(_round), "floor": _of_float(np.floor), "ceil": _of_float(np.ceil),
    "sqrt": _of_float(np.sqrt),
    "equal": _compare(eq), "less": _compare(lt), "at_most": _compare(le),
    "among": _among, "and": _logic(and_, or_), "or": _logic(or_, and_), "not": _not,
    "missing": _missing, "choose": _choose, "coalesce": _coalesce,
    "lower": _text(lambda _, text: text.translate(_LOWER)),
    "upper": _text(lambda _, text: text.translate(_UPPER)),
    "trim": _text(_trim), "substring": _text(_substring),
    "right": _text(lambda node, text: text[-node.value :]),
    "replace": _text(lambda node, text: text.replace(*node.value)),
    "length": _length, "join": _join, "like": _like,
    "starts": _holding(str.startswith), "ends": _holding(str.endswith),
    "contains": _holding(str.__contains__),
    "number_of": _number_of, "time_of": _time_of, "text_of": _text_of,
    "instant": _instant, "part": _part, "start": _start, "date_of": _date_of,
    "looked_up": _looked_up,
}  # fmt: skip
