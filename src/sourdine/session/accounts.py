"""Totals, accounts, and what remains of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import at_least, given, one_of, positive
from sourdine.privacy import Concentrated, Guarantee
from sourdine.privacy.accounting import Filter, Part, compose
from sourdine.privacy.accounting.parts import plain, replaced
from sourdine.privacy.budget import added, afterwards, read_total, remaining, require_finite
from sourdine.privacy.guarantee import percent, shown
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact import Number
    from sourdine.privacy import Relation


# ---- A total as a person says it -----------------------------------------------------------------


RESERVED = Fraction(1, 1000)
"""The share of delta that is kept for answers with a delta of their own, if nobody says."""


def read_budget(
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    reserve: Number | None,
    relation: Relation,
) -> tuple[Total, Filter | None]:
    r"""Return a total that may be spent, and the filter that decides; None where epsilons add up.

    Parameters
    ----------
    epsilon, delta, rho
        Epsilon with or without delta, or rho.
    reserve
        How much of delta is kept for answers with a delta of their own. A thousandth if left out:
        at order :math:`a` that costs :math:`0.001/(a - 1)` of what prices may sum to, and a
        threshold for unknown keys grows by :math:`\ln(1000)/\varepsilon`, as both depend on the
        logarithm of delta.
    relation
        Which inputs are neighbours.

    Examples
    --------
    >>> from sourdine.privacy import ADD_REMOVE
    >>> total, decides = read_budget(3, 1e-6, None, None, ADD_REMOVE)
    >>> print(total, "|", decides)
    epsilon 3, delta 1e-06, one record added or removed | epsilon 3, delta 1e-06: 100% left
    """
    if rho is not None:
        for name, other in (("epsilon", epsilon), ("delta", delta), ("reserve", reserve)):
            if other is not None:
                raise ParameterError(
                    name,
                    "be omitted if the total is rho",
                    given(other),
                    f"Omit {{{name}}} or rho.",
                    **{name: LEFT_OUT},
                )
        exact = positive(rho, "rho")
        return Concentrated(exact, relation), Filter.of_rho(exact)
    total = read_total(0 if epsilon is None else epsilon, 0 if delta is None else delta, relation)
    kept = total.delta * RESERVED if reserve is None else at_least(reserve, "reserve", 0)
    if kept == total.delta:
        return total, None
    return total, Filter.of(total.exact_epsilon(), total.delta, kept)


# ---- What is left of a total with delta, and what was spent of it: shares, not epsilons ----------


FINE = 1000
"""The shift of noise on a fine grid, such as a mean has."""

MOST = 10
"""No epsilon above so many times the total is tried."""

KINDS: dict[str, tuple[str, Callable[[Fraction], Part]]] = {
    "pure": ("anything", Part.pure),
    "laplace": ("a sum or a mean", lambda e: Part.laplace(FINE, FINE / e)),
    "range": ("a quantile", Part.range),
}
"""Kinds of loss: what has them, at about such a price, and the part of an epsilon."""


@dataclass(frozen=True, slots=True)
class RemainingBudget(Displayable):
    """What is left of a total with delta.

    It is a share, as what an epsilon costs depends on what is asked: `largest` says which epsilon
    would still fit, by kind of loss; `Session.can_release` says it of one question.

    Parameters
    ----------
    filter
        The total, and what was charged to it.
    relation
        Which inputs are neighbours.

    Examples
    --------
    >>> from sourdine.privacy import ADD_REMOVE
    >>> from sourdine.privacy.accounting import Filter
    >>> print(RemainingBudget(Filter.of(3, 1e-6).charge(Part.pure(0.06, times=50)), ADD_REMOVE))
    kind     largest epsilon  for
    pure            0.956175  anything
    laplace         0.993855  a sum or a mean
    range            1.25924  a quantile
    remaining  53.39% of epsilon 3, delta 1e-06, one record added or removed
    """

    filter: Filter
    relation: Relation

    @property
    def share(self) -> Fraction:
        """The share of the total that is left."""
        return self.filter.remaining

    @property
    def epsilon(self) -> Fraction:
        """The largest epsilon that fits, whatever is asked."""
        return self.largest()

    @property
    def delta(self) -> Fraction:
        """What is left for answers with a delta of their own."""
        return self.filter.reserve - self.filter.own_delta

    def largest(self, kind: str = "pure") -> Fraction:
        """Return the largest epsilon, to six digits, of which a charge of a kind still fits.

        Parameters
        ----------
        kind
            ``"pure"``: a promise of which nothing else is known; ``"laplace"``: discrete Laplace
            noise on a fine grid; ``"range"``: one draw by weights.
        """
        make = KINDS[one_of(kind, "kind", *KINDS)][1]
        return self.fitting(lambda epsilon: (make(epsilon),))

    def fitting(self, at: Callable[[Fraction], tuple[Part, ...]]) -> Fraction:
        """Return the largest epsilon, to six digits, with which parts made by ``at`` fit."""
        most = MOST * (self.filter.epsilon or self.filter.allowance + 1)

        def make(epsilon: Fraction) -> tuple[Part, ...]:
            return (Part.delta(1),) if epsilon > most else at(epsilon)

        return self.filter.largest(make)

    def exact_epsilon(self) -> Fraction:
        """Return the largest epsilon that fits, whatever is asked."""
        return self.epsilon

    def told(self, whom: str = "record") -> str:
        """Return what is left in words, for what takes the place of a record."""
        left = percent(self.share)
        return f"{left} of {self.filter.whole}, {self.relation.describe(whom)}"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows; texts are exact."""
        return {
            "share": float(self.share),
            "largest": {kind: str(self.largest(kind)) for kind in KINDS},
            "delta": str(self.delta),
            "relation": self.relation.value,
        }

    def sheet(self) -> Sheet:
        lines = [
            (kind, shown(self.largest(kind), up=False), text) for kind, (text, _) in KINDS.items()
        ]
        notes = [("remaining", self.told())]
        if self.filter.reserve:
            kept = f"delta {shown(self.delta, up=False)} for answers with a delta of their own"
            notes.append(("reserve", kept))
        return Sheet(heads=("kind", "largest epsilon", "for"), lines=lines, notes=notes)

    def __repr__(self) -> str:
        return f"<RemainingBudget: {self.told()}>"


