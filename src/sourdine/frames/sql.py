"""Cells as DuckDB expressions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, frexp, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import FIRST, LAST
from sourdine.frames import expressions
from sourdine.frames.cells import HIGHEST, Codes, Octaves, Present, Ticked, Ticks
from sourdine.frames.expressions import bisected
from sourdine.frames.memory import DATES, NESTED, NUMBERS, OTHER, WORDS, Column, Declared
from sourdine.frames.people import MOST, SHIFT
from sourdine.frames.reading import STANDARD, WHOLE, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Edges, Ranges, Whole
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading
    from sourdine.grid import Grid


# ---- Ranges of ticks as intervals of raw values --------------------------------------------------
#
# They let an engine leave out rows without snapping. The slot of a number never decreases as the
# number grows: clamping, subtracting, dividing by a step, adding a half and rounding down are each
# monotone, in IEEE arithmetic too, and so is the lattice of octaves. So the values whose slots lie
# in a range :math:`[a, b)` are those from the least one with a slot of at least :math:`a` up to,
# but not including, the least one with a slot of at least :math:`b`. Both are found by bisection
# over all floats, in the order of their bits, or over all integers, by calling the cell itself
# (``test_intervals_hold_what_the_ranges_hold``).


_INFINITE = 0x7FF0_0000_0000_0000
_WHOLE = (-(1 << 63), 1 << 64)


def float_intervals(cell: Ticks, ranges: Ranges) -> list[tuple[float | None, float | None]]:
    """Return the floats whose slots lie in ranges, without NaN; None for no end.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> from sourdine.frames.cells import Ticks
    >>> float_intervals(Ticks("x", Grid(0, 10, step=1)), [(0, 2), (5, 11)])
    [(None, 1.5), (4.5, None)]
    """
    first, end = -_INFINITE, _INFINITE + 1
    ends = _bisected(lambda bits: cell.slots(Column(_of_bits(bits))), ranges, first, end)
    return _pairs(ends, _of_bits(np.clip(ends, first, _INFINITE)), first, end)


def whole_intervals(cell: Ticks, ranges: Ranges) -> list[tuple[int | None, int | None]]:
    """Return the integers whose slots lie in ranges; None for no end.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> from sourdine.frames.cells import Ticks
    >>> whole_intervals(Ticks("x", Grid(0, 100, step=10)), [(0, 2), (5, 11)])
    [(None, 15), (45, None)]
    """
    ends = _bisected(lambda v: cell.slots(Column(v)), ranges, *_WHOLE)
    return _pairs(ends, ends, *_WHOLE)


def _bisected(
    slots: Callable[[NDArray[Any]], Whole], ranges: Ranges, first: int, end: int
) -> NDArray[Any]:
    """Return for each end of a range the least number with a slot of at least that; else the end.

    All are bisected together, as Python integers, which do not overflow.
    """
    wanted = np.array(ranges, np.int64).ravel()
    low = np.full(len(wanted), first, object)
    high = np.full(len(wanted), end, object)
    while (open_ := np.asarray(low < high, np.bool_)).any():
        middle = (low + high) // 2
        reached = np.zeros(len(wanted), np.bool_)
        reached[open_] = slots(middle[open_]) >= wanted[open_]
        high = np.where(open_ & reached, middle, high)
        low = np.where(open_ & ~reached, middle + 1, low)
    return low


def _of_bits(ordered: NDArray[Any]) -> NDArray[np.float64]:
    """Return the floats of their bits' order: that of 0.0 is 0, and x and -x are opposite."""
    order = ordered.astype(np.int64)
    size = np.abs(order).view(np.float64)
    return np.where(order < 0, -size, size)


def _pairs(ends: NDArray[Any], values: NDArray[Any], first: int, end: int) -> list[tuple[Any, Any]]:
    """Return the values of the ends of intervals; None for no end."""
    both = zip(ends.reshape(-1, 2), values.reshape(-1, 2).tolist(), strict=True)
    return [(low if a > first else None, high if b < end else None) for (a, b), (low, high) in both]


# ---- The slots of present values -----------------------------------------------------------------


def double(x: float) -> str:
    """Write a float so that DuckDB reads the same one."""
    return f"CAST('{x!r}' AS DOUBLE)"


