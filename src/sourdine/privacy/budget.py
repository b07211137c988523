"""A total that nobody can overspend."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import exp_neg, given, positive
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.printing import shown
from sourdine.privacy.relation import SUBSTITUTE, Relation

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["Budget"]

_GRID_BITS = 256


class Budget:
    r"""An epsilon and a delta to spend, by sequential composition, under one relation.

    Parameters
    ----------
    epsilon
        The total, above 0. A float means the decimal it prints.
    delta
        The total delta, from 0 to below 1.
    relation
        Which inputs are neighbours. A promise under ADD_REMOVE enters a SUBSTITUTE budget at twice
        its epsilon; no other change is possible.

    Notes
    -----
    *Claim*: a request that would pass the total is refused and spends nothing, whatever the number
    of threads. *Checked by* ``test_threads_spend_exactly_the_total``.

    *Claim*: sums are exact while their denominator is at most :math:`2^{256}` and are otherwise
    rounded up to a multiple of :math:`2^{-256}`, so a request costs the same work however many came
    before. *Checked by* ``test_work_does_not_grow``.

    A budget cannot be copied or pickled, nor spent in a forked process, for a copy could be spent
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
    epsilon 0, one record replaced
    """

    __slots__ = ("_delta", "_epsilon", "_lock", "_process", "_total")

    def __init__(
        self, epsilon: Number, delta: Number = 0, relation: Relation | str = SUBSTITUTE
    ) -> None:
        self._total = Guarantee(positive(epsilon, "epsilon"), delta, relation)
        if not self._total.is_private:
            raise ParameterError(
                "delta",
                "be below 1",
                given(delta),
                "Type {delta}, or less than one over the number of records.",
                delta=0,
            )
        self._epsilon = self._delta = Fraction(0)
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def total(self) -> Guarantee:
        """What there was to spend."""
        return self._total

    @property
    def spent(self) -> Guarantee:
        """What has been spent."""
        with self._lock:
            return Guarantee(self._epsilon, self._delta, self._total.relation)

    @property
    def remaining(self) -> Guarantee:
        """What is left."""
        spent, total = self.spent, self._total
        return Guarantee(
            total.exact_epsilon() - spent.exact_epsilon(),
            total.delta - spent.delta,
            total.relation,
        )

    def can_spend(self, guarantee: Guarantee) -> bool:
        """Whether `spend` would accept the guarantee now."""
        try:
            cost = self._cost(guarantee)
        except (ParameterError, BudgetExceededError):
            return False
        return cost.covers(self.remaining)

    def spend(self, guarantee: Guarantee, label: str = "") -> Guarantee:
        """Spend the guarantee, or raise and spend nothing.

        Parameters
        ----------
        guarantee
            What the computation promises; ask before it runs.
        label
            What it is for, to be named in the refusal.

        Returns
        -------
        Guarantee
            What was charged, under the relation of the budget.

        Raises
        ------
        BudgetExceededError
            More is asked than is left, or the guarantee is infinite.
        ParameterError
            The guarantee says nothing under the relation of the budget.

        Examples
        --------
        >>> Budget(1).spend(Guarantee(2), label="mean of age")
        Traceback (most recent call last):
        sourdine.errors.BudgetExceededError: guarantee of 'mean of age' must be at most what is left (epsilon 1, delta 0), got epsilon 2, one record replaced. Type epsilon=1 or less.
        """  # noqa: E501
        cost = self._cost(guarantee)
        with self._lock:
            epsilon, delta = self._epsilon + cost.exact_epsilon(), self._delta + cost.delta
            most, most_delta = self._total.exact_epsilon(), self._total.delta
            if epsilon <= most and delta <= most_delta:
                self._epsilon = min(_on_grid(epsilon), most)
                self._delta = min(_on_grid(delta), most_delta)
                return cost
            left = Guarantee(most - self._epsilon, most_delta - self._delta, cost.relation)
        hint, tries = _what_to_type(guarantee, cost, left)
        raise BudgetExceededError(
            f"guarantee of {label!r}" if label else "guarantee",
            f"be at most what is left (epsilon {shown(left.exact_epsilon(), up=False)}, delta "
            f"{shown(left.delta, up=False)})",
            str(guarantee) if cost is guarantee else f"{guarantee} ({cost})",
            hint,
            **tries,
        )

    def _cost(self, guarantee: Guarantee) -> Guarantee:
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "a budget",
                "be spent in the process that made it",
                "a forked one",
                "Spend before the fork, or give each process a budget of its own.",
            )
        if not Guarantee.read(guarantee).is_finite:
            raise BudgetExceededError(
                "guarantee",
                "be finite",
                str(guarantee),
                "Draw from the system's source, not from a seeded one.",
            )
        return guarantee.under(self._total.relation)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ParameterTypeError(
            "a budget",
            "be one object",
            "a request to copy it",
            "Pass the budget itself, for a copy could be spent again.",
        )

    def __repr__(self) -> str:
        return f"<Budget: {self.spent} spent of {self._total}>"


def _on_grid(x: Fraction) -> Fraction:
    grid = 1 << _GRID_BITS
    return x if x.denominator <= grid else Fraction(math.ceil(x * grid), grid)


def _what_to_type(
    asked: Guarantee, cost: Guarantee, left: Guarantee
) -> tuple[str, dict[str, Fraction]]:
    """Return a hint that names an epsilon and a delta that fit, in the relation that was asked."""
    epsilon, delta = left.exact_epsilon(), left.delta
    if epsilon == 0:
        return "Nothing is left: open another budget, whose total comes on top of this one's.", {}
    if asked.relation is not cost.relation:
        falls = exp_neg(asked.exact_epsilon())
        epsilon, delta = epsilon / 2, (delta * falls / (1 + falls)).below() if delta else delta
    tries = {}
    if cost.epsilon > left.epsilon:
        tries["epsilon"] = Fraction(shown(epsilon, up=False))
    if cost.delta > left.delta:
        tries["delta"] = Fraction(shown(delta, up=False))
    return f"Type {' and '.join(f'{{{name}}}' for name in tries)} or less.", tries
