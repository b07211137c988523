r"""What a statistic will cost, or how far off it will be, before anything is spent.

Give an epsilon and read the error, or give an error and read the least epsilon that reaches it;
`together` shares one total among several statistics. Nothing here touches data: every number is a
function of public parameters, so planning is free and may be repeated.

An error is what the answer is off by at most, with probability ``confidence``: the noise, for the
values moved into the bounds. For quantiles it is the error of the rank as a part of n: 0.005 for a
median means an answer between the 49.5th and the 50.5th percentile.

*Claim*: the planned epsilon reaches its error, and a smaller one of four digits does not. *Checked
by* ``test_planned_epsilon_is_the_least``. *Claim*: a plan is for what the function of the same name
does with the same parameters. *Checked by* ``test_a_plan_is_for_what_the_function_releases``.

`guard` and `leaderboard` plan evaluation data that is used again and again: how far scores will be
from the truth after so many answers; `queries` plans a `QueryServer`. `explain` says what an
epsilon means to one person.

===============  ===================================================================================
``explanation``  what an epsilon means to one person: odds, tests and chances
``planner``      from what a person types to a plan
``plans``        `Plan`: what would be released, what it costs, and its error
===============  ===================================================================================
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterTypeError
from sourdine.plan.explanation import explain
from sourdine.plan.planner import Planner
from sourdine.plan.plans import Plan
from sourdine.questions import STATISTICS

__all__ = [
    "Plan", "Planner", "cdf", "correlation", "count", "covariance", "describe", "explain", "guard",
    "histogram", "leaderboard", "mean", "median", "mode", "proportion", "quantile", "quantiles",
    "queries", "regression", "sql", "std", "sum", "table", "together", "variance",
]  # fmt: skip

_FREE = Planner()
together = _FREE.together

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.planning import plan_guard as guard
    from sourdine.adaptive.holdout.planning import plan_leaderboard as leaderboard
    from sourdine.adaptive.holdout.planning import plan_queries as queries

    # Statistics are found by name (`__getattr__`); these lines are for type checkers and editors.
    cdf, count, correlation = _FREE.cdf, _FREE.count, _FREE.correlation
    covariance, regression = _FREE.covariance, _FREE.regression
    histogram, mean, median, mode = _FREE.histogram, _FREE.mean, _FREE.median, _FREE.mode
    proportion, quantile, quantiles = _FREE.proportion, _FREE.quantile, _FREE.quantiles
    sql, std, table, variance = _FREE.sql, _FREE.std, _FREE.table, _FREE.variance
    sum = _FREE.sum  # noqa: A001 - the statistic


def describe(*_: object, **typed: object) -> None:
    """Refuse: a description has many errors, in units that are found with it."""
    del typed
    what = "A plan is not available for a description, whose errors depend on the bounds "
    hint = "Each column gets an equal share of 49/50 of epsilon: plan a mean or a "
    hint += "quantile at that epsilon."
    raise ParameterTypeError("description", f"{what}that it finds.", "", hint)


def __getattr__(name: str) -> Any:
    """Return the plan of a statistic; load those of adaptive answers when they are asked for."""
    if name in STATISTICS:
        found = globals()[name] = getattr(_FREE, name)
        return found
    if name in ("guard", "leaderboard", "queries"):
        from sourdine.adaptive.holdout import planning

        return getattr(planning, f"plan_{name}")
    text = f"module 'sourdine.plan' has no attribute {name!r}"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])  # Python adds "Did you mean"


def __dir__() -> list[str]:
    return sorted({*__all__, *STATISTICS})
