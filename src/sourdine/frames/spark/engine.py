"""The Spark engine: counts, exact sums and unit bounding inside Spark."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attrs import evolve

from sourdine.calendar import DAY, NOWHERE
from sourdine.frames.cells import Present, Ticks, inside, joined
from sourdine.frames.engine import Asked, RemoteEngine, largest, merge
from sourdine.frames.formulas.tree import NotExactError
from sourdine.frames.memory import Column, memory_of_arrow
from sourdine.frames.people import MOST as LARGEST
from sourdine.frames.people import SHIFT, lateness, rows_of
from sourdine.frames.spark.cells import FEW, TIMES, Expressions
from sourdine.frames.spark.dataframe import (
    STATED,
    declared,
    functions,
    guarded,
    kind_of,
    require_determined,
    require_usable,
    windows,
)
from sourdine.frames.spark.executors import Chosen, Texts, Work, decoded, mapped, tables
from sourdine.frames.sql import float_intervals, whole_intervals
from sourdine.frames.units import MOST, NARROW, chosen, sort_key, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sourdine.frames.cells import Cell, Codes, Ranges, Whole
    from sourdine.frames.engine import (
        Axes,
        Engine,
        Groups,
        Named,
        NamedTicks,
        Occurring,
        One,
        Powers,
        Sums,
        Tallied,
    )
    from sourdine.frames.formulas.engine import Formulas
    from sourdine.frames.memory import Declared
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading
    from sourdine.frames.spark.cells import SparkKey
    from sourdine.frames.spark.formulas import SparkOf

    Listed = tuple[tuple[int, int], ...]


# ---- Prefetched ranges of ticks ------------------------------------------------------------------


class Planned:
    """Ranges that several statistics will ask for; one pass reads all of them."""

    def __init__(self) -> None:
        self._wanted: dict[One, list[tuple[int, int]]] = {}
        self._known: dict[One, tuple[Listed, Whole, Whole]] = {}

    def add(self, of: One, ranges: Listed) -> None:
        """Announce ranges, unless they are known."""
        known = self._known[of][0] if of in self._known else ()
        if not all(any(a <= low and high <= b for a, b in known) for low, high in ranges):
            self._wanted.setdefault(of, []).extend(ranges)

    def unread(self) -> list[Asked]:
        """Return the queries for what was not read yet."""
        return [
            Asked((of,), within=tuple(joined(own, of[1].size))) for of, own in self._wanted.items()
        ]

    def read(self, asked: Asked, ticks: Whole, counts: Whole) -> None:
        """Store the counts of a query."""
        of = cast("One", asked.cells[0])
        del self._wanted[of]
        self._known[of] = (asked.within or (), *merge([(ticks, counts)]))

    def between(self, of: One, ranges: Listed) -> tuple[Whole, Whole]:
        """Return the ticks within ranges that were read."""
        _, ticks, counts = self._known[of]
        there = inside(ticks, ranges)
        return ticks[there], counts[there]


# ---- Exact sums of powers of ticks, and ranges of ticks as ranges of values ----------------------


LIMB = 21
"""Sums are computed in parts of this many bits, so that 2**42 rows do not overflow."""
_HALF, _PRODUCT = 31, 1 << 62
_INT64 = 1 << 63


def fits(last: int, most: int) -> bool:
    """Return whether Spark can sum these powers in 64 bits."""
    return last < _PRODUCT and (most <= 2 or last**most < _PRODUCT)


def limbs(e: Expressions, tick: Any, power: int, last: int) -> list[tuple[Any, int]]:
    """Return expressions whose sums, shifted, add up to the sum of a power of ticks."""
    if power == 0:
        return [(e.whole(1), 0)]
    if last**power < _PRODUCT:
        product = tick
        for _ in range(power - 1):
            product = product * tick
        return _cut(e, product, last**power)
    high = e.functions.shiftright(tick, _HALF)
    low = tick.bitwiseAND(e.whole((1 << _HALF) - 1))
    parts = ((high * high, 2 * _HALF), (high * low, _HALF + 1), (low * low, 0))
    return [(c, s + shift) for part, shift in parts for c, s in _cut(e, part, _PRODUCT)]


def _cut(e: Expressions, v: Any, most: int) -> list[tuple[Any, int]]:
    if most < 1 << LIMB:
        return [(v, 0)]
    mask = e.whole((1 << LIMB) - 1)
    return [
        (e.functions.shiftright(v, shift).bitwiseAND(mask), shift)
        for shift in range(0, most.bit_length(), LIMB)
    ]


def within(e: Expressions, cell: Ticks, place: str, kind: str, slot: Any, ranges: Ranges) -> Any:
    """Return a condition that holds for the ticks of some ranges, on the raw values if possible.

    Snapping is monotone, so the values of a range of ticks are an interval; its ends are found by
    bisection over all numbers, and the position of a value among them by bisection too. Spark does
    not push that down to Parquet, which for each comparison would scan every word of the dictionary
    of every file: that takes several times as long as reading the values.
    """
    f, ranges = e.functions, joined(ranges, cell.size)
    if kind not in {"integer", "float"} or cell.dated:
        slots = (slot.between(e.whole(a), e.whole(b - 1)) for a, b in ranges)
        return reduce(or_, slots, f.lit(False))  # noqa: FBT003
    single: Any = Ticks(cell.column, cell.grid)
    if kind == "integer" and cell.grid.integral:
        x, there = f.col(place).cast("bigint"), f.col(place).isNotNull()
        intervals: Sequence[tuple[Any, Any]] = whole_intervals(single, ranges)
    else:
        x, none = e.number(f.col(place), kind)
        there, intervals = ~none, float_intervals(single, ranges)
    edges = [end for both in intervals for end in both if end is not None]
    passed = e.rank(x, edges) + e.whole(int(intervals[0][0] is None))
    return there & (passed.bitwiseAND(e.whole(1)) == e.whole(1))


# ---- Unit bounding -------------------------------------------------------------------------------
#
# Python adds two columns: the person's number, and bytes that order the rows, both as defined in
# `sourdine.frames.units`. Spark's own window then counts and numbers the rows of a person, and
# spills to disk, even if one person owns nearly all rows. Its windows count in 32 bits, so a person
# may own fewer than 2**31 rows. The key is part of the function that is sent to the executors: it
# appears in no plan and in no log.


def bounded(
    frame: Any, e: Expressions, kinds: Mapping[str, str], unit: str, rows: int, key: bytes
) -> Any:
    """Return the rows that each person keeps; ``kinds`` are by the names in the frame."""
    f, rows = e.functions, min(rows, MOST)
    read = plain(frame, e, kinds)
    types = type(read.schema)(list(read.schema.fields)).add("number", "long").add("order", "binary")
    placed = mapped(read, Place(unit, key), types)
    own = windows(frame).partitionBy(sortable(e, f.col(unit), kinds[unit])).orderBy("order")
    first, last = windows(frame).unboundedPreceding, windows(frame).unboundedFollowing
    one = f.count(f.lit(1))  # row_number() has only 32 bits
    owned, number = one.over(own.rowsBetween(first, last)), f.col("number")
    counted = placed.withColumns({"owned": owned, "place": one.over(own.rowsBetween(first, 0))})
    place = (f.col("place") - e.whole(1)).cast("bigint" if rows < NARROW else "decimal(38,0)")
    stays = chosen(place, f.col("owned"), number, e.whole(rows))
    few = f.col("owned") <= e.whole(rows)
    return counted.filter(f.when(few, f.lit(True)).otherwise(stays)).select(*read.columns)  # noqa: FBT003


def plain(frame: Any, e: Expressions, kinds: Mapping[str, str]) -> Any:
    """Return the columns in types that Arrow passes to Python."""
    return frame.select(*(e.plain(name, kind).alias(name) for name, kind in kinds.items()))


def sortable(e: Expressions, c: Any, kind: str) -> Any:
    """Return an expression that is equal exactly for values with the same text."""
    f = e.functions
    if kind in TIMES:
        return e.text(c, kind)
    if kind == "listed":
        return c.cast("string")
    if kind == "float":  # -0.0 reads as 0, and NaN as missing
        return f.when(~f.isnan(c), c.cast("double") + f.lit(0.0))
    return f.nullif(c, f.lit("")) if kind == "text" else c


@dataclass(frozen=True)
class Place:
    """Adds to rows the number of their person, and bytes in their order; the key is not printed."""

    unit: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with two more columns."""
        import pyarrow as pa

        for table in tables(batches):
            engine = memory_of_arrow(table)
            names = engine.column(self.unit).texts.tolist()
            number = {name: start(self.key, name) for name in set(names)}
            keys = []
            for name in table.column_names:
                texts = engine.column(name).texts.tolist()
                known = {text: sort_key(text) for text in set(texts)}
                keys.append([known[text] for text in texts])
            numbers = pa.array([number[name] for name in names], pa.int64())
            order = pa.array([b"".join(key) for key in zip(*keys, strict=True)], pa.binary())
            wider = table.append_column("number", numbers).append_column("order", order)
            yield from wider.to_batches()


