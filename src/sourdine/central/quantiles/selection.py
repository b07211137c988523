r"""Windows of ranks from an unsorted array, without sorting it.

The snap to the grid is monotone, so it can wait until the few values that are needed are found.
How a window is found depends on the data, and so does the time it takes; what is found does not.
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.points import Points, Window
from sourdine.tally.ranges import joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.grid import Grid

    Values = NDArray[Any]
    Ranges = list[tuple[int, int]]
    Stretch = tuple[int, int, int]
    Outline = tuple[Values, NDArray[np.int64], float]
    Found = tuple[Values, list[Stretch], Outline]

__all__ = ["points_of_array", "windows_within"]

SMALL = 20_000
"""Below this many values a sort is quickest."""
COARSE = 1 << 16
"""Up to this many cells, counting all is quickest."""
LARGEST_SHARE = 0.3
"""Windows that hold more of the values than this are not worth finding."""
BINS = 4096
CHUNK = 1 << 15


def points_of_array(
    values: Values, grid: Grid, windows: Callable[[int], Ranges] | None = None
) -> Points:
    """Return the order statistics of an array, at least in some windows of ranks.

    Parameters
    ----------
    values
        Numbers, none of them NaN.
    grid
        The lattice they are snapped to.
    windows
        Gives, for the number of values, the half-open ranges of records that are needed; all are
        read without it.
    """
    n = len(values)
    if windows is None or n < SMALL or grid.size <= COARSE:
        return _all(values, grid)
    wanted = windows_within(windows(n), n)
    if sum(b - a for a, b in wanted) > LARGEST_SHARE * n:
        return _all(values, grid)
    found = _one(values, *wanted[0]) if len(wanted) == 1 else _several(values, wanted)
    if found is None:
        return _all(values, grid)
    gathered, pieces, (marks, below, width) = found
    outline, blur = (grid.ticks(marks), below), 0
    if width:
        blur = 1 + int((grid.ticks(marks + width) - grid.ticks(marks - width)).max())
    parts = _whole_atoms(grid.ticks(gathered), pieces, n)
    return Points(
        n, grid.size, parts, outline=outline, blur=blur, reload=lambda: _all(values, grid)
    )


def windows_within(ranges: Ranges, n: int) -> Ranges:
    """Return windows of n records, each of one record at least, in order and disjoint."""
    starts = ((min(max(0, a), n - 1), b) for a, b in ranges)
    return joined(((a, max(b, a + 1)) for a, b in starts), n)


def _all(values: Values, grid: Grid) -> Points:
    if grid.size <= COARSE:
        counts = np.bincount(grid.ticks(values), minlength=grid.size)
        return Points.counted(np.arange(grid.size), counts, grid.size)
    ticks = grid.ticks(np.sort(values))
    return Points(len(ticks), grid.size, _whole_atoms(ticks, [(0, 0, len(ticks))], len(ticks)))


def _whole_atoms(ticks: NDArray[np.int64], pieces: list[Stretch], n: int) -> list[Window]:
    """Return, for each stretch of sorted ticks, its atoms that are certainly whole.

    A stretch is where it begins and ends among the ticks, and how many records are below it.
    """
    if n == 0:
        return [Window(ticks, ticks, 0)]
    new = np.ones(len(ticks), bool)
    np.not_equal(ticks[1:], ticks[:-1], out=new[1:])
    new[[begin for _, begin, _ in pieces]] = True
    first = np.flatnonzero(new)
    atoms, counts = ticks[first], np.diff(first, append=len(ticks))
    windows = []
    for start, begin, end in pieces:
        i, j = (int(k) for k in first.searchsorted((begin, end)))
        i, j = i + (start > 0), j - (start + end - begin < n)
        if i < j:
            windows.append(Window(atoms[i:j], counts[i:j], start + int(first[i]) - begin))
    return windows


def _one(x: Values, a: int, b: int) -> Found | None:
    """Find one window between two values of a sample: two comparisons, one compress."""
    n = len(x)
    s = int(min(max(2000, 2 * n**0.6), n // 4))
    sample = np.sort(x[:: max(1, n // s)])
    s = len(sample)
    p, q = a / n, b / n
    i = floor(p * s - 4 * sqrt(s * p * (1 - p))) - 2
    j = ceil(q * s + 4 * sqrt(s * q * (1 - q))) + 2
    if i < 0 and j >= s:
        return None
    keep = x >= sample[i] if i >= 0 else np.ones(n, bool)
    start = n - int(np.count_nonzero(keep))
    if j < s:
        keep &= x <= sample[j]
    y = x[keep]
    if start > a or start + len(y) < b:
        return None
    if len(y) > 3 * (b - a):
        y.partition([a - start, b - start - 1])
        y, start = y[a - start : b - start], a
    y.sort()
    outline = (y[[0, -1]], np.array([start, start + len(y) - 1]), 0.0)
    return y, [(start, 0, len(y))], outline


def _several(x: Values, wanted: Ranges) -> Found | None:
    """Find several windows by linear bins: count the bins, gather and sort those that matter."""
    n = len(x)
    sample = np.sort(x[:: max(1, n // 2048)])
    low, high = float(sample[4]), float(sample[-5])
    bins = BINS if len(wanted) < 40 else 4 * BINS
    if not (np.isfinite(low) and np.isfinite(high) and high > low):
        return None
    scale = (bins - 2) / (high - low)
    if not (np.isfinite(scale) and scale > 0 and np.isfinite(1 / scale)):
        return None
    code = _codes(x, low - 1 / scale, scale, bins)
    counts = np.bincount(code, minlength=bins)
    below = np.concatenate(([0], np.cumsum(counts)))
    needed = np.zeros(bins, bool)
    for a, b in wanted:
        i = max(int(below.searchsorted(a, side="right")) - 1, 0)
        needed[max(i - 1, 0) : max(int(below.searchsorted(b, side="left")), i + 1) + 1] = True
    if counts[needed].sum() > 0.5 * n:
        return None
    y = x.take(np.flatnonzero(needed.take(code)))
    y.sort()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], needed, [False])).view(np.int8)))
    starts, stops = below[edges[0::2]], below[edges[1::2]]
    at = np.concatenate(([0], np.cumsum(stops - starts)))
    ends = zip(starts.tolist(), at[:-1].tolist(), at[1:].tolist(), strict=True)
    pieces = [(start, begin, end) for start, begin, end in ends if end > begin]
    marks = low + (np.arange(bins + 1) - 1) / scale
    # one bin, and what a float cannot tell, for the rounding of a code
    width = 1 / scale + 4 * float(np.spacing(max(abs(low), abs(high))))
    return y, pieces, (marks[1:-1], below[1:-1], width)


def _codes(x: Values, low: float, scale: float, bins: int) -> NDArray[np.intp]:
    """Return each value's bin, clamped to the ends; a monotone function of the value."""
    code = np.empty(len(x), np.intp)
    buffer = np.empty(min(CHUNK, len(x)))
    most = bins - 0.5
    with np.errstate(over="ignore"):
        for i in range(0, len(x), CHUNK):
            v = x[i : i + CHUNK]
            t = buffer[: len(v)]
            np.subtract(v, low, out=t, dtype=np.float64)
            t *= scale
            np.maximum(t, 0.0, out=t)
            np.minimum(t, most, out=t)
            code[i : i + CHUNK] = t
    return code
