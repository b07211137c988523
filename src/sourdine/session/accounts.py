"""How much of a total is spent, and whether one more charge fits: two ways to count.

``sum``      epsilons and deltas are added (`SumAccount`): totals without delta, and old files
``renyi``    prices at one Rényi order, or the plain sum (`FilterAccount`): totals with delta
``rho``      the same with zero-concentrated prices: totals of rho

Both are values: a charge gives another account, or is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from sourdine.privacy import Concentrated, Guarantee, afterwards
from sourdine.privacy.accounting import compose, plain, replaced
from sourdine.privacy.budget import added, remaining, require_finite
from sourdine.session.room import Charged, Room

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.privacy import Part, Relation
    from sourdine.privacy.accounting import Filter

__all__ = ["Account", "FilterAccount", "SumAccount", "Total", "opened"]

Total = Guarantee | Concentrated
"""What may be spent in all: epsilon and delta, or rho."""


class Account(Protocol):
    """What was spent of a total, by one way to count."""

    @property
    def spent(self) -> Guarantee:
        """The promises of all charges, added up."""

    @property
    def used(self) -> Guarantee | Charged:
        """What was spent, as a session shows it."""

    @property
    def remaining(self) -> Guarantee | Room:
        """What is left, as a session shows it."""

    @property
    def share(self) -> Fraction:
        """How much of the total is spent."""

    def after(self, cost: Guarantee, parts: tuple[Part, ...]) -> Account:
        """Return the account after a charge, or raise `BudgetExceededError`."""

    def largest(self, at: Callable[[Fraction], tuple[Part, ...]]) -> Fraction:
        """Return the largest epsilon with which parts made by ``at`` fit."""


@dataclass(frozen=True, slots=True)
class SumAccount:
    """Epsilons and deltas are added up, exactly.

    Examples
    --------
    >>> account = opened(Guarantee(1), None)
    >>> print(account.after(Guarantee(0.25), ()).remaining)
    epsilon 0.75, one record added or removed
    """

    total: Guarantee
    spent: Guarantee

    @property
    def used(self) -> Guarantee:
        """What was spent."""
        return self.spent

    @property
    def remaining(self) -> Guarantee:
        """What is left."""
        return remaining(self.total, self.spent)

    @property
    def share(self) -> Fraction:
        """How much of epsilon is spent."""
        return self.spent.exact_epsilon() / self.total.exact_epsilon()

    def after(self, cost: Guarantee, parts: tuple[Part, ...]) -> SumAccount:  # noqa: ARG002
        """Return the account after a charge, or raise `BudgetExceededError`."""
        return replace(self, spent=afterwards(self.total, self.spent, cost))

    def largest(self, at: Callable[[Fraction], tuple[Part, ...]]) -> Fraction:
        """Return what is left of epsilon; 0 for parts with a delta that is not left."""
        left = self.remaining
        _, own_delta = plain(at(left.exact_epsilon()))
        return left.exact_epsilon() if own_delta <= left.delta else Fraction(0)


@dataclass(frozen=True, slots=True)
class FilterAccount:
    """A filter decides, from the parts of each loss.

    Examples
    --------
    >>> from sourdine.privacy.accounting import Filter, Part
    >>> account = opened(Guarantee(3, 1e-6), Filter.of(3, 1e-6))
    >>> for _ in range(100):  # the sum would admit 50
    ...     account = account.after(Guarantee(0.06), (Part.pure(0.06),))
    >>> print(account.remaining.told())
    6.78 % of epsilon 3, delta 1e-06, one record added or removed
    """

    filter: Filter
    spent: Guarantee

    @property
    def relation(self) -> Relation:
        """Which inputs are neighbours."""
        return self.spent.relation

    @property
    def used(self) -> Charged:
        """What was spent."""
        return Charged(self.filter, self.spent)

    @property
    def remaining(self) -> Room:
        """What is left."""
        return Room(self.filter, self.relation)

    @property
    def share(self) -> Fraction:
        """How much of the total is spent."""
        return self.filter.share

    def after(self, cost: Guarantee, parts: tuple[Part, ...]) -> FilterAccount:
        """Return the account after a charge, or raise `BudgetExceededError`."""
        charged = self.filter.charge(under(cost, parts, self.relation))
        return replace(self, filter=charged, spent=added(self.spent, cost))

    def after_declared(self, cost: Guarantee) -> FilterAccount:
        """Return the account after a line of a batch that is the whole of it: nothing is left."""
        return replace(self, filter=self.filter.exhausted, spent=added(self.spent, cost))

    def is_whole(self, parts: tuple[Part, ...], slack: float = 0) -> bool:
        """Whether a batch declared before the first answer fits by its certified curve."""
        total = self.filter
        if total.epsilon is None or total.order is None or not parts:
            return False
        most = total.delta * (1 + Fraction(slack))
        return Fraction(compose(parts).delta(total.epsilon).upper) <= most

    def largest(self, at: Callable[[Fraction], tuple[Part, ...]]) -> Fraction:
        """Return the largest epsilon, to six digits, with which parts made by ``at`` fit."""
        return self.remaining.fitting(at)


def opened(total: Total, filter_: Filter | None) -> Account:
    """Return the account of which nothing is spent."""
    nothing = Guarantee(0, 0, total.relation)
    if isinstance(total, Guarantee) and filter_ is None:
        return SumAccount(total, nothing)
    if filter_ is None:
        raise TypeError("a total of rho needs its filter")
    return FilterAccount(filter_, nothing)


def under(cost: Guarantee, parts: tuple[Part, ...], relation: Relation) -> tuple[Part, ...]:
    """Return parts under the relation of a total."""
    require_finite(cost)
    cost.under(relation)
    return parts if cost.relation is relation else replaced(parts)