# ---- Filters and derived columns -----------------------------------------------------------------


@dataclass(frozen=True)
class Formulated:
    """Keeps the rows of a filter and adds derived columns, on the executors, by NumPy.

    ``names`` are those of the columns by their places in the batches, and ``places`` those of the
    derived columns by their names.
    """

    names: dict[str, str]
    formulas: Formulas
    places: dict[str, str]
    reading: Reading

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that stay, with more columns."""
        from sourdine.frames.formulas.engine import computed_in

        for table in tables(batches):
            named = table.rename_columns([self.names[place] for place in table.column_names])
            columns, kept = computed_in(memory_of_arrow(named, self.reading), self.formulas)
            for name, place in self.places.items():
                table = table.append_column(place, arrow_of(columns[name], self._type(name)))  # noqa: PLW2901
            yield from (table if kept is None else table.take(kept)).to_batches()

    def _type(self, name: str) -> str:
        kind = self.formulas.columns[name].type
        return "" if kind is None else kind.name


def arrow_of(column: Column, kind: str) -> Any:
    """Return a derived column, whose type has this name, as an Arrow array."""
    import pyarrow as pa

    if kind == "TEXT":
        return pa.array(column.texts.tolist(), pa.string())
    if kind in {"DATE", "TIME"}:
        gone = column.instants == NOWHERE
        if kind == "TIME":
            return pa.array(column.instants, pa.timestamp("us"), mask=gone)
        days = np.where(gone, 0, column.instants // DAY).astype(np.int32)
        return pa.array(days, pa.int32(), mask=gone).cast(pa.date32())
    types = {"INTEGER": pa.int64(), "FLOAT": pa.float64(), "BOOLEAN": pa.bool_()}
    return pa.array(np.ascontiguousarray(column.data), types[kind], mask=column.gone)


_SPARK_TYPES = {
    "INTEGER": "long", "FLOAT": "double", "BOOLEAN": "boolean", "TEXT": "string",
    "DATE": "date", "TIME": "timestamp_ntz",
}  # fmt: skip
# ---- One value for each person (`sourdine.frames.people`) ----------------------------------------
#
# Spark groups the rows. What it does not read as a number or a date itself, texts above all, Python
# reads on the executors. Spark adds up decimals of 38 digits exactly.


_BIGINT, _DECIMAL = "bigint", "decimal(19,0)"


@dataclass(frozen=True)
class RowNumbers:
    """Adds to rows their whole number and what tells how late they are.

    The columns of ``how`` are named as in the batches.
    """

    how: Reduction
    reading: Reading

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with three more columns."""
        import pyarrow as pa

        for table in tables(batches):
            engine = memory_of_arrow(table, self.reading)
            r, there = rows_of(self.how, engine.column(self.how.name))
            moment, number = np.zeros(len(r), np.int64), np.zeros(len(r))
            if self.how.order is not None:
                moment, number = lateness(engine.column(self.how.order))
            added = {"r": pa.array(r, mask=~there), "moment": moment, "number": number}
            columns = dict(zip(table.column_names, table.columns, strict=True))
            yield from pa.table({**columns, **added}).to_batches()


