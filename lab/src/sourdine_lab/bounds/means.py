r"""Quadratic risks of a private mean (Audibert 2024, section 3.3).

For :math:`n` independent values in public bounds :math:`(a, b)`, with variance :math:`\sigma^2`,
and a mean whose sensitivity is :math:`(b-a)/n` (one value replaced, :math:`n` public), the risk
:math:`E(\tilde\theta - \theta)^2` is that of the sample plus the variance of the noise. All three
are right as printed (but for a square that belongs outside of the first expectation).
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

from sourdine.exact import at_least, integer, positive
from sourdine_lab.bounds.reading import per_call, read_bounds, read_chance

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = ["gaussian_constant", "mean_risk", "mean_risk_gaussian", "mean_risk_laplace"]


def mean_risk(n: int, variance: Number) -> float:
    r"""Return :math:`\sigma^2/n`, the risk of the mean without noise.

    Examples
    --------
    >>> mean_risk(100, variance=4)
    0.04
    """
    return float(at_least(variance, "variance", 0)) / integer(n, "n", least=1)


def mean_risk_laplace(
    n: int, variance: Number, *, epsilon: Number, bounds: tuple[Number, Number]
) -> float:
    r"""Return :math:`\sigma^2/n + 2\big(\frac{b-a}{n\varepsilon}\big)^2`.

    *Checked by* ``test_mean_risks``.

    Examples
    --------
    >>> round(mean_risk_laplace(1000, 0, epsilon=0.8, bounds=(0, 1000)) ** 0.5, 3)
    1.768
    """
    scale = _noise(n, epsilon, bounds)
    return mean_risk(n, variance) + 2 * scale**2


def mean_risk_gaussian(
    n: int, variance: Number, *, epsilon: Number, bounds: tuple[Number, Number], c: Number
) -> float:
    r"""Return :math:`\sigma^2/n + c^2\big(\frac{b-a}{n\varepsilon}\big)^2`.

    The noise has standard deviation :math:`c` times :math:`(b-a)/(n\varepsilon)`, with :math:`c`
    from `gaussian_constant`. As :math:`c^2 > 2`, it is above the Laplace mechanism's: the ratio
    of the two noises is :math:`c/\sqrt2` at every epsilon. *Checked by* ``test_mean_risks``.

    Examples
    --------
    >>> mean_risk_gaussian(1000, 0, epsilon=0.8, bounds=(0, 1000), c=5) ** 0.5
    6.25
    """
    deviation = float(positive(c, "c")) * _noise(n, epsilon, bounds)
    return mean_risk(n, variance) + deviation**2


def gaussian_constant(delta: Number) -> float:
    r"""Return :math:`c = \sqrt{2 \ln(1.25/\delta)}`, the classic constant, proved for epsilon < 1.

    The guarantee is (epsilon, delta); the report says epsilon.

    Examples
    --------
    >>> round(gaussian_constant(1e-5), 2)
    4.84
    """
    return sqrt(2 * log(1.25 / read_chance(delta, "delta")))


def _noise(n: int, epsilon: Number, bounds: tuple[Number, Number]) -> float:
    lower, upper = read_bounds(bounds)
    return (upper - lower) / (integer(n, "n", least=1) * per_call(epsilon, 1))
