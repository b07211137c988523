"""Guarantees: epsilon, delta and the neighbouring relation, how they are printed; budgets."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import at_least, exp_neg, fraction, given, integer, positive, probability

if TYPE_CHECKING:
    from sourdine.exact import Number


# ---- Printing numbers, rounded against the user --------------------------------------------------


def shown(x: Fraction, *, up: bool = True) -> str:
    """Return ``x`` to six digits, rounded up (or down)."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    digits = Context(prec=6, rounding=rounding).divide(Decimal(x.numerator), Decimal(x.denominator))
    within_floats = digits == 0 or -300 < digits.adjusted() < 300
    return f"{float(digits):g}" if within_floats else str(digits.normalize())


def percent(share: Fraction, *, up: bool = False) -> str:
    """Return a share in percent, to two decimals, rounded down (or up)."""
    rounded = ceil(share * 10**4) if up else floor(share * 10**4)
    return f"{rounded / 100:g}%"


def typed(x: Fraction) -> str:
    """Return ``x`` as Python code: the decimal with that value, where there is one."""
    if x.denominator == 1:
        return repr(x.numerator)
    decimal = repr(x.numerator / x.denominator).replace("e-0", "e-")
    return decimal if Fraction(decimal) == x else repr(x)


# ---- Neighbouring relations ----------------------------------------------------------------------


class Relation(Enum):
    """What may differ between two inputs that a guarantee keeps indistinguishable.

    An epsilon has a meaning only for a relation: the cells of a histogram move by 1 in total when a
    record is added or removed, and by 2 when one is replaced.

    Examples
    --------
    >>> Relation.SUBSTITUTE.description
    'one record replaced'
    """

    SUBSTITUTE = "substitute"
    """One record takes another value; the number of records is fixed and public."""
    ADD_REMOVE = "add_remove"
    """One record is present or absent; the number of records is private."""
    LOCAL = "local"
    """One person's whole input takes any other value."""
    ALIKE = "alike"
    """One person's answers of several rounds take other values that change in the same rounds."""

    @property
    def description(self) -> str:
        """The relation in plain words, to be printed after an epsilon."""
        return self.describe("record")

    def describe(self, whom: str) -> str:
        """Return the relation in plain words, with another noun in place of "record".

        Examples
        --------
        >>> Relation.ADD_REMOVE.describe("patient with all their rows")
        'one patient with all their rows added or removed'
        """
        return _DESCRIPTIONS[self].format(whom=whom)

    @staticmethod
    def read(x: object, name: str = "relation") -> Relation:
        """Return a relation, given itself or its name.

        Examples
        --------
        >>> Relation.read("local") is LOCAL
        True
        >>> Relation.read("removed")
        Traceback (most recent call last):
        sourdine.errors.ParameterError: relation must be 'substitute', 'add_remove' or 'local', got 'removed'. Use relation='add_remove'.
        """  # noqa: E501
        if isinstance(x, Relation):
            return x
        hint, got = f"Use {{{name}}}.", given(x)
        if not isinstance(x, str):
            must = "be a Relation or its name"
            raise ParameterTypeError(name, must, got, hint, **{name: "add_remove"})
        try:
            return Relation(x)
        except ValueError:
            must = "be 'substitute', 'add_remove' or 'local'"
            raise ParameterError(name, must, got, hint, **{name: "add_remove"}) from None


def protected(unit: str | None, rows: int) -> str:
    """Return the noun that replaces "record" where a person has several."""
    if unit is not None:
        return f"{unit} with all their rows"
    return "record" if rows == 1 else f"person with at most {rows} records"


SUBSTITUTE, ADD_REMOVE = Relation.SUBSTITUTE, Relation.ADD_REMOVE
LOCAL, ALIKE = Relation.LOCAL, Relation.ALIKE

_DESCRIPTIONS = {
    SUBSTITUTE: "one {whom} replaced",
    ADD_REMOVE: "one {whom} added or removed",
    LOCAL: "any two inputs of one person",
    ALIKE: "any two histories of one person that change alike",
}


