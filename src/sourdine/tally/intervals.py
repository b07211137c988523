r"""Ranges of ticks as intervals of raw values, so that an engine need not snap to leave rows out.

The slot of a number never falls as the number grows: clamping, subtracting, dividing by a step,
adding a half and rounding down are each monotone, in IEEE arithmetic too, and so is the lattice of
octaves. So the values whose slots lie in a range :math:`[a, b)` are those from the least one with a
slot of at least :math:`a` to the least one with a slot of at least :math:`b`, which it does not
hold. Both are found by bisection over all floats, in the order of their bits, or over all whole
numbers, asking the cell itself (``test_intervals_hold_what_the_ranges_hold``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.column import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.cells import Ticks

__all__ = ["float_intervals", "whole_intervals"]

_INFINITE = 0x7FF0_0000_0000_0000
"""The bits of infinity."""
_WHOLE = (-(1 << 63), 1 << 64)
"""Whole numbers of 64 bits, with a sign or without."""


def float_intervals(
    cell: Ticks, ranges: Sequence[tuple[int, int]]
) -> list[tuple[float | None, float | None]]:
    """Return the floats whose slots lie in ranges, NaN aside; None where there is no end.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> from sourdine.tally import Ticks
    >>> float_intervals(Ticks("x", Grid(0, 10, step=1)), [(0, 2), (5, 11)])
    [(None, 1.5), (4.5, None)]
    """
    ends = _bisected(
        lambda bits: cell.slots(Column(_of_bits(bits))), ranges, -_INFINITE, _INFINITE + 1
    )
    floats = _of_bits(np.clip(ends, -_INFINITE, _INFINITE)).reshape(-1, 2)
    ended = _ended(ends, -_INFINITE, _INFINITE + 1)
    return [_pair(*both) for both in zip(floats.tolist(), ended, strict=True)]


def whole_intervals(
    cell: Ticks, ranges: Sequence[tuple[int, int]]
) -> list[tuple[int | None, int | None]]:
    """Return the whole numbers whose slots lie in ranges; None where there is no end.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> from sourdine.tally import Ticks
    >>> whole_intervals(Ticks("x", Grid(0, 100, step=10)), [(0, 2), (5, 11)])
    [(None, 15), (45, None)]
    """
    ends = _bisected(lambda v: cell.slots(Column(v)), ranges, *_WHOLE)
    ended = _ended(ends, *_WHOLE)
    return [_pair(*both) for both in zip(ends.reshape(-1, 2).tolist(), ended, strict=True)]


def _bisected(
    slots: Callable[[NDArray[Any]], NDArray[np.int64]],
    ranges: Sequence[tuple[int, int]],
    first: int,
    end: int,
) -> NDArray[Any]:
    """Return for each end of a range the least number with a slot of at least that; else the end.

    All are halved together, as Python's whole numbers, which do not overflow.
    """
    wanted = np.array(ranges, np.int64).ravel()
    low = np.full(len(wanted), first, object)
    high = np.full(len(wanted), end, object)
    while (open_ := np.asarray(low < high, np.bool_)).any():
        middle = (low + high) // 2
        reached = np.zeros(len(wanted), np.bool_)
        reached[open_] = slots(middle[open_]) >= wanted[open_]
        high = np.where(open_ & reached, middle, high)
        low = np.where(open_ & ~reached, middle + 1, low)
    return low


def _of_bits(ordered: NDArray[Any]) -> NDArray[np.float64]:
    """Return the floats of their bits' order: that of 0.0 is 0, and x and -x are opposite."""
    order = ordered.astype(np.int64)
    size = np.abs(order).view(np.float64)
    return np.where(order < 0, -size, size)


def _ended(ends: NDArray[Any], first: int, end: int) -> list[tuple[bool, bool]]:
    low, high = ends.reshape(-1, 2).T
    return list(zip((low > first).tolist(), (high < end).tolist(), strict=True))


def _pair(values: Sequence[Any], ended: tuple[bool, bool]) -> tuple[Any, Any]:
    low, high = (v if some else None for v, some in zip(values, ended, strict=True))
    return low, high
