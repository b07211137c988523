"""Every question that can be asked, by name: their schema, parser and methods.

A form, a request or a ledger's line holds a question as JSON; `read` makes it a typed question
again and `sourdine.ask` releases it. `Statistics` is what a session, a plan and a server have in
common.

Examples
--------
>>> question = read({"statistic": "mean", "bounds": [0, 120], "epsilon": 0.5, "column": "age"})
>>> question.epsilon
Fraction(1, 2)
>>> sorted(schema()["$defs"])[:3]
['cdf', 'correlation', 'count']
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sourdine.central import (
    Cdf,
    Correlation,
    Count,
    Covariance,
    Describe,
    Histogram,
    Mean,
    Median,
    Mode,
    Proportion,
    Quantile,
    Quantiles,
    Regression,
    Sql,
    Statistic,
    Std,
    Sum,
    Table,
    Variance,
)
from sourdine.central.sql import sql
from sourdine.errors import ParameterError, ParameterTypeError, close_matches
from sourdine.exact import given
from sourdine.parameters import question
from sourdine.parameters.question import Question, QuestionMethod

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.results.release import Release


R = TypeVar("R")


class Statistics(ABC, Generic[R]):
    """Every statistic as a method, with its own signature; what it returns depends on the class."""

    __slots__ = ()

    count = QuestionMethod(Count)
    sum = QuestionMethod(Sum)
    mean = QuestionMethod(Mean)
    variance = QuestionMethod(Variance)
    std = QuestionMethod(Std)
    proportion = QuestionMethod(Proportion)
    histogram = QuestionMethod(Histogram)
    quantiles = QuestionMethod(Quantiles)
    quantile = QuestionMethod(Quantile)
    median = QuestionMethod(Median)
    cdf = QuestionMethod(Cdf)
    mode = QuestionMethod(Mode)
    covariance = QuestionMethod(Covariance)
    correlation = QuestionMethod(Correlation)
    regression = QuestionMethod(Regression)
    table = QuestionMethod(Table)
    sql = QuestionMethod(Sql)

    @abstractmethod
    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> R:
        """Act on a question."""


STATISTICS: dict[str, type[Statistic]] = {
    name: method.statistic
    for name, method in vars(Statistics).items()
    if isinstance(method, QuestionMethod)
}
"""The class of each statistic, by the name that is typed."""

QUESTIONS: dict[str, type[Statistic]] = {**STATISTICS, Describe.kind: Describe}
"""What is asked by a function, a session or a server: the statistics, and a description."""

FUNCTIONS: dict[str, Callable[..., Release]] = {
    **{name: question.function(cls) for name, cls in QUESTIONS.items()},
    Sql.kind: sql,
}
"""The functions of the package: ``sourdine.mean`` and the others."""


def read(asked: Mapping[str, Any] | str) -> Statistic:
    """Return the question that JSON holds, or raise one structured error.

    Parameters
    ----------
    asked
        The name as ``"statistic"`` and the parameters, as a dict or as the text of one.
    """
    if isinstance(asked, str):
        try:
            asked = json.loads(asked)
        except ValueError:
            raise ParameterError(
                "the question", "be a JSON object", given(asked),
                'Use {"statistic": "count", "epsilon": 1}.',
            ) from None  # fmt: skip
    name, typed = apart(asked)
    return question.read(named(name), typed)


def ask(data: object, question: Statistic | Mapping[str, Any] | str) -> Release:
    """Release the answer to a question about data.

    Parameters
    ----------
    data
        The data.
    question
        The question, or what `read` makes one of: that of a release, a form or a ledger's line.

    Examples
    --------
    >>> release = ask([20, 30, 40] * 1000, Mean(bounds=(0, 120), step=1, epsilon=1))
    >>> abs(release.value - 30) < 2
    True
    >>> again = ask([20, 30, 40] * 1000, release.to_dict()["question"])
    >>> again.mechanism == release.mechanism
    True
    """
    asked = question if isinstance(question, Statistic) else read(question)
    return asked.release(data)


def apart(asked: object) -> tuple[object, dict[str, Any]]:
    """Return the name and the parameters of a question that JSON holds."""
    if not isinstance(asked, Mapping):
        raise ParameterTypeError(
            "the question", "be a JSON object", given(asked), "Write an object."
        )
    return asked.get("statistic"), {k: v for k, v in asked.items() if k != "statistic"}


def named(name: object) -> type[Statistic]:
    """Return the class of the statistic with a name, ``describe`` among them, or refuse the name.

    Examples
    --------
    >>> named("mean").kind
    'mean'
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise unknown_statistic(name)
    return QUESTIONS[name]


def unknown_statistic(name: object) -> ParameterError:
    """Return the error for a name that no statistic has."""
    meant = close_matches(str(name), list(STATISTICS), 1) or ["count"]
    return ParameterError(
        "statistic", f"be one of {', '.join(STATISTICS)}", given(name), statistic=meant[0]
    )


def schema() -> dict[str, Any]:
    """Return one JSON Schema of every question."""
    return question.schema(STATISTICS)
