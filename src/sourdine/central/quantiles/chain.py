r"""Rank tuples as a Markov chain of masses and two-sided exponential kernels.

For targets :math:`T_1, \ldots, T_m, T_{m+1} = N` (cumulative) the weight of ranks
:math:`i_1, \ldots, i_m` is

.. math:: \prod_{j=1}^m \mu(i_j) \prod_{j=1}^{m+1} e^{-c|i_j - i_{j-1} - t_j|},
          \qquad i_0 = 0,\; i_{m+1} = n,\; t_j = T_j - T_{j-1} + \delta_j .

In *row coordinates* :math:`i_j = T_j + S + a_j`, :math:`S = \lfloor (n - N)/2 \rfloor`, the kernel
is :math:`e^{-c|a_j - a_{j-1} - \delta_j|}` whatever the targets, so many totals :math:`N` are the
rows of one array. With :math:`u = x e^{ca}` and :math:`v = x e^{-ca}` the sum over the kernel is
two running sums: linear time, and sums of non-negative floats alone, so each result is right to
:math:`3(W + 2cA + 20)\,2^{-53}` relative a step, :math:`W = 2A + 1` being the window.

A tuple with :math:`c\sum_j|d_j| \le \Lambda` has all :math:`|a_j| \le \Lambda/2c` and
:math:`|n - N| \le \Lambda/c`: what lies outside the window weighs less than :math:`e^{-\Lambda}`
times its mass.

The chain neither orders its ranks nor knows of several quantiles in one gap; `joint` rejects what
is out of order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["LONGEST", "Chain", "RankMasses", "Targets", "TooWideError"]

LONGEST = 660.0
"""The range of exponents that floats hold with room to spare.

