r"""Certified half-widths of ways to answer k adaptive queries about n independent rows.

Each returns a :math:`w` such that, whatever the analyst does, all :math:`k` answers are within
:math:`w` of the truth with probability :math:`1 - \beta`; only `non_adaptive` speaks of queries
fixed beforehand. 1 or more says nothing. *Checked by* ``test_table_of_widths``.

References
----------
.. [1] R. Rogers, A. Roth, A. Smith, N. Srebro, O. Thakkar, B. Woodworth, "Guaranteed validity for
   empirical approaches to adaptive data analysis", AISTATS 2020.
.. [2] C. Jung, K. Ligett, S. Neel, A. Roth, S. Sharifi-Malvajerdi, M. Shenfeld, "A new analysis of
   differential privacy's generalization guarantees", ITCS 2020.
.. [3] J. Dong, A. Roth, W. Su, "Gaussian differential privacy", JRSS B 84(1), 2022.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.information import informed_width, privacy_to_validity
from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, number, positive
from sourdine.privacy import SUBSTITUTE, Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.exact import Number

__all__ = [
    "gaussian_information",
    "gaussian_sharp",
    "gaussian_transfer",
    "hard_answers",
    "non_adaptive",
    "splitting",
    "thresholdout",
    "told",
    "transcript_bits",
]

_LN2 = log(2)
_STEPS = 60


def non_adaptive(n: int, k: int, beta: Number = 0.05) -> float:
    r"""Return :math:`\sqrt{\ln(2k/\beta)/2n}`: k queries that were fixed beforehand.

    Examples
    --------
    >>> round(non_adaptive(10_000, 100), 3)
    0.02
    """
    n, k, chance = _read(n, k, beta)
    return sqrt(log(2 * k / chance) / (2 * n))


def splitting(n: int, k: int, beta: Number = 0.05) -> float:
    """Return the width of fresh rows for each query, n/k of them.

    Examples
    --------
    >>> round(splitting(10_000, 100), 3)
    0.204
    """
    n, k, chance = _read(n, k, beta)
    return sqrt(log(2 * k / chance) / (2 * (n // k))) if n >= k else inf


def told(n: int, k: int, beta: Number, bits: float) -> float:
    r"""Return the width of k queries where each answer told so many bits.

    .. math:: w = \sqrt{\frac{\ln(2k/\beta) + (k - 1)\,b\ln 2}{2n}}

    since k - 1 answers precede the last query.
    """
    n, k, chance = _read(n, max(k, 1), beta)
    return sqrt((log(2 * k / chance) + (k - 1) * bits * _LN2) / (2 * n))


def transcript_bits(k: int, hard: int, levels: int) -> float:
    r"""Return the length of a transcript: which answers came from the data, and their values.

    .. math:: \log_2\binom kh + h \log_2 \ell + 2\log_2(h + 2)

    The last term names :math:`h`: :math:`\sum_h (h + 2)^{-2} < 1`.

    Examples
    --------
    >>> round(transcript_bits(100, 5, 64), 1)
    61.8
    """
    return log2_comb(k, hard) + hard * log2(levels) + 2 * log2(hard + 2)


def log2_comb(k: int, h: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return (lgamma(k + 1) - lgamma(h + 1) - lgamma(k - h + 1)) / _LN2


def hard_answers(n: int, k: int, beta: Number = 0.05, *, hard: int, levels: int = 64) -> float:
    r"""Return the width where all but ``hard`` answers were guessed without the data.

    .. math:: w = \sqrt{\frac{\ln(2k/\beta) + L\ln 2}{2n}}

    with :math:`L` of `transcript_bits`: how close the sample's averages are to the truth. What an
    answer differs from the average comes on top: half a level, or a guess's tolerance.

    Examples
    --------
    >>> round(hard_answers(10_000, 100, hard=5), 3), round(hard_answers(10_000, 100, hard=50), 3)
    (0.051, 0.121)
    """
    n, k, chance = _read(n, k, beta)
    if integer(hard, "hard", least=0) > k:
        raise ParameterError(f"hard must be at most k={k}, got {hard}. Use hard={k} or less.")
    bits = transcript_bits(k, hard, integer(levels, "levels", least=1))
    return sqrt((log(2 * k / chance) + bits * _LN2) / (2 * n))


def gaussian_information(n: int, k: int, beta: Number = 0.05) -> float:
    r"""Return the width of Gaussian noise at its best scale, by second moments ([1]_).

    .. math:: \min_\sigma\; \sigma\sqrt{2\ln\tfrac{4k}{\beta}} +
              \sqrt{\frac{1}{2n\beta}\,\min_{0 < \lambda < 1}
              \frac{2I - \ln(1 - \lambda)}{\lambda}}, \qquad I = \frac{k}{8n\sigma^2}

    Half of beta goes to the noise; for the rest,
    :math:`E e^{2n\lambda(q(S) - q(P))^2} \le (1 - \lambda)^{-1/2}` for a query chosen without
    looking, Donsker and Varadhan bound the second moment of one chosen with :math:`I` nats, and
    Chebyshev does the rest. `gaussian_sharp` is the same without the waste.

    Examples
    --------
    >>> round(gaussian_information(100_000, 10_000), 3)
    0.185
    """
    n, k, chance = _read(n, k, beta)

    def width(sigma: float) -> float:
        twice = k / (4 * n * sigma**2)
        # lambda = x/(1 + x)
        _, moment = least(lambda x: (twice + log1p(x)) * (1 + x) / x, 1e-6, 1e12)
        return sigma * sqrt(2 * log(4 * k / chance)) + sqrt(moment / (2 * n * chance))

    return least(width, 1e-9, 10.0)[1]


def gaussian_sharp(n: int, k: int, beta: Number = 0.05) -> float:
    r"""Return the width of Gaussian noise at its best scale and split of beta.

    .. math:: \min_{\sigma,\,\beta_1}\; \sigma z_{\beta_1/2k} + w(I), \qquad
              \mathrm{kl}\bigl(\beta - \beta_1 \,\|\, 2e^{-2nw^2}\bigr) = I = \frac{k}{8n\sigma^2}

    with the quantile of the Gaussian itself and the divergence itself in place of Chebyshev's
    inequality; see `sourdine.adaptive.information`.

    Examples
    --------
    >>> round(gaussian_sharp(100_000, 10_000), 3)
    0.154
    """
    n, k, chance = _read(n, k, beta)

    def width(sigma: float, share: float) -> float:
        nats = k / (8 * n * sigma**2)
        return noise_tail(sigma, k, share) + informed_width(nats, n, chance - share)

    shares = [chance * i / 32 for i in (1, 2, 3, 4, 6, 8, 12, 16)]
    return min(least(lambda s, b=b: width(s, b), 1e-9, 10.0)[1] for b in shares)  # type: ignore[misc]


def gaussian_transfer(n: int, k: int, beta: Number = 0.05) -> float:
    r"""Return the width of Gaussian noise at its best scale, by the transfer theorem ([2]_).

    .. math:: \min_{\sigma,\,\varepsilon,\,b}\; \sigma z_{b/2k} + (e^\varepsilon - 1) +
              \frac{\bigl(\sqrt b + \sqrt{2\delta}\bigr)^2}{\beta}

    with :math:`\delta(\varepsilon)` of the Gaussian itself at :math:`\mu = \sqrt k/(n\sigma)`
    ([3]_): noise on the reals, which a fine grid is close to.

    Examples
    --------
    >>> round(gaussian_transfer(100_000, 10_000), 3)
    0.248
    """
    from scipy.special import ndtri

    n, k, chance = _read(n, k, beta)
    epsilon, share = np.geomspace(1e-5, 3.0, 800)[:, None], chance * np.geomspace(1e-7, 0.5, 80)
    quantile = -ndtri(share / (2 * k))

    def width(sigma: float) -> float:
        delta = gaussian_delta(sqrt(k) / (n * sigma), epsilon)
        rest = (np.sqrt(share) + np.sqrt(2 * delta)) ** 2 / chance
        return float(np.min(sigma * quantile + np.expm1(epsilon) + rest))

    return least(width, 1e-7, 1.0)[1]


def gaussian_delta(mu: float, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return :math:`\Phi(\frac\mu2 - \frac\varepsilon\mu) -
    e^\varepsilon\Phi(-\frac\mu2 - \frac\varepsilon\mu)`, delta of a Gaussian shift.

    Examples
    --------
    >>> gaussian_delta(1.0, np.array([1.0])).round(6).tolist()
    [0.126937]
    """  # noqa: D205
    from scipy.special import log_ndtr

    above = log_ndtr(mu / 2 - epsilon / mu)
    below = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.asarray(-np.expm1(np.minimum(below - above, 0.0)) * np.exp(above))


