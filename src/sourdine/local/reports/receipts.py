"""`Receipt`: how many reports counted, and why the others did not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sourdine.local.reports.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Receipt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of some reports.

    Parameters
    ----------
    accepted
        How many were counted.
    dropped
        How many were not, for each reason that occurred.

    Examples
    --------
    >>> print(Receipt(accepted=7, dropped={Reason.REPLAYED: 2, Reason.MALFORMED: 1}))
    7 accepted, 3 dropped (1 malformed, 2 replayed)
    """

    accepted: int = 0
    dropped: Mapping[Reason, int] = field(default_factory=dict)

    @property
    def received(self) -> int:
        """How many reports there were."""
        return self.accepted + sum(self.dropped.values())

    def __add__(self, other: Receipt) -> Receipt:
        dropped = Counter(self.dropped) + Counter(other.dropped)
        return Receipt(accepted=self.accepted + other.accepted, dropped=dict(dropped))

    def __str__(self) -> str:
        reasons = [f"{self.dropped[r]} {r.value}" for r in Reason if self.dropped.get(r)]
        why = f" ({', '.join(reasons)})" if reasons else ""
        return f"{self.accepted} accepted, {sum(self.dropped.values())} dropped{why}"
