"""Nine deciles by the methods of Canesse 2022, on data given as fractions of the public range.

The mechanisms are the library's own; only what `sourdine.quantiles` decides by itself (the number
of cells, the smoothing) is set as the report sets it, and the answers are left in the order in
which they are drawn, as there.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.central.quantiles.naive import NaiveLaplace
from sourdine.central.quantiles.points import Points
from sourdine.mechanisms import AboveThreshold
from sourdine_lab.bounds import histogram_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.noise import Source

__all__ = [
    "ORDERS",
    "TICKS",
    "Fit",
    "counts_below",
    "error",
    "first_edges",
    "histogram",
    "inverse_sensitivity",
    "naive",
    "sample_deciles",
]

Floats: TypeAlias = "NDArray[np.float64]"

ORDERS = tuple(Fraction(i, 10) for i in range(1, 10))
TICKS = 1 << 20
"""Cells of the lattice that stands for the range where a method has no cells of its own."""


def histogram(
    x: Floats,
    source: Source,
    *,
    epsilon: float = 1,
    monotone: bool = True,
    orders: Sequence[Fraction] = ORDERS,
) -> Floats:
    r"""Return the right edges of the cells that the searches name, one an order, as fractions.

    Parameters
    ----------
    x
        The data, in [0, 1).
    source
        Chance for the noise.
    epsilon
        For all orders together.
    monotone
        Does the search use that counts are monotone, :math:`\mathrm{Lap}(2/\varepsilon)` on each
        count, where the report's listing has :math:`\mathrm{Lap}(4/\varepsilon)`?
    orders
        The orders of the quantiles; the deciles if left out.
    """
    steps = histogram_steps(len(x))
    below = counts_below(x, steps)
    each = Fraction(epsilon) / len(orders)
    found = [
        first_edges(below, len(x), q, source, epsilon=each, monotone=monotone)[0] for q in orders
    ]
    return np.array(found) / steps


def counts_below(x: Floats, steps: int) -> NDArray[np.int64]:
    """Return how many values lie below the right edge of each cell."""
    return np.cumsum(np.bincount((x * steps).astype(np.int64), minlength=steps))


def first_edges(
    below: NDArray[np.int64],
    n: int,
    q: Fraction,
    source: Source,
    *,
    epsilon: Fraction,
    monotone: bool = False,
    size: int = 1,
) -> NDArray[np.int64]:
    """Return the number (from 1) of the edge that AboveThreshold names; the last if none."""
    unit = (q * n).denominator
    search = AboveThreshold(
        epsilon=epsilon, queries=len(below), threshold=int(q * n * unit), sensitivity=unit,
        monotone=monotone,
    )  # fmt: skip
    named = np.asarray(search.draw(below * unit, size, source))
    return np.asarray(np.minimum(named + 1, len(below)))


def inverse_sensitivity(
    x: Floats, source: Source, *, epsilon: float = 1, orders: Sequence[Fraction] = ORDERS
) -> Floats:
    r"""Return the draws of the smoothed mechanism with :math:`\rho = 1/n`, as fractions."""
    mechanism = InverseSensitivity(
        epsilon=epsilon, q=orders, cells=TICKS, relation="substitute", rho=round(TICKS / len(x))
    )
    return _middles(mechanism.one(_points(x), source))


def naive(
    x: Floats, source: Source, *, epsilon: float = 1, orders: Sequence[Fraction] = ORDERS
) -> Floats:
    """Return the sample's quantiles with Laplace noise of the whole range, as fractions."""
    mechanism = NaiveLaplace(epsilon=epsilon, q=orders, cells=TICKS, relation="substitute")
    return _middles(mechanism.one(_points(x), source))


def sample_deciles(x: Floats, orders: Sequence[Fraction] = ORDERS) -> Floats:
    r"""Return the values of rank :math:`\lceil qn \rceil`."""
    ranks = [ceil(q * len(x)) - 1 for q in orders]
    return np.partition(x, ranks)[ranks]


def error(answers: Floats, truth: Floats) -> float:
    """Return the root of the mean square over the deciles."""
    return float(np.sqrt(np.mean((answers - truth) ** 2)))


def _points(x: Floats) -> Points:
    return Points.of((x * TICKS).astype(np.int64), TICKS)


def _middles(ticks: Sequence[int]) -> Floats:
    return (np.asarray(ticks) + 0.5) / TICKS


class Fit:
    r"""The line :math:`\ln y = \ln A + B \ln n`, by least squares, with the deviation of B.

    Parameters
    ----------
    n, y
        Sizes and errors.
    deviation
        The standard deviation of each :math:`\ln y`.

    Examples
    --------
    >>> fit = Fit([10, 100, 1000], [0.5, 0.05, 0.005], [0.1, 0.1, 0.1])
    >>> round(fit.level, 6), round(fit.exponent, 6), round(fit.deviation, 3)
    (5.0, -1.0, 0.031)
    """

    def __init__(self, n: ArrayLike, y: ArrayLike, deviation: ArrayLike) -> None:
        x, values = np.log(np.asarray(n, float)), np.log(np.asarray(y, float))
        away = x - x.mean()
        share = away / (away @ away)
        self.exponent = float(share @ values)
        self.deviation = float(np.sqrt(share**2 @ np.asarray(deviation, float) ** 2))
        self.level = float(np.exp(values.mean() - self.exponent * x.mean()))

    def at(self, n: Floats) -> Floats:
        """Return the line's values."""
        return np.asarray(self.level * np.asarray(n, float) ** self.exponent)

    def words(self) -> str:
        """Return the line as a formula."""
        level = float(f"{self.level:.3g}")
        return f"{level:g} n^({self.exponent:.3f} ± {self.deviation:.3f})"
