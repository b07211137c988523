"""Sourdine: private statistics that say what they cost and how far they can be from the truth.

The rooms, ground floor first; each imports only those before it:

===============  ==============================================================================
``exact``        parameters as exact rationals, reals known to any precision
``privacy``      what is promised: guarantees, composition, amplification, budgets
``grid``         the public lattice on which everything numeric lives
``noise``        exact samplers over the operating system's generator
``laws``         whole distributions, as evidence for every claim
``release``      what a mechanism publishes: a value, its cost, its caveats
``mechanisms``   the primitives, each with four faces: release, law, guarantee, error
``audit``        claims checked by machine
===============  ==============================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
from sourdine.grid import Grid
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Budget, Guarantee, Relation

if TYPE_CHECKING:
    from types import ModuleType

    from sourdine import audit, exact, laws, mechanisms, noise, privacy
    from sourdine.release import Release

__version__ = "0.1.0"

__all__ = [
    "ADD_REMOVE",
    "LOCAL",
    "SUBSTITUTE",
    "Budget",
    "BudgetExceededError",
    "Grid",
    "Guarantee",
    "ParameterError",
    "ParameterTypeError",
    "Relation",
    "Release",
    "SourdineError",
    "audit",
    "exact",
    "laws",
    "mechanisms",
    "noise",
    "privacy",
]

_ROOMS = frozenset(["audit", "exact", "laws", "mechanisms", "noise", "privacy"])


def __getattr__(name: str) -> ModuleType | type[Release]:
    """Load a room when it is first asked for, so that ``import sourdine`` stays quick."""
    if name in _ROOMS:
        return import_module(f"sourdine.{name}")
    if name == "Release":
        return import_module("sourdine.release").Release  # type: ignore[no-any-return]
    raise AttributeError(f"module 'sourdine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
