"""Where something stops to fit: the largest number that does, by doubling and halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["largest"]

LIMIT = 1 << 40
"""More than anyone asks for."""


def largest(fits: Callable[[int], bool], limit: int = LIMIT) -> int:
    """Return the largest number up to a limit that fits, where all smaller ones do too; else 0.

    Examples
    --------
    >>> largest(lambda n: n * n <= 50), largest(lambda n: False), largest(lambda n: True, limit=9)
    (7, 0, 9)
    """
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
