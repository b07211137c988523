"""Statistics of a column of numbers, or of dates, with public bounds."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, cast

from attrs import field, frozen

from sourdine.calendar import moment
from sourdine.central.statistic import Statistic
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.grid import Grid
from sourdine.question import WHAT, kinds, says, sought
from sourdine.question import converters as read
from sourdine.question.converters import Bounds
from sourdine.tally import Ticks
from sourdine.tally.column import DATES, NUMBERS
from sourdine.tally.octaves import Octaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.finding.bounds import BoundsFirst
    from sourdine.central.finding.first import FoundFirst

__all__ = ["Bounds", "GaussianReady", "Numeric", "bounds_first", "lattice"]

MOST_POINTS = 1 << 42


@frozen(kw_only=True, slots=False)
class Numeric(Statistic):
    """The common part: bounds, step and the lattice they make."""

    required: ClassVar[tuple[str, ...]] = ("bounds",)
    of_dates: ClassVar[bool] = False
    """Whether it is something that dates have, too."""
    searches: ClassVar[bool] = True
    """Whether bounds that nobody knows are searched for; else the lattice of octaves has none."""
    centred: ClassVar[bool] = True
    """Whether bounds are best sought around the data, wherever they lie."""
    shaped: ClassVar[bool] = False
    """Whether the number of ticks decides what is drawn, not only its noise."""
    found_units: ClassVar[str] = "found widths"
    """What an error is counted in where bounds are found."""

    bounds: Bounds = field(
        default=None, converter=sought.bounds,
        metadata=says(
            kinds.BOUNDS,
            "Public bounds, chosen without looking at the data: values outside count as the "
            "nearest bound. An age is within 0 and 120. Two dates for a column of dates. Where "
            "nobody knows them: find, or none for one of them, or find behind a wide range.",
            group=WHAT, unit="values",
        ),
    )  # fmt: skip
    step: Fraction | dt.timedelta | None = field(
        default=None, converter=read.step,
        metadata=says(
            kinds.DISTANCE,
            "The step of the lattice that values are snapped to, such as 1 for whole numbers, or "
            "'15 min' for times; about a millionth of the bounds, or a day, if left out.",
            group=WHAT, unit="values",
        ),
    )  # fmt: skip

    def check(self) -> None:
        """Refuse a step that does not fit the bounds."""
        _ = self.grid

    def first(self) -> FoundFirst | None:
        """Return what finds the bounds, if nobody knows them."""
        return super().first() or (bounds_first(self) if self.searches else None)

    @property
    def needed(self) -> str:
        """Dates between dates, else numbers."""
        return DATES if self.lasting else NUMBERS

    @property
    def units(self) -> str:
        """What an error is counted in where bounds or rows are found."""
        own = self.found_units if self.searches and sought.is_sought(self.bounds) else ""
        return " times ".join(filter(None, (own, super().units)))

    @cached_property
    def grid(self) -> Grid:
        """The lattice; of bounds that are sought there is none yet, unless none are needed."""
        if sought.is_sought(self.bounds):
            if self.searches:
                raise AttributeError("grid")
            sought.check_step(self.step, self.bounds)
            return Octaves(*sought.ends(self.bounds), cast("Fraction | None", self.step))
        grid = lattice(self.bounds, self.step)
        if grid.points is not None and not self.of_dates:
            raise ParameterError(
                "bounds",
                f"be two numbers, for dates have no {self.kind}",
                grid.points,
                "Ask for their mean or quantiles. How long something lasts is a number: type "
                "{bounds}.",
                bounds=(0, 120),
            )
        return grid

    @property
    def lasting(self) -> bool:
        """Whether values are dates or times, so that their differences are durations."""
        return isinstance(self.bounds[0], dt.date)

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

    def place(self, p: float, rounded: Callable[[Fraction], int] = floor) -> Any:  # noqa: ANN401
        """Return what lies at a fraction of the range: a number, or a time in microseconds."""
        if not self.lasting:
            return self.lowest + p * self.width
        exact = self.grid.lower + Fraction(p) * self.last * self.grid.step
        return moment(rounded(exact), date=False)

    @property
    def clipping(self) -> str:
        """The caveat on bounds."""
        changed = "intervals do not cover what that changes."
        if isinstance(self.grid, Octaves):
            return (
                f"Numbers are rounded to a public lattice, {self.grid}; what is none, such as a "
                f"date, counts as missing; {changed}"
            )
        if self.lasting:
            ends, _, step = str(self.grid).partition(" in ")
            return f"Values are clamped to {ends} and rounded to {step}; {changed}"
        lower, upper = (float(self.grid.lower), float(self.grid.upper))
        step = f"{float(self.grid.step):.2g}"
        ends = f"{lower:g} to {upper:g}"
        return f"Values are clamped to {ends} and rounded to steps of {step}; {changed}"


@frozen(kw_only=True, slots=False)
class GaussianReady(Numeric):
    """A statistic of numbers that Gaussian noise may draw, at the price of a delta."""

    def check_delta(self, method: str) -> None:
        """Refuse a delta that nothing needs, and none where one is needed."""
        if method == "gaussian" and not self.delta:
            raise ParameterError(
                "delta", "be above 0 for method 'gaussian'", "0", "Type {delta}.", delta=1e-6
            )
        if method != "gaussian" and not self.finds:
            read.unused(self.delta, "delta", f"for method {method!r}, which needs none")

    @property
    def needs_delta(self) -> bool:
        """Whether the noise is Gaussian."""
        return vars(self).get("method") == "gaussian"


def bounds_first(question: Statistic) -> BoundsFirst | None:
    """Return what finds the bounds of a question, if they are sought."""
    if not sought.is_sought(getattr(question, "bounds", None)):
        return None
    from sourdine.central.finding.bounds import BoundsFirst  # noqa: PLC0415 - asks statistics

    return BoundsFirst(question=question)


def lattice(bounds: Bounds, step: Fraction | dt.timedelta | None) -> Grid:
    """Return the lattice of public bounds."""
    lower, upper = bounds
    grid = Grid(lower, upper, step)
    if grid.last > MOST_POINTS:
        raise ParameterError(
            "step",
            "leave at most 2**42 points",
            str(step),
            "Leave {step} out for about a million points, or type a larger one.",
            step=LEFT_OUT,
        )
    return grid
