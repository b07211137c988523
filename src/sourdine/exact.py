"""Exact numbers: parameters read as rationals, and reals known to any precision."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError, close_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# ---- Reals to any precision, as intervals of integers --------------------------------------------
#
# A `Real` is a rule that gives, for a number of bits :math:`P`, integers
# :math:`l \le x\,2^P \le h`. Rationals and :math:`e^{-r}` for rational :math:`r \ge 0` are the
# leaves; sums, differences, products, quotients, logarithms and square roots are built on them by
# interval arithmetic, so the bounds always hold. Values stay non-negative throughout, which keeps
# every rule to one line.


Interval = tuple[int, int]


class Real:
    """A non-negative real number that can be computed to any precision.

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
        """Return integers around the number times ``2**precision``, as wide as the rule gives."""
        known, (lo, hi) = self._widest
        if known < precision:
            known, (lo, hi) = precision, self._rule(precision)
            self._widest = (known, (lo, hi))
        spare = known - precision
        return max(lo, 0) >> spare, -(-hi >> spare)

    def bounds(self, bits: int) -> Interval:
        """Return integers ``lo <= x * 2**bits <= hi`` that differ by at most two."""
        return self.ends(bits, 2)

    def ends(self, bits: int, width: int = 1) -> Interval:
        """Return the floor and ceiling of the number times ``2**bits``, or ends ``width`` apart.

        Examples
        --------
        >>> exp_neg(Fraction(1)).ends(8), Real.of(Fraction(1, 2)).ends(8)
        ((94, 95), (128, 128))
        """
        extra = 32
        while True:
            lo, hi = self.enclosure(bits + extra)
            lo, hi = lo >> extra, -(-hi >> extra)
            if hi - lo <= width:
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

    def _with(
        self, other: Real | Fraction | int, ends: Callable[[Interval, Interval, int], Interval]
    ) -> Real:
        """Return a function of two reals, from both enclosures at a precision."""
        y = Real.of(other)
        return Real(lambda p: ends(self.enclosure(p), y.enclosure(p), p))

    def __add__(self, other: Real | Fraction | int) -> Real:
        return self._with(other, lambda x, y, _: (x[0] + y[0], x[1] + y[1]))

    __radd__ = __add__

    def __sub__(self, other: Real | Fraction | int) -> Real:
        return self._with(other, lambda x, y, _: (max(x[0] - y[1], 0), max(x[1] - y[0], 0)))

    def __rsub__(self, other: Fraction | int) -> Real:
        return Real.of(other) - self

    def __mul__(self, other: Real | Fraction | int) -> Real:
        return self._with(other, lambda x, y, p: (x[0] * y[0] >> p, -(-x[1] * y[1] >> p)))

    __rmul__ = __mul__

    def __truediv__(self, other: Real | Fraction | int) -> Real:
        y = Real.of(other)

        def rule(p: int) -> Interval:
            extra = p
            (c, d) = y.enclosure(extra)
            while c <= (d >> 1):  # the divisor cannot be told from zero yet
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


# ---- Reading parameters --------------------------------------------------------------------------
#
# A float means the decimal it prints: ``0.1`` is 1/10, so ten times ``0.1`` is 1.


WORD = 20
"""Longer texts are not quoted in errors: they may be private answers."""
DIGITS = 40
"""Longer numbers are not quoted in errors."""

LARGEST_POWER = 400
"""The largest power of ten that a number may be written with: more than any float has."""

_Word = TypeVar("_Word", bound=str)

Number = Fraction | int | float | Decimal
"""The types that a number may be given as."""


