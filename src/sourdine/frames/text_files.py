"""Text files of separated fields, with arbitrary bytes."""

from __future__ import annotations

import csv
import gzip
import re
import sys
from codecs import getincrementaldecoder
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile, mkdtemp
from typing import TYPE_CHECKING, BinaryIO, cast
from weakref import finalize

import numpy as np

from sourdine.errors import ParameterError
from sourdine.frames.reading import SEPARATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Whole
    from sourdine.frames.reading import Reading


# ---- Temporary copies that disappear with the process --------------------------------------------


class Copy:
    """A copy of private data that another library reads by its ``path`` while this object lives.

    On Linux the file has no name, so that nothing is left of it if the process is killed. On other
    systems it is in a folder that only the user may read and that is deleted with this object.
    """

    def __init__(self, parts: Iterable[bytes]) -> None:
        if sys.platform == "linux":
            file = TemporaryFile()  # noqa: SIM115 - open while the object lives
            finalize(self, file.close)
            file.writelines(parts)
            file.flush()
            self.path = f"/proc/self/fd/{file.fileno()}"
            return
        folder = Path(mkdtemp(prefix="sourdine-"))
        finalize(self, rmtree, folder, ignore_errors=True)
        self.path = str(folder / "copy.csv")
        with Path(self.path).open("wb") as named:
            named.writelines(parts)


# ---- Records of a text file ----------------------------------------------------------------------
#
# a record ends        at a line feed outside quotes; a carriage return before it belongs to the end
# a cell is quoted     if it begins with a quote, after optional blanks; a doubled quote is a
#                      quote, and anything between the closing quote and the next separator is
#                      dropped
# what is unreadable   bytes that the encoding does not have, and NUL: each reads as U+FFFD
# a lone CR            does not end a record but is a blank
# a record is long     above `LONGEST` bytes; a cell that takes more than an equal share of them
#                      then reads as U+FFFD
# a blank line         is a record if there is one column, and otherwise ignored
#
# A file in the plainest form of these rules is passed to DuckDB unchanged. Any other is rewritten:
# plain stretches are copied, the records between them are written anew with every cell quoted.
# So all files are read by one parser, and by the table above (``test_the_engine_reads_the_same``);
# the bytes of one record never change how another is read (``test_a_record_is_read_alone``).


LONGEST = 1 << 20
"""Bytes of a record that are always kept."""
_BLOCK, _WINDOW = 1 << 22, 1 << 16
"""Bytes read at once, and bytes scanned together."""
_QUOTE, _LINE_FEED = ord('"'), ord("\n")
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_LONE = re.compile("\r(?!\n)")
_NO_BLANK = re.compile(b"[^ ]")
_MAC = {ord("\r"): "\n", ord("\n"): " "}
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_SHORT = 16
_BEGUN, _PLAIN, _QUOTED, _CLOSING, _CLOSED = range(5)
"""States of the reader within a cell: nothing or blanks so far, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The public form of a text file.

    Records have ``columns`` cells: more are dropped, fewer are padded with missing ones. With
    ``mac``, lines end in a carriage return alone.
    """

    separator: str
    columns: int
    encoding: str = "utf-8"
    quotes: bool = True
    mac: bool = False

    @property
    def marks(self) -> NDArray[np.bool_]:
        """Which bytes may stand next to a quoted cell."""
        beside = np.zeros(256, np.bool_)
        beside[[ord(self.separator), _LINE_FEED, ord("\r")]] = True
        return beside


def open_bytes(path: str) -> BinaryIO:
    """Open a file, compressed or not."""
    if path.lower().endswith(".gz"):
        return cast("BinaryIO", gzip.open(path, "rb"))
    return Path(path).open("rb")


def is_plain(path: str, layout: Layout) -> bool:
    """Return whether DuckDB reads a file unchanged by the rules above."""
    return all(same for _, same in _pieces(path, layout))


def rewritten(path: str, layout: Layout) -> Iterator[bytes]:
    """Yield the file in UTF-8, in a form that DuckDB reads by the rules above."""
    return (piece for piece, _ in _pieces(path, layout))


