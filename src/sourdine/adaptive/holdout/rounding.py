"""Averages on a public grid: what they cost, and the interval that allows for the rounding."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from sourdine.adaptive.answers import AdaptiveAnswer

if TYPE_CHECKING:
    from sourdine.adaptive.ledger import Turn

__all__ = ["levels_of", "rounded", "step_of"]

SCORE = "score to "
EXACT = "score, exact"
HALF = Fraction(1, 2)


def rounded(average: float, step: Fraction, finest: int, turn: Turn) -> AdaptiveAnswer:
    """Charge an average on the grid of multiples of a step, and return it with its interval.

    Where the grid has as many cells as there are averages at all, ``finest``, rounding would save
    nothing: the average itself is answered, and that many levels are charged.
    """
    if levels_of(step) >= finest:
        bits = turn.value(finest, EXACT)
        return AdaptiveAnswer(average, *turn.interval(average), bits)
    cell = floor(Fraction(average) / step + HALF)
    least, most = float((cell - HALF) * step), float((cell + HALF) * step)
    bits = turn.value(levels_of(step), f"{SCORE}{step}")
    lower, upper = turn.interval(max(least, 0.0))[0], turn.interval(min(most, 1.0))[1]
    return AdaptiveAnswer(min(float(cell * step), 1.0), lower, upper, bits)


def levels_of(step: Fraction) -> int:
    """Return how many cells of a step averages from 0 to 1 can be rounded to."""
    return floor(1 / step + HALF) + 1


def step_of(what: str) -> Fraction:
    """Return the step that an answer was rounded to; 0 if it was not."""
    return Fraction(what.removeprefix(SCORE)) if what.startswith(SCORE) else Fraction(0)
