"""From what a person types to a plan."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sourdine.central import Statistic
from sourdine.central.table import LEAST, balanced
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import at_least, given, positive
from sourdine.exact import number as number_of
from sourdine.parameters.question import Question, kept_of, read
from sourdine.parameters.question import typed_values as given_of
from sourdine.plan.plans import Plan, Plans, alike_key, fitted, number
from sourdine.privacy.accounting import Filter, Part, compose
from sourdine.questions import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.exact import Number
    from sourdine.plan.plans import Error
    from sourdine.privacy import Relation


MOST = Fraction(1000)
"""No larger epsilon is looked for where rho is the total."""


LEAST_SHARE = Fraction(1, 10**12)


class Planner(Statistics[Plan]):
    """Every statistic as a method that plans it; a session's has some parameters fixed.

    Parameters
    ----------
    remaining
        What is left: the epsilon that a plan without epsilon and error means, or a filter, of which
        such a plan means the largest epsilon that fits.
    relation, unit, rows
        What every statistic shall have; its own defaults, or what is typed, if left out.

    Examples
    --------
    >>> print(Planner(2, relation="substitute").count())
    statistic  epsilon  error (95%)
    count            2            1
    method     count, discrete Laplace noise
    remaining  epsilon 2
    """

    __slots__ = ("_fixed", "_remaining", "_room")

    def __init__(
        self,
        remaining: Number | Filter | None = None,
        *,
        relation: Relation | str | None = None,
        unit: str | None = None,
        rows: int | None = None,
    ) -> None:
        self._room = remaining if isinstance(remaining, Filter) else None
        self._remaining: Fraction | None = None
        if self._room is None and remaining is not None:
            self._remaining = at_least(remaining, "remaining", 0)
        self._fixed = {"relation": relation, "unit": unit, "rows": rows}

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Plan:
        said = {**kept_of(self._fixed, typed.get("per_person")), **given_of(cls, typed)}
        if "epsilon" in said or "error" in said:
            return self.ask(read(cls, said))
        if self._room is not None:
            return self._largest(cls, said, self._room)
        if self._remaining:
            said["epsilon"] = self._remaining
        return self.ask(read(cls, said))

    def _largest(self, cls: type[Question], said: dict[str, Any], room: Filter) -> Plan:
        """Plan what was asked with the largest epsilon that fits, to six digits."""
        most = room.epsilon or MOST
        plan = self.ask(read(cls, {**said, "epsilon": most}))

        def parts(epsilon: Fraction) -> tuple[Part, ...]:
            try:
                return plan.question.at(epsilon).parts if epsilon <= most else (Part.delta(1),)
            except SourdineError:  # too small for its grid
                return (Part.delta(1),)

        fits = room.largest(parts)
        return evolve(plan, question=plan.question.at(fits)) if fits else plan

    def ask(self, question: Question) -> Plan:
        """Plan a question."""
        if not isinstance(question, Statistic):
            what, hint = "be a question about a column", "Pass sourdine.questions.read(...)."
            raise ParameterTypeError("question", what, given(question), hint)
        return Plan(question=question, remaining=self._remaining, room=self._room)

    def together(
        self,
        plans: Iterable[Plan | Statistic],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
    ) -> Plans:
        """Share one total among several statistics, or see what they cost together.

        Parameters
        ----------
        plans
            Plans, each with the error it is wanted with; or questions, wanted with the error that
            they have.
        epsilon
            The total. Without it (and outside a session) each keeps its epsilon. With it all errors
            are the same multiple of what was wanted, the smallest that the total allows; each share
            is rounded down to four digits.
        delta
            The delta of the total. What all cost together is then certified for a batch that is
            declared before its first answer, and is far below the sum. With delta alone each keeps
            its epsilon. `Session.ask_all` releases such a batch.

        Examples
        --------
        >>> from sourdine import plan
        >>> wanted = [plan.count(error=10), plan.sum(bounds=(0, 100), step=1, error=1000)]
        >>> [float(p.epsilon) for p in plan.together(wanted)]
        [0.2844, 0.2995]
        >>> [float(p.epsilon) for p in plan.together(wanted, epsilon=2)]
        [0.9741, 1.025]
        >>> counts = plan.together([plan.count(epsilon=0.1)] * 100, delta=1e-6)
        >>> float(counts.epsilon), round(counts.certified.upper, 3)
        (10.0, 4.775)
        """
        hint = "Pass a list, such as [plan.count(error=5)]."
        if isinstance(plans, Plan) or not isinstance(plans, Iterable):
            what = "be a list of plans or questions"
            raise ParameterTypeError("plans", what, given(plans), hint)
        listed = tuple(plan if isinstance(plan, Plan) else self.ask(plan) for plan in plans)
        if not listed:
            raise ParameterError("plans", "hold at least one", "", hint)
        _require_one_promise(listed)
        at = Fraction(0) if delta is None else number_of(delta, "delta", above=0, most=1)
        batch = Plans(plans=listed, delta=at, room=self._room)
        if epsilon is not None:
            return _shared(_wanting(batch), positive(epsilon, "epsilon"))
        if self._room is not None:
            own = evolve(batch, delta=at or self._room.delta)
            return own if delta is not None else _within(_wanting(own), self._room)
        if self._remaining is not None:
            return _shared(_wanting(batch), self._remaining, by_sum=True)
        return batch if delta is not None else _wanting(batch)


def _wanting(batch: Plans) -> Plans:
    """Return plans with the error that each is wanted with."""
    wanted = tuple(plan.error if plan.target is None else plan.target for plan in batch.plans)
    return evolve(batch, wanted=wanted)


def _shared(batch: Plans, total: Fraction, *, by_sum: bool = False) -> Plans:
    """Return plans that share a total: by the sum, or with delta by their certified curve."""
    shares = _balanced(batch, total)
    if batch.delta and not by_sum:

        def used(parts: tuple[Part, ...]) -> float:
            return compose(parts).epsilon(batch.delta).upper / float(total)

        shares = fitted(batch.plans, shares, used)
    return _at(batch, shares)


def _within(batch: Plans, room: Filter) -> Plans:
    """Return plans that share what a session with delta has left."""

    def used(parts: tuple[Part, ...]) -> float:
        return float((room.after(parts).share - room.share) / max(room.remaining, LEAST_SHARE))

    most = room.epsilon or Fraction(1)
    return _at(batch, fitted(batch.plans, _balanced(batch, most), used))


def _balanced(batch: Plans, total: Fraction) -> list[Fraction]:
    alike: dict[object, Callable[[float], float]] = {}
    errors = [
        alike.setdefault((alike_key(plan), want), cache(_over(plan, want)))
        for plan, want in zip(batch.plans, batch.wanted, strict=True)
    ]
    return balanced(total, errors, [float(plan.epsilon) for plan in batch.plans])


def _at(batch: Plans, shares: Sequence[Fraction]) -> Plans:
    shared = [
        evolve(plan, question=plan.question.at(share))
        for plan, share in zip(batch.plans, shares, strict=True)
    ]
    return evolve(batch, plans=tuple(shared))


def _over(plan: Plan, wanted: Error) -> Callable[[float], float]:
    """Return the error at a share, over the wanted one."""
    return lambda share: max(number(plan.at(share)), LEAST) / max(number(wanted), LEAST)


def _require_one_promise(plans: Sequence[Plan]) -> None:
    """Refuse promises between different neighbours: their epsilons do not add up."""
    for name in ("relation", "rows"):
        found = list(dict.fromkeys(getattr(plan.question, name) for plan in plans))
        if len(found) > 1:
            what = "be the same for all plans, so that epsilons add up"
            got = " and ".join(str(getattr(value, "value", value)) for value in found)
            raise ParameterError(name, what, got, f"Plan all of them with the same {name}.")
