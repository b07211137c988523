r"""The totals that quantile targets are set by.

Targets :math:`T_j = q_j N` need a total :math:`N`. The number of records is private, so either
:math:`N` is *free*, a coordinate of the draw with values :math:`0, h, 2h, \ldots`, or it is given:
the number of records itself, or a total known from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, expm1, floor, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.central.quantiles.chain import Targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source

    Floats = NDArray[np.float64]

__all__ = ["Fixed", "FreeTotal", "Lattice", "OfRecords", "rounded_goals", "spacing"]

FEW = 3
"""So few quantiles err hardly more where totals lie twice as far apart, and draw faster."""


def rounded_goals(orders: Sequence[Fraction], total: int) -> list[int]:
    r"""Return :math:`\lfloor q_j N + \tfrac12 \rfloor`."""
    pairs = ((q.numerator, q.denominator) for q in orders)
    return [(2 * a * total + b) // (2 * b) for a, b in pairs]


def spacing(m: int) -> int:
    """Return how far apart the totals of m quantiles are, in units of 1/c."""
    return (2 if m <= FEW else 1) * (m + 1)


@dataclass(frozen=True, slots=True)
class FreeTotal:
    r"""Totals :math:`N = hk`, :math:`k = 0, 1, 2, \ldots`; targets are rounded to whole ranks."""

    orders: tuple[Fraction, ...]
    h: int
    offsets: tuple[int, ...] = ()

    @property
    def m(self) -> int:
        """How many quantiles there are."""
        return len(self.orders)

    def goals(self, k: int) -> list[int]:
        r"""Return :math:`\lfloor q_j hk + \tfrac12\rfloor`, moved by the offsets in 0 to hk."""
        total = self.h * k
        goals = rounded_goals(self.orders, total)
        if not self.offsets:
            return goals
        moved = zip(goals, self.offsets, strict=True)
        return [min(max(goal + offset, 0), total) for goal, offset in moved]

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        """Return the targets of some totals, in order, a row each."""
        rows = [[*sorted(self.goals(k)), self.h * k] for k in ks]
        return Targets(n, np.array(rows, np.int64))

    def inside(self, n: int, distance: float) -> tuple[int, int]:
        """Return the first and the last total within a distance of the number of records."""
        first = max(0, ceil((n - distance) / self.h))
        return first, max(first, floor((n + distance) / self.h))

    def log_rows(self, distance: Floats, c: float) -> Floats:
        r"""Bound :math:`\ln \sum_k e^{-c(|n - hk| - D)^+}`: how many totals a shell has."""
        return np.asarray(np.log(2 * distance / self.h + 1 + 2 / -np.expm1(-c * self.h)))

    def away(self, n: int) -> int:
        """Return about how far the nearest total is from the number of records."""
        del n
        return 0

    @property
    def stray(self) -> int:
        """How far, rounding apart, a target can be from its part of the total."""
        return max((abs(offset) for offset in self.offsets), default=0)

    def beyond(self, n: int, last: int) -> int:
        r"""Return the total from which on each weighs :math:`e^{-ch}` times the one before.

        There every gap's target either is at least all records or no longer grows.
        """
        ends = sorted({Fraction(0), *self.orders, Fraction(1)})
        least = min(b - a for a, b in pairwise(ends))
        return max(last + 1, ceil((n + 1 + 2 * self.stray) / (self.h * least)))

    def log_tail(self, c: float) -> float:
        r"""Return :math:`\ln \sum_{i \ge 0} e^{-chi}`."""
        return -log(-expm1(-c * self.h))

    def further(self, c: float, source: Source) -> int:
        r"""Draw :math:`i \ge 0` with a probability proportional to :math:`e^{-chi}`."""
        logs, i = np.array([-c * self.h, log(-expm1(-c * self.h))]), 0
        while noise.by_log_weight(logs, source=source) == 0:
            i += 1
        return i


@dataclass(frozen=True, slots=True)
class OfRecords:
    """One total, the number of records: targets are not rounded, for that would cost privacy."""

    orders: tuple[Fraction, ...]

    @property
    def m(self) -> int:
        """How many quantiles there are."""
        return len(self.orders)

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        """Return the only row, with what rounding left of each gap's target."""
        del ks
        exact = [Fraction(0), *(q * n for q in self.orders), Fraction(n)]
        whole = [floor(t + Fraction(1, 2)) for t in exact]
        shift = [
            float(exact[j] - exact[j - 1] - whole[j] + whole[j - 1]) for j in range(1, len(exact))
        ]
        return Targets(n, np.array([whole[1:]], np.int64), np.array(shift))

    def inside(self, n: int, distance: float) -> tuple[int, int]:
        """Return the only total."""
        del n, distance
        return 0, 0

    def away(self, n: int) -> int:
        """Return 0: the total is the number of records."""
        del n
        return 0

    def log_rows(self, distance: Floats, c: float) -> Floats:
        """Return the logarithm of one row."""
        del c
        return np.zeros_like(distance)

    def beyond(self, n: int, last: int) -> int:
        """Return the end of the totals."""
        del n
        return last + 1

    def log_tail(self, c: float) -> float:
        """Return that no total is left."""
        del c
        return -np.inf

    def further(self, c: float, source: Source) -> int:
        """Return 0: there is one total."""
        del c, source
        return 0

    @property
    def stray(self) -> int:
        """Targets are their part of the total."""
        return 0


@dataclass(frozen=True, slots=True)
class Fixed(OfRecords):
    """Whole targets that are known, not read: those of a slice between two published quantiles."""

    goals: tuple[int, ...] = ()

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        """Return the only row."""
        del ks
        return Targets(n, np.array([self.goals], np.int64))

    def away(self, n: int) -> int:
        """Return how far the total is from the number of records: no tuple is nearer."""
        return abs(n - self.goals[-1])

    @classmethod
    def of(cls, goals: Sequence[int]) -> Fixed:
        """Take cumulative targets, the last of which is the total."""
        total = max(goals[-1], 1)
        return cls(tuple(Fraction(goal, total) for goal in goals[:-1]), tuple(goals))


Lattice = FreeTotal | OfRecords | Fixed
