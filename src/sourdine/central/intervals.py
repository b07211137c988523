r"""What noise of a known law says of the numbers beneath it.

*Sums of Laplace noises.* Independent continuous Laplace noises of scales
:math:`a_1, \ldots, a_k`, all different, have a sum with

.. math:: P(|X| > x) = \sum_i c_i e^{-x/a_i}, \qquad c_i = \prod_{j \ne i} \frac{a_i^2}{a_i^2-a_j^2}

(partial fractions of the characteristic function :math:`\prod 1/(1 + a_i^2 s^2)`). Scales that are
nearly equal are moved apart upwards, by a thousandth, so a quantile can only grow. The noises of a
release are discrete, on a lattice a thousand times finer than their scale; one lattice step
for each of them is added. *Checked by* ``test_the_quantile_of_a_sum_of_noises``.

*A ratio.* If :math:`z(p)` is a line in :math:`p` whose value at the truth is pure noise with
quantile :math:`q(p)`, then :math:`\{p : |z(p)| \le q(p)\}` holds the truth with the probability of
the quantile: E. C. Fieller, "Some problems in interval estimation", J. Royal Statistical Society B
16, 1954. *Checked by* ``test_ratio_intervals_cover``.

*Sampling.* The mean :math:`\bar x` of n independent values in [0, 1] with mean m satisfies
:math:`P(\bar x \ge t) \le e^{-n\,\mathrm{kl}(t, m)}` for :math:`t \ge m` and likewise below:
W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "FINE",
    "KNOTS",
    "accepted",
    "laplace_parts",
    "laplace_quantile",
    "least_fixed",
    "lower_risks",
    "sampled",
]

FINE = 1024
"""Noises treated as continuous have at least this many lattice steps to their scale."""

KNOTS = np.linspace(0.0, 1.0, 129)
"""Quantiles are known at these; in between a chord lies above a convex function."""

APART = 1 + 1e-3
STEPS = 8
"""Of Newton's method on the log tail, which is concave: from the first on, all are above."""


def laplace_quantile(scales: ArrayLike, beta: float) -> Floats:
    r"""Return what a sum of Laplace noises passes with probability ``beta`` at most.

    Parameters
    ----------
    scales
        The scales of the noises, along the last axis; zero or more, not all of them zero.

    Examples
    --------
    >>> float(laplace_quantile([1.0, 0.0], 0.05).round(2))  # the logarithm of 20
    3.0
    """
    a, c = laplace_parts(scales)
    x = a.max(-1) * log(1 / beta)
    for _ in range(STEPS):
        parts = c * np.exp(-x[..., None] / a)
        tail = parts.sum(-1)
        x = x + np.log(tail / beta) * tail / (parts / a).sum(-1)
    return np.asarray(x * (1 + 1e-9))


def laplace_parts(scales: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scales, moved apart, and the coefficients of the tail of the sum."""
    a = _apart(np.asarray(scales, np.float64))
    square = a * a
    apart = square[..., :, None] - square[..., None, :]
    own = np.arange(a.shape[-1])
    apart[..., own, own] = square
    return a, (square[..., :, None] / apart).prod(-1)


def _apart(scales: Floats) -> Floats:
    """Sort the scales and move them apart, upwards."""
    a = np.sort(np.maximum(scales, scales.max(-1, keepdims=True) * 1e-4), axis=-1)
    for i in range(1, a.shape[-1]):
        a[..., i] = np.maximum(a[..., i], a[..., i - 1] * APART)
    return a


def accepted(at_0: float, at_1: float, q: Floats) -> tuple[float, float] | None:
    """Return the ends of the p in [0, 1] at which a line is within ``q``; None if there are none.

    Parameters
    ----------
    at_0, at_1
        The line at p = 0 and p = 1.
    q
        The quantiles at `KNOTS`.

    Examples
    --------
    >>> accepted(-1.0, 1.0, np.full(129, 0.5))
    (0.25, 0.75)
    """
    z = at_0 + (at_1 - at_0) * KNOTS
    begin, end = np.zeros(len(KNOTS) - 1), np.ones(len(KNOTS) - 1)
    for f in (z - q, -z - q):
        first, slope = f[:-1], np.diff(f)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(slope == 0, np.where(first <= 0, -inf, inf), -first / slope)
        rising = slope > 0
        end = np.where(rising, np.minimum(end, root), end)
        begin = np.where(rising, begin, np.maximum(begin, root))
    some = np.flatnonzero(begin <= end)
    if not len(some):
        return None
    step = 1 / (len(KNOTS) - 1)
    low = (some[0] + begin[some[0]]) * step
    high = (some[-1] + end[some[-1]]) * step
    return float(low), float(high)


def lower_risks(beta: float) -> Iterator[float]:
    """Yield ``beta`` and ever lower risks, to try while an interval is empty.

    An interval that is empty covers nothing, so one of a higher confidence may take its place: it
    is wrong on fewer data still.

    Examples
    --------
    >>> list(lower_risks(0.05))[:3]
    [0.05, 0.005, 0.0005]
    """
    return (beta / 10**k for k in range(8))


def sampled(low: float, high: float, n: float, beta: float) -> tuple[float, float]:
    """Return the ends of a law's mean, given those of the mean of ``n`` draws from [0, 1].

    Examples
    --------
    >>> low, high = sampled(0.5, 0.5, 1000, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.457, 0.543)
    """
    if n <= 0:
        return 0.0, 1.0
    most = log(2 / beta) / n
    return 1 - _above(1 - low, most), _above(high, most)


def _above(p: float, most: float) -> float:
    """Return the largest m from p to 1 with kl(p, m) at most ``most``."""
    low, high = p, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _kl(p, middle) <= most else (low, middle)
    return high


def _kl(p: float, m: float) -> float:
    def part(x: float, y: float) -> float:
        return 0.0 if x <= 0 else inf if y <= 0 else x * log(x / y)

    return part(p, m) + part(1 - p, 1 - m)


def least_fixed(f: Callable[[float], float], most: float) -> float:
    """Return the least e with f(e) <= e, for an f that rises slowly; at most ``most``.

    Examples
    --------
    >>> round(least_fixed(lambda e: 0.1 + e / 4, 1.0), 6)
    0.133333
    """
    e = 0.0
    for _ in range(100):
        before, e = e, f(e)
        if e >= most or e - before <= 1e-6 * e:
            break
    return min(e * (1 + 1e-6), most)
