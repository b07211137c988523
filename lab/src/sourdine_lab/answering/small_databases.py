"""All databases of m rows over a tiny universe, as multisets with the number of their orders."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, comb, log2
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ticks = NDArray[np.int64]

__all__ = ["SmallDatabases"]

MOST = 2_000_000
"""Multisets, or words of the numbers of their orders, that are worth keeping."""


class SmallDatabases:
    r"""The members of :math:`X^m` that are still in, each multiset weighed by its orders.

    .. math:: \text{weight} = \frac{m!}{c_1! \cdots c_N!}

    All weights are exact, of any length, so that a median over :math:`X^m` is that median.

    Examples
    --------
    >>> pairs = SmallDatabases(universe=2, size=2)
    >>> pairs.counts.tolist(), pairs.weights.tolist(), pairs.left
    ([[0, 2], [1, 1], [2, 0]], [1, 2, 1], 4)
    """

    __slots__ = ("counts", "size", "universe", "weights")

    def __init__(self, universe: int, size: int) -> None:
        _refuse_too_many(universe, size)
        self.universe, self.size = universe, size
        self.counts, self.weights = _multisets(universe, size)

    @property
    def left(self) -> int:
        """How many databases are in, orders counted."""
        return int(self.weights.sum())

    def totals(self, query: Ticks) -> Ticks:
        """Return the sum of a query over the rows of each multiset."""
        return np.asarray(self.counts @ query)

    def median(self, totals: Ticks) -> int:
        """Return a total that half of all databases do not pass, and half do not fall below."""
        order = np.argsort(totals, kind="stable")
        until = np.cumsum(self.weights[order])
        half = (int(until[-1]) + 1) // 2
        return int(totals[order[int(np.searchsorted(until, half))]])

    def keep(self, those: NDArray[np.bool_]) -> None:
        """Drop all others."""
        self.counts, self.weights = self.counts[those], self.weights[those]


def _refuse_too_many(universe: int, size: int) -> None:
    multisets = comb(size + universe - 1, universe - 1)
    words = multisets * ceil(max(1.0, size * log2(universe) / 64))
    if max(multisets, words // 8) > MOST:
        raise ParameterError(
            f"universe and accuracy must make at most {MOST} small databases, got about "
            f"10^{log2(multisets) / log2(10):.0f} of {size} rows over {universe} codes. Use a "
            f"larger accuracy, or QueryServer(sample, universe={universe}), which answers for "
            "universes up to 2**16 with multiplicative weights in place of databases."
        )


def _multisets(universe: int, size: int) -> tuple[Ticks, NDArray[np.object_]]:
    """Return all counts that sum to ``size``, and the orders of each."""
    counts, rest = np.empty((1, 0), np.int64), np.array([size])
    weights = np.array([1], object)
    for _ in range(universe - 1):
        of = np.repeat(np.arange(len(rest)), rest + 1)
        start = np.cumsum(rest + 1) - (rest + 1)
        chosen = np.arange(len(of)) - start[of]
        weights = weights[of] * np.concatenate([_binomials(int(r)) for r in rest])
        counts, rest = np.column_stack((counts[of], chosen)), rest[of] - chosen
    return np.column_stack((counts, rest)), weights


@lru_cache(4096)
def _binomials(r: int) -> NDArray[np.object_]:
    row = [1]
    for c in range(r):
        row.append(row[-1] * (r - c) // (c + 1))
    return np.array(row, object)
