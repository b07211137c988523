r"""Reals known to any precision, as intervals of integers.

A `Real` is a rule that gives, for a number of bits :math:`P`, integers
:math:`l \le x\,2^P \le h`. Rationals and :math:`e^{-r}` for rational :math:`r \ge 0` are the
leaves; sums, differences, products, quotients, logarithms and square roots are built on them by
interval arithmetic, so the bounds always hold. Values stay non-negative throughout, which keeps
every rule to one line.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Real", "exp_neg"]

Interval = tuple[int, int]


class Real:
    """A non-negative real number, as close as anyone asks.

    Parameters
    ----------
    rule
        Gives, for a working precision ``P``, integers ``(lo, hi)`` around the number times
        ``2**P``; the width need not be small, but must vanish relative to ``2**P`` as ``P`` grows.

    Examples
    --------
    >>> q = exp_neg(Fraction(1))
    >>> float(q / (1 + q))  # 1 / (1 + e)
    0.2689414213699951
    >>> (1 / q).log().bounds(20)
    (1048575, 1048577)
    """

    __slots__ = ("_rule", "_widest")

    def __init__(self, rule: Callable[[int], Interval]) -> None:
        self._rule = rule
        self._widest = (-1, (0, 0))

    @staticmethod
    def of(x: Real | Fraction | int) -> Real:
        """Return ``x`` itself, or the rational ``x >= 0`` as a real."""
        if isinstance(x, Real):
            return x
        if x < 0:
            raise ArithmeticError(f"a Real must be at least 0, got {x}")
        n, d = x.numerator, x.denominator
        return Real(lambda p: ((n << p) // d, -((-n << p) // d)))

    def enclosure(self, precision: int) -> Interval:
        """Integers around the number times ``2**precision``, as wide as the rule leaves them."""
        known, (lo, hi) = self._widest
        if known < precision:
            known, (lo, hi) = precision, self._rule(precision)
            self._widest = (known, (lo, hi))
        spare = known - precision
        return max(lo, 0) >> spare, -(-hi >> spare)

    def bounds(self, bits: int) -> Interval:
        """Integers ``lo <= x * 2**bits <= hi`` that differ by at most two."""
        extra = 32
        while True:
            lo, hi = self.enclosure(bits + extra)
            lo, hi = lo >> extra, -(-hi >> extra)
            if hi - lo <= 2:
                return lo, hi
            extra *= 2

    def above(self, bits: int = 64) -> Fraction:
        """Return a rational at least the number, with ``bits`` significant bits."""
        scale = bits - self._exponent()
        return Fraction(self.bounds(max(scale, 0))[1], 1 << max(scale, 0))

    def below(self, bits: int = 64) -> Fraction:
        """Return a rational at most the number, with ``bits`` significant bits."""
        scale = bits - self._exponent()
        return Fraction(self.bounds(max(scale, 0))[0], 1 << max(scale, 0))

    def _exponent(self) -> int:
        """Find e with x below ``2**e`` and above about ``2**(e-2)``, if x is above 2**-8192."""
        precision = 64
        while True:
            lo, hi = self.enclosure(precision)
            if hi - lo <= lo or precision > 8192:
                return hi.bit_length() - precision
            precision *= 2

    def __float__(self) -> float:
        return float((self.below(80) + self.above(80)) / 2)

    def __add__(self, other: Real | Fraction | int) -> Real:
        y = Real.of(other)

        def rule(p: int) -> Interval:
            (a, b), (c, d) = self.enclosure(p), y.enclosure(p)
            return a + c, b + d

        return Real(rule)

    __radd__ = __add__

    def __sub__(self, other: Real | Fraction | int) -> Real:
        y = Real.of(other)

        def rule(p: int) -> Interval:
            (a, b), (c, d) = self.enclosure(p), y.enclosure(p)
            return max(a - d, 0), max(b - c, 0)

        return Real(rule)

    def __rsub__(self, other: Fraction | int) -> Real:
        return Real.of(other) - self

    def __mul__(self, other: Real | Fraction | int) -> Real:
        y = Real.of(other)

        def rule(p: int) -> Interval:
            (a, b), (c, d) = self.enclosure(p), y.enclosure(p)
            return a * c >> p, -(-b * d >> p)

        return Real(rule)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | Fraction | int) -> Real:
        y = Real.of(other)

        def rule(p: int) -> Interval:
            extra = p
            (c, d) = y.enclosure(extra)
            while c <= (d >> 1):  # the divisor is not yet told from zero
                if d == 0 or extra > 1 << 17:
                    raise ZeroDivisionError("a divisor must be above 0, got 0 to 2**17 bits")
                extra = max(2 * extra, 32)
                (c, d) = y.enclosure(extra)
            (a, b) = self.enclosure(extra)
            lo, hi = (a << p) // d, -((-b << p) // c)
            return lo, hi

        return Real(rule)

    def __rtruediv__(self, other: Fraction | int) -> Real:
        return Real.of(other) / self

    def sqrt(self) -> Real:
        """Return the square root."""

        def rule(p: int) -> Interval:
            a, b = self.enclosure(2 * p)
            return isqrt(a), isqrt(b) + 1

        return Real(rule)

    def log(self) -> Real:
        """Return the natural logarithm of a number that is at least 1."""

        def rule(p: int) -> Interval:
            a, b = self.enclosure(p + 8)
            one = 1 << (p + 8)
            lo, hi = _log(max(a, one), p + 8)[0], _log(max(b, one), p + 8)[1]
            return lo >> 8, -(-hi >> 8)

        return Real(rule)


def exp_neg(r: Fraction | int) -> Real:
    r"""Return :math:`e^{-r}` for a rational :math:`r \ge 0`."""
    r = Fraction(r)
    return Real(lambda p: _exp_neg(r.numerator, r.denominator, p))


def _exp_neg(n: int, d: int, p: int) -> Interval:
    r"""Enclose :math:`e^{-n/d} 2^p` as :math:`(e^{-r/2^k})^{2^k}`, the inner by its series."""
    if n == 0:
        return 1 << p, 1 << p
    if n > d * (p + 1):
        return 0, 1
    k = max(0, n.bit_length() - d.bit_length() + 7 + isqrt(p) // 2)  # fewer terms, more squares
    g = p + k + 40
    x = (n << g) // (d << k)
    lo, hi = _exp_series(x + 1, g)[0], _exp_series(x, g)[1]
    for _ in range(k):
        lo, hi = lo * lo >> g, (hi * hi >> g) + 1
    return max(lo, 0) >> (g - p), (hi >> (g - p)) + 1


def _exp_series(x: int, g: int) -> Interval:
    r"""Enclose :math:`e^{-x/2^g} 2^g` by the alternating series, for small x."""
    lo = hi = term_lo = term_hi = 1 << g
    i = 1
    while term_hi > 2:
        term_lo = (term_lo * x >> g) // i
        term_hi = ((term_hi * x >> g) + 1) // i + 1
        lo, hi = (lo - term_hi, hi - term_lo) if i & 1 else (lo + term_lo, hi + term_hi)
        i += 1
    return lo - 4, hi + 4


def _log(v: int, p: int) -> Interval:
    r"""Enclose :math:`\ln(v/2^p) 2^p` for :math:`v \ge 2^p`, as :math:`k \ln 2 + \ln m`."""
    k = v.bit_length() - p - 1  # m = v / 2**(p + k) in [1, 2)
    lo2, hi2 = _log_two(p)
    one = 1 << p
    m_lo, m_hi = v >> k, -(-v >> k)
    lo, hi = _atanh(m_lo - one, m_lo + one, p)[0], _atanh(m_hi - one, m_hi + one, p)[1]
    return k * lo2 + 2 * lo, k * hi2 + 2 * hi


@lru_cache(64)
def _log_two(p: int) -> Interval:
    lo, hi = _atanh(1, 3, p)
    return 2 * lo, 2 * hi


def _atanh(n: int, d: int, p: int) -> Interval:
    r"""Enclose :math:`\operatorname{artanh}(n/d) 2^p` for :math:`0 \le n/d \le 1/3`."""
    g = p + 16
    lo = hi = 0
    term_lo, term_hi = (n << g) // d, -((-n << g) // d)
    i = 1
    while term_hi > 1:
        lo, hi = lo + term_lo // i, hi + term_hi // i + 1
        term_lo = term_lo * n * n // (d * d)
        term_hi = -(-term_hi * n * n // (d * d))
        i += 2
    return lo >> 16, (hi + 2 >> 16) + 1