def records(path: str, layout: Layout) -> Iterator[list[str]]:
    """Yield the cells of each record, however many it has."""
    reader = RecordReader(layout, LONGEST)
    with open_bytes(path) as file:
        for block, _ in _texts(file, layout):
            i = 0
            while i < len(block):
                i, record = reader.read(block, i)
                if record is not None:
                    yield [cell.decode() for cell in record]
        if (record := reader.ended()) is not None:
            yield [cell.decode() for cell in record]


def _pieces(path: str, layout: Layout) -> Iterator[tuple[bytes, bool]]:
    """Yield the file piece by piece, and whether each piece is unchanged."""
    reader, rest = RecordReader(layout, layout.columns), b""
    with open_bytes(path) as file:
        for block, same in _texts(file, layout):
            if not same:
                yield b"", False
            rest += block
            i = 0
            while True:
                i, piece, copied = _piece(rest, i, reader)
                if not piece:
                    break
                yield piece, copied
            rest = rest[i:]
    if rest and not reader.is_inside and _plain_stretch(rest + b"\n", 0, layout) > len(rest):
        yield rest, True
        return
    i = 0
    while i < len(rest):
        i, record = reader.read(rest, i)
        if record is not None:
            yield reader.written(record), False
    if (record := reader.ended()) is not None:
        yield reader.written(record), False


def _texts(file: BinaryIO, layout: Layout) -> Iterator[tuple[bytes, bool]]:
    """Yield blocks in UTF-8 without NUL and lone carriage returns, and whether unchanged."""
    decoder = getincrementaldecoder(layout.encoding)("replace")
    known = layout.encoding == "utf-8" and not layout.mac
    held, first, block = "", True, b"-"
    while block:
        block = file.read(_BLOCK)
        if known and not (held or first) and _is_simple(block) and not decoder.getstate()[0]:
            yield block, True
            continue
        try:
            text = held + decoder.decode(block, not block)
        except UnicodeError:
            raise _unmarked(layout.encoding) from None
        held = "\r" if block and text.endswith("\r") else ""
        text = text.removesuffix("\r") if held else text
        text = text.removeprefix(BOM) if first else text
        first = first and not text
        clean = text.replace("\0", _UNREADABLE)
        clean = clean.translate(_MAC) if layout.mac else _LONE.sub(" ", clean)
        yield clean.encode("utf-8", "replace"), known and clean == text and _UNREADABLE not in text


def _unmarked(encoding: str) -> ParameterError:
    """Return the error for a file without the byte order mark that its encoding requires."""
    return ParameterError(
        "encoding", "specify the byte order, as the file begins without a byte order mark",
        repr(encoding), "Use {encoding}, or the same with be, or omit it if the file is in UTF-8.",
        encoding=f"{encoding}-le",
    )  # fmt: skip


def _is_simple(block: bytes) -> bool:
    """Return whether a block is ASCII with nothing to rewrite, and no line end cut in two."""
    return (
        block.isascii()
        and b"\0" not in block
        and (b"\r" not in block or block.count(b"\r") == block.count(b"\r\n"))
    )


def _piece(block: bytes, i: int, reader: RecordReader) -> tuple[int, bytes, bool]:
    """Return the end of the next piece, the piece, and whether it is unchanged.

    There is none if the block ends before the record that begins there does.
    """
    if not reader.is_inside and i >= reader.rough:
        end = _plain_stretch(block, i, reader.layout)
        if end > i:
            return end, block[i:end], True
        if end < 0 and len(block) - i <= LONGEST:
            return i, b"", False
        reader.rough = i + _WINDOW
    while i < len(block):
        i, record = reader.read(block, i)
        if record is not None:
            return i, reader.written(record), False
    reader.rough = 0
    return i, b"", False


def _plain_stretch(block: bytes, start: int, layout: Layout) -> int:
    """Return where a stretch of plain records that begins here ends; -1 if no record ends here."""
    for size in (_WINDOW, LONGEST):
        part = block[start : start + size]
        marks = np.frombuffer(part, np.uint8)
        quotes = np.flatnonzero(marks == _QUOTE) if b'"' in part else None
        end = part.rfind(b"\n")
        if quotes is not None:
            while (before := int(np.searchsorted(quotes, end))) % 2:
                end = part.rfind(b"\n", 0, int(quotes[before - 1]))
            if not _in_order(marks, quotes[:before], layout):
                return start
        if end >= 0:
            return start if _is_odd(part[: end + 1], layout) else start + end + 1
    return -1


