"""How wide the intervals of a round will be, before anybody answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import integer, number
from sourdine.laws.normal import gaussian_quantile
from sourdine.local.reports import influence
from sourdine.local.rounds.costs import several
from sourdine.privacy.printing import shown
from sourdine.release import Sheet, Shown, read_confidence

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.local.table.schema import Schema

__all__ = ["SurveyPlan", "plan"]

INVENTED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan(Shown):
    """What so many people will tell in each round.

    Parameters
    ----------
    schema
        What is asked.
    n
        How many people answer each round.
    confidence
        The probability with which intervals hold.
    halves
        For each column how far from its estimate the share of a category may be: of a rare one,
        and of one that half of the people have.
    moved
        For each column by how much 1 % of invented records can move a share.
    """

    schema: Schema
    n: int
    confidence: float
    halves: dict[str, tuple[float, float]]
    moved: dict[str, float]

    def sheet(self) -> Sheet:
        """Return what is printed."""
        lines = [
            (name, f"± {rare:.3f}", f"± {half:.3f}", f"{self.moved[name]:.3f}")
            for name, (rare, half) in self.halves.items()
        ]
        costs = self.schema.costs()
        notes = [
            ("people", f"{self.n} in each round, {100 * self.confidence:g} % intervals"),
            ("one round", str(costs.one)),
            (f"{costs.rounds} rounds", str(self.schema.guarantee)),
            ("stays", f"epsilon {shown(costs.stays.exact_epsilon())}, if the answers never change"),
            ("invented", "by how much 1 % of invented records can move a share; no interval says"),
        ]
        return Sheet(
            heads=("column", "a rare answer", "one of a half", "invented"), lines=lines, notes=notes
        )


def plan(
    schema: Schema,
    *,
    n: int | None = None,
    error: Number | None = None,
    confidence: Number = 0.95,
) -> SurveyPlan:
    r"""Return which intervals n people give in each round, or how many people an error takes.

    .. math:: z \sqrt{\frac{f p(1-p) + (1-f) q(1-q)}{n (p-q)^2}}

    at the shares :math:`f = 0` and :math:`\frac12`, for all columns; the intervals of a survey come
    near these for more than some hundred people (``test_the_plan_is_kept``).

    Parameters
    ----------
    schema
        What is asked, with its ``rounds``.
    n
        How many people answer each round.
    error
        In place of it, how far off a share may be, in every column.
    confidence
        The probability with which an interval holds.

    Examples
    --------
    >>> from sourdine.local.table import Flag, Schema
    >>> survey = Schema(smokes=Flag(), epsilon=2, rounds=52)
    >>> print(plan(survey, n=2000).sheet().text().split("stays")[0].rstrip())
    column  a rare answer  one of a half  invented
    smokes        ± 0.087        ± 0.087     0.041
    people     2000 in each round, 95 % intervals
    one round  epsilon 0.5, any two inputs of one person
    52 rounds  epsilon 2, any two histories of one person that change alike
    >>> plan(survey, error=0.05).n
    6020
    """
    if (n is None) == (error is None):
        raise ParameterError(
            "n",
            "be given, or error in its place",
            "neither" if n is None else "both",
            "Type {n} or {error}.",
            n=1000,
            error=0.05,
        )
    parts, beta = several(schema).parts("report"), read_confidence(confidence)
    z, weights = gaussian_quantile(beta), schema.weights
    share = {
        name: float(weights[name] / sum(weights.values())) if schema.method == "sample" else 1.0
        for name in parts
    }
    spread = {name: _spread(part.answer, share[name]) for name, part in parts.items()}
    if error is None:
        people = integer(n, "n", least=1)
    else:
        near = float(number(error, "error", above=0, most=1, example=0.05))
        people = ceil(max(map(max, spread.values())) * (z / near) ** 2)
    return SurveyPlan(
        schema=schema,
        n=people,
        confidence=1 - beta,
        halves={c: (z * sqrt(a / people), z * sqrt(b / people)) for c, (a, b) in spread.items()},
        moved={name: INVENTED * influence(part.answer) for name, part in parts.items()},
    )


def _spread(oracle: Any, asked: float) -> tuple[float, float]:  # noqa: ANN401
    """Return n times the variance of a share of 0, and of a half, if so many are asked."""
    p, q = oracle.chances
    rare, own = q * (1 - q), p * (1 - p)
    scale = asked * (p - q) ** 2
    return rare / scale, (rare + own) / 2 / scale