# ---- Guarantees ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False)
class Guarantee:
    r"""A computation :math:`M` is :math:`(\varepsilon, \delta)`-differentially private.

    .. math:: \Pr[M(x) \in S] \le e^\varepsilon \Pr[M(x') \in S] + \delta

    for every set :math:`S` of outputs and all neighbours :math:`x, x'` of the relation [1]_.

    Parameters
    ----------
    epsilon
        The privacy loss, 0 or more. A float means the decimal it prints, and is kept exactly.
    delta
        From 0 to 1; 0 is pure differential privacy.
    relation
        Which inputs are neighbours.

    Notes
    -----
    *Claim*: nothing is rounded on the way in. *Checked by* ``test_ten_tenths_are_one``.
    *Claim*: printing never shows less than is spent. *Checked by* ``test_shown_rounds_up``.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private
       data analysis", TCC 2006.

    Examples
    --------
    >>> print(Guarantee(1, 1e-6))
    epsilon 1, delta 1e-06, one record added or removed
    >>> Guarantee(0.1).epsilon
    Fraction(1, 10)
    >>> Guarantee(0.1, relation="local")
    Guarantee(0.1, relation='local')
    >>> print(Guarantee.none(SUBSTITUTE))
    NOT PRIVATE (epsilon infinite)
    """

    epsilon: Fraction | float
    delta: Fraction
    relation: Relation

    def __init__(
        self, epsilon: Number, delta: Number = 0, relation: Relation | str = ADD_REMOVE
    ) -> None:
        object.__setattr__(self, "epsilon", at_least(epsilon, "epsilon", 0))
        object.__setattr__(self, "delta", probability(delta, "delta", example=1e-6))
        object.__setattr__(self, "relation", Relation.read(relation))

    @classmethod
    def none(cls, relation: Relation | str = ADD_REMOVE) -> Guarantee:
        """Return the empty guarantee, that of a draw from a seeded source: epsilon is infinite."""
        empty = cls(0, 1, relation)
        object.__setattr__(empty, "epsilon", math.inf)
        return empty

    @staticmethod
    def read(
        x: object, name: str = "guarantee", relation: Relation | str = ADD_REMOVE
    ) -> Guarantee:
        """Return ``x`` if it is a guarantee; the hint of an error is under ``relation``."""
        if not isinstance(x, Guarantee):
            example = Guarantee(1, relation=relation)
            hint = f"Use {{{name}}}."
            raise ParameterTypeError(name, "be a Guarantee", given(x), hint, **{name: example})
        return x

    @property
    def is_finite(self) -> bool:
        """Whether epsilon is finite."""
        return isinstance(self.epsilon, Fraction)

    @property
    def is_private(self) -> bool:
        """Whether there is any guarantee: epsilon is finite and delta below 1."""
        return self.is_finite and self.delta < 1

    @property
    def is_pure(self) -> bool:
        """Whether epsilon is finite and delta is 0."""
        return self.is_finite and self.delta == 0

    def exact_epsilon(self) -> Fraction:
        """Return epsilon, or raise if it is infinite.

        Examples
        --------
        >>> Guarantee.none().exact_epsilon()
        Traceback (most recent call last):
        sourdine.errors.ParameterError: epsilon must be finite, got NOT PRIVATE (epsilon infinite). Draw from the system's source, not from a seeded one.
        """  # noqa: E501
        if isinstance(self.epsilon, Fraction):
            return self.epsilon
        hint = "Draw from the system's source, not from a seeded one."
        raise ParameterError("epsilon", "be finite", str(self), hint)

    def covers(self, other: Guarantee) -> bool:
        """Whether this guarantee implies the other: same relation, no more epsilon, no more delta.

        Examples
        --------
        >>> Guarantee(1).covers(Guarantee(2, 1e-6)), Guarantee(2).covers(Guarantee(1, 1e-6))
        (True, False)
        """
        no_more = self.epsilon <= other.epsilon and self.delta <= other.delta
        return no_more and self.relation is other.relation

    def group(self, size: int) -> Guarantee:
        r"""Return what holds between inputs ``size`` steps of the relation apart.

        .. math:: \left(k\varepsilon,\ \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\right)

        with delta rounded up and at most 1 (C. Dwork, A. Roth, "The algorithmic foundations of
        differential privacy", 2014, theorem 2.2; the sum :math:`\sum_{i<k} e^{i\varepsilon}` in
        place of their :math:`k e^{(k-1)\varepsilon}`). *Checked by* ``test_group_rounds_up``.

        Examples
        --------
        >>> print(Guarantee(0.5).group(3))
        epsilon 1.5, one record added or removed
        """
        k = integer(size, "size", least=1)
        if not isinstance(self.epsilon, Fraction):
            return self
        return Guarantee(k * self.epsilon, _grown(self.delta, self.epsilon, k), self.relation)

    def under(self, relation: Relation | str) -> Guarantee:
        r"""Return what this guarantee is worth under another relation.

        To replace a record is to remove it and add another, so :math:`(\varepsilon, \delta)` under
        ADD_REMOVE is :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)` under SUBSTITUTE. No other
        change of relation follows from the guarantee alone. *Checked by* ``test_under``.

        Examples
        --------
        >>> print(Guarantee(1, relation=ADD_REMOVE).under(SUBSTITUTE))
        epsilon 2, one record replaced
        """
        wanted = Relation.read(relation)
        if wanted is self.relation:
            return self
        if (self.relation, wanted) == (ADD_REMOVE, SUBSTITUTE):
            twice = self.group(2)
            if not isinstance(twice.epsilon, Fraction):
                return Guarantee.none(wanted)
            return Guarantee(twice.epsilon, twice.delta, wanted)
        others = "ADD_REMOVE or SUBSTITUTE" if self.relation is ADD_REMOVE else self.relation.name
        hint = (
            f"A guarantee for {self.relation.description} does not bound {wanted.description}. Ask "
            f"the mechanism for its guarantee under {wanted.name}."
        )
        raise ParameterError("relation", f"be {others}", wanted.name, hint)

    def to_dict(self) -> dict[str, str]:
        """Return strings for JSON; the numbers are exact, such as ``"1/3"`` or ``"inf"``.

        Denominators of more than 600 digits are rounded up to that many.

        Examples
        --------
        >>> Guarantee(0.1).to_dict()
        {'epsilon': '1/10', 'delta': '0', 'relation': 'add_remove'}
        """
        epsilon, delta = self.epsilon, on_grid(self.delta, 1 << 2048)
        if isinstance(epsilon, Fraction):
            epsilon = on_grid(epsilon, 1 << 2048)
        return {"epsilon": str(epsilon), "delta": str(delta), "relation": self.relation.value}

    @property
    def decimal(self) -> dict[str, float | None]:
        """The nearest floats, where exact numbers are not needed; None for no guarantee.

        Examples
        --------
        >>> Guarantee(0.05).decimal
        {'epsilon': 0.05, 'delta': 0.0}
        """
        epsilon = float(self.epsilon) if self.is_finite else None
        return {"epsilon": epsilon, "delta": float(self.delta)}

    @classmethod
    def from_dict(cls, record: dict[str, str]) -> Guarantee:
        """Return the guarantee that `to_dict` wrote."""
        relation = Relation.read(record["relation"])
        if record["epsilon"] == "inf":
            return cls.none(relation)
        return cls(fraction(record["epsilon"]), fraction(record["delta"]), relation)

    def __repr__(self) -> str:
        relation = self.relation.value
        if not isinstance(self.epsilon, Fraction):
            return f"Guarantee.none({relation!r})"
        delta = f", {typed(self.delta)}" if self.delta else ""
        last = "" if self.relation is ADD_REMOVE else f", relation={relation!r}"
        return f"Guarantee({typed(self.epsilon)}{delta}{last})"

    def _repr_html_(self) -> str:
        return f"<span>{self}</span>"

    def __str__(self) -> str:
        return self.told()

    def told(self, whom: str = "record") -> str:
        """Return the guarantee in words, with another noun in place of "record".

        Examples
        --------
        >>> Guarantee(1, relation=SUBSTITUTE).told("patient with all their rows")
        'epsilon 1, one patient with all their rows replaced'
        """
        if not isinstance(self.epsilon, Fraction):
            return "NOT PRIVATE (epsilon infinite)"
        delta = f", delta {shown(self.delta)}" if self.delta else ""
        text = f"epsilon {shown(self.epsilon)}{delta}, {self.relation.describe(whom)}"
        return text if self.is_private else f"NOT PRIVATE ({text})"


