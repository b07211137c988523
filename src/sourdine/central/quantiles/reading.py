"""From a frame to the order statistics that an algorithm needs, and no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.points import NotReadError, Points, Window
from sourdine.central.quantiles.selection import merged, points_of_array
from sourdine.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.noise import Source
    from sourdine.release import Release
    from sourdine.tally import Frame

    Ranges = list[tuple[int, int]]

__all__ = ["read", "released"]

OUTLINE = 1 << 16
"""A first pass over data that is not in memory counts about this many cells."""


def released(
    mechanism: QuantileMechanism, frame: Frame, column: str, grid: Grid, source: Source
) -> Release:
    """Read what the mechanism needs, more where that is not enough, and release.

    A mechanism that meets ranks that were not read says so before it draws anything.
    """
    for reach in (1, 2):
        points = read(
            frame, column, grid, lambda n, reach=reach: _wider(mechanism.windows(n), reach)
        )  # type: ignore[misc]
        try:
            return mechanism.release(points, source=source)
        except NotReadError:
            continue
    return mechanism.release(read(frame, column, grid, None), source=source)


def _wider(windows: Ranges, reach: int) -> Ranges:
    """Return windows with room for atoms that their ends would cut."""
    return [(a - 16 - (reach - 1) * (b - a), b + 16 + (reach - 1) * (b - a)) for a, b in windows]


def read(frame: Frame, column: str, grid: Grid, windows: Callable[[int], Ranges] | None) -> Points:
    """Return a column's order statistics, at least in the windows of ranks that are asked for."""
    values = frame.array(column)
    if values is not None:
        return points_of_array(values, grid, windows)
    return _out_of_core(frame, column, grid, windows)


def _out_of_core(
    frame: Frame, column: str, grid: Grid, windows: Callable[[int], Ranges] | None
) -> Points:
    """Count blocks of cells first, then only the cells of the blocks that matter."""
    from sourdine.tally import Ticks  # noqa: PLC0415 - loads the engines

    cell = Ticks(column, grid)
    if grid.size <= OUTLINE or windows is None:
        tally = frame.tally(cell)
        if tally.is_dense:
            return Points.counted(np.arange(grid.size), tally.counts[:-1], grid.size)
        return Points.counted(tally.ticks, tally.tallied, grid.size)
    block = -(-grid.size // OUTLINE)
    counts = frame.tally(Ticks(column, grid, block=block)).counts[:-1]
    below = np.concatenate(([0], np.cumsum(counts)))
    n = int(below[-1])
    ranges = []
    for a, b in merged(windows(n), n):
        first = max(int(below.searchsorted(a, side="right")) - 1, 0)
        last = max(int(below.searchsorted(b, side="left")), first + 1)
        ranges.append((first * block, min(last * block, grid.size)))
    joined = merged(ranges, grid.size)
    ticks, tallied = frame.between(cell, joined)
    parts = []
    for a, b in joined:
        inside = slice(*ticks.searchsorted((a, b)))
        if inside.stop > inside.start:
            parts.append(Window(ticks[inside], tallied[inside], int(below[a // block])))
    marks = np.arange(len(counts)) * block
    return Points(
        n,
        grid.size,
        parts,
        outline=(marks, below[:-1]),
        reload=lambda: _out_of_core(frame, column, grid, None),
    )
