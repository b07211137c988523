r"""Which bounds a search may name: public numbers outward from a centre, and the cells between.

From the centre m the candidates are m itself and :math:`m \pm h \cdot 1, \tfrac32, 2, 3, 4, 6, 8,
\ldots`, two in each octave, up to the ends of the lattice; h is the lattice's spacing at m.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, ldexp, nextafter
from typing import TYPE_CHECKING

import numpy as np

from sourdine.grid import Grid
from sourdine.tally import Edges
from sourdine.tally.octaves import HIGHEST, Octaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Span = tuple[Fraction, Fraction]

__all__ = ["MOST_CELLS", "Candidates", "settled"]

MOST_CELLS = 1 << 21
"""Found bounds have at most so many steps between them: a declared step is doubled until then."""
UP, DOWN = 1, -1


@dataclass(frozen=True)
class Candidates:
    """The candidates of each side that is searched, outward from a centre.

    Parameters
    ----------
    lattice
        Where values may lie.
    centre
        The signed number of the centre on the lattice; None to start from the end that is declared.
    lower, upper
        The ends that are declared; None where there is none.

    Examples
    --------
    >>> whole = Candidates(Octaves(step=1), 0, None, Fraction(10))
    >>> [float(u) for u in whole.sides[UP]], len(whole.sides[DOWN])
    ([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0], 130)
    """

    lattice: Octaves
    centre: int | None
    lower: Fraction | None
    upper: Fraction | None

    @cached_property
    def start(self) -> Fraction:
        """The value that the search starts from."""
        if self.centre is not None:
            return Fraction(self.lattice.point(self.centre))
        declared = self.lower if self.upper is None else self.upper
        assert declared is not None  # noqa: S101 - one end is declared where there is no centre
        return declared

    @cached_property
    def spacing(self) -> Fraction:
        """How far the first candidate is from the start."""
        number = self.lattice.number(float(self.start))
        return self.lattice.spacing(number)

    @cached_property
    def sides(self) -> dict[int, tuple[Fraction, ...]]:
        """The candidates of each side that is searched, upward first."""
        open_sides = {UP: self.upper, DOWN: self.lower}
        if self.centre is None:
            open_sides = {side: end for side, end in open_sides.items() if end is None}
        return {side: tuple(self._outward(side, end)) for side, end in open_sides.items()}

    def _outward(self, side: int, end: Fraction | None) -> Iterator[Fraction]:
        start = float(self.start)
        last = side * ldexp(1.0, HIGHEST) if end is None else float(end)
        yield self.start
        for candidate in self._steps(start, side):
            if side * candidate >= side * last:
                break
            yield Fraction(candidate)
        if side * last > side * start:
            yield Fraction(last)

    def _steps(self, start: float, side: int) -> Iterator[float]:
        offset = float(self.spacing)
        while True:
            yield start + side * offset
            yield start + side * 1.5 * offset
            offset *= 2

    @cached_property
    def edges(self) -> list[Fraction]:
        """The inner edges of the cells, rising: values at or beyond one have passed a candidate."""
        down = [_first_below(u) for u in self.sides.get(DOWN, ())]
        up = [_first_above(u) for u in self.sides.get(UP, ())]
        small = Fraction(ldexp(1.0, self.lattice.lowest))
        if self.start == 0:  # what is smaller than all octaves is 0
            if up and all(u >= small for u in self.sides[UP][1:]):
                up[0] = small
            if down and all(u <= -small for u in self.sides[DOWN][1:]):
                down[0] = _first_above(-small)
        return [*reversed(down), *up]

    def cell(self, column: str | None) -> Edges:
        """Return the cells of a column."""
        inner = self.edges
        return Edges(column, [floor(inner[0]) - 1, *inner, ceil(inner[-1]) + 1])

    def outward(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts of the cells as a search takes them: side after side, outward."""
        below = len(self.sides.get(DOWN, ()))
        parts = {UP: counts[below + 1 :], DOWN: counts[:below][::-1]}
        return np.concatenate([parts[side] for side in self.sides])

    def published(self, named: tuple[int, ...]) -> Span:
        """Return the bounds: the next candidate further out, unless nothing is beyond the start."""
        ends = {UP: self.start, DOWN: self.start}
        for (side, listed), i in zip(self.sides.items(), named, strict=True):
            ends[side] = listed[min(i + 1, len(listed) - 1)] if i else listed[0]
        return ends[DOWN], ends[UP]


def settled(bounds: Span, step: Fraction | None, spacing: Fraction) -> tuple[Span, Fraction | None]:
    """Return bounds on multiples of a lattice's step, outward, and the step.

    Bounds that are one number get a width; a declared step is doubled while it leaves more than
    `MOST_CELLS` points.

    Examples
    --------
    >>> settled((Fraction(1, 3), Fraction(5)), Fraction(2), Fraction(1))
    ((Fraction(0, 1), Fraction(6, 1)), Fraction(2, 1))
    >>> low, high = settled((Fraction(3), Fraction(3)), None, Fraction(1, 4))[0]
    >>> float(low), float(high)
    (3.0, 3.25)
    """
    low, high = bounds
    if low == high:
        high = low + (spacing if step is None else step)
    unit = Grid(low, high).step if step is None else step
    while step is not None and (high - low) / unit > MOST_CELLS:
        unit *= 2
    low, high = floor(low / unit) * unit, ceil(high / unit) * unit
    return (low, high), None if step is None else unit


def _first_above(u: Fraction) -> Fraction:
    return Fraction(nextafter(float(u), inf))


def _first_below(u: Fraction) -> Fraction:
    """Return the edge below which values are beyond u: u itself."""
    return Fraction(float(u))
