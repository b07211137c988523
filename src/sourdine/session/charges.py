"""Totals, charges, and what remains; how the lines of a ledger are written and checked."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, SourdineError
from sourdine.exact import at_least, given, integer, one_of, positive
from sourdine.parameters import converters
from sourdine.privacy import Concentrated, Guarantee
from sourdine.privacy.accounting import Filter, Part, compose
from sourdine.privacy.accounting import parts as prices
from sourdine.privacy.accounting.parts import plain, read_parts, replaced
from sourdine.privacy.guarantee import (
    added,
    afterwards,
    percent,
    protected,
    read_total,
    remaining,
    require_finite,
    shown,
    typed,
)
from sourdine.results.answer import brief
from sourdine.results.release import Release
from sourdine.results.tables import Displayable, Sheet
from sourdine.storage.journal import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.exact import Number
    from sourdine.privacy import Relation
    from sourdine.storage.journal import Row


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
                what, hint = "be omitted if the total is rho", f"Omit {{{name}}} or rho."
                raise ParameterError(name, what, given(other), hint, **{name: LEFT_OUT})
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
"""The largest epsilon that is tried, as a multiple of the total."""

KINDS: dict[str, tuple[str, Callable[[Fraction], Part]]] = {
    "pure": ("anything", Part.pure),
    "laplace": ("a sum or a mean", lambda e: Part.laplace(FINE, FINE / e)),
    "range": ("a quantile", Part.range),
}
"""Kinds of loss: what has them, at about such a price, and the part of an epsilon."""


class _Counted(Displayable):
    """A part of a total with delta, printed by its share."""

    __slots__ = ()

    @property
    @abstractmethod
    def epsilon(self) -> Fraction:
        """As an epsilon."""

    @abstractmethod
    def told(self, whom: str = "record") -> str:
        """Return it in words, for what takes the place of a record."""

    def exact_epsilon(self) -> Fraction:
        """Return `epsilon`, by the name that a `sourdine.privacy.Guarantee` has for it."""
        return self.epsilon

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.told()}>"


@dataclass(frozen=True, slots=True, repr=False)
class RemainingBudget(_Counted):
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

    def told(self, whom: str = "record") -> str:
        """Return what is left in words, for what takes the place of a record."""
        return f"{percent(self.share)} of {self.filter.whole}, {self.relation.describe(whom)}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON; its texts are exact."""
        return {
            "share": float(self.share),
            "largest": {kind: str(self.largest(kind)) for kind in KINDS},
            "delta": str(self.delta),
            "relation": self.relation.value,
        }

    def sheet(self) -> Sheet:
        kinds = [(kind, text) for kind, (text, _) in KINDS.items()]
        lines = [(kind, shown(self.largest(kind), up=False), text) for kind, text in kinds]
        notes = [("remaining", self.told())]
        if self.filter.reserve:
            kept = f"delta {shown(self.delta, up=False)} for answers with a delta of their own"
            notes.append(("reserve", kept))
        return Sheet(heads=("kind", "largest epsilon", "for"), lines=lines, notes=notes)


@dataclass(frozen=True, slots=True, repr=False)
class Charged(_Counted):
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
        """The sum of the epsilons of all charges."""
        return self.sums.exact_epsilon()

    @property
    def delta(self) -> Fraction:
        """What was taken from the reserve."""
        return self.filter.own_delta

    def told(self, whom: str = "record") -> str:
        """Return what was spent in words, for what takes the place of a record."""
        sums = f"the epsilons add up to {shown(self.epsilon)}"
        spent = f"{percent(self.share, up=True)} of {self.filter.whole}"
        return f"{spent}, {self.sums.relation.describe(whom)}; {sums}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON; its texts are exact."""
        return {
            "share": float(self.share),
            "epsilons": str(self.epsilon),
            "delta": str(self.delta),
            "relation": self.sums.relation.value,
        }

    def sheet(self) -> Sheet:
        note = "the guarantee is the total; no smaller epsilon is guaranteed for the releases"
        return Sheet(notes=[("spent", self.told()), ("note", f"{note} so far")])


# ---- How much of a total is spent, and whether one more charge fits: two ways to count -----------
#
# ``sum``      epsilons and deltas are added (`SumAccount`): totals without delta, and old files
# ``renyi``    prices at one Rényi order, or the plain sum (`FilterAccount`): totals with delta
# ``rho``      the same with zero-concentrated prices: totals of rho
#
# Both are values: a charge gives another account, or is refused.


Total = Guarantee | Concentrated
"""What may be spent in all: epsilon and delta, or rho."""


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
    def room(self) -> Fraction:
        """What is left, for a plan."""
        return self.remaining.exact_epsilon()

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
    def used(self) -> Charged:
        return Charged(self.filter, self.spent)

    @property
    def remaining(self) -> RemainingBudget:
        return RemainingBudget(self.filter, self.spent.relation)

    @property
    def room(self) -> Filter:
        """What is left, for a plan."""
        return self.filter

    @property
    def share(self) -> Fraction:
        """How much of the total is spent."""
        return self.filter.share

    def after(self, cost: Guarantee, parts: tuple[Part, ...]) -> FilterAccount:
        """Return the account after a charge, or raise `BudgetExceededError`."""
        charged = self.filter.charge(under(cost, parts, self.spent.relation))
        return replace(self, filter=charged, spent=added(self.spent, cost))

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