def rational(x: object, name: str, *, example: Number = 1) -> Fraction:
    """Return the number that ``x`` prints as, exactly; the hint of an error shows ``example``.

    Examples
    --------
    >>> 10 * rational(0.1, "epsilon")
    Fraction(1, 1)
    >>> rational(float("nan"), "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be finite, got nan. Use a number, such as epsilon=1.
    """  # noqa: E501
    if type(x) is int:
        return Fraction(x)
    if isinstance(x, Fraction) and type(x.numerator) is type(x.denominator) is int:
        return x
    what, tries = _typed(name, example)
    hint = f"Use a number, such as {what}."
    if isinstance(x, (float, np.floating, Decimal)):
        if not (x.is_finite() if isinstance(x, Decimal) else math.isfinite(x)):
            raise ParameterError(name, "be finite", given(x), hint, **tries)
        if not isinstance(x, Decimal):
            return Fraction(str(x))
        if max(abs(int(x.as_tuple().exponent)), abs(x.adjusted())) > LARGEST_POWER:
            raise ParameterError(name, f"have a {POWER}", given(x), hint, **tries)
        return Fraction(x)
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, numbers.Rational):
        raise ParameterTypeError(name, "be a number", given(x), hint, **tries)
    return Fraction(int(x.numerator), int(x.denominator))


POWER = f"power of ten between -{LARGEST_POWER} and {LARGEST_POWER}"


def fraction(text: str) -> Fraction:
    """Parse a decimal, or a quotient of whole numbers, exactly.

    ``1e999999999`` would be a number of a billion digits: like any text that is not a number, it
    raises a ValueError.

    Examples
    --------
    >>> fraction("0.1"), fraction("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    >>> fraction("1e999999999")
    Traceback (most recent call last):
    ValueError: a number has a power of ten between -400 and 400
    """
    mark = text.lower().rfind("e")
    if mark >= 0 and abs(int(text[mark + 1 :])) > LARGEST_POWER:
        raise ValueError(f"a number has a {POWER}")
    return Fraction(text)


def number(
    x: object,
    name: str,
    *,
    above: Fraction | int,
    most: Fraction | int,
    example: Number | None = None,
) -> Fraction:
    """Return ``x`` as a rational with ``above < x <= most``."""
    middle = Fraction(above + most) / 2 if example is None else example
    value = rational(x, name, example=middle)
    if not above < value <= most:
        what, tries = _typed(name, middle)
        must = f"be above {above} and at most {most}"
        hint = f"Use a number in between, such as {what}."
        raise ParameterError(name, must, given(x), hint, **tries)
    return value


def positive(x: object, name: str, *, example: Number = 1) -> Fraction:
    """Return ``x`` as a rational above zero.

    Examples
    --------
    >>> positive(0, "epsilon")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: epsilon must be above 0, got 0. Use a positive number, such as epsilon=1.
    """  # noqa: E501
    value = rational(x, name, example=example)
    if value <= 0:
        what, tries = _typed(name, example)
        hint = f"Use a positive number, such as {what}."
        raise ParameterError(name, "be above 0", given(x), hint, **tries)
    return value


def at_least(x: object, name: str, least: Fraction | int) -> Fraction:
    """Return ``x`` as a rational that is ``least`` or more."""
    value = rational(x, name, example=max(least, 1))
    if value < least:
        what, tries = _typed(name, least)
        hint = f"Use {what} or more."
        raise ParameterError(name, f"be at least {least}", given(x), hint, **tries)
    return value


def probability(x: object, name: str, *, example: Number = 0.5) -> Fraction:
    """Return ``x`` as a rational in [0, 1]."""
    value = rational(x, name, example=example)
    if not 0 <= value <= 1:
        what, tries = _typed(name, example)
        hint = f"Use a probability, such as {what}."
        raise ParameterError(name, "be from 0 to 1", given(x), hint, **tries)
    return value


