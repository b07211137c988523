r"""Sums over one piece: cells :math:`i = 0, \dots, n-1` with weight :math:`e^{w + i a}`.

All functions are vectorised over pieces and stable for every slope :math:`a`, zero included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["log_sum", "mean_offset", "offset_of_mass", "variance_offset"]


def log_sum(w: Floats, a: Floats, n: Floats) -> Floats:
    r"""Return :math:`\ln \sum_{i<n} e^{w + i a}`, minus infinity where :math:`n = 0`."""
    w, a, n = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (w, a, n)))
    top = w + np.maximum(a, 0.0) * np.maximum(n - 1, 0)  # the heaviest cell
    slope = np.abs(a)
    steep = slope > 0
    ratio = np.divide(np.expm1(-slope * n), np.expm1(-slope), out=np.array(n), where=steep)
    with np.errstate(divide="ignore"):
        return np.where(n > 0, top + np.log(np.maximum(ratio, 0.0)), -np.inf)


def offset_of_mass(
    mass: Floats,
    w: Floats,
    a: Floats,
    n: Floats,
) -> NDArray[np.int64]:
    r"""Return the least :math:`k` in :math:`0..n-1` whose first :math:`k+1` cells hold ``mass``."""
    flat = np.abs(a) * n < 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = np.exp(np.log(mass) - w)  # in units of the first cell
        curved = np.log1p(np.maximum(cells * np.expm1(a), -1.0)) / a
    guess = np.ceil(np.where(flat, cells, curved)) - 1
    k = np.clip(np.nan_to_num(guess, nan=0.0, posinf=0.0), 0, n - 1)
    k = np.where(np.isposinf(guess), n - 1, k)
    for _ in range(2):  # a rounding error moves the guess by one cell at most
        k = np.where((k > 0) & (np.exp(log_sum(w, a, k)) >= mass), k - 1, k)
        k = np.where((k < n - 1) & (np.exp(log_sum(w, a, k + 1)) < mass), k + 1, k)
    return k.astype(np.int64)


def mean_offset(a: Floats, n: Floats) -> Floats:
    r"""Return the mean of :math:`i`: :math:`1/(e^{-a}-1) - n/(e^{-an}-1)`."""
    flat = np.abs(a * n) < 1e-4
    safe = np.where(flat, 1.0, a)
    with np.errstate(over="ignore"):
        exact = 1 / np.expm1(-safe) - n / np.expm1(-safe * n)
    return np.where(flat, (n - 1) / 2 + a * (n * n - 1) / 12, exact)


def variance_offset(a: Floats, n: Floats) -> Floats:
    r"""Return the variance of :math:`i`: with :math:`s(x) = x^2/(2\sinh(x/2))^2`, a difference."""
    flat = np.abs(a * n) < 3e-3
    safe = np.where(flat, 1.0, a)
    with np.errstate(over="ignore"):
        exact = 1 / (2 * np.sinh(safe / 2)) ** 2 - (n / (2 * np.sinh(safe * n / 2))) ** 2
    return np.where(flat, (n * n - 1) / 12 - a * a * (n**4 - 1) / 240, exact)
