r"""Draws ranks from the joint law: windows for almost all, everything else for the rest.

The measure to draw from is that of `chain` over all totals and ranks. A window holds what weighs
:math:`e^{-\Lambda}` or more; *shells* bound the rest: tuples with :math:`c\sum|d_j|` in
:math:`[\Lambda_i, \Lambda_{i+1})` have
:math:`|i_j - q_j n| \le \max(q_j, 1-q_j)\Lambda_{i+1}/c + u + 1`, the targets being within
:math:`u` of their parts of the total, so they weigh at most

.. math:: e^{-\Lambda_i} \cdot \#\text{totals} \cdot \prod_j \mu(\text{those ranks}).

The window grows until the rest is below :math:`e^{-30}` of what it holds, and the rest is still
drawn exactly when its turn comes (`outside`). Nothing that is published depends on the window.

Totals are first weighed with ranks taken in blocks of :math:`B`; the one drawn is weighed again
rank by rank and kept with probability :math:`Z/(\hat Z e^\beta)`, :math:`\beta = cm(B-1)`, which is
at most 1.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil, exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.central.quantiles.chain import Chain, TooWideError
from sourdine.central.quantiles.long import LongChain
from sourdine.central.quantiles.ordered import OrderedChain, heavy, slots_of
from sourdine.central.quantiles.outside import draw_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.lattice import Lattice
    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source

    Piece = tuple[int, int, int, int]

__all__ = ["REST", "JointSampler", "first_reach"]

REST = 30.0
SHELLS = 20.0 * 1.08 ** np.arange(110)
PATIENCE = 100
LITTLE = 1e-3
SLACK = 1e-6


def first_reach(m: int) -> float:
    r"""Return the :math:`\Lambda` to read for at first; more is read when it does not suffice."""
    return REST + 35 + 4 * m


class JointSampler:
    """The joint law of a lattice's totals and of ticks, for some points.

    Parameters
    ----------
    points
        The records.
    lattice
        The totals.
    c
        The decay per rank.
    """

    __slots__ = ("_bounds", "_c", "_half", "_inside", "_lattice", "_points", "_rows", "_shell")

    def __init__(self, points: Points, lattice: Lattice, c: float) -> None:
        self._points, self._lattice, self._c = points, lattice, c
        self._bounds = self._shells()
        self._grow(self._guess(), ordered=False)

    @property
    def _rest(self) -> float:
        """The bound on the log weight of all that lies outside the window."""
        return float(self._bounds[self._shell])

    def _grow(self, inside: float, *, ordered: bool) -> None:
        """Open the first window outside of which little is left, by a guess of what is inside."""
        while True:
            enough = self._bounds <= inside - REST
            self._shell = int(enough.argmax()) if enough.any() else len(SHELLS) - 1
            self._open(float(SHELLS[self._shell]), ordered=ordered)
            if self._rest <= self._rows.log_least - REST or self._shell + 1 == len(SHELLS):
                return
            inside = min(inside, self._rows.log_least) - LITTLE

    def _shells(self) -> NDArray[np.float64]:
        r"""Return, for each :math:`\Lambda_i`, a bound on the log weight of what lies beyond."""
        q = np.array([float(q) for q in self._lattice.orders])
        n, c = self._points.n, self._c
        radius = np.ceil(np.maximum(q, 1 - q) * (SHELLS[:, None] / c) + 3).astype(np.int64)
        radius += self._lattice.stray
        middle = np.rint(q * n).astype(np.int64)
        low, high = middle - radius, middle + radius
        volume = np.log(self._points.span(low.ravel(), high.ravel())).reshape(low.shape).sum(axis=1)
        rows = self._lattice.log_rows(np.asarray(SHELLS / c, np.float64), c)
        shells = -SHELLS[:-1] + volume[1:] + rows[1:]
        last = -SHELLS[-1] + len(q) * log(self._points.cells) + rows[-1]
        return np.asarray(np.logaddexp.accumulate(np.append(shells, last)[::-1])[::-1]) + SLACK

    def _guess(self) -> float:
        """Return about what the window will weigh: the mass near the targets, a total away."""
        near = max(1, int(1 / self._c))
        middle = (round(q * self._points.n) for q in self._lattice.orders)
        masses = (self._points.masses(i - near, i + near + 1).sum() for i in middle)
        return (
            sum(log(max(float(mass), 1e-300)) for mass in masses)
            - 4
            - self._c * self._lattice.away(self._points.n)
        )

    def _open(self, reach: float, *, ordered: bool) -> None:
        distance = reach / self._c
        self._half = ceil(distance / 2) + 2
        first, last = self._lattice.inside(self._points.n, distance)
        self._inside = (first, last)
        targets = self._lattice.targets(self._points.n, range(first, last + 1))
        window = (self._points, targets, self._c, self._half)
        for chain in () if ordered else (Chain, LongChain):
            try:
                self._rows: _Quick | _Ordered = _Quick(*window, first, chain)
            except TooWideError:
                continue
            return
        self._rows = _Ordered(*window, first)

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Draw the number of a total, the ticks, and the ranks at which they cut the records."""
        attempts = 0
        while True:
            attempts += 1
            if attempts == PATIENCE and isinstance(self._rows, _Quick):
                self._points = self._points.complete()
                self._grow(self._rows.log_least, ordered=True)
            parts = np.array([0.0, self._rest - self._rows.log_total])
            if noise.by_log_weight(parts, source=source):
                drawn = self._outside(source)
            else:
                drawn = self._rows.draw(source)
            if drawn is not None:
                return drawn[0], _ticks(drawn[1], source), [piece[0] for piece in drawn[1]]

    def _outside(self, source: Source) -> tuple[int, list[Piece]] | None:
        reach = (*self._inside, self._half)
        whole = self._points.complete()
        drawn = draw_outside(whole, self._lattice, self._c, reach, self._rest, source)
        pieces = None if drawn is None else _ordered_pieces(whole, drawn[1], source)
        return None if drawn is None or pieces is None else (drawn[0], pieces)