def _is_odd(part: bytes, layout: Layout) -> bool:
    """Return whether DuckDB may read a part by its own rules, as it does for a single column."""
    return layout.columns == 1 and (
        part.startswith(b"\n")
        or b"\n\n" in part
        or b"\r" in part
        or layout.separator.encode() in part
    )


def _in_order(marks: NDArray[np.uint8], quotes: Whole, layout: Layout) -> bool:
    """Return whether every quote opens a cell, closes one or is doubled within it."""
    if len(quotes) == 0:
        return True
    if not layout.quotes:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before, after = marks[opening - 1], marks[closing + 1]
    begins, ends = (layout.marks[mark] for mark in (before, after))
    begins[0] |= opening[0] == 0
    doubled = opening[1:] == closing[:-1] + 1
    inner = doubled | (begins[1:] & ends[:-1])
    return bool(begins[0] and ends[-1] and inner.all())


class RecordReader:
    """Reads record after record, from blocks that may end anywhere, with a limit on cells."""

    def __init__(self, layout: Layout, most: int) -> None:
        self.layout, self._most = layout, most
        self.rough = 0
        self._mark = layout.separator.encode()
        self._ends = re.compile(b"[" + re.escape(self._mark) + b"\n]")
        self._share = max(LONGEST // layout.columns, _SHORT)
        self._begin()

    def _begin(self) -> None:
        self._record: list[bytes] = []
        self._cell, self._state, self._size = bytearray(), _BEGUN, 0
        self.is_inside = False

    def read(self, block: bytes, i: int) -> tuple[int, list[bytes] | None]:
        """Read to the end of a record or of the block: return the position, and the record."""
        while i < len(block):
            self.is_inside = True
            if self._state is _BEGUN:
                i = self._opened(block, i)
            elif self._state is _QUOTED:
                i = self._quoted(block, i)
            elif self._state is _CLOSING:
                i = self._closed(block, i)
            else:
                found = self._ends.search(block, i)
                end = found.start() if found else len(block)
                if self._state is _PLAIN:
                    self._keep(block[i:end])
                if found is None:
                    return end, None
                i = end + 1
                if block[end] == _LINE_FEED:
                    record = self.ended()
                    if record is not None:
                        return i, record
                else:
                    self._end_cell()
        return i, None

    def _opened(self, block: bytes, i: int) -> int:
        """Skip the blanks before a quote."""
        found = _NO_BLANK.search(block, i)
        end = found.start() if found else len(block)
        self._keep(block[i:end])
        if end == len(block):
            return end
        if not (self.layout.quotes and block[end] == _QUOTE):
            self._state = _PLAIN
            return end
        self._state = _QUOTED
        self._cell.clear()
        return end + 1

    def _quoted(self, block: bytes, i: int) -> int:
        end = block.find(b'"', i)
        if end < 0:
            self._keep(block[i:])
            return len(block)
        self._keep(block[i:end])
        self._state = _CLOSING
        return end + 1

    def _closed(self, block: bytes, i: int) -> int:
        """Distinguish a doubled quote from a closing one."""
        if block[i] != _QUOTE:
            self._state = _CLOSED
            return i
        self._keep(b'"')
        self._state = _QUOTED
        return i + 1

    def _keep(self, part: bytes) -> None:
        """Add to the cell; in a long record no cell is kept beyond its share."""
        was_long = self._size > LONGEST
        self._size += len(part)
        self._cell += part
        if self._size > LONGEST:
            self._record = self._record if was_long else list(map(self._short, self._record))
            del self._cell[self._share + 1 :]

    def _short(self, cell: bytes) -> bytes:
        return cell if len(cell) <= self._share else _UNREADABLE.encode()

    def _end_cell(self) -> None:
        cell = bytes(self._cell)
        if len(self._record) < self._most:
            self._record.append(self._short(cell) if self._size > LONGEST else cell)
        self._cell, self._state = bytearray(), _BEGUN

    def ended(self) -> list[bytes] | None:
        """End the current record and return it; None for an ignored blank line."""
        inside = self.is_inside
        if self._state in {_BEGUN, _PLAIN} and self._cell.endswith(b"\r"):
            del self._cell[-1:]
        quoted = self._state in {_QUOTED, _CLOSING, _CLOSED}
        blank = not (self._record or self._cell or quoted)
        self._end_cell()
        record = self._record
        self._begin()
        return record if inside and not (blank and self.layout.columns > 1) else None

    def written(self, record: list[bytes]) -> bytes:
        """Write a record with all of its columns, every cell quoted."""
        cells = (record + [b""] * self.layout.columns)[: self.layout.columns]
        quoted = (b'"' + cell.replace(b'"', b'""') + b'"' for cell in cells)
        return self._mark.join(quoted) + b"\n"


# ---- Headers, and strictly checked columns -------------------------------------------------------


_FIRST = 1 << 20
_MARKS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"}
_MARKS |= {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte order marks at the beginning of a file, and the encodings they name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Layout):
    """What is public of a text file: declared, or stated by its first line.

    The line's most frequent separator (comma, semicolon, tab or bar) separates the cells, and its
    line end ends the records. A byte order mark may name the encoding. Duplicate names (`twice`)
    are numbered in `names`.
    """

    names: tuple[str, ...]
    declared: bool
    twice: tuple[str, ...] = ()


def fixed(encoding: str) -> str:
    """Return an encoding with a declared byte order, not one read from the first two bytes."""
    return f"{encoding}-le" if encoding in {"utf-16", "utf-32"} else encoding


def encoding_of(first: bytes, reading: Reading) -> str:
    """Return the declared encoding, or the one that the byte order mark of a file names.

    If the first line is a record, its bytes belong to one person and are not interpreted.
    """
    if reading.header is not None:
        return fixed(reading.encoding)
    named = next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)
    return named if named and reading.encoding == "utf-8" else reading.encoding


