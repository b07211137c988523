"""Formulas as expressions of Spark, where these are exact; the rest executors compute by NumPy.

A missing value is NULL, also where it is a float: NaN becomes NULL wherever it may arise. Integers
are added, subtracted and multiplied by the functions that give NULL beyond 64 bits. Dates and times
are microseconds. Nothing raises in the mode in which Spark raises where a value has no result.
"""

from __future__ import annotations

from functools import reduce
from operator import add, mul, sub
from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY, FIRST, LAST
from sourdine.frames.formulas.tree import (
    BLANKS,
    BOOLEAN,
    CLOCK,
    COLUMN_STEPS,
    DATE,
    FLOAT,
    INSTANTS,
    INTEGER,
    LOWER,
    SIZES,
    TEXT,
    TIME,
    UPPER,
    WHOLE,
    NotExactError,
    Writer,
    cases,
)
from sourdine.frames.spark.cells import TIMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.frames.formulas.tree import Formula, Step, Type
    from sourdine.frames.spark.cells import Expressions


MANY = 200
"""Larger tables are looked up by NumPy."""
LARGEST = 100
"""Expressions of more steps are left to NumPy: Spark would plan for longer than it saves."""
_INT64, _EXACT = 2.0**63, 2.0**53
_LENGTHS = 1 << 31
_REPEATED = {
    "negate": 1, "abs": 3, "quotient": 7, "remainder": 6, "floor": 3, "ceil": 3, "whole": 5,
    "instant": 2, "part": 3, "start": 3, "looked_up": 2,
}  # fmt: skip
"""How often a step writes its arguments, where that is more than once."""


class SparkOf(Writer):
    """Writes typed formulas over the columns of a frame.

    ``places`` are the names of columns in the frame, and ``kinds`` their kinds.
    """

    def __init__(self, e: Expressions, places: Mapping[str, str], kinds: Mapping[str, str]) -> None:
        self.e, self.f, self.steps = e, e.functions, _STEPS
        self._places, self._kinds = places, kinds

    def column(self, node: Formula) -> Any:
        """Return the expression of a derived column."""
        x = self.write(node)
        if node.type is DATE:
            return self.date(x)
        return self.f.timestamp_micros(x) if node.type is TIME else x

    def is_long(self, node: Formula) -> bool:
        return node.size(_REPEATED) > LARGEST

    def named(self, name: str, need: Type | None) -> Any:
        f, kind = self.f, self._kinds[name]
        c = self.e.plain(self._places[name], kind)
        if need is INTEGER and kind == "integer":
            return c.cast("bigint")
        if need is FLOAT and kind == "float":
            return self.present(c.cast("double"))
        if need is BOOLEAN and kind == "boolean":
            return c
        if need is TEXT and kind == "text":
            return f.nullif(f.try_validate_utf8(c), f.lit(""))
        if need in INSTANTS and kind in TIMES:
            t, inside = self.e.near(c, kind)
            return f.when(inside, t)
        raise NotExactError

    def constant(self, value: Any, kind: Type | None) -> Any:
        if value is None:
            types = {FLOAT: "double", BOOLEAN: "boolean", TEXT: "string"}
            return self.f.lit(None).cast("bigint" if kind in WHOLE or not kind else types[kind])
        if kind is TEXT:
            return self.f.collate(self.f.lit(value), "UTF8_BINARY")
        return self.e.whole(value) if kind in WHOLE else self.f.lit(value)

    # ---------------------------------------------------------------- parts of steps

    def present(self, x: Any) -> Any:
        """Write a float, NULL where it is NaN."""
        return self.f.nanvl(x, self.f.lit(None).cast("double"))

    def small(self, x: Any, of: Callable[[Any], Any]) -> Any:
        """Write a function of floats to whole numbers, which leaves large ones as they are."""
        f = self.f
        return f.when(f.abs(x) < f.lit(_EXACT), of(x).cast("double")).otherwise(x)

    def trunc(self, x: Any) -> Any:
        return self.small(x, lambda own: own.try_cast("bigint"))

    def negative(self, x: Any) -> Any:
        return self.f.try_subtract(self.e.whole(0), x)

    def divided(self, a: Any, b: Any) -> Any:
        """Write the quotient of floats, NULL if the divisor is 0."""
        return self.present(self.f.try_divide(a, b))

    def days(self, t: Any) -> Any:
        """Write the days since 1970, rounded down."""
        return self.e.quotient(t - self.f.pmod(t, self.e.whole(DAY)), DAY)

    def date(self, t: Any) -> Any:
        return self.f.date_from_unix_date(self.days(t).cast("int"))

    def filled(self, x: Any) -> Any:
        """Write a text, NULL where it is empty."""
        return self.f.nullif(x, self.f.lit(""))


def _arithmetic(name: str, of: Callable[[Any, Any], Any]) -> Step:
    def step(to: SparkOf, node: Formula, own: list[Any]) -> Any:
        return to.present(of(*own)) if node.of_floats else getattr(to.f, name)(*own)

    return step


def _safe(to: SparkOf, b: Any) -> Any:
    """Write a divisor, NULL if it is 0 or -1, of which the least number has no quotient."""
    return to.f.when((b != to.e.whole(0)) & (b != to.e.whole(-1)), b)


