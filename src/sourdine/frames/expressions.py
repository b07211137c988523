"""The slot of a present value as an expression tree, which engines write in their own language.

`slot` builds the tree of a cell once, and `written` walks it with the back end of an engine: SQL
text (`sourdine.frames.sql`), narwhals expressions (`sourdine.frames.lazy`) or Spark columns
(`sourdine.frames.spark.cells`). The tree fixes the order of the operations, on which the bits of a
float depend.

Two things stay outside of the tree. Which values are missing depends on an engine's types (NULL,
NaN, infinite times, days beyond the year 9999): each back end decides it first, and applies the
tree to the others. And arrays in memory are not computed with the tree: `Cell.slots`, which defines
the slots, snaps floats in place, reads their exponents from their bits and searches sorted edges,
where a walk would make a new array for every node. ``test_a_tree_computes_the_slots_of_its_cell``
compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.calendar import DATES, DAY, FIRST
from sourdine.frames.cells import HIGHEST, Edges, Octaves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.frames.cells import Ticks
    from sourdine.grid import Grid


class Node:
    """An expression. Floats are combined with floats and integers with integers."""

    __slots__ = ()

    def __add__(self, other: Expression) -> Arithmetic:
        return Arithmetic("+", self, other)

    def __sub__(self, other: Expression) -> Arithmetic:
        return Arithmetic("-", self, other)

    def __mul__(self, other: Expression) -> Arithmetic:
        return Arithmetic("*", self, other)

    def __truediv__(self, other: Expression) -> Arithmetic:
        return Arithmetic("/", self, other)


Expression = Node | int | float
"""A node, or a constant."""


@dataclass(frozen=True, slots=True)
class Value(Node):
    """The value of the record: a float, an integer, or a time in microseconds from 1970."""


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """One of ``+``, ``-``, ``*`` and, for floats, ``/``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Clamp(Node):
    """A number moved to the nearest of two bounds. It may be wider than 64 bits before that."""

    x: Expression
    lower: int | float
    upper: int | float


@dataclass(frozen=True, slots=True)
class Floor(Node):
    """A float rounded down, as an integer of 64 bits."""

    x: Expression


@dataclass(frozen=True, slots=True)
class Quotient(Node):
    """A non-negative integer divided by a positive one, rounded down."""

    x: Expression
    by: int


@dataclass(frozen=True, slots=True)
class Below(Node):
    """A choice: whether a number is below an edge."""

    x: Expression
    edge: int | float
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Rank(Node):
    """How many of sorted edges are at most a number."""

    x: Expression
    edges: Sequence[Any]


@dataclass(frozen=True, slots=True)
class OctavePoint(Node):
    """The number of the point of a lattice of octaves to which the size of a float is snapped."""

    x: Expression
    grid: Octaves


class BackEnd(Protocol):
    """How an engine writes each node; operands are already written, constants are numbers."""

    def constant(self, v: float) -> Any:
        """Write an integer or a float."""

    def arithmetic(self, operator: str, left: Any, right: Any) -> Any:
        """Write a sum, a difference, a product or a quotient of floats."""

    def clamp(self, x: Any, lower: float, upper: float) -> Any:
        """Write a number between bounds."""

    def floor(self, x: Any) -> Any:
        """Write a rounded float."""

    def quotient(self, v: Any, by: int) -> Any:
        """Write an integer division."""

    def below(self, x: Any, edge: float, then: Any, otherwise: Any) -> Any:
        """Write a choice."""

    def rank(self, x: Any, edges: Sequence[Any]) -> Any:
        """Write the position among edges."""

    def octave_point(self, x: Any, grid: Octaves) -> Any:
        """Write the point of a lattice of octaves."""


