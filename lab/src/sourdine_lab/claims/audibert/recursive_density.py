r"""The density of RecExp's draws on the line, in closed form.

A draw at :math:`v` among n records between the bounds a and b, r of them below v, has the density

.. math:: \frac{e^{-c|r - pn|}}{\sum_i (x_{i+1} - x_i)\, e^{-c|i - pn|}},

and the recursion multiplies: the middle quantile first, then each side on its own records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Real = NDArray[np.float64]

__all__ = ["Three", "telling"]

WIDE, LESS_WIDE = 10**18, 10**11
"""Gaps that hold all the weight of a slice, where others are 4 wide."""


class Three(NamedTuple):
    """A draw of three quantiles: the orders of the draws, and the exponents of the two levels.

    ``orders`` are those of the first draw and of the draws left and right of it, within the slices.
    """

    orders: tuple[float, float, float]
    first: float
    then: float

    def loss(self, x: Whole, y: Whole, top: int) -> float:
        """Return the greatest log ratio of two densities on [0, top], both ways.

        The maximum is over quantiles in the middle of every gap: a loss that is reached.
        """
        marks = np.unique(np.concatenate((x, y, [0, top])))
        tried = marks[:-1] + np.diff(marks) // 2
        worst = 0.0
        first = _apart(x, y, (0, top), (self.orders[0], self.first), tried)
        for v, log_ratio in zip(tried.tolist(), first.tolist(), strict=True):
            most = least = log_ratio
            for ends, order in (((0, v), self.orders[1]), ((v, top), self.orders[2])):
                inside = tried[(tried > ends[0]) & (tried < ends[1])]
                if len(inside):
                    a, b = (z[(z > ends[0]) & (z < ends[1])] for z in (x, y))
                    then = _apart(a, b, ends, (order, self.then), inside)
                    most, least = most + float(then.max()), least + float(then.min())
            worst = max(worst, most, -least)
        return worst


def telling(n: int, rank: int) -> tuple[Whole, Whole, int]:
    """Return records, the same with the first moved to the end, and where the line ends.

    The slices' weights lie in two wide gaps, each before the target of its slice: that behind the
    first record weighs most in the first draw and in the left slice, that behind the record of a
    rank in the right slice.
    """
    steps = np.full(n - 1, 4, np.int64)
    steps[0], steps[rank] = WIDE, LESS_WIDE
    common = 1 + np.cumsum(steps)
    top = int(common[-1]) + 8
    return np.append(1, common), np.append(common, top - 2), top


def _apart(x: Whole, y: Whole, ends: tuple[int, int], draw: tuple[float, float], v: Whole) -> Real:
    return _log_density(x, ends, *draw, v) - _log_density(y, ends, *draw, v)


def _log_density(x: Whole, ends: tuple[int, int], p: float, c: float, v: Whole) -> Real:
    """Return the log density of a draw among sorted records, at each v."""
    d = np.abs(np.arange(len(x) + 1) - p * len(x))
    widths = np.diff(x, prepend=ends[0], append=ends[1]).astype(float)
    return np.asarray(-c * d[x.searchsorted(v)] - np.log(widths @ np.exp(-c * d)))
