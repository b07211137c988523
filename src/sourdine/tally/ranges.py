"""Half-open ranges of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Ranges = list[tuple[int, int]]

__all__ = ["joined"]


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