def _grown(delta: Fraction, epsilon: Fraction, k: int) -> Fraction:
    r"""Return :math:`\delta \sum_{i<k} e^{i\varepsilon}`, rounded up, at most 1."""
    if k == 1 or delta == 0:
        return delta
    if epsilon == 0:
        return min(k * delta, Fraction(1))
    if (k - 1) * epsilon >= math.ceil(1 / delta).bit_length():  # the last term alone exceeds 1
        return Fraction(1)
    growth = (1 - exp_neg(k * epsilon)) / (1 - exp_neg(epsilon)) / exp_neg((k - 1) * epsilon)
    return min((delta * growth).above(), Fraction(1))


# ---- Budgets: the rule of every charge, and a budget in memory -----------------------------------


GRID = 1 << 256


class Budget:
    r"""An epsilon and a delta to spend, by sequential composition, under one relation.

    A `sourdine.Session` charges its ledger by the same rule (`afterwards`).

    Parameters
    ----------
    epsilon
        The total, above 0. A float means the decimal it prints.
    delta
        The total delta, from 0 to below 1.
    relation
        Which inputs are neighbours. A guarantee under ADD_REMOVE is charged to a SUBSTITUTE budget
        at twice its epsilon; no other change of relation is possible.

    Notes
    -----
    *Claim*: a request that would pass the total is refused and spends nothing, whatever the number
    of threads. *Checked by* ``test_threads_spend_exactly_the_total``.

    A budget cannot be copied or pickled, nor spent in a forked process, since a copy could be spent
    again. *Checked by* ``test_budget_cannot_be_copied`` and ``test_a_fork_cannot_spend``.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan, "Privacy odometers and filters", NeurIPS 2016:
       a fixed total holds even when each request is chosen after seeing the earlier answers.

    Examples
    --------
    >>> budget = Budget(1)
    >>> for _ in range(10):
    ...     _ = budget.spend(Guarantee(0.1))
    >>> print(budget.remaining)
    epsilon 0, one record added or removed
    """

    __slots__ = ("_lock", "_process", "_spent", "_total")

    def __init__(
        self, epsilon: Number, delta: Number = 0, relation: Relation | str = ADD_REMOVE
    ) -> None:
        self._total = read_total(epsilon, delta, relation)
        self._spent = Guarantee(0, 0, self._total.relation)
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def total(self) -> Guarantee:
        """The total guarantee."""
        return self._total

    @property
    def spent(self) -> Guarantee:
        """The guarantee spent so far."""
        return self._spent

    @property
    def remaining(self) -> Guarantee:
        """The guarantee that is left."""
        return remaining(self._total, self._spent)

    def can_spend(self, guarantee: Guarantee) -> bool:
        """Whether `spend` would accept the guarantee now."""
        try:
            afterwards(self._total, self._spent, Guarantee.read(guarantee))
        except (ParameterError, BudgetExceededError):
            return False
        return os.getpid() == self._process

    def spend(self, guarantee: Guarantee, label: str = "") -> Guarantee:
        """Spend the guarantee, or raise and spend nothing.

        Parameters
        ----------
        guarantee
            The guarantee of the computation; call this before it runs.
        label
            The purpose, named in the error.

        Returns
        -------
        Guarantee
            What was charged, under the relation of the budget.

        Raises
        ------
        BudgetExceededError
            More is requested than is left, or the guarantee is infinite.
        ParameterError
            The guarantee has no meaning under the relation of the budget.

        Examples
        --------
        >>> Budget(1).spend(Guarantee(2), label="mean of age")
        Traceback (most recent call last):
        sourdine.errors.BudgetExceededError: Budget exceeded by 'mean of age': requested epsilon=2, 1 of 1 remaining. Use epsilon=1 or less.
        """  # noqa: E501
        if os.getpid() != self._process:
            must = "A budget cannot be spent in a forked process."
            hint = "Spend before the fork, or share one ledger between processes."
            raise BudgetExceededError("a budget", must, "", hint)
        with self._lock:
            self._spent = afterwards(self._total, self._spent, Guarantee.read(guarantee), label)
        return guarantee.under(self._total.relation)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        hint = "Pass the budget itself: a copy could be spent again."
        raise ParameterTypeError("a budget", "A budget cannot be copied.", "", hint)

    def _repr_html_(self) -> str:
        return f"<span>{self.spent} spent of {self._total}</span>"

    def __repr__(self) -> str:
        return f"<Budget: {self.spent} spent of {self._total}>"


