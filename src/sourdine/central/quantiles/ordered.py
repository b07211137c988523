r"""The chain that keeps its order: slower, for targets so close that ranks would often cross.

The *slots* are, in order, the :math:`f + 1` pieces of each atom's cell (mass :math:`1/(f+1)`, rank
:math:`L` to :math:`L + f`) and the runs of empty cells between atoms (mass :math:`\ell` cells).
Quantiles take slots in ascending order; :math:`k` of them in one empty run have the volume
:math:`\ell^k/k!`, in one piece of an atom :math:`(f+1)^{-k}`. All sums are of logarithms, over
ranges by doubling, so the error does not grow with the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["OrderedChain", "Slots", "slots_of"]


@dataclass(frozen=True, slots=True)
class Slots:
    """Slots of a stretch of ranks: their order, rank, log mass, first tick, cells and records."""

    key: Ints
    rank: Ints
    log_mass: Floats
    tick: Ints
    cells: Ints
    records: Ints

    @classmethod
    def between(cls, points: Points, low: int, high: int) -> Slots:
        """Return the slots of the ranks ``low <= r <= high`` that exist."""
        found = [
            (3 * rank + place, rank, log(cells / (records + 1)), tick, cells, records)
            for rank in range(max(low, 0), min(high, points.n) + 1)
            for place, (tick, cells, records) in enumerate(_placed(points.around(rank)))
            if cells
        ]
        columns = list(zip(*found, strict=True)) or [()] * 6
        key, rank, log_mass, *rest = columns
        tick, cells, records = (np.array(column, np.int64) for column in rest)
        keys, ranks = np.array(key, np.int64), np.array(rank, np.int64)
        return cls(keys, ranks, np.array(log_mass, np.float64), tick, cells, records)

    def within(self, low: int, high: int) -> Slots:
        """Return those of the ranks ``low <= r <= high``."""
        part = slice(*self.rank.searchsorted((low, high + 1)))
        columns = (self.key, self.rank, self.log_mass, self.tick, self.cells, self.records)
        return Slots(*(column[part] for column in columns))


def slots_of(points: Points, targets: Targets, half: int) -> list[Slots]:
    """Return the slots of each quantile, for the windows of all rows together."""
    starts = targets.T[:, :-1] + targets.S[:, None]
    low, high = starts.min(axis=0) - half, starts.max(axis=0) + half
    return [Slots.between(points, int(low[j]), int(high[j])) for j in range(targets.m)]


def _placed(pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Put pieces at left, middle and right, so that slots of one rank keep their order."""
    nothing = (0, 0, 0)
    if len(pieces) == 1:
        return [pieces[0]]
    if len(pieces) == 3:
        return pieces
    first, second = pieces
    if first[2] == 0:
        return [nothing, first, second]
    return [first, second, nothing] if second[2] == 0 else [first, nothing, second]


class OrderedChain:
    """One row of targets, its ranks within ``half`` of the row's coordinates.

    ``log_total`` is the logarithm of the weight of all ordered slot tuples.
    """

    __slots__ = ("_c", "_n", "_slots", "_t", "_x", "_y", "log_total")

    def __init__(self, slots: list[Slots], targets: Targets, c: float, half: int) -> None:
        start = targets.T[0] + targets.S[0]
        shift = np.zeros(targets.m + 1) if targets.shift is None else targets.shift
        self._t = np.diff(targets.T[0], prepend=0) + shift
        self._c, self._n = c, targets.n
        self._slots = [
            slots[j].within(int(start[j]) - half, int(start[j]) + half) for j in range(targets.m)
        ]
        self._x: list[Floats] = []
        self._y: list[list[Floats]] = []
        for j in range(targets.m):
            self._extend(j)
        self.log_total = _log_sum(self._x[-1] + self._end())

    def _end(self) -> Floats:
        return -self._c * np.abs(self._n - self._slots[-1].rank - self._t[-1])

    def _extend(self, j: int) -> None:
        r"""Sum over what the quantile j can follow; keep the parts by how many share its slot."""
        here = self._slots[j]
        parts = [self._entering(j, 0) + here.log_mass]
        for k in range(2, j + 2):
            parts.append(self._shared(j, k))
        self._y.append(parts)
        self._x.append(np.logaddexp.reduce(np.array(parts), axis=0))

    def _entering(self, j: int, back: int) -> Floats:
        r"""Return the log weight of reaching each slot of j, quantile ``j - back`` being first."""
        here, first = self._slots[j], j - back
        if first == 0:
            return -self._c * np.abs(here.rank - self._t[0])
        before, x = self._slots[first - 1], self._x[first - 1]
        goal = here.rank - self._t[first]
        stop = before.key.searchsorted(here.key, side="left")
        turn = np.minimum(before.rank.searchsorted(goal, side="right"), stop)
        rank = before.rank * self._c
        far = _range_log_sums(x + rank, np.zeros_like(turn), turn) - self._c * goal
        near = _range_log_sums(x - rank, turn, stop) + self._c * goal
        return np.logaddexp(far, near)

    def _shared(self, j: int, k: int) -> Floats:
        r"""Return the log weight of slots that hold the quantiles ``j - k + 1`` to ``j``."""
        here, first = self._slots[j], j - k + 1
        common = self._known_to_all(first, j)
        still = self._c * float(np.abs(self._t[first + 1 : j + 1]).sum())
        weight = self._entering(j, k - 1) + k * here.log_mass - still
        return np.where(common, weight - np.where(here.records > 0, 0.0, lgamma(k + 1)), -np.inf)

    def _known_to_all(self, first: int, last: int) -> NDArray[np.bool_]:
        """Return which slots of the last quantile lie in the windows of all since the first."""
        here = self._slots[last]
        inside = np.ones(len(here.key), bool)
        for i in range(first, last):
            inside &= np.isin(here.key, self._slots[i].key)
        return inside

    def draw(self, source: Source) -> list[tuple[int, int, int, int]]:
        """Draw a slot for each quantile: ``(rank, first tick, cells, records)``, in order."""
        drawn: list[tuple[int, int, int, int]] = []
        j = len(self._slots) - 1
        at = noise.by_log_weight(self._x[j] + self._end(), source=source)
        while True:
            here = self._slots[j]
            shares = np.array([part[at] for part in self._y[j]])
            k = noise.by_log_weight(shares, source=source) + 1
            rank, key, j = int(here.rank[at]), int(here.key[at]), j - k
            columns = (here.tick, here.cells, here.records)
            drawn += [(rank, *(int(column[at]) for column in columns))] * k  # type: ignore[list-item]
            if j < 0:
                return drawn[::-1]
            earlier = self._slots[j].key < key
            distance = np.abs(rank - self._slots[j].rank - self._t[j + 1])
            logs = np.where(earlier, self._x[j] - self._c * distance, -np.inf)
            at = noise.by_log_weight(logs, source=source)


def _range_log_sums(x: Floats, start: Ints, stop: Ints) -> Floats:
    r"""Return :math:`\ln \sum_{start \le i < stop} e^{x_i}` for many ranges, by doubling."""
    total = np.full(len(start), -np.inf)
    at, left, block = start.copy(), np.maximum(stop - start, 0), x
    size = 1
    with np.errstate(invalid="ignore"):
        while left.any():
            odd = (left & size) > 0
            total[odd] = np.logaddexp(total[odd], block[at[odd]])
            at[odd] += size
            left = left & ~np.int64(size)
            block = np.logaddexp(block[:-size], block[size:])
            size *= 2
    return total


def _log_sum(x: Floats) -> float:
    return float(np.logaddexp.reduce(x)) if len(x) else -np.inf
