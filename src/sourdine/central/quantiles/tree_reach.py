r"""The shape of a tree with one leaf a tick, and how far its noise reaches.

Let :math:`S_1, \ldots, S_B` be the running sums of the noise of a consistent tree's leaves
(`sourdine.central.quantiles.tree`), for noise of scale 1 on each node. Their law depends on the
shape alone. Everything that is read off the tree is as far from the truth as

.. math:: R = \max_i \max(|S_i|, |S_i - S_B|)

at most, in units of the scale: with :math:`C_i` the records in the first :math:`i` leaves, of
:math:`N` in all, :math:`\hat C_i - q\hat N - (C_i - qN) = S_i - qS_B` is convex in :math:`q`, so
the worst order is 0 or 1.

*The law of R* is sampled as if the noise were continuous (``benchmarks/tree_reach.py``), down to a
risk of 0.01. Below, :math:`R` is a norm of a vector whose law is log-concave, so by C. Borell,
"Convex set functions in d-space", 1975, with :math:`\theta = P(R \le t) > 1/2` and
:math:`r \ge 1`,

.. math:: P(R > rt) \le \theta\Bigl(\frac{1 - \theta}{\theta}\Bigr)^{(r+1)/2}.

*Checked by* ``test_reach_of_a_tree_is_that_of_its_noise`` and
``test_rare_noise_of_a_tree_stays_within_its_reach``.
"""

from __future__ import annotations

from math import ceil, inf, log

import numpy as np

__all__ = ["MOST_TICKS", "reach", "tick_shape"]

MOST_TICKS = 1 << 22
"""A tree of all ticks has at most so many."""
SIXTEEN = log(16)
SAFETY = 1.02
"""What the sampling and the interpolation of the table may err by."""
LARGER = (0.5, 0.65, 0.8, 0.95, 1.0)
LOWER = (1.0, 0.98, 0.94, 0.88, 0.88)
"""What parts of its median R passes with larger risks, at most, in all shapes."""
RISKS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
TABLE = {
    (2, 2): (1.82, 2.81, 3.45, 4.04, 4.82, 5.39),
    (2, 3): (2.90, 4.10, 4.90, 5.63, 6.58, 7.28),
    (2, 4): (3.83, 5.24, 6.15, 7.00, 8.06, 8.82),
    (2, 6): (5.38, 7.13, 8.23, 9.24, 10.45, 11.39),
    (2, 8): (6.74, 8.76, 10.02, 11.16, 12.60, 13.71),
    (2, 11): (8.53, 10.85, 12.33, 13.73, 15.31, 16.52),
    (2, 16): (10.98, 13.82, 15.57, 17.17, 19.23, 20.58),
    (2, 23): (13.96, 17.33, 19.46, 21.37, 23.65, 25.36),
    (2, 32): (17.17, 21.14, 23.64, 25.92, 28.62, 30.67),
    (3, 3): (3.91, 5.12, 5.87, 6.56, 7.43, 8.06),
    (3, 8): (9.70, 11.71, 12.96, 14.13, 15.59, 16.64),
    (3, 11): (12.37, 14.73, 16.22, 17.58, 19.28, 20.54),
    (3, 16): (16.16, 19.02, 20.82, 22.38, 24.39, 25.83),
    (3, 21): (19.46, 22.72, 24.77, 26.59, 28.76, 30.34),
    (3, 26): (22.40, 26.04, 28.26, 30.28, 32.75, 34.37),
    (4, 3): (4.96, 6.16, 6.93, 7.62, 8.49, 9.05),
    (4, 8): (12.75, 14.80, 16.07, 17.27, 18.72, 19.75),
    (4, 12): (17.45, 19.98, 21.53, 22.90, 24.71, 25.93),
    (4, 16): (21.49, 24.35, 26.17, 27.87, 29.84, 31.24),
    (4, 20): (25.13, 28.40, 30.38, 32.28, 34.37, 35.99),
    (4, 23): (27.61, 31.02, 33.12, 35.15, 37.46, 39.08),
    (5, 3): (6.01, 7.24, 8.00, 8.69, 9.57, 10.18),
    (5, 8): (15.86, 17.96, 19.22, 20.41, 21.86, 22.86),
    (5, 13): (23.22, 25.92, 27.58, 29.18, 30.86, 31.85),
    (5, 17): (28.48, 31.51, 33.24, 34.96, 36.58, 38.09),
    (5, 22): (33.73, 36.88, 38.98, 40.76, 43.68, 44.84),
}
"""By height and branching: what R passes with each of the risks."""


def tick_shape(ticks: int) -> tuple[int, int]:
    r"""Return branching and height of a tree with a leaf for each tick.

    .. math:: h = \max\bigl(2, \operatorname{round}(\ln B/\ln 16)\bigr) \le 5, \qquad
              b = \lceil B^{1/h} \rceil

    Examples
    --------
    >>> tick_shape(200_001), tick_shape(121)
    ((22, 4), (11, 2))
    """
    h = min(max(2, round(log(max(ticks, 2)) / SIXTEEN)), 5)
    b = max(2, ceil(ticks ** (1 / h) - 1e-9))
    return (b if b**h >= ticks else b + 1), h


def reach(branching: int, height: int, beta: float) -> float:
    """Return what R passes with probability ``beta`` at most; infinity for shapes never sampled.

    Examples
    --------
    >>> 34 < reach(22, 4, 0.05) < 37
    True
    """
    known = sorted(b for h, b in TABLE if h == height)
    if not known or not known[0] <= branching <= known[-1]:
        return inf
    columns = np.array([TABLE[height, b] for b in known])
    place = np.log(branching), np.log(known)
    at = [float(np.exp(np.interp(*place, np.log(column)))) for column in columns.T]
    least = RISKS[-1]
    if beta > RISKS[0]:
        return SAFETY * at[0] * float(np.interp(beta, LARGER, LOWER))
    if beta >= least:
        return SAFETY * float(np.interp(-log(beta), [-log(risk) for risk in RISKS], at))
    theta = 1 - least
    return SAFETY * at[-1] * (2 * log(beta / theta) / log(least / theta) - 1)
