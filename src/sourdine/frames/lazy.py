"""Lazy frames that narwhals supports: they stay lazy.

Each count is one query of the frame's own engine, on expressions that return the slot of
`Cell.slots`. Where no such expression is safe (texts, decimals, bounds beyond 2**62, more than 64
edges, octaves, dates except on a lattice in Polars) the engine groups by the raw value and Python
computes the slots of the distinct ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import add, mul, sub
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from sourdine.calendar import DAY, FIRST, LAST
from sourdine.frames.cells import Codes, Octaves, Present, Ticked, Ticks
from sourdine.frames.engine import (
    Engine,
    guarded,
    largest,
    name_twice,
    read_like,
    require_different,
)
from sourdine.frames.expressions import slot
from sourdine.frames.formulas.tree import NotExactError
from sourdine.frames.memory import column_of_series, declared_by_type, is_whole, memory_of_frame
from sourdine.frames.people import HALF, LOW, MOST, SHIFT, carried, mean_of, upper_of_sum
from sourdine.frames.reading import STANDARD
from sourdine.frames.sql import exactness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sourdine.frames.cells import Cell, Edges, Ranges, Whole
    from sourdine.frames.engine import Groups, Named, NamedTicks, Occurring, One, Powers, Tallied
    from sourdine.frames.formulas.engine import Formulas
    from sourdine.frames.memory import Column, Declared, Memory
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading
    from sourdine.grid import Grid


_MANY_EDGES = 64
_HALF = 1 << 31
_SAFE = 1 << 62


class LazyEngine(Engine):
    """A lazy narwhals frame: Polars, Ibis and others that run queries."""

    def __init__(self, frame: Any, reading: Reading = STANDARD) -> None:
        self._frame, self.reading = frame, reading
        try:
            self._dtypes = dict(frame.collect_schema())
        except DuplicateError:
            raise name_twice() from None
        self.columns = tuple(self._dtypes)
        require_different(self.columns)

    def declared(self, name: str) -> Declared | None:
        return declared_by_type(self._dtypes[name])

    def rows(self) -> int:
        return int(_collected(self._frame.select(n=nw.len())).get_column("n").to_list()[0])

    def _keys(self, cells: Named) -> tuple[list[bool], Any]:
        """Return which keys are slots, and the frame that has them as k0, k1, ..."""
        polars = self._frame.implementation.is_polars()
        keys = [_key(cell, name, self._dtypes[name], polars) for name, cell in cells]
        named = {f"k{i}": expression for i, (expression, _) in enumerate(keys)}
        return [direct for _, direct in keys], self._frame.select(**named)

    def groups(self, cells: Named) -> Iterator[Groups]:
        direct, frame = self._keys(cells)
        found, counts = _counted(frame, len(cells))
        yield self._slots_of(direct, cells, found), counts

    def weighted(self, cells: Named, weight: One) -> Iterable[Tallied]:
        """Yield the sums of weights, added up by the engine if it computes their ticks."""
        direct, frame = self._keys([*cells, weight])
        if not (direct[-1] and cells):
            yield from super().weighted(cells, weight)
            return
        w = nw.col(f"k{len(cells)}")
        ticks = nw.when(w > 0).then(w).otherwise(nw.lit(0)).cast(nw.Int64)
        found, sums = _counted(frame, len(cells), ticks.sum())
        yield self._slots_of(direct[:-1], cells, found), sums

    def _slots_of(self, direct: list[bool], cells: Named, columns: Sequence[Column]) -> list[Whole]:
        """Return the slots: those that the engine computed, or those of the raw values."""
        found = []
        for is_slot, (_, cell), column in zip(direct, cells, columns, strict=True):
            column.reading = self.reading
            found.append(np.asarray(column.data, np.int64) if is_slot else cell.slots(column))
        return found

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        """Yield the slots of the rows; in batches from Polars, all at once from other engines."""
        direct, frame = self._keys(cells)
        for batch in _streamed(frame, rows):
            for start in range(0, len(batch), rows):
                part = batch[start : start + rows]
                columns = [column_of_series(part.get_column(f"k{i}")) for i in range(len(cells))]
                yield self._slots_of(direct, cells, columns)

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        return self.products([(name, cell)], [(power,) for power in range(most + 1)])

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        """Return sums of products of ticks, in two halves of 31 bits, in one query."""
        direct, frame = self._keys(cells)
        if not all(direct) or max(largest(cells, own) for own in powers) >= _SAFE:
            return super().products(cells, powers)
        sums = {"n": nw.len()}
        for i, own in enumerate(powers):
            if any(own):
                p: Any = 1
                for j, power in enumerate(own):
                    for _ in range(power):
                        p = nw.col(f"k{j}") * p
                low = p % _HALF
                sums |= {f"h{i}": ((p - low) // _HALF).sum(), f"l{i}": low.sum()}
        conditions = (nw.col(f"k{j}") >= 0 for j in range(len(cells)))
        there = frame.filter(nw.all_horizontal(*conditions, ignore_nulls=True))
        found = _collected(there.select(**sums))

        def whole(name: str) -> int:
            return int(found.get_column(name).to_list()[0] or 0)

        return [
            whole(f"h{i}") * _HALF + whole(f"l{i}") if any(own) else whole("n")
            for i, own in enumerate(powers)
        ]

    def within(self, cells: Named, ranges: Ranges) -> Iterable[Groups]:
        """Yield slots within ranges; no others leave the engine if it computes them itself."""
        direct, frame = self._keys(cells)
        if not direct[-1] or not ranges:
            yield from super().within(cells, ranges)
            return
        last = nw.col(f"k{len(cells) - 1}")
        wanted = [last.is_between(a, b, closed="left") for a, b in ranges]
        kept = frame.filter(nw.any_horizontal(*wanted, ignore_nulls=True))
        found, counts = _counted(kept, len(cells))
        yield self._slots_of(direct, cells, found), counts

    def column(self, name: str, *, strict: bool = False) -> Column:
        del strict
        column = column_of_series(_collected(self._frame.select(name)).get_column(name))
        column.reading = self.reading
        return column

    def only(self, *names: str) -> Engine:
        return LazyEngine(self._frame.select(*names), self.reading)

    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        named = {f"k{i}": nw.col(name) for i, name in enumerate(names)}
        yield _counted(self._frame.select(**named), len(names))

    def present(self, name: str) -> int:
        """Return the number of values that are not missing: one count if the type allows it."""
        there = _there(nw.col(name), self._dtypes[name])
        if there is None:
            return super().present(name)
        counted = _collected(self._frame.filter(there).select(n=nw.len()))
        return int(counted.get_column("n").to_list()[0])

    def split(self, name: str, keys: Codes) -> list[Engine]:
        if not (self._frame.implementation.is_polars() or _comes_back(self._dtypes[name])):
            return self._in_memory(self.columns).split(name, keys)
        key = _listed(keys, nw.col(name), self._dtypes[name])
        series = _collected(self._frame.select(k0=key).unique()).get_column("k0")
        found: list[list[Any]] = [[] for _ in range(keys.size + 1)]
        for value, code in zip(series.to_list(), keys.slots(column_of_series(series)), strict=True):
            found[code].append(value)
        never = nw.col(name).is_null() & ~nw.col(name).is_null()
        return [
            LazyEngine(
                self._frame.filter(nw.col(name).is_in(values) if values else never), self.reading
            )
            for values in found[:-1]
        ]

    def derived(self, formulas: Formulas) -> LazyEngine | None:
        """Return filtered rows with derived columns, if Polars computes them as NumPy does."""
        if not self._frame.implementation.is_polars():
            return None
        from sourdine.frames.formulas.polars import PolarsOf

        rows = nw.to_native(self._frame)
        to = PolarsOf(rows.collect_schema())
        try:
            added = [to.column(node).alias(name) for name, node in formulas.columns.items()]
            kept = None if formulas.where is None else to.write(formulas.where)
        except NotExactError:
            return None
        rows = rows if kept is None else rows.filter(kept)
        return LazyEngine(nw.from_native(rows.with_columns(*added)), self.reading)

    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person: still lazy in Polars, if it can write the texts."""
        texts = all(_comes_back(self._dtypes[n], floats=False) for n in (how.unit, *how.groups))
        if not (self._frame.implementation.is_polars() and texts and self._is_read(how)):
            return super().reduced(how)
        return LazyEngine(_grouped(self._frame, self._dtypes, how), self.reading)

    def _is_read(self, how: Reduction) -> bool:
        """Return whether the engine itself reads the columns that are reduced."""

        def number(name: str | None) -> bool:
            dtype = None if name is None else self._dtypes[name]
            return dtype is None or dtype.is_float() or is_whole(dtype) or dtype == nw.Boolean

        if how.counts:
            return (
                how.column is None
                or _there(nw.col(how.column), self._dtypes[how.column]) is not None
            )
        return not how.dated and number(how.column) and number(how.order)

    def _in_memory(self, names: Sequence[str]) -> Memory:
        return read_like(memory_of_frame(_collected(self._frame.select(names))), self)