def grouped(
    frame: Any, e: Expressions, kinds: Mapping[str, str], how: Reduction, reading: Reading
) -> Any:
    """Return one row for each person: the value as ``c0``, then the groups.

    The columns of ``how`` and ``kinds`` are named as in the frame.
    """
    f = e.functions
    numbers = _numbers(e, kinds, how)
    if numbers is None:
        read = plain(frame, e, {name: kinds[name] for name in how.needed})
        types = type(read.schema)(list(read.schema.fields))
        types = types.add("r", "long").add("moment", "long").add("number", "double")
        frame = mapped(read, RowNumbers(how, reading), types)
        numbers = (f.col("r"), f.col("moment"), f.col("number"))
    rows = {"person": sortable(e, e.plain(how.unit, kinds[how.unit]), kinds[how.unit])}
    rows |= dict(zip(("r", "moment", "number"), numbers, strict=True))
    for i, name in enumerate(how.groups):
        rows[f"g{i}"] = sortable(e, e.plain(name, kinds[name]), kinds[name])
    made = [_whole_number(e, how).alias("k")]
    for i in range(len(how.groups)):
        least, most = f.min(f"g{i}"), f.max(f"g{i}")
        made.append(f.when(least == most, least).alias(f"c{i + 1}"))
    prepared = frame.select(*(c.alias(name) for name, c in rows.items()))
    people = prepared.groupBy("person").agg(*made)
    groups = [f.col(f"c{i + 1}") for i in range(len(how.groups))]
    k = f.col("k")
    value = k.cast("double")
    if not how.counts:
        value = f.timestamp_micros(k) if how.dated else how.value(value, e)
    return people.select(value.alias("c0"), *groups)


