r"""The code of an answer that surprised: how far from the guess, in steps, on which side.

A guess :math:`g` was off by more than :math:`\alpha`. Cell :math:`j` above it holds the averages
from :math:`g + \alpha + (j - 1) 2\alpha` to :math:`g + \alpha + j\,2\alpha`, cell :math:`-j` below
it likewise; what is told is the middle of a cell, within :math:`\alpha` of the average. Which
cells there are depends on the guess and on the query's range, both public. Small gaps are common,
so each cell is charged by how often it came before, after Krichevsky and Trofimov: with a share
:math:`p` of the counts, an answer of :math:`\lceil 1/p \rceil` levels. Those shares sum to one, so
the lengths are a code. *Checked by* ``test_levels_of_the_cells_are_a_code``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

__all__ = ["Cell", "Gaps", "ToldCells"]

ONE = 32
"""What an answer counts in the shares; half of it is there beforehand, for a rare one little."""


class Cell(NamedTuple):
    """A cell ``steps`` above the guess, below it if negative, and whether the step is short."""

    steps: int
    short: bool = False


@dataclass(frozen=True, slots=True)
class Gaps:
    r"""The cells beyond a threshold :math:`\alpha` around a guess, within the query's range.

    Examples
    --------
    >>> gaps = Gaps(guess=0.5, threshold=0.125)
    >>> gaps.cell(0.9), gaps.cell(0.26)
    (2, -1)
    >>> gaps.ends(2), gaps.ends(-1)
    ((0.875, 1.0), (0.125, 0.375))
    >>> gaps.steps()
    [1, 2, -1, -2]
    """

    guess: float
    threshold: float
    low: float = 0.0
    high: float = 1.0

    def cell(self, average: float) -> int:
        """Return the steps of the cell of an average that is beyond the threshold."""
        return self._count(average - self.guess) or -self._count(self.guess - average)

    def steps(self) -> list[int]:
        """Return the steps of all cells."""
        above = self._count(self.high - self.guess)
        below = self._count(self.guess - self.low)
        return [*range(1, above + 1), *range(-1, -below - 1, -1)]

    def ends(self, steps: int) -> tuple[float, float]:
        """Return the ends of a cell, the lower one first."""
        near, far = (2 * abs(steps) - 1) * self.threshold, (2 * abs(steps) + 1) * self.threshold
        if steps > 0:
            return self.guess + near, min(self.guess + far, self.high)
        return max(self.guess - far, self.low), self.guess - near

    def _count(self, gap: float) -> int:
        return max(0, ceil((gap - self.threshold) / (2 * self.threshold)))


class ToldCells:
    """How often each cell was told, and the levels that the next one is charged for.

    Examples
    --------
    >>> told, all_cells = ToldCells(), [Cell(1), Cell(-1), Cell(2)]
    >>> told.levels(Cell(1), all_cells)
    3
    >>> for _ in range(9):
    ...     told.add(Cell(1))
    >>> [told.levels(cell, all_cells) for cell in all_cells]
    [2, 21, 21]
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Counter[Cell] = Counter()

    def levels(self, cell: Cell, cells: list[Cell]) -> int:
        """Return among how many levels a cell counts, given those there are."""
        return -(-sum(map(self._share, cells)) // self._share(cell))

    def dearest(self, cells: list[Cell]) -> int:
        """Return the most that any of the cells counts for."""
        total, least = sum(map(self._share, cells)), min(map(self._share, cells))
        return -(-total // least)

    def bound(self, cells: list[Cell], more: int) -> int:
        """Return the most that a cell can count for as the last of ``more`` surprises.

        Parameters
        ----------
        cells
            Those of a query from 0 to 1 with the guess 0; another guess has at most 4 more.
        more
            How many surprises come, whichever.
        """
        fresh = [_fresh(cell) for cell in cells]
        told = self._counts.total() + more - 1
        return -(-(ONE * (told + 2) + sum(fresh)) // min(fresh))

    def add(self, cell: Cell) -> None:
        """Count a cell that was told."""
        self._counts[cell] += 1

    def _share(self, cell: Cell) -> int:
        return ONE * self._counts[cell] + _fresh(cell)


def _fresh(cell: Cell) -> int:
    """Return the share of a cell that was never told."""
    return 1 if cell.short else ONE // 2