def read_total(epsilon: Number, delta: Number, relation: Relation | str) -> Guarantee:
    total = Guarantee(positive(epsilon, "epsilon"), delta, relation)
    if not total.is_private:
        hint = "Use {delta}, or less than one over the number of records."
        raise ParameterError("delta", "be below 1", str(delta), hint, delta=0)
    return total


def remaining(total: Guarantee, spent: Guarantee) -> Guarantee:
    epsilon = total.exact_epsilon() - spent.exact_epsilon()
    return Guarantee(epsilon, total.delta - spent.delta, total.relation)


def afterwards(total: Guarantee, spent: Guarantee, asked: Guarantee, label: str = "") -> Guarantee:
    """Return what is spent after a charge (basic composition), or raise.

    *Claim*: the sum is exact while its denominator is at most :math:`2^{256}`, is otherwise
    rounded up to a multiple of :math:`2^{-256}`, and never passes the total; so a charge costs the
    same work however many came before. *Checked by* ``test_work_does_not_grow``.
    """
    require_finite(asked)
    cost, left = asked.under(total.relation), remaining(total, spent)
    for name, wanted, available, whole in (
        ("epsilon", cost.exact_epsilon(), left.exact_epsilon(), total.exact_epsilon()),
        ("delta", cost.delta, left.delta, total.delta),
    ):
        if wanted > available:
            raise _refusal(name, label, wanted, available, whole, _typed(name, asked, cost, left))
    both, most = added(spent, cost), total.exact_epsilon()
    return Guarantee(min(both.exact_epsilon(), most), min(both.delta, total.delta), total.relation)


