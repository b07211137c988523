"""Privacy budgets: the rule of every charge, and a budget in memory."""

from __future__ import annotations

import os
from fractions import Fraction
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import exp_neg, positive
from sourdine.privacy.guarantee import ADD_REMOVE, Guarantee, Relation, shown

if TYPE_CHECKING:
    from sourdine.exact import Number


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
            raise BudgetExceededError(
                "a budget",
                "A budget cannot be spent in a forked process.",
                "",
                "Spend before the fork, or share one ledger between processes.",
            )
        with self._lock:
            self._spent = afterwards(self._total, self._spent, Guarantee.read(guarantee), label)
        return guarantee.under(self._total.relation)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ParameterTypeError(
            "a budget",
            "A budget cannot be copied.",
            "",
            "Pass the budget itself: a copy could be spent again.",
        )

    def _repr_html_(self) -> str:
        return f"<span>{self.spent} spent of {self._total}</span>"

    def __repr__(self) -> str:
        return f"<Budget: {self.spent} spent of {self._total}>"


def read_total(epsilon: Number, delta: Number, relation: Relation | str) -> Guarantee:
    total = Guarantee(positive(epsilon, "epsilon"), delta, relation)
    if not total.is_private:
        raise ParameterError(
            "delta",
            "be below 1",
            str(delta),
            "Use {delta}, or less than one over the number of records.",
            delta=0,
        )
    return total


def remaining(total: Guarantee, spent: Guarantee) -> Guarantee:
    epsilon = total.exact_epsilon() - spent.exact_epsilon()
    return Guarantee(epsilon, total.delta - spent.delta, total.relation)


def afterwards(total: Guarantee, spent: Guarantee, asked: Guarantee, label: str = "") -> Guarantee:
    """Return what is spent after a charge (basic composition), or raise.

    *Claim*: the sum is exact while its denominator is at most :math:`2^{256}`, is otherwise
    rounded up to a multiple of :math:`2^{-256}`, and never passes the total; so a charge costs the
    same work however many came before. *Checked by* ``test_work_does_not_grow``.

    Parameters
    ----------
    total, spent
        The total, and what has been charged.
    asked
        The charge, under any relation that can be converted to the total's.
    label
        The purpose, named in the error.

    Examples
    --------
    >>> afterwards(Guarantee(3), Guarantee(2.6), Guarantee(0.5))
    Traceback (most recent call last):
    sourdine.errors.BudgetExceededError: Budget exceeded: requested epsilon=0.5, 0.4 of 3 remaining. Use epsilon=0.4 or less.
    """  # noqa: E501
    require_finite(asked)
    cost, left = asked.under(total.relation), remaining(total, spent)
    for name, wanted, available, whole in (
        ("epsilon", cost.exact_epsilon(), left.exact_epsilon(), total.exact_epsilon()),
        ("delta", cost.delta, left.delta, total.delta),
    ):
        if wanted > available:
            typed = _typed(name, asked, cost, left)
            raise _refusal(name, label, wanted, available, whole, typed)
    both = added(spent, cost)
    return Guarantee(
        min(both.exact_epsilon(), total.exact_epsilon()),
        min(both.delta, total.delta),
        total.relation,
    )


def added(spent: Guarantee, asked: Guarantee) -> Guarantee:
    """Return the sum, under the relation of the first; rounded up as in `afterwards`.

    Examples
    --------
    >>> print(added(Guarantee(2), Guarantee(0.5)))
    epsilon 2.5, one record added or removed
    """
    cost = asked.under(spent.relation)
    return Guarantee(
        _on_grid(spent.exact_epsilon() + cost.exact_epsilon()),
        min(_on_grid(spent.delta + cost.delta), Fraction(1)),
        spent.relation,
    )


def require_finite(asked: Guarantee) -> None:
    """Refuse an infinite cost."""
    if not asked.is_finite:
        raise BudgetExceededError(
            "the cost", "be finite", str(asked), "Draw from the system's source, not a seeded one."
        )


def _on_grid(x: Fraction) -> Fraction:
    return x if x.denominator <= GRID else Fraction(ceil(x * GRID), GRID)


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
    if not whole:
        begin = f"create a total with {name}={shown(wanted)}"
        if name == "delta":  # what is not reserved is spent on composition
            begin += f" and reserve={shown(wanted)}"
        hint, tries = f"The total holds no {name}: {begin}, or use a method without it.", {}
    by = f" by {label!r}" if label else ""
    return BudgetExceededError(
        name,
        f"Budget exceeded{by}: requested {name}={shown(wanted)}, "
        f"{shown(left, up=False)} of {shown(whole)} remaining.",
        shown(wanted),
        hint,
        **tries,
    )