def integer(v: int, kind: str = "HUGEINT") -> str:
    """Write an integer, by default one of up to 128 bits."""
    return f"CAST('{v}' AS {kind})"


@dataclass(frozen=True, slots=True)
class SqlText:
    """The back end of `sourdine.frames.expressions` for DuckDB; its integers have one type."""

    kind: str = "BIGINT"

    def constant(self, v: float) -> str:
        return double(v) if isinstance(v, float) else integer(v, self.kind)

    def arithmetic(self, x: str, operator: str, v: float) -> str:
        """Write an operation with a constant."""
        return f"({x} {operator} {self.constant(v)})"

    def clamp(self, x: str, lower: float | None, upper: float) -> str:
        """Write a number between bounds; an integer is narrowed only after that."""
        near = f"least({x}, {self.constant(upper)})"
        if lower is None:
            return near
        near = f"greatest({near}, {self.constant(lower)})"
        return near if isinstance(lower, float) else f"CAST({near} AS {self.kind})"

    def floor(self, x: str) -> str:
        """Write a rounded float; DuckDB may compute it for NaN before it chooses a case."""
        return f"TRY_CAST(floor({x}) AS BIGINT)"

    def quotient(self, v: str, by: int) -> str:
        """Write an integer division."""
        return f"({v} // {self.constant(by)})"

    def below(self, x: str, edge: float, then: str, otherwise: str) -> str:
        return f"CASE WHEN {x} < {self.constant(edge)} THEN {then} ELSE {otherwise} END"

    def rank(self, x: str, edges: Sequence[Any]) -> str:
        """Write the position among edges, by bisection."""
        return str(bisected(x, edges, self))

    def octave_number(self, x: str, grid: Octaves) -> str:
        """Write the point of a lattice of octaves: dividing by a power of two is exact."""
        size = f"least(abs({x}), {double(grid.top)})"

        def number(e: int) -> str:
            parts = f"({size} / {double(2.0**e)} - {double(1.0)}) * {double(2.0**grid.bits)}"
            return f"{self.floor(parts)} + {((e - grid.lowest) << grid.bits) + 1}"

        def chosen(first: int, end: int) -> str:
            if end - first == 1:
                return number(first)
            half = (first + end) // 2
            return self.below(size, 2.0**half, chosen(first, half), chosen(half, end))

        found = self.below(size, 2.0**grid.lowest, "0", chosen(grid.lowest, HIGHEST))
        return f"(CASE WHEN {x} < 0 THEN -1 ELSE 1 END) * ({found})"


def _slot_of_float(cell: Ticks | Edges, x: str) -> str:
    found = expressions.slot(cell, x, SqlText(), whole=False)
    return f"CASE WHEN {x} IS NULL OR isnan({x}) THEN -1 ELSE CAST({found} AS BIGINT) END"


def slot_of_integer(cell: Ticks | Edges, v: str, kind: str = "HUGEINT") -> str:
    """Return the slot of an integer or a time, computed with integers of a type."""
    return f"CAST({expressions.slot(cell, v, SqlText(kind), whole=True)} AS BIGINT)"


def narrow(grid: Grid) -> bool:
    """Return whether integers snap to integer points within 64 bits."""
    return grid.integral and max(abs(grid.lower), abs(grid.upper)) < 1 << 61


