r"""The histogram method on a standard normal sample (Canesse 2022, section 3.5, appendix C).

As on a uniform sample, with cells of width :math:`w = (b-a)/k` over public bounds :math:`(a, b)`.
The report states its theorem for :math:`\gamma \in [0, d_q]`, where :math:`d_q` is the quantile of
the normal law: that is empty for :math:`q \le 1/2`. By the symmetry :math:`x \to -x` it extends to
:math:`q < 1/2`, and with Hoeffding's inequality in place of its Chernoff bounds to every :math:`q`,
the median included, and every :math:`\gamma`.
"""

from __future__ import annotations

from math import erf, exp, log, pi, sqrt
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, positive
from sourdine_lab.bounds.above_threshold import above_threshold_alpha
from sourdine_lab.bounds.histogram_uniform import held_between
from sourdine_lab.bounds.reading import (
    DECILES,
    per_call,
    read_between,
    read_bounds,
    read_chance,
    read_order,
)

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = [
    "normal_accuracy",
    "normal_accuracy_exact",
    "normal_accuracy_printed",
    "normal_eta",
    "normal_eta_printed",
    "normal_mu",
    "normal_quantile",
]


def normal_quantile(q: Number) -> float:
    r"""Return :math:`\sqrt2\,\text{erf}^{-1}(2q - 1)` (lemma 3.5.0.1).

    Examples
    --------
    >>> round(normal_quantile(0.9), 4)
    1.2816
    """
    from scipy.special import erfinv

    return float(sqrt(2) * erfinv(2 * read_order(q) - 1))


def normal_eta(n: int, q: Number, gamma: Number) -> float:
    r"""Return a bound of how often the sample's quantile is more than :math:`\gamma/2` away.

    .. math:: \eta = e^{-2n(\Phi(d_q + \gamma/2) - q)^2} + e^{-2n(q - \Phi(d_q - \gamma/2))^2}

    Lemma 3.5.0.2 with Hoeffding's inequality on the two counts. It holds for all :math:`q` and
    :math:`\gamma` and is far smaller than the printed one. *Checked by* ``test_eta_holds``.

    Examples
    --------
    >>> round(normal_eta(10_000, 0.9, 0.2), 4), round(normal_eta_printed(10_000, 0.9, 0.2), 4)
    (0.0054, 0.8959)
    """
    order, size = read_order(q), integer(n, "n", least=1)
    half = float(at_least(gamma, "gamma", 0)) / 2
    d = normal_quantile(order)
    over, under = _cdf(d + half) - order, order - _cdf(d - half)
    return min(1.0, exp(-2 * size * over**2) + exp(-2 * size * under**2))


def normal_eta_printed(n: int, q: Number, gamma: Number) -> float:
    r"""Return lemma 3.5.0.2 as printed, for :math:`0 < \gamma \le d_q`, with :math:`i = 10q`.

    .. math:: \exp\!\Big({-\frac{n\gamma^2}{i^2}}
       \Big(\frac{i}{10} - \frac{\gamma}{2\sqrt{2\pi}}\Big) e^{-d_q^2}\Big)
       + \exp\!\Big({-\frac{5\gamma^2 i n}{16\pi (i + 5\gamma/\sqrt{2\pi})^2}}
       e^{-d_q^2}\Big)

    Its proof is wrong: it uses :math:`25/(6\pi) \ge 5`, which is 1.33, and its last inequality is
    reversed. The number survives, because it is weak: it is above the exact probability for every
    decile it speaks of (``test_printed_eta_survives``).
    """
    order, size = read_order(q), integer(n, "n", least=1)
    d = normal_quantile(order)
    g = _printed_gamma(gamma, d)
    i, root = 10 * order, sqrt(2 * pi)
    first = size * g**2 / i**2 * (order - g / (2 * root)) * exp(-(d**2))
    second = 5 * g**2 * i * size / (16 * pi * (i + 5 * g / root) ** 2) * exp(-(d**2))
    return exp(-first) + exp(-second)


def normal_mu(n: int, q: Number, gamma: Number, alpha: Number) -> float:
    r"""Return how often fewer than :math:`\alpha` values lie in one of the two outer intervals.

    They are :math:`[d_q - \gamma, d_q - \gamma/2]` and :math:`[d_q + \gamma/2, d_q + \gamma]`
    (lemma 3.5.0.3, right as printed, for every :math:`q` and :math:`\gamma`):

    .. math:: \mu = 2\exp\!\Big({-\frac{n\gamma}{4\sqrt{2\pi}}}
       \Big(e^{-(|d_q|+\gamma)^2/2} - \frac{2\alpha\sqrt{2\pi}}{n\gamma}\Big)^3\Big).

    *Checked by* ``test_mu_holds``.

    Examples
    --------
    >>> round(normal_mu(10_000, 0.9, 0.2, alpha=10), 4)
    0.0057
    """
    order, size = read_order(q), integer(n, "n", least=1)
    g, least = float(positive(gamma, "gamma")), float(at_least(alpha, "alpha", 0))
    root = sqrt(2 * pi)
    margin = exp(-((abs(normal_quantile(order)) + g) ** 2) / 2) - 2 * least * root / (size * g)
    return min(1.0, 2 * exp(-size * g / (4 * root) * max(0.0, margin) ** 3))


