"""Statistics of a column of numbers with public bounds."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from attrs import field, frozen

from sourdine.central.statistic import Statistic
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.grid import Grid
from sourdine.question import PRIVACY, WHAT, kinds, says
from sourdine.question import converters as read
from sourdine.question.converters import Bounds
from sourdine.tally import Ticks

__all__ = ["Bounds", "GaussianReady", "Numeric", "lattice"]

MOST_POINTS = 1 << 42


@frozen(kw_only=True, slots=False)
class Numeric(Statistic):
    """The common part: bounds, step and the lattice they make."""

    required: ClassVar[tuple[str, ...]] = ("bounds",)

    bounds: Bounds = field(
        default=None, converter=read.bounds,
        metadata=says(
            kinds.BOUNDS,
            "Public bounds, chosen without looking at the data: values outside count as the "
            "nearest bound. An age is within 0 and 120.",
            group=WHAT, unit="values",
        ),
    )  # fmt: skip
    step: Fraction | None = field(
        default=None, converter=read.step,
        metadata=says(
            kinds.NUMBER,
            "The step of the lattice that values are snapped to, such as 1 for whole numbers; "
            "about a millionth of the bounds if left out.",
            group=WHAT, unit="values",
        ),
    )  # fmt: skip

    def check(self) -> None:
        """Refuse a step that does not fit the bounds."""
        _ = self.grid

    @cached_property
    def grid(self) -> Grid:
        """The lattice."""
        return lattice(self.bounds, self.step)

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
        return float(self.last * self.grid.step)

    @cached_property
    def lowest(self) -> float:
        """The lower bound."""
        return float(self.grid.lower)

    @property
    def clipping(self) -> str:
        """The caveat on bounds."""
        lower, upper = (float(b) for b in self.bounds)
        return (
            f"Values are clamped to {lower:g} to {upper:g} and rounded to steps of "
            f"{float(self.grid.step):.2g}; intervals do not cover what that changes."
        )


@frozen(kw_only=True, slots=False)
class GaussianReady(Numeric):
    """A statistic of numbers that Gaussian noise may draw, at the price of a delta."""

    delta: Fraction = field(
        default=Fraction(0), converter=read.delta,
        metadata=says(
            kinds.PROBABILITY,
            "For method gaussian: the probability with which the loss may pass epsilon.",
            group=PRIVACY,
        ),
    )  # fmt: skip

    def check_delta(self, method: str) -> None:
        """Refuse a delta that nothing needs, and none where one is needed."""
        if method == "gaussian" and not self.delta:
            raise ParameterError(
                "delta", "be above 0 for method 'gaussian'", "0", "Type {delta}.", delta=1e-6
            )
        if method != "gaussian":
            read.unused(self.delta, "delta", f"for method {method!r}, which needs none")

    @property
    def spare(self) -> Fraction:
        """The delta of the promise."""
        return self.delta


def lattice(bounds: Bounds, step: Fraction | None) -> Grid:
    """Return the lattice of public bounds."""
    grid = Grid(*bounds, step)
    if grid.last > MOST_POINTS:
        raise ParameterError(
            "step",
            "leave at most 2**42 points",
            str(step),
            "Leave {step} out for about a million points, or type a larger one.",
            step=LEFT_OUT,
        )
    return grid
