"""Sourdine: private statistics, each with its cost in privacy and its distance from the truth.

The packages, the lowest layer first; each imports only those listed before it:

================  ==============================================================================
``data``          public data for examples
``storage``       an append-only journal over a file, SQLite or PostgreSQL
``exact``         exact rationals, and reals known to any precision
``privacy``       guarantees, composition, amplification, budgets
``calendar``      dates and times as whole numbers
``grid``          the public lattice on which everything numeric lives
``noise``         exact samplers over the operating system's generator
``laws``          whole distributions, as evidence for every claim
``frames``        any frame, file or engine to exact counts over public cells
``results``       `Release`, tables, number formats, JSON, charts
``curator``       what a column holds, for the person who holds the data
``parameters``    declaration and parsing of parameters
``mechanisms``    the primitives, each with release, law, guarantee and error
``central``       means, histograms, quantiles by a central curator
``local``         answers randomised before they leave a person's device
``adaptive``      answers that stay valid when the next question depends on the last one
``audit``         claims checked by machine
``questions``     every statistic by name
``plan``          cost and error before anything is released
``session``       one budget for many answers, with a ledger
``reports``       reports of everything released, and entries for a registry
``client``        the same calls on data held by a server
``survey``        a survey whose answers are randomised in the browser
``server``        an HTTP API and web pages
``cli``           the command line
================  ==============================================================================
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError
from sourdine.version import __version__

if TYPE_CHECKING:
    from sourdine import (
        adaptive,
        audit,
        central,
        client,
        curator,
        data,
        exact,
        frames,
        laws,
        local,
        mechanisms,
        noise,
        plan,
        privacy,
        questions,
        reports,
        session,
    )
    from sourdine.answers import Release
    from sourdine.client import Remote
    from sourdine.curator import inspect
    from sourdine.frames.frame import Frame
    from sourdine.frames.reading import Reading
    from sourdine.grid import Grid
    from sourdine.parameters.question import function
    from sourdine.plan import explain
    from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Budget, Guarantee, Relation
    from sourdine.questions import ask
    from sourdine.session import Session

    # Statistics are found by name (`__getattr__`); these lines are for type checkers and editors.
    cdf = function(central.Cdf)
    correlation = function(central.Correlation)
    count = function(central.Count)
    covariance = function(central.Covariance)
    describe = function(central.Describe)
    histogram = function(central.Histogram)
    mean = function(central.Mean)
    median = function(central.Median)
    mode = function(central.Mode)
    proportion = function(central.Proportion)
    quantile = function(central.Quantile)
    quantiles = function(central.Quantiles)
    regression = function(central.Regression)
    sql = central.sql.sql
    std = function(central.Std)
    sum = function(central.Sum)  # noqa: A001 - the statistic
    table = function(central.Table)
    variance = function(central.Variance)

_PACKAGES = (
    "adaptive", "audit", "central", "client", "curator", "data", "exact", "frames", "laws", "local",
    "mechanisms", "noise", "plan", "privacy", "questions", "reports", "session",
)  # fmt: skip
_PROMISES = ("ADD_REMOVE", "LOCAL", "SUBSTITUTE", "Budget", "Guarantee", "Relation")
_NAMES = {
    **dict.fromkeys(_PROMISES, "privacy"), "Frame": "frames", "Grid": "grid", "ask": "questions",
    "inspect": "curator", "explain": "plan", "Reading": "frames", "Release": "answers",
    "Remote": "client", "Session": "session",
}  # fmt: skip

__all__ = [
    "ADD_REMOVE", "LOCAL", "SUBSTITUTE", "Budget", "BudgetExceededError", "Frame", "Grid",
    "Guarantee", "ParameterError", "ParameterTypeError", "Reading", "Relation", "Release", "Remote",
    "Session", "SourdineError", "__version__", "adaptive", "ask", "audit", "cdf", "central",
    "client", "correlation", "count", "covariance", "curator", "data", "describe", "exact",
    "explain", "frames", "histogram", "inspect", "laws", "local", "mean", "mechanisms", "median",
    "mode", "noise", "plan", "privacy", "proportion", "quantile", "quantiles", "questions",
    "regression", "reports", "session", "sql", "std", "sum", "table", "variance",
]  # fmt: skip


_ELSEWHERE = {
    "average": "mean", "avg": "mean", "var": "variance", "stdev": "std", "hist": "histogram",
    "percentile": "quantile", "percentiles": "quantiles", "corr": "correlation",
}  # fmt: skip
"""What statistics are called in other libraries."""


def __getattr__(name: str) -> Any:
    """Load a package when it is first asked for, so that ``import sourdine`` stays quick."""
    if name in _PACKAGES:
        return import_module(f"sourdine.{name}")
    if name in _NAMES:
        found = globals()[name] = getattr(import_module(f"sourdine.{_NAMES[name]}"), name)
        return found
    if not name.startswith("_"):
        functions = import_module("sourdine.questions").FUNCTIONS
        if name in functions:
            globals()[name] = functions[name]
            return functions[name]
    text = f"module 'sourdine' has no attribute {name!r}"
    if name in _ELSEWHERE:
        text = f"{text}. Did you mean {_ELSEWHERE[name]!r}?"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])  # Python adds "Did you mean"


def __dir__() -> list[str]:
    return sorted(__all__)
