"""`Form`: what a record must look like, as the sender and the reader both know it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, one_of
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sourdine.mechanisms.mechanism import Report
    from sourdine.privacy import Guarantee

__all__ = ["Form"]

MARK = 16
METHODS = ("split", "sample")


@dataclass(frozen=True, kw_only=True)
class Form:
    """The public facts that sender and reader share.

    Parameters
    ----------
    randomisers
        The mechanism of each column, in the order in which a record holds the answers.
    fingerprint
        What tells this form from others, in hexadecimal; records carry its first 16 digits.
    method
        ``"split"``: a person answers for every column; ``"sample"``: for one, drawn at random.
    guarantee
        The privacy loss of one record.
    """

    randomisers: Mapping[str, Report]
    fingerprint: str
    method: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        one_of(self.method, "method", *METHODS)
        if not self.randomisers:
            raise ParameterError(
                "randomisers", "be at least one", "none", "Give the form a column."
            )
        if not re.fullmatch(r"[0-9a-f]{16,}", self.fingerprint):
            raise ParameterError(
                "fingerprint",
                "be 16 or more of the digits 0-9 and a-f",
                given(self.fingerprint),
                "Pass the fingerprint of a schema.",
            )

    @property
    def mark(self) -> str:
        """The part of the fingerprint that a record carries."""
        return self.fingerprint[:MARK]

    @property
    def sampled(self) -> bool:
        """Whether a person answers for one column only."""
        return self.method == "sample"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.randomisers)

    @cached_property
    def mechanisms(self) -> tuple[Report, ...]:
        """Their mechanisms, in order."""
        return tuple(self.randomisers.values())

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """For each column how many bytes a report has; 0 if reports are whole numbers."""
        drawn = (m.reports(np.zeros(1, np.int64), SYSTEM) for m in self.mechanisms)
        return tuple(one.shape[1] if one.ndim > 1 else 0 for one in drawn)

    def empty(self, column: int) -> NDArray[Any]:
        """Return no reports of a column, in the right shape."""
        width = self.widths[column]
        return np.zeros((0, width), np.uint8) if width else np.zeros(0, np.int64)
