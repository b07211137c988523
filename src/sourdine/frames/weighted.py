"""Rows that count with a weight: as many times as their weight has ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sourdine.frames.cells import Present
from sourdine.frames.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes, Ticks
    from sourdine.frames.memory import Declared

    Whole = NDArray[np.int64]
    Named = Sequence[tuple[str, Cell]]


class WeightedRows(Engine):
    """The rows of an engine, each counted as often as the tick of its weight says.

    Counts are then sums of weights, exactly: they are integers, and those of all engines agree
    (``test_engine``). A missing weight is 0.

    Parameters
    ----------
    rows
        The engine that holds the rows.
    weight
        The column of weights and its lattice, which begins at 0.
    """

    def __init__(self, rows: Engine, weight: tuple[str, Ticks]) -> None:
        self._rows, self._weight = rows, weight
        self.parsed, self.reading = rows.parsed, rows.reading

    @property
    def columns(self) -> tuple[str, ...]:
        return self._rows.columns

    def kind(self, name: str) -> str | None:
        return self._rows.kind(name)

    def declared(self, name: str) -> Declared | None:
        return self._rows.declared(name)

    def afresh(self) -> Engine:
        return WeightedRows(self._rows.afresh(), self._weight)

    def rows(self) -> int:
        """Return the sum of all weights."""
        return sum(int(sums.sum()) for _, sums in self._rows.weighted([], self._weight))

    def groups(self, cells: Named) -> Iterable[tuple[list[Whole], Whole]]:
        return self._rows.weighted(cells, self._weight)

    def within(
        self, cells: Named, ranges: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[list[Whole], Whole]]:
        for (w, *slots), counts in self._rows.within([self._weight, *cells], ranges):
            ticks = np.maximum(w, 0)
            yield slots, ticks if counts is None else ticks * counts

    def present(self, name: str) -> int:
        """Return the sum of the weights of values that are not missing."""
        found = self.groups([(name, Present(name))])
        return sum(int(sums[slots >= 0].sum()) for (slots,), sums in found)

    def total(self, name: str, cell: Ticks, power: int) -> int:
        return self.moments(name, cell, power)[power]

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the sums of weights times powers of ticks."""
        _, found = self.sums([], (name, cell), most)
        return found[0][1:] if found else [0] * (most + 1)

    def sums(
        self, axes: Sequence[tuple[str, Codes]], of: tuple[str, Ticks] | None, most: int
    ) -> tuple[list[Whole], list[list[int]]]:
        """Return codes along axes, and for each the weights of rows and of powers of ticks."""
        added: dict[int, list[int]] = {}
        lengths = [cell.size + 1 for _, cell in axes]
        for slots, w in self.groups([*axes, *([] if of is None else [of])]):
            place: Whole = np.zeros(len(w), np.int64)
            for slot, length in zip(slots, lengths, strict=False):
                place = place * length + slot + 1
            keys = np.zeros(1, np.int64)
            if axes:
                keys, place = np.unique(place, return_inverse=True)
            parts = _powers(w, slots[-1] if of else None, place, len(keys), most)
            for key, *own in zip(keys.tolist(), *parts, strict=True):
                before = added.get(key, [0] * len(own))
                added[key] = [a + int(b) for a, b in zip(before, own, strict=True)]
        rest, found = np.array(list(added), np.int64), []
        for length in reversed(lengths):
            found.append(rest % length - 1)
            rest = rest // length
        return found[::-1], list(added.values())

    def _refuse(self, *asked: Any, **options: Any) -> NoReturn:
        """Raise: weighted rows are only counted."""
        del asked, options
        raise TypeError("weighted rows are counted and not shown")

    slots = column = only = combinations = split = bound = reduced = _refuse


def _powers(
    w: Whole, ticks: Whole | None, place: NDArray[np.intp], size: int, most: int
) -> list[list[int]]:
    """Return for each place the weights, and the weights times powers of ticks, exactly."""
    parts = [_added(w, place, size)]
    if ticks is None:
        return parts
    if len(ticks) and ticks.min() < 0:
        there = ticks >= 0
        w, ticks, place = w[there], ticks[there], place[there]
    heaviest, highest = int(w.max(initial=0)) * len(w), int(ticks.max(initial=0))
    for power in range(most + 1):
        kind: Any = np.int64 if heaviest * highest**power < 1 << 62 else object
        parts.append(_added(w.astype(kind) * ticks.astype(kind) ** power, place, size))
    return parts


def _added(values: NDArray[Any], place: NDArray[np.intp], size: int) -> list[int]:
    if size == 1:
        return [int(values.sum())]
    sums = np.zeros(size, values.dtype)
    np.add.at(sums, place, values)
    return [int(v) for v in sums]
