"""Vectors of scores, answers or numbers, and how far a neighbour may move them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["may_move", "moved", "within"]


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


def within(x: NDArray[np.int64], reach: int, *, norm: int) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors at most ``reach`` from ``x`` in the L1 or the L2 norm.

    Examples
    --------
    >>> [v.tolist() for v in within(np.array([0, 5]), 1, norm=1)]
    [[-1, 5], [0, 4], [0, 5], [0, 6], [1, 5]]
    """
    for step in product(range(-reach, reach + 1), repeat=x.size):
        if sum(abs(k) ** norm for k in step) <= reach**norm:
            yield x + np.array(step).reshape(x.shape)


def may_move(x: NDArray[np.int64], y: NDArray[np.int64], reach: int, *, monotone: bool) -> bool:
    """Return whether ``y`` is one of the vectors that `moved` yields for ``x``."""
    step = y - x
    one_way = not monotone or (step >= 0).all() or (step <= 0).all()
    return bool(one_way and np.abs(step).max() <= reach)
