"""Binomial laws to full relative accuracy, from one person to thousands of millions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["below", "chance", "reach", "run"]

REACH = 9.0
"""Standard deviations beyond which a binomial law weighs less than 1e-18."""
STEPS = 60
"""Added to the reach: where the mean is small the tail is a Poisson law's."""


def reach(n: Floats, r: float) -> tuple[Floats, Floats]:
    """Return between which counts nearly all of the law of n coins with chance r lies."""
    wide = REACH * np.sqrt(n * r * (1 - r)) + (STEPS if r < 1 else 0)
    return np.maximum(np.floor(n * r - wide), 0), np.minimum(np.ceil(n * r + wide), n)


def below(x: Floats, n: Floats, r: float) -> Floats:
    """Return the chance that n coins with chance r come up fewer than x times."""
    from scipy.special import betainc  # noqa: PLC0415

    inside = (x > 0) & (x <= n)
    a, b = np.where(inside, n - x + 1, 1.0), np.where(inside, x, 1.0)
    return np.where(inside, betainc(a, b, 1 - r), x > n)


def chance(x: Floats, n: Floats) -> Floats:
    r"""Return the chance of x heads of n fair coins.

    The factorials are taken apart by Stirling's series, so nothing large cancels: C. Loader, "Fast
    and accurate computation of binomial probabilities", 2000.
    """
    half, y = n / 2, n - x
    inner = (x > 0) & (y > 0)
    x, y, half = (np.where(inner, v, 1.0) for v in (x, y, half))
    away = _away(x, half) + _away(y, half)
    rest = _stirling(2 * half) - _stirling(x) - _stirling(y)
    middle = np.sqrt(half / (np.pi * x * y)) * np.exp(rest - away)
    return np.where(inner, middle, np.exp2(-n))


def run(n: int, r: float) -> tuple[int, Floats]:
    """Return the first count within reach, and the chances of it and of all that follow."""
    low, high = (int(end[0]) for end in reach(np.array([float(n)]), r))
    x = np.arange(low + 1, high + 1, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - x + 1) / x * (r / (1 - r))))])
    law = np.exp(logs - logs.max())
    return low, law / law.sum()


def _away(x: Floats, mean: Floats) -> Floats:
    r"""Return :math:`x \ln(x/\mu) - x + \mu`."""
    u = (x - mean) / mean
    return mean * ((1 + u) * np.log1p(u) - u)


def _stirling(n: Floats) -> Floats:
    r"""Return :math:`\ln n! - \ln(\sqrt{2\pi n}\,(n/e)^n)`."""
    from scipy.special import gammaln  # noqa: PLC0415

    big = np.maximum(n, 16.0)
    s = 1 / (big * big)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / big
    small = np.minimum(n, 16.0)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    return np.where(n >= 16, series, direct)
