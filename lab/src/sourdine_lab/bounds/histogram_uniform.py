r"""The histogram method on a uniform sample (Canesse 2022, section 3.4).

For each of ``calls`` quantiles one AboveThreshold, at its share :math:`\varepsilon/9` of epsilon,
goes through the counts below the edges of :math:`k = 1.5\,n/\ln n` cells of [0, 1] until one
passes :math:`qn`; the answer :math:`A` is the right edge of that cell (1 if none passes). The truth
is the quantile :math:`q` of the law, not of the sample.

The report proves its theorems with the whole :math:`\varepsilon` in each call. Here epsilon is the
total, as everywhere, and each call gets its share.
"""

from __future__ import annotations

from math import ceil, exp, floor, log, pi, sqrt
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer
from sourdine_lab.bounds.above_threshold import above_threshold_alpha
from sourdine_lab.bounds.order_statistics import Rank
from sourdine_lab.bounds.reading import DECILES, per_call, read_chance, read_order

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = [
    "histogram_accuracy",
    "histogram_accuracy_printed",
    "histogram_asymptotic",
    "histogram_asymptotic_printed",
    "histogram_asymptotic_sharp",
    "histogram_error",
    "histogram_error_printed",
    "histogram_least_n",
    "histogram_least_n_printed",
    "histogram_steps",
]

LEAST_N = 3
"""The least sample with ``ln n > 1``."""


def histogram_steps(n: int) -> int:
    r"""Return the report's number of cells, :math:`\lfloor 1.5\,n/\ln n \rfloor`.

    Examples
    --------
    >>> histogram_steps(100_000)
    13028
    """
    return floor(1.5 * integer(n, "n", least=LEAST_N) / log(n))


def histogram_accuracy(
    n: int,
    q: Number,
    gamma: Number,
    *,
    epsilon: Number,
    beta: Number = 0.05,
    calls: int = DECILES,
    steps: int | None = None,
    monotone: bool = False,
) -> float:
    r"""Return a lower bound of :math:`P(|A - q| \le \gamma + 1/k)` (theorem 3.4.1.2, corrected).

    .. math:: P \ge I_{q+\gamma}(m_+,\, n - m_+ + 1) - I_{q-\gamma}(m_-,\, n - m_- + 1) - \beta,
       \qquad m_\pm = \lceil qn \pm \alpha \rceil

    with :math:`\alpha = 8\ln(2k/\beta) \cdot 9/\varepsilon` and :math:`I` the regularised
    incomplete beta function (1 beyond 1, 0 below 0). With probability :math:`1-\beta` the count
    below :math:`A` is more than :math:`qn-\alpha` and that one cell before is less than
    :math:`qn+\alpha`, so :math:`X_{(m_-)} < A \le X_{(m_+)} + 1/k`; the rest is the law of two
    order statistics. Ranks that the sample does not have make it 0, so no condition on :math:`n`
    is needed.

    Parameters
    ----------
    n
        How many values, independent and uniform on [0, 1].
    q
        The order of the quantile, 0.1 for the first decile.
    gamma
        Half of the width of the interval, without the cell.
    epsilon
        The total of all calls.
    beta
        The probability left to AboveThreshold's noise.
    calls
        How many quantiles share epsilon.
    steps
        The number of cells, :math:`1.5\,n/\ln n` if not given.
    monotone
        Does the method use that counts are monotone (half the noise on the queries)?

    Notes
    -----
    *Claim*: it holds. *Checked by* ``test_uniform_accuracy_holds``.

    Examples
    --------
    >>> round(histogram_accuracy(100_000, 0.5, 0.03, epsilon=1), 4)
    0.95
    >>> histogram_accuracy(100_000, 0.5, 0.0265, epsilon=0.05)
    0.0
    """
    order, chance = read_order(q), read_chance(beta, "beta")
    half = float(at_least(gamma, "gamma", 0))
    k = histogram_steps(n) if steps is None else integer(steps, "steps", least=1)
    alpha = above_threshold_alpha(k, per_call(epsilon, calls), chance, monotone=monotone)
    return held_between(n, order, alpha, (order - half, order + half), chance)


def held_between(n: int, q: float, alpha: float, ends: tuple[float, float], beta: float) -> float:
    r"""Return the theorem's bound for the ends :math:`F(\text{end})` of an interval, or 0."""
    low, high = Rank(ceil(q * n - alpha), n), Rank(ceil(q * n + alpha), n)
    left = low.at_most(ends[0]) if ends[0] > 0 else 0.0
    return max(0.0, high.at_most(ends[1]) - left - beta)


