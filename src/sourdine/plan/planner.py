"""From what a person types to a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from sourdine.central import Statistic
from sourdine.central.sharing import LEAST, balanced
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, positive
from sourdine.plan.errors import number
from sourdine.plan.plans import Plan, Plans
from sourdine.question import Question, read
from sourdine.questions import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sourdine.exact.parameters import Number
    from sourdine.plan.errors import Error
    from sourdine.privacy import Relation

__all__ = ["Planner"]


class Planner(Statistics[Plan]):
    """Every statistic as a method that plans it; a session's has some parameters fixed.

    Parameters
    ----------
    remaining
        The epsilon that is left, which a plan without epsilon and error means.
    relation, unit, rows
        What every statistic shall have; its own defaults, or what is typed, if left out.

    Examples
    --------
    >>> print(Planner(2, relation="substitute").count())
    statistic  epsilon  error (95 %)
    count            2             1
    how   count, discrete Laplace noise
    left  epsilon 2
    """

    __slots__ = ("_fixed", "_remaining")

    def __init__(
        self,
        remaining: Number | None = None,
        *,
        relation: Relation | str | None = None,
        unit: str | None = None,
        rows: int | None = None,
    ) -> None:
        self._remaining = None if remaining is None else at_least(remaining, "remaining", 0)
        self._fixed = {"relation": relation, "unit": unit, "rows": rows}

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Plan:
        said = {**self._fixed, **{name: x for name, x in typed.items() if x is not None}}
        if self._remaining and "epsilon" not in said and "error" not in said:
            said["epsilon"] = self._remaining
        return self.ask(read(cls, said))

    def ask(self, question: Question) -> Plan:
        """Plan a question."""
        if not isinstance(question, Statistic):
            raise ParameterTypeError(
                "question",
                "be one about a column",
                given(question),
                "Pass sourdine.questions.read(...).",
            )
        return Plan(question=question, remaining=self._remaining)

    def together(
        self, plans: Iterable[Plan | Statistic], *, epsilon: Number | None = None
    ) -> Plans:
        """Share one total among several statistics.

        Parameters
        ----------
        plans
            Plans, each with the error it is wanted with; or questions, wanted with the error that
            they have.
        epsilon
            The total. Without it (and outside a session) each keeps its epsilon, and the sum is
            the answer. With it all errors are the same multiple of what was wanted, the smallest
            that the total allows; each share is rounded down to four digits.

        Examples
        --------
        >>> from sourdine import plan
        >>> wanted = [plan.count(error=10), plan.sum(bounds=(0, 100), step=1, error=1000)]
        >>> [float(p.epsilon) for p in plan.together(wanted)]
        [0.2844, 0.2995]
        >>> [float(p.epsilon) for p in plan.together(wanted, epsilon=2)]
        [0.9741, 1.025]
        """
        listed = tuple(plan if isinstance(plan, Plan) else self.ask(plan) for plan in plans)
        if not listed:
            raise ParameterError(
                "plans", "hold at least one", "none", "Pass a list, such as [plan.count(error=5)]."
            )
        _require_one_promise(listed)
        wanted = tuple(plan.error if plan.target is None else plan.target for plan in listed)
        total = self._remaining if epsilon is None else positive(epsilon, "epsilon")
        if total is None:
            return Plans(plans=listed, wanted=wanted)
        errors = [_over(plan, want) for plan, want in zip(listed, wanted, strict=True)]
        shares = balanced(total, errors, [float(plan.epsilon) for plan in listed])
        shared = [
            evolve(plan, question=plan.question.at(share))
            for plan, share in zip(listed, shares, strict=True)
        ]
        return Plans(plans=tuple(shared), wanted=wanted)


def _over(plan: Plan, wanted: Error) -> Callable[[float], float]:
    """Return the error at a share, over the wanted one."""
    return lambda share: max(number(plan.at(share)), LEAST) / max(number(wanted), LEAST)


def _require_one_promise(plans: Sequence[Plan]) -> None:
    """Refuse promises between different neighbours: their epsilons do not add up."""
    for name in ("relation", "rows"):
        found = list(dict.fromkeys(getattr(plan.question, name) for plan in plans))
        if len(found) > 1:
            raise ParameterError(
                name,
                "be one for all plans, for only then do epsilons add up",
                " and ".join(str(getattr(value, "value", value)) for value in found),
                f"Plan all of them with the same {name}.",
            )
