r"""Two ways to sum the weights of all ascending m-tuples of gaps, with their operations counted.

Quantile j in gap :math:`r_j` (with :math:`r_j` records below), all uniform in their gaps, weighs

.. math:: \prod_g \frac{w_g^{k_g}}{k_g!} \prod_{j=1}^{m+1} e^{-c|r_j - r_{j-1} - t_j|},

where gap g is :math:`w_g` wide and holds :math:`k_g` of the quantiles.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]

__all__ = ["all_tuples", "passes"]


def all_tuples(widths: Real, t: Real, c: float) -> tuple[float, int]:
    """Sum over all tuples, one by one; return the sum and the multiplications."""
    m, n, total, operations = len(t) - 1, len(widths) - 1, 0.0, 0
    for r in combinations_with_replacement(range(n + 1), m):
        apart = np.abs(np.diff(np.array([0, *r, n])) - t).sum()
        shared = prod(factorial(k) for k in Counter(r).values())
        total += float(np.prod(widths[list(r)]) * np.exp(-c * apart)) / shared
        operations += 2 * m + 1
    return total, operations


def passes(widths: Real, t: Real, c: float) -> tuple[float, int]:
    """Sum quantile by quantile; return the sum and the multiplications.

    ``a[k - 1, r]`` is the weight of the quantiles so far where the last is the k-th in gap r. From
    one gap to a higher one the weight depends on their difference alone: a convolution, by three
    transforms of length 2n.
    """
    m, n = len(t) - 1, len(widths) - 1
    r = np.arange(n + 1)
    a = np.zeros((m, n + 1))
    a[0] = widths * np.exp(-c * np.abs(r - t[0]))
    operations, length = n + 1, 2 * (n + 1)
    for j in range(1, m):
        step = np.where(r > 0, np.exp(-c * np.abs(r - t[j])), 0.0)
        spectrum = np.fft.rfft(a.sum(axis=0), length) * np.fft.rfft(step, length)
        higher = np.fft.irfft(spectrum, length)[: n + 1] * widths
        same = a[:-1] * widths * np.exp(-c * abs(t[j])) / np.arange(2, m + 1)[:, None]
        a = np.vstack((higher, same))
        operations += int(3 * length * np.log2(length)) + 2 * m * (n + 1)
    return float((a.sum(axis=0) * np.exp(-c * np.abs(n - r - t[m]))).sum()), operations + n + 1
