"""Formulas of one row in plain Python, written apart from the library's back ends.

A value is an int, a float, a bool, a str, or a tuple ("date" or "time", microseconds) or
("duration", microseconds); None is missing. It reads the typed tree, so it checks what steps
compute, and not how they got their types.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
from fractions import Fraction

from sourdine.frames.formulas.tree import Type
from sourdine.frames.reading import read_number, read_text

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001
MICRO = dt.timedelta(microseconds=1)
LAST = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
LOW, HIGH = (dt.datetime(1, 1, 1) - EPOCH) // MICRO, (LAST - EPOCH) // MICRO  # noqa: DTZ001
BLANKS = " \t\n\r\f\v"


def moment(micros):
    return EPOCH + dt.timedelta(microseconds=micros)


def micros(time):
    return (time - EPOCH) // MICRO


def as_read(v, kind):  # noqa: PLR0911 - a case each
    """Return a Python value of a column as a value of a type."""
    if kind is Type.TEXT:
        return read_text(v)
    if kind is Type.FLOAT:
        number = read_number(v)
        if number is None:
            return None
        try:
            return float(number)
        except OverflowError:
            return math.copysign(math.inf, number)
    if kind is Type.INTEGER:
        return v if v is not None and -(2**63) <= v < 2**63 else None
    if kind is Type.BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(
            (read_text(v) or "").lower()
        )
    if v is None:
        return None
    if isinstance(v, str):
        return of_text(v)
    time = v if isinstance(v, dt.datetime) else dt.datetime(v.year, v.month, v.day)  # noqa: DTZ001
    return micros(time)


def of_text(text):
    try:
        text = text.strip(BLANKS)
        return micros(dt.datetime.fromisoformat(text)) if text[4:5] == "-" else None
    except ValueError:
        return None


def whole(v):
    return v if v is not None and -(2**63) <= v < 2**63 else None


def real(v):
    return None if v is None or math.isnan(v) else v


def ieee(f):
    """Return a float operation in which Python's own errors are IEEE's infinities or NaN."""

    def g(a, b):
        try:
            return real(f(a, b))
        except OverflowError:
            return None

    return g


def divide(a, b):
    return None if b == 0 else real(a / b)


def floor(x):
    return x if math.isinf(x) else float(math.floor(x))


def quotient(a, b, kind):
    if b == 0:
        return None
    if kind is Type.FLOAT:
        q = divide(a, b)
        return None if q is None else floor(q)
    return whole(math.floor(Fraction(a, b)))


def remainder(a, b, kind):
    if b == 0:
        return None
    if kind is Type.FLOAT:
        q = divide(a, b)
        whole = q if q is None or math.isinf(q) else float(math.trunc(q))
        return None if q is None else real(a - b * whole)
    return a - b * math.trunc(Fraction(a, b))


def rounded(x):
    if math.isinf(x):
        return x
    size = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    return math.copysign(float(size), x)


def truncated(x):
    return None if math.isinf(x) else whole(math.trunc(x))


PARTS = {
    "year": lambda t: t.year, "quarter": lambda t: (t.month + 2) // 3, "month": lambda t: t.month,
    "day": lambda t: t.day, "weekday": lambda t: t.isoweekday(), "hour": lambda t: t.hour,
    "day_of_year": lambda t: t.timetuple().tm_yday, "minute": lambda t: t.minute,
    "second": lambda t: t.second,
}  # fmt: skip


def start(t, unit):
    t = t.replace(microsecond=0)
    for own, blank in (("second", {}), ("minute", {"second": 0}), ("hour", {"minute": 0})):
        t = t.replace(**blank)
        if unit == own:
            return t
    t = t.replace(hour=0)
    if unit == "week":
        return t - dt.timedelta(days=t.weekday())
    month = {"year": 1, "quarter": t.month - (t.month - 1) % 3}.get(unit, t.month)
    return t if unit == "day" else t.replace(month=month, day=1)


def date_of(year, month, day):
    if not (1 <= year <= 9999 and 1 <= month <= 12):
        return None
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return micros(dt.datetime(year, month, day))  # noqa: DTZ001


def cased(text, to_upper):
    """Change letters that have one counterpart, in the scripts that have been stable."""

    def one(c):
        other = c.upper() if to_upper else c.lower()
        back = other.lower() if to_upper else other.upper()
        i = min(ord(c), ord(other[0]))
        upper = ord(other[0]) if to_upper else ord(c)
        listed = 0x41 <= upper < 0x590 or 0x1E00 <= upper < 0x2000 or 0xFF21 <= upper < 0xFF5B
        return other if i and len(other) == 1 and back == c and listed else c

    return "".join(map(one, text))


def like(text, form):
    """Match % and _ by dynamic programming."""
    ends = {0}
    for c in form:
        if c == "%":
            ends = set(range(min(ends, default=len(text) + 1), len(text) + 1))
        else:
            ends = {i + 1 for i in ends if i < len(text) and c in ("_", text[i])}
    return len(text) in ends


def text_of(v, kind):
    if kind in {Type.DATE, Type.TIME}:
        time = moment(v)
        return time.date().isoformat() if kind is Type.DATE else time.isoformat(" ")
    return read_text(v)


def value(node, row):  # noqa: PLR0911
    """Return the value of a typed tree for a row, a dict of Python values."""
    step = node.operation
    if step == "column":
        return as_read(row[node.value], node.type)
    if step == "constant":
        return node.value
    own = [value(one, row) for one in node.arguments]
    if step == "missing":
        return own[0] is None
    if step == "and":
        return False if False in own else None if None in own else True
    if step == "or":
        return True if True in own else None if None in own else False
    if step == "coalesce":
        return next((v for v in own if v is not None), None)
    if step == "choose":
        cases = zip(own[:-1:2], own[1::2], strict=True)
        return next((v for condition, v in cases if condition), own[-1])
    if None in own:
        return None
    kind = node.arguments[0].type
    a, b, c = (*own, None, None)[:3] if len(own) < 3 else own[:3]
    floats = kind is Type.FLOAT
    simple = {
        "add": lambda: real(a + b) if floats else whole(a + b),
        "subtract": lambda: real(a - b) if floats else whole(a - b),
        "multiply": lambda: real(a * b) if floats else whole(a * b),
        "divide": lambda: divide(a, b),
        "quotient": lambda: quotient(a, b, kind),
        "remainder": lambda: remainder(a, b, kind),
        "negate": lambda: -a if floats else whole(-a),
        "abs": lambda: abs(a) if floats else whole(abs(a)),
        "round": lambda: rounded(a),
        "floor": lambda: floor(a),
        "ceil": lambda: a if math.isinf(a) else float(math.ceil(a)),
        "sqrt": lambda: None if a < 0 else math.sqrt(a),
        "float": lambda: float(a),
        "whole": lambda: truncated(a),
        "equal": lambda: a == b,
        "less": lambda: a < b,
        "at_most": lambda: a <= b,
        "among": lambda: a in own[1:],
        "not": lambda: not a,
        "lower": lambda: cased(a, to_upper=False),
        "upper": lambda: cased(a, to_upper=True),
        "trim": lambda: {"both": a.strip, "left": a.lstrip, "right": a.rstrip}[node.value](BLANKS),
        "length": lambda: len(a),
        "substring": lambda: a[node.value[0] - 1 :][: node.value[1]],
        "right": lambda: a[-node.value :],
        "join": lambda: a + b,
        "replace": lambda: a.replace(*node.value),
        "starts": lambda: a[: len(b)] == b,
        "ends": lambda: len(a) >= len(b) and a[len(a) - len(b) :] == b,
        "contains": lambda: a.find(b) >= 0,
        "like": lambda: like(a, node.value),
        "number_of": lambda: as_read(a, Type.FLOAT),
        "time_of": lambda: of_text(a),
        "text_of": lambda: text_of(a, kind),
        "instant": lambda: a if LOW <= a <= HIGH else None,
        "part": lambda: PARTS[node.value](moment(a)),
        "start": lambda: micros(start(moment(a), node.value)),
        "date_of": lambda: date_of(a, b, c),
    }
    found = simple[step]()
    return None if found == "" else found


def text(node, row):
    """Return the text of a derived column in a row, as engines group by it."""
    found = value(node, row)
    return None if found is None else text_of(found, node.type)