def normal_accuracy(
    n: int,
    q: Number,
    gamma: Number,
    *,
    epsilon: Number,
    steps: int,
    bounds: tuple[Number, Number],
    beta: Number = 0.05,
    calls: int = DECILES,
) -> float:
    r"""Return a lower bound of :math:`P(|A - d_q| \le \gamma + w)` (theorem 3.5.0.1, corrected).

    .. math:: P \ge 1 - \beta - \eta - \mu, \qquad
       \alpha = 8(\ln k + \ln(2/\beta)) \cdot 9/\varepsilon, \qquad w = (b-a)/k

    with `normal_eta` and `normal_mu`; the quantile must lie within the bounds. *Claim*: it holds.
    *Checked by* ``test_normal_accuracy_holds``.

    Examples
    --------
    >>> setting = dict(epsilon=1, steps=1000, bounds=(-5, 5))
    >>> round(normal_accuracy(1_000_000, 0.9, 0.03, **setting), 4)
    0.95
    """
    order, chance = read_order(q), read_chance(beta, "beta")
    _read_inside(order, bounds)
    k = integer(steps, "steps", least=1)
    alpha = above_threshold_alpha(k, per_call(epsilon, calls), chance)
    lost = chance + normal_eta(n, order, gamma) + normal_mu(n, order, gamma, alpha)
    return max(0.0, 1 - lost)


def normal_accuracy_exact(
    n: int,
    q: Number,
    gamma: Number,
    *,
    epsilon: Number,
    steps: int,
    bounds: tuple[Number, Number],
    beta: Number = 0.05,
    calls: int = DECILES,
) -> float:
    r"""Return the same bound by the exact law of two order statistics, as for a uniform sample.

    .. math:: P \ge I_{\Phi(d_q+\gamma)}(m_+,\, n-m_++1) - I_{\Phi(d_q-\gamma)}(m_-,\, n-m_-+1)
       - \beta

    since :math:`\Phi` of the sample is uniform; see `histogram_accuracy`. It is the larger of the
    two. *Checked by* ``test_normal_accuracy_holds``.

    Examples
    --------
    >>> setting = dict(epsilon=1, steps=1000, bounds=(-5, 5))
    >>> round(normal_accuracy_exact(1_000_000, 0.9, 0.01, **setting), 4)
    0.9491
    >>> normal_accuracy(1_000_000, 0.9, 0.01, **setting)
    0.0
    """
    order, chance = read_order(q), read_chance(beta, "beta")
    _read_inside(order, bounds)
    half, k = float(at_least(gamma, "gamma", 0)), integer(steps, "steps", least=1)
    alpha = above_threshold_alpha(k, per_call(epsilon, calls), chance)
    d = normal_quantile(order)
    return held_between(n, order, alpha, (_cdf(d - half), _cdf(d + half)), chance)


def normal_accuracy_printed(
    n: int, q: Number, gamma: Number, *, epsilon: Number, steps: int, beta: Number = 0.05
) -> float:
    r"""Return theorem 3.5.0.1 as printed: a lower bound of :math:`P(|A - d_q| \le \gamma)`.

    Wrong: the width of a cell is missing. With one cell (k = 1) the only answers are the bounds,
    and yet n = 1,000,000, q = 0.9, gamma = 0.5 is claimed with probability 0.95
    (``test_printed_normal_accuracy_is_refuted``). It also gives each call the whole epsilon, and
    says nothing for :math:`q \le 1/2`.

    Examples
    --------
    >>> round(normal_accuracy_printed(1_000_000, 0.9, 0.5, epsilon=1, steps=1), 4)
    0.95
    """
    order, chance = read_order(q), read_chance(beta, "beta")
    k, each = integer(steps, "steps", least=1), per_call(epsilon, 1)
    alpha = 8 * (log(k) + log(2 / chance)) / each
    eta = normal_eta_printed(n, order, gamma)
    return 1 - chance - eta - normal_mu(n, order, gamma, alpha)


def _cdf(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def _printed_gamma(gamma: Number, d: float) -> float:
    if d <= 0:
        raise ParameterError(
            "q must be above 0.5 in the printed form, got one that is not: "
            "gamma was to lie in [0, d]. Use normal_eta, which holds for every q."
        )
    return read_between(gamma, "gamma", 0, d)


def _read_inside(q: float, bounds: tuple[Number, Number]) -> None:
    lower, upper = read_bounds(bounds)
    if not lower <= normal_quantile(q) <= upper:
        raise ParameterError(
            f"bounds must hold the quantile {normal_quantile(q):.4g}, got {lower:g} and {upper:g}. "
            f"Use wider bounds, such as bounds=(-5, 5)."
        )
