"""What `confirm` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourdine.adaptive.ledger import Remaining

__all__ = ["Verdict", "left_in_words"]


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
        return f"{said}, {self.bits:.3g} bits{left}"


def left_in_words(left: Remaining) -> str:
    """Return what is left as a person reads it."""
    if left.answers == left.noes:
        return f"{left.answers} more answers left"
    return f"{left.answers} more answers left, {left.noes} if all are no"
