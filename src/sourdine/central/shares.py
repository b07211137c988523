r"""What a noisy number of ones among n says of the share of ones in a population, exactly.

The number f of ones is binomial; released is :math:`K = f + X` with discrete Laplace noise of scale
a, so :math:`P_p(K \ge k) = \sum_f \binom nf p^f(1-p)^{n-f} P(X \ge k - f)`, which rises with p. The
interval holds all p at which neither :math:`P_p(K \ge k)` nor :math:`P_p(K \le k)` is below
:math:`\beta/2`: C. J. Clopper, E. S. Pearson, Biometrika 26, 1934, with noise.
"""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.intervals import lower_risks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["exact_ends"]

WIDE = 14.0
"""Numbers of ones this many standard deviations and more away are left out: below 1e-40."""
HALVINGS = 50


def exact_ends(ones: int, n: int, scale: float, beta: float) -> tuple[float, float]:
    """Return the ends of the share of ones in the population.

    Parameters
    ----------
    ones
        The number of ones, with noise.
    n
        The number of records.
    scale
        The scale of the noise.
    beta
        The probability with which the interval may fail.

    Examples
    --------
    >>> low, high = exact_ends(500, 1000, 1.0, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.468, 0.532)
    """
    if not n:
        return 0.0, 1.0
    for risk in lower_risks(beta):
        low = _least(ones, n, scale, risk / 2)
        high = 1 - _least(n - ones, n, scale, risk / 2)
        if low < high:
            return low, high
    return 0.0, 1.0


def _least(k: int, n: int, scale: float, beta: float) -> float:
    """Return the largest p at which k or more ones have a probability of ``beta`` at most."""
    low, high = 0.0, 1.0
    if _reached(k, n, 0.0, scale) > beta:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _reached(k, n, middle, scale) > beta else (middle, high)
    return low


def _reached(k: int, n: int, p: float, scale: float) -> float:
    """Return the probability that a noisy binomial is ``k`` or more."""
    reach = WIDE * (np.sqrt(n * p * (1 - p)) + 1) + WIDE
    f = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1) + 1)
    return float((_binomial(f, n, p) * _above(k - f, scale)).sum())


def _binomial(f: NDArray[np.int64], n: int, p: float) -> Floats:
    if p in (0.0, 1.0):
        return np.where(f == round(n * p), 1.0, 0.0)
    from scipy.special import betaln  # noqa: PLC0415 - costs time to import, needed here only

    chosen = -betaln(f + 1, n - f + 1) - np.log(n + 1)
    return np.asarray(np.exp(chosen + f * np.log(p) + (n - f) * log1p(-p)))


def _above(k: NDArray[np.int64], scale: float) -> Floats:
    """Return the probability that discrete Laplace noise is ``k`` or more."""
    q = exp(-1 / scale)
    far = np.exp(-np.abs(np.where(k > 0, k, 1 - k)) / scale) / (1 + q)
    return np.where(k > 0, far, 1 - far)