_guarded = partial(
    guarded, got="a lazy frame whose engine failed", hint="Collect the frame to see why."
)


def _collected(frame: Any) -> Any:
    return _guarded(frame.collect)


def _streamed(frame: Any, rows: int) -> Iterator[Any]:
    """Run a query once and yield its rows in order, in batches if the engine can."""
    native = nw.to_native(frame)
    if not (frame.implementation.is_polars() and hasattr(native, "collect_batches")):
        yield _collected(frame)
        return
    batches = _guarded(lambda: iter(native.collect_batches(chunk_size=rows, maintain_order=True)))
    while (batch := _guarded(lambda: next(batches, None))) is not None:
        yield nw.from_native(batch, eager_only=True)


def _counted(frame: Any, axes: int, summed: Any = None) -> tuple[list[Column], Whole]:
    """Return the keys that occur and their counts, or what is summed of them."""
    names = [f"k{i}" for i in range(axes)]
    found = _collected(frame.group_by(names).agg(n=nw.len() if summed is None else summed))
    counts = np.asarray(found.get_column("n").to_numpy(), np.int64)
    return [column_of_series(found.get_column(n)) for n in names], counts


def _key(cell: Cell, name: str, dtype: Any, polars: bool) -> tuple[Any, bool]:  # noqa: FBT001, PLR0911
    """Return the key of a cell, and whether it is the slot itself or the raw value."""
    c = nw.col(name)
    if isinstance(cell, Codes):
        return _listed(cell, c, dtype), False
    if isinstance(cell, Present):
        there = _there(c, dtype)
        return (c, False) if there is None else (_chosen(there, nw.lit(0)), True)
    if isinstance(cell, Ticked) or (isinstance(cell, Ticks) and isinstance(cell.grid, Octaves)):
        return c, False
    if cell.dated:
        return _dated(cell, c, dtype, polars)
    whole = is_whole(dtype)
    number = whole or dtype.is_float() or dtype == nw.Boolean
    if number and whole and exactness(cell) is not False:
        if polars and isinstance(cell, Ticks) and dtype != nw.UInt64 and not _wide(cell.grid):
            return _slot(cell, c.cast(nw.Int64), c.is_null(), whole=True, polars=polars), True
    elif number and (isinstance(cell, Ticks) or len(cell.inner) <= _MANY_EDGES):
        x = c.cast(nw.Int8).cast(nw.Float64) if dtype == nw.Boolean else c.cast(nw.Float64)
        none = x.is_null() | x.is_nan() if dtype.is_float() else x.is_null()
        return _slot(cell, x, none, whole=False, polars=polars), True
    return c, False


