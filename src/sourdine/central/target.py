"""The epsilon that reaches an accuracy, from public inputs alone."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.statistic import Statistic

__all__ = ["RISK", "epsilon_for"]

RISK = Fraction(1, 20)
"""An accuracy target is kept with probability 0.95."""

LEAST, MOST = Fraction(1, 10**6), Fraction(10**4)
DIGITS = 4


def epsilon_for(
    make: Callable[[Fraction], Statistic], error: object, *, n: int | None = None
) -> Fraction:
    """Return the least epsilon, of four digits, whose planned error is within ``error``.

    Parameters
    ----------
    make
        Builds the statistic for an epsilon.
    error
        What the error may be, with probability 0.95.
    n
        The public number of records, where the error depends on it.

    Notes
    -----
    *Claim*: the target is reached, and not with one digit less. *Checked by*
    ``test_a_target_is_reached_and_not_by_less``.

    Examples
    --------
    >>> from sourdine.central.count import Count
    >>> float(epsilon_for(lambda epsilon: Count(epsilon=epsilon), 10))
    0.2844
    """
    goal = positive(error, "error")

    def reached(epsilon: Fraction) -> bool:
        try:
            return make(epsilon).error(RISK, n=n) <= goal
        except ParameterError:  # so small an epsilon that its noise passes 64 bits
            return False

    if make(MOST).error(RISK, n=n) > goal:
        raise ParameterError(
            f"error must be reachable with epsilon at most {MOST}, got {float(goal):g}. "
            f"Type a larger error, or a larger n if there are more records."
        )
    if reached(LEAST):
        return LEAST
    low, high = _bracket(reached)
    while rounded(high) != rounded(low) and high > low * (1 + Fraction(1, 10**6)):
        middle = rounded((low + high) / 2)
        if middle in (low, high):
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return rounded(high)


def _bracket(reached: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Return an epsilon that is not enough and one, ten times that or less, that is."""
    high = Fraction(1)
    while not reached(high):
        high *= 10
    while high / 10 > LEAST and reached(high / 10):
        high /= 10
    return max(high / 10, LEAST), high


def rounded(epsilon: Fraction) -> Fraction:
    """Return epsilon, rounded up to four significant digits.

    Examples
    --------
    >>> rounded(Fraction(2, 3))
    Fraction(6667, 10000)
    """
    top = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    place = Decimal(1).scaleb(top.adjusted() - DIGITS + 1)
    up = Fraction(top.quantize(place, rounding=ROUND_CEILING))
    return up if up >= epsilon else up + Fraction(place)
