"""One value a row from a file, for guards: nothing that is read is ever printed."""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.holdout.column import TEXT, Column
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_labels", "read_values", "require_columns"]

WRITTEN = re.compile(
    r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?", re.ASCII
)
"""A number as people write it; 007 is a text."""

LONGEST = 1 << 63
"""A whole number with more digits is a name, not a number."""

GAPS = frozenset({"", "na", "nan", "null", "none", "n/a"})


def require_columns(column: str | None, *paths: Path | None) -> None:
    """Refuse the name of a column where no file has any."""
    if column is None or any(path and path.suffix.lower() == ".csv" for path in paths):
        return
    names = " and ".join(path.name for path in paths if path)
    raise ParameterError(
        f"column must be that of a .csv file, got {column} for {names or 'no file'}, where there "
        "are no columns. Leave it out."
    )


def read_labels(path: Path, column: str | None) -> Column:
    """Return labels: numbers if all that are there are written as such, else texts."""
    found = _read(path, column)
    if not isinstance(found, list):
        return Column.read(found, "labels")
    there = [text for text in found if text.lower() not in GAPS]
    if there and all(map(_is_number, there)):
        gap = float("nan")
        return Column.read([_number(t) if _is_number(t) else gap for t in found], "labels")
    return Column(TEXT, _objects([text or None for text in found]))


def read_values(path: Path, column: str | None, kind: str) -> Any:  # noqa: ANN401 - list or array
    """Return predictions of the kind that the labels are; a lone column may have any name."""
    found = _read(path, column, lone=True)
    if not isinstance(found, list) or kind == TEXT:
        return found
    for row, text in enumerate(found, start=1):
        if not _is_number(text):
            raise ParameterError(
                f"predictions must be numbers, as the labels are, got something else in row {row} "
                f"of {path.name}. Type a file with a number in each row."
            )
    return [_number(text) for text in found]


def _read(path: Path, column: str | None, *, lone: bool = False) -> Any:  # noqa: ANN401 - list or array
    """Return the rows of a file as texts, or as an array where the file holds one."""
    ending = path.suffix.lower()
    if ending not in {".csv", ".txt", ".npy"}:
        raise ParameterError(
            f"a file of labels or predictions must end in .csv, .txt or .npy, got {path.name}. "
            "Write it as one of these."
        )
    try:
        if ending == ".npy":
            return np.load(path, allow_pickle=False)
        text = path.read_text(encoding="utf-8-sig")
        if ending == ".txt":
            return [line.strip() for line in text.rstrip("\n").split("\n")] if text.strip() else []
        return _column(list(csv.reader(StringIO(text), strict=True)), column, path.name, lone=lone)
    except OSError as error:
        raise ParameterError(
            f"a file must be there and readable, got {path} ({error.strerror}). Type its path."
        ) from None
    except (ValueError, csv.Error, EOFError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(
            f"{path.name} must be a {ending} file, got something that cannot be read as one. "
            "Write it again, in UTF-8 if it is text."
        ) from None


def _column(rows: list[list[str]], column: str | None, file: str, *, lone: bool) -> list[str]:
    while rows and not rows[-1]:
        rows.pop()
    names = [name.strip() for name in rows[0]] if rows else []
    if column in names:
        place = names.index(column)
    else:
        _require_header(names, file)
        if len(names) > 1 or (column is not None and not lone):
            raise ParameterError(
                f"column must be one of {', '.join(filter(None, names))}, which the first line of "
                f"{file} names, got {column or 'none'}. Type column=NAME."
            )
        place = 0
    if len(names) == 1:
        rows = [row or [""] for row in rows]
    if any(len(row) != len(names) for row in rows):
        raise ParameterError(
            f"{file} must have {len(names)} cells in every line, got another number of them. "
            "Quote cells that hold commas."
        )
    return [row[place].strip() for row in rows[1:]]


def _require_header(names: list[str], file: str) -> None:
    """Refuse a first line of values: a header is dropped, and shown in errors."""
    if not any(names):
        raise ParameterError(
            f"{file} must begin with a line that names its columns, got an empty one. "
            "Write a header, as y, and a row for each value."
        )
    if any(map(_is_number, names)) or (len(names) == 1 and names[0].lower() in GAPS):
        raise ParameterError(
            f"{file} must begin with a line that names its columns, got values there. Add a "
            "header, as y; or write one value a line, without a header, in a .txt file."
        )


def _is_number(text: str) -> bool:
    return WRITTEN.fullmatch(text) is not None and abs(_number(text)) < LONGEST


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _objects(values: list[str | None]) -> np.ndarray[Any, np.dtype[Any]]:
    array = np.empty(len(values), object)
    array[:] = values
    return array