def histogram_accuracy_printed(
    n: int, q: Number, gamma: Number, *, epsilon: Number, beta: Number = 0.05
) -> float:
    r"""Return theorem 3.4.1.2 as printed, :math:`\alpha = 8 \ln(3n/(\beta \ln n))/\varepsilon`.

    Wrong: each of the nine calls has :math:`\varepsilon/9`, so :math:`\alpha` is nine times too
    small. At n = 100,000, epsilon = 0.05 the median is claimed within 0.0266 with probability
    0.949; it is there in a third of all runs (``test_printed_uniform_accuracy_is_refuted``). The
    ranks :math:`qn \pm \alpha` are not whole, and the upper one should be rounded up.

    Examples
    --------
    >>> round(histogram_accuracy_printed(100_000, 0.5, 0.0265, epsilon=0.05), 3)
    0.949
    """
    order, chance = read_order(q), read_chance(beta, "beta")
    half = float(at_least(gamma, "gamma", 0))
    size = integer(n, "n", least=LEAST_N)
    alpha = 8 * log(3 * size / (chance * log(size))) / per_call(epsilon, 1)
    low, high = Rank(order * size - alpha, size), Rank(order * size + alpha, size)
    return high.at_most(order + half) - low.at_most(order - half) - chance


def histogram_error(
    n: int,
    q: Number,
    *,
    epsilon: Number,
    beta: Number | None = None,
    calls: int = DECILES,
    steps: int | None = None,
    monotone: bool = False,
) -> float:
    r"""Return an upper bound of :math:`E|A - q|` (theorem 3.4.1.3, corollary 3.4.1.1, corrected).

    .. math:: E|A - q| \le \frac1k + c + E\big(X_{(m_+)} - (q + c)\big)^+
       + E\big((q - c) - X_{(m_-)}\big)^+ + \beta \max(q, 1-q), \qquad c = \frac\alpha n

    with :math:`\alpha` and :math:`m_\pm` as in `histogram_accuracy`, and
    :math:`\beta = 1/(\sqrt n \ln n)` unless given. The expectations are integrals of the incomplete
    beta function, in closed form. The report takes :math:`c = 0`, which counts the error on both
    sides though an answer errs on one, and so has twice the term of the noise; its last term, for
    errors beyond :math:`q`, is not needed, because the interval may be wider than that.

    Notes
    -----
    *Claim*: it holds. *Checked by* ``test_uniform_error_holds``.

    Examples
    --------
    >>> round(histogram_error(100_000, 0.5, epsilon=1), 4)
    0.0147
    """
    order, size = read_order(q), integer(n, "n", least=LEAST_N)
    chance = 1 / (sqrt(size) * log(size)) if beta is None else read_chance(beta, "beta")
    k = histogram_steps(size) if steps is None else integer(steps, "steps", least=1)
    alpha = above_threshold_alpha(k, per_call(epsilon, calls), chance, monotone=monotone)
    low, high = Rank(ceil(order * size - alpha), size), Rank(ceil(order * size + alpha), size)
    c, most = alpha / size, max(order, 1 - order)
    apart = c + high.above(order + c) + low.below(order - c)
    return min(most, 1 / k + apart + chance * most)


def histogram_error_printed(
    n: int, q: Number, *, epsilon: Number, beta: Number | None = None
) -> float:
    r"""Return theorem 3.4.1.3 as printed; without beta, corollary 3.4.1.1 (figure 2).

    .. math:: \frac1k + q\beta + \int_0^q (1 - I_{q+t}(m_+))\,dt + \int_0^q I_{q-t}(m_-)\,dt
       + \Big(1 - q - \frac1k\Big)\big(1 + \beta - I_{2q}(m_+)\big)

    with real ranks :math:`m_\pm = qn \pm 8\ln(3n/(\beta\ln n))/\varepsilon`; the corollary
    takes :math:`\beta = 1/(\sqrt n \ln n)`, as this does unless one is given. Wrong as its
    :math:`\alpha` is (see `histogram_accuracy_printed`), though the number is not exceeded in
    simulation: the error of AboveThreshold is a fraction of what its lemma allows. Arguments
    above 1 (:math:`q > 1/2`) mean 1. *Checked by* ``test_printed_uniform_error_is_not_exceeded``.

    Examples
    --------
    >>> round(histogram_error_printed(5000, 0.5, epsilon=1), 3)
    0.047
    >>> round(histogram_error_printed(5000, 0.5, epsilon=1, beta=0.05), 3)
    0.085
    """
    order, size = read_order(q), integer(n, "n", least=LEAST_N)
    cell = 2 * log(size) / (3 * size)
    if beta is None:
        chance, inside = 1 / (sqrt(size) * log(size)), 3 * size**1.5
    else:
        chance = read_chance(beta, "beta")
        inside = 3 * size / (chance * log(size))
    alpha = 8 * log(inside) / per_call(epsilon, 1)
    low, high = Rank(order * size - alpha, size), Rank(order * size + alpha, size)
    twice = min(1.0, 2 * order)
    near = cell + order * chance + high.above(order, twice) + low.below(order)
    return near + (1 - order - cell) * (1 + chance - high.at_most(twice))