def written(expression: Expression, value: Any, back_end: BackEnd) -> Any:  # noqa: C901, PLR0911 - a case each
    """Return an expression of a value as an engine writes it."""

    def write(part: Expression) -> Any:
        return written(part, value, back_end)

    match expression:
        case Value():
            return value
        case Arithmetic(operator, left, right):
            return back_end.arithmetic(operator, write(left), write(right))
        case Clamp(x, lower, upper):
            return back_end.clamp(write(x), lower, upper)
        case Floor(x):
            return back_end.floor(write(x))
        case Quotient(x, by):
            return back_end.quotient(write(x), by)
        case Below(x, edge, then, otherwise):
            return back_end.below(write(x), edge, write(then), write(otherwise))
        case Rank(x, edges):
            return back_end.rank(write(x), edges)
        case OctavePoint(x, grid):
            return back_end.octave_point(write(x), grid)
        case int() | float():
            return back_end.constant(expression)
    raise TypeError


# ---- The trees of cells --------------------------------------------------------------------------


def slot(cell: Ticks | Edges, *, whole: bool) -> Node:
    """Return the slot of a float; or of an integer or a time, computed with integers alone.

    Examples
    --------
    >>> from sourdine.frames.cells import Ticks
    >>> from sourdine.grid import Grid
    >>> slot(Ticks("age", Grid(0, 120, step=1), block=10), whole=True)
    Quotient(x=Arithmetic(operator='-', left=Clamp(x=Value(), lower=0, upper=120), right=0), by=10)
    """
    if isinstance(cell, Edges):
        return Rank(Value(), cell.whole() if whole else cell.floats())
    grid = cell.grid
    if whole:
        tick = _integer_tick(grid)
    elif isinstance(grid, Octaves):
        tick = _octave_tick(grid)
    else:
        tick = _float_tick(grid)
    return tick if cell.block == 1 else Quotient(tick, cell.block)


def _float_tick(grid: Grid) -> Node:
    """Return what the grid computes, in the same order."""
    lower, upper, step = (float(v) for v in (grid.lower, grid.upper, grid.step))
    return Clamp(Floor((Clamp(Value(), lower, upper) - lower) / step + 0.5), 0, grid.last)


def _integer_tick(grid: Grid) -> Node:
    """Return the tick of an integer or a time; a time counts as its date on a lattice of dates."""
    lower, step = int(grid.lower), int(grid.step)
    value: Node = Value()
    if grid.points == DATES:  # from the year 1, so that no number is negative
        value = Quotient(value - FIRST, DAY) * DAY + FIRST
    near = Clamp(value, lower, lower + grid.last * step) - lower
    return near if step == 1 else Quotient(near + step // 2, step)


def _octave_tick(grid: Octaves) -> Node:
    """Return the tick of a lattice of octaves."""
    signed = Below(Value(), 0.0, -1, 1) * OctavePoint(Value(), grid)
    return Clamp(signed, grid.first, grid.first + grid.last) - grid.first


# ---- Nodes as trees of simpler nodes, for engines without an operation of their own --------------


def bisected(edges: Sequence[Any], first: int = 0) -> Expression:
    """Return how many edges are at most the value, plus ``first``, by choices.

    Examples
    --------
    >>> bisected([5])
    Below(x=Value(), edge=5, then=0, otherwise=1)
    """
    if not edges:
        return first
    half = len(edges) // 2
    below, above = bisected(edges[:half], first), bisected(edges[half + 1 :], first + half + 1)
    return Below(Value(), edges[half], below, above)


def octave_choices(grid: Octaves) -> Node:
    """Return the point of a size from 0 to the last point, by choices of its octave.

    Dividing by a power of two is exact.
    """

    def number(e: int) -> Node:
        within = Floor((Value() / 2.0**e - 1.0) * 2.0**grid.bits)
        return within + (((e - grid.lowest) << grid.bits) + 1)

    def chosen(first: int, end: int) -> Node:
        if end - first == 1:
            return number(first)
        half = (first + end) // 2
        return Below(Value(), 2.0**half, chosen(first, half), chosen(half, end))

    return Below(Value(), 2.0**grid.lowest, 0, chosen(grid.lowest, HIGHEST))