def thresholdout(
    n: int, k: int, beta: Number = 0.05, *, threshold: Number, tolerance: Number, budget: int
) -> float:
    r"""Return the width of Thresholdout with ``n`` rows held out.

    .. math:: T + 6\sigma L + w(\varepsilon), \qquad L = \ln\frac{2(k + 2B)}{\beta}, \qquad
              \varepsilon = \frac{2B}{\sigma n}

    with :math:`w` of `privacy_to_validity` at :math:`\beta/2`. An answer from the training rows is
    within :math:`T` and two draws of noise, of scales :math:`2\sigma` and :math:`4\sigma`, of the
    holdout's average, one from the holdout within a draw of scale :math:`\sigma`.

    Examples
    --------
    >>> round(thresholdout(10**6, 1000, threshold=0.02, tolerance=0.001, budget=10), 3)
    0.09
    """
    n, k, chance = _read(n, k, beta)
    sigma, most = positive(tolerance, "tolerance"), integer(budget, "budget", least=1)
    draws = 6 * float(sigma) * log(2 * (k + 2 * most) / chance)
    chosen = privacy_to_validity(Guarantee(2 * most / (sigma * n), 0, SUBSTITUTE), n, chance / 2)
    return float(at_least(threshold, "threshold", 0)) + draws + chosen


def _read(n: int, k: int, beta: Number) -> tuple[int, int, float]:
    rows, queries = integer(n, "n", least=1), integer(k, "k", least=1)
    return rows, queries, float(number(beta, "beta", above=0, most=1))


def noise_tail(sigma: float, k: int, beta: float) -> float:
    """Return what none of k Gaussian draws passes, either way, but for a chance of beta."""
    from scipy.special import ndtri

    return -sigma * float(ndtri(beta / (2 * k)))


def least(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return where a function that falls and then rises is least, on a log scale, and its value.

    Examples
    --------
    >>> at, value = least(lambda x: x + 1 / x, 1e-3, 1e3)
    >>> round(at, 6), round(value, 6)
    (1.0, 2.0)
    """
    ratio = (sqrt(5) - 1) / 2
    a, b = log(low), log(high)
    left, right = b - ratio * (b - a), a + ratio * (b - a)
    at_left, at_right = function(exp(left)), function(exp(right))
    for _ in range(_STEPS):
        if at_left <= at_right:
            b, right, at_right = right, left, at_left
            left = b - ratio * (b - a)
            at_left = function(exp(left))
        else:
            a, left, at_left = left, right, at_right
            right = a + ratio * (b - a)
            at_right = function(exp(right))
    return (exp(left), at_left) if at_left <= at_right else (exp(right), at_right)
