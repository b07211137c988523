"""What a ledger is for, what it holds, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.privacy import Concentrated, Guarantee, protected
from sourdine.release import Release
from sourdine.release.answer import brief
from sourdine.session.accounts import opened

if TYPE_CHECKING:
    from sourdine.privacy import Part
    from sourdine.privacy.accounting import Filter
    from sourdine.session.accounts import Account, Total

__all__ = ["Charge", "Terms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a ledger is for; fixed when it is opened first.

    Parameters
    ----------
    total
        What may be spent in all, and under which relation: epsilon and delta, or rho.
    filter
        What decides on charges, nothing being charged yet; None where epsilons are added.
    unit
        The column that names a person; None if each record is a person.
    rows
        How many records of one person are used.
    name
        What the data are called: the caller's word or a file's name, never a function of what is
        inside. A fingerprint of the data would tell whoever reads the ledger whether a guess at
        them is right.
    open_account
        Whether a ledger that is there may count in its own way.

    Notes
    -----
    The name guards against a mistake, not against a loss: two data sets charged to one ledger
    cost each of them too much, never too little. So a missing name fits every name.
    """

    total: Total
    filter: Filter | None = None
    unit: str | None = None
    rows: int = 1
    name: str | None = None
    open_account: bool = field(default=False, compare=False, repr=False)

    @property
    def account(self) -> str:
        """How charges are counted: ``"sum"``, ``"renyi"`` or ``"rho"``."""
        if self.filter is None:
            return "sum"
        return "rho" if self.filter.epsilon is None else "renyi"

    @property
    def reserve(self) -> Fraction:
        """The part of delta for answers with a delta of their own: all of it in a sum."""
        if self.filter is not None:
            return self.filter.reserve
        return self.total.delta if isinstance(self.total, Guarantee) else Fraction(0)

    @property
    def start(self) -> Account:
        """The account before the first charge."""
        return opened(self.total, self.filter)

    def told(self) -> str:
        """Return the total in words."""
        if isinstance(self.total, Concentrated):
            rho = str(self.total).partition(",")[0]
            return f"{rho}, {self.total.relation.describe(self.protected)}"
        return self.total.told(self.protected)

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return protected(self.unit, self.rows)

    def require(self, given: Terms, where: str) -> None:
        """Refuse other terms than these: the ledger's own rule."""
        own_account = self.reserve if given.open_account else given.reserve
        checks: tuple[tuple[str, Any, Any], ...] = (
            *zip(("epsilon", "delta", "rho"), self.numbers, given.numbers, strict=True),
            ("relation", self.total.relation.value, given.total.relation.value),
            ("reserve", self.reserve, own_account),
            ("unit", self.unit, given.unit),
            ("rows", self.rows, given.rows),
            ("name", self.name or given.name, given.name or self.name),
        )
        for name, own, other in checks:
            if own != other:
                raise ParameterError(
                    name,
                    f"be {'none' if own is None else own}, as {where} says since it was opened",
                    "none" if other is None else str(other),
                    f"{_HINTS.get(name, 'Leave out' if own is None else 'Type')} {{{name}}}, or "
                    "open another ledger, whose total comes on top of this one.",
                    **{name: LEFT_OUT if own is None else own},
                )

    @property
    def numbers(self) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
        """Epsilon, delta and rho."""
        if isinstance(self.total, Concentrated):
            return None, None, self.total.rho
        return self.total.exact_epsilon(), self.total.delta, None


_HINTS = {"name": "If these are the data it was opened for, moved or renamed, type"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of a ledger: public facts of a call, written before it ran, and its answer.

    Parameters
    ----------
    number
        1 for the first.
    when
        The time of the call, in UTC, as ISO 8601.
    what
        The statistic and its column.
    mechanism
        What drew the answer.
    parameters
        The public parameters of the call, as JSON.
    cost
        The promise of the call.
    account
        The account after it.
    parts
        What the loss of the call is made of, at most, under the relation of the ledger.
    price
        What a filter charged for the parts; None in a sum.
    declared
        Whether it is a line of a batch that was declared before the first answer, and is the whole
        of the total.
    answer
        What was released for it, as JSON; None where none was kept.
    version
        The version of the library that drew the answer.
    """

    number: int
    when: str
    what: str
    mechanism: str
    parameters: str
    cost: Guarantee
    account: Account
    parts: tuple[Part, ...] = ()
    price: Fraction | None = None
    declared: bool = False
    answer: str | None = None
    version: str | None = None

    @property
    def spent(self) -> Guarantee:
        """The promises since the ledger was opened, this one included, added up."""
        return self.account.spent

    @property
    def share(self) -> Fraction:
        """How much of the total is spent, this call included."""
        return self.account.share

    @property
    def release(self) -> Release | None:
        """What was released for it; None where no answer was kept.

        Examples
        --------
        >>> from sourdine.session import Session
        >>> session = Session(range(1000), epsilon=1)
        >>> release = session.count(epsilon=0.5)
        >>> session.history[0].release == release
        True
        """
        return None if self.answer is None else Release.from_json(self.answer)

    @property
    def value(self) -> str:
        """What was released for it, in a few words."""
        try:
            release = self.release
        except ParameterError:
            return "not readable"
        return "none kept" if release is None else brief(release)

    @property
    def epsilon(self) -> Fraction:
        """What was charged, but for delta."""
        return self.cost.exact_epsilon()

    @property
    def delta(self) -> Fraction:
        """The delta that was charged."""
        return self.cost.delta

    def __str__(self) -> str:
        return f"{self.number}  {self.when}  {self.what}  {self.cost}"
