"""Every question that can be asked, by name: their schema, their reader, their faces.

A form, a request or a ledger's line holds a question as JSON; `read` makes it a typed question
again and `sourdine.ask` releases it. `Statistics` is what a session, a plan and a server have in
common.

Examples
--------
>>> question = read({"statistic": "mean", "bounds": [0, 120], "epsilon": 0.5, "column": "age"})
>>> question.epsilon
Fraction(1, 2)
>>> sorted(schema()["$defs"])[:3]
['cdf', 'count', 'histogram']
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from sourdine import question
from sourdine.central import (
    Cdf,
    Count,
    Histogram,
    Mean,
    Median,
    Mode,
    Proportion,
    Quantile,
    Quantiles,
    Statistic,
    Sum,
    Table,
    Variance,
    ask,
)
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.question import Face, Question

__all__ = ["STATISTICS", "Statistics", "ask", "named", "read", "schema"]

R = TypeVar("R")


class Statistics(ABC, Generic[R]):
    """Every statistic as a method, with its own signature; what comes back is up to the face."""

    __slots__ = ()

    count = Face(Count)
    sum = Face(Sum)
    mean = Face(Mean)
    variance = Face(Variance)
    proportion = Face(Proportion)
    histogram = Face(Histogram)
    quantiles = Face(Quantiles)
    quantile = Face(Quantile)
    median = Face(Median)
    cdf = Face(Cdf)
    mode = Face(Mode)
    table = Face(Table)

    @abstractmethod
    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> R:
        """Do with a question what this face does."""


STATISTICS: dict[str, type[Statistic]] = {
    name: face.statistic for name, face in vars(Statistics).items() if isinstance(face, Face)
}
"""The class of each statistic, by the name that is typed."""


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
                "the question", "be JSON", "a text that is none", "Write an object."
            ) from None
    if not isinstance(asked, Mapping):
        raise ParameterTypeError(
            "the question", "be an object of parameters", given(asked), "Write an object."
        )
    typed = {key: value for key, value in asked.items() if key != "statistic"}
    return question.read(named(asked.get("statistic")), typed)


def named(name: object) -> type[Statistic]:
    """Return the class of the statistic with a name, or refuse the name.

    Examples
    --------
    >>> named("mean").kind
    'mean'
    """
    if not isinstance(name, str) or name not in STATISTICS:
        raise ParameterError(
            "statistic",
            f"be one of {', '.join(STATISTICS)}",
            given(name),
            "Type {statistic}.",
            statistic="count",
        )
    return STATISTICS[name]


def schema() -> dict[str, Any]:
    """Return one JSON Schema of every question."""
    return question.schema(STATISTICS)