def header(path: str, reading: Reading) -> Header:
    """Return what a file's first line states; if the names are declared, nothing is read."""
    with open_bytes(path) as file:
        first = file.read(_FIRST)
    encoding = encoding_of(first, reading)
    text = first.decode(encoding, "replace")
    feed, ret = text.find("\n"), text.find("\r")
    mac = reading.header is None and ret >= 0 and text[ret + 1 : ret + 2] != "\n"
    mac = mac and (feed < 0 or ret < feed)
    line = text[:ret] if mac else text.partition("\n")[0]
    separator = reading.separator
    if separator is None:
        separator = "," if reading.header else max(SEPARATORS, key=line.count)
    named = reading.header or ("",)
    own = Header(
        separator=separator, columns=len(named), encoding=encoding, quotes=reading.quotes, mac=mac,
        names=named, declared=reading.header is not None,
    )  # fmt: skip
    if own.declared:
        return own
    names = next(records(path, own), [])
    if not any(names):
        raise ParameterError(
            "a CSV file", "begin with a header line of column names", f"an empty file {path!r}",
            "Write a header, such as age,income.",
        )  # fmt: skip
    twice = tuple(dict.fromkeys(name for i, name in enumerate(names) if name in names[:i] and name))
    return replace(own, names=tuple(distinct_names(names)), columns=len(names), twice=twice)


def strict_column(files: Sequence[str], name: str, reading: Reading) -> list[str | None]:
    """Return the cells of one column, record by record, or refuse malformed files.

    A blank line is an empty cell if there is one column; at the end of a file it is ignored.
    """
    cells: list[str | None] = []
    for path in files:
        head = header(path, reading)
        try:
            cells += _strict_cells(path, head, head.names.index(name))
        except (UnicodeError, csv.Error):
            raise ParameterError(
                Path(path).name, "be a well-formed CSV file", "",
                "Save it in UTF-8 or declare its encoding, and close every quote.",
            ) from None  # fmt: skip
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
                    Path(path).name, f"have {fields} cells in every line", "",
                    "Quote cells that contain the separator.",
                )  # fmt: skip
            yield from [None] * blank
            yield row[place] or None
            blank = 0


def distinct_names(names: list[str]) -> list[str]:
    """Add numbers to names that are empty or occur twice, ignoring case."""
    taken: set[str] = set()
    result = []
    for i, given in enumerate(names):
        name = given or f"column{i}"
        while name.lower() in taken:
            name = f"{name}_{i}"
        taken.add(name.lower())
        result.append(name)
    return result
