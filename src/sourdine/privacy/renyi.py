r"""From :math:`\rho`-zCDP to :math:`(\varepsilon, \delta)` and back, every bound certified.

For every :math:`\alpha > 1`, a :math:`\rho`-zCDP mechanism is :math:`(\varepsilon, \delta)`-DP with

.. math::
    \varepsilon = \alpha\rho - \ln\frac{\alpha}{\alpha - 1}
        + \frac{\ln(1/\delta) - \ln\alpha}{\alpha - 1}

[1]_. Any order is valid, so floats choose it and exact arithmetic evaluates the formula there: a
poor choice could only make the answer worse for the user, never false.

References
----------
.. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
   NeurIPS 2020, proposition 12.
.. [2] M. Bun, T. Steinke, "Concentrated differential privacy", TCC 2016, proposition 1.3.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.exact import Real, exp_neg

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["delta_of", "epsilon_of", "rho_of"]

_LEAST = Fraction(5000)
"""No delta below exp(-5000) is told from it."""


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    r"""Return epsilon at ``delta``, rounded up, at most :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}`.

    *Checked by* ``test_epsilon_is_optimal_and_rounded_up``.

    Examples
    --------
    >>> round(float(epsilon_of(Fraction(1, 2), Fraction(1, 10**6))), 3)  # the classical: 5.757
    5.222
    """
    loss, r = -_ln(delta), _float(rho)

    def epsilon(x: float) -> float:
        return (1 + x) * r - math.log1p(1 / x) + (loss - math.log1p(x)) / x

    centre = (math.log(max(loss, 1e-9)) - _ln(rho)) / 2
    alpha = 1 + _best(epsilon, centre - 10, centre + 10)
    optimised = _certified_epsilon(rho, delta, alpha)
    classical = rho + 2 * (rho * Real.of(1 / delta).log()).sqrt()
    return min(optimised.above(), classical.above())


def delta_of(rho: Fraction, epsilon: Fraction) -> Fraction:
    r"""Return delta at ``epsilon``, rounded up, at most 1.

    .. math:: \delta = \frac{e^{(\alpha-1)(\alpha\rho-\varepsilon)}}{\alpha-1}
              \left(1 - \frac1\alpha\right)^\alpha

    *Checked by* ``test_delta_is_above_the_gaussian``.

    Examples
    --------
    >>> float(delta_of(Fraction(1, 2), Fraction(5))) < 3e-6
    True
    """
    r, e = _float(rho), _float(epsilon)

    def log_delta(x: float) -> float:
        return x * ((1 + x) * r - e) - math.log(x) - (1 + x) * math.log1p(1 / x)

    least = max(min(e - r, 0), -40) - 5
    x = _best(log_delta, least, max(_ln(epsilon + rho) - _ln(rho), -_ln(rho) / 2, 0) + 5)
    alpha = 1 + x
    plus, minus = alpha * Real.of(alpha).log(), Real.of(0)
    if x >= 1:
        minus += x * Real.of(x).log()
    else:
        plus += x * Real.of(1 / x).log()
    drift = x * (epsilon - alpha * rho)
    loss = plus + drift - minus if drift >= 0 else plus - (minus + -drift)
    return min(exp_neg(min(loss.below(), _LEAST)).above(), Fraction(1))


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    r"""Return a rho whose epsilon at ``delta`` is at most ``epsilon``, as large as floats tell.

    *Checked by* ``test_rho_is_within``.
    """
    loss, e = -_ln(delta), _float(epsilon)

    def minus_rho(x: float) -> float:
        return ((loss - math.log1p(x)) / x - math.log1p(1 / x) - e) / (1 + x)

    far = math.log(max(loss, 1e-9)) - _ln(epsilon)
    x = _best(minus_rho, min(far, far / 2) - 10, max(far, far / 2) + 10)
    most = Fraction(max(-minus_rho(float(x)), 0.0))
    shrink = Fraction(1, 1 << 54)
    while most > 0 and shrink < 1:
        rho = most * (1 - shrink)
        if epsilon_of(rho, delta) <= epsilon:
            return rho
        shrink *= 2
    return Fraction(0)


def _certified_epsilon(rho: Fraction, delta: Fraction, alpha: Fraction) -> Real:
    gained = Real.of(alpha / (alpha - 1)).log()
    if delta * alpha <= 1:
        return alpha * rho + Real.of(1 / (delta * alpha)).log() / (alpha - 1) - gained
    return alpha * rho - (gained + Real.of(delta * alpha).log() / (alpha - 1))


def _best(f: Callable[[float], float], lo: float, hi: float) -> Fraction:
    """Return the x > 0, as a float's fraction, that minimises f; f falls, then rises, in ln x."""
    ratio = (math.sqrt(5) - 1) / 2
    lo, hi = max(min(lo, 300), -300), max(min(hi, 300), -300)
    for _ in range(80):
        a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        lo, hi = (lo, b) if f(math.exp(a)) < f(math.exp(b)) else (a, hi)
    return Fraction(math.exp((lo + hi) / 2))


def _ln(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def _float(x: Fraction) -> float:
    return float(min(x, Fraction(10) ** 300))
