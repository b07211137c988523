"""What `confirm` says, and what a guard remembers of all that it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourdine.adaptive.ledger import Remaining

__all__ = ["Told", "Verdict", "counted", "left_in_words"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether new predictions were confirmed; true if so.

    Parameters
    ----------
    confirmed
        The answer.
    bits
        What it cost.
    remaining
        What can still be told; None if the ledger has no target.
    """

    confirmed: bool
    bits: float
    remaining: Remaining | None

    def __bool__(self) -> bool:
        return self.confirmed

    def __str__(self) -> str:
        said = "confirmed" if self.confirmed else "not confirmed"
        left = "" if self.remaining is None else f", {left_in_words(self.remaining)}"
        return f"{said}, {counted(f'{self.bits:.3g}', 'bit')}{left}"


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

    def __str__(self) -> str:
        return f"{self.number}. {self.when} {self.what}, {counted(f'{self.bits:.3g}', 'bit')}"


def counted(figure: object, noun: str) -> str:
    """Return so many of a thing.

    Examples
    --------
    >>> counted(1, "answer"), counted("0.5", "bit")
    ('1 answer', '0.5 bits')
    """
    return f"{figure} {noun}" if str(figure) == "1" else f"{figure} {noun}s"


def left_in_words(left: Remaining) -> str:
    """Return what is left as a person reads it."""
    if left.answers == 0:
        return "no more yes or no, but final() still answers"
    rare = "" if left.answers == left.noes else f", {left.noes} if all are no"
    return f"{counted(left.answers, 'more answer')} left{rare}"
