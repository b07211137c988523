"""How reports stand in a table: as numbers of a lattice, or as listed values; and back.

What can stand in a column, its type and the digits of its numbers follow from the schema alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.grid import MISSING, Grid
from sourdine.tally import Codes, Ticks
from sourdine.tally.number_or_text import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell

__all__ = ["Kind", "Lattice", "Listed", "Written", "decimals", "quoted"]

Kind = Literal["whole", "float", "text", "flag"]
"""What a column of the output holds."""

_TABLE = 1 << 16
"""Up to this many codes have their texts written down in advance."""
_DIGITS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Lattice:
    """Reports as points of the column's lattice, continued beyond its bounds where need be.

    Parameters
    ----------
    grid
        The column's lattice.
    ticks
        The tick of each report, rising.
    """

    grid: Grid
    ticks: NDArray[np.int64] | range

    @property
    def kind(self) -> Kind:
        """Whole numbers if the lattice has only those."""
        return "whole" if self.grid.integral else "float"

    def values(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the numbers; at a blank, any."""
        if self._numbers is None:
            return self._points(codes)
        return self._numbers[codes]

    @cached_property
    def _numbers(self) -> NDArray[Any] | None:
        few = len(self.ticks) <= _TABLE
        return self._points(np.arange(len(self.ticks))) if few else None

    def _points(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the points of the lattice, as the floats that print with its decimals."""
        ticks = codes if isinstance(self.ticks, range) else np.take(self.ticks, codes, mode="clip")
        points, places = self.grid.values(ticks), decimals(self.grid)
        return points if self.grid.integral or places is None else points.round(places)

    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """Return the numbers as texts, with as many decimals as the lattice needs."""
        if self._written is not None:
            found: list[str] = self._written[codes].tolist()
            return found
        return ["" if c < 0 else t for c, t in zip(codes, self._format(codes), strict=True)]

    @cached_property
    def _written(self) -> NDArray[Any] | None:
        if len(self.ticks) > _TABLE:
            return None
        return np.array([*self._format(np.arange(len(self.ticks))), ""], object)

    def _format(self, codes: NDArray[np.int64]) -> list[str]:
        values = self.values(codes).tolist()
        places = decimals(self.grid)
        if places is None:
            return [repr(v) for v in values]
        return [f"{v:.{places}f}" for v in values] if places else list(map(str, values))

    def cell(self, name: str) -> Cell:
        """Return how the numbers are read back: one tick further out is no report."""
        step = self.grid.step
        first, last = int(self.ticks[0]), int(self.ticks[-1])
        lower, upper = self.grid.value(first - 1), self.grid.value(last + 1)
        return Ticks(name, Grid(lower, upper, step))

    def codes(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports, `MISSING` for what is none."""
        t = slots + (int(self.ticks[0]) - 1)
        if isinstance(self.ticks, range):
            inside = (slots > 0) & (t < len(self.ticks))
            return np.where(inside, t, MISSING)
        place = np.minimum(np.searchsorted(self.ticks, t), len(self.ticks) - 1)
        return np.where((slots > 0) & (self.ticks[place] == t), place, MISSING)


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """Reports as listed values: categories, true and false, or estimates.

    Parameters
    ----------
    listed
        The value of each report.
    kind
        What the column holds.
    """

    listed: Sequence[Any]
    kind: Kind

    @cached_property
    def _array(self) -> NDArray[Any]:
        types = {"whole": np.int64, "float": np.float64, "flag": np.bool_, "text": object}
        return np.array([*self.listed, self.listed[0]], types[self.kind])

    def values(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values; at a blank, any."""
        return self._array[codes]

    @cached_property
    def _written(self) -> NDArray[Any]:
        return np.array([*(quoted(read_text(v) or "") for v in self.listed), ""], object)

    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """Return the values as texts, quoted where a CSV file needs it."""
        found: list[str] = self._written[codes].tolist()
        return found

    def cell(self, name: str) -> Cell:
        """Return how the values are read back."""
        return Codes(name, self.listed)

    def codes(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports, `MISSING` for what is none."""
        return slots


Written = Lattice | Listed
"""Either of the two."""


def quoted(text: str) -> str:
    """Return a text as a field of a CSV file, in quotes if it needs them."""
    plain = text and text == text.strip() and not any(mark in text for mark in ',;\t|"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'


def decimals(grid: Grid) -> int | None:
    """Return how many decimals all points of a lattice need; None if more than a dozen.

    Examples
    --------
    >>> decimals(Grid(0, 120, step=1)), decimals(Grid(0, 1, step=0.25)), decimals(Grid(0, 1))
    (0, 2, None)
    """
    for places in range(_DIGITS + 1):
        if all((x * 10**places).denominator == 1 for x in (grid.lower, grid.step)):
            return places
    return None