def _numbers(e: Expressions, kinds: Mapping[str, str], how: Reduction) -> tuple[Any, ...] | None:
    """Return the whole number of a row and how late it is; None if only Python can read them."""
    late = e.whole(0), e.functions.lit(0.0)
    if how.column is None:
        return (e.whole(1), *late)
    r = _row(e, e.plain(how.column, kinds[how.column]), kinds[how.column], how)
    if how.order is None:
        return None if r is None else (r, *late)
    kind, c = kinds[how.order], e.plain(how.order, kinds[how.order])
    if r is None or kind not in {"integer", "float", "boolean", *TIMES}:
        return None
    if kind in TIMES:
        t, inside = e.near(c, kind)
        return r, e.functions.when(inside, t).otherwise(e.whole(-SHIFT)), late[1]
    x, none = e.number(c, kind)
    missing = e.functions.lit(float("-inf"))
    return r, late[0], e.functions.when(none, missing).otherwise(x + e.functions.lit(0.0))


def _row(e: Expressions, c: Any, kind: str, how: Reduction) -> Any | None:
    """Return the whole number of a row, NULL if it has none; None if only Python can read it."""
    f = e.functions
    if how.counts:
        there = e.present(c, kind)
        return None if there is None else f.when(there.expression >= e.whole(0), e.whole(1))
    if kind not in {"integer", "float", "boolean", *TIMES}:
        return None
    if how.dated != (kind in TIMES):
        return f.when(f.lit(False), e.whole(0))  # noqa: FBT003
    if how.dated:
        t, inside = e.near(c, kind)
        return f.when(inside, t)
    x, none = e.number(c, kind)
    return f.when(~none, how.row(x, e))


def _whole_number(e: Expressions, how: Reduction) -> Any:
    """Return the aggregate that makes a person's whole number of those of their rows."""
    f, r = e.functions, e.functions.col("r")
    n = f.count(r)
    if how.counts:
        return n
    if how.how == "sum":
        most, least = (f.lit(end).cast(_DECIMAL) for end in (LARGEST, -LARGEST))
        near = f.greatest(f.least(f.sum(r.cast(_DECIMAL)), most), least)
        return f.when(n > e.whole(0), near.cast(_BIGINT))
    if how.how == "mean":
        twice = f.sum((r + e.whole(SHIFT)).cast(_DECIMAL)) * f.lit(2).cast("decimal(1,0)")
        share = f.call_function("div", twice + n.cast(_DECIMAL), (n * e.whole(2)).cast(_DECIMAL))
        return f.when(n > e.whole(0), share - e.whole(SHIFT))
    if how.how == "last":
        late = f.when(r.isNotNull(), f.struct(f.col("moment"), f.col("number"), r.alias("r")))
        return f.max(late).getField("r")
    return f.min(r) if how.how == "min" else f.max(r)


# ---- The engine ----------------------------------------------------------------------------------


