"""Data in memory: NumPy columns, snapped and counted block by block."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.engine import Engine
from sourdine.tally.keyed import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell, Codes
    from sourdine.tally.column import Column
    from sourdine.tally.types import Declared

__all__ = ["UNNAMED", "Memory"]

UNNAMED = "value"
"""The name of a column that has none."""
BLOCK = 1 << 17
"""Rows snapped at once: intermediate arrays stay in the processor's cache."""


class Memory(Engine):
    """Columns read when they are first needed.

    Parameters
    ----------
    readers
        For each column, what reads it.
    rows
        How many rows there are.
    part
        Gives the slots of some rows alone; without it they are cut out of the whole column.
    types
        What the types of columns say, of those that have one.
    """

    def __init__(
        self,
        readers: Mapping[str, Callable[[], Column]],
        rows: int,
        part: Callable[[str, Cell, slice], NDArray[np.int64]] | None = None,
        *,
        types: Mapping[str, Declared | None] | None = None,
    ) -> None:
        self._readers = dict(readers)
        self._read: dict[str, Column] = {}
        self._rows = rows
        self._part = part
        self._types = dict(types or {})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self._readers)

    def rows(self) -> int:
        """Return how many there are."""
        return self._rows

    def declared(self, name: str) -> Declared | None:
        """Return what the type of a column says."""
        return self._types.get(name)

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return a column."""
        del strict
        if name not in self._read:
            self._read[name] = self._readers[name]()
            self._read[name].reading = self.reading
        return self._read[name]

    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterator[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield the slots of each block of rows."""
        columns = [
            self.column(name).read_as(numbers=cell.numeric, dates=cell.dated)
            for name, cell in cells
        ]
        for start in range(0, self._rows, BLOCK):
            block = slice(start, start + BLOCK)
            yield (
                [cell.slots(c[block]) for (_, cell), c in zip(cells, columns, strict=True)],
                None,
            )

    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of each block of rows; no column is read as a whole for it."""
        for start in range(0, self._rows, rows):
            block = slice(start, start + rows)
            yield [self._slots_of(name, cell, block) for name, cell in cells]

    def _slots_of(self, name: str, cell: Cell, block: slice) -> NDArray[np.int64]:
        whole = name in self._read or cell.dated or not self.reading.is_standard
        if self._part is None or whole:
            return cell.slots(self.column(name)[block])
        return self._part(name, cell, block)

    def only(self, *names: str) -> Engine:
        """Return some columns alone."""
        engine = copy(self)
        engine._readers = {name: self._readers[name] for name in names}  # noqa: SLF001
        return engine

    def combinations(
        self, names: Sequence[str]
    ) -> Iterator[tuple[list[Column], NDArray[np.int64] | None]]:
        """Yield the values of columns."""
        yield [self.column(name) for name in names], None

    def array(self, name: str) -> NDArray[Any] | None:
        """Return the numbers of a column."""
        return self.column(name).array

    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key."""
        slots = keys.slots(self.column(name))
        return [self._take(np.flatnonzero(slots == code)) for code in range(keys.size)]

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep so many rows of each person; see `sourdine.tally.keyed`."""
        columns = [self.column(name) for name in self.columns]
        return self._take(kept(self.column(unit), columns, rows, key))

    def _take(self, rows: NDArray[np.int64]) -> Memory:
        def reader(name: str) -> Callable[[], Column]:
            return lambda: self.column(name)[rows]

        readers = {name: reader(name) for name in self.columns}
        part = Memory(readers, len(rows), types=self._types)
        part.parsed, part.reading = self.parsed, self.reading
        return part