def integer(
    x: object,
    name: str,
    *,
    least: int | None = None,
    most: int | None = None,
    example: int | None = None,
) -> int:
    """Return ``x`` as an int within the range; ``3.0`` is refused, ``numpy.int64(3)`` is not.

    Examples
    --------
    >>> integer(9, "size", least=1, most=8)
    Traceback (most recent call last):
    sourdine.errors.ParameterError: size must be at most 8, got 9. Use a whole number, such as size=1.
    """  # noqa: E501
    if type(x) is int and (least is None or x >= least) and (most is None or x <= most):
        return x
    shown = max(least or 1, 1) if example is None else example
    what, tries = _typed(name, shown)
    hint = f"Use a whole number, such as {what}."
    if isinstance(x, (bool, np.bool_, type)) or not isinstance(x, SupportsIndex):
        got = repr(x) if given(x).removeprefix("-").isdigit() else given(x)  # a Fraction(3, 1)
        raise ParameterTypeError(name, "be a whole number", got, hint, **tries)
    value = x.__index__()
    if least is not None and value < least:
        raise ParameterError(name, f"be at least {least}", given(x), hint, **tries)
    if most is not None and value > most:
        raise ParameterError(name, f"be at most {most}", given(x), hint, **tries)
    return value


def flag(x: object, name: str) -> bool:
    """Return ``x`` if it is True or False; ``"no"`` is refused because it would count as true."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    what, tries = _typed(name, value=True)
    hint = f"Use {what}, or omit it."
    raise ParameterTypeError(name, "be True or False", given(x), hint, **tries)


def one_of(x: object, name: str, *allowed: _Word) -> _Word:
    """Return ``x`` if it is one of the allowed words; an error suggests the closest, or the first.

    Examples
    --------
    >>> one_of("l3", "loss", "l1", "l2")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: loss must be 'l1' or 'l2', got 'l3'. Use loss='l1'.
    """
    if isinstance(x, str) and x in allowed:
        return allowed[allowed.index(x)]
    *most, last = map(repr, allowed)
    must = f"be {', '.join(most)} or {last}"
    near = close_matches(x, allowed, 1) if isinstance(x, str) else []
    raise ParameterError(name, must, given(x), **{name: [*near, *allowed][0]})


def listed(x: object, name: str, **tries: Sequence[object]) -> list[Any]:
    """Return an iterable as a list; a text or a dict is refused.

    Examples
    --------
    >>> listed(3, "weights", weights=[1, 2])
    Traceback (most recent call last):
    sourdine.errors.ParameterTypeError: weights must be a list, got 3. Use weights=[1, 2].
    """
    if isinstance(x, Iterable) and not isinstance(x, (str, bytes, Mapping, type)):
        return list(x)
    hint = f"Use {' and '.join(f'{{{each}}}' for each in tries)}."
    raise ParameterTypeError(name, "be a list", given(x), hint, **tries)


def _typed(name: str, value: Number) -> tuple[str, dict[str, Number]]:
    """Return what a hint says to type; if the parameter has no name, the value alone."""
    return (f"{{{name}}}", {name: value}) if name.isidentifier() else (f"{value}", {})


def given(x: object) -> str:
    """Return a value as quoted in errors; for anything longer than a word or number, its type.

    Examples
    --------
    >>> given("yes"), given(0.5), given([17, 34]), given("an answer that may be somebody's")
    ("'yes'", '0.5', 'a value of type list', 'a text of 32 characters')
    >>> given(Fraction)
    'the class Fraction'
    """
    if isinstance(x, str):
        return repr(x) if len(x) <= WORD else f"a text of {len(x)} characters"
    long = isinstance(x, Decimal) and len(x.as_tuple().digits) > DIGITS
    if isinstance(x, numbers.Rational):
        long = max(abs(int(x.numerator)), int(x.denominator)) >= 10**DIGITS
    if long:
        return f"a number of more than {DIGITS} digits"
    if isinstance(x, Fraction) and Fraction(decimal := f"{float(x):g}") == x:
        return decimal
    if x is None or isinstance(x, (np.bool_, numbers.Number)):
        return str(x)
    return kind(x)


def kind(x: object) -> str:
    """Describe the type of a value without its content, which may be private.

    Examples
    --------
    >>> kind(17), kind(Fraction)
    ('a value of type int', 'the class Fraction')
    """
    return (
        f"the class {x.__name__}" if isinstance(x, type) else f"a value of type {type(x).__name__}"
    )