# ---- Cells ---------------------------------------------------------------------------------------
#
# Every expression returns the slot that `Cell.slots` returns, or the raw value where only Python
# can decide (`Key.direct` is false); ``test_sql_snaps_like_the_grid`` compares them bit for bit.
#
# On floats the engine computes what the grid computes, in the same order, in IEEE arithmetic:
# :math:`\lfloor (x - \text{lower})/\text{step} + 1/2 \rfloor` after clamping. Integers on an
# integer lattice are snapped exactly. As floats they fall on the same tick if the bounds are at
# most :math:`2^{49}`, for then :math:`x - \text{lower}` is exact and the two roundings, each of at
# most a relative :math:`2^{-53}`, cannot carry a quotient whose fraction is below one half, hence
# below it by at least :math:`1/(2\,\text{step})`, past one half. Beyond these bounds 128-bit
# integers are used.
#
# DuckDB's ``least`` and ``greatest`` take longer than the rest of a query, so a float is clamped by
# one comparison (`_placed`): with :math:`v = x - \text{lower}`, a float :math:`w`
# of the last tick, and :math:`h = w/2`, whether :math:`|v - h| \le h`. Rounding is monotone,
# so this holds for :math:`v` from 0 to :math:`w`, and fails above :math:`w`, because it fails for
# the next float, where :math:`v - h` is exact. Below 0 it holds at most down to
# :math:`-2^{-53}h`, which is nearer to 0 than half a step and so has the tick 0.
#
# The block of :math:`m` ticks that holds a tick :math:`\lfloor z \rfloor` is
# :math:`\lfloor z/m \rfloor`, also rounded: a float :math:`z < km` is at most
# :math:`km(1 - 2^{-53})`, and equal to it only if :math:`km` is a power of two. Then the quotient
# is exact, and otherwise it is nearer to a float below :math:`k` than to :math:`k`.
#
# Sums of ticks take half as many operations without a comparison (`Key.raised`): the tick
# :math:`t` that is not clamped is a whole number, and :math:`|t| - |t - L|` is twice the tick
# clamped to 0 and to the last tick L, less L. That is exact below :math:`2^{53}`. All is multiplied
# by `FOLD`, so that anything larger, an infinite value or NaN makes the sum infinite or NaN: then
# ticks are clamped by comparisons (``test_folded_sums_are_exact_or_not_finite``).


FOLD = 2.0**971
"""The power of two by which whole numbers from 2**53 on are not finite."""
EXACT_AS_FLOATS = 1 << 49
_PLACED = 1 << 50
"""Up to this many ticks a float is clamped by one comparison."""
FEW = 64
"""Up to this many categories are compared one after the other."""
WIDEST_INTEGERS = 10**37

_INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
}
TIMES = ("time", "zoned", "nanos")
NONE = "CAST(-1 AS BIGINT)"
_OTHER = ("BLOB", "BIT", "INTERVAL", "TIME", "UUID", "JSON")
_TEXTS = {"VARCHAR", "HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}


def name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def string(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def kind_of(dtype: object) -> str:
    """Return how a type is read: integer, float, boolean, text, date, a kind of time, or other."""
    written = str(dtype).upper()
    if written in _INTEGERS:
        return "integer"
    if written in {"FLOAT", "DOUBLE"}:
        return "float"
    if written == "BOOLEAN":
        return "boolean"
    if written in _TEXTS or written.startswith(("DECIMAL", "ENUM")):
        return "text"
    if written.startswith("TIMESTAMP"):
        other = "zoned" if "ZONE" in written or "TZ" in written else "time"
        return "nanos" if "NS" in written else other
    return "date" if written == "DATE" else "other"


def holds(dtype: object) -> str | None:
    """Return what a column holds by its type: numbers, words, dates, or None for anything else."""
    written = str(dtype).upper()
    if kind_of(dtype) in {"integer", "float", "boolean"} or written.startswith("DECIMAL"):
        return NUMBERS
    if written == "VARCHAR" or written.startswith("ENUM"):
        return WORDS
    if written in _TEXTS:
        return NUMBERS
    return DATES if written.startswith(("DATE", "TIMESTAMP")) else None


def declared(dtype: object) -> Declared | None:
    """Return the declared type; None for one without a meaning, such as that of NULL.

    Examples
    --------
    >>> declared("DECIMAL(9,2)"), declared("INTEGER[]").holds, declared("INTERVAL").holds
    (Declared(holds='numbers', dtype='DECIMAL(9,2)'), 'nested', 'other')
    """
    written = str(dtype).upper()
    if written.endswith("]") or written.startswith(("STRUCT", "MAP", "UNION")):
        return Declared(NESTED, str(dtype))
    known = holds(dtype)
    if known is None and not written.startswith(_OTHER):
        return None
    return Declared(known or OTHER, str(dtype))


def raw(column: str, kind: str) -> str:
    """Return the value as Python will read it: a boolean, a number or a text.

    NULL for days beyond the years 1 to 9999.
    """
    c = name(column)
    if kind in {"integer", "float", "boolean"}:
        return c
    if kind in TIMES:
        micros = f"make_timestamp({known(instant(column, kind))})"
        whole = f"microsecond({micros}) % 1000000 = 0"
        seconds = f"strftime({micros}, '%Y-%m-%d %H:%M:%S')"
        return (
            f"CASE WHEN {whole} THEN {seconds} ELSE strftime({micros}, '%Y-%m-%d %H:%M:%S.%f') END"
        )
    if kind == "date":
        return f"CASE WHEN {known(instant(column, kind))} IS NOT NULL THEN CAST({c} AS VARCHAR) END"
    return f"nullif(CAST({c} AS VARCHAR), '')"


def known(micros: str) -> str:
    return f"CASE WHEN {micros} BETWEEN {FIRST} AND {LAST} THEN {micros} END"


def instant(column: str, kind: str) -> str:
    """Return the microseconds from 1970 to a time, rounded down; NULL for infinite times."""
    c = name(column)
    if kind == "nanos":
        nanos = f"epoch_ns({c})"
        return f"{nanos} // 1000 - CASE WHEN {nanos} % 1000 < 0 THEN 1 ELSE 0 END"
    return f"epoch_us({c})" if kind == "zoned" else f"epoch_us(TRY_CAST({c} AS TIMESTAMP))"


def present(column: str, kind: str) -> str:
    value = raw(column, kind)
    there = f"({value}) IS NOT NULL"
    return f"{there} AND NOT isnan({value})" if kind == "float" else there


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping key: ``prepared`` columns first, then an expression of them."""

    prepared: dict[str, str]
    expression: str
    direct: bool
    number: str = ""
    """The slot as a float that is NULL if the value is missing, where it is computed so."""
    raised: str = ""
    """The slot of a present value before it is clamped, times `FOLD`, where it is computed so."""

    @property
    def summed(self) -> str:
        """The slot, or NULL if the value is missing."""
        return self.number or f"nullif({self.expression}, -1)"


def key(  # noqa: PLR0911 - a case each
    cell: Cell, column: str, kind: str, prefix: str, reading: Reading = STANDARD
) -> Key:
    if isinstance(cell, (Codes, Ticked)):
        listed = _listed(cell, kind, prefix) if isinstance(cell, Codes) else prefix
        return Key({prefix: raw(column, kind)}, listed, direct=False)
    if isinstance(cell, Present):
        there = f"CASE WHEN {present(column, kind)} THEN 0 ELSE -1 END"
        return Key({prefix: there}, f"CAST({prefix} AS BIGINT)", direct=True)
    if cell.dated:
        return _dated(cell, column, kind, prefix)
    if kind in {*TIMES, "date", "other"}:
        return Key({prefix: "1"}, NONE, direct=True)
    whole = f"{prefix}w"
    prepared = {prefix: number(column, kind, reading)}
    exact = exactness(cell)
    if exact is None:
        return Key({prefix: raw(column, kind)}, prefix, direct=False)
    if exact and kind in {"integer", "text"}:
        prepared[whole] = _whole(column, kind, reading)
        by_whole, by_float = slot_of_integer(cell, whole), _slot_of_float(cell, prefix)
        either = f"CASE WHEN {whole} IS NOT NULL THEN {by_whole} ELSE {by_float} END"
        return Key(prepared, either, direct=True)
    placed = _placed(cell, prepared[prefix], prefix)
    return placed or Key(prepared, _slot_of_float(cell, prefix), direct=True)


@dataclass(frozen=True, slots=True)
class Scaling:
    """A tick before it is clamped and rounded: the floor of ``scaled``, an expression of ``v``.

    ``v`` is the value less the lower bound (``shifted``), and ``width`` the largest that matters:
    its tick is the last. What is scaled is NULL or NaN if the value is missing.
    """

    shifted: str
    scaled: str
    width: float


def scaling(grid: Grid, x: str, v: str) -> Scaling | None:
    """Return how a float is scaled; None if it cannot be clamped after that."""
    if isinstance(grid, Octaves) or grid.last >= _PLACED:
        return None
    lower, step = float(grid.lower), float(grid.step)
    width = min(float(grid.upper) - lower, float(grid.last * grid.step))
    if floor(width / step + 0.5) != grid.last:
        return None
    exactly = frexp(step)[0] == 0.5  # a power of two: its inverse gives the same quotient, faster
    by = f"* {double(1 / step)}" if exactly else f"/ {double(step)}"
    shifted = x if lower == 0 else f"{x} - {double(lower)}"
    return Scaling(shifted, f"{v} {by} + {double(0.5)}", width)


def fold(last: int) -> str:
    """Return what is added up of `Key.raised`, as ``t``; see `unfolded`."""
    return f"abs(t) - abs(t - {double(last * FOLD)})"


def unfolded(total: float, n: int, last: int) -> int | None:
    """Return the sum of ``n`` clamped ticks from that of their folds; None if it is not finite."""
    return (int(total / FOLD) + n * last) // 2 if isfinite(total) else None


def streamed(cell: Cell, column: str, kind: str, reading: Reading) -> tuple[str, str] | None:
    """Return a value less the lower bound, as ``v``, and its slot before it is clamped and rounded.

    Missing values are NULL or NaN. None if the slot is not found so.
    """
    if not isinstance(cell, Ticks) or cell.dated or kind in {*TIMES, "date", "other"}:
        return None
    if exactness(cell) is not False:
        return None
    found = scaling(cell.grid, number(column, kind, reading), "v")
    return None if found is None else (f"{found.shifted} AS v", _block(found.scaled, cell.block))


def _block(scaled: str, block: int) -> str:
    return scaled if block == 1 else f"({scaled}) / {double(float(block))}"


def _placed(cell: Ticks | Edges, x: str, v: str) -> Key | None:
    """Return the slot of a float, which is compared with both bounds at once."""
    found = scaling(cell.grid, x, v) if isinstance(cell, Ticks) else None
    if found is None or not isinstance(cell, Ticks):
        return None
    slot = f"floor({_block(found.scaled, cell.block)})"
    half, top = double(found.width / 2), cell.size - 1
    within = f"CASE WHEN abs({v} - {half}) <= {half} THEN"
    below, above = f"WHEN {v} < {double(0.0)} THEN", f"WHEN NOT isnan({v}) THEN"
    return Key(
        {v: found.shifted},
        f"{within} TRY_CAST({slot} AS BIGINT) {below} 0 {above} {top} ELSE -1 END",
        direct=True,
        number=f"{within} {slot} {below} {double(0.0)} {above} {double(float(top))} END",
        raised=f"{slot} * {double(FOLD)}",
    )


def holding(cell: Cell, column: str, kind: str, ranges: Ranges) -> str | None:
    """Return whether a raw number's slot lies in ranges; None if the slot itself is needed.

    The values are compared with the ends of the intervals above, by bisection.
    """
    if not isinstance(cell, Ticks) or cell.dated or kind not in {"float", "integer"} or not ranges:
        return None
    x = f"CAST({name(column)} AS DOUBLE)" if kind == "float" else name(column)
    number: Callable[[Any], str] = double if kind == "float" else integer
    found = (float_intervals if kind == "float" else whole_intervals)(cell, ranges)
    parts = []
    for low, high in found:
        ends = [f"{x} >= {number(low)}"] if low is not None else []
        ends += [f"{x} < {number(high)}"] if high is not None else []
        parts.append(" AND ".join(ends) or "true")
    there = f"NOT isnan({x})" if kind == "float" else f"{x} IS NOT NULL"
    return f"{there} AND ({' OR '.join(f'({part})' for part in parts)})"


def _dated(cell: Ticks | Edges, column: str, kind: str, x: str) -> Key:
    """Return the slots of times; dates and texts are left to Python, anything else is missing."""
    if kind in {"date", "text"}:
        return Key({x: raw(column, kind)}, x, direct=False)
    if kind not in TIMES:
        return Key({x: "1"}, NONE, direct=True)
    found = slot_of_integer(cell, x, "BIGINT")
    inside = f"{x} BETWEEN CAST({FIRST} AS BIGINT) AND CAST({LAST} AS BIGINT)"
    return Key(
        {x: instant(column, kind)}, f"CASE WHEN {inside} THEN {found} ELSE -1 END", direct=True
    )


def slot(cell: Cell, column: str, kind: str, prefix: str, reading: Reading = STANDARD) -> Key:
    """Return the slot of each row, like `key` but faster in common cases.

    A few categories are coded by DuckDB, and integers are snapped in 64 bits.
    """
    if isinstance(cell, Codes) and len(cell.codes) <= FEW:
        return Key({prefix: raw(column, kind)}, _coded(cell, kind, prefix), direct=True)
    plain = isinstance(cell, Ticks) and cell.block == 1 and not cell.dated
    if isinstance(cell, Ticks) and plain and kind == "integer" and narrow(cell.grid):
        tick = slot_of_integer(cell, prefix, "BIGINT")
        slot = f"CASE WHEN {prefix} IS NULL THEN -1 ELSE {tick} END"
        return Key({prefix: name(column)}, slot, direct=True)
    return key(cell, column, kind, prefix, reading)


def exactness(cell: Ticks | Edges) -> bool | None:
    """Return whether integers need integer arithmetic; None if even that is too narrow."""
    if isinstance(cell, Ticks):
        ends = (cell.grid.lower, cell.grid.upper)
        if not cell.grid.integral:
            return False
    else:
        ends = (cell.inner[0], cell.inner[-1]) if cell.inner else (Fraction(0),) * 2
    largest = max(abs(e) for e in ends)
    if largest <= EXACT_AS_FLOATS:
        return False
    return True if largest < WIDEST_INTEGERS else None


def _written(column: str, reading: Reading) -> str:
    """Return a text, with numbers in it rewritten as in Python."""
    text = f"CAST({name(column)} AS VARCHAR)"
    if reading.is_standard:
        return text
    pattern, marks = string(reading.pattern), string(reading.marks)
    sign, digits = (f"regexp_extract({text}, {pattern}, {i})" for i in (1, 2))
    number = f"{sign} || translate({digits}, {marks}, '.')"
    return f"CASE WHEN regexp_full_match({text}, {pattern}) THEN {number} END"


def number(column: str, kind: str, reading: Reading) -> str:
    if kind != "text":
        return f"CAST({name(column)} AS DOUBLE)"
    written = _written(column, reading)
    match = f"regexp_full_match({written}, {string(WRITTEN)})"
    return f"CASE WHEN {match} THEN TRY_CAST({written} AS DOUBLE) END"


def _whole(column: str, kind: str, reading: Reading) -> str:
    if kind == "integer":
        return f"CAST({name(column)} AS HUGEINT)"
    written = _written(column, reading)
    match = f"regexp_full_match({written}, {string(WHOLE)})"
    return f"CASE WHEN {match} THEN TRY_CAST({written} AS HUGEINT) END"


def _listed(cell: Codes, kind: str, x: str) -> str:
    """Return the value if it is listed: all others are one group."""
    if kind == "boolean":
        return x
    if len(cell.codes) > FEW:
        return x if kind == "float" else f"CASE WHEN {numbered(cell, x)} >= 0 THEN {x} END"
    literals = ", ".join(_literals(cell, kind))
    listed = f"{x} IN ({literals})" + (f" AND NOT isnan({x})" if kind == "float" else "")
    return f"CASE WHEN {listed} THEN {x} END" if literals else "NULL"


def _literals(cell: Codes, kind: str) -> dict[str, int]:
    """Return the listed values that a column of a kind can hold, as literals, with their codes."""
    write: dict[str, Callable[[Any], str]] = {
        "boolean": lambda v: str(v).lower(), "integer": integer, "float": double
    }  # fmt: skip
    listed = cell.listed(kind, 1 << 64)
    return {write.get(kind, string)(value): code for value, code in listed.items()}


def numbered(cell: Codes, x: str) -> str:
    """Return the index of a value among the listed texts, by one lookup; -1 for none."""
    listed = f"TRY_CAST(CAST({x} AS VARCHAR) AS ENUM({', '.join(map(string, cell.codes))}))"
    return f"coalesce(CAST(enum_code({listed}) AS BIGINT), -1)"


def _coded(cell: Codes, kind: str, x: str) -> str:
    x = f"CAST({x} AS DOUBLE)" if kind == "float" else x
    pairs = _literals(cell, kind).items()
    cases = " ".join(f"WHEN {x} = {value} THEN {code}" for value, code in pairs)
    return f"CAST(CASE {cases} ELSE -1 END AS BIGINT)" if cases else "CAST(-1 AS BIGINT)"


def matches(cell: Codes, code: int, column: str, kind: str) -> str:
    """Return whether a value is in a category."""
    own = Codes(None, ())
    own.codes.update({t: c for t, c in cell.codes.items() if c == code})
    value = _listed(own, kind, f"({raw(column, kind)})")
    if kind == "boolean":
        wanted = [t for t in ("true", "false") if t in own.codes]
        return f"CAST({name(column)} AS VARCHAR) = '{wanted[0]}'" if wanted else "false"
    return f"({value}) IS NOT NULL"


def text(column: str, kind: str) -> str:
    value = raw(column, kind)
    if kind == "float":
        x = f"CAST({value} AS DOUBLE)"
        whole = f"abs({x}) < {double(2.0**53)} AND {x} = floor({x})"
        digits = f"CAST(TRY_CAST({x} AS BIGINT) AS VARCHAR)"
        return (
            f"CASE WHEN isnan({x}) THEN NULL WHEN {whole} THEN {digits} "
            f"ELSE CAST({x} AS VARCHAR) END"
        )
    return f"CAST({value} AS VARCHAR)" if kind in {"integer", "boolean"} else value


def ordered(column: str, kind: str) -> list[str]:
    """Return what rows are sorted by, NULL first; see `sourdine.frames.units`.

    Texts are compared as bytes, regardless of the connection's collation.
    """
    if kind in {"integer", "boolean"}:
        return [name(column)]
    if kind == "float":
        x = f"CAST({name(column)} AS DOUBLE)"
        return [f"CASE WHEN NOT isnan({x}) THEN {x} END"]
    written = f"encode({raw(column, kind)})"
    if kind in {*TIMES, "date"}:
        return [written]
    return [number(column, "text", STANDARD), _whole(column, "text", STANDARD), written]


def person(column: str, kind: str) -> str:
    """Return an expression that is equal for the rows of one person."""
    return raw(column, kind) if kind in {"integer", "boolean"} else text(column, kind)


# ---- One value for each person (`sourdine.frames.people`) ----------------------------------------


def row_of_person(how: Reduction, name: str, kind: str, reading: Reading) -> str:
    """Return the whole number of a row; NULL if it has none."""
    dates = kind in {*TIMES, "date"}
    if how.counts:
        return f"CASE WHEN {present(name, kind)} THEN 1 END"
    if how.dated != dates or kind == "other":
        return "CAST(NULL AS BIGINT)"
    if dates:
        return known(instant(name, kind))
    x = number(name, kind, reading)
    return f"CASE WHEN NOT isnan({x}) THEN {how.row(x, SqlText())} END"


def earliness(column: str, kind: str) -> str:
    """Return what tells how late a row is, of dates or of numbers; of missing ones the least."""
    if kind in {*TIMES, "date"}:
        return f"coalesce({known(instant(column, kind))}, {-(1 << 62)})"
    if kind == "other":
        return "0"
    x = number(column, kind, STANDARD)
    return f"CASE WHEN NOT isnan({x}) THEN {x} + 0.0 ELSE {double(float('-inf'))} END"


def shared(column: str, kind: str) -> tuple[str, str]:
    """Return a row's value of a group as what can be compared, and how it is written again."""
    value = raw(column, kind)
    if kind == "float":
        return f"CASE WHEN NOT isnan({value}) THEN {value} END", "{}"
    return (value, "{}") if kind in {"integer", "boolean"} else (f"encode({value})", "decode({})")


def reduced(how: Reduction) -> str:
    """Return the aggregate that makes a person's whole number of those of their rows, ``r``."""
    if how.counts:
        return "count(*)" if how.column is None else "count(r)"
    if how.how == "sum":
        near = f"greatest(least(sum(r), {integer(MOST)}), {integer(-MOST)})"  # they skip NULL
        return f"CASE WHEN count(r) > 0 THEN CAST({near} AS BIGINT) END"
    if how.how == "mean":
        n, shifted = "CAST(count(r) AS HUGEINT)", f"(sum(r) + count(r) * {integer(SHIFT)})"
        mean = f"(2 * {shifted} + {n}) // (2 * {n}) - {integer(SHIFT)}"
        return f"CASE WHEN count(r) > 0 THEN CAST({mean} AS BIGINT) END"
    if how.how == "last":
        return "max(struct_pack(d := d, r := r)) FILTER (WHERE r IS NOT NULL).r"
    return f"{how.how}(r)"


def value(how: Reduction) -> str:
    """Return the value of a person's whole number, ``k``."""
    if how.counts:
        return "CAST(k AS DOUBLE)"
    return "make_timestamp(k)" if how.dated else str(how.value("CAST(k AS DOUBLE)", SqlText()))
