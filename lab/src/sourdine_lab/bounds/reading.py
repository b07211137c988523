"""What the theorems have in common: parameters, and the share of epsilon each call gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import integer, positive, rational

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = ["DECILES", "per_call", "read_between", "read_bounds", "read_chance", "read_order"]

DECILES = 9
"""How many calls share epsilon when the nine deciles are asked for."""


def per_call(epsilon: Number, calls: int) -> float:
    """Return what each of ``calls`` equal calls may spend of a total ``epsilon``."""
    return float(positive(epsilon, "epsilon") / integer(calls, "calls", least=1))


def read_between(x: Number, name: str, above: float, most: float) -> float:
    """Return ``x`` with ``above < x <= most``; the ends come from the theorem's other numbers."""
    value = float(rational(x, name))
    if not above < value <= most:
        raise ParameterError(
            f"{name} must be above {above:g} and at most {most:g}, got {x!s}. "
            f"Outside of this range the theorem says nothing."
        )
    return value


def read_chance(x: Number, name: str) -> float:
    """Return a probability strictly between 0 and 1."""
    value = float(rational(x, name))
    if not 0 < value < 1:
        raise ParameterError(
            f"{name} must be above 0 and below 1, got {x!s}. Use a probability, as {name}=0.05."
        )
    return value


def read_order(q: Number) -> float:
    """Return the order of a quantile, strictly between 0 and 1."""
    value = float(rational(q, "q"))
    if not 0 < value < 1:
        raise ParameterError(
            f"q must be above 0 and below 1, got {q!s}. Use the quantile's order, such as q=0.5."
        )
    return value


def read_bounds(bounds: tuple[Number, Number]) -> tuple[float, float]:
    """Return public bounds in order."""
    lower, upper = (float(rational(bound, "bounds")) for bound in bounds)
    if lower >= upper:
        raise ParameterError(
            f"bounds must be in order, got {bounds[0]!s} and {bounds[1]!s}. "
            f"Use the public bounds as bounds=(0, 1)."
        )
    return lower, upper
