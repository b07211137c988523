"""Numbers for people: few digits, and never on the flattering side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, floor

__all__ = ["percent", "shown", "typed"]


def shown(x: Fraction, *, up: bool = True) -> str:
    """Return ``x`` to six digits, rounded up (or down).

    Examples
    --------
    >>> shown(Fraction(2, 3)), shown(Fraction(2, 3), up=False), shown(Fraction(1, 10**6))
    ('0.666667', '0.666666', '1e-06')
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    digits = Context(prec=6, rounding=rounding).divide(Decimal(x.numerator), Decimal(x.denominator))
    within_floats = digits == 0 or -300 < digits.adjusted() < 300
    return f"{float(digits):g}" if within_floats else str(digits.normalize())


def percent(share: Fraction, *, up: bool = False) -> str:
    """Return a share in percent, to two decimals, rounded down (or up).

    Examples
    --------
    >>> percent(Fraction(2, 3)), percent(Fraction(2, 3), up=True), percent(Fraction(1))
    ('66.66 %', '66.67 %', '100 %')
    """
    rounded = ceil(share * 10**4) if up else floor(share * 10**4)
    return f"{rounded / 100:g} %"


def typed(x: Fraction) -> str:
    """Return ``x`` as it is typed in Python: the decimal that means it, where there is one.

    Examples
    --------
    >>> typed(Fraction(1, 10)), typed(Fraction(2)), typed(Fraction(1, 3))
    ('0.1', '2', 'Fraction(1, 3)')
    """
    if x.denominator == 1:
        return repr(x.numerator)
    decimal = repr(x.numerator / x.denominator).replace("e-0", "e-")
    return decimal if Fraction(decimal) == x else repr(x)
