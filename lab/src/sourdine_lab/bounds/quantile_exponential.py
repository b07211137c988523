r"""One quantile by the exponential mechanism: error for an epsilon, epsilon for an error.

QExp (Audibert 2024, section 4.1, after Smith 2011) draws an answer with weight
:math:`e^{-\varepsilon |r - qn|/2}`, :math:`r` the number of values below it. (The report prints the
exponent without the half, which is :math:`2\varepsilon`-private when a value is replaced.)
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import positive
from sourdine_lab.bounds.reading import per_call, read_bounds, read_chance, read_order

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number

__all__ = [
    "exact_epsilon",
    "exact_miss",
    "rank_epsilon",
    "rank_error",
    "spread",
    "spread_printed",
]

LEAST, MOST = 1e-9, 1e6
"""Between these the smallest epsilon is looked for."""


def spread(bounds: tuple[Number, Number], step: Number) -> float:
    r"""Return :math:`\psi = (b-a)/\text{step}`, from the public grid.

    Examples
    --------
    >>> spread((0, 200), step=0.01)
    20000.0
    """
    lower, upper = read_bounds(bounds)
    return (upper - lower) / float(positive(step, "step"))


def spread_printed(x: ArrayLike, bounds: tuple[Number, Number]) -> float:
    r"""Return :math:`\psi = (b-a)/\min_k(x_{k+1}-x_k)`, as the report computes it.

    Wrong practice: the least gap (and there the bounds too) is read off private data, so the
    epsilon that follows from it is not private; and one tie makes it infinite.

    Examples
    --------
    >>> spread_printed([1, 2, 4], (0, 10)), spread_printed([1, 2, 2], (0, 10))
    (10.0, inf)
    """
    lower, upper = read_bounds(bounds)
    edges = np.concatenate(([lower], np.sort(np.asarray(x, np.float64)), [upper]))
    least = float(np.diff(edges).min())
    return (upper - lower) / least if least > 0 else inf


def rank_error(epsilon: Number, psi: Number, beta: Number = 0.05) -> float:
    r"""Return :math:`2(\ln\psi - \ln\beta)/\varepsilon`, what the rank error passes at most rarely.

    On a grid of :math:`\psi + 1` points some answer has rank error 0, and each of the other
    :math:`\psi` that are :math:`r` or more away has at most :math:`e^{-\varepsilon r/2}` of its
    weight; so :math:`P(\text{error} \ge r) \le \psi e^{-\varepsilon r/2}`. With ties the rank error
    of an answer is the distance of :math:`qn` to the ranks from "below" to "at or below" it.
    A law that takes the mean weight over the :math:`f + 1` ranks of a cell with :math:`f` records
    needs up to :math:`2\ln(f+1)/\varepsilon` and half a rank more
    (``test_rank_error_of_a_law_that_spreads_ties``).
    *Claim*: it holds on every data set. *Checked by* ``test_rank_error_holds``.

    Examples
    --------
    >>> round(rank_error(1, psi=10**6, beta=0.01), 1)
    36.8
    """
    return 2 * _log_ratio(psi, beta) / per_call(epsilon, 1)


def rank_epsilon(rank: Number, psi: Number, beta: Number = 0.05) -> float:
    r"""Return :math:`2(\ln\psi - \ln\beta)/r`, an epsilon that keeps the rank error below ``rank``.

    For a value error :math:`h` the rank is that of the fewest values that an interval of length
    :math:`h` beside the quantile holds: :math:`nh/(b-a)` for evenly spread data. It is safe, not
    smallest: `exact_epsilon` is, where the data is public. Figure 7 (n = 1000 on [0, 200], error
    20 with probability 0.01) reports 0.99; this gives about 0.375, and 0.094 suffices
    (``test_figure_7``).

    Examples
    --------
    >>> round(rank_epsilon(100, psi=spread((0, 200), step=2**-13), beta=0.01), 3)
    0.378
    """
    return 2 * _log_ratio(psi, beta) / float(positive(rank, "rank"))


def _log_ratio(psi: Number, beta: Number) -> float:
    return max(0.0, log(float(positive(psi, "psi"))) - log(read_chance(beta, "beta")))


def exact_miss(
    x: ArrayLike, q: Number, bounds: tuple[Number, Number], *, epsilon: Number, error: Number
) -> float:
    r"""Return :math:`P(|M - d_n| > \text{error})` by the law of QExp.

    :math:`d_n` is the quantile of ``x``. The law depends on the data: this is for public or
    simulated data. With several data sets in the rows of ``x`` it is
    their mean, so rows drawn from a model of the data give a plan.

    Examples
    --------
    >>> evenly = [(i + 0.5) / 5 for i in range(1000)]
    >>> round(exact_miss(evenly, 0.5, (0, 200), epsilon=0.0922, error=20), 4)
    0.01
    """
    gaps = _Gaps(x, read_order(q), read_bounds(bounds), float(positive(error, "error")))
    return gaps.miss(per_call(epsilon, 1))


def exact_epsilon(
    x: ArrayLike,
    q: Number,
    bounds: tuple[Number, Number],
    *,
    error: Number,
    beta: Number = 0.05,
) -> float:
    r"""Return the smallest epsilon at which `exact_miss` is below ``beta``, to nine digits.

    For public or simulated data, as `exact_miss`. Infinite if a million is not enough.

    Examples
    --------
    >>> evenly = [(i + 0.5) / 5 for i in range(1000)]
    >>> round(exact_epsilon(evenly, 0.5, (0, 200), error=20, beta=0.01), 4)
    0.0921
    """
    chance = read_chance(beta, "beta")
    gaps = _Gaps(x, read_order(q), read_bounds(bounds), float(positive(error, "error")))
    low, high = LEAST, MOST
    if gaps.miss(high) >= chance:
        return inf
    while high / low > 1 + 1e-9:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if gaps.miss(middle) < chance else (middle, high)
    return high


class _Gaps:
    """The gaps between the values of each data set, and what of them is near the quantile."""

    def __init__(self, x: ArrayLike, q: float, bounds: tuple[float, float], error: float) -> None:
        values = np.sort(np.atleast_2d(np.clip(np.asarray(x, np.float64), *bounds)), axis=1)
        sets, n = values.shape
        ends = [np.full((sets, 1), bound) for bound in bounds]
        edges = np.hstack((ends[0], values, ends[1]))
        d = np.quantile(values, q, axis=1, keepdims=True)
        self.lengths: NDArray[np.float64] = np.diff(edges)
        self.near: NDArray[np.float64] = np.diff(np.clip(edges, d - error, d + error))
        distance = np.where(self.lengths > 0, np.abs(np.arange(n + 1) - q * n), inf)
        self.distance = distance - distance.min(axis=1, keepdims=True)

    def miss(self, epsilon: float) -> float:
        """Return the mean over the data sets of the probability not to be near."""
        weights = np.exp(-epsilon / 2 * self.distance)
        far = ((self.lengths - self.near) * weights).sum(axis=1)
        return float((far / (self.lengths * weights).sum(axis=1)).mean())
