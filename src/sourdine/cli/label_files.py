"""Which column of a file ``sourdine guard`` reads; nothing but names is ever printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.adaptive.holdout.label_texts import is_gap, is_written
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.tally import Frame
from sourdine.tally.absent import listed_columns
from sourdine.tally.opening import NAMELESS

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.tally import Reading

__all__ = ["one_column", "require_columns"]


def require_columns(column: str | None, *paths: Path | None) -> None:
    """Refuse the name of a column where no file has any."""
    if column is None or any(path and path.suffix.lower() not in NAMELESS for path in paths):
        return
    names = " and ".join(path.name for path in paths if path)
    raise ParameterError(
        "column",
        "be that of a .csv or .parquet file",
        f"{column} for {names or 'no file'}, where there are no columns",
        "Leave {column} out.",
        column=LEFT_OUT,
    )


def one_column(
    path: Path, column: str | None, *, lone: bool = False, read: Reading | None = None
) -> Frame:
    """Return one column of a file.

    Parameters
    ----------
    path
        The file.
    column
        Its name; None for the only one.
    lone
        Whether an only column may have any name.
    read
        How its text is read.
    """
    frame = Frame(path, read=read)
    if path.suffix.lower() in NAMELESS:
        return frame
    names = {name.strip(): name for name in reversed(frame.columns)}
    if column in names:
        return frame[names[column]]
    named_there = frame.parsed and frame.reading.header is None
    if named_there:
        _require_header([name.strip() for name in frame.columns], path.name)
    if len(frame.columns) > 1 or (column is not None and not lone):
        where = f"the first line of {path.name}" if named_there else path.name
        raise ParameterError(
            "column",
            f"be one that {where} names",
            str(column or "none"),
            listed_columns(frame, column),
        )
    return frame


def _require_header(names: list[str], file: str) -> None:
    """Refuse a first line of values: a header is dropped, and shown in errors."""
    if not any(names):
        raise ParameterError(
            file,
            "begin with a line that names its columns",
            "an empty one",
            "Write a header, such as y, and a row for each value.",
        )
    if any(map(is_written, names)) or (len(names) == 1 and is_gap(names[0])):
        raise ParameterError(
            file,
            "begin with a line that names its columns",
            "values there",
            "Add a header, such as y; or write one value a line, without a header, in a .txt file.",
        )
