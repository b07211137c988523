r"""The rest of the chain: ranks and totals that no window holds.

A draw falls here with a probability below :math:`10^{-13}`, so it may take long; it must be
possible all the same, or the mechanism would not be purely private. The chain of `chain` is run
over all ranks with two messages, of tuples that have stayed inside the window so far and of those
that have left it, in logarithms.
"""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.lattice import Lattice
    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source

    Floats = NDArray[np.float64]

__all__ = ["draw_outside"]


def draw_outside(  # noqa: PLR0913, PLR0917 - what lies outside of all these
    points: Points,
    lattice: Lattice,
    c: float,
    reach: tuple[int, int, int],
    bound: float,
    source: Source,
) -> tuple[int, list[int]] | None:
    """Draw a total's number and ranks from what lies outside, or None.

    Parameters
    ----------
    points
        The records; all of them are read.
    lattice
        The totals.
    c
        The decay per rank.
    reach
        The first and last number of a total inside, and the window's half-width.
    bound
        An upper bound on the logarithm of the weight outside; None is drawn for the part of it
        that is not filled.
    source
        Where the bits come from.
    """
    whole = points.complete()
    first, last, half = reach
    stop = lattice.beyond(whole.n, last)

    def row(k: int) -> _Flagged:
        reach = half if first <= k <= last else -1
        return _Flagged(whole, lattice.targets(whole.n, [k]), c, reach)

    logs = [row(k).log_total for k in range(stop)]
    logs.append(row(stop).log_total + lattice.log_tail(c))
    outside = float(np.logaddexp.reduce(logs))
    empty = bound + log1p(-min(exp(outside - bound), 1.0)) if outside < bound else -np.inf
    k = noise.by_log_weight(np.array([*logs, empty]), source=source)
    if k > stop:
        return None
    more = lattice.further(c, source) if k == stop else 0
    return k + more, row(k).draw(source)


class _Flagged:
    """One row over all ranks; index 1 of a message counts the tuples that left the window."""

    __slots__ = ("_c", "_end", "_t", "_x", "log_total")

    def __init__(self, points: Points, row: Targets, c: float, half: int) -> None:
        ranks = np.arange(points.n + 1)
        log_mass = _logs(points.masses(0, points.n + 1))
        shift = np.zeros(row.m + 1) if row.shift is None else row.shift
        self._t, self._c = np.diff(row.T[0], prepend=0) + shift, c
        start = row.T[0] + row.S[0]
        self._x: list[Floats] = []
        arriving = np.array([-c * np.abs(ranks - self._t[0]), np.full(len(ranks), -np.inf)])
        for j in range(row.m):
            if j:
                arriving = np.array([self._filtered(x, self._t[j]) for x in self._x[-1]])
            outside = np.abs(ranks - start[j]) > half
            stays = np.where(outside, -np.inf, arriving[0])
            leaves = np.logaddexp(np.where(outside, arriving[0], -np.inf), arriving[1])
            self._x.append(np.array([stays, leaves]) + log_mass)
        self._end = -c * np.abs(points.n - ranks - self._t[-1])
        self.log_total = float(np.logaddexp.reduce(self._x[-1][1] + self._end))

    def _filtered(self, x: Floats, t: float) -> Floats:
        r"""Return :math:`\ln \sum_i e^{x_i - c|i' - i - t|}` for every :math:`i'`."""
        ranks = np.arange(len(x))
        goal = ranks - t
        turn = ranks.searchsorted(goal, side="right")
        below = np.append(-np.inf, self._decayed(x))[turn] - self._c * (goal - (turn - 1))
        above = np.append(self._decayed(x[::-1])[::-1], -np.inf)[turn] - self._c * (turn - goal)
        return np.asarray(np.logaddexp(below, above))

    def _decayed(self, x: Floats) -> Floats:
        r"""Return :math:`\ln \sum_{i \le k} e^{x_i - c(k-i)}` for every k, by doubling."""
        out, step = x.copy(), 1
        while step < len(x):
            out[step:] = np.logaddexp(out[step:], out[:-step] - self._c * step)
            step *= 2
        return out

    def draw(self, source: Source) -> list[int]:
        """Draw the ranks of a tuple that left the window."""
        i = noise.by_log_weight(self._x[-1][1] + self._end, source=source)
        ranks, left = [i], True
        every = np.arange(len(self._end))
        for j in range(len(self._x) - 2, -1, -1):
            kernel = -self._c * np.abs(i - every - self._t[j + 1])
            weights = (self._x[j] + kernel)[
                [0, 1] if left and self._just(j + 1, i) else [int(left)]
            ]
            drawn = noise.by_log_weight(weights.ravel(), source=source)
            left = left and (len(weights) == 1 or drawn >= len(every))
            i = drawn % len(every)
            ranks.append(i)
        return ranks[::-1]

    def _just(self, j: int, i: int) -> bool:
        """Return whether rank i lies outside the window of quantile j."""
        return bool(self._x[j][0][i] == -np.inf)


def _logs(x: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(x)
