"""The epsilon that reaches an accuracy, from public inputs alone."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import given

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.statistic import Statistic

__all__ = ["epsilon_for"]

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)
DIGITS = 4
HUGE = 10**40
"""A number above this is not written out."""


def epsilon_for(question: Statistic) -> Fraction:
    """Return the least epsilon, of four digits, whose planned error is within the target.

    Notes
    -----
    *Claim*: the target is reached, and not with one digit less. *Checked by*
    ``test_a_target_is_reached_and_not_by_less``.

    Examples
    --------
    >>> from sourdine.central import Count
    >>> float(epsilon_for(Count(error=10)))
    0.2844
    """
    goal, beta = question.target or Fraction(0), 1 - question.confidence

    if goal >= question.widest:
        raise ParameterError(
            "error",
            f"be below {question.widest:g}, which every answer stays within",
            given(goal) if goal > HUGE else f"{float(goal):g}",
            "Type {error}.",
            error=float(f"{question.widest / 50:.1g}"),
        )

    def reached(epsilon: Fraction) -> bool:
        try:
            return question.at(epsilon).error(beta) <= goal
        except ParameterError:  # so small an epsilon that its noise passes 64 bits
            return False

    if question.at(MOST_EPSILON).error(beta) > goal:
        raise ParameterError(
            "error",
            f"be reachable with epsilon at most {MOST_EPSILON}",
            f"{float(goal):g}",
            "Type a larger error, or a larger {n} if there are more records.",
        )
    if reached(LEAST_EPSILON):
        return LEAST_EPSILON
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
    while high / 10 > LEAST_EPSILON and reached(high / 10):
        high /= 10
    return max(high / 10, LEAST_EPSILON), high


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
