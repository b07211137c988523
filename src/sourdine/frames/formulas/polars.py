"""Formulas as expressions of Polars: arithmetic, comparisons, logic and choices.

A missing value is null, also where it is a float: NaN becomes null wherever it may arise. Integers
are computed with 128 bits and cast back to 64, where an overflow is null. Dates and times are
microseconds. What is not listed in `_STEPS` is left to NumPy.
"""

from __future__ import annotations

from operator import add, mul, sub
from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY, FIRST, LAST
from sourdine.frames.formulas.tree import (
    BOOLEAN,
    COLUMN_STEPS,
    DATE,
    FLOAT,
    INSTANTS,
    INTEGER,
    TEXT,
    TIME,
    WHOLE,
    NotExactError,
    Writer,
    cases,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.frames.formulas.tree import Formula, Step, Type


_INT64 = 2.0**63
LARGEST = 500
"""Expressions of more steps are left to NumPy: Polars copies what is written twice."""
_REPEATED = {
    "divide": 3, "quotient": 3, "remainder": 10, "round": 9, "whole": 9, "sqrt": 2, "instant": 2,
    "among": 3,
}  # fmt: skip
"""How often a step writes its arguments at most, where that is more than once."""


class PolarsOf(Writer):
    """Writes typed formulas over the columns of a frame, whose types these are."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        import polars as pl

        self.pl, self.steps, self._types = pl, _STEPS, types

    def column(self, node: Formula) -> Any:
        """Return the expression of a derived column."""
        x = self.write(node)
        if node.type is DATE:
            return (x // DAY).cast(self.pl.Int32).cast(self.pl.Date)
        return x.cast(self.pl.Datetime("us")) if node.type is TIME else x

    def is_long(self, node: Formula) -> bool:
        return node.size(_REPEATED) > LARGEST

    def constant(self, value: Any, kind: Type | None) -> Any:
        pl = self.pl
        others = {FLOAT: pl.Float64, BOOLEAN: pl.Boolean, TEXT: pl.String}
        return pl.lit(value, pl.Int64 if kind in WHOLE else others[kind or TEXT])

    def named(self, name: str, need: Type | None) -> Any:
        pl, dtype, c = self.pl, self._types[name], self.pl.col(name)
        whole = {
            *(pl.Int8, pl.Int16, pl.Int32, pl.Int64), pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64
        }  # fmt: skip
        if need is INTEGER and dtype in whole:
            return c.cast(pl.Int64, strict=False)
        if need is FLOAT and dtype in {pl.Float32, pl.Float64}:
            return c.cast(pl.Float64).fill_nan(None)
        if need is BOOLEAN and dtype == pl.Boolean:
            return c
        if need is TEXT and dtype == pl.String:
            return pl.when(c != "").then(c)
        if need in INSTANTS and dtype == pl.Date:
            days = c.cast(pl.Int64)
            return pl.when(days.is_between(FIRST // DAY, LAST // DAY)).then(days * DAY)
        if need in INSTANTS and dtype == pl.Datetime("us"):
            micros = c.cast(pl.Int64)
            return pl.when(micros.is_between(FIRST, LAST)).then(micros)
        raise NotExactError

    def wide(self, x: Any) -> Any:
        return x.cast(self.pl.Int128)

    def narrow(self, x: Any) -> Any:
        return x.cast(self.pl.Int64, strict=False)

    def divided(self, node: Formula, a: Any, b: Any) -> Any:
        """Write a quotient of floats, missing if the divisor is 0.

        Polars multiplies by the reciprocal of a single number, which rounds twice: so the divisor
        is made a column.
        """
        if not node.arguments[1].columns:
            if not node.arguments[0].columns:
                raise NotExactError
            b = self.pl.when(a.is_null()).then(b).otherwise(b)
        return self.pl.when(b != 0.0).then(a / b).fill_nan(None)

    def trunc(self, x: Any) -> Any:
        return self.pl.when(x < 0.0).then(-((-x).floor())).otherwise(x.floor())


def _arithmetic(f: Callable[[Any, Any], Any]) -> Step:
    def step(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
        if node.of_floats:
            return f(*own).fill_nan(None)
        return to.narrow(f(*map(to.wide, own)))

    return step


def _quotient(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
    if node.of_floats:
        return to.divided(node, *own).floor()
    a, b = map(to.wide, own)
    return to.narrow(to.pl.when(b != 0).then(a // b))


def _remainder(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
    if node.of_floats:
        a, b = own
        return (a - b * to.trunc(to.divided(node, a, b))).fill_nan(None)
    a, b = map(to.wide, own)
    size = to.pl.when(b != 0).then(a.abs() % b.abs())
    return to.narrow(to.pl.when(a < 0).then(0 - size).otherwise(size))


def _negate(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
    return -own[0] if node.of_floats else to.narrow(0 - to.wide(own[0]))


def _abs(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
    return own[0].abs() if node.of_floats else to.narrow(to.wide(own[0]).abs())


def _round(to: PolarsOf, _: Formula, own: list[Any]) -> Any:
    """Round halves away from zero: the difference is exact."""
    size = own[0].abs()
    whole = size.floor()
    near = to.pl.when(size - whole >= 0.5).then(whole + 1.0).otherwise(whole)
    return to.pl.when(own[0] < 0.0).then(-near).otherwise(near)


def _whole(to: PolarsOf, _: Formula, own: list[Any]) -> Any:
    x = to.trunc(own[0])
    there = (x >= -_INT64) & (x < _INT64)
    return to.narrow(to.pl.when(there).then(x))


def _float(to: PolarsOf, node: Formula, own: list[Any]) -> Any:
    x = own[0].cast(to.pl.Int8) if node.arguments[0].type is BOOLEAN else own[0]
    return x.cast(to.pl.Float64)


def _choose(to: PolarsOf, _: Formula, own: list[Any]) -> Any:
    found = own[-1]
    for condition, value in reversed(cases(own)):
        found = to.pl.when(condition).then(value).otherwise(found)
    return found


_STEPS: dict[str, Step] = {
    "add": _arithmetic(add), "subtract": _arithmetic(sub), "multiply": _arithmetic(mul),
    "divide": lambda to, node, own: to.divided(node, *own),
    "quotient": _quotient, "remainder": _remainder, "negate": _negate, "abs": _abs,
    "round": _round, "floor": lambda _, __, own: own[0].floor(),
    "ceil": lambda _, __, own: own[0].ceil(), "whole": _whole, "float": _float,
    "sqrt": lambda to, _, own: to.pl.when(own[0] >= 0.0).then(own[0].sqrt()),
    "instant": lambda to, _, own: to.pl.when(own[0].is_between(FIRST, LAST)).then(own[0]),
    **COLUMN_STEPS, "missing": lambda _, __, own: own[0].is_null(),
    "choose": _choose, "coalesce": lambda to, _, own: to.pl.coalesce(*own),
}  # fmt: skip