def added(spent: Guarantee, asked: Guarantee) -> Guarantee:
    """Return the sum, under the relation of the first; rounded up as in `afterwards`."""
    cost = asked.under(spent.relation)
    return Guarantee(
        on_grid(spent.exact_epsilon() + cost.exact_epsilon()),
        min(on_grid(spent.delta + cost.delta), Fraction(1)),
        spent.relation,
    )


def require_finite(asked: Guarantee) -> None:
    """Refuse an infinite cost."""
    if not asked.is_finite:
        hint = "Draw from the system's source, not a seeded one."
        raise BudgetExceededError("the cost", "be finite", str(asked), hint)


def on_grid(x: Fraction, grid: int = GRID) -> Fraction:
    """Return a number, rounded up if its denominator is longer than a grid's."""
    return x if x.denominator <= grid else Fraction(ceil(x * grid), grid)


def _typed(name: str, asked: Guarantee, cost: Guarantee, left: Guarantee) -> Fraction:
    """Return what fits, under the requested relation."""
    epsilon, delta = left.exact_epsilon(), left.delta
    if asked.relation is not cost.relation:
        falls = exp_neg(asked.exact_epsilon())
        epsilon, delta = epsilon / 2, (delta * falls / (1 + falls)).below() if delta else delta
    return epsilon if name == "epsilon" else delta


def _refusal(
    name: str, label: str, wanted: Fraction, left: Fraction, whole: Fraction, typed: Fraction
) -> BudgetExceededError:
    hint, tries = f"Use {{{name}}} or less.", {name: Fraction(shown(typed, up=False))}
    if not left:
        hint = "The budget is used up. A new total on the same data adds to what was spent."
        tries = {}
    by = f" by {label!r}" if label else ""
    remains = f"{shown(left, up=False)} of {shown(whole)} remaining"
    if not whole:
        remains = f"but the total has no {name}"
        begin = f"{name}={shown(wanted)}"
        if name == "delta":  # what is not reserved is spent on composition
            begin += f" and reserve={shown(wanted)}"
        hint, tries = f"Open a session with {begin}, or use a method without {name}.", {}
    must = f"Budget exceeded{by}: requested {name}={shown(wanted)}, {remains}."
    return BudgetExceededError(name, must, shown(wanted), hint, **tries)
