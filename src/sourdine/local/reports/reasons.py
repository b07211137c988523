"""Why a report is dropped: one of few reasons, counted, and nothing of the report is kept."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Reason", "Sieve"]


class Reason(Enum):
    """Why a report is dropped; the first that applies, in this order."""

    TOO_LONG = "too long"
    """More than twice the longest line that the form can fill; it is not even parsed."""
    MALFORMED = "malformed"
    """Not UTF-8, not JSON, not an object of the right keys, no readable id."""
    VERSION = "unknown version"
    """Written in a format that this reader does not know."""
    FOREIGN = "foreign schema"
    """Made for another schema."""
    COLUMNS = "wrong columns"
    """An answer too few or too many."""
    KIND = "wrong type"
    """A fraction, a truth value or a text where a whole number belongs, or the wrong width."""
    DOMAIN = "out of domain"
    """A report that its randomiser never draws."""
    REPLAYED = "replayed"
    """A report with this id was counted before."""


class Sieve:
    """Which of some rows remain, and why the others went."""

    __slots__ = ("dropped", "kept")

    def __init__(self, rows: int) -> None:
        self.kept: NDArray[np.bool_] = np.ones(rows, np.bool_)
        self.dropped: Counter[Reason] = Counter()

    def drop(self, bad: NDArray[np.bool_] | bool, reason: Reason) -> None:  # noqa: FBT001
        """Take out the bad rows among those that remain."""
        gone = self.kept & bad
        if gone.any():
            self.dropped[reason] += int(np.count_nonzero(gone))
            self.kept &= ~gone
