"""`RoundCosts`: what rounds cost a person, by between which histories one asks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine.local.rounds.losses import alike, any_two, stays
from sourdine.privacy import ALIKE, LOCAL, Guarantee
from sourdine.privacy.printing import shown
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.local.rounds.memoised import Memoised
    from sourdine.local.table.schema import Schema

__all__ = ["RoundCosts", "costs", "several"]

NOT_HIDDEN = (
    "in which rounds a (hashed) answer changed: between any two histories {rounds} cost up to "
    "epsilon {any}"
)
KEPT = (
    "by the person alone, in secret: a hash and a response for each column. To lose it and begin "
    "anew costs all again"
)
SENT = (
    "each round the hash and one randomised answer for each column; by the hash, reports of one "
    "person may be told to be of one person"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCosts(Shown):
    """What a survey of several rounds costs one person, all columns together.

    Parameters
    ----------
    schema
        What is asked.
    rounds
        How many rounds have been answered.
    one
        One round: between any two answers.
    stays
        All these rounds, for a person whose answers never change.
    alike
        All these rounds, between two histories whose hashed answers change in the same rounds.
    any
        All these rounds, between any two histories; *when* an answer changes can be seen, so it
        grows with the rounds.
    """

    schema: Schema
    rounds: int
    one: Guarantee
    stays: Guarantee
    alike: Guarantee
    any: Guarantee

    def sheet(self) -> Sheet:
        """Return what is printed: the columns, the costs, what is kept and what is sent."""
        parts = self.schema.parts("report")
        lines = [
            (name, part.column.kind, shown(part.epsilon), str(part.memoised))
            for name, part in parts.items()
        ]
        total = shown(self.schema.epsilon)
        rounds = f"{self.rounds} rounds"
        notes = [
            ("one round", f"{self.one}"),
            (rounds, f"{self.alike}; {total} at most, in however many rounds"),
            ("stays", f"epsilon {_short(self.stays)}, if the answers never change"),
            ("not hidden", NOT_HIDDEN.format(rounds=rounds, any=_short(self.any))),
            ("kept", KEPT),
            ("sent", SENT),
        ]
        if self.schema.method == "sample":
            notes.append(
                ("asked", "each person reports one column, drawn at random, in every round")
            )
        return Sheet(heads=("column", "kind", "one round", "method"), lines=lines, notes=notes)


def costs(schema: Schema, rounds: int | None = None) -> RoundCosts:
    """Return what so many rounds of a survey cost; all of its own if left out.

    Examples
    --------
    >>> from sourdine.local.table import Flag, Schema
    >>> spent = costs(Schema(smokes=Flag(), epsilon=2, rounds=52), 4)
    >>> [shown(g.epsilon) for g in (spent.one, spent.stays, spent.alike, spent.any)]
    ['0.5', '0.979352', '1.61156', '2.03439']
    """
    most = several(schema).rounds or 1
    t = most if rounds is None else integer(rounds, "rounds", least=1, most=most)
    oracles = [part.memoised for part in schema.parts("report").values() if part.memoised]

    def whole(loss: Callable[[Memoised, int], Fraction], times: int) -> Fraction:
        each = [loss(oracle, times) for oracle in oracles]
        return max(each) if schema.method == "sample" else sum(each, Fraction(0))

    return RoundCosts(
        schema=schema,
        rounds=t,
        one=Guarantee(whole(stays, 1), 0, LOCAL),
        stays=Guarantee(whole(stays, t), 0, LOCAL),
        alike=Guarantee(whole(alike, t), 0, ALIKE),
        any=Guarantee(whole(any_two, t), 0, LOCAL),
    )


def several(schema: Schema) -> Schema:
    """Return a schema if it is that of all rounds of a survey."""
    if getattr(schema, "rounds", None) is None:
        raise ParameterError(
            "schema",
            "be that of a survey of several rounds",
            "one of a single round",
            "Type Schema(..., {rounds}).",
            rounds=52,
        )
    return schema


def _short(promise: Guarantee) -> str:
    return shown(promise.exact_epsilon())
