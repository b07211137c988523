"""Text files of separated fields, as Python reads them: the header, single records, repairs.

The first line names the columns, and its most frequent separator (comma, semicolon, tab or bar)
separates the fields.
"""

from __future__ import annotations

import csv
import gzip
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedIOBase

__all__ = ["header", "mended", "strict_column"]

_SEPARATORS = (",", ";", "\t", "|")
_BLOCK, _LONG, _CELL = 1 << 24, 1 << 20, 1 << 14
"""Bytes read at once, characters of a line that need no care, and of a cell that are kept."""


def header(path: str) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns, from the first line alone."""
    with _opened(path) as lines:
        separator = _separator(lines)
        names = next(csv.reader(lines, delimiter=separator), [])
    if not names:
        raise ParameterError(
            "a CSV file",
            "begin with a line of column names",
            f"an empty one in {path!r}",
            "Write a header, such as age,income.",
        )
    return separator, _different(names)


def strict_column(files: Sequence[str], name: str) -> list[str | None]:
    """Return the cells of one column, record by record, or refuse files that are not in order.

    A blank line is an empty cell where there is one column; at the end of a file it is nothing.
    """
    separator, names = header(files[0])
    cells: list[str | None] = []
    for path in files:
        try:
            cells += _strict_cells(path, separator, names.index(name), len(names))
        except (UnicodeDecodeError, csv.Error):
            raise ParameterError(
                Path(path).name,
                "be a CSV file in order",
                "one that is not",
                "Write it again, in UTF-8 and with every quote closed.",
            ) from None
    return cells


def _strict_cells(path: str, separator: str, place: int, fields: int) -> Iterator[str | None]:
    blank = 0
    with _opened(path, errors="strict") as lines:
        rows = csv.reader(lines, delimiter=separator, strict=True)
        next(rows, None)
        for row in rows:
            if not row:
                blank += 1
                continue
            if len(row) != fields or (blank and fields > 1):
                raise ParameterError(
                    Path(path).name,
                    f"have {fields} cells in every line",
                    "another number of them",
                    "Quote cells that hold the separator.",
                )
            yield from [None] * blank
            yield row[place] or None
            blank = 0


@contextmanager
def mended(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """Give files in which every record is a row, whatever bytes it holds.

    Files of UTF-8 without long lines are given as they are. Others are copied for the time being
    into a folder that only the user may read: what is not UTF-8 is replaced and what is longer than
    any number or category cut off, so that no cell can make its row vanish.
    """
    if all(map(_plain, files)):
        yield files
        return
    with TemporaryDirectory(prefix="sourdine-") as folder:
        copies = [Path(folder) / f"{i:09d}.csv" for i in range(len(files))]
        for file, copy in zip(files, copies, strict=True):
            _copy(file, copy)
        yield list(map(str, copies))


def _plain(path: str) -> bool:
    """Return whether a file is UTF-8 with lines of a moderate length."""
    decoder, length = getincrementaldecoder("utf-8")(), 0
    with _bytes(path) as file:
        while block := file.read(_BLOCK):
            try:
                text = decoder.decode(block)
            except UnicodeDecodeError:
                return False
            lines = text.split("\n")
            lines[0] = "x" * length + lines[0] if length else lines[0]
            if max(map(len, lines)) > _LONG or "\0" in text:
                return False
            length = len(lines[-1])
    return True


def _copy(path: str, to: Path) -> None:
    """Copy a file record by record."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with _opened(path) as lines, to.open("w", encoding="utf-8", newline="") as copy:
            separator = _separator(lines)
            write = csv.writer(copy)
            for row in csv.reader((line.replace("\0", "") for line in lines), delimiter=separator):
                write.writerow([cell[:_CELL].replace("\r", " ") for cell in row])
    finally:
        csv.field_size_limit(limit)


def _separator(lines: IO[str]) -> str:
    """Return what separates the fields of the first line, and go back to it."""
    first = lines.readline()
    lines.seek(0)
    return max(_SEPARATORS, key=first.count)


def _bytes(path: str) -> BufferedIOBase:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else Path(path).open("rb")


def _opened(path: str, *, errors: str = "replace") -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return Path(path).open(encoding="utf-8-sig", errors=errors, newline="")


def _different(names: list[str]) -> list[str]:
    """Give a number to names that are empty or stand twice, whatever their case."""
    taken: set[str] = set()
    result = []
    for i, given in enumerate(names):
        name = given or f"column{i}"
        while name.lower() in taken:
            name = f"{name}_{i}"
        taken.add(name.lower())
        result.append(name)
    return result
