"""Rank tuples as a Markov chain of masses and two-sided exponential steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import exp, log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine import noise
from sourdine.noise.selection import by_few_weights, by_running_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.quantiles.algorithm import Totals
    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source
    from sourdine.noise.source import Bools, Floats, Ints


# ---- Rank tuples as a Markov chain of masses and two-sided exponential kernels -------------------
#
# For targets :math:`T_1, \ldots, T_m, T_{m+1} = N` (cumulative) the weight of ranks
# :math:`i_1, \ldots, i_m` is
#
# .. math:: \prod_{j=1}^m \mu(i_j) \prod_{j=1}^{m+1} e^{-c|i_j - i_{j-1} - t_j|},
#           \qquad i_0 = 0,\; i_{m+1} = n,\; t_j = T_j - T_{j-1} + \delta_j .
#
# In *row coordinates* :math:`i_j = T_j + S + a_j`, :math:`S = \lfloor (n - N)/2 \rfloor`, the
# kernel is :math:`e^{-c|a_j - a_{j-1} - \delta_j|}` whatever the targets, so many totals :math:`N`
# are the rows of one array. With :math:`u = x e^{ca}` and :math:`v = x e^{-ca}` the sum over the
# kernel is two running sums: linear time, and sums of non-negative floats alone, so each result is
# right to :math:`3(W + 2cA + 20)\,2^{-53}` relative a step, :math:`W = 2A + 1` being the window.
#
# A tuple with :math:`c\sum_j|d_j| \le \Lambda` has all :math:`|a_j| \le \Lambda/2c` and
# :math:`|n - N| \le \Lambda/c`: what lies outside the window weighs less than :math:`e^{-\Lambda}`
# times its mass.
#
# A draw goes backwards through the sums that the kernel added. What arrives at :math:`a'` consists
# of the sum up to the place before it, of the weight at it and of the sum from the place after it
# on. Each of them is right to the same bound, and so is each part of a sum: drawing adds nothing up
# again, and a step takes the time of a search.
#
# The chain neither orders its ranks nor knows of several quantiles in one gap; `joint` rejects what
# is out of order.


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
        return int(self.T.shape[1]) - 1

    def row(self, r: int) -> Targets:
        return Targets(self.n, self.T[r : r + 1], self.shift)


class Chain:
    r"""The chain of some rows of targets inside a window, whose ranks the points must hold.

    ``half`` is the window's half-width :math:`A` in ranks. Of ``block`` ranks that are taken
    together at their centre the sums are off by a factor within
    :math:`e^{\pm cm(\text{block}-1)}`, and above 1 the chain cannot be drawn from.
    """

    __slots__ = (
        *("_a", "_block", "_c", "_down", "_end", "_half", "_kept", "_targets", "_up"),
        "logs",
    )

    DEPTH = 5
    r"""Down to :math:`e^{-\text{DEPTH} \cdot cA}` go the numbers."""

    def __init__(
        self, points: Points, targets: Targets, c: float, half: int, block: int = 1
    ) -> None:
        self._targets, self._c, self._half, self._block = targets, c, half, block
        blocks = -(-(2 * half + 1) // block)
        self._a = np.arange(blocks) * float(block) + (block - 1) / 2 - half
        begin = targets.T[:, :-1] + targets.S[:, None] - half
        masses = rank_masses(points, begin, block, blocks)
        if self.DEPTH * c * half + max(rows.log_spread for rows in masses) > LONGEST:
            raise TooWideError
        self._kept: list[tuple[Floats, Floats, Floats]] = []
        self.logs = self._forward(masses, keep=block == 1)

    def _forward(self, masses: list[RankMasses], *, keep: bool) -> Floats:
        a, c, m = self._a, self._c, self._targets.m
        first, last = self._ends()
        self._up, self._down = np.exp(2 * c * a), np.exp(-2 * c * a)
        log_scale = np.zeros(len(first))
        u = np.exp(c * (a - np.abs(first + a))) * masses[0].get()
        for j in range(1, m):
            highest = u.max(axis=1, keepdims=True)
            u /= highest
            log_scale += np.log(highest[:, 0])
            below = np.add.accumulate(u, axis=1)
            above = np.add.accumulate((u * self._down)[:, ::-1], axis=1)
            if keep:
                self._kept.append((u, below, above))
            u = self._kernel(u, below, above[:, ::-1], j)
            u *= masses[j].get()
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

    def _kernel(self, u: Floats, below: Floats, above: Floats, j: int) -> Floats:
        r"""Return :math:`e^{ca'} \sum_a x(a) e^{-c|a'-a-\delta_j|}`, from sums up to and from a."""
        if self._targets.shift is None:
            out: Floats = above * self._up
            out += below
            out -= u  # counted twice; at least half of the sum remains
            return out
        from_below, at, from_above = self._factors(j)
        out = at * u
        out[:, 1:] += from_below * below[:, :-1]
        out[:, :-1] += from_above * (above[:, 1:] * self._up[:-1])
        return out

    def _factors(self, j: int) -> tuple[float, float, float]:
        r"""Return :math:`e^{c\delta}, e^{-c|\delta|}, e^{-c\delta}`: steps up, none, down."""
        if self._targets.shift is None:
            return 1.0, 1.0, 1.0
        d = self._c * float(self._targets.shift[j])
        return exp(d), exp(-abs(d)), exp(-d)

    def draw(self, row: int, source: Source) -> list[int]:
        start = (self._targets.T[row, :-1] + self._targets.S[row] - self._half).tolist()
        return [first + i for first, i in zip(start, self._offsets(row, source)[::-1], strict=True)]

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
        u, below, above = (kept[row] for kept in self._kept[j - 1])
        beyond = len(above) - 1 - i
        x = self._c * float(self._a[i])
        from_below, at, from_above = self._factors(j)
        sides = (
            from_below * float(below[i - 1]) * exp(-x) if i else 0.0,
            at * float(u[i]) * exp(-x),
            from_above * float(above[beyond - 1]) * exp(x) if beyond else 0.0,
        )
        side = by_few_weights(sides, source=source)
        if side == 0:
            return by_running_sums(below[:i], lambda: u[:i], source=source)
        if side == 1:
            return i
        last = by_running_sums(
            above[:beyond], lambda: (u * self._down)[:i:-1], from_last=True, source=source
        )
        return len(above) - 1 - last


FEW = 1 << 18
"""Up to this many masses are looked up at once for all quantiles."""
APART = 2
"""Each window is read alone if the ranks between windows are this many times those in them."""


def rank_masses(points: Points, begin: Ints, block: int, blocks: int) -> list[RankMasses]:
    """Return the masses of each quantile's ranks: ``blocks`` sums of ``block`` ranks.

    They begin at ``begin``, a row for each row of targets and a column for each quantile.
    """
    low, high = int(begin.min()), int(begin.max()) + blocks * block
    inside = begin.shape[1] * (blocks * block + int(np.ptp(begin, axis=0).max()))
    near = high - low < min(FEW, APART * inside)
    if not (points.whole and near and begin.size * blocks < FEW):
        return [RankMasses.read(points, column, block, blocks) for column in begin.T]
    masses = points.masses(low, high)
    spread = _log_spread(masses, block)
    found = _by_block(_sliding(masses, block), block, blocks)[begin.T - low]
    return [RankMasses(partial(np.asarray, rows), spread) for rows in found]


class RankMasses:
    """The masses of one quantile's ranks, by row and block.

    ``get`` returns them, a row of blocks for each row of targets; ``log_spread`` is the log of the
    largest over the least, with the blocks' sums, so that what fits in blocks fits rank by rank.
    """

    __slots__ = ("get", "log_spread")

    def __init__(self, get: Callable[[], Floats], log_spread: float) -> None:
        self.get, self.log_spread = get, log_spread

    @classmethod
    def read(cls, points: Points, begin: Ints, block: int, blocks: int) -> RankMasses:
        """Read the ranks of one quantile; a row for each start."""
        low, high = int(begin.min()), int(begin.max()) + blocks * block
        masses = points.masses(low, high)
        sums = _sliding(masses, block)
        return cls(lambda: _by_block(sums, block, blocks)[begin - low], _log_spread(masses, block))


def _log_spread(masses: Floats, block: int) -> float:
    least, most = float(masses.min()), float(masses.max())
    if least <= 0:
        least = float(masses.min(where=masses > 0, initial=most))
    return log(block * most / least) if most > 0 else 0.0


def _by_block(sums: Floats, block: int, blocks: int) -> Floats:
    """Return a view whose row r holds every ``block``-th sum from the r-th on."""
    stride = sums.strides[0]
    shape = (len(sums) - (blocks - 1) * block, blocks)
    return np.ndarray(shape, np.float64, sums, strides=(stride, stride * block))


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


# ---- The chain for windows whose :math:`e^{\pm ca}` no float holds -------------------------------
#
# The kernel's sums are run segment by segment, each with its own scale, so only the messages
# themselves must fit: divided by its largest, one is at least :math:`e^{-2cA}` times the ratio of
# the least to the largest mass, half as far down as in `chain`. Again only non-negative floats are
# added and multiplied, with the same bound on the error. Draws are by logarithms.


SEGMENT = 30.0
"""The range of exponents inside a segment."""


class LongChain(Chain):
    """A `Chain` that is slower and reaches twice as far."""

    __slots__ = ("_messages",)

    DEPTH = 2

    def _forward(self, masses: list[RankMasses], *, keep: bool) -> Floats:
        first, last = self._ends()
        a, c = self._a, self._c
        log_scale = np.zeros(len(first))
        self._messages: list[Floats] = []
        x = np.exp(-c * np.abs(first + a)) * masses[0].get()
        for j in range(1, self._targets.m + 1):
            highest = x.max(axis=1, keepdims=True)
            x /= highest
            log_scale += np.log(highest[:, 0])
            if keep:
                self._messages.append(x)
            if j < self._targets.m:
                x = self._arriving(x, j) * masses[j].get()
        with np.errstate(divide="ignore"):
            ends = np.log(x) - c * np.abs(last - a)
        highest = ends.max(axis=1, keepdims=True)
        return np.asarray(log_scale + highest[:, 0] + np.log(np.exp(ends - highest).sum(axis=1)))

    def _arriving(self, x: Floats, j: int) -> Floats:
        r"""Return :math:`\sum_a x(a) e^{-c|a'-a-\delta_j|}`."""
        from_below, at, from_above = self._factors(j)
        decay = exp(-self._c * self._block)
        out = at * x
        out[:, 1:] += from_below * decay * self._decayed(x)[:, :-1]
        out[:, :-1] += from_above * decay * self._decayed(x[:, ::-1])[:, ::-1][:, 1:]
        return out

    def _decayed(self, x: Floats) -> Floats:
        r"""Return :math:`\sum_{a \le a'} x(a) e^{-c(a'-a)}`."""
        step = self._c * self._block
        length = max(1, int(SEGMENT / step))
        up = np.exp(step * np.arange(length))
        out, carry = np.empty_like(x), np.zeros((len(x), 1))
        for start in range(0, x.shape[1], length):
            part = x[:, start : start + length]
            scale = up[: part.shape[1]]
            sums = np.add.accumulate(part * scale, axis=1)
            sums += carry
            sums /= scale
            out[:, start : start + length] = sums
            carry = sums[:, -1:] * exp(-step)
        return out

    def _offsets(self, row: int, source: Source) -> list[int]:
        _, last = self._ends()
        goal, offsets = float(last[row, 0]), []
        for j in range(self._targets.m - 1, -1, -1):
            with np.errstate(divide="ignore"):
                logs = np.log(self._messages[j][row]) - self._c * np.abs(goal - self._a)
            i = noise.by_log_weight(logs, source=source)
            offsets.append(i)
            shift = self._targets.shift
            goal = float(self._a[i]) - (0.0 if shift is None else float(shift[j]))
        return offsets


# ---- The chain that keeps its order: slower, for targets so close that ranks would often cross ---
#
# The *slots* are, in order, the :math:`f + 1` pieces of each atom's cell (rank :math:`L` to
# :math:`L + f`) and the runs of empty cells between atoms. A *place* is an atom's cell or a run.
# Quantiles take slots in ascending order. :math:`k` of them in one place count :math:`f!/(f+k)!` in
# a cell of :math:`f` records and :math:`\ell^k/k!` in a run of :math:`\ell` cells, so the
# :math:`i`-th of them weighs :math:`1/(f+i)` or :math:`\ell/i`: the state is the slot and
# :math:`i`.
#
# In a *heavy* atom, of more than :math:`m^2/8` records, all weigh :math:`1/(f+1)`; a draw is
# refused for what that is too much, so with probability :math:`1 - e^{-4}` at most. All sums are of
# logarithms, over ranges by doubling, so the error grows with the logarithm of the window.


class Slots(NamedTuple):
    """Slots of a stretch of ranks: their order, rank, first tick, cells and records."""

    key: Ints
    rank: Ints
    tick: Ints
    cells: Ints
    records: Ints

    @classmethod
    def between(cls, points: Points, low: int, high: int) -> Slots:
        """Return the slots of the ranks ``low <= r <= high`` that exist."""
        found = [  # at left, in the middle or at right, so that slots of one rank keep their order
            (3 * rank + (2 * min(i, 1) if records else 1), rank, tick, cells, records)
            for rank in range(max(low, 0), min(high, points.n) + 1)
            for i, (tick, cells, records) in enumerate(points.around(rank))
        ]
        return cls._make(np.array(found, np.int64).reshape(-1, 5).T.copy())

    def within(self, low: int, high: int) -> Slots:
        """Return those of the ranks ``low <= r <= high``."""
        part = slice(*self.rank.searchsorted((low, high + 1)))
        return Slots._make(column[part] for column in self)

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


class OrderedChain:
    """One row of targets, its ranks within ``half`` of the row's coordinates.

    ``log_total`` is the logarithm of the weight of all ordered slot tuples.
    """

    __slots__ = ("_c", "_last", "_slots", "_t", "_x", "_y", "log_total")

    def __init__(self, slots: list[Slots], targets: Targets, c: float, half: int) -> None:
        start = targets.T[0] + targets.S[0]
        shift = np.zeros(targets.m + 1) if targets.shift is None else targets.shift
        self._t = np.diff(targets.T[0], prepend=0) + shift
        self._c = c
        self._slots = [
            slots[j].within(int(start[j]) - half, int(start[j]) + half) for j in range(targets.m)
        ]
        self._x: list[Floats] = []
        self._y: list[Floats] = []
        for j, here in enumerate(self._slots):
            # Sum over what quantile j can follow; keep the parts by its number in its place.
            parts = np.full((j + 1, len(here.key)), -np.inf)
            if j == 0:
                parts[0] = -c * np.abs(here.rank - self._t[0])
            else:  # from other places or in a heavy one; from their own place as its 2nd, 3rd, ...
                first, last = self._same_place(j)
                stop = np.where(self._heavy(here), last, first)
                parts[0] = self._reached(j, self._x[-1], here.rank, (np.zeros_like(stop), stop))
                light = np.flatnonzero(~self._heavy(here))
                if len(light):
                    ranges = first[light], last[light]
                    parts[1:, light] = self._reached(j, self._y[-1], here.rank[light], ranges)
            parts += here.log_mass(np.arange(1, j + 2)[:, None])
            self._y.append(parts)
            self._x.append(np.logaddexp.reduce(parts, axis=0))
        self._last = self._x[-1] - c * np.abs(targets.n - self._slots[-1].rank - self._t[-1])
        self.log_total = float(np.logaddexp.reduce(self._last))

    def _heavy(self, slots: Slots) -> Bools:
        return slots.records >= heavy(len(self._slots))

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
        logs, number = self._last, 0
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
        alone = number == 0 and not self._heavy(self._slots[j])[at]
        allowed = slice(first if number else 0, first if alone else last)
        logs = np.full(len(x), -np.inf)
        logs[allowed] = (x - self._c * np.abs(rank - before.rank - self._t[j]))[allowed]
        return logs


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


# ---- The rest of the chain: ranks and totals that no window holds --------------------------------
#
# A draw falls here with a probability below :math:`10^{-13}`, so it may take long; it must be
# possible all the same, or the mechanism would not be purely private. The chain of `chain` is run
# over all ranks with two messages, of tuples that have stayed inside the window so far and of those
# that have left it, in logarithms.


def draw_outside(
    points: Points,
    lattice: Totals,
    c: float,
    reach: tuple[int, int, int],
    bound: float,
    source: Source,
) -> tuple[int, list[int]] | None:
    """Draw a total's number and ranks from what lies outside, or None.

    ``reach`` holds the first and last number of a total inside, and the window's half-width;
    ``bound`` is an upper bound on the logarithm of the weight outside, and None is drawn for the
    part of it that is not filled.
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
        with np.errstate(divide="ignore"):
            log_mass = np.log(points.masses(0, points.n + 1))
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
            outside = self._x[j + 1][0][i] == -np.inf  # rank i may be the first that left
            weights = (self._x[j] + kernel)[[0, 1] if left and outside else [int(left)]]
            drawn = noise.by_log_weight(weights.ravel(), source=source)
            left = left and (len(weights) == 1 or drawn >= len(every))
            i = drawn % len(every)
            ranks.append(i)
        return ranks[::-1]
