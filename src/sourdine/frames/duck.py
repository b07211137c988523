"""The DuckDB engine, with unit bounding and Arrow streams."""

from __future__ import annotations

from copy import copy
from importlib.util import find_spec
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, finalize

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import kind
from sourdine.frames import sql
from sourdine.frames.cells import inside
from sourdine.frames.engine import Engine, largest, read_like, require_different
from sourdine.frames.memory import WORDS, Column, Memory, memory_of_frame, memory_of_series
from sourdine.frames.reading import STANDARD
from sourdine.frames.units import DIGITS, MOST, NARROW

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes, Ranges, Ticks, Whole
    from sourdine.frames.engine import (
        Axes,
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


# ---- Unit bounding in DuckDB ---------------------------------------------------------------------
#
# It keeps the rows that `sourdine.frames.units` defines. One aggregate counts the rows of each
# person, whose name is hashed once; one window numbers the rows in order; a join combines both.
# Columns of numbers are sorted as they are. DuckDB sorts on disk what does not fit into memory.
# Places are multiplied in 64 bits if few rows are kept, and in 128 otherwise, where
# :math:`rk + o < 2^{63} \cdot 2^{63}` fits for any number of rows per person
# (``test_many_rows_kept_do_not_overflow``).


def bounded(relation: Any, kinds: Mapping[str, str], unit: str, rows: int, key: bytes) -> Any:
    """Return at most ``rows`` rows of each person, with the columns of ``kinds``."""
    rows = min(rows, MOST)
    values = [f"{sql.name(c)} AS v{i}" for i, c in enumerate(kinds)]
    places = [sql.ordered(c, k) for c, k in kinds.items() if c != unit]
    terms = ", ".join(f"{term} ASC NULLS FIRST" for own in places for term in own)
    whole = kinds[unit] in {"integer", "boolean"}
    person = sql.person(unit, kinds[unit])
    person = person if whole else f"encode({person})"
    over = f"PARTITION BY {person}" + (f" ORDER BY {terms}" if terms else "")
    place = f"row_number() OVER ({over}) - 1 AS place"
    ranked = relation.project(", ".join([f"{person} AS person", *values, place]))

    owners = relation.project(f"{person} AS owner")
    counted = owners.aggregate("owner, count(*) AS owned", "owner")
    name = "encode(CAST(owner AS VARCHAR))" if whole else "owner"
    digest = f"sha256(CAST('{key.hex()}' AS BLOB) || coalesce({name}, CAST('' AS BLOB)))"
    number = f"CAST('0x' || left({digest}, {DIGITS}) AS BIGINT)"
    people = counted.project(f"owner, owned, {number} % owned AS first")

    same = "own.person IS NOT DISTINCT FROM people.owner"
    joined = ranked.set_alias("own").join(people.set_alias("people"), same)
    kept = joined.filter(stays(rows))
    return kept.project(", ".join(f"v{i} AS {sql.name(c)}" for i, c in enumerate(kinds)))


def stays(rows: int) -> str:
    """Return the condition that a row stays, by its ``place``, the rows ``owned`` and ``first``."""
    wide = "BIGINT" if rows < NARROW else "HUGEINT"
    chosen = f"(CAST(place AS {wide}) * {rows} + first) % owned < {rows}"
    return f"CASE WHEN owned <= {rows} THEN true ELSE {chosen} END"


# ---- One value for each person in DuckDB ---------------------------------------------------------
#
# What `sourdine.frames.people` defines: one query groups the rows by their person. DuckDB adds up
# 64-bit integers in 128 bits.


def grouped(relation: Any, kinds: Mapping[str, str], how: Reduction, reading: Reading) -> Any:
    """Return one row for each person, its columns named as in ``how``."""
    unit = sql.person(how.unit, kinds[how.unit])
    rows = {"person": unit if kinds[how.unit] in {"integer", "boolean"} else f"encode({unit})"}
    if how.column is not None:
        rows["r"] = sql.row_of_person(how, how.column, kinds[how.column], reading)
    if how.order is not None:
        rows["d"] = sql.earliness(how.order, kinds[how.order])
    shared = {f"g{i}": sql.shared(name, kinds[name]) for i, name in enumerate(how.groups)}
    rows |= {place: row for place, (row, _) in shared.items()}
    prepared = relation.project(", ".join(f"{e} AS {n}" for n, e in rows.items()))
    made = [f"{sql.reduced(how)} AS k"]
    made += [f"CASE WHEN min({g}) = max({g}) THEN min({g}) END AS {g}" for g in shared]
    people = prepared.aggregate(", ".join(["person", *made]), "person")
    groups = [
        f"{written.format(place)} AS {sql.name(name)}"
        for name, (place, (_, written)) in zip(how.groups, shared.items(), strict=True)
    ]
    return people.project(", ".join([f"{sql.value(how)} AS {sql.name(how.name)}", *groups]))


# ---- The engine: relations of the caller, or files -----------------------------------------------


OPEN: WeakSet[Any] = WeakSet()
_FETCHED = 1 << 16
_STREAMED = 1 << 15
_TABLE = 1 << 21
"""Up to this many slots are counted in a table: there are fewer on a lattice by default."""
_RARE = 8
"""Fewer values than one for this many slots are sorted instead."""
_WIDE = 1 << 32
"""From this many rows on, counts have 64 bits."""
_BIGINT, _HUGEINT = 1 << 62, 1 << 80
_HALF, _PRODUCT = 62, 1 << 126
_SHORT = 1 << 22
"""Up to this many ticks are added up as floats, exactly for two billion rows."""
_SAMPLE = 1 << 12
_EXACT = 1 << 53
"""Up to here all integers are floats."""


def guarded(work: Callable[[], Any]) -> Any:
    """Run a query; on failure, raise an error without DuckDB's message, which may hold data."""
    import duckdb

    try:
        return work()
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error:
        raise _unreadable() from None
    except RuntimeError as error:
        if "interrupted" in str(error):  # DuckDB's report of Ctrl-C
            raise KeyboardInterrupt from None
        raise


def progress() -> float | None:
    """Return the completed fraction of the running query, if known."""
    parts = [connection.query_progress() for connection in list(OPEN)]
    return max((part / 100 for part in parts if part >= 0), default=None)


def _unreadable() -> ParameterError:
    return ParameterError(
        "data", "be readable to the end", "a file or relation that DuckDB cannot read",
        "Check that it is complete, that the connection of a relation is open, and "
        "that there is enough memory.",
    )  # fmt: skip


def private_connection() -> Any:
    """Open a private in-memory database that prints nothing and spills to a folder of its own.

    Spilled data is private: only the user may read the folder, which is deleted with the database.
    """
    import duckdb

    folder = mkdtemp(prefix="sourdine-")
    connection = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": folder,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        },
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    # the files are local, and reading ahead into buffers takes longer than waiting for the cache
    connection.execute("SET disable_parquet_prefetching = true")
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    OPEN.add(connection)
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    return connection


class Duck(Engine):
    """A relation; every count is one query on its own connection, and only counts come out.

    ``connection`` is kept open while the relation is in use, and None for a relation of the caller.
    Columns in ``untyped``, and all of parsed text, have no meaningful type.
    """

    def __init__(
        self,
        relation: Any,
        connection: Any = None,
        *,
        parsed: bool = False,
        untyped: Collection[str] = (),
    ) -> None:
        require_different(relation.columns)
        self.parsed, self._part, self._connection = parsed, False, connection
        self._note(_types_of(relation), relation.columns if parsed else untyped)
        floats = "float" in self._kinds.values()
        self._infers = (
            floats and connection is None and "PARQUET" in str(guarded(relation.explain)).upper()
        )
        self._held = _with_nan(relation) if self._infers else relation
        self._later: Callable[[], Any] = lambda: relation

    def _note(self, types: Mapping[str, Any], untyped: Collection[str]) -> None:
        """Note the columns and their types, of which some have no meaning."""
        self.columns, self._dtypes, self._untyped = tuple(types), types, untyped
        self._kinds = {name: sql.kind_of(own) for name, own in types.items()}
        self._holds = {name: sql.holds(own) for name, own in types.items()}

    def _rows(self) -> Any:
        if self._held is None:
            self._held = self._later()
        return self._held

    @property
    def is_file(self) -> bool:
        """Whether the rows are in a file, not in a relation of the caller."""
        return self._connection is not None

    def kind(self, name: str) -> str | None:
        """Return the type of a column; None for parsed text, which would depend on its values."""
        return None if self.parsed else self._kinds[name]

    def declared(self, name: str) -> Declared | None:
        return None if name in self._untyped else sql.declared(self._dtypes[name])

    def rows(self) -> int:
        return int(guarded(self._rows().aggregate("count(*)").fetchall)[0][0])

    def _keys(
        self, cells: Named, key: Callable[[Cell, str, str, str, Reading], sql.Key] = sql.key
    ) -> tuple[list[sql.Key], Any]:
        """Return the keys of cells and the relation that has them as k0, k1, ..."""
        keys = [
            key(cell, c, self._kinds[c], f"x{i}", self._reading_of(c))
            for i, (c, cell) in enumerate(cells)
        ]
        prepared = {n: e for k in keys for n, e in k.prepared.items()}
        inside = self._rows().project(", ".join(f"{e} AS {n}" for n, e in prepared.items()))
        outside = ", ".join(f"{k.expression} AS k{i}" for i, k in enumerate(keys))
        return keys, inside.project(outside)

    def _reading_of(self, column: str) -> Reading:
        """Return how the texts of a column are read; decimals and the like are not texts."""
        return self.reading if self._holds[column] == WORDS else STANDARD

    def _slots_of(
        self, keys: Sequence[sql.Key], cells: Named, columns: Sequence[Column]
    ) -> list[Whole]:
        """Return the slots: those that DuckDB computed, or those of the raw values."""
        found = []
        for key, (name, cell), column in zip(keys, cells, columns, strict=True):
            column.reading = self._reading_of(name)
            found.append(np.asarray(column.data, np.int64) if key.direct else cell.slots(column))
        return found

    def groups(self, cells: Named) -> Iterator[Groups]:
        streamed = self._streamed(cells)
        if streamed is not None and (size := cells[0][1].size) <= _TABLE:
            yield _tallied(streamed, size)
            return
        keys, relation = self._keys(cells)
        yield from self._counted(cells, keys, relation)

    def weighted(self, cells: Named, weight: One) -> Iterator[Tallied]:
        """Yield the sums of weights, added up by DuckDB if it computes their ticks."""
        keys, relation = self._keys([*cells, weight])
        if not keys[-1].direct:
            yield from super().weighted(cells, weight)
            return
        names = ", ".join(f"k{i}" for i in range(len(cells)))
        total = f"CAST(coalesce(sum(greatest(k{len(cells)}, 0)), 0) AS BIGINT) AS n"
        summed = relation.aggregate(f"{names}, {total}" if cells else total, names)
        for columns, sums in _batches(summed):
            yield self._slots_of(keys[:-1], cells, columns), sums

    def _streamed(self, cells: Named) -> Iterator[NDArray[np.float64]] | None:
        """Return the unrounded slots of all rows; None if a cell has none, or without Arrow.

        NumPy counts numbers in a table faster than DuckDB counts groups.
        """
        found = self._stream_of(*cells[0]) if len(cells) == 1 else None
        if found is None:
            return None
        return _floats(self._rows().project(found[0]).project(f"{found[1]} AS z"))

    def _stream_of(self, name: str, cell: Cell) -> tuple[str, str] | None:
        if find_spec("pyarrow") is None:
            return None
        return sql.streamed(cell, name, self._kinds[name], self._reading_of(name))

    def in_one_pass(self, name: str, cell: Ticks) -> bool:
        return cell.size <= _TABLE and self._stream_of(name, cell) is not None

    def _counted(self, cells: Named, keys: Sequence[sql.Key], relation: Any) -> Iterator[Groups]:
        names = ", ".join(f"k{i}" for i in range(len(keys)))
        counted = relation.aggregate(f"{names}, count(*) AS n", names)
        if all(k.direct for k in keys):
            found = guarded(counted.fetchnumpy)
            slots = [np.asarray(found[f"k{i}"], np.int64) for i in range(len(keys))]
            yield slots, np.asarray(found["n"], np.int64)
            return
        for columns, counts in _batches(counted):
            yield self._slots_of(keys, cells, columns), counts

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        """Yield the slots of the rows, in the order of the file."""
        keys, relation = self._keys(cells, sql.slot)
        self._in_order()
        for columns in _streamed(relation, self._connection, rows):
            yield self._slots_of(keys, cells, columns)

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the sums of powers of ticks, in one query if DuckDB can compute them itself."""
        found = self.sums([], (name, cell), most)
        if found is None:
            return super().moments(name, cell, most)
        return found[1][0][1:] if found[1] else [0] * (most + 1)

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        """Return sums of products of ticks, in one query if DuckDB can compute them itself.

        A product of up to 126 bits is summed in two halves, which 2**64 rows do not overflow.
        """
        keys, relation = self._keys(cells)
        most = max(largest(cells, own) for own in powers)
        if most >= _PRODUCT or not all(k.direct for k in keys):
            return super().products(cells, powers)
        wide = "BIGINT" if most < _BIGINT else "HUGEINT"
        half = f"CAST({1 << _HALF} AS HUGEINT)"
        added: list[str] = []
        for own in powers:
            ticks = [f"CAST(k{i} AS {wide})" for i, power in enumerate(own) for _ in range(power)]
            product = " * ".join(ticks) or f"CAST(1 AS {wide})"
            halves = (f"({product}) // {half}", f"({product}) % {half}")
            added += [product] if wide == "BIGINT" else halves
        there = " AND ".join(f"k{i} >= 0" for i in range(len(keys)))
        summed = ", ".join(f"sum({x}) AS s{i}" for i, x in enumerate(added))
        (found,) = guarded(relation.filter(there).aggregate(summed).fetchall)
        sums = [int(x or 0) for x in found]
        if wide == "BIGINT":
            return sums
        return [(a << _HALF) + b for a, b in zip(sums[::2], sums[1::2], strict=True)]

    def within(self, cells: Named, ranges: Ranges) -> Iterator[Groups]:
        """Yield slots within ranges; other rows are left out by their raw values.

        Where DuckDB infers too much (`_with_nan`) it must not see through the filter, and rows that
        it lets pass nevertheless are left out here.
        """
        name, cell = cells[-1]
        streamed = self._streamed(cells)
        if streamed is not None:
            yield from _selected(streamed, cell.size, ranges)
            return
        engine, raw = self, sql.holding(cell, name, self._kinds[name], ranges)
        if raw is not None:
            seen = f"CASE WHEN random() < 2 THEN {raw} ELSE false END" if self._infers else raw
            engine = self._derived(self._rows().filter(seen))
        keys, relation = engine._keys(cells)  # noqa: SLF001
        if raw is None and keys[-1].direct and ranges and not self._infers:
            last = f"k{len(keys) - 1}"
            relation = relation.filter(
                " OR ".join(f"{last} BETWEEN {a} AND {b - 1}" for a, b in ranges)
            )
        for slots, counts in engine._counted(cells, keys, relation):  # noqa: SLF001
            there = inside(slots[-1], ranges)
            yield [slot[there] for slot in slots], None if counts is None else counts[there]

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return all values of a column, in the order of the file."""
        del strict
        self._in_order()
        value = self._rows().project(f"{sql.raw(name, self._kinds[name])} AS k0")
        column = Column.of_array(guarded(value.fetchnumpy)["k0"])
        column.holds = None if self.parsed else self._holds[name]
        column.reading = self._reading_of(name)
        return column

    def _in_order(self) -> None:
        if self._connection is not None:
            self._connection.execute("SET preserve_insertion_order = true")

    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        values = [f"{sql.raw(c, self._kinds[c])} AS k{i}" for i, c in enumerate(names)]
        keys = ", ".join(f"k{i}" for i in range(len(names)))
        yield from _batches(
            self._rows().project(", ".join(values)).aggregate(f"{keys}, count(*) AS n", keys)
        )

    def sums(self, axes: Axes, of: One | None, most: int) -> Sums | None:
        """Return the sums of each group: rows are summed by raw keys, which are then looked up."""
        keys = [] if of is None else self._keys([of])[0]
        last = 0 if of is None else of[1].grid.last
        raw = any(self._kinds[c] == "float" or not cell.size for c, cell in axes)
        if raw or most > 8 or last**most >= _HUGEINT or not all(k.direct for k in keys):
            return None
        floats = last < _SHORT
        found = self._folded(axes, keys, of) if floats and most == 1 else None
        if found is None:
            found = self._summed(axes, keys, most, last, floats=floats)
        if floats and last * sum(int(row[len(axes)]) for row in found) > _EXACT:
            found = self._summed(axes, keys, most, last, floats=False)
        at = np.array([row[: len(axes)] for row in found], np.int64).reshape(len(found), len(axes))
        slots = [
            np.append(np.fromiter(cell.codes.values(), np.int64), -1)[at[:, i]]
            for i, (_, cell) in enumerate(axes)
        ]
        return slots, [[int(x or 0) for x in row[len(axes) :]] for row in found]

    def _folded(
        self, axes: Axes, keys: Sequence[sql.Key], of: One | None
    ) -> list[tuple[Any, ...]] | None:
        """Return what `_summed` returns, by `sql.FOLD`; None if a value is NaN or far too large.

        Whether some of the first rows are so is looked at before all rows are read.
        """
        plain = self.is_file and not self._part and not self.parsed
        if of is None or not plain or not keys[0].raised:
            return None
        last = of[1].grid.last
        for rows in (self._rows().limit(_SAMPLE), self._rows()):
            found, at = [], len(axes) + 2
            for row in self._summed(axes, keys, 1, last, folded=rows):
                total = sql.unfolded(row[at] or 0.0, row[at - 1], last)
                if total is None:
                    return None
                found.append((*row[:at], total))
        return found

    def _summed(
        self,
        axes: Axes,
        keys: Sequence[sql.Key],
        most: int,
        last: int,
        *,
        floats: bool = True,
        folded: Any = None,
    ) -> list[tuple[Any, ...]]:
        """Return indices of codes, the number of rows and the sums of powers of ticks.

        DuckDB adds up floats faster than integers. Sums of ticks as floats are exact if none of
        them can pass `_EXACT`, in whichever order they are added; so are sums of folded ones.
        """
        prepared = {n: e for k in keys for n, e in k.prepared.items()}
        prepared |= {f"a{i}": self._group(c) for i, (c, _) in enumerate(axes)}
        places = [f"a{i}" for i in range(len(axes))]
        wide = "BIGINT" if last**most < _BIGINT else "HUGEINT"
        tick = f"CAST(t AS {wide})"
        powers = (
            [sql.fold(last)]
            if folded is not None
            else ["t" if floats and p == 1 else " * ".join([tick] * p) for p in range(1, most + 1)]
        )
        added = ["count(*) AS n"]
        if keys:
            added += ["count(t) AS s0", *(f"sum({x}) AS s{p}" for p, x in enumerate(powers, 1))]
        totals = [part.split(" AS ")[-1] for part in added]
        rows = self._rows() if folded is None else folded
        ticks = [f"{k.summed if folded is None else k.raised} AS t" for k in keys]
        names = ", ".join(places)
        inner = rows.project(", ".join(f"{e} AS {n}" for n, e in prepared.items()))
        inner = inner.project(", ".join([*places, *ticks]) or "1")
        inner = inner.aggregate(", ".join([*places, *added]), names)
        codes = [f"{sql.numbered(cell, f'a{i}')} AS a{i}" for i, (_, cell) in enumerate(axes)]
        outer = inner.project(", ".join([*codes, *totals]))
        summed = [f"sum({total})" for total in totals]
        found: list[tuple[Any, ...]] = guarded(
            outer.aggregate(", ".join([*places, *summed]), names).fetchall
        )
        return found

    def _group(self, column: str) -> str:
        """Return what rows are grouped by; of texts, the empty one is not listed anyway."""
        kind = self._kinds[column]
        return sql.name(column) if kind == "text" else sql.raw(column, kind)

    def present(self, name: str) -> int:
        """Return the number of values that are not missing, by one count."""
        there = sql.present(name, self._kinds[name])
        return int(guarded(self._rows().aggregate(f"count_if({there})").fetchall)[0][0] or 0)

    def split(self, name: str, keys: Codes) -> list[Engine]:
        kind = self._kinds[name]
        return [
            self._derived(self._rows().filter(sql.matches(keys, code, name, kind)))
            for code in range(keys.size)
        ]

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each person; see `bounded`."""
        kinds = {name: self._kinds[name] for name in self.columns}
        return self._derived(bounded(self._rows(), kinds, unit, rows, key))

    def derived(self, formulas: Formulas) -> Duck | None:
        """Return filtered rows with derived columns, if DuckDB computes them as NumPy does."""
        from sourdine.frames.formulas.sql import SqlOf
        from sourdine.frames.formulas.tree import NotExactError

        to = SqlOf(self._kinds, self._reading_of, collated=not self.is_file)
        try:
            added = {name: to.column(node) for name, node in formulas.columns.items()}
            where = None if formulas.where is None else to.write(formulas.where)
        except NotExactError:
            return None
        if where is not None and self._infers:
            where = f"CASE WHEN random() < 2 THEN {where} ELSE false END"
        listed = ", ".join(["*", *(f"{x} AS {sql.name(c)}" for c, (x, _) in added.items())])

        def later() -> Any:
            rows = self._rows() if where is None else self._rows().filter(where)
            return rows.project(listed) if added else rows

        engine = self._derived(None)
        engine._later = later  # noqa: SLF001
        types = {c: kind for c, (_, kind) in added.items()}
        engine._note({**self._dtypes, **types}, self._untyped)  # noqa: SLF001
        engine.columns = (*self.columns, *types)
        return engine

    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person; dates in texts are left to Python.

        What DuckDB would infer of NaN (`_with_nan`) does not matter here: no person has one.
        """
        if any(self._kinds[name] == "text" and self._holds[name] == WORDS for name in how.times):
            return super().reduced(how)
        reading = STANDARD if how.column is None else self._reading_of(how.column)
        relation = grouped(self._rows(), self._kinds, how, reading)
        engine = self._derived(relation)
        types = _types_of(relation)
        engine._note(types, types if self.parsed else ())  # noqa: SLF001
        engine._infers = False  # noqa: SLF001
        return engine

    def _in_memory(self, names: Sequence[str]) -> Engine:
        """Read some columns in one query, so that their rows stay together."""
        values = [f"{sql.raw(c, self._kinds[c])} AS k{i}" for i, c in enumerate(names)]
        found = guarded(self._rows().project(", ".join(values)).fetchnumpy)
        columns = {}
        for name, value in zip(names, found.values(), strict=True):
            columns[name] = Column.of_array(value)
            columns[name].holds = None if self.parsed else self._holds[name]
        return read_like(Memory(columns, len(columns[names[0]])), self)

    def _derived(self, relation: Any) -> Duck:
        engine = copy(self)
        engine._held = relation  # noqa: SLF001
        engine._part = True  # noqa: SLF001
        return engine


def _types_of(relation: Any) -> dict[str, Any]:
    return dict(zip(relation.columns, relation.types, strict=True))


def _with_nan(relation: Any) -> Any:
    """Add an empty branch that may hold NaN, so that DuckDB does not infer its absence.

    DuckDB assumes that the statistics of a Parquet file exclude NaN, which they do not, and then
    counts it as a large number. On a connection of our own the inference is turned off; on the
    caller's this branch prevents it. Filters pass through the union and are kept off floats here.
    """
    columns = [
        f"CAST('nan' AS {t}) AS {sql.name(c)}" if sql.kind_of(t) == "float" else sql.name(c)
        for c, t in zip(relation.columns, relation.types, strict=True)
    ]
    nothing = relation.limit(1).project(", ".join(columns)).filter("random() < -1")
    return relation.union(nothing)


def _batches(counted: Any) -> Iterator[tuple[list[Column], Whole]]:
    """Yield groups in batches: a column for each key, and the counts."""
    found = guarded(counted.fetchnumpy)
    counts = np.asarray(found.pop("n"), np.int64)
    for start in range(0, len(counts), _FETCHED):
        batch = slice(start, start + _FETCHED)
        yield [Column.of_array(keys[batch]) for keys in found.values()], counts[batch]


def _streamed(relation: Any, connection: Any, rows: int) -> Iterator[list[Column]]:
    """Yield the rows of a query as it runs: by Arrow, else as tuples, else all at once."""
    if find_spec("pyarrow") is not None:
        reader = guarded(lambda: relation.to_arrow_reader(rows))
        while (batch := _next_batch(reader)) is not None:
            for start in range(0, len(batch), rows):
                yield [_column_of_arrow(c) for c in batch.slice(start, rows).columns]
    elif connection is not None:
        cursor = connection.cursor()
        guarded(lambda: cursor.execute(relation.sql_query()))
        while found := guarded(lambda: cursor.fetchmany(rows)):
            yield [Column.of(values) for values in zip(*found, strict=True)]
    else:
        whole = [Column.of_array(c) for c in guarded(relation.fetchnumpy).values()]
        for start in range(0, len(whole[0]) if whole else 0, rows):
            yield [c[start : start + rows] for c in whole]


def _floats(relation: Any) -> Iterator[NDArray[np.float64]]:
    """Yield the only column of a query in pieces of some rows, NaN for NULL."""
    reader = guarded(lambda: relation.to_arrow_reader(_STREAMED))
    while (batch := _next_batch(reader)) is not None:
        values = batch.column(0).to_numpy(zero_copy_only=False)
        for start in range(0, len(values), _STREAMED):
            yield values[start : start + _STREAMED]


def _tallied(unrounded: Iterator[NDArray[np.float64]], size: int) -> Tallied:
    """Return the slots that occur and their counts; a slot is clamped before it is rounded."""
    table, rows, missing = None, 0, 0
    near = np.empty(_STREAMED)
    slots = np.empty(max(2 * size, 4 * _STREAMED), np.intp)  # counted together: tables are long
    end = 0
    for z in unrounded:
        t = np.clip(z, 0.0, float(size - 1), out=near[: len(z)])
        if np.isnan(t.min()):
            t = t[~np.isnan(t)]
            missing += len(z) - len(t)
        if end + len(t) > len(slots):
            table, end = _added(table, slots[:end], size, rows), 0
        slots[end : end + len(t)] = t
        end += len(t)
        rows += len(t)
    if table is None and end < size // _RARE:
        held, counts = np.unique(slots[:end], return_counts=True)
        return [np.append(held, -1)], np.append(counts, missing)
    table = _added(table, slots[:end], size, rows)
    held = np.flatnonzero(table)
    return [np.append(held, -1)], np.append(table[held].astype(np.int64), missing)


def _added(table: NDArray[Any] | None, slots: Whole, size: int, rows: int) -> NDArray[Any]:
    """Count slots of ``rows`` rows in all: in 32 bits if they hold that, which caches more."""
    kind = np.uint32 if rows < _WIDE else np.int64
    counts = np.zeros(size, kind) if table is None else table.astype(kind, copy=False)
    np.add.at(counts, slots, kind(1))
    return counts


def _selected(
    unrounded: Iterator[NDArray[np.float64]], size: int, ranges: Ranges
) -> Iterator[tuple[list[Whole], None]]:
    """Yield the ticks within ranges, which are searched only in blocks of ticks that hold some."""
    shift = max(0, size.bit_length() - 16)
    needed = np.zeros((size - 1 >> shift) + 1, bool)
    for a, b in ranges:
        needed[a >> shift : (b - 1 >> shift) + 1] = True
    near, ticks, blocks = np.empty(_STREAMED), *np.empty((2, _STREAMED), np.intp)
    for z in unrounded:
        n = len(z)
        t = np.clip(z, 0.0, float(size - 1), out=near[:n])
        with np.errstate(invalid="ignore"):
            ticks[:n] = t  # of NaN: any number, which is left out below
        np.right_shift(ticks[:n], shift, out=blocks[:n])
        some = np.flatnonzero(needed.take(blocks[:n], mode="clip"))
        found = ticks[some[~np.isnan(t[some])]]
        yield [found[inside(found, ranges)]], None


def _next_batch(reader: Any) -> Any:
    """Return the next batch, or None after the last."""
    try:
        return next(reader, None)
    except Exception:  # noqa: BLE001 - Arrow hides the engine's type of error
        raise _unreadable() from None


def _column_of_arrow(values: Any) -> Column:
    """Convert one column of a batch: slots, or the raw values of listed categories."""
    gone = values.null_count > 0
    kind = str(values.type)
    if not gone and kind.startswith(("int", "uint", "float", "double")):
        return Column.of_array(values.to_numpy(zero_copy_only=False))
    return Column.of(values.to_pylist())


# ---- Arrow data: ``__arrow_c_stream__`` or ``__arrow_c_array__`` ---------------------------------
#
# PyArrow imports it where it is installed, otherwise DuckDB. A stream may be read only once, so
# all of it is read when the frame is made.


def exports_arrow(data: object) -> bool:
    """Return whether an object declares that it exports Arrow data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def open_capsule(data: object) -> Engine:
    """Return the engine of an object's Arrow export: rows of columns, or one column."""
    has_arrow = find_spec("pyarrow") is not None
    try:
        return _in_arrow(data) if has_arrow else _in_duckdb(data)
    except ParameterError:
        raise
    except Exception:  # noqa: BLE001 - an exporter's message may hold data
        hint = (
            "Check that the object still holds its data."
            if has_arrow
            else "In the checkout, run pip install '.[arrow]', which reads more of them."
        )
        raise ParameterError("data", "export valid Arrow data", kind(data), hint) from None


def _in_arrow(data: Any) -> Engine:
    import narwhals as nw
    import pyarrow as pa

    column = pa.chunked_array(data)
    if not pa.types.is_struct(column.type):
        return memory_of_series(nw.from_native(column, series_only=True))
    require_different([field.name for field in column.type])
    return memory_of_frame(nw.from_native(pa.Table.from_struct_array(column), eager_only=True))


def _in_duckdb(data: Any) -> Engine:
    connection = private_connection()
    connection.execute("SET preserve_insertion_order = true")
    connection.from_arrow(data).create("exported")
    return Duck(connection.table("exported"), connection)
