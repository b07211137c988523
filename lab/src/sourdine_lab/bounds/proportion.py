r"""A proportion by inverse sensitivity, and how far from the best it is (Audibert 2024, section 6).

Of :math:`n` yes/no answers, :math:`k` are yes; the mechanism publishes :math:`j/n` with probability
:math:`\propto e^{-\varepsilon|k-j|/2}`, :math:`0 \le j \le n`. Below,
:math:`q = e^{-\varepsilon/2}`.
"""

from __future__ import annotations

from math import exp, expm1, floor, sinh
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer
from sourdine_lab.bounds.reading import per_call

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = [
    "proportion_distance",
    "proportion_is_unbiased",
    "proportion_limit",
    "proportion_limit_printed",
    "proportion_loss",
    "proportion_tail",
    "unbiased_lower_bound",
]


def unbiased_lower_bound(n: int, epsilon: Number) -> float:
    r"""Return :math:`\frac{1}{2n(e^{2\varepsilon}+1)}`, the least loss of an unbiased mechanism.

    For every :math:`\varepsilon`-private mechanism (one answer replaced) for the proportion with
    :math:`E|M - f| \le E|M - t|` for all :math:`t`, the loss :math:`E|M - f|` is at least this, at
    every data set (theorem of section 6.1, after Asi and Duchi 2020). It is far below what is
    attained: for inverse sensitivity the ratio tends to 32.2 at epsilon 1. *Checked by*
    ``test_lower_bound_holds``.

    Examples
    --------
    >>> f"{unbiased_lower_bound(1000, epsilon=1):.2e}"
    '5.96e-05'
    """
    return 1 / (2 * integer(n, "n", least=1) * (exp(2 * per_call(epsilon, 1)) + 1))


def proportion_loss(n: int, count: int, epsilon: Number) -> float:
    r"""Return :math:`E|M - f|` exactly, for :math:`f = k/n`.

    .. math:: \frac1n\,\frac{S_k + S_{n-k}}{1 + G_k + G_{n-k}}, \qquad
       G_m = \sum_{l=1}^m q^l = \frac{q(1-q^m)}{1-q}, \quad
       S_m = \sum_{l=1}^m l q^l = \frac{G_m - m q^{m+1}}{1-q}

    *Checked by* ``test_proportion_loss_is_that_of_the_law``.

    Examples
    --------
    >>> round(1000 * proportion_loss(1000, 500, epsilon=1), 3)
    1.919
    """
    k, size, e = _read(n, count, epsilon)
    moments = _moment(k, e) + _moment(size - k, e)
    return moments / (1 + _mass(k, e) + _mass(size - k, e)) / size


def proportion_limit(epsilon: Number) -> float:
    r"""Return :math:`\lim n E|M - f| = 1/\sinh(\varepsilon/2)`, for :math:`0 < f < 1`.

    Examples
    --------
    >>> round(proportion_limit(1), 3)
    1.919
    """
    return 1 / sinh(per_call(epsilon, 1) / 2)


def proportion_limit_printed(epsilon: Number) -> float:
    r"""Return the limit as printed, :math:`2/(1 - e^{-\varepsilon})`.

    Wrong: :math:`\sum l q^l` tends to :math:`q/(1-q)^2`, and the report loses the :math:`q`, so its
    limit is :math:`e^{\varepsilon/2}` times too large. *Checked by*
    ``test_printed_proportion_limit_is_refuted``.

    Examples
    --------
    >>> round(proportion_limit_printed(1), 3)
    3.164
    """
    return -2 / expm1(-per_call(epsilon, 1))


def proportion_distance(n: int, count: int, target: int, epsilon: Number) -> float:
    r"""Return :math:`E|M - t/n|` for a whole :math:`t`, from the law.

    Examples
    --------
    >>> n = 1000  # no answer is yes, and yet the output is nearer to 1/n than to 0
    >>> [round(n * proportion_distance(n, 0, t, epsilon=1), 3) for t in (0, 1)]
    [1.541, 1.328]
    """
    k, size, e = _read(n, count, epsilon)
    j = np.arange(size + 1)
    weights = np.exp(-e / 2 * np.abs(j - k))
    return float(weights @ np.abs(j - integer(target, "target")) / weights.sum()) / size


def proportion_is_unbiased(n: int, count: int, epsilon: Number) -> bool:
    r"""Return whether :math:`E|M - f| \le E|M - t|` for all :math:`t`.

    This is what `unbiased_lower_bound` asks. It is so if and only if :math:`k` is a median of
    the output: neither :math:`G_k` nor :math:`G_{n-k}` exceeds half of
    :math:`1 + G_k + G_{n-k}`. The report claims it for every data set; near the ends it
    fails (``test_printed_unbiasedness_is_refuted``).

    Examples
    --------
    >>> [proportion_is_unbiased(10_000, count, epsilon=0.1) for count in (0, 59, 60, 5000)]
    [False, False, True, True]
    """
    k, size, e = _read(n, count, epsilon)
    below, above = _mass(k, e), _mass(size - k, e)
    return abs(below - above) <= 1


def proportion_tail(n: int, count: int, epsilon: Number, distance: Number) -> float:
    r"""Return :math:`P(|M - f| > \eta)`, which tends to 0.

    It is at most :math:`2q^{\lfloor \eta n\rfloor+1}/(1+q)` where
    :math:`\eta \le f \le 1 - \eta`. As :math:`n` grows the mechanism tends to the Dirac mass at
    :math:`f`, which is not private for any epsilon: privacy is about one answer,
    and one answer moves :math:`f` by :math:`1/n`.
    *Checked by* ``test_proportion_tends_to_a_dirac_mass``.

    Examples
    --------
    >>> [round(proportion_tail(n, n // 2, 0.1, 0.05), 4) for n in (100, 1000, 10_000)]
    [0.7384, 0.08, 0.0]
    """
    k, size, e = _read(n, count, epsilon)
    reach = floor(at_least(distance, "distance", 0) * size)
    sides = (_mass(k, e), _mass(size - k, e))
    inner = (_mass(min(reach, k), e), _mass(min(reach, size - k), e))
    return max(0.0, sum(sides) - sum(inner)) / (1 + sum(sides))


def _read(n: int, count: int, epsilon: Number) -> tuple[int, int, float]:
    size, k = integer(n, "n", least=1), integer(count, "count", least=0)
    if k > size:
        raise ParameterError(
            f"count must be at most n = {size}, got {k}. Pass how many of the n answers are yes."
        )
    return k, size, per_call(epsilon, 1)


def _mass(m: int, epsilon: float) -> float:
    r"""Return :math:`G_m`."""
    return exp(-epsilon / 2) * expm1(-m * epsilon / 2) / expm1(-epsilon / 2)


def _moment(m: int, epsilon: float) -> float:
    r"""Return :math:`S_m`."""
    return (_mass(m, epsilon) - m * exp(-(m + 1) * epsilon / 2)) / -expm1(-epsilon / 2)