Account = SumAccount | FilterAccount
"""What was spent of a total, by one way to count: what is shown of it, and what is left."""


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


# ---- What a ledger is for, what it holds, and what it refuses ------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a ledger is for; fixed when it is opened first.

    Parameters
    ----------
    total
        What may be spent in all, and under which relation: epsilon and delta, or rho.
    filter
        What decides on charges, nothing being charged yet; None where epsilons are added.
    unit, rows
        The column that names a person, None if each record is one; and how many records of one
        person are used.
    name
        What the data are called: the caller's word or a file's name, never a function of what is
        inside. A fingerprint of the data would tell readers of the ledger whether a guess at
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

    @property
    def fixed(self) -> dict[str, Any]:
        """The parameters that every question has under these terms."""
        return {"relation": self.total.relation, "rows": self.rows, "unit": self.unit}

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
                was, got = (typed(x) if isinstance(x, Fraction) else str(x) for x in (own, other))
                use, must = (LEFT_OUT, "omitted") if own is None else (own, was)
                do = "Omit" if own is None else "Use"
                if name == "name":
                    do = "If these are the data it was opened for, moved or renamed, use"
                what = f"be {must}, as {where} was created that way"
                hint = f"{do} {{{name}}}, or open another ledger, whose total adds to this one."
                got = "" if other is None else got
                raise ParameterError(name, what, got, hint, **{name: use})

    @property
    def numbers(self) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
        """Epsilon, delta and rho."""
        if isinstance(self.total, Concentrated):
            return None, None, self.total.rho
        return self.total.exact_epsilon(), self.total.delta, None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of a ledger: public facts of a call, written before it ran, and its answer.

    Parameters
    ----------
    number, when
        1 for the first; the time of the call, in UTC, as ISO 8601.
    what, mechanism, parameters
        The statistic and its column; what drew the answer; the public parameters, as JSON.
    cost, account
        The promise of the call, and the account after it.
    parts
        What the loss of the call is made of, at most, under the relation of the ledger.
    price
        What a filter charged for the parts; None in a sum.
    declared
        Whether it is a line of a batch that was declared before the first answer, and is the whole
        of the total.
    answer, version
        What was released for it, as JSON, and the version of the library that drew it; None where
        none was kept.
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


# ---- What the lines of a ledger's file say, and whether they add up ------------------------------
#
# Numbers are exact texts. Format 3 adds to the terms how charges are counted, the order, what
# prices may sum to (rounded down) and the reserve; to a charge its parts, its price and what was
# charged so far (rounded up). Files of format 2 have none of it: they add epsilons, and stay as
# they are.


LONGEST_NUMBER = 10_000
"""Letters of a number that a ledger holds."""
WITH_PARTS = 3
"""The first format whose charges name their parts."""
SLACK = 1e-6
"""How much a declared curve may differ between machines, as a part of delta."""
WRONG = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, SourdineError,
    RecursionError,
)  # fmt: skip


class UnreadableError(Exception):
    """A line is whole, but says what cannot be."""


def following(
    before: Account,
    number: int,
    cost: Guarantee,
    parts: tuple[Part, ...],
    asked: dict[str, str],
    *,
    declared: bool = False,
) -> Charge:
    """Return the line that follows, or refuse it.

    A ``declared`` one is of the batch that is the whole of the total; ``asked`` says what was
    asked, what draws it, and its parameters.
    """
    require_finite(cost)
    relation = before.spent.relation
    own = under(cost, parts, relation)
    account: Account
    if isinstance(before, FilterAccount) and declared:  # the whole of it: nothing is left
        account = FilterAccount(before.filter.exhausted, added(before.spent, cost))
    else:
        account = before.after(cost, parts)
    return Charge(
        number=number,
        when=now(),
        cost=Guarantee.from_dict(cost.under(relation).to_dict()),
        account=account,
        parts=own,
        price=before.filter.price_of(own) if isinstance(before, FilterAccount) else None,
        declared=declared,
        **asked,
    )


