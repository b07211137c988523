"""So many rows of each person, chosen where the rows are.

One shuffle brings the rows of a person together and one sort the identical ones; then Python goes
through them once, with the keyed hash of `sourdine.tally.keyed`. What it remembers of a person is
the rows kept so far, however many there are. The key is part of the function that is sent to the
executors: it stands in no plan and in no log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappush, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.keyed import row_text
from sourdine.tally.opening import open_data
from sourdine.tally.spark.cells import TIMES
from sourdine.tally.spark.executors import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.tally.spark.cells import Expressions

__all__ = ["bounded", "plain", "sortable"]


def bounded(  # noqa: PLR0913, PLR0917
    frame: Any,  # noqa: ANN401
    e: Expressions,
    kinds: Mapping[str, str],
    unit: str,
    rows: int,
    key: bytes,
) -> Any:  # noqa: ANN401
    """Return the rows that a keyed hash ranks first among those of each person.

    Parameters
    ----------
    frame
        The rows.
    e
        What makes columns of it.
    kinds
        The kind of each column, by its name in the frame.
    unit
        The column that names the person.
    rows
        How many rows each may keep.
    key
        The secret.
    """
    read = plain(frame, e, kinds)
    beside = [sortable(e, e.functions.col(n), k) for n, k in kinds.items() if n != unit]
    who = sortable(e, e.functions.col(unit), kinds[unit])
    together = read.repartition(who).sortWithinPartitions(who, *beside)
    return together.mapInArrow(Keep(unit, rows, key), read.schema)


def plain(frame: Any, e: Expressions, kinds: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the columns as Python takes them by Arrow."""
    return frame.select(*(e.plain(name, kind).alias(name) for name, kind in kinds.items()))


def sortable(e: Expressions, c: Any, kind: str) -> Any:  # noqa: ANN401
    """Return what is equal for values with the same text, and only for those."""
    f = e.functions
    if kind in TIMES:
        return e.text(c, kind)
    if kind == "listed":
        return c.cast("string")
    if kind == "float":  # -0.0 reads as 0, and NaN as nothing
        return f.when(~f.isnan(c), c.cast("double") + f.lit(0.0))
    return f.nullif(c, f.lit("")) if kind == "text" else c


@dataclass(slots=True)
class _Person:
    """The rows kept so far: hashes, the largest first, and where the rows are."""

    name: str | None
    heap: list[tuple[int, int, int]] = field(default_factory=list)
    last: str | None = None
    again: int = 0


@dataclass(frozen=True)
class Keep:
    """Keeps so many rows of each person, of batches in which a person's rows stand together.

    Parameters
    ----------
    unit
        The column that names the person.
    rows
        How many.
    key
        The secret; it is not shown.
    """

    unit: str
    rows: int
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that are kept."""
        person: _Person | None = None
        held: dict[int, Any] = {}
        for number, table in enumerate(tables(batches)):
            held[number] = table
            engine = open_data(table)
            names = engine.column(self.unit).texts.tolist()
            starts = [0, *_changes(names), len(names)]
            texts: list[list[str | None]] | None = None
            done: list[_Person] = []
            for a, b in pairwise(starts):
                if person is None or person.name != names[a]:
                    done += [] if person is None else [person]
                    person = _Person(names[a])
                if texts is None:
                    texts = [engine.column(name).texts.tolist() for name in table.column_names]
                self._add(person, number, range(a, b), texts)
            yield from _taken(held, done)
            still = set() if person is None else {table for _, table, _ in person.heap}
            held = {i: own for i, own in held.items() if i in still}
        if person is not None:
            yield from _taken(held, [person])

    def _add(self, person: _Person, table: int, rows: range, texts: list[list[str | None]]) -> None:
        prefix = self.key.hex()
        for row in rows:
            written = row_text([own[row] for own in texts])
            person.again = person.again + 1 if written == person.last else 0
            person.last = written
            text = f"{prefix}{written}#{person.again}".encode("utf-8", "surrogatepass")
            entry = (-int.from_bytes(sha256(text).digest(), "big"), table, row)
            if len(person.heap) < self.rows:
                heappush(person.heap, entry)
            elif entry > person.heap[0]:
                heapreplace(person.heap, entry)


def _changes(names: list[str | None]) -> list[int]:
    """Return where another person begins."""
    return [i for i in range(1, len(names)) if names[i] != names[i - 1]]


def _taken(held: dict[int, Any], people: list[_Person]) -> Iterator[Any]:
    """Yield the rows that people keep."""
    wanted: dict[int, list[int]] = {}
    for person in people:
        for _, table, row in person.heap:
            wanted.setdefault(table, []).append(row)
    for table, rows in wanted.items():
        yield from held[table].take(np.array(sorted(rows), np.int64)).to_batches()
