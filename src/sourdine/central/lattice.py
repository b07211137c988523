"""Statistics of a column of numbers with public bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.statistic import Statistic
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import rational
from sourdine.grid import Grid
from sourdine.tally import Ticks

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.tally import Frame

    Bounds = tuple[Number, Number]

__all__ = ["Bounds", "Numeric", "read_grid"]

MOST = 1 << 40


@dataclass(frozen=True, kw_only=True)
class Numeric(Statistic):
    """The common part: bounds, step and the lattice they make.

    Parameters
    ----------
    bounds
        The public bounds; values outside are moved to the nearest.
    step
        The lattice's step; ``step=1`` for whole numbers, about a millionth of the range if left
        out.
    """

    bounds: Bounds
    step: Number | None = None
    grid: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        grid = read_grid(self.bounds, self.step)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "bounds", (Fraction(grid.lower), Fraction(grid.upper)))
        object.__setattr__(self, "step", None if self.step is None else grid.spacing)

    @cached_property
    def cell(self) -> Ticks:
        """The column and its lattice."""
        return Ticks(self.column, self.grid)

    @cached_property
    def last(self) -> int:
        """The highest tick."""
        return self.grid.last

    @cached_property
    def width(self) -> float:
        """The width of the range that the lattice covers."""
        return float(self.last * self.grid.spacing)

    @cached_property
    def lowest(self) -> float:
        """The lower bound."""
        return float(self.grid.origin)

    def moments(self, data: Frame, powers: int) -> list[int]:
        """Return the sums of the ticks' powers from 0 up: their number, their sum, ..."""
        values = data.array(self.column)
        if values is None:
            return [data.total(self.cell, power) for power in range(powers + 1)]
        n = len(values) - int(np.isnan(values).sum()) if values.dtype.kind == "f" else len(values)
        return [n, *(data.total(self.cell, power) for power in range(1, powers + 1))]

    @property
    def clipping(self) -> str:
        """The caveat on bounds."""
        lower, upper = (float(b) for b in (self.grid.lower, self.grid.upper))
        return (
            f"Values are moved into {lower:g} to {upper:g} and onto steps of "
            f"{float(self.grid.spacing):.2g}; intervals speak of the values so moved."
        )


def read_grid(bounds: object, step: object) -> Grid:
    """Return the lattice of public bounds, or say why they must be given."""
    if bounds is None:
        raise ParameterError(
            "bounds must be two public numbers, got None. Noise is fitted to the bounds, and "
            "bounds read off the data would give its extreme records away. Choose them from what "
            "everybody knows, before looking: an age is within 0 and 120, a share within 0 and 1; "
            "a generous guess costs accuracy, a narrow one moves outliers to the bound. "
            "Type them, as bounds=(0, 120)."
        )
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise ParameterTypeError(
            f"bounds must be two numbers, got something of type {type(bounds).__name__}. "
            f"Type them, as bounds=(0, 120)."
        )
    lower, upper = (_number(b) for b in bounds)  # type: ignore[attr-defined]
    if rational(lower, "bounds") >= rational(upper, "bounds"):
        raise ParameterError(
            f"bounds must be two numbers in order, got {lower} and {upper}. "
            f"Type the lower one first, as bounds=(0, 120)."
        )
    grid = Grid(lower, upper, None if step is None else _number(step))  # type: ignore[arg-type]
    if grid.last > MOST:
        raise ParameterError(
            f"step must leave at most 2**40 points, got step={step}. "
            f"Type a larger step, or none for about a million points."
        )
    return grid


def _number(x: object) -> object:
    """Read back what JSON holds of a fraction."""
    if isinstance(x, str) and "/" in x:
        top, _, bottom = x.partition("/")
        if top.lstrip("-").isdigit() and bottom.isdigit():
            return Fraction(x)
    return x
