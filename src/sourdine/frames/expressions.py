"""The slot of a present value, written once for all engines.

`slot` says which operations lead from a value to its slot, and in which order, on which the bits of
a float depend. A back end writes each operation in the language of an engine: SQL text
(`sourdine.frames.sql`), narwhals expressions (`sourdine.frames.lazy`) or Spark columns
(`sourdine.frames.spark.cells`). Operations are written as they are named: a tree of them would be
walked once, in the order in which it was built, and takes more code than it saves.

Three things stay outside. Which values are missing depends on an engine's types (NULL, NaN,
infinite times, days beyond the year 9999): each engine decides it first, and asks for the slots of
the others. The octave of a float is found by choices in SQL and by a logarithm in Spark, which does
not compile that many choices; narwhals leaves it to Python. And arrays in memory have operations of
their own: `Cell.slots`, which defines the slots, snaps floats in place, reads their exponents from
their bits and searches sorted edges. ``test_the_operations_give_the_slots_of_a_cell`` compares the
two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sourdine.calendar import DATES, DAY, FIRST
from sourdine.frames.cells import Edges, Octaves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.frames.cells import Ticks
    from sourdine.grid import Grid


class BackEnd(Protocol):
    """How an engine writes operations; floats meet floats, and integers integers."""

    def constant(self, v: float) -> Any:
        """Write an integer or a float."""

    def arithmetic(self, x: Any, operator: str, v: float) -> Any:
        """Write a number ``+``, ``-`` or ``*`` a constant; of a float, also ``/``."""

    def clamp(self, x: Any, lower: float | None, upper: float) -> Any:
        """Write a number moved to the nearest of two bounds; it may have more than 64 bits.

        None for a bound that it cannot pass.
        """

    def floor(self, x: Any) -> Any:
        """Write a float rounded down, as an integer of 64 bits."""

    def quotient(self, v: Any, by: int) -> Any:
        """Write the integer division of a number that is not negative."""

    def below(self, x: Any, edge: float, then: Any, otherwise: Any) -> Any:
        """Write a choice: whether a number is below an edge."""

    def rank(self, x: Any, edges: Sequence[Any]) -> Any:
        """Write how many of sorted edges are at most a number; see `bisected`."""

    def octave_number(self, x: Any, grid: Octaves) -> Any:
        """Write the signed number of the point of a lattice of octaves; see `Octaves.number`."""


def slot(cell: Ticks | Edges, x: Any, to: BackEnd, *, whole: bool) -> Any:
    """Write the slot of a float; or of an integer or a time, with integers alone."""
    if isinstance(cell, Edges):
        return to.rank(x, cell.whole() if whole else cell.floats())
    grid = cell.grid
    if whole:
        tick = _integer_tick(grid, x, to)
    elif isinstance(grid, Octaves):
        x = to.arithmetic(x, "-", grid.centre) if grid.centre else x
        number = to.clamp(to.octave_number(x, grid), grid.first, grid.first + grid.last)
        tick = to.arithmetic(number, "-", grid.first)
    else:
        tick = _float_tick(grid, x, to)
    return tick if cell.block == 1 else to.quotient(tick, cell.block)


def _float_tick(grid: Grid, x: Any, to: BackEnd) -> Any:
    """Write what the grid computes, in the same order."""
    lower, upper, step = (float(v) for v in (grid.lower, grid.upper, grid.step))
    near = to.arithmetic(to.clamp(x, lower, upper), "-", lower)
    t = to.floor(to.arithmetic(to.arithmetic(near, "/", step), "+", 0.5))
    return to.clamp(t, None, grid.last)


def _integer_tick(grid: Grid, v: Any, to: BackEnd) -> Any:
    """Write the tick of an integer or a time; on a lattice of dates a time counts as its date."""
    lower, step = int(grid.lower), int(grid.step)
    if grid.points == DATES:  # days since the year 1, which are not negative
        days = to.quotient(to.arithmetic(v, "-", FIRST), DAY)
        v = to.arithmetic(to.arithmetic(days, "*", DAY), "+", FIRST)
    near = to.arithmetic(to.clamp(v, lower, lower + grid.last * step), "-", lower)
    return near if step == 1 else to.quotient(to.arithmetic(near, "+", step // 2), step)


def bisected(x: Any, edges: Sequence[Any], to: BackEnd, first: int = 0) -> Any:
    """Write ``first`` plus how many edges are at most a number, by choices."""
    if not edges:
        return to.constant(first)
    half = len(edges) // 2
    below = bisected(x, edges[:half], to, first)
    above = bisected(x, edges[half + 1 :], to, first + half + 1)
    return to.below(x, edges[half], below, above)
