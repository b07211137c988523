"""What `confirm` says, and what a guard remembers of all that it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.adaptive.answers import counted
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from sourdine.adaptive.ledger import Remaining

__all__ = ["HEADS", "Told", "Verdict", "left_in_words"]

HEADS = {"number": "", "when": "time", "what": "question", "bits": "bits"}
"""What a guard's history shows of an answer."""


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """Whether new predictions were confirmed; true if so.

    Parameters
    ----------
    confirmed
        The answer.
    bits
        What it cost.
    remaining
        What can still be told; None if the ledger has no limit.
    """

    confirmed: bool
    bits: float
    remaining: Remaining | None

    def __bool__(self) -> bool:
        return self.confirmed

    def sheet(self) -> Sheet:
        """Return what is printed."""
        said = "confirmed" if self.confirmed else "not confirmed"
        left = [] if self.remaining is None else [("left", left_in_words(self.remaining))]
        cost = counted(f"{self.bits:.3g}", "bit")
        return Sheet(notes=[("verdict", said), ("cost", cost), *left])


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a guard's history: what was answered, but not how.

    Parameters
    ----------
    number
        1 for the first answer.
    when
        The time in UTC, as ISO 8601.
    what
        The question.
    bits
        What the answer cost.
    """

    number: int
    when: str
    what: str
    bits: float


def left_in_words(left: Remaining) -> str:
    """Return what is left as a person reads it."""
    if left.answers == 0:
        return "no more yes-or-no answers, but a final answer"
    rare = "" if left.answers == left.noes else f", {left.noes} if all are no"
    return f"{counted(left.answers, 'more answer')}{rare}"
