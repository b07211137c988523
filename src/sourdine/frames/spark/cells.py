"""Cells as Spark expressions.

They are made of columns, never of SQL text, so that no setting of the parser changes them. None can
raise: integers are clamped before arithmetic, and nothing is cast that might not fit. NaN is tested
before any comparison, because Spark treats it as equal to itself and above infinity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add, mul, sub, truediv
from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY, FIRST, LAST
from sourdine.frames.cells import HIGHEST, Codes, Edges, Present, Ticked
from sourdine.frames.expressions import bisected, slot
from sourdine.grid import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.frames.cells import Cell, Octaves, Ticks


FEW = 64
"""Up to this many categories or edges are compared one after the other."""
NARROW = 1 << 61
"""Below this bound integers snap within 64 bits."""
TIMES = ("date", "time", "zoned")
_INT64 = 1 << 63
_HOUR, _MINUTE, _SECOND = 3600 * 10**6, 60 * 10**6, 10**6


@dataclass(frozen=True, slots=True)
class SparkKey:
    """A grouping key: the slot itself, or a listed value whose slot Python computes."""

    expression: Any
    direct: bool = True


@dataclass(frozen=True)
class Expressions:
    """Expressions for the columns of one frame, made by the functions of PySpark or of Connect."""

    functions: Any
    _wholes: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    def whole(self, v: int) -> Any:
        """Return a 64-bit integer literal; each is made once, since it takes calls to Java."""
        if v not in self._wholes:
            self._wholes[v] = self.functions.lit(v).cast("bigint")
        return self._wholes[v]

    # ---------------------------------------------------------------- the back end of `slot`

    def constant(self, v: float) -> Any:
        return self.functions.lit(v) if isinstance(v, float) else self.whole(v)

    def arithmetic(self, x: Any, operator: str, v: float) -> Any:
        """Write an operation with a constant."""
        return {"+": add, "-": sub, "*": mul, "/": truediv}[operator](x, self.constant(v))

    def clamp(self, x: Any, lower: float | None, upper: float) -> Any:
        """Write a number between bounds."""
        near = self.functions.least(x, self.constant(upper))
        return near if lower is None else self.functions.greatest(near, self.constant(lower))

    def floor(self, x: Any) -> Any:
        """Write a rounded float."""
        return self.functions.floor(x).cast("bigint")

    def quotient(self, v: Any, by: int) -> Any:
        """Divide a non-negative integer, in 64 bits."""
        return v if by == 1 else self.functions.call_function("div", v, self.whole(by))

    def below(self, x: Any, edge: float, then: Any, otherwise: Any) -> Any:
        return self.functions.when(x < self.constant(edge), then).otherwise(otherwise)

    def rank(self, x: Any, edges: Sequence[Any]) -> Any:
        """Write the position among edges, by bisection; integers beyond 64 bits have no literal."""
        low = sum(isinstance(e, int) and e <= -_INT64 for e in edges)
        inner = [e for e in edges[low:] if isinstance(e, float) or e < _INT64]
        return bisected(x, inner, self, low)

    def octave_number(self, x: Any, grid: Octaves) -> Any:
        """Write the point of a lattice of octaves.

        A choice for each octave would make a method that Java never compiles. A logarithm is off by
        at most one octave, which comparisons correct. Java's powers of two are exact, and so is a
        division by one.
        """
        f = self.functions
        size = f.least(f.abs(x), f.lit(grid.top))
        inside = f.greatest(size, f.lit(2.0**grid.lowest))
        about = f.floor(f.log2(inside))
        power = f.pow(f.lit(2.0), about)
        less = (inside < power).cast("bigint")
        more = (inside >= power * f.lit(2.0)).cast("bigint")
        exponent = self.clamp(about - less + more, grid.lowest, HIGHEST - 1)
        parts = inside / f.pow(f.lit(2.0), exponent) - f.lit(1.0)
        within = self.floor(parts * f.lit(2.0**grid.bits))
        octave = exponent - self.whole(grid.lowest)
        number = octave * self.whole(1 << grid.bits) + within + self.whole(1)
        number = self.below(size, 2.0**grid.lowest, self.whole(0), number)
        return self.below(x, 0.0, -number, number)

    # ---------------------------------------------------------------- cells

    def plain(self, place: str, kind: str) -> Any:
        """Return a column for Arrow: texts in the order of their bytes, unknown types as text."""
        c = self.functions.col(place)
        if kind == "text":
            return self.functions.collate(c.cast("string"), "UTF8_BINARY")
        return c.cast("string") if kind == "other" else c

    def key(self, cell: Cell, place: str, kind: str) -> SparkKey | None:  # noqa: PLR0911 - a case each
        """Return the grouping key of a cell; None if only Python can compute it."""
        c = self.plain(place, kind)
        if isinstance(cell, Present):
            return self.present(c, kind)
        if isinstance(cell, Codes):
            return self._coded(cell, c, kind)
        if isinstance(cell, Ticked):
            return None
        if cell.dated:
            return self._dated(cell, c, kind)
        if kind in {*TIMES, "listed", "other"}:
            return SparkKey(self.whole(MISSING))
        if kind in {"text", "decimal"}:
            return None
        found = self._numbered(cell, c, kind)
        return None if found is None else SparkKey(found)

    def _or_missing(self, none: Any, found: Any) -> Any:
        return self.functions.when(none, self.whole(MISSING)).otherwise(found)

    def number(self, c: Any, kind: str) -> tuple[Any, Any]:
        """Return a number as a float, and whether it is missing."""
        x = (c.cast("int") if kind == "boolean" else c).cast("double")
        none = x.isNull() | self.functions.isnan(x) if kind == "float" else x.isNull()
        return x, none

    # ---------------------------------------------------------------- numbers

    def _numbered(self, cell: Ticks | Edges, c: Any, kind: str) -> Any | None:
        """Return the slot of a number; None if only Python can compute it."""
        whole = kind == "integer"
        if isinstance(cell, Edges):
            if len(cell.inner) > FEW:
                return None
        elif whole and cell.grid.integral:
            if max(abs(cell.grid.lower), abs(cell.grid.upper)) >= NARROW:
                return None
        else:
            whole = False
        if whole:
            return self._or_missing(c.isNull(), slot(cell, c.cast("bigint"), self, whole=True))
        x, none = self.number(c, kind)
        return self._or_missing(none, slot(cell, x, self, whole=False))

    # ---------------------------------------------------------------- dates and times

    def instant(self, c: Any, kind: str) -> Any:
        """Return the microseconds from 1970 to a date or a time.

        NULL for days beyond the years 1 to 9999: 64 bits cannot hold all of them.
        """
        f = self.functions
        if kind == "zoned":
            return f.unix_micros(c)
        day = f.unix_date(c.cast("date")).cast("bigint")
        known = day.between(self.whole(FIRST // DAY), self.whole(LAST // DAY))
        days = f.when(known, day) * self.whole(DAY)
        if kind == "date":
            return days
        seconds = f.extract(f.lit("SECOND"), c) * f.lit(_SECOND)
        return (
            days
            + f.hour(c).cast("bigint") * self.whole(_HOUR)
            + f.minute(c).cast("bigint") * self.whole(_MINUTE)
            + f.floor(seconds).cast("bigint")
        )

    def near(self, c: Any, kind: str) -> tuple[Any, Any]:
        """Return the instant, clamped to the years 1 to 9999, and whether it was within them."""
        f, t = self.functions, self.instant(c, kind)
        first, last = self.whole(FIRST), self.whole(LAST)
        return f.greatest(f.least(t, last), first), t.between(first, last)

    def _dated(self, cell: Ticks | Edges, c: Any, kind: str) -> SparkKey | None:
        if kind == "text" or (isinstance(cell, Edges) and len(cell.inner) > FEW):
            return None
        if kind not in TIMES:
            return SparkKey(self.whole(MISSING))
        t, inside = self.near(c, kind)
        found = slot(cell, t, self, whole=True)
        return SparkKey(self.functions.when(inside, found).otherwise(self.whole(MISSING)))

    # ---------------------------------------------------------------- categories

    def _coded(self, cell: Codes, c: Any, kind: str) -> SparkKey | None:
        """Return the code; for many categories the value itself, if it is listed."""
        f = self.functions
        if kind not in {"boolean", "integer", "float", "text", *TIMES}:
            return None
        listed = cell.listed(kind)
        if kind == "integer":
            c = c.cast("bigint")
            if len(listed) > FEW and _consecutive(listed):
                return SparkKey(self._counted(c, listed))
        elif kind == "float":
            c = c.cast("double") + f.lit(0.0)  # -0.0 becomes 0.0
        elif kind in TIMES:
            c = self.text(c, kind)  # no category is "", which is missing
        if len(listed) > FEW:
            return SparkKey(f.when(c.isin(list(listed)), c), direct=False)
        if not listed:
            return SparkKey(self.whole(MISSING))
        return SparkKey(self._placed(c, listed))

    def _placed(self, c: Any, listed: Mapping[Any, int]) -> Any:
        """Return the code of a listed value.

        Spark searches for it in a loop. A condition for each value would make a method of more than
        8000 bytes for a few columns, which Java then never compiles.
        """
        f = self.functions
        place = f.array_position(f.array(*map(f.lit, listed)), c)
        if list(listed.values()) != list(range(len(listed))):
            codes = f.array(*map(self.whole, listed.values()))
            slot = f.get(codes, place.cast("int") - f.lit(1))
            return f.coalesce(slot, self.whole(MISSING))
        return f.coalesce(place, self.whole(0)) - self.whole(1)

    def _counted(self, c: Any, listed: Mapping[int, int]) -> Any:
        """Return the code of an integer, if codes increase with the numbers by ones."""
        first, last = min(listed), max(listed)
        there = c.between(self.whole(first), self.whole(last))
        near = self.functions.when(there, c).otherwise(self.whole(first)) - self.whole(first)
        code = near + self.whole(listed[first])
        return self.functions.when(there, code).otherwise(self.whole(MISSING))

    def present(self, c: Any, kind: str) -> SparkKey | None:
        """Return slot 0 for present values; None if only Python can tell."""
        f = self.functions
        if kind in {"listed", "other"}:
            return None
        if kind == "float":
            none = c.isNull() | f.isnan(c)
        elif kind in TIMES:
            none = self.text(c, kind).isNull()
        else:
            none = c.isNull() | (f.length(c) == 0) if kind == "text" else c.isNull()
        return SparkKey(self._or_missing(none, self.whole(0)))

    # ---------------------------------------------------------------- texts

    def text(self, c: Any, kind: str) -> Any:
        """Return a value's text; None if only Python can write it.

        Java's text of a float is not the shortest one before version 19.
        """
        f = self.functions
        if kind in {"integer", "boolean"}:
            return c.cast("string")
        if kind == "text":
            return f.nullif(c, f.lit(""))
        if kind not in TIMES:
            return None
        t, inside = self.near(c, kind)
        rest = f.pmod(t, self.whole(DAY))
        date = f.date_from_unix_date(self.quotient(t - rest, DAY).cast("int"))
        written = date.cast("string")
        if kind != "date":
            written = f.concat(written, f.lit(" "), self._clock(rest))
        return f.when(inside, written)

    def _clock(self, micros: Any) -> Any:
        """Write the time of day, with a fraction if there is one."""
        f = self.functions

        def part(unit: int, most: int, width: int) -> Any:
            digits = self.quotient(micros, unit) % self.whole(most)
            return f.lpad(digits.cast("string"), width, "0")

        clock = f.concat_ws(":", part(_HOUR, 24, 2), part(_MINUTE, 60, 2), part(_SECOND, 60, 2))
        fraction = f.concat(f.lit("."), part(1, 10**6, 6))
        whole = micros % self.whole(10**6) == self.whole(0)
        return f.when(whole, clock).otherwise(f.concat(clock, fraction))


def _consecutive(listed: Mapping[int, int]) -> bool:
    """Return whether codes increase with the numbers by ones."""
    return len({code - value for value, code in listed.items()}) == 1
