"""Half-open ranges of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Ranges = list[tuple[int, int]]

__all__ = ["inside", "joined"]


def joined(ranges: Iterable[tuple[int, int]], size: int) -> Ranges:
    """Return ranges cut to 0 to size, in order, those that touch joined, empty ones left out.

    Examples
    --------
    >>> joined([(5, 9), (-3, 2), (8, 12), (20, 30), (4, 4)], 25)
    [(0, 2), (5, 12), (20, 25)]
    """
    out: Ranges = []
    for a, b in sorted((max(int(a), 0), min(int(b), size)) for a, b in ranges):
        if a >= b:
            continue
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out


def inside(ticks: NDArray[np.int64], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which ticks lie in sorted, disjoint ranges.

    Examples
    --------
    >>> inside(np.array([-1, 0, 2, 5, 11, 12]), [(0, 2), (5, 12)]).tolist()
    [False, True, False, True, True, False]
    """
    if not ranges:
        return np.zeros(len(ticks), np.bool_)
    starts = np.array([a for a, _ in ranges], np.int64)
    stops = np.array([b for _, b in ranges], np.int64)
    place = np.searchsorted(starts, ticks, side="right") - 1
    return np.asarray((place >= 0) & (ticks < stops[place]), np.bool_)