def terms_row(terms: Terms) -> Row:
    total = terms.total
    numbers: Row = (
        {"rho": str(total.rho), "relation": total.relation.value}
        if isinstance(total, Concentrated)
        else dict(total.to_dict())
    )
    row: Row = {**numbers, "unit": terms.unit, "rows": terms.rows, "name": terms.name}
    row["account"], decides = terms.account, terms.filter
    if decides is not None and decides.order is not None:
        row |= {name: str(getattr(decides, name)) for name in ("order", "allowance", "reserve")}
    return row


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Refuse a line of which something cannot be read."""
    try:
        yield
    except WRONG:
        raise UnreadableError(f"{what} cannot be read") from None


@_readable("its terms")
def read_terms(row: Row) -> Terms:
    """Return the terms that a line says."""
    unit, name = (None if row[key] is None else _text(row[key]) for key in ("unit", "name"))
    whom: dict[str, Any] = {"unit": unit, "name": name, "rows": converters.rows(row["rows"])}
    account = row.get("account", "sum")
    if account == "rho":
        rho = _exact(row["rho"])
        return Terms(total=Concentrated(rho, row["relation"]), filter=Filter.of_rho(rho), **whom)
    total = Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), row["relation"])
    if account == "sum":
        return Terms(total=total, **whom)
    if account != "renyi":
        raise ValueError(account)
    order, reserve = _exact(row["order"]), _exact(row["reserve"])
    allowed = prices.allowance(total.exact_epsilon(), total.delta - reserve, order)
    if not 0 < allowed == _exact(row["allowance"]) or order <= 1:
        raise ValueError(order)
    decides = Filter(total.exact_epsilon(), total.delta, order, allowed, reserve)
    return Terms(total=total, filter=decides, **whom)


def charge_row(charge: Charge, version: int) -> Row:
    """Return the line of a charge in a format."""
    cost, spent = charge.cost.to_dict(), charge.spent.to_dict()
    row: Row = {"number": charge.number, "time": charge.when, "what": charge.what}
    row |= {"mechanism": charge.mechanism, "parameters": charge.parameters}
    row |= {"epsilon": cost["epsilon"], "delta": cost["delta"]}
    row |= {"spent_epsilon": spent["epsilon"], "spent_delta": spent["delta"]}
    if version < WITH_PARTS:
        return row
    row["parts"] = [part.to_dict() for part in charge.parts]
    if isinstance(charge.account, FilterAccount):
        so_far = charge.account.filter
        row |= {
            "price": str(charge.price),
            "price_so_far": str(so_far.price),
            "sum_so_far": None if so_far.total is None else str(so_far.total),
            "own_delta_so_far": str(so_far.own_delta),
        }
    return {**row, "declared": True} if charge.declared else row


@_readable("a number")
def read_charge(row: Row, terms: Terms) -> Charge:
    """Return the charge that a line says."""
    relation = terms.total.relation.value
    spent = Guarantee(_exact(row["spent_epsilon"]), _exact(row["spent_delta"]), relation)
    datetime.fromisoformat(row["time"])
    if not isinstance(json.loads(row["parameters"]), dict):
        raise TypeError(row)
    return Charge(
        number=integer(row["number"], "number", least=1), when=row["time"], what=_text(row["what"]),
        mechanism=_text(row["mechanism"]), parameters=row["parameters"],
        cost=Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), relation),
        account=_account(row, terms, spent), parts=_parsed(json.dumps(row.get("parts", []))),
        price=None if terms.filter is None else _exact(row["price"]),
        declared=row.get("declared") is True,
    )  # fmt: skip


def _account(row: Row, terms: Terms, spent: Guarantee) -> Account:
    start = terms.start
    if isinstance(start, SumAccount):
        return replace(start, spent=spent)
    known = row["sum_so_far"]
    so_far = replace(
        start.filter,
        price=_exact(row["price_so_far"]),
        total=None if known is None else _exact(known),
        own_delta=_exact(row["own_delta_so_far"]),
    )
    return FilterAccount(so_far, spent)


@lru_cache(1024)
def _parsed(records: str) -> tuple[Part, ...]:
    return read_parts(Part.from_dict(record) for record in json.loads(records))


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(text)
    return text


def _exact(text: str) -> Fraction:
    """Return a number as ledgers write it: digits, or digits over digits, not too many."""
    if len(text) > LONGEST_NUMBER or not re.fullmatch(r"\d+(/\d+)?", text):
        raise ValueError(text)
    return Fraction(text)


def require_sound(terms: Terms, charges: Sequence[Charge]) -> None:
    """Refuse lines whose sums and prices are not those that follow from what they say."""
    account = terms.start
    for i, charge in enumerate(charges, 1):
        asked = {name: getattr(charge, name) for name in ("what", "mechanism", "parameters")}
        whole = charge.declared
        try:
            wanted = following(account, i, charge.cost, charge.parts, asked, declared=whole)
        except BudgetExceededError:
            raise UnreadableError("charges above the total") from None
        if replace(wanted, when=charge.when) != charge:
            raise UnreadableError(f"line {charge.number} does not add up")
        account = charge.account
    batch = [charge for charge in charges if charge.declared]
    parts = tuple(part for charge in batch for part in charge.parts)
    if batch and (len(batch) != batch[-1].number or not _is_whole(terms.start, parts)):
        raise UnreadableError("a declared batch that is not the whole of the total")


@lru_cache(64)
def _is_whole(start: Account, parts: tuple[Part, ...]) -> bool:
    return isinstance(start, FilterAccount) and start.is_whole(parts, SLACK)
