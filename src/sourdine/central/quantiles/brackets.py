r"""Quantiles with an interval of their own: brackets are drawn beside them.

Beside the ranks :math:`q_jN` the joint draw aims at others, so that each order has one at least
:math:`u` below and one at least :math:`u` above it. The offset :math:`u` is public: with the
probability wanted, no lower bracket errs upward and no upper one downward by more than :math:`u`
(`sourdine.central.quantiles.expected`), so the sample's quantile lies between.

Every further aim makes all of them err more, so orders that lie close share their brackets. With
about :math:`n` records between neighbouring orders,

==============================  ===================================================================
:math:`n < 2u`                  nothing is added: orders bracket each other
:math:`2u \le n < 3u`           one aim in the middle serves both
:math:`3u \le n`                each order has its own bracket, :math:`u` away
==============================  ===================================================================

A rank's weight grows with the empty cells around it, so quantiles are pulled from dense stretches
into sparse ones: :math:`k` times the cells weigh as much as :math:`\ln k / c` ranks. What was drawn
shows where density falls; there a bracket must lie so much further out (`reached`). Where nearly
all records share a cell, the many empty ones can outweigh it; the total drawn is then small, and
the intervals are the bounds. *Checked by* ``test_brackets_cover``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.expected import bracket_error
from sourdine.central.quantiles.joint import JointFree
from sourdine.central.quantiles.lattice import FreeTotal
from sourdine.central.quantiles.sampler import first_reach
from sourdine.mechanisms.mechanism import read_level, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

    Aim = tuple[Fraction, int]

__all__ = ["Brackets", "reached"]

MARGIN = 0.13
"""So many 1/c for each aim the brackets lie further out: records do not lie evenly, and where they
share cells several aims leave a heavy cell together."""
EVEN = 1.0
"""Density may fall by this much, as a logarithm, before brackets move out: even data does."""
PULL = 2.0
"""So many aims are pulled together where density falls."""
FOUND = 3.0
"""A total of fewer than so many 1/c records for each gap says that the draw found no data."""
ROUNDS = 6
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brackets(JointFree):
    r"""`JointFree` for each quantile and for brackets on both sides of it.

    Parameters
    ----------
    level
        The probability with which all intervals hold.
    records
        About how many records there are, if that is known: close orders then share brackets.

    Examples
    --------
    >>> deciles = {"epsilon": 1, "q": [i / 10 for i in range(1, 10)], "cells": 1000}
    >>> [Brackets(records=n, **deciles).lattice.m for n in (200, 500, 100_000)]
    [11, 19, 27]
    """

    level: Number = 0.95
    records: float | None = None
    offset: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super(Brackets, self).__post_init__()
        level = read_level(self.level)
        aims, u = self._aims(float(1 - level))
        h = max(1, round((2 if len(aims) <= 12 else 1) * (len(aims) + 1) / self.c))
        orders, offsets = zip(*aims, strict=True)
        settle(self, level=level, offset=u, lattice=FreeTotal(orders, h, offsets))

    def _aims(self, beta: float) -> tuple[list[Aim], int]:
        """Return the aims and the offset that they need: more aims need more."""
        published: list[Aim] = [(q, 0) for q in self.orders]
        aims, u = published, 0
        for _ in range(ROUNDS):
            own = tuple(i for i, aim in enumerate(aims) if aim in published)
            errs = bracket_error(tuple(q for q, _ in aims), own, beta)
            wanted = ceil((errs + MARGIN * len(aims)) / self.c)
            if wanted <= u:
                break
            u = wanted
            aims = self._with_brackets(u)
        return aims, u

    def _with_brackets(self, u: int) -> list[Aim]:
        n = inf if self.records is None else max(self.records, 1)
        first, last = self.orders[0], self.orders[-1]
        aims: list[Aim] = [(first, -u)] if first * n >= u else []
        for a, b in pairwise(self.orders):
            aims.append((a, 0))
            between = float(b - a) * n
            if between >= 3 * u:
                aims += [(a, u), (b, -u)]
            elif between >= 2 * u:
                aims.append(((a + b) * HALF, 0))
        aims.append((last, 0))
        return aims + ([(last, u)] if (1 - last) * n >= u else [])

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that a draw mostly needs."""
        orders, offsets = self.lattice.orders, self.lattice.offsets  # type: ignore[union-attr]
        distance = first_reach(len(orders)) / self.c
        out = []
        for q, offset in zip(orders, offsets, strict=True):
            middle, half = round(q * n) + offset, int(max(q, 1 - q) * distance) + 8
            out.append((middle - half, middle + half))
        return out

    def published(self, drawn: Sequence[int]) -> NDArray[np.int64]:
        """Return lower bracket, quantile and upper bracket, a row for each order."""
        lattice, k, last = self.lattice, drawn[0], self.cells - 1
        goals = np.array(lattice.goals(k))  # type: ignore[union-attr]
        order = np.argsort(goals, kind="stable")
        place = np.argsort(order, kind="stable")
        own = [
            1 + int(place[i])
            for i, aim in enumerate(zip(lattice.orders, lattice.offsets, strict=True))  # type: ignore[union-attr]
            if aim[1] == 0 and aim[0] in self.orders
        ]
        total = lattice.h * k  # type: ignore[union-attr]
        ranks = np.concatenate(([0], goals[order], [total]))
        ticks = np.concatenate(([0], drawn[1:], [last]))
        if self.c * total < FOUND * (len(goals) + 1):
            return np.array([(0, ticks[j], last) for j in own], np.int64)
        low = [ticks[reached(ranks, ticks, j, self.offset, self.c)] for j in own]
        above, end = (total - ranks)[::-1], len(ranks) - 1
        down = (last - ticks)[::-1]
        high = [last - down[reached(above, down, end - j, self.offset, self.c)] for j in own]
        return np.stack((low, ticks[own], high), axis=1).astype(np.int64)


def reached(ranks: NDArray[np.int64], ticks: NDArray[np.int64], j: int, u: int, c: float) -> int:
    r"""Return which aim is the lower bracket of aim j.

    It lies :math:`u` ranks below, and not above a dense stretch that j could have been pulled from:
    one whose upper end is within :math:`u + 2(\Lambda - 1)^+/c` ranks of j, :math:`\Lambda` being
    the logarithm of how many more cells a rank has further up.

    Parameters
    ----------
    ranks, ticks
        Where the aims are and what was drawn for them, in order, within the bounds.
    j
        The aim of a quantile.
    u, c
        The offset and the decay per rank.

    Examples
    --------
    >>> ranks = np.arange(0, 101, 10)
    >>> reached(ranks, 7 * ranks, 7, 20, 1.0)
    5
    >>> atom = np.array([0, 70, 70, 70, 70, 600, 700, 800, 900, 950, 1000])
    >>> int(atom[reached(ranks, atom, 7, 20, 0.2)])
    70
    """
    length, cells = np.maximum(np.diff(ranks), 1), np.diff(ticks)
    sparse, dense = np.maximum(cells - 1, 0) / length, (cells + 1) / length
    last = min(j + 1, len(cells) - 2)  # the outermost stretches hold all that lies beyond
    lower = int(np.max(np.flatnonzero(ranks[j] - ranks[:j] >= u), initial=0))
    for i in range(lower - 1, 1, -1):
        fall = float(np.max(sparse[i : last + 1])) / dense[i - 1]
        pull = log(max(fall, 1.0)) - EVEN
        if ranks[j] - ranks[i] < u + PULL * max(pull, 0.0) / c:
            lower = i
    return lower
