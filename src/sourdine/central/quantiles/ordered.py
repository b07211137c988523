r"""The chain that keeps its order: slower, for targets so close that ranks would often cross.

The *slots* are, in order, the :math:`f + 1` pieces of each atom's cell (rank :math:`L` to
:math:`L + f`) and the runs of empty cells between atoms. A *place* is an atom's cell or a run.
Quantiles take slots in ascending order. :math:`k` of them in one place count :math:`f!/(f+k)!` in a
cell of :math:`f` records and :math:`\ell^k/k!` in a run of :math:`\ell` cells, so the
:math:`i`-th of them weighs :math:`1/(f+i)` or :math:`\ell/i`: the state is the slot and :math:`i`.

In a *heavy* atom, of more than :math:`m^2/8` records, all weigh :math:`1/(f+1)`; a draw is refused
for what that is too much, so with probability :math:`1 - e^{-4}` at most. All sums are of
logarithms, over ranges by doubling, so the error grows with the logarithm of the window.
"""

from __future__ import annotations

from dataclasses import dataclass
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

__all__ = ["OrderedChain", "Slots", "heavy", "slots_of"]


@dataclass(frozen=True, slots=True)
class Slots:
    """Slots of a stretch of ranks: their order, rank, first tick, cells and records."""

    key: Ints
    rank: Ints
    tick: Ints
    cells: Ints
    records: Ints

    @classmethod
    def between(cls, points: Points, low: int, high: int) -> Slots:
        """Return the slots of the ranks ``low <= r <= high`` that exist."""
        found = [
            (3 * rank + place, rank, tick, cells, records)
            for rank in range(max(low, 0), min(high, points.n) + 1)
            for place, (tick, cells, records) in enumerate(_placed(points.around(rank)))
            if cells
        ]
        columns = list(zip(*found, strict=True)) or [()] * 5
        return cls(*(np.array(column, np.int64) for column in columns))

    def within(self, low: int, high: int) -> Slots:
        """Return those of the ranks ``low <= r <= high``."""
        part = slice(*self.rank.searchsorted((low, high + 1)))
        columns = (self.key, self.rank, self.tick, self.cells, self.records)
        return Slots(*(column[part] for column in columns))

    def log_mass(self, i: Ints | int) -> Floats:
        """Return the log weight of each slot for the i-th quantile in its place."""
        return np.asarray(np.log(self.cells) - np.log(self.records + i))

    def at(self, k: int) -> tuple[int, int, int, int]:
        """Return rank, first tick, cells and records of one slot."""
        return int(self.rank[k]), int(self.tick[k]), int(self.cells[k]), int(self.records[k])


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
        self._y: list[Floats] = []
        for j in range(targets.m):
            self._extend(j)
        self.log_total = _log_sum(self._x[-1] + self._end())

    def _end(self) -> Floats:
        return np.asarray(-self._c * np.abs(self._n - self._slots[-1].rank - self._t[-1]))

    def _extend(self, j: int) -> None:
        """Sum over what quantile j can follow; keep the parts by its number in its place."""
        here = self._slots[j]
        parts = np.full((j + 1, len(here.key)), -np.inf)
        parts[0] = self._arriving(j)
        light = np.flatnonzero(~self._heavy(here))
        if j and len(light):
            parts[1:, light] = self._following(j, light)
        parts += here.log_mass(np.arange(1, j + 2)[:, None])
        self._y.append(parts)
        self._x.append(np.logaddexp.reduce(parts, axis=0))

    def _heavy(self, slots: Slots) -> NDArray[np.bool_]:
        return slots.records >= heavy(len(self._slots))

    def _arriving(self, j: int) -> Floats:
        """Return the log weight of reaching each slot from other places, or in a heavy one."""
        here = self._slots[j]
        if j == 0:
            return np.asarray(-self._c * np.abs(here.rank - self._t[0]))
        first, last = self._same_place(j)
        stop = np.where(self._heavy(here), last, first)
        return self._reached(j, self._x[j - 1], here.rank, (np.zeros_like(stop), stop))

    def _following(self, j: int, light: Ints) -> Floats:
        """Return the log weight of reaching some slots from their own place as its 2nd, 3rd, ..."""
        first, last = self._same_place(j)
        ranges = first[light], last[light]
        return self._reached(j, self._y[j - 1], self._slots[j].rank[light], ranges)

    def _same_place(self, j: int) -> tuple[Ints, Ints]:
        """Return where, among the slots of j - 1, those of each slot's place up to it stand."""
        here, before = self._slots[j], self._slots[j - 1]
        first = before.tick.searchsorted(here.tick, side="left")
        return first, np.maximum(before.key.searchsorted(here.key, side="right"), first)

    def _reached(self, j: int, x: Floats, rank: Ints, ranges: tuple[Ints, Ints]) -> Floats:
        r"""Return :math:`\ln \sum_i e^{x_i - c|r - r_i - t_j|}` over a range for every rank r."""
        before, (start, stop) = self._slots[j - 1], ranges
        goal = rank - self._t[j]
        turn = np.clip(before.rank.searchsorted(goal, side="right"), start, stop)
        origin = before.rank[:1].sum()
        scaled, goal = (before.rank - origin) * self._c, (goal - origin) * self._c
        far = _range_log_sums(x + scaled, start, turn) - goal
        near = _range_log_sums(x - scaled, turn, stop) + goal
        return np.asarray(np.logaddexp(far, near))

    def draw(self, source: Source) -> list[tuple[int, int, int, int]]:
        """Draw a slot for each quantile: ``(rank, first tick, cells, records)``, in order."""
        drawn: list[tuple[int, int, int, int]] = []
        logs, number = self._x[-1] + self._end(), 0
        for j in range(len(self._slots) - 1, -1, -1):
            at = noise.by_log_weight(logs, source=source)
            here = self._slots[j]
            drawn.append(here.at(at))
            if number == 0:
                number = noise.by_log_weight(self._y[j][:, at], source=source) + 1
            if j:
                number -= 1
                logs = self._before(j, at, number)
        return drawn[::-1]

    def _before(self, j: int, at: int, number: int) -> Floats:
        """Return the log weights of quantile j - 1: the ``number``-th in the place of j, if any."""
        before, rank = self._slots[j - 1], int(self._slots[j].rank[at])
        x = self._y[j - 1][number - 1] if number else self._x[j - 1]
        first, last = (int(ends[at]) for ends in self._same_place(j))
        inside = np.arange(len(x))
        alone = number == 0 and not self._heavy(self._slots[j])[at]
        allowed = inside < (first if alone else last)
        if number:
            allowed &= inside >= first
        return np.where(allowed, x - self._c * np.abs(rank - before.rank - self._t[j]), -np.inf)


def heavy(m: int) -> int:
    """Return from how many records on an atom counts as heavy."""
    return m * m // 8 + 1


def _range_log_sums(x: Floats, start: Ints, stop: Ints) -> Floats:
    r"""Return :math:`\ln \sum_{start \le i < stop} e^{x_i}` for many ranges, by doubling."""
    total = np.full((*x.shape[:-1], len(start)), -np.inf)
    at, left, block = start.copy(), np.maximum(stop - start, 0), x
    size = 1
    with np.errstate(invalid="ignore"):
        while left.any():
            odd = (left & size) > 0
            total[..., odd] = np.logaddexp(total[..., odd], block[..., at[odd]])
            at[odd] += size
            left = left & ~np.int64(size)
            block = np.logaddexp(block[..., :-size], block[..., size:])
            size *= 2
    return total


def _log_sum(x: Floats) -> float:
    return float(np.logaddexp.reduce(x)) if len(x) else -np.inf