def histogram_least_n(epsilon: Number, *, share: int = 20, calls: int = DECILES) -> int:
    r"""Return the least :math:`n` with :math:`\alpha = 8\ln(3n\sqrt n)\cdot 9/\varepsilon \le n/s`.

    The hypothesis of the report's theorems: :math:`s = 10` for corollary 3.4.1.1 (every rank
    :math:`in/10 \pm \alpha` exists), :math:`s = 20` for theorem 3.4.2.1.

    Examples
    --------
    >>> histogram_least_n(1, share=10), histogram_least_n(1, share=20)
    (10824, 23304)
    """
    each, parts = per_call(epsilon, calls), integer(share, "share", least=1)
    low, high = 1, 2
    while not _fits(high, each, parts):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fits(middle, each, parts) else (middle, high)
    return high


def histogram_least_n_printed(epsilon: Number, *, share: int = 20) -> int:
    """Return the same with the whole epsilon in each call, as printed: far too small.

    Examples
    --------
    >>> histogram_least_n_printed(1, share=10), histogram_least_n_printed(1, share=20)
    (905, 2000)
    """
    return histogram_least_n(epsilon, share=share, calls=1)


def _fits(n: int, epsilon: float, share: int) -> bool:
    return 8 * log(3 * n**1.5) / epsilon <= n / share


def histogram_asymptotic(n: int, q: Number, *, epsilon: Number, calls: int = DECILES) -> float:
    r"""Return an upper bound of :math:`E|A - q|` without special functions (theorem 3.4.2.1).

    .. math:: \frac{2\ln n}{3n} + \frac{q}{\sqrt n \ln n} + 2\sqrt{\frac{\pi}{2n}}
       + \Big(1 - q - \frac{2\ln n}{3n}\Big)
       \Big(\frac{1}{\sqrt n\ln n} + e^{-nq^2/2}\Big)
       + \frac{24 \cdot 9}{\varepsilon n}\ln(3^{2/3} n) + \frac1n

    for :math:`n` from `histogram_least_n` on (23,304 at epsilon 1), so
    :math:`E|A-q| = O(1/\sqrt n)` (corollary 3.4.2.1). *Claim*: it holds. *Checked by*
    ``test_asymptotic_bounds_hold``.

    Examples
    --------
    >>> round(histogram_asymptotic(1_000_000, 0.5, epsilon=1), 4)
    0.0057
    """
    least = histogram_least_n(epsilon, share=20, calls=calls)
    return _asymptotic(n, q, per_call(epsilon, calls), least)


def histogram_asymptotic_printed(n: int, q: Number, *, epsilon: Number) -> float:
    r"""Return theorem 3.4.2.1 as printed: 24 for :math:`24 \cdot 9`, from n = 2000 on.

    Wrong as its :math:`\alpha` is: the term of the noise is nine times too small, and the theorem
    was to hold from an :math:`n` at which the corrected :math:`\alpha` is nine times what its
    hypothesis allows.

    Examples
    --------
    >>> round(histogram_asymptotic_printed(1_000_000, 0.5, epsilon=1), 4)
    0.0029
    """
    least = histogram_least_n_printed(epsilon, share=20)
    return _asymptotic(n, q, per_call(epsilon, 1), least)


def _asymptotic(n: int, q: Number, epsilon: float, least: int) -> float:
    order, size = read_order(q), integer(n, "n")
    if size < least:
        raise ParameterError(
            f"n must be at least {least} for this epsilon, got {size}. "
            f"Use a larger n or epsilon, or use histogram_asymptotic_sharp, which holds for all n."
        )
    beta, cell = 1 / (sqrt(size) * log(size)), 2 * log(size) / (3 * size)
    sampling = 2 * sqrt(pi / (2 * size))
    far = (1 - order - cell) * (beta + exp(-size * order**2 / 2))
    noise = 24 / (epsilon * size) * log(3 ** (2 / 3) * size)
    return cell + order * beta + sampling + far + noise + 1 / size


def histogram_asymptotic_sharp(
    n: int, q: Number, *, epsilon: Number, calls: int = DECILES
) -> float:
    r"""Return the same with half of both terms, sampling and noise, for every :math:`n`.

    .. math:: E|A-q| \le \frac1k + \sqrt{\frac{\pi}{2n}}
       + \frac{12\cdot 9}{\varepsilon n}\ln(3^{2/3} n) + \frac{\max(q, 1-q)}{\sqrt n \ln n}

    From `histogram_error`: by Hoeffding's inequality
    :math:`P(X_{(m_+)} > q + t) \le e^{-2n(t - \alpha/n)^2}` for :math:`t \ge \alpha/n`, so its
    integral from there on is at most :math:`\tfrac12\sqrt{\pi/2n}`; and so on the left. The report
    integrates the Gaussian over the whole line, and counts :math:`\alpha/n` twice. *Checked by*
    ``test_asymptotic_bounds_hold``.

    Examples
    --------
    >>> round(histogram_asymptotic_sharp(1_000_000, 0.5, epsilon=1), 4)
    0.0029
    """
    order, size = read_order(q), integer(n, "n", least=LEAST_N)
    noise = 12 / (per_call(epsilon, calls) * size) * log(3 ** (2 / 3) * size)
    most = max(order, 1 - order)
    beta = 1 / (sqrt(size) * log(size))
    return 1 / histogram_steps(size) + sqrt(pi / (2 * size)) + noise + most * beta
