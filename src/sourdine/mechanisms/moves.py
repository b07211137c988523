"""Vectors of scores or answers, and how far a neighbour may move them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["may_move", "moved"]


def moved(x: NDArray[np.int64], reach: int, *, monotone: bool) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors whose every entry is at most ``reach`` from that of ``x``.

    Monotone ones move all in one direction.

    Examples
    --------
    >>> [v.tolist() for v in moved(np.array([0, 5]), 1, monotone=True)][:4]
    [[0, 5], [0, 6], [1, 5], [1, 6]]
    """
    up, down = range(reach + 1), range(-reach, 1)
    for steps in (up, down) if monotone else (range(-reach, reach + 1),):
        for step in product(steps, repeat=len(x)):
            yield x + np.array(step)


def may_move(x: NDArray[np.int64], y: NDArray[np.int64], reach: int, *, monotone: bool) -> bool:
    """Return whether ``y`` is one of the vectors that `moved` yields for ``x``."""
    step = y - x
    one_way = not monotone or (step >= 0).all() or (step <= 0).all()
    return bool(one_way and np.abs(step).max() <= reach)
