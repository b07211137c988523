"""From a frame to the order statistics that an algorithm needs, and no further."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.points import Points, Window
from sourdine.central.quantiles.selection import points_of_array, windows_within
from sourdine.errors import ParameterError
from sourdine.tally import Ticks
from sourdine.tally.group_rows import between_each
from sourdine.tally.ranges import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.grid import Grid
    from sourdine.tally import Frame, Tally

    Counted = tuple[NDArray[np.int64], NDArray[np.int64]]
    Ranges = list[tuple[int, int]]

__all__ = ["Reader", "read_together"]

OUTLINE = 1 << 16
"""A first pass over data that is not in memory counts about this many blocks of cells."""
WHOLE = 1 << 49
"""From here on whole numbers and floats are snapped differently."""


class Reader:
    """A column on a grid, read as far as is asked for.

    Parameters
    ----------
    frame, column
        The data.
    grid
        The lattice its values are snapped to.
    """

    def __init__(self, frame: Frame, column: str, grid: Grid) -> None:
        self._frame, self._cell = frame, Ticks(column, grid)
        values = frame.array(column) if grid.points is None else None
        if values is not None and values.dtype.kind == "f" and _rounds(grid):
            values = None  # whole numbers beside a missing one were made floats
        if values is not None and values.dtype.kind == "f" and len(values):
            with np.errstate(invalid="ignore"):
                some = np.isnan(values.min())
            values = values[~np.isnan(values)] if some else values
        self._values: NDArray[Any] | None = values
        self._last: Points | None = None
        self._found: dict[tuple[tuple[int, int], ...], Counted] = {}

    def foresee(self, windows: Callable[[int], Ranges] | None = None) -> None:
        """Say what will be read: the outline, or else some windows of ranks."""
        if self._values is not None:
            return
        if windows is None:
            self._frame.foresee(self._blocks)
        elif (wanted := self.ranges(windows)) is not None:
            self._frame.foresee(self._cell, ranges=wanted)

    @property
    def n(self) -> int:
        """How many values are there."""
        return int(self._below[-1]) if self._values is None else len(self._values)

    @cached_property
    def _block(self) -> int:
        return -(-self._cell.grid.size // OUTLINE)

    @cached_property
    def _below(self) -> NDArray[np.int64]:
        """How many values lie below each block of cells; the number of all at the end."""
        return np.concatenate(([0], np.cumsum(self._outline.counts[:-1])))

    @property
    def _blocks(self) -> Ticks:
        return Ticks(self._cell.column, self._cell.grid, block=self._block)

    @cached_property
    def _outline(self) -> Tally:
        """The counts of all blocks."""
        return self._frame.tally(self._blocks)

    def between(self, edges: list[int]) -> NDArray[np.int64]:
        """Return how many values lie in each stretch between edges: below, between, above."""
        points = self.points(None) if self._last is None else self._last
        below = [points.below(min(edge, self._cell.grid.size)) for edge in edges]
        ends = np.array([0, *below, points.n], np.int64)
        return ends[1:] - ends[:-1]

    def points(self, windows: Callable[[int], Ranges] | None) -> Points:
        """Return the order statistics, at least in the windows of ranks that are asked for."""
        self._last = self._read(windows)
        return self._last

    def _read(self, windows: Callable[[int], Ranges] | None) -> Points:
        if self._values is not None:
            return points_of_array(self._values, self._cell.grid, windows)
        wanted = self.ranges(windows)
        if wanted is None:
            tally = self._outline if self._block == 1 else self._frame.tally(self._cell)
            ticks, counts = np.asarray(tally.ticks), np.asarray(tally.tallied)
            return Points.counted(ticks, counts, self._cell.grid.size)
        return self._windows(wanted)

    def ranges(self, windows: Callable[[int], Ranges] | None) -> Ranges | None:
        """Return the ranges of ticks that hold the records wanted; None if all are to be read."""
        if windows is None or self._values is not None or self._block == 1 or self.n == 0:
            return None
        below, block, size = self._below, self._block, self._cell.grid.size
        ranges = []
        for a, b in windows_within(windows(self.n), self.n):
            first = max(int(below.searchsorted(a, side="right")) - 1, 0)
            last = max(int(below.searchsorted(b, side="left")), first + 1)
            ranges.append((first * block, min(last * block, size)))
        return joined(ranges, size)

    def read_with(self, planned: Sequence[tuple[Reader, Ranges]]) -> None:
        """Read what was planned for readers of the same column and grid, together."""
        engines = [reader._frame.engine for reader, _ in planned]  # noqa: SLF001
        name = self._frame.resolve(self._cell.column)
        found = between_each(engines, name, self._cell, [wanted for _, wanted in planned])
        for (reader, wanted), own in zip(planned, found, strict=True):
            reader._found = {tuple(wanted): own}  # noqa: SLF001

    def _windows(self, apart: Ranges) -> Points:
        """Read only the blocks of cells that hold the records wanted."""
        below, block, size = self._below, self._block, self._cell.grid.size
        found = self._found.pop(tuple(apart), None)
        ticks, counts = self._frame.between(self._cell, apart) if found is None else found
        parts = []
        for a, b in apart:
            i, j = ticks.searchsorted((a, b))
            if counts[i:j].sum() != below[-(-b // block)] - below[a // block]:
                raise _moved()
            if j > i:
                parts.append(Window(ticks[i:j], counts[i:j], int(below[a // block])))
        outline = np.arange(len(below) - 1) * block, below[:-1]
        return Points(self.n, size, parts, outline=outline, reload=lambda: self._read(None))


def _moved() -> ParameterError:
    return ParameterError(
        "data",
        "stay as they are while they are read",
        "other rows in a second pass",
        "Write them to a file or a table that nobody changes, and read that.",
    )


def read_together(readers: Sequence[Reader], windows: Sequence[Callable[[int], Ranges]]) -> None:
    """Read the windows of several readers of one column: in one query, if they are its groups."""
    planned = [(r, r.ranges(own)) for r, own in zip(readers, windows, strict=True)]
    some = [(reader, wanted) for reader, wanted in planned if wanted is not None]
    if some:
        some[0][0].read_with(some)


def _rounds(grid: Grid) -> bool:
    """Return whether a whole number may have another tick as a float."""
    return grid.integral and max(abs(grid.lower), abs(grid.lower + grid.last * grid.step)) >= WHOLE
