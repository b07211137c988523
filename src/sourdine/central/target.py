"""The epsilon that reaches an accuracy, from public inputs alone."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING

from sourdine.calendar import about, spelled, unit_of
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
    goal, beta = _goal(question), 1 - question.confidence
    said = about if question.error_lasts else "{:g}".format

    if goal >= question.widest:
        tries = question.widest / 50
        raise ParameterError(
            "error",
            f"be below {said(question.widest)}, which every answer stays within",
            given(goal) if goal > HUGE else said(float(goal)),
            "Type {error}.",
            error=_round(tries) if question.error_lasts else float(f"{tries:.1g}"),
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
            said(float(goal)),
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


def _goal(question: Statistic) -> Fraction:
    """Return the target as a number, in microseconds if errors are durations."""
    target = question.target
    if question.error_lasts != isinstance(target, dt.timedelta):
        _ = question.widest
        dated = question.error_lasts
        raise ParameterError(
            "error",
            "be a duration for dates" if dated else "be a number here",
            "a number" if dated else "a duration",
            "Type {error}.",
            error=_round(question.widest / 50) if dated else _number(question.widest),
        )
    if isinstance(target, dt.timedelta):
        return Fraction(target // dt.timedelta(microseconds=1))
    return target or Fraction(0)


def _round(duration: float) -> str:
    """Return a duration near to this one, in whole units."""
    _, size = unit_of(duration)
    return spelled(max(int(duration // size), 1) * size)


def _number(widest: float) -> float:
    return 10.0 if isinf(widest) else float(f"{widest / 50:.1g}")


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
