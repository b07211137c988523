"""One column of a schema with its share of epsilon: from cells to reports and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.grid import MISSING
from sourdine.local.table.absence import AnyAnswer

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.local.rounds.memoised import Memoised
    from sourdine.local.table.columns import Attribute, Use
    from sourdine.local.table.sanitizing.writing import Written
    from sourdine.mechanisms.mechanism import Report
    from sourdine.noise import Source
    from sourdine.tally.cells import Cell

__all__ = ["ColumnPart"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnPart:
    """A column, what it may spend and what for.

    Parameters
    ----------
    name, column
        The column.
    epsilon
        What one report of it costs.
    use
        ``"table"`` or ``"report"``.
    memoised
        What answers in a survey of several rounds, if it is one.
    """

    name: str
    column: Attribute
    epsilon: Fraction
    use: Use
    memoised: Memoised | None = None

    @cached_property
    def mechanism(self) -> Report:
        """What randomises a cell, absent answers included; it costs `epsilon`."""
        if self.memoised is None:
            return self.column.mechanism(self.epsilon, self.use)
        return self.memoised if self.column.missing else AnyAnswer(answer=self.memoised)

    @cached_property
    def answer(self) -> Any:  # noqa: ANN401 - a randomiser of what its column holds
        """The part of `mechanism` that estimators know: it randomises answers that are there."""
        return self.column.answer(self.mechanism)

    @cached_property
    def none(self) -> int | None:
        """The report that says that there is no answer, if it can be said."""
        return self.column.none(self.mechanism)

    @cached_property
    def written(self) -> Written:
        """How reports stand in a table."""
        return self.column.written(self.mechanism)

    @property
    def cell(self) -> Cell:
        """How answers are read."""
        return self.column.cell(self.name)

    def reports(self, slots: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Draw the report of each person from the slot of the cell, absent or not."""
        absent = slots < 0
        if absent.any():
            slots = np.where(absent, self.mechanism.top, slots)
        return self.mechanism.randomise(slots, source=source)

    def shown(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports with `MISSING` where a table has a blank."""
        return reports if self.none is None else np.where(reports == self.none, MISSING, reports)

    @property
    def written_cell(self) -> Cell:
        """How what `written` wrote is read."""
        return self.written.cell(self.name)

    def read_back(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports that a table shows, `MISSING` for what none could be."""
        codes = self.written.codes(slots)
        return codes if self.none is None else np.where(slots < 0, self.none, codes)
