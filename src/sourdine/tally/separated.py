"""Text files of separated fields: what their first line says, and columns that must be in order."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.tally.reading import SEPARATORS
from sourdine.tally.records import Layout, open_bytes, records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.tally.reading import Reading

__all__ = ["Header", "encoding_of", "fixed", "header", "strict_column"]

_FIRST = 1 << 20
"""Bytes that the first line may have."""
_MARKS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"}
_MARKS |= {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""What a file begins with that names its own encoding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What is public of a text file: declared, or said by its first line.

    The line's most frequent separator (comma, semicolon, tab or bar) separates the cells, and what
    ends it ends the records. A mark before it may name the encoding. Names that stand `twice` are
    told apart by numbers in `names`.
    """

    separator: str
    names: tuple[str, ...]
    encoding: str
    quotes: bool
    mac: bool
    declared: bool
    twice: tuple[str, ...] = ()

    @property
    def layout(self) -> Layout:
        """The form of the records."""
        return Layout(
            separator=self.separator,
            columns=len(self.names),
            encoding=self.encoding,
            quotes=self.quotes,
            mac=self.mac,
        )


def fixed(encoding: str) -> str:
    """Return an encoding whose order of bytes is declared, not read from the first two of them.

    Examples
    --------
    >>> fixed("utf-16"), fixed("utf-16-be"), fixed("cp1252")
    ('utf-16-le', 'utf-16-be', 'cp1252')
    """
    return f"{encoding}-le" if encoding in {"utf-16", "utf-32"} else encoding


def encoding_of(first: bytes, reading: Reading) -> str:
    """Return the encoding that is declared, or that the mark at the beginning of a file names.

    Where the first line is a record, its bytes are one person's and name nothing.
    """
    if reading.header is not None:
        return fixed(reading.encoding)
    named = next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)
    return named if named and reading.encoding == "utf-8" else reading.encoding


def header(path: str, reading: Reading) -> Header:
    """Return what a file's first line says; of one whose names are declared, nothing is read."""
    with open_bytes(path) as file:
        first = file.read(_FIRST)
    encoding = encoding_of(first, reading)
    text = first.decode(encoding, "replace")
    feed, ret = text.find("\n"), text.find("\r")
    mac = reading.header is None and ret >= 0 and text[ret + 1 : ret + 2] != "\n"
    mac = mac and (feed < 0 or ret < feed)
    line = text[: ret if mac else feed if feed >= 0 else None]
    separator = reading.separator
    if separator is None:
        separator = "," if reading.header else max(SEPARATORS, key=line.count)
    own = Header(
        separator=separator,
        names=reading.header or ("",),
        encoding=encoding,
        quotes=reading.quotes,
        mac=mac,
        declared=reading.header is not None,
    )
    return own if own.declared else _named(own, path)


def _named(own: Header, path: str) -> Header:
    names = next(records(path, own.layout), [])
    if not any(names):
        raise ParameterError(
            "a CSV file",
            "begin with a line of column names",
            f"an empty one in {path!r}",
            "Write a header, such as age,income.",
        )
    twice = tuple(dict.fromkeys(name for i, name in enumerate(names) if name in names[:i] and name))
    return replace(own, names=tuple(_different(names)), twice=twice)


def strict_column(files: Sequence[str], name: str, reading: Reading) -> list[str | None]:
    """Return the cells of one column, record by record, or refuse files that are not in order.

    A blank line is an empty cell where there is one column; at the end of a file it is nothing.
    """
    cells: list[str | None] = []
    for path in files:
        head = header(path, reading)
        try:
            cells += _strict_cells(path, head, head.names.index(name))
        except (UnicodeError, csv.Error):
            raise ParameterError(
                Path(path).name,
                "be a well-formed CSV file",
                "one that is not",
                "Write it in UTF-8 or declare its encoding, and close every quote.",
            ) from None
    return cells


def _strict_cells(path: str, head: Header, place: int) -> Iterator[str | None]:
    blank, fields = 0, len(head.names)
    encoding = "utf-8-sig" if head.encoding == "utf-8" else head.encoding
    with open_bytes(path) as file, TextIOWrapper(file, encoding, newline="\n") as lines:
        mark = '"' if head.quotes else None
        rows = csv.reader(lines, delimiter=head.separator, quotechar=mark, strict=True)
        if not head.declared:
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
