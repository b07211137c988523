r"""AboveThreshold: how far from the threshold its answer can lie (Canesse 2022, lemma 3.2.0.1).

The threshold :math:`T` gets noise :math:`\rho \sim \text{Lap}(2/\varepsilon)`, each answer
:math:`f_i` noise :math:`\nu_i \sim \text{Lap}(4/\varepsilon)`, and :math:`A` is the first index
with :math:`f_i + \nu_i > T + \rho`. All bounds are about the true answers:

.. math:: P\big(f_i < T + \alpha \text{ for all } i < A, \text{ and } f_A > T - \alpha\big)
   \ge 1 - \beta,

where nothing is asked of :math:`f_A` if no answer passes.
"""

from __future__ import annotations

from functools import cache
from math import exp, inf, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import flag, integer
from sourdine_lab.bounds.reading import per_call, read_chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number

__all__ = [
    "above_threshold_alpha",
    "above_threshold_alpha_printed",
    "above_threshold_alpha_sharp",
    "above_threshold_noise",
]


def above_threshold_alpha(
    queries: int, epsilon: Number, beta: Number = 0.05, *, monotone: bool = False
) -> float:
    r"""Return :math:`\alpha = 8(\ln k + \ln(2/\beta))/\varepsilon` for :math:`k` queries.

    Parameters
    ----------
    queries
        :math:`k`, how many queries there are, whichever is named.
    epsilon
        What this one search spends.
    beta
        The probability with which the bound may fail.
    monotone
        Do all answers move in one direction between neighbours, as counts below an edge do? Then
        :math:`\nu_i \sim \text{Lap}(2/\varepsilon)` suffices and the 8 becomes 4.

    Notes
    -----
    *Claim*: the bound holds, with room: at 100 queries the sum of the two noises that the proof
    bounds has its 95% quantile at half of it. *Checked by* ``test_alpha_holds_on_all_levels``.

    Examples
    --------
    >>> round(above_threshold_alpha(100, epsilon=1, beta=0.05), 1)
    66.4
    """
    k = integer(queries, "queries", least=1)
    scale = 4 if flag(monotone, "monotone") else 8
    return scale * log(2 * k / read_chance(beta, "beta")) / per_call(epsilon, 1)


def above_threshold_alpha_printed(index: int, epsilon: Number, beta: Number = 0.05) -> float:
    r"""Return the lemma as printed, where :math:`k` is the index that the search returned.

    Two things are wrong. The index counts from 0, and at :math:`k = 0` the bound is minus
    infinity: it fails whenever the first query is named. And the printed event bounds
    :math:`f_i + \nu_i`, where theorem 3.4.1.2 needs :math:`f_i`; the noisy answers lie on their
    side of :math:`T + \rho` always, so the printed event is one about :math:`\rho` alone.

    Notes
    -----
    Counted from 1 and asked of the true answers, the number is right, though not by the printed
    proof, which takes a union over a random number of queries. The tail of :math:`\nu_i - \rho` is
    at most :math:`\tfrac23 e^{-\varepsilon x/4}`, so the bound fails with probability
    :math:`\sum_k \tfrac23 (\beta/2k)^2 < 0.28\,\beta^2` at most. *Checked by*
    ``test_printed_index_counted_from_one``.

    Examples
    --------
    >>> above_threshold_alpha_printed(0, epsilon=1)
    -inf
    """
    k = integer(index, "index", least=0)
    chance = read_chance(beta, "beta")
    return 8 * log(2 * k / chance) / per_call(epsilon, 1) if k else -inf


def above_threshold_alpha_sharp(queries: int, epsilon: Number, beta: Number = 0.05) -> float:
    r"""Return :math:`4 \ln\frac{2k}{3\beta}/\varepsilon`, less than half of the lemma's bound.

    A query can fail on one side only: it is passed over though :math:`f_i \ge T + \alpha`, or named
    though :math:`f_i \le T - \alpha`. Either needs the sum of two independent Laplace variables of
    scales :math:`4/\varepsilon` and :math:`2/\varepsilon` to reach :math:`\alpha`, which has
    probability

    .. math:: \frac{16 e^{-\varepsilon\alpha/4} - 4 e^{-\varepsilon\alpha/2}}{24}
       \le \tfrac23 e^{-\varepsilon\alpha/4};

    the rest is a union over the :math:`k` queries. (The lemma gives each noise half of
    :math:`\alpha` and so doubles the exponent's scale.) *Checked by*
    ``test_alpha_holds_on_all_levels``.

    Examples
    --------
    >>> round(above_threshold_alpha_sharp(100, epsilon=1, beta=0.05), 1)
    28.8
    """
    k = integer(queries, "queries", least=1)
    return max(0.0, 4 * log(2 * k / (3 * read_chance(beta, "beta"))) / per_call(epsilon, 1))


def above_threshold_noise(queries: int, epsilon: Number, beta: Number = 0.05) -> float:
    r"""Return the :math:`1-\beta` quantile of :math:`\max_i |\nu_i| + |\rho|`, by its law.

    It is what the lemma's proof bounds by :math:`\alpha`:

    .. math:: P(\max_i|\nu_i| + |\rho| \le a) = \int_0^a (1 - e^{-\varepsilon(a-r)/4})^k\,
       \tfrac{\varepsilon}{2} e^{-\varepsilon r/2}\,dr.

    Examples
    --------
    >>> round(above_threshold_noise(100, epsilon=1, beta=0.05), 1)
    32.9
    """
    k, chance = integer(queries, "queries", least=1), read_chance(beta, "beta")
    low, high = 0.0, 8 * log(2 * k / chance)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, k) >= 1 - chance else (middle, high)
    return high / per_call(epsilon, 1)


def _within(a: float, k: int) -> float:
    r"""Return the integral above at :math:`\varepsilon = 1`, in :math:`v = e^{-r/4}`."""
    nodes, weights = _quadrature()
    least = exp(-a / 4)
    v = least + (1 - least) * (nodes + 1) / 2
    return float((1 - least) * (weights @ (v * (1 - least / v) ** k)))


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss and Legendre's nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(100)
