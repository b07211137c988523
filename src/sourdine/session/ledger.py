"""A list of charges, wherever it is kept, and one that is kept in memory.

A charge is written before the mechanism runs. If the process dies in between, the charge stays: a
ledger may say too much, never too little.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from sourdine.errors import BudgetExceededError
from sourdine.privacy.accounting import of_promise
from sourdine.session import lines
from sourdine.session.accounts import FilterAccount, under
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.privacy import Guarantee, Part, Relation
    from sourdine.session.accounts import Account
    from sourdine.session.charges import Charge, Terms

__all__ = ["Call", "Charging", "ChargingDesk", "Ledger", "MemoryLedger"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is to be charged: the public facts of one call.

    Parameters
    ----------
    cost
        Its promise.
    parts
        What its loss is made of, at most; None where only the promise is known.
    what, mechanism, parameters
        The statistic and its column; what draws it; the public parameters, as JSON.
    """

    cost: Guarantee
    what: str
    mechanism: str
    parameters: str
    parts: tuple[Part, ...] | None = None

    def line(self, before: Account, number: int, *, declared: bool = False) -> Charge:
        """Return the line of a ledger that follows, or refuse it."""
        asked = {name: getattr(self, name) for name in ("what", "mechanism", "parameters")}
        return lines.following(before, number, self.cost, self._known(), asked, declared=declared)

    def loss(self, relation: Relation) -> tuple[Part, ...]:
        """Return the parts under the relation of a total."""
        return under(self.cost, self._known(), relation)

    def _known(self) -> tuple[Part, ...]:
        if self.parts is not None:
            return self.parts
        return of_promise(self.cost) if self.cost.is_finite else ()


class Ledger(Protocol):
    """A list of charges under fixed terms."""

    @property
    def terms(self) -> Terms:
        """What it is for."""

    @property
    def identity(self) -> str | None:
        """What tells its file from all others; None if there is no file."""

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""

    @property
    def account(self) -> Account:
        """What was spent until now."""

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""

    def charge(
        self,
        cost: Guarantee,
        *,
        what: str,
        mechanism: str,
        parameters: str,
        parts: tuple[Part, ...] | None = None,
    ) -> Charge:
        """Write a charge down for good, or raise `BudgetExceededError` and write nothing."""

    def charge_all(self, calls: Sequence[Call]) -> list[Charge]:
        """Write several charges down for good, or raise and write none."""

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""


class ChargingDesk(Protocol):
    """One writer's time alone with a ledger."""

    def last(self) -> Charge | None:
        """Return the last charge."""

    def write(self, charge: Charge) -> None:
        """Write a charge down for good."""


class Charging:
    """What all ledgers do: they differ in where lines are kept."""

    __slots__ = ()
    terms: Terms

    @abstractmethod
    def _turn(self, work: Callable[[ChargingDesk], T]) -> T:
        """Run a function while nobody else writes."""

    @property
    def account(self) -> Account:
        """What was spent until now."""
        last = self._turn(lambda desk: desk.last())
        return self.terms.start if last is None else last.account

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        return self.account.spent

    def charge(
        self,
        cost: Guarantee,
        *,
        what: str,
        mechanism: str,
        parameters: str,
        parts: tuple[Part, ...] | None = None,
    ) -> Charge:
        """Write a charge down and wait for the disk, or raise and write nothing."""
        call = Call(cost=cost, what=what, mechanism=mechanism, parameters=parameters, parts=parts)
        (charge,) = self.charge_all([call])
        return charge

    def charge_all(self, calls: Sequence[Call]) -> list[Charge]:
        """Write several charges down, or raise and write none.

        If their prices do not fit, but nothing was charged before and the certified curve of all
        of them together stays within the total, they are the whole of it: nothing is left then.
        """
        return self.declaring(
            lambda whole: self._turn(lambda desk: self.write(desk, calls, whole=whole)), calls
        )

    def declaring(self, attempt: Callable[[bool], T], calls: Sequence[Call]) -> T:
        """Attempt to charge calls; if they do not fit one by one, as the whole of the total."""
        try:
            return attempt(False)  # noqa: FBT003 - not as the whole
        except BudgetExceededError:
            if len(calls) < 2 or not self._is_whole(calls):
                raise
        return attempt(True)  # noqa: FBT003 - as the whole

    def write(
        self, desk: ChargingDesk, calls: Sequence[Call], *, whole: bool = False
    ) -> list[Charge]:
        """Write charges in a turn, or raise and write none.

        Parameters
        ----------
        desk
            The turn.
        calls
            What is charged.
        whole
            Whether the calls are the whole of a total of which all is left.
        """
        last = desk.last()
        declared = whole and last is None
        account = self.terms.start if last is None else last.account
        first = 1 if last is None else last.number + 1
        written: list[Charge] = []
        for number, call in enumerate(calls, first):
            written.append(call.line(account, number, declared=declared))
            account = written[-1].account
        for charge in written:
            desk.write(charge)
        return written

    def _is_whole(self, calls: Sequence[Call]) -> bool:
        """Whether calls are, by their certified curve, within a total of which all is left."""
        start = self.terms.start
        if not isinstance(start, FilterAccount) or self.account != start:
            return False
        return start.is_whole(tuple(part for call in calls for part in call.loss(start.relation)))


class MemoryLedger(Charging):
    """Charges that end with the process; safe under threads, refused in a forked process."""

    __slots__ = ("_charges", "_lock", "_process", "terms")

    identity = None

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        return list(self._charges)

    def _turn(self, work: Callable[[ChargingDesk], T]) -> T:
        with self._lock:
            return work(_ListDesk(self._charges, self._process))

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""
        self._charges[charge.number - 1] = replace(charge, answer=answer, version=__version__)


@dataclass(frozen=True, slots=True)
class _ListDesk:
    charges: list[Charge]
    process: int

    def last(self) -> Charge | None:
        return self.charges[-1] if self.charges else None

    def write(self, charge: Charge) -> None:
        if os.getpid() != self.process:
            raise BudgetExceededError(
                "a session without a ledger",
                "stay in the process that made it",
                "a forked one",
                "Type {ledger} to share one budget among processes.",
                ledger="data.ledger",
            )
        self.charges.append(charge)
