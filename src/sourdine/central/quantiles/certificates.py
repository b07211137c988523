r"""Intervals that hold for all data, from noisy counts between published ticks.

Ticks :math:`e_1 \le \ldots \le e_K` that are already public cut the grid into :math:`K + 1`
stretches. How many records lie in each is released with Laplace noise; a record lies in one
stretch, so all counts together cost no more than one. Let :math:`\hat C_i` be the sum of the first
:math:`i` and :math:`\hat N` that of all. The noise of :math:`\hat C_i - q_j \hat N` has a law that
does not depend on the data: with probability :math:`1 - \beta` none passes :math:`z`, and then

.. math::

    \hat C_i - q_j\hat N \le -z &\;\Rightarrow\; \text{the quantile is at least } e_i, \\
    \hat C_i - q_j\hat N \ge +z &\;\Rightarrow\; \text{it is at most } e_i - 1 .

*Checked by* ``test_certified_intervals_cover_whatever_the_data``.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["certified", "noise_reach"]

SAMPLES = 40_000
SAFETY = 1.03
"""What the sampling of z may err by."""
RAREST = 1e-3


def noise_reach(edges: int, orders: tuple[Fraction, ...], scale: float, beta: float) -> int:
    """Return z: what no noise passes, of all edges and orders, with probability ``1 - beta``."""
    return ceil(scale * _reach(edges, orders, beta)) + 1


@lru_cache(256)
def _reach(edges: int, orders: tuple[Fraction, ...], beta: float) -> float:
    """Sample z for noise of scale 1, with a fixed seed; beyond a thousandth, by its tail."""
    walk = np.cumsum(np.random.default_rng(0).laplace(size=(SAMPLES, edges + 1)), axis=1)
    inner, total = walk[:, :-1], walk[:, -1:]
    worst = np.zeros(SAMPLES)
    for q in orders:
        worst = np.maximum(worst, np.abs(inner - float(q) * total).max(axis=1, initial=0.0))
    rare = max(beta, RAREST)
    return SAFETY * float(np.quantile(worst, 1 - rare)) + 1.5 * log(rare / beta)


def certified(
    edges: Ints, between: Ints, orders: tuple[Fraction, ...], z: float, last: int
) -> tuple[Ints, Ints]:
    """Return the lower and the upper ends, as ticks; the grid's own where nothing is certain.

    Parameters
    ----------
    edges
        The ticks that cut the grid, in order.
    between
        The noisy counts of the stretches.
    orders
        Of which quantiles.
    z
        How far the noise reaches, in ranks; more, where sampling error is to be covered.
    last
        The grid's last tick.

    Examples
    --------
    >>> from fractions import Fraction
    >>> edges, between = np.array([10, 20, 30]), np.array([400, 95, 110, 395])
    >>> [end.tolist() for end in certified(edges, between, (Fraction(1, 2),), 50, 99)]
    [[10], [29]]
    """
    counts, total = np.cumsum(between)[:-1], int(np.sum(between))
    low, high = [], []
    for q in orders:
        apart = counts - float(q) * total
        below, above = edges[apart <= -z], edges[apart >= z]
        lower = int(below.max()) if len(below) else 0
        low.append(lower)
        high.append(max(int(above.min()) - 1, lower) if len(above) else last)
    return np.array(low, np.int64), np.array(high, np.int64)
