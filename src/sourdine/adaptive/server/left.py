"""What can still be asked."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from sourdine.adaptive.ledger import Spent
from sourdine.adaptive.thresholds import largest
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sourdine.adaptive.ledger import TranscriptLedger

__all__ = ["Left", "left_until"]


@dataclass(frozen=True, slots=True)
class Left(Shown):
    """How many more questions are sure to be answered; None for any number.

    Parameters
    ----------
    surprises
        If every one is a surprise.
    nods
        If none is, but perhaps the last.
    """

    surprises: int | None
    nods: int | None

    def sheet(self) -> Sheet:
        """Return what is printed."""
        surprises, nods = ("any number of" if x is None else x for x in (self.surprises, self.nods))
        return Sheet(notes=[("left", f"{surprises} surprises, or {nods} nods")])


def left_until(error: Fraction, ledger: TranscriptLedger, levels: Callable[[int], int]) -> Left:
    """Return what can be asked before the next half-width passes an error.

    Parameters
    ----------
    error
        The half-width.
    ledger
        What was told so far.
    levels
        Given a number of further surprises, among how many levels the last counts at most.
    """
    spent = ledger.spent

    def fits(surprises: int, nods: int) -> bool:
        told = Spent(
            spent.answers + 2 * surprises + nods,
            spent.yes + surprises,
            spent.no + nods,
            spent.value_bits + surprises * log2(levels(surprises)),
            spent.claims + 2 * surprises + nods,
        )
        return ledger.halfwidth_after(told) <= error

    return Left(
        largest(lambda m: fits(m, 0) and fits(m - 1, 1)),
        largest(lambda m: fits(0, m) and fits(1, m - 1)),
    )