def _dated(cell: Ticks | Edges, c: Any, dtype: Any, polars: bool) -> tuple[Any, bool]:  # noqa: FBT001
    """Return the ticks of dates from their integer representation in Polars; raw elsewhere.

    A number is not a date.
    """
    if dtype.is_numeric():
        return nw.when(c.is_null()).then(nw.lit(-1)).otherwise(nw.lit(-1)).cast(nw.Int64), True
    if not (polars and isinstance(cell, Ticks) and dtype in (nw.Date, nw.Datetime)):
        return c, False
    unit = "D" if dtype == nw.Date else dtype.time_unit
    size, parts = (1, 1000) if unit == "ns" else ({"D": DAY, "ms": 1000, "us": 1}[unit], 1)
    x = c.cast(nw.Int64)
    none = x.is_null()
    if parts == 1:
        none |= ~x.is_between(-(-FIRST // size), LAST // size)
    safe = nw.when(none).then(nw.lit(0)).otherwise(x)
    instant = safe * size if parts == 1 else safe // parts
    return _slot(cell, instant, none, whole=True, polars=polars), True


def _chosen(there: Any, found: Any) -> Any:
    """Return a slot where it is there, else -1."""
    return nw.when(there).then(found).otherwise(nw.lit(-1)).cast(nw.Int64)


def _comes_back(dtype: Any, *, floats: bool = True) -> bool:
    """Return whether a value that came out of an engine means the same when it is sent back.

    Times are in the session's zone; decimals and wide integers have another type there.
    """
    narrow = dtype.is_integer() and dtype not in {nw.UInt64, nw.Int128, nw.UInt128}
    return narrow or (floats and dtype.is_float()) or dtype in (nw.String, nw.Boolean)


def _there(c: Any, dtype: Any) -> Any:
    """Return whether a value is present, where the type allows the engine to decide it."""
    if dtype.is_float():
        return ~(c.is_null() | c.is_nan())
    if dtype == nw.String:
        return ~c.is_null() & (c != "")
    return ~c.is_null() if dtype == nw.Boolean or dtype.is_integer() else None


def _slot(cell: Ticks | Edges, x: Any, none: Any, *, whole: bool, polars: bool) -> Any:
    """Return the slot of a number; one that is missing is computed as 0, which no cast refuses."""
    present = nw.when(none).then(nw.lit(0 if whole else 0.0)).otherwise(x)
    found = slot(cell, present, _Narwhals(polars), whole=whole)
    return _chosen(~none, found)


@dataclass(frozen=True, slots=True)
class _Narwhals:
    """The back end of `sourdine.frames.expressions` for narwhals."""

    polars: bool

    def constant(self, v: float) -> float:
        return v

    def arithmetic(self, x: Any, operator: str, v: float) -> Any:
        if operator == "/":  # Polars divides inexactly by a constant, hence a column
            return x / (x * 0.0 + v)
        return {"+": add, "-": sub, "*": mul}[operator](x, v)

    def clamp(self, x: Any, lower: float | None, upper: float) -> Any:
        return x.clip(lower, upper)

    def floor(self, x: Any) -> Any:
        return x.floor().cast(nw.Int64)

    def quotient(self, v: Any, by: int) -> Any:
        if self.polars:
            return v // by
        return ((v - v % by) // by).cast(nw.Int64)  # exact even where engines divide as floats

    def below(self, x: Any, edge: float, then: Any, otherwise: Any) -> Any:
        return nw.when(x < edge).then(then).otherwise(otherwise)

    def rank(self, x: Any, edges: Sequence[Any]) -> Any:
        return sum(((x >= e).cast(nw.Int64) for e in edges), nw.lit(0))

    def octave_number(self, x: Any, grid: Octaves) -> Any:
        raise NotImplementedError  # `_key` leaves octaves to Python


# ---- One value for each person in Polars (`sourdine.frames.people`) ------------------------------


def _grouped(frame: Any, types: Any, how: Reduction) -> Any:
    """Return one row for each person."""
    r = _row(types, how)
    rows = {"person": _text(how.unit, types), "r": r}
    rows |= {f"g{i}": _text(name, types) for i, name in enumerate(how.groups)}
    if how.order is not None:
        late = _number(how.order, types).fill_null(float("-inf"))
        rows["late"] = nw.when(~r.is_null()).then(late)
    prepared, r = frame.select(**rows), nw.col("r")
    if how.order is not None:  # of the rows that are not the last of their person, none has an r
        last = nw.col("late") == nw.col("late").max().over("person")
        prepared = prepared.with_columns(r=nw.when(last).then(r))
    made = {"n": r.count()}
    if how.how in {"sum", "mean"}:
        low = (r + SHIFT) % (LOW + 1)
        made |= {"high": ((r + SHIFT - low) // (LOW + 1)).sum(), "low": low.sum()}
    elif not how.counts:
        made["k"] = r.min() if how.how == "min" else r.max()
    shared = {}
    for i, name in enumerate(how.groups):
        made |= {f"a{i}": nw.col(f"g{i}").min(), f"b{i}": nw.col(f"g{i}").max()}
        one = nw.when(nw.col(f"a{i}") == nw.col(f"b{i}")).then(nw.col(f"a{i}"))
        shared[name] = one.cast(nw.Boolean) if types[name] == nw.Boolean else one
    people = prepared.group_by("person").agg(**made)
    return people.select(**{how.name: _of_person(how)}, **shared)


def _text(name: str, types: Any) -> Any:
    """Return what can be compared, NULL if it is missing."""
    c = nw.col(name)
    if types[name] == nw.Boolean:
        return c.cast(nw.Int8)
    return nw.when(c != "").then(c) if types[name] == nw.String else c


def _number(name: str, types: Any) -> Any:
    """Return a float, NULL if it is missing."""
    c = nw.col(name)
    x = (c.cast(nw.Int8) if types[name] == nw.Boolean else c).cast(nw.Float64)
    return nw.when(~(x.is_null() | x.is_nan())).then(x)


def _row(types: Any, how: Reduction) -> Any:
    """Return the whole number of a row, NULL if it has none."""
    if how.column is None:
        return nw.lit(1)
    if how.counts:
        return nw.when(_there(nw.col(how.column), types[how.column])).then(nw.lit(1))
    x = _number(how.column, types)
    found = how.row(x.fill_null(0.0), _Narwhals(polars=True))
    return nw.when(~x.is_null()).then(found)


def _of_person(how: Reduction) -> Any:
    """Return the value of a person, of their sums or their least or largest number."""
    n = nw.col("n").cast(nw.Int64)
    if how.counts:
        return n.cast(nw.Float64)
    k = nw.col("k")
    if how.how in {"sum", "mean"}:
        high, low = carried(nw.col("high"), nw.col("low"))
    if how.how == "mean":
        k = mean_of(high, low, nw.when(n > 0).then(n))
    elif how.how == "sum":
        upper = upper_of_sum(high, n)
        near = upper.clip(-(MOST >> HALF), (MOST >> HALF) - 1)
        k = nw.when(upper > near).then(nw.lit(MOST)).otherwise(near * (LOW + 1) + low)
        k = nw.when(upper < near).then(nw.lit(-MOST)).otherwise(k)
    value = how.value(k.cast(nw.Float64), _Narwhals(polars=True))
    return nw.when(n > 0).then(value)


def _wide(grid: Grid) -> bool:
    return max(abs(grid.lower), abs(grid.upper)) >= _SAFE


def _listed(cell: Codes, c: Any, dtype: Any) -> Any:
    """Return the value if it is listed: all others are one group."""
    if dtype == nw.String:
        kind = "text"
    elif dtype.is_float():
        c, kind = c.cast(nw.Float64), "float"
    elif is_whole(dtype) and dtype != nw.UInt64:
        c, kind = c.cast(nw.Int64), "integer"
    else:
        return c
    listed = list(cell.listed(kind))
    return nw.when(c.is_in(listed)).then(c) if listed else c
