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

*How far the noise reaches.* Let :math:`X_1, \ldots, X_{K+1}` be the noises, of scale :math:`s`,
and :math:`S_i` their running sums. :math:`|S_i - qS_{K+1}|` is convex in :math:`q`, so the least
and the greatest order decide. Down to :math:`\beta = 10^{-3}` the law of the greatest is sampled,
as if the noise were continuous. Below, for every :math:`0 < \lambda < 1/\max(q, 1-q)`,

.. math::

    P\Bigl(\max_{i,q}|S_i - qS_{K+1}| \ge sz\Bigr) \le 2e^{-\lambda z}\sum_{i,q}
    \bigl(1 - \lambda^2(1-q)^2\bigr)^{-i}\bigl(1 - \lambda^2q^2\bigr)^{-(K+1-i)},

and :math:`z` is the least at which some :math:`\lambda` makes that :math:`\beta`. *Proof*.
Markov's inequality for :math:`e^{\lambda(S_i - qS_{K+1})/s}`, a union over edges, the two orders
and the two signs, and :math:`Ee^{uX} \le 1/(1 - u^2s^2)`: an equality for continuous noise; the
discrete law has :math:`1/(1 - \sinh^2(u/2)/\sinh^2(1/2s))`, and :math:`\sinh(x)/x` rises. *Checked
by* ``test_rare_noise_stays_within_its_reach``, with
``test_rare_noise_on_the_lattice_stays_within_its_reach``.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["certified", "noise_reach"]

SAMPLES = 40_000
SAFETY = 1.03
"""What the sampling of z may err by."""
RAREST = 1e-3
"""Below this z is bounded, not sampled."""
TILTS = np.arange(1, 400) / 400
"""The shares of the greatest lambda at which the bound is looked at."""


def noise_reach(edges: int, orders: tuple[Fraction, ...], scale: float, beta: float) -> int:
    """Return z: what no noise passes, of all edges and orders, with probability ``1 - beta``."""
    return ceil(scale * _reach(edges, orders, beta)) + 1


@lru_cache(256)
def _reach(edges: int, orders: tuple[Fraction, ...], beta: float) -> float:
    """Return z for noise of scale 1."""
    extremes = sorted({float(min(orders)), float(max(orders))})
    if beta >= RAREST:
        return SAFETY * _sampled(edges, extremes, beta)
    return _bounded(edges, extremes, beta)


def _sampled(edges: int, orders: list[float], beta: float) -> float:
    """Return the quantile of a sample drawn with a fixed seed."""
    walk = np.cumsum(np.random.default_rng(0).laplace(size=(SAMPLES, edges + 1)), axis=1)
    inner, total = walk[:, :-1], walk[:, -1:]
    worst = np.zeros(SAMPLES)
    for q in orders:
        worst = np.maximum(worst, np.abs(inner - q * total).max(axis=1, initial=0.0))
    return float(np.quantile(worst, 1 - beta))


def _bounded(edges: int, orders: list[float], beta: float) -> float:
    """Return the least bound over all tilts; each of them holds."""
    tilts = TILTS / max(max(q, 1 - q) for q in orders)
    before = np.arange(1, edges + 1)[:, None]
    log_sums = [
        -before * np.log1p(-((tilts * (1 - q)) ** 2))
        - (edges + 1 - before) * np.log1p(-((tilts * q) ** 2))
        for q in orders
    ]
    log_sum = np.logaddexp.reduce(np.concatenate(log_sums), axis=0)
    return max(0.0, float(((log_sum + log(2 / beta)) / tilts).min()))


def certified(
    edges: Ints,
    between: Ints,
    orders: tuple[Fraction, ...],
    z: float | Sequence[tuple[float, float]],
    last: int,
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
        How far the noise reaches, in ranks; or for each order how far it and the error of sampling
        reach below and above.
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
    reaches = [(z, z)] * len(orders) if isinstance(z, (int, float)) else z
    for q, (down, up) in zip(orders, reaches, strict=True):
        apart = counts - float(q) * total
        below, above = edges[apart <= -down], edges[apart >= up]
        lower = int(below.max()) if len(below) else 0
        low.append(lower)
        high.append(max(int(above.min()) - 1, lower) if len(above) else last)
    return np.array(low, np.int64), np.array(high, np.int64)
