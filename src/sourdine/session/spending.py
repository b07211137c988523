"""What every session shows, wherever its ledger is: the total, what was spent, what is left."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from sourdine.central import Describe
from sourdine.privacy import Guarantee
from sourdine.question import Face
from sourdine.questions import Statistics
from sourdine.release import History, Release, Sheet, Shown

if TYPE_CHECKING:
    from sourdine.session.accounts import Account, Total
    from sourdine.session.charges import Charge, Terms
    from sourdine.session.room import Charged, Room

__all__ = ["Spending"]

HEADS = {
    "number": "",
    "when": "time",
    "what": "question",
    "epsilon": "epsilon",
    "delta": "delta",
    "value": "answer",
    "mechanism": "by",
}
"""What a history shows of a charge."""


class Spending(Statistics[Release], Shown):
    """Every statistic as a method that releases it under one total."""

    __slots__ = ()

    describe = Face(Describe)

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The total, the relation, the unit and the name of the data."""

    @property
    @abstractmethod
    def account(self) -> Account:
        """What was spent until now, by the way in which the ledger counts."""

    @property
    @abstractmethod
    def charges(self) -> list[Charge]:
        """Every charge, the first one first."""

    @property
    def total(self) -> Total:
        """What all releases may cost together: epsilon and delta, or rho."""
        return self.terms.total

    @property
    def spent(self) -> Guarantee | Charged:
        """What has been charged: a promise, or with delta a share of the total.

        Both have `epsilon`, the sum of the epsilons, and `delta`.
        """
        return self.account.used

    @property
    def remaining(self) -> Guarantee | Room:
        """What is left: a promise, or with delta a share of the total.

        Both have `epsilon`, the largest that fits whatever is asked, and `delta`. A `Room` also
        knows the largest epsilon by kind of loss.
        """
        return self.account.remaining

    @property
    def history(self) -> History[Charge]:
        """Every charge: when, what, its cost, its public parameters and the answer kept with it."""
        return History(self.charges, HEADS)

    def sheet(self) -> Sheet:
        """Return what is printed: every charge, and what is left."""
        whom, account = self.terms.protected, self.account
        parts = {"spent": account.used, "left": account.remaining}
        notes = [(name, part.told(whom)) for name, part in parts.items()]
        return replace(self.history.sheet(), notes=[*notes, ("of", self.terms.told())])

    def __repr__(self) -> str:
        name, account = type(self).__name__, self.account
        if isinstance(self.total, Guarantee) and isinstance(account.used, Guarantee):
            return f"<{name}: {account.used} spent of {self.total}>"
        return f"<{name}: {account.remaining.told()} left>"