Divided by its largest, a row of :math:`u` is at least :math:`e^{-4cA}` times the ratio of the least
to the largest mass: what arrives at :math:`a` and at :math:`b` differs by :math:`e^{c|a-b|}` at
most, and the factor :math:`e^{ca}` by as much again. A draw multiplies it by
:math:`e^{-cA}` or more.
"""


class TooWideError(ArithmeticError):
    """The weights of a window do not fit into floats: take another chain."""


@dataclass(frozen=True, slots=True)
class Targets:
    r"""Cumulative targets, a row for each total, and where the rows' coordinates begin.

    ``shift`` holds the fractions :math:`\delta_j`, or None where all targets are whole.
    """

    n: int
    T: Ints
    shift: Floats | None = None
    S: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "S", (self.n - self.T[:, -1]) // 2)

    @property
    def m(self) -> int:
        """How many quantiles there are."""
        return int(self.T.shape[1]) - 1

    def row(self, r: int) -> Targets:
        """Return one row alone."""
        return Targets(self.n, self.T[r : r + 1], self.shift)


class Chain:
    r"""The chain of some rows inside a window.

    Parameters
    ----------
    points
        The records; they must hold the window's ranks.
    targets
        The rows.
    c
        The decay per rank.
    half
        The window's half-width :math:`A` in ranks.
    block
        Ranks that are taken together, at their centre: above 1 the sums are off by a factor within
        :math:`e^{\pm cm(\text{block}-1)}`, and the chain cannot be drawn from.
    """

    __slots__ = ("_a", "_block", "_c", "_end", "_half", "_kept", "_targets", "logs")

    DEPTH = 5
    r"""Down to :math:`e^{-\text{DEPTH} \cdot cA}` go the numbers."""

    def __init__(
        self, points: Points, targets: Targets, c: float, half: int, block: int = 1
    ) -> None:
        self._targets, self._c, self._half, self._block = targets, c, half, block
        blocks = -(-(2 * half + 1) // block)
        self._a = np.arange(blocks) * float(block) + (block - 1) / 2 - half
        begin = targets.T[:, :-1] + targets.S[:, None] - half
        masses = [RankMasses(points, column, block, blocks) for column in begin.T]
        if self.DEPTH * c * half + max(rows.log_spread for rows in masses) > LONGEST:
            raise TooWideError
        self._kept: list[tuple[Floats, Floats]] = []
        self.logs = self._forward(masses, keep=block == 1)

    def _forward(self, masses: list[RankMasses], *, keep: bool) -> Floats:
        a, c, m = self._a, self._c, self._targets.m
        first, last = self._ends()
        up = np.exp(2 * c * a)
        down = np.exp(-2 * c * a)
        log_scale = np.zeros(len(first))
        u = np.exp(c * (a - np.abs(first + a))) * masses[0].get()
        for j in range(1, m):
            highest = u.max(axis=1, keepdims=True)
            u /= highest
            log_scale += np.log(highest[:, 0])
            v = u * down
            if keep:
                self._kept.append((u, v))
            y = self._kernel(u, v, up, j)
            y *= masses[j].get()
            u = y
        end = np.exp(-c * (a + np.abs(last - a)))
        end *= u
        self._end = end
        with np.errstate(divide="ignore"):
            return np.asarray(log_scale + np.log(end.sum(axis=1)))

    def _ends(self) -> tuple[Floats, Floats]:
        r"""Return :math:`d_1 - a_1` and :math:`d_{m+1} + a_m` of each row."""
        t = self._targets
        first = np.asarray(t.S[:, None], np.float64)
        last = np.asarray((t.n - t.T[:, -1] - t.S)[:, None], np.float64)
        return (first, last) if t.shift is None else (first - t.shift[0], last - t.shift[-1])

    def _kernel(self, u: Floats, v: Floats, up: Floats, j: int) -> Floats:
        r"""Return :math:`e^{ca'} \sum_a x(a) e^{-c|a'-a-\delta_j|}`."""
        below = np.add.accumulate(u, axis=1)
        above = np.add.accumulate(v[:, ::-1], axis=1)[:, ::-1]
        if self._targets.shift is None:
            above = above * up
            above += below
            above -= u  # counted twice; at least half of the sum remains
            return above
        from_below, at, from_above = self._factors(j)
        out = at * u
        out[:, 1:] += from_below * below[:, :-1]
        out[:, :-1] += from_above * (above[:, 1:] * up[:-1])
        return out

    def _factors(self, j: int) -> tuple[float, float, float]:
        r"""Return :math:`e^{c\delta}, e^{-c|\delta|}, e^{-c\delta}`: steps up, none, down."""
        shift = self._targets.shift
        d = 0.0 if shift is None else self._c * float(shift[j])
        return exp(d), exp(-abs(d)), exp(-d)

    def draw(self, row: int, source: Source) -> list[int]:
        """Draw the ranks of one row."""
        start = self._targets.T[row] + self._targets.S[row] - self._half
        return [int(start[j]) + i for j, i in enumerate(reversed(self._offsets(row, source)))]

    def _offsets(self, row: int, source: Source) -> list[int]:
        """Draw places in the window, from the last to the first."""
        i = noise.by_weight(self._end[row], source=source)
        offsets = [i]
        for j in range(self._targets.m - 1, 0, -1):
            i = self._step(row, j, i, source)
            offsets.append(i)
        return offsets

    def _step(self, row: int, j: int, i: int, source: Source) -> int:
        r"""Draw :math:`a_{j-1}` given :math:`a_j`: below, at or above it, then where."""
        u, v = self._kept[j - 1][0][row], self._kept[j - 1][1][row]
        x = self._c * float(self._a[i])
        from_below, at, from_above = self._factors(j)
        sides = (
            from_below * float(u[:i].sum()) * exp(-x),
            at * float(u[i]) * exp(-x),
            from_above * float(v[i + 1 :].sum()) * exp(x),
        )
        side = noise.by_weight(np.array(sides), source=source)
        if side == 0:
            return noise.by_weight(u[:i], source=source)
        return i if side == 1 else i + 1 + noise.by_weight(v[i + 1 :], source=source)


class RankMasses:
    """The masses of one quantile's ranks, by row and block."""

    __slots__ = ("_at", "_block", "_blocks", "_masses", "log_spread")

    def __init__(self, points: Points, begin: Ints, block: int, blocks: int) -> None:
        low, high = int(begin.min()), int(begin.max()) + blocks * block
        masses = points.masses(low, high)
        self._masses = _sliding(masses, block)
        self._at, self._block, self._blocks = begin - low, block, blocks
        some = masses[masses > 0]
        # with the blocks' sums, so that what fits in blocks fits rank by rank
        self.log_spread = log(block * float(some.max()) / float(some.min())) if len(some) else 0.0

    def get(self) -> Floats:
        """Return the masses, a row of blocks for each row of targets."""
        stride = self._masses.strides[0]
        shape = (len(self._masses) - (self._blocks - 1) * self._block, self._blocks)
        rows = np.lib.stride_tricks.as_strided(
            self._masses, shape, (stride, stride * self._block), writeable=False
        )
        return np.asarray(rows[self._at])


def _sliding(x: Floats, width: int) -> Floats:
    """Return the sum of each ``width`` neighbours, by doubling: sums of positives alone."""
    total, have, power = None, 0, x
    size = 1
    while True:
        if width & size:
            total = power if total is None else _added(total, power, have)
            have += size
        size *= 2
        if size > width:
            return np.ascontiguousarray(x if total is None else total)
        power = _added(power, power, size // 2)


def _added(x: Floats, y: Floats, ahead: int) -> Floats:
    later = y[ahead:]
    shorter = min(len(x), len(later))
    return np.asarray(x[:shorter] + later[:shorter])
