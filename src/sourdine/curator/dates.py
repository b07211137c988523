"""Columns of dates: how they seem to be written."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sourdine.calendar import ISO, DateFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.curator.shapes import ColumnTexts
    from sourdine.tally import Reading

__all__ = ["best_format", "dates_in"]

_DAYS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y%m%dT%H%M%S"),
)
_CLOCKS = ("", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", ", %H:%M:%S")
_FORMATS = tuple(
    f"{day}{clock}" for day, clock in product(_DAYS, _CLOCKS) if not (clock and "%H" in day)
)
_MOST = 0.5
"""A column is meant to hold dates if this part of its cells are some."""


def dates_in(cells: ColumnTexts, reading: Reading) -> int:
    """Return how many cells are dates and no numbers, of a column that is meant to hold dates."""
    found = _read(cells, reading, reading.dates)
    return found if found >= _MOST * cells.filled else 0


def _read(cells: ColumnTexts, reading: Reading, form: DateFormat) -> int:
    return sum(
        k
        for text, k in cells.texts.items()
        if form.read(text) is not None and reading.number(text) is None
    )


def best_format(reading: Reading, columns: Sequence[ColumnTexts]) -> tuple[str | None, str | None]:
    """Return the format in which most cells are dates, and another that reads as many.

    What is declared stays; None is ISO 8601.
    """
    if reading.date_format is not None:
        return reading.date_format, None
    kept = [cells for cells in columns if cells.texts and 2 * cells.numbers(reading) < cells.filled]
    score = {form: _total(kept, reading, form) for form in (None, *_FORMATS)}
    most = max(score.values())
    best = [form for form, read in score.items() if read == most]
    others = [form for form in best[1:] if best[0] is not None]
    return best[0], others[0] if others and most else None


def _total(columns: Sequence[ColumnTexts], reading: Reading, form: str | None) -> int:
    """Return how many cells a format reads, of columns that it makes columns of dates."""
    dates = ISO if form is None else DateFormat(form)
    found = [(_read(cells, reading, dates), cells.filled) for cells in columns]
    return sum(read for read, filled in found if read >= _MOST * filled)
