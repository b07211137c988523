r"""Quantiles with an interval of their own: brackets are drawn beside them.

Beside the ranks :math:`q_jN` the joint draw aims at others, so that each order has one at least
:math:`u` below and one at least :math:`u` above it. Where the drawn ticks really lie is counted
afterwards, with noise (`sourdine.central.quantiles.certificates`), so intervals hold for all data;
:math:`u` only decides how wide they are.

Every further aim makes all of them err more, so orders that lie close share their brackets. With
about :math:`n` records between neighbouring orders,

==============================  ===================================================================
:math:`n < 2u`                  nothing is added: orders bracket each other
:math:`2u \le n < 3u`           one aim in the middle serves both
:math:`3u \le n`                each order has its own bracket, :math:`u` away
==============================  ===================================================================
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.expected import bracket_error
from sourdine.central.quantiles.joint import JointFree
from sourdine.central.quantiles.lattice import FreeTotal
from sourdine.central.quantiles.sampler import first_reach
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Points

    Aim = tuple[Fraction, int]

__all__ = ["Brackets"]

USUAL = 0.03
"""The probability that a bracket lands on the wrong side, where records lie evenly.

An interval whose bracket does is as wide as the range: with 0.03 that happens to one median in 200,
with 0.1 to one in 45, and the others are 14 % narrower.
"""
ROUNDS = 6
HALF = Fraction(1, 2)


def _slack(x: int) -> int:
    return integer(x, "slack", least=0)


@frozen(kw_only=True)
class Brackets(JointFree):
    r"""`JointFree` for each quantile and for brackets on both sides of it.

    It is as private as `JointFree`, whose proof holds for whatever targets follow from the drawn
    total. *Checked by* ``test_exact_worst_case[quantiles.joint.brackets.add_remove]`` and
    ``[quantiles.joint.brackets.substitute]``.

    Parameters
    ----------
    slack
        How many ranks further out the brackets aim, for the noise of the counts that follow.
    records
        About how many records there are, if that is known: close orders then share brackets.

    Examples
    --------
    >>> deciles = {"epsilon": 1, "q": [i / 10 for i in range(1, 10)], "cells": 1000, "slack": 20}
    >>> [Brackets(records=n, **deciles).lattice.m for n in (200, 900, 100_000)]
    [9, 19, 27]
    """

    slack: int = field(default=0, converter=_slack)
    records: float | None = None

    @cached_property
    def lattice(self) -> FreeTotal:
        """The free totals, and the offsets of the brackets."""
        aims, _ = self._aims
        h = max(1, round((2 if len(aims) <= 12 else 1) * (len(aims) + 1) / self.c))
        orders, offsets = zip(*aims, strict=True)
        return FreeTotal(orders, h, offsets)

    @property
    def offset(self) -> int:
        """How many records a bracket is away from its quantile."""
        return self._aims[1]

    @cached_property
    def _aims(self) -> tuple[list[Aim], int]:
        """Return the aims and the offset that they need: more aims need more."""
        published: list[Aim] = [(q, 0) for q in self.orders]
        aims, u = published, 0
        for _ in range(ROUNDS):
            own = tuple(i for i, aim in enumerate(aims) if aim in published)
            errs = bracket_error(tuple(q for q, _ in aims), own, USUAL)
            wanted = ceil(errs / self.c) + self.slack
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
        orders, offsets = self.lattice.orders, self.lattice.offsets
        # Offsets move aims between totals, so that a draw looks further than without brackets.
        distance = 1.25 * first_reach(len(orders)) / self.c
        out = []
        for q, offset in zip(orders, offsets, strict=True):
            middle, half = round(q * n) + offset, int(max(q, 1 - q) * distance) + 8
            out.append((middle - half, middle + half))
        return out

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the ticks of the quantiles asked for, without their brackets."""
        return np.asarray(drawn[1:], np.int64)[self.own(drawn[0])]

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of the quantiles asked for."""
        ticks = [self.published(row) for row in self.support()[y].tolist()]
        return self.rank_errors(x, np.array(ticks))

    def own(self, k: int) -> list[int]:
        """Return which of the ticks, in order, are the quantiles asked for."""
        lattice = self.lattice
        place = np.argsort(np.argsort(lattice.goals(k), kind="stable"), kind="stable")
        aims = zip(lattice.orders, lattice.offsets, place.tolist(), strict=True)
        return [i for q, offset, i in aims if offset == 0 and q in self.orders]

    def edges(self, drawn: Drawn) -> list[int]:
        """Return the ticks below which records are worth counting, in order.

        Of a lower bracket it matters how many records are below it, of an upper one how many are
        below or in it, and of what is neither, both.
        """
        lattice, ticks = self.lattice, drawn[1:]
        order = np.argsort(lattice.goals(drawn[0]), kind="stable")
        own = set(self.own(drawn[0])) if any(lattice.offsets) else set()
        edges = []
        for i, tick in enumerate(ticks):
            offset = lattice.offsets[order[i]]
            if i not in own:
                edges += [tick] * (offset <= 0) + [tick + 1] * (offset >= 0)
        return sorted(edges)