class Spark(RemoteEngine):
    """A Spark data frame, classic or Connect; only integers come out.

    It is no stream, has distinct names, and is the same each time it is read.
    """

    _what = (
        "a Spark frame",
        "Collect the necessary columns with toPandas or toArrow, if they are small.",
    )

    def __init__(self, frame: Any) -> None:
        names = require_usable(frame)
        require_determined(frame)
        self._place = {name: f"c{i}" for i, name in enumerate(names)}
        fields = frame.schema.fields
        self.columns = tuple(names)
        self._kinds = {n: kind_of(field.dataType) for n, field in zip(names, fields, strict=True)}
        self._types = {n: declared(field.dataType) for n, field in zip(names, fields, strict=True)}
        self._frame = frame.toDF(*self._place.values())
        self._e = Expressions(functions(frame))
        self._forget()

    def _forget(self) -> None:
        """Clear prefetched and cached answers."""
        self._foreseen: Counter[Asked] = Counter()
        self._known: dict[Asked, Sums] = {}
        self._planned = Planned()

    def afresh(self) -> Spark:
        engine = copy(self)
        engine._forget()  # noqa: SLF001
        return engine

    def kind(self, name: str) -> str | None:
        return STATED.get(self._kinds[name], self._kinds[name])

    def declared(self, name: str) -> Declared | None:
        """Return the declared type of a column; None for parsed text."""
        return None if self.parsed else self._types[name]

    # ---------------------------------------------------------------- questions

    def rows(self) -> int:
        return int(self._counted(Asked(()))[1].sum())

    def groups(self, cells: Named) -> Iterator[Groups]:
        yield self._counted(Asked(tuple(cells)))

    def present(self, name: str) -> int:
        (slots,), counts = self._counted(Asked(((name, Present(name)),)))
        return int(counts[slots >= 0].sum())

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        _, found = self._answer(Asked(((name, cell),), most))
        return found[0][1:] if found else [0] * (most + 1)

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        """Return sums of products of ticks: one query, where Spark can compute them in 64 bits."""
        keys = [self._key(*each) for each in cells]
        known = [key.expression for key in keys if key is not None and key.direct]
        most = max(largest(cells, own) for own in powers)
        if len(known) < len(keys) or most >= _PRODUCT:
            return super().products(cells, powers)
        f, e = self._e.functions, self._e
        names = [f"t{i}" for i in range(len(known))]
        rows = self._frame.select(*(x.alias(n) for x, n in zip(known, names, strict=True)))
        for name in names:
            rows = rows.filter(f.col(name) >= e.whole(0))
        sums, shifts = [], []
        for i, own in enumerate(powers):
            p = e.whole(1)
            for name, power in zip(names, own, strict=True):
                for _ in range(power):
                    p = p * f.col(name)
            parts = _cut(e, p, largest(cells, own))
            sums += [f.sum(part).alias(f"s{i}_{shift}") for part, shift in parts]
            shifts.append([(f"s{i}_{shift}", shift) for _, shift in parts])
        found = guarded(rows.agg(*sums).toArrow).to_pydict()
        return [sum((found[name][0] or 0) << shift for name, shift in own) for own in shifts]

    def sums(self, axes: Axes, of: One | None, most: int) -> Sums | None:
        """Return codes along axes, and for each the number of rows and the sums of powers."""
        return self._answer(Asked(tuple(axes)) if of is None else Asked((*axes, of), most))

    def between(self, name: str, cell: Ticks, ranges: Ranges) -> tuple[Whole, Whole]:
        """Return the ticks within ranges; Spark counts only the values that fall there."""
        if not ranges:
            return merge([])
        of, wanted = (name, cell), tuple(ranges)
        self._planned.add(of, wanted)
        unread = self._planned.unread()
        self._foreseen.update(unread)
        for asked in unread:
            (ticks,), counts = self._counted(asked)
            self._planned.read(asked, ticks, counts)
        return self._planned.between(of, wanted)

    def within(self, cells: Named, ranges: Ranges) -> Iterator[Groups]:
        """Yield the slots of rows whose ticks lie in ranges, and their counts: one query."""
        yield self._counted(Asked(tuple(cells), within=tuple(ranges)))

    def prefetch(self, asked: Asked) -> None:
        """Announce a query: it is run together with the first one that is made."""
        if asked.within is None or len(asked.cells) > 1:
            self._foreseen[asked] += 1
        else:
            of: Any = asked.cells[0]
            self._planned.add(of, asked.within)

    def _counted(self, asked: Asked) -> Tallied:
        slots, found = self._answer(asked)
        return slots, np.array([own[0] for own in found], np.int64)

    # ---------------------------------------------------------------- answers

    def _answer(self, asked: Asked) -> Sums:
        """Return the slots that occur along the axes, and the numbers of each.

        Announced queries are run with it, and cached until they are made.
        """
        expected = self._foreseen.pop(asked, 1) - 1
        if asked not in self._known:
            together = [asked, *(other for other in self._foreseen if other not in self._known)]
            answers = self._asked_together(together)
            self._known.update(zip(together, answers, strict=True))
        if expected:
            self._foreseen[asked] = expected
            return self._known[asked]
        return self._known.pop(asked)

    def _asked_together(self, asked: Sequence[Asked]) -> list[Sums]:
        """Answer several queries in one Spark query.

        Lower powers of the same ticks are part of higher ones, and so is the number of rows.
        """
        served: dict[Asked, Asked] = {}
        for own in asked:
            like = [other for other in asked if _serves(other, own)]
            served[own] = max(like, key=lambda other: -1 if other.most is None else other.most)
        single = list(dict.fromkeys(served.values()))
        found = [self._alone(single[0])] if len(single) == 1 else self._on_executors(single)
        answers = dict(zip(single, found, strict=True))
        parts: list[Sums] = []
        for own in asked:
            slots, numbers = answers[served[own]]
            wanted = 1 if own.most is None else own.most + 2  # of the numbers that were computed
            parts.append((slots, [each[:wanted] for each in numbers]))
        return parts

    def _alone(self, asked: Asked) -> Sums:
        keys = [self._key(*each) for each in asked.cells]
        known = [key for key in keys if key is not None]
        cell: Any = asked.cells[-1][1] if asked.cells else None
        plain = len(known) == len(keys)  # Spark itself can compute the sums, or the windows
        if asked.within is not None:
            plain = plain and len(asked.within) <= FEW and known[-1].direct
        elif asked.most is not None:
            plain = plain and fits(cell.grid.last, asked.most)
        return self._by_spark(asked, known) if plain else self._on_executors([asked])[0]

    def _key(self, name: str, cell: Cell) -> SparkKey | None:
        standard = self._kinds[name] != "text" or not (cell.numeric or cell.dated)
        return self._e.key(cell, self._place[name], self._kinds[name]) if standard else None

    def _by_spark(self, asked: Asked, keys: Sequence[SparkKey]) -> Sums:
        """Run a query by expressions alone."""
        f = self._e.functions
        rows = self._frame
        name, cell = cast("One", asked.cells[-1] if asked.cells else ("", None))
        if asked.within is not None:
            place = self._place[name], self._kinds[name]
            slot = cast("Any", keys[-1].expression)
            rows = rows.filter(within(self._e, cell, *place, slot, asked.within))
        names = [f"k{i}" for i in range(len(asked.axes))]
        shown = [*names, *(["t"] if asked.most is not None else [])]
        rows = rows.select(*(key.expression.alias(n) for key, n in zip(keys, shown, strict=True)))
        sums, shifts = [f.count(f.lit(1)).alias("n")], [[("n", 0)]]
        tick = f.when(f.col("t") >= 0, f.col("t"))
        for power in range(0 if asked.most is None else asked.most + 1):
            parts = limbs(self._e, tick, power, cell.grid.last)
            own = [(f"s{power}_{i}", shift) for i, (_, shift) in enumerate(parts)]
            if power:
                sums += [f.sum(c).alias(n) for (c, _), (n, _) in zip(parts, own, strict=True)]
            else:
                sums.append(f.count(tick).alias("s0_0"))
            shifts.append(own)
        found = guarded(rows.groupBy(*names).agg(*sums).toArrow).to_pydict()
        slots = [
            np.asarray(found[n] if key.direct else of.slots(Column.of(found[n])), np.int64)
            for n, key, (_, of) in zip(names, keys, asked.axes, strict=False)
        ]

        def whole(i: int, own: list[tuple[str, int]]) -> int:
            """Return a number of row i, from the parts that it was computed in."""
            return sum((found[n][i] or 0) << shift for n, shift in own)

        return slots, [[whole(i, own) for own in shifts] for i in range(len(found["n"]))]

    def _on_executors(self, asked: Sequence[Asked]) -> list[Sums]:
        """Run queries in Python on the executors, with the slots that Spark can compute."""
        f = self._e.functions
        placed = [
            Asked(tuple((self._place[n], cell) for n, cell in own.cells), own.most, own.within)
            for own in asked
        ]
        ready: dict[tuple[str, Cell], str] = {}
        columns: dict[str, Any] = {}
        for name, cell in dict.fromkeys(each for own in asked for each in own.cells):
            key, place = self._key(name, cell), self._place[name]
            if key is not None and key.direct:
                ready[place, cell] = f"s{len(ready)}"
                columns[ready[place, cell]] = key.expression
            else:
                columns[place] = self._e.plain(place, self._kinds[name])
        work = Work(tuple(placed), ready, self.reading)
        rows = self._frame.select(
            *(c.alias(n) for n, c in (columns or {"s": self._e.whole(0)}).items())
        )
        types = ", ".join(f"{name} bigint" for name in work.names)
        keys, values = work.names[: 1 + work.axes], work.names[1 + work.axes :]
        added = mapped(rows, work, types).groupBy(*keys).agg(*(f.sum(v).alias(v) for v in values))
        found = guarded(added.toArrow).to_pydict()
        answers: list[Sums] = []
        for q, own in enumerate(asked):
            mine = [i for i, of in enumerate(found["q"]) if of == q]
            slots = [np.array([found[k][i] for i in mine], np.int64) for k in keys[1:]]
            numbers = [decoded(own, [found[v][i] for v in values]) for i in mine]
            answers.append((slots[: len(own.axes)], numbers))
        return answers

    # ---------------------------------------------------------------- values and rows

    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        """Yield the texts that occur in columns, and their counts: for unlisted keys."""
        f, e = self._e.functions, self._e
        plain = {n: e.plain(self._place[n], self._kinds[n]) for n in names}
        texts = [e.text(plain[n], self._kinds[n]) for n in names]
        keys = [f"k{i}" for i in range(len(names))]
        if all(text is not None for text in texts):
            rows = self._frame.select(*(t.alias(k) for t, k in zip(texts, keys, strict=True)))
            counted = rows.groupBy(*keys).agg(f.count(f.lit(1)).alias("n"))
        else:
            rows = self._frame.select(*(plain[n].alias(self._place[n]) for n in names))
            work = Texts(tuple(self._place[n] for n in names))
            types = ", ".join([*(f"{k} string" for k in keys), "n bigint"])
            rows = mapped(rows, work, types)
            counted = rows.groupBy(*keys).agg(f.sum("n").alias("n"))
        found = guarded(counted.toArrow)
        columns = [Column.of(_texts(found.column(k))) for k in keys]
        yield columns, np.asarray(found.column("n").to_numpy(), np.int64)

    def owned(self, unit: str, most: int) -> dict[int, int]:
        """Return how many people own each number of rows; names do not leave Spark."""
        f, kind = self._e.functions, self._kinds[unit]
        plain = self._e.plain(self._place[unit], kind)
        person = sortable(self._e, plain, kind)
        people = self._frame.select(person.alias("who")).groupBy("who")
        rows = people.agg(f.least(f.count(f.lit(1)), self._e.whole(most)).alias("n"))
        found = guarded(rows.groupBy("n").agg(f.count(f.lit(1)).alias("people")).toArrow)
        both = (found.column(name).to_pylist() for name in ("n", "people"))
        return dict(zip(*both, strict=True))

    def only(self, *names: str) -> Engine:
        return super(Spark, self.afresh()).only(*names)

    def split(self, name: str, keys: Codes) -> list[Engine]:
        key, place = self._key(name, keys), self._place[name]
        codes = range(len(keys.categories))
        if key is not None and key.direct:
            of = (key.expression == self._e.whole(code) for code in codes)
            return [self._other(self._frame.filter(own)) for own in of]
        rows = plain(self._frame, self._e, self._placed_kinds)
        return [self._read(mapped(rows, Chosen(place, keys, code), rows.schema)) for code in codes]

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each person; see `sourdine.frames.units`."""
        place = self._place[unit]
        return self._read(bounded(self._frame, self._e, self._placed_kinds, place, rows, key))

    def derived(self, formulas: Formulas) -> Spark:
        """Return filtered rows with derived columns.

        Spark computes what it computes exactly as NumPy; executors compute the rest by NumPy, of
        the rows that its filter keeps.
        """
        to, own, rest = self.expressions, {}, {}
        for name, node in formulas.columns.items():
            try:
                own[name] = to.column(node)
            except NotExactError:
                rest[name] = node
        where, rows = formulas.where, self._frame
        if where is not None:
            with suppress(NotExactError):
                rows, where = rows.filter(to.write(where)), None
        places = {name: f"d{len(self._place)}x{i}" for i, name in enumerate(formulas.columns)}
        added = [x.alias(places[name]) for name, x in own.items()]
        engine = self._other(rows.select("*", *added) if added else rows)
        engine._add({name: places[name] for name in own})  # noqa: SLF001
        if not rest and where is None:
            return engine
        return engine._by_numpy(evolve(formulas, where=where, columns=rest), places)  # noqa: SLF001

    @property
    def expressions(self) -> SparkOf:
        """What writes formulas as expressions of Spark."""
        from sourdine.frames.spark.formulas import SparkOf

        return SparkOf(self._e, self._place, self._kinds)

    def _add(self, places: Mapping[str, str]) -> None:
        """Note columns that were added to the frame, and their types."""
        types = {name: self._frame.schema[place].dataType for name, place in places.items()}
        self.columns = (*self.columns, *places)
        self._place = {**self._place, **places}
        self._kinds = {**self._kinds, **{name: kind_of(own) for name, own in types.items()}}
        self._types = {**self._types, **{name: declared(own) for name, own in types.items()}}

    def _by_numpy(self, formulas: Formulas, all_places: Mapping[str, str]) -> Spark:
        """Return filtered rows with derived columns, which executors compute by NumPy."""
        rows = plain(self._frame, self._e, self._placed_kinds)
        places = {name: all_places[name] for name in formulas.columns}
        types = type(rows.schema)(list(rows.schema.fields))
        for name, place in places.items():
            node = formulas.columns[name]
            types = types.add(place, _SPARK_TYPES[node.type.name] if node.type else "")
        names = {place: name for name, place in self._place.items() if name in self.columns}
        work = Formulated(names, formulas, places, self.reading)
        engine = self._read(mapped(rows, work, types))
        engine._add(places)  # noqa: SLF001
        return engine

    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person; see `sourdine.frames.people`."""
        placed = replace(
            how,
            unit=self._place[how.unit],
            column=None if how.column is None else self._place[how.column],
            order=None if how.order is None else self._place[how.order],
            groups=tuple(self._place[name] for name in how.groups),
        )
        rows = grouped(self._frame, self._e, self._placed_kinds, placed, self.reading)
        engine = self._other(rows)
        engine.columns, engine._place = (), {}  # noqa: SLF001
        engine._add({name: f"c{i}" for i, name in enumerate(how.names)})  # noqa: SLF001
        return engine

    def named(self) -> Any:
        """Return the rows as a data frame of Spark's, with the names of the columns."""
        return self._frame.select(*(self._place[n] for n in self.columns)).toDF(*self.columns)

    @property
    def _placed_kinds(self) -> dict[str, str]:
        return {self._place[name]: self._kinds[name] for name in self.columns}

    def _other(self, frame: Any) -> Spark:
        """Return other rows with the same columns."""
        engine = self.afresh()
        engine._frame = frame  # noqa: SLF001
        return engine

    def _read(self, frame: Any) -> Spark:
        """Return rows that Python has read: columns that it could not convert are texts now."""
        engine = self._other(frame)
        engine._kinds = {  # noqa: SLF001
            n: "text" if kind == "other" else kind for n, kind in self._kinds.items()
        }
        return engine


def _serves(answered: Asked, asked: Asked) -> bool:
    """Return whether the answer to one query includes that to another."""
    if answered.within is not None or asked.within is not None:
        return answered == asked
    if asked.most is None:
        return answered.axes == asked.axes
    most = -1 if answered.most is None else answered.most
    return answered.cells == asked.cells and most >= asked.most


def _texts(values: Any) -> list[str | None]:
    """Return texts; only invalid UTF-8 is missing."""
    try:
        return list(values.to_pylist())
    except UnicodeDecodeError:
        pass
    found: list[str | None] = [None] * len(values)
    for i, value in enumerate(values):
        with suppress(UnicodeDecodeError):
            found[i] = value.as_py()
    return found
