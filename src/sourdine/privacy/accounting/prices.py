r"""What each kind of loss costs at one Rényi order, in closed form, rounded up.

The Rényi divergence of order :math:`a > 1` between the laws :math:`P, Q` of two neighbours,

.. math:: D_a = \frac{1}{a-1}\ln E_P\, e^{(a-1)L}, \qquad L = \ln\frac{dP}{dQ},

adds up over answers, however each is chosen after the earlier ones. Here it is evaluated on exact
intervals and rounded up, so a price is never below the truth. *Checked by*
``test_prices_are_just_above_the_truth``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor
from typing import TYPE_CHECKING

from sourdine.exact import Real, exp_neg

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["allowance", "laplace", "pure", "ranged", "response", "sampled", "sampled_pure"]

BITS = 64
"""Prices are multiples of 2**-64."""
HIGHEST = 128
"""Moments of samples are added up to such an order; sampling is taken for nothing above it."""
HUGE = 1000
"""Above such an epsilon the price is epsilon itself, as it nearly is for every order."""


def up(x: Real | Fraction) -> Fraction:
    """Return the least multiple of 2**-64 that is certainly no less."""
    ticks = x.bounds(BITS)[1] if isinstance(x, Real) else ceil(x * (1 << BITS))
    return Fraction(ticks, 1 << BITS)


@lru_cache(4096)
def pure(epsilon: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of a pure promise: that of randomised response.

    .. math:: \varepsilon - \frac{1}{a-1}\ln\frac{1 + e^{-\varepsilon}}{1 + e^{-(2a-1)\varepsilon}}

    Examples
    --------
    >>> round(float(pure(Fraction(1, 10), Fraction(5))), 6)  # at most 5 epsilon^2 / 2 = 0.025
    0.024189
    """
    if epsilon > HUGE:
        return up(epsilon)
    saved = ((1 + exp_neg(epsilon)) / (1 + exp_neg((2 * a - 1) * epsilon))).log()
    return up(epsilon - saved / (a - 1))


