"""Sourdine: private statistics that say what they cost and how far they can be from the truth.

The rooms, ground floor first; each imports only those before it:

================  ==============================================================================
``data``          public data for examples
``append_only``   a file that only grows, whoever is killed while writing
``exact``         parameters as exact rationals, reals known to any precision
``privacy``       what is promised: guarantees, composition, amplification, budgets
``grid``          the public lattice on which everything numeric lives
``noise``         exact samplers over the operating system's generator
``laws``          whole distributions, as evidence for every claim
``presentation``  how numbers and pictures are shown
``release``       the answer: a value, its cost, its caveats, as a table, a frame, JSON, a picture
``tally``         any frame or file to exact counts over public cells
``question``      parameters declared once, and read once in every face
``mechanisms``    the primitives, each with four faces: release, law, guarantee, error
``central``       means, histograms, quantiles: what a person publishes
``local``         answers randomised before they leave a person's hands: surveys, tables, densities
``adaptive``      answers that stay true when the next question depends on the last one
``answers``       every kind of answer, to be read back from JSON
``audit``         claims checked by machine
``questions``     every question by name: schema, reader, faces
``plan``          what an answer will cost, before paying
``session``       one budget for many answers, with a ledger
``client``        the same calls on data that lie on a server
================  ==============================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
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
        laws,
        local,
        mechanisms,
        noise,
        plan,
        privacy,
        questions,
        session,
        tally,
    )
    from sourdine.answers import Release
    from sourdine.central.functions import (
        cdf,
        count,
        describe,
        histogram,
        mean,
        median,
        mode,
        proportion,
        quantile,
        quantiles,
        sum,  # noqa: A004 - the statistic
        table,
        variance,
    )
    from sourdine.client import Remote
    from sourdine.curator import check
    from sourdine.grid import Grid
    from sourdine.plan import explain
    from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Budget, Guarantee, Relation
    from sourdine.questions import ask
    from sourdine.session import Session
    from sourdine.tally import Frame, Reading

_ROOMS = (
    "adaptive", "audit", "central", "client", "curator", "data", "exact", "laws", "local",
    "mechanisms", "noise", "plan", "privacy", "questions", "session", "tally",
)  # fmt: skip
_STATISTICS = (
    "cdf", "count", "describe", "histogram", "mean", "median", "mode", "proportion", "quantile",
    "quantiles", "sum", "table", "variance",
)  # fmt: skip
_PROMISES = ("ADD_REMOVE", "LOCAL", "SUBSTITUTE", "Budget", "Guarantee", "Relation")
_NAMES = {
    **dict.fromkeys(_STATISTICS, "central.functions"),
    **dict.fromkeys(_PROMISES, "privacy"),
    "Frame": "tally",
    "Grid": "grid",
    "ask": "questions",
    "check": "curator",
    "explain": "plan",
    "Reading": "tally",
    "Release": "answers",
    "Remote": "client",
    "Session": "session",
}

__all__ = [
    "ADD_REMOVE",
    "LOCAL",
    "SUBSTITUTE",
    "Budget",
    "BudgetExceededError",
    "Frame",
    "Grid",
    "Guarantee",
    "ParameterError",
    "ParameterTypeError",
    "Reading",
    "Relation",
    "Release",
    "Remote",
    "Session",
    "SourdineError",
    "__version__",
    "adaptive",
    "ask",
    "audit",
    "cdf",
    "central",
    "check",
    "client",
    "count",
    "curator",
    "data",
    "describe",
    "exact",
    "explain",
    "histogram",
    "laws",
    "local",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "noise",
    "plan",
    "privacy",
    "proportion",
    "quantile",
    "quantiles",
    "questions",
    "session",
    "sum",
    "table",
    "tally",
    "variance",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a room, a class or a function
    """Load a room when it is first asked for, so that ``import sourdine`` stays quick."""
    if name in _ROOMS:
        return import_module(f"sourdine.{name}")
    if name in _NAMES:
        found = globals()[name] = getattr(import_module(f"sourdine.{_NAMES[name]}"), name)
        return found
    raise AttributeError(f"module 'sourdine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
