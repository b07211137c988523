"""What an engine is asked: to count rows by cells, or to add up powers of ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourdine.tally.cells import Cell

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """A question to the rows; it is its own name.

    Parameters
    ----------
    cells
        Columns and how their values fall into slots, an axis each.
    most
        None to count rows; else sums of powers of the last cell's ticks, up to this one, are asked
        with the number of rows, for each combination of slots along the other axes.
    within
        Sorted, disjoint, half-open ranges of the last cell's ticks, where no others are wanted.
    """

    cells: tuple[tuple[str, Cell], ...]
    most: int | None = None
    within: tuple[tuple[int, int], ...] | None = None

    @property
    def axes(self) -> tuple[tuple[str, Cell], ...]:
        """The cells that rows are grouped by."""
        return self.cells if self.most is None else self.cells[:-1]
