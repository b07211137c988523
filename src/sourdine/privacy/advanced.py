"""Equal promises, composed as tightly as can be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, probability
from sourdine.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["compose_advanced"]

_MOST = 10_000


def compose_advanced(guarantee: Guarantee, times: int, slack: Number) -> Guarantee:
    r"""Return what ``times`` equal promises are worth together, for a little more delta.

    Of all :math:`\varepsilon`-private mechanisms randomised response composes worst [1]_, and its
    privacy loss after :math:`k` runs is :math:`(k - 2l)\varepsilon` with probability
    :math:`P_l = \binom{k}{l} e^{(k-l)\varepsilon} / (1 + e^\varepsilon)^k`. With
    :math:`Q_l = P_{k-l}` and the slack :math:`s`, the least epsilon is

    .. math::
        e^{\varepsilon'} = \max_i \frac{\sum_{l<i} P_l - s}{\sum_{l<i} Q_l},
        \qquad \delta' = 1 - (1 - k\delta)(1 - s),

    rounded up, and never above :math:`k\varepsilon`. The paper's :math:`(1-\delta)^k` is replaced
    by the smaller :math:`1 - k\delta`. The runs may be adaptive; they must not differ in epsilon.

    Parameters
    ----------
    guarantee
        What each run promises.
    times
        The number :math:`k` of runs, at most 10000: the work grows as its square.
    slack
        The probability :math:`s`, from 0 to 1, added to delta.

    Notes
    -----
    *Claim*: no smaller epsilon holds for randomised response. *Checked by*
    ``test_advanced_is_optimal``. *Claim*: rounding is up. *Checked by*
    ``test_advanced_rounds_up``.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy",
       IEEE Transactions on Information Theory 63(6), 2017, theorem 3.3.

    Examples
    --------
    >>> print(compose_advanced(Guarantee(0.1), times=100, slack=1e-6))
    epsilon 4.77457, delta 1e-06, one record added or removed
    """
    k, s = integer(times, "times", least=1), probability(slack, "slack")
    if k > _MOST:
        raise ParameterError(
            "times",
            f"be at most {_MOST}",
            given(k),
            "Type {times}, or Concentrated.from_pure(guarantee).times(k).at(delta) for more.",
            times=_MOST,
        )
    if not Guarantee.read(guarantee).is_finite:
        return guarantee
    total = k * guarantee.exact_epsilon()
    delta = 1 - (1 - min(k * guarantee.delta, Fraction(1))) * (1 - s)
    if s == 1 or total == 0:
        return Guarantee(0, delta, guarantee.relation)
    ratio = _largest_ratio(guarantee.exact_epsilon(), k, s)
    saved = Real.of(1 / ratio).log()
    return Guarantee(min(total, (total - saved).above()), delta, guarantee.relation)


def _largest_ratio(epsilon: Fraction, k: int, s: Fraction) -> Fraction:
    r"""Bound :math:`\max_i (\sum_{l<i} w_l - sN) / \sum_{l<i} v_l` from above, at most 1.

    The weights are :math:`w_l = \binom{k}{l} e^{-l\varepsilon}` and
    :math:`v_l = \binom{k}{l} e^{l\varepsilon}`, their sum
    :math:`N = (1 + e^{-\varepsilon})^k`; the ratio is :math:`e^{\varepsilon' - k\varepsilon}`.
    All are integers over :math:`2^{256}`, each rounded its own way. The ratio rises to its
    maximum and falls, so half of the best is far enough to stop.
    """
    one = 1 << 256
    q_lo, q_hi = exp_neg(epsilon).bounds(256)
    w, v = one, one
    a, b = -math.floor(s * _power(one + q_lo, k, 256)), 0
    best = Fraction(0)
    for i in range(1, k + 2):
        a, b = a + w, b + v
        size = 128 + max(b.bit_length() - a.bit_length(), 0)
        ratio = Fraction(-((-a << size) // b), 1 << size)
        if 0 < 2 * ratio < best:
            break
        best = max(best, ratio)
        w = -(-w * (k - i + 1) * q_hi // i >> 256)
        v = v * (k - i + 1) * one // (i * q_hi)
    return min(best, Fraction(1))


def _power(x: int, k: int, bits: int) -> int:
    """Return ``(x / 2**bits)**k * 2**bits``, rounded down."""
    result = 1 << bits
    for digit in f"{k:b}":
        result = result * result >> bits
        if digit == "1":
            result = result * x >> bits
    return result
