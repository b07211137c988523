"""Data in DuckDB: a relation of the caller, or a file."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.tally import sql
from sourdine.tally.column import Column
from sourdine.tally.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell, Codes, Ticks

__all__ = ["Duck", "guarded"]

_FETCHED = 1 << 16
_BIGINT, _HUGEINT = 1 << 62, 1 << 80


def guarded(work: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Run a query; if the engine fails, say so without what it says, which may hold data."""
    import duckdb  # noqa: PLC0415

    try:
        return work()
    except duckdb.Error:
        raise ParameterError(
            "data must be readable to the end, got a file or relation that DuckDB cannot read. "
            "Check that it is whole, that a relation's connection is open and memory is enough."
        ) from None


class Duck(Engine):
    """A relation; every count is one query on its own connection, and only counts come out.

    Parameters
    ----------
    relation
        The rows.
    connection
        Kept open as long as the relation is used.
    parsed
        Whether the rows come from text.
    """

    def __init__(self, relation: Any, connection: Any = None, *, parsed: bool = False) -> None:  # noqa: ANN401
        self.parsed = parsed
        kinds = [sql.kind_of(t) for t in relation.types]
        self._kinds = dict(zip(relation.columns, kinds, strict=True))
        self._connection = connection
        self._infers = "float" in kinds and connection is None and _reads_parquet(relation)
        self._relation = _with_nan(relation) if self._infers else relation

    @property
    def columns(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self._kinds)

    def rows(self) -> int:
        """Return how many there are."""
        return int(guarded(self._relation.aggregate("count(*)").fetchall)[0][0])

    def _keys(self, cells: Sequence[tuple[str, Cell]]) -> tuple[list[sql.Key], Any]:
        """Return the keys of cells and the relation that has them as k0, k1, ..."""
        keys = [sql.key(cell, c, self._kinds[c], f"x{i}") for i, (c, cell) in enumerate(cells)]
        prepared = {n: e for k in keys for n, e in k.prepared.items()}
        inside = self._relation.project(", ".join(f"{e} AS {n}" for n, e in prepared.items()))
        outside = ", ".join(f"{k.expression} AS k{i}" for i, k in enumerate(keys))
        return keys, inside.project(outside)

    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterator[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield the slots that occur, and how often."""
        keys, relation = self._keys(cells)
        names = ", ".join(f"k{i}" for i in range(len(keys)))
        counted = relation.aggregate(f"{names}, count(*) AS n", names)
        if all(k.direct for k in keys):
            found = guarded(counted.fetchnumpy)
            slots = [np.asarray(found[f"k{i}"], np.int64) for i in range(len(keys))]
            yield slots, np.asarray(found["n"], np.int64)
            return
        for columns, counts in _batches(counted):
            yield (
                [
                    np.asarray(c.data, np.int64) if k.direct else cell.slots(c)
                    for k, (_, cell), c in zip(keys, cells, columns, strict=True)
                ],
                counts,
            )

    def total(self, name: str, cell: Ticks, power: int) -> int:
        """Return the exact sum of powers of ticks, added up in 128 bits if that is enough."""
        (key,), relation = self._keys([(name, cell)])
        largest = cell.grid.last**power if power <= 8 else _HUGEINT
        if not key.direct or largest >= _HUGEINT:
            return super().total(name, cell, power)
        wide = "BIGINT" if largest < _BIGINT else "HUGEINT"
        product = " * ".join([f"CAST(1 AS {wide})"] + [f"CAST(k0 AS {wide})"] * power)
        summed = relation.aggregate(f"sum(CASE WHEN k0 >= 0 THEN {product} END)")
        return int(guarded(summed.fetchall)[0][0] or 0)

    def between(
        self, name: str, cell: Ticks, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ticks within ranges; no others leave the engine."""
        (key,), relation = self._keys([(name, cell)])
        if not key.direct or not ranges or self._infers:
            return super().between(name, cell, ranges)
        inside = " OR ".join(f"k0 BETWEEN {a} AND {b - 1}" for a, b in ranges)
        counted = relation.filter(inside).aggregate("k0, count(*) AS n", "k0").order("k0")
        found = guarded(counted.fetchnumpy)
        return np.asarray(found["k0"], np.int64), np.asarray(found["n"], np.int64)

    def values(self, name: str) -> Iterator[tuple[Column, NDArray[np.int64] | None]]:
        """Yield the values that occur in a column, and how often."""
        value = f"{sql.raw(name, self._kinds[name])} AS k0"
        counted = self._relation.project(value).aggregate("k0, count(*) AS n", "k0")
        for (column,), counts in _batches(counted):
            yield column, counts

    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key."""
        kind = self._kinds[name]
        return [
            self._derived(self._relation.filter(sql.matches(keys, code, name, kind)))
            for code in range(keys.size)
        ]

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep the rows that a keyed hash ranks first; see `sourdine.tally.keyed`.

        Rows of people who own few are not hashed. The first 120 bits of a hash decide.
        """
        owned, first, again, rank = (self._free(n) for n in ("owned", "first", "again", "rank"))
        person = sql.person(unit, self._kinds[unit])
        written = " || ".join(sql.framed(sql.text(c, kind)) for c, kind in self._kinds.items())

        def hashed(number: str) -> str:
            h = f"sha256('{key.hex()}' || {written} || '#' || {number})"
            return f"CAST('0x' || left({h}, 30) AS HUGEINT)"

        h = f"CASE WHEN {again} = 1 THEN {first} ELSE {hashed(f'({again} - 1)')} END"
        added = (
            f"count(*) OVER (PARTITION BY {person}) AS {owned}",
            f"CASE WHEN {owned} > {rows} THEN {hashed('0')} END AS {first}",
            f"row_number() OVER (PARTITION BY {person}, {first}) AS {again}",
            f"row_number() OVER (PARTITION BY {person} ORDER BY {h}) AS {rank}",
        )
        relation = self._relation
        for column in added:
            relation = relation.project(f"*, {column}")
        names = ", ".join(sql.name(c) for c in self.columns)
        return self._derived(relation.filter(f"{rank} <= {rows}").project(names))

    def _derived(self, relation: Any) -> Duck:  # noqa: ANN401
        engine = copy(self)
        engine._relation = relation  # noqa: SLF001
        return engine

    def _free(self, wanted: str) -> str:
        """Return a name that no column has, whatever its case."""
        taken = {c.lower() for c in self.columns}
        while wanted in taken:
            wanted += "_"
        return sql.name(wanted)


def _reads_parquet(relation: Any) -> bool:  # noqa: ANN401
    return "PARQUET" in str(guarded(relation.explain)).upper()


def _with_nan(relation: Any) -> Any:  # noqa: ANN401
    """Add a branch that may hold NaN but holds no row, so that none is inferred to be absent.

    DuckDB takes the statistics of a Parquet file to exclude NaN, which they do not, and then counts
    it as a large number. On a connection of our own the inference is turned off; on the caller's
    it is led to know better. Filters pass through the union and are kept off floats here.
    """
    columns = [
        f"CAST('nan' AS {t}) AS {sql.name(c)}" if sql.kind_of(t) == "float" else sql.name(c)
        for c, t in zip(relation.columns, relation.types, strict=True)
    ]
    nothing = relation.limit(1).project(", ".join(columns)).filter("random() < -1")
    return relation.union(nothing)


def _batches(counted: Any) -> Iterator[tuple[list[Column], NDArray[np.int64]]]:  # noqa: ANN401
    """Yield groups in batches: a column for each key, and the counts."""
    found = guarded(counted.fetchnumpy)
    counts = np.asarray(found.pop("n"), np.int64)
    for start in range(0, len(counts), _FETCHED):
        batch = slice(start, start + _FETCHED)
        yield [Column.of_array(keys[batch]) for keys in found.values()], counts[batch]