def _quotient(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    a, b = own
    if node.of_floats:
        return to.small(to.divided(a, b), to.f.floor)
    zero, one, safe = to.e.whole(0), to.e.whole(1), _safe(to, b)
    rest = a % safe
    down = (rest != zero) & ((rest < zero) != (safe < zero))
    found = to.f.call_function("div", a, safe) - to.f.when(down, one).otherwise(zero)
    return to.f.when(b == to.e.whole(-1), to.negative(a)).otherwise(found)


def _remainder(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    a, b = own
    if node.of_floats:
        return to.present(a - b * to.trunc(to.divided(a, b)))
    none = (b == to.e.whole(-1)) & a.isNotNull()
    return to.f.when(none, to.e.whole(0)).otherwise(a % _safe(to, b))


def _negate(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    return -own[0] if node.of_floats else to.negative(own[0])


def _abs(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    (x,) = own
    if node.of_floats:
        return to.f.abs(x)
    return to.f.when(x < to.e.whole(0), to.negative(x)).otherwise(x)


def _float(_: SparkOf, node: Formula, own: list[Any]) -> Any:
    x = own[0].cast("int") if node.arguments[0].type is BOOLEAN else own[0]
    return x.cast("double")


def _whole(to: SparkOf, _: Formula, own: list[Any]) -> Any:
    (x,) = own
    there = (x >= to.f.lit(-_INT64)) & (x < to.f.lit(_INT64))
    return to.f.when(there, x.try_cast("bigint"))


def _instant(to: SparkOf, _: Formula, own: list[Any]) -> Any:
    return to.f.when(own[0].between(to.e.whole(FIRST), to.e.whole(LAST)), own[0])


def _choose(to: SparkOf, _: Formula, own: list[Any]) -> Any:
    first, *pairs = cases(own)
    return reduce(lambda found, pair: found.when(*pair), pairs, to.f.when(*first)).otherwise(
        own[-1]
    )


# ---- Texts ---------------------------------------------------------------------------------------


def _cased(letters: Mapping[str, str]) -> Step:
    old, new = "".join(letters), "".join(letters.values())
    return lambda to, _, own: to.f.translate(own[0], old, new)


def _trim(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    f = to.f
    function = {"both": f.btrim, "left": f.ltrim, "right": f.rtrim}[node.value]
    return to.filled(function(own[0], f.lit(BLANKS)))


def _substring(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    first, long = node.value
    if max(first, long or 0) >= _LENGTHS:
        raise NotExactError
    ends = [to.f.lit(n) for n in (first, long) if n is not None]
    return to.filled(to.f.substr(own[0], *ends))


def _right(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    if node.value >= _LENGTHS:
        raise NotExactError
    return to.filled(to.f.right(own[0], to.f.lit(node.value)))


def _replace(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    old, new = map(to.f.lit, node.value)
    return to.filled(to.f.replace(own[0], old, new))


def _like(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    return to.f.like(own[0], to.f.lit(node.value.replace("\\", "\\\\")))


def _text_of(_: SparkOf, node: Formula, own: list[Any]) -> Any:
    if node.arguments[0].type not in {INTEGER, BOOLEAN}:
        raise NotExactError
    return own[0].cast("string")


def _looked_up(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    """Write a look-up: the place of a text among listed ones, and the value at that place."""
    if len(node.value) > MANY or not node.value:
        raise NotExactError
    f = to.f
    texts = f.array(*(to.constant(text, TEXT) for text, _ in node.value))
    values = f.array(*(to.constant(value, node.type) for _, value in node.value))
    return f.get(values, f.array_position(texts, own[0]).cast("int") - f.lit(1))


# ---- Dates ---------------------------------------------------------------------------------------


def _part(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    f, (t,) = to.f, own
    if node.value in CLOCK:
        unit, most = CLOCK[node.value]
        return to.e.quotient(f.pmod(t, to.e.whole(DAY)), unit) % to.e.whole(most)
    date = to.date(t)
    if node.value == "weekday":
        return f.weekday(date).cast("bigint") + to.e.whole(1)
    name = {"day_of_year": "dayofyear", "day": "dayofmonth"}.get(node.value, node.value)
    return getattr(f, name)(date).cast("bigint")


def _start(to: SparkOf, node: Formula, own: list[Any]) -> Any:
    (t,), whole = own, to.e.whole
    if node.value in SIZES:
        return t - to.f.pmod(t, whole(SIZES[node.value]))
    if node.value == "week":
        days = to.days(t)
        return (days - to.f.pmod(days + whole(3), whole(7))) * whole(DAY)
    start = to.f.trunc(to.date(t), node.value)
    return to.f.unix_date(start).cast("bigint") * whole(DAY)


_STEPS: dict[str, Step] = {
    "add": _arithmetic("try_add", add), "subtract": _arithmetic("try_subtract", sub),
    "multiply": _arithmetic("try_multiply", mul),
    "divide": lambda to, _, own: to.divided(*own),
    "quotient": _quotient, "remainder": _remainder, "negate": _negate, "abs": _abs,
    "round": lambda to, _, own: to.f.round(own[0], 0),
    "floor": lambda to, _, own: to.small(own[0], to.f.floor),
    "ceil": lambda to, _, own: to.small(own[0], to.f.ceil),
    "sqrt": lambda to, _, own: to.present(to.f.sqrt(own[0])),
    "float": _float, "whole": _whole, "instant": _instant,
    **COLUMN_STEPS, "missing": lambda _, __, own: own[0].isNull(),
    "choose": _choose, "coalesce": lambda to, _, own: to.f.coalesce(*own),
    "lower": _cased(LOWER), "upper": _cased(UPPER), "trim": _trim, "substring": _substring,
    "right": _right, "replace": _replace, "like": _like, "text_of": _text_of,
    "length": lambda to, _, own: to.f.char_length(own[0]).cast("bigint"),
    "join": lambda to, _, own: to.f.concat(*own),
    "starts": lambda to, _, own: to.f.startswith(*own),
    "ends": lambda to, _, own: to.f.endswith(*own),
    "contains": lambda to, _, own: to.f.contains(*own),
    "part": _part, "start": _start, "looked_up": _looked_up,
}  # fmt: skip
