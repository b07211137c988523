"""What the columns of data hold, to fill in a form for the curator, who has the last word.

A Parquet file or a database states types. A text file does not: its first records are looked at, so
what is found is for the curator alone.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sourdine.tally.opening import CSV
from sourdine.tally.records import records
from sourdine.tally.separated import header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.tally import Frame, Reading

__all__ = ["column_types"]

_FIRST = 200
"""Records of a text file that are looked at."""


def column_types(frame: Frame, source: str) -> dict[str, str | None]:
    """Return the type of each column by name; None where there is nothing to tell it from.

    Parameters
    ----------
    frame
        The data, opened.
    source
        Where they are: of a text file, the first records are looked at.
    """
    stated = {name: frame.kind(name) for name in frame.columns}
    if not (Path(source).is_file() and source.lower().endswith(CSV)):
        return stated
    head = header(source, frame.reading)
    first = list(islice(records(source, head.layout), 0 if head.declared else 1, _FIRST))
    looks = {  # a record may have more cells than the header, or fewer
        name: _look([record[i] for record in first if i < len(record)], frame.reading)
        for i, name in enumerate(head.names)
    }
    return {**stated, **looks}


def _look(cells: Iterable[str], reading: Reading) -> str | None:
    """Return what most cells that hold anything look like."""
    filled = [cell for cell in cells if cell.strip()]
    if not filled:
        return None
    numbers = sum(reading.number(cell) is not None for cell in filled)
    dates = sum(reading.dates.read(cell) is not None for cell in filled)
    if 2 * numbers > len(filled):
        return "number"
    return "date" if 2 * dates > len(filled) else "text"