class _Quick:
    """The window's rows by the fast chain: draws may be refused.

    ``log_total`` is what the draws are taken from, ``log_least`` bounds the rows' own weight.
    """

    __slots__ = (
        "_args",
        "_beta",
        "_chain",
        "_coarse",
        "_exact",
        "_first",
        "log_least",
        "log_total",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - a window, and how to sum it
        self,
        points: Points,
        targets: Targets,
        c: float,
        half: int,
        first: int,
        chain: type[Chain],
    ) -> None:
        self._args, self._first, self._chain = (points, targets, c, half), first, chain
        rows = len(targets.T)
        block = 1 + int(1.2 / (c * targets.m)) if rows > 2 else 1
        self._coarse = chain(points, targets, c, half, block)
        self._beta = c * targets.m * (block - 1) * (1 + SLACK)
        self._exact: dict[int, Chain] = {}
        total = float(np.logaddexp.reduce(self._coarse.logs))
        self.log_least, self.log_total = total - self._beta, total + self._beta

    def draw(self, source: Source) -> tuple[int, list[Piece]] | None:
        points, targets, c, half = self._args
        logs = self._coarse.logs
        row = noise.by_log_weight(logs, source=source)
        if self._beta == 0:
            ranks = self._coarse.draw(row, source)
        else:
            if row not in self._exact:
                self._exact[row] = self._chain(points, targets.row(row), c, half)
            kept = exp(float(self._exact[row].logs[0]) - float(logs[row]) - self._beta)
            if not _coin(kept, source):
                return None
            ranks = self._exact[row].draw(0, source)
        pieces = _ordered_pieces(points, ranks, source)
        return None if pieces is None else (self._first + row, pieces)


class _Ordered:
    """The window's rows by the chain that keeps its order."""

    __slots__ = ("_first", "_heavy", "_rows", "log_least", "log_total")

    def __init__(self, points: Points, targets: Targets, c: float, half: int, first: int) -> None:
        slots = slots_of(points, targets, half)
        rows = range(len(targets.T))
        self._rows = [OrderedChain(slots, targets.row(r), c, half) for r in rows]
        self._first, self._heavy = first, heavy(targets.m)
        self.log_total = float(np.logaddexp.reduce([row.log_total for row in self._rows]))
        self.log_least = self.log_total

    def draw(self, source: Source) -> tuple[int, list[Piece]] | None:
        logs = np.array([row.log_total for row in self._rows])
        row = noise.by_log_weight(logs, source=source)
        pieces = self._rows[row].draw(source)
        return (self._first + row, pieces) if _shared(pieces, self._heavy, source) else None


def _ordered_pieces(points: Points, ranks: list[int], source: Source) -> list[Piece] | None:
    r"""Draw what each rank's mass consists of; refuse what is out of order.

    :math:`k` quantiles in one empty run count :math:`\ell^k` times in the chain, in the law
    :math:`\ell^k/k!`.
    """
    if any(b < a for a, b in pairwise(ranks)):
        return None
    pieces = [(rank, *points.piece(rank, source=source)) for rank in ranks]
    if any(b < a for a, b in pairwise(pieces)):
        return None
    runs = Counter(tick for _, tick, _, records in pieces if not records)
    alone = all(_coin(1 / i, source) for k in runs.values() for i in range(2, k + 1))
    return pieces if alone and _shared(pieces, 1, source) else None


def _shared(pieces: list[Piece], least: int, source: Source) -> bool:
    r"""Keep :math:`k` quantiles in an atom by :math:`(f+1)^k f!/(f+k)!`, if it has so many records.

    So many times too often they count where each piece of its cell weighs :math:`1/(f+1)`.
    """
    atoms = Counter((tick, f) for _, tick, _, f in pieces if f >= least)
    chances = ((f + 1) / (f + i) for (_, f), k in atoms.items() for i in range(2, k + 1))
    return all(_coin(chance, source) for chance in chances)


def _ticks(pieces: list[Piece], source: Source) -> list[int]:
    """Draw a cell in each piece."""
    inner = (noise.uniform_below(p[2], source=source) if p[2] > 1 else 0 for p in pieces)
    return sorted(piece[1] + i for piece, i in zip(pieces, inner, strict=True))


def _coin(p: float, source: Source) -> bool:
    return p >= 1 or noise.by_weight(np.array([p, 1 - p]), source=source) == 0
