"""Converters of what mechanisms share: from what a person may type to what a formula needs.

A converter is named after its parameter, as its errors are. It is the only place where the
parameter is read, so a field holds what its annotation says.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from sourdine.errors import ParameterError
from sourdine.exact import flag, given, integer, one_of, positive
from sourdine.privacy import Relation

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = [
    "Minimise",
    "delta",
    "epsilon",
    "minimise",
    "monotone",
    "relation",
    "rows",
    "sensitivity",
    "whole_sensitivity",
]

LEAST = Fraction(1, 10**100)

Minimise = Literal["l1", "l2"]


def epsilon(x: Number) -> Fraction:
    """Return the privacy loss, above 0."""
    return positive(x, "epsilon")


def delta(x: Number) -> Fraction:
    """Return the probability with which the loss may pass epsilon, above 0 and below 1."""
    value = positive(x, "delta", example=1e-6)
    if value >= 1:
        hint = "Type a small number, such as {delta}."
        raise ParameterError("delta", "be below 1", given(x), hint, delta=1e-6)
    if value < LEAST:
        hint = "Type {delta}, or use Laplace, which needs no delta."
        raise ParameterError("delta", "be at least 1e-100", given(x), hint, delta=1e-6)
    return value


def sensitivity(x: Number) -> Fraction:
    """Return by how much an input can change, above 0."""
    return positive(x, "sensitivity")


def whole_sensitivity(x: int) -> int:
    """Return by how many ticks an input can change."""
    return integer(x, "sensitivity", least=1)


def relation(x: Relation | str) -> Relation:
    """Return which inputs are neighbours."""
    return Relation.read(x)


def rows(x: int) -> int:
    """Return how many records one person may own."""
    return integer(x, "rows", least=1)


def monotone(x: bool) -> bool:  # noqa: FBT001 - as it is typed
    """Return whether all scores change in one direction between neighbours."""
    return flag(x, "monotone")


def minimise(x: Minimise) -> Minimise:
    """Return which mean loss is to be least."""
    return one_of(x, "minimise", "l1", "l2")