@lru_cache(4096)
def ranged(eta: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of bounded range: the largest over all offsets of the range.

    With :math:`x = e^{-\eta}`, it is

    .. math::
        \ln\frac{(a-1)(1 - x^a)}{a\,(x - x^a)} - \frac{1}{a-1}\ln\frac{a(1 - x)}{1 - x^a}.

    Examples
    --------
    >>> round(float(ranged(Fraction(1, 10), Fraction(5))), 6)  # at most 5 eta^2 / 8 = 0.00625
    0.006232
    """
    if eta > HUGE:
        return up(eta)
    x, power = exp_neg(eta), exp_neg(a * eta)
    best = (a - 1) * (1 - power) / (a * (x - power))
    return up(best.log() - (a * (1 - x) / (1 - power)).log() / (a - 1))


@lru_cache(4096)
def laplace(shift: int, scale: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of discrete Laplace noise of a scale, moved by a whole shift.

    The losses are :math:`\varepsilon(1 - 2k/\Delta)`, a geometric sum. With
    :math:`\varepsilon = \Delta/b`, :math:`z = e^{-1/b}` and :math:`y = e^{-(2a-1)/b}`:

    .. math::
        \varepsilon - \frac{1}{a-1}\ln\frac{1 + z}{1 + (1 - z)\frac{y - y^\Delta}{1-y} + y^\Delta}

    Examples
    --------
    >>> one, many = (float(laplace(d, Fraction(10 * d), Fraction(5))) for d in (1, 1000))
    >>> round(one, 6), round(many, 6)  # a count, a mean
    (0.024189, 0.023455)
    """
    epsilon, rate = shift / scale, (2 * a - 1) / scale
    if epsilon > HUGE:
        return up(epsilon)
    z, y, last = exp_neg(1 / scale), exp_neg(rate), exp_neg(rate * shift)
    kept = 1 + (1 - z) * ((y - last) / (1 - y)) + last
    return up(epsilon - ((1 + z) / kept).log() / (a - 1))


@lru_cache(4096)
def response(epsilon: Fraction, categories: int, a: Fraction) -> Fraction:
    r"""Return the price of generalised randomised response among :math:`k` categories.

    .. math::
        \varepsilon - \frac{1}{a-1}\ln
        \frac{1 + (k-1)e^{-\varepsilon}}{1 + e^{-(2a-1)\varepsilon} + (k-2)e^{-a\varepsilon}}
    """
    if epsilon > HUGE:
        return up(epsilon)
    all_ = 1 + (categories - 1) * exp_neg(epsilon)
    kept = 1 + exp_neg((2 * a - 1) * epsilon) + (categories - 2) * exp_neg(a * epsilon)
    return up(epsilon - (all_ / kept).log() / (a - 1))


def sampled(
    inner: Callable[[Fraction], Fraction], epsilon: Fraction | None, q: Fraction, a: Fraction
) -> Fraction:
    r"""Return the price of something done on a Poisson sample of rate ``q``.

    Without the record the law is :math:`Q`, with it :math:`(1-q)Q + qP`. In one direction, for
    whole orders,

    .. math:: E_Q(1 - q + qe^L)^n = \sum_k \binom nk (1-q)^{n-k} q^k e^{(k-1)D_k(P\|Q)},

    and its logarithm is convex in the order, so chords bound the others. In the other, with
    :math:`Z = e^L - 1 \ge e^{-\varepsilon} - 1`,

    .. math::
        E_Q(1 + qZ)^{1-a} \le
        1 + \frac{a(a-1)q^2}{2}\,\frac{e^{D_2} - 1}{(1 - q + qe^{-\varepsilon})^{a+1}},

    by Taylor; and :math:`D_a(Q \| (1-q)Q + qP) \le q D_a(Q \| P)`, by convexity.

    Parameters
    ----------
    inner
        The price of what is done, by order.
    epsilon
        The largest loss of what is done; ``None`` if there is none.
    q
        The rate.
    a
        The order.
    """
    whole = floor(a)
    if whole > HIGHEST:
        return inner(a)
    over = a - whole
    with_it = (1 - over) * _log_moment(inner, q, whole)
    if over:
        with_it += over * _log_moment(inner, q, whole + 1)
    without = q * inner(a)
    least = 1 - q + (0 if epsilon is None else (q * exp_neg(epsilon)).below())
    if least > 0:
        spread = (1 / exp_neg(inner(Fraction(2))) - 1) * (a * (a - 1) * q * q / 2)
        grown = (1 + spread / least ** ceil(a + 1)).log() / (a - 1)
        without = min(without, up(grown))
    return min(inner(a), max(up(with_it / (a - 1)), up(without)))


@lru_cache(4096)
def sampled_pure(epsilon: Fraction, q: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of a pure promise on a Poisson sample: the larger of the two directions.

    Of randomised response both are sums of two terms, with :math:`z = e^{-\varepsilon}`:

    .. math::
        \frac{z\,(1-q+q/z)^a + (1-q+qz)^a}{1+z}, \qquad
        \frac{z\,(1-q+q/z)^{1-a} + (1-q+qz)^{1-a}}{1+z}.

    Examples
    --------
    >>> round(float(sampled_pure(Fraction(1), Fraction(1, 10), Fraction(9))), 6)
    0.052892
    """
    if epsilon > HUGE:
        return up(epsilon)
    z = exp_neg(epsilon)
    high, low = 1 - q + q / z, 1 - q + q * z
    rise, fall = high.log(), (1 / low).log()
    with_it = z / exp_neg((a * rise).above(128)) + exp_neg((a * fall).below(128))
    without = z * exp_neg(((a - 1) * rise).below(128)) + 1 / exp_neg(((a - 1) * fall).above(128))
    return max(up((sum_ / (1 + z)).log() / (a - 1)) for sum_ in (with_it, without))


def _log_moment(inner: Callable[[Fraction], Fraction], q: Fraction, n: int) -> Fraction:
    r"""Return :math:`\ln E_Q(1 - q + qe^L)^n`, rounded up."""
    total = Real.of((1 - q) ** n + n * q * (1 - q) ** (n - 1)) if n > 1 else Real.of(1)
    for k in range(2, n + 1):
        weight = comb(n, k) * (1 - q) ** (n - k) * q**k
        total += weight / exp_neg((k - 1) * inner(Fraction(k)))
    return up(total.log())


@lru_cache(256)
def allowance(epsilon: Fraction, delta: Fraction, a: Fraction) -> Fraction:
    r"""Return what prices at order :math:`a` may sum to, rounded down, at least 0.

    .. math:: R(a) = \varepsilon + \ln\frac{a}{a-1} - \frac{1}{a-1}\ln\frac{1}{a\delta}

    Examples
    --------
    >>> round(float(allowance(Fraction(3), Fraction(1, 10**6), Fraction(9))), 5)
    1.6655
    """
    gained, odds = epsilon + Real.of(a / (a - 1)).log(), a * delta
    if odds <= 1:
        left = gained - Real.of(1 / odds).log() / (a - 1)
    else:
        left = gained + Real.of(odds).log() / (a - 1)
    return Fraction(left.bounds(BITS)[0], 1 << BITS)