@dataclass(frozen=True, slots=True)
class Charged(Displayable):
    """What was spent of a total with delta: a share of it, and the sum of the epsilons.

    The sum is not what was lost. An epsilon that holds so far, at a time chosen after seeing the
    answers, is not promised: the promise is the total.

    Parameters
    ----------
    filter
        The total, and what was charged to it.
    sums
        The promises of all charges, added up.
    """

    filter: Filter
    sums: Guarantee

    @property
    def share(self) -> Fraction:
        """The share of the total that is spent."""
        return self.filter.share

    @property
    def epsilon(self) -> Fraction:
        return self.sums.exact_epsilon()

    @property
    def delta(self) -> Fraction:
        """What was taken from the reserve."""
        return self.filter.own_delta

    def exact_epsilon(self) -> Fraction:
        """Return the sum of the epsilons of all charges."""
        return self.epsilon

    def told(self, whom: str = "record") -> str:
        """Return what was spent in words, for what takes the place of a record."""
        sums = f"the epsilons add up to {shown(self.epsilon)}"
        spent = f"{percent(self.share, up=True)} of {self.filter.whole}"
        return f"{spent}, {self.sums.relation.describe(whom)}; {sums}"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows; texts are exact."""
        return {
            "share": float(self.share),
            "epsilons": str(self.epsilon),
            "delta": str(self.delta),
            "relation": self.sums.relation.value,
        }

    def sheet(self) -> Sheet:
        note = (
            "the guarantee is the total; no smaller epsilon is guaranteed for the releases so far"
        )
        return Sheet(notes=[("spent", self.told()), ("note", note)])

    def __repr__(self) -> str:
        return f"<Charged: {self.told()}>"


# ---- How much of a total is spent, and whether one more charge fits: two ways to count -----------
#
# ``sum``      epsilons and deltas are added (`SumAccount`): totals without delta, and old files
# ``renyi``    prices at one Rényi order, or the plain sum (`FilterAccount`): totals with delta
# ``rho``      the same with zero-concentrated prices: totals of rho
#
# Both are values: a charge gives another account, or is refused.


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
    def remaining(self) -> Guarantee | RemainingBudget:
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
        return self.spent

    @property
    def remaining(self) -> Guarantee:
        return remaining(self.total, self.spent)

    @property
    def share(self) -> Fraction:
        """How much of epsilon is spent."""
        return self.spent.exact_epsilon() / self.total.exact_epsilon()

    def after(self, cost: Guarantee, parts: tuple[Part, ...]) -> SumAccount:
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
    6.78% of epsilon 3, delta 1e-06, one record added or removed
    """

    filter: Filter
    spent: Guarantee

    @property
    def relation(self) -> Relation:
        return self.spent.relation

    @property
    def used(self) -> Charged:
        return Charged(self.filter, self.spent)

    @property
    def remaining(self) -> RemainingBudget:
        return RemainingBudget(self.filter, self.relation)

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
    require_finite(cost)
    cost.under(relation)
    return parts if cost.relation is relation else replaced(parts)
