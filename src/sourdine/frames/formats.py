"""Files of other programs: Excel, SPSS, SAS, Stata, JSON Lines and Arrow.

Every cell is converted on its own: no library may infer the type of a column from its rows. The
engine for data in memory counts each batch, so the counts agree with it by construction
(``test_engine``). A cell that holds nothing usable is missing; a file that is damaged as a whole is
refused without the library's message, which may hold data.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sourdine.calendar import DAY, FIRST, LAST, NOWHERE
from sourdine.errors import MissingExtraError, ParameterError, SourdineError, close_matches
from sourdine.frames.batches import Batches, declared_types
from sourdine.frames.engine import require_different
from sourdine.frames.memory import DATES, NUMBERS, WORDS, Column, Declared, Memory, moments
from sourdine.frames.paths import ARROW, EXCEL, JSON_LINES, READSTAT
from sourdine.frames.reading import STANDARD, Reading, read_text
from sourdine.frames.text_files import BOM, LONGEST, distinct_names, open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Whole
    from sourdine.frames.engine import Engine

T = TypeVar("T")

FORMATS = (EXCEL, READSTAT, JSON_LINES, ARROW)


def open_format(
    ending: str, files: Sequence[str], reading: Reading, sheet: str | None = None
) -> Engine:
    """Return the engine over files of one of the formats of `FORMATS`, by the ending of a path.

    Of JSON Lines ``reading`` names the columns. Of Excel files the first sheet is read if none is
    named.
    """
    if ending.endswith(ARROW):
        return open_arrow(files)
    if ending.endswith(EXCEL):
        return open_sheets(files, reading, sheet)
    return (open_readstat if ending.endswith(READSTAT) else open_json_lines)(files, reading)


def _guarded(path: str, work: Callable[[], T]) -> T:
    """Read a file; on failure, raise an error without the library's message."""
    try:
        return work()
    except (SourdineError, OSError):
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # of Rust
            raise damaged(path) from None
        raise


def damaged(path: str) -> ParameterError:
    """Return the error for a file that cannot be read at all."""
    return ParameterError(
        "the file", "be readable",
        f"{path!r} (damaged, protected by a password, or not what its ending says)",
        "Open it in the program that wrote it, and save it again.",
    )  # fmt: skip


def _require_same(columns: Sequence[object]) -> None:
    """Refuse files of different columns, or of the same columns with other types."""
    if any(own != columns[0] for own in columns):
        raise ParameterError(
            "the files", "have the same columns", "different columns",
            "Read files with the same columns of the same types.",
        )  # fmt: skip


# ---- Excel ---------------------------------------------------------------------------------------
#
# Cells have types of their own, and columns have none, so a sheet is read as a text file is: cell
# by cell, and texts as numbers where they are some. The first row that holds anything names the
# columns. A row without any cell is no record, wherever it stands: the sheet does not say where it
# ends. Excel stores the last value of each formula, and that is what is read; an error such as
# #DIV/0! is missing. Numbers in a date format are dates: python-calamine decides it for each cell
# (``test_a_cell_of_a_sheet_is_read_alone``). DuckDB's reader is not used: it is an extension that
# is downloaded when it is needed, and it takes the types of columns from the first rows.


_NOTHING = ("", None)


def open_sheets(files: Sequence[str], reading: Reading, sheet: str | None = None) -> Memory:
    """Return the rows of a sheet of Excel files, in memory."""
    names: list[tuple[str, ...]] = []
    columns: list[list[Any]] = []
    for path in files:
        rows = sheet_rows(path, sheet)
        head = reading.header or _head(rows, path)
        names.append(head)
        columns = columns or [[] for _ in head]
        _require_same(names)
        for row in rows:
            for i, values in enumerate(columns):
                values.append(row[i] if i < len(row) else None)
    engine = _of_columns(names[0], columns, len(columns[0]))
    engine.parsed, engine.reading = True, reading
    return engine


def _of_columns(names: Sequence[str], columns: Sequence[Sequence[Any]], rows: int) -> Memory:
    """Return rows of cells, each of which has its own type."""
    both = zip(names, columns, strict=True)
    return Memory({name: partial(Column.of, values) for name, values in both}, rows)


def sheet_rows(path: str, sheet: str | None = None) -> Iterator[list[Any]]:
    """Yield the rows of a sheet that hold anything, from its first column; None where empty."""
    opened = _guarded(path, lambda: _sheet(path, sheet))
    # the library leaves out the columns before the first that is used
    before: list[Any] = [None] * (opened.start[1] if opened.start else 0)
    for row in opened.iter_rows():
        cells = [None if value in _NOTHING or value != value else value for value in row]  # noqa: PLR0124
        if any(value is not None for value in cells):
            yield before + cells


def _sheet(path: str, sheet: str | None) -> Any:
    book = _workbook(path)
    names = _worksheets(book)
    if sheet is not None and sheet not in names:
        like = close_matches(sheet, names)
        meant = f"Did you mean {' or '.join(map(repr, like))}? " if like else ""
        raise ParameterError(
            "the sheet", "be one of the file's", repr(sheet),
            f"{meant}Look at the sheets with sourdine inspect.",
        )  # fmt: skip
    return book.get_sheet_by_name(names[0] if sheet is None else sheet)


def worksheets(path: str) -> list[str]:
    """Return the names of the sheets of a file, in order."""
    return _guarded(path, lambda: _worksheets(_workbook(path)))


def _workbook(path: str) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtraError.of("excel") from None
    return CalamineWorkbook.from_path(path)


def _worksheets(book: Any) -> list[str]:
    """Return the names of the sheets; a chart is none."""
    return [one.name for one in book.sheets_metadata if str(one.typ).endswith("WorkSheet")]


def _head(rows: Iterator[list[Any]], path: str) -> tuple[str, ...]:
    """Take the names of the columns from the rows, up to the last cell that holds one."""
    first = [read_text(value) or "" for value in next(rows, [])]
    while first and not first[-1]:
        first.pop()
    named = [name for name in first if name]
    if not first:
        raise ParameterError(
            "the sheet",
            "begin with a row of column names",
            f"an empty sheet in {path!r}",
            "Name another sheet, such as 'people.xlsx#Sheet2'.",
        )
    if len(set(named)) < len(named):
        raise ParameterError(
            "the sheet", "have distinct column names in its first row", "a duplicate name",
            "Rename one of them. If the first row is a record, pass the column names as header "
            "in a Reading or on the command line.",
        )  # fmt: skip
    return tuple(distinct_names(first))


# ---- SPSS, SAS and Stata -------------------------------------------------------------------------
#
# These files state the type of each column, which is public: a number or a text, and in its format
# whether a number is a date. Dates are converted here, since the library would raise an error for
# one that Python does not have. Missing values that the file declares are missing: SPSS's user
# missing values, the special ones of SAS and of Stata (.A to .Z). Texts are asked for as LATIN1,
# which has a character for every byte, and decoded here: in the file's own encoding the library
# would raise an error for a single invalid byte.


_CHUNK = 1 << 18
"""Rows in memory at once; the library skips those before them anew for every chunk."""
_SINCE_1582, _SINCE_1960 = -12_219_379_200 * 10**6, -3653 * DAY
"""From where dates count: 14 October 1582 in SPSS, 1 January 1960 in SAS and Stata."""
_SPSS_DATE = re.compile(r"(?:[AEJS]?DATE|QYR|MOYR|WKYR)\d*(?:\.\d*)?")
_SPSS_TIME = re.compile(r"(?:DATETIME|YMDHMS)\d*(?:\.\d*)?")
_SAS_DATE = re.compile(
    r"(?:DATE|(?:B8601|E8601|IS8601)DA|(?:DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM)[BCDNPS]?|YYMON|MONYY|"
    r"JULIAN|WEEKDAT[EX]|WORDDAT[EX]|NLDATE\w*?)\d*(?:\.\d*)?"
)
_SAS_TIME = re.compile(
    r"(?:DATETIME|DATEAMPM|MDYAMPM|(?:B8601|E8601|IS8601)D[TZN]|DTDATE|DTMONYY|NLDATM\w*?)"
    r"\d*(?:\.\d*)?"
)
_STATA_DATE, _STATA_TIME = re.compile(r"%-?t?d.*"), re.compile(r"%-?t[cC].*")
_UNICODE_STATA = 118
"""From this version on Stata's files are in UTF-8, before in Windows' Western encoding."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a column holds; of dates, from which instant they count and in which unit."""

    declared: Declared
    epoch: int = 0
    unit: int = 0
    day: bool = False

    def column(self, values: Sequence[Any]) -> Column:
        if self.declared.holds == WORDS:
            return Column.of(values, holds=WORDS)
        numbers = np.array([np.nan if v is None else v for v in values], np.float64)
        if not self.unit:
            return Column(numbers, holds=NUMBERS)
        found = _instants(numbers, self.epoch, self.unit, day=self.day)
        return moments(found, date=self.day)


def _decoded(text: str, encoding: str) -> str:
    return text.encode("latin-1", "replace").decode(encoding, "replace")


def _instants(x: NDArray[np.float64], epoch: int, unit: int, *, day: bool) -> Whole:
    """Return instants; whole units and the rest apart, since a float of both would lose digits."""
    there = np.isfinite(x) & (np.abs(x) < (LAST - FIRST) // unit * 2)
    x = np.where(there, x, 0.0)
    whole = np.floor(x)
    found = whole.astype(np.int64) * unit + np.rint((x - whole) * unit).astype(np.int64) + epoch
    found = found // DAY * DAY if day else found
    return np.where(there & (found >= FIRST) & (found <= LAST), found, NOWHERE)


def open_readstat(files: Sequence[str], reading: Reading = STANDARD) -> Batches:
    """Return the engine over files of SPSS, SAS or Stata, which reads some rows at a time."""
    read = [ReadstatFile(path, reading) for path in files]
    _require_same([one.kinds for one in read])
    kinds = read[0].kinds
    types = {name: kind.declared for name, kind in kinds.items()}

    def memory(found: Mapping[str, Sequence[Any]]) -> Memory:
        rows = len(next(iter(found.values())))
        columns = {name: kinds[name].column(values) for name, values in found.items()}
        return Memory(columns, rows, types=types)

    def each(columns: list[str]) -> Iterator[Memory]:
        for one in read:
            for found in one.chunks(columns or list(kinds)[:1]):
                yield memory(found)

    def whole(columns: list[str]) -> Memory:
        parts = [found for one in read for found in one.chunks(columns, 0)]
        return memory({name: [v for part in parts for v in part[name]] for name in columns})

    engine = Batches(types, each, whole, lambda: sum(part.rows() for part in each([])))
    engine.reading = reading
    return engine


class ReadstatFile:
    """A file of SPSS, SAS or Stata."""

    def __init__(self, path: str, reading: Reading) -> None:
        try:
            import pyreadstat
        except ImportError:
            raise MissingExtraError.of("readstat") from None
        self._path = path
        ending = path.lower().rpartition(".")[2]
        self._read: Any = {
            "sas7bdat": pyreadstat.read_sas7bdat,
            "xpt": pyreadstat.read_xport,
            "dta": pyreadstat.read_dta,
        }.get(ending, pyreadstat.read_sav)
        with Path(path).open("rb") as file:  # says why a file cannot be opened
            first = file.read(64)
        own, about = self._about(None), self._about("LATIN1")
        self.encoding = _encoding(ending, first, own.file_encoding, reading)
        self._raw: list[str] = list(about.column_names)
        names = [_decoded(name, self.encoding) for name in self._raw]
        require_different(names)
        self.labels = {
            _decoded(name, self.encoding): {
                code: _decoded(str(text), self.encoding) for code, text in texts.items()
            }
            for name, texts in about.variable_value_labels.items()
        }
        stored, formats = about.readstat_variable_types, about.original_variable_types
        self.kinds = {
            name: _kind(ending, stored[raw], formats[raw] or "")
            for name, raw in zip(names, self._raw, strict=True)
        }

    def _about(self, encoding: str | None) -> Any:
        return self._rows(encoding=encoding, metadataonly=True)[1]

    def _rows(self, **options: Any) -> Any:
        return _guarded(
            self._path,
            lambda: self._read(
                self._path, output_format="dict", disable_datetime_conversion=True, **options
            ),
        )

    def chunks(self, columns: Sequence[str], most: int = _CHUNK) -> Iterator[dict[str, list[Any]]]:
        """Yield the values of some rows at a time, texts decoded; all at once if most is 0."""
        raw = {name: self._raw[list(self.kinds).index(name)] for name in columns}
        start, rows = 0, most
        while rows == most:
            options = {"usecols": [*raw.values()], "row_offset": start, "row_limit": most}
            found = self._rows(encoding="LATIN1", **options)[0]
            yield {name: self._values(name, found.get(own, [])) for name, own in raw.items()}
            rows = len(next(iter(found.values()), ()))
            start += rows
            if not most:
                return

    def _values(self, name: str, values: list[Any]) -> list[Any]:
        if self.kinds[name].declared.holds != WORDS:
            return values
        return [_decoded(v, self.encoding) if v else None for v in values]


def _encoding(ending: str, first: bytes, stated: str | None, reading: Reading) -> str:
    """Return the encoding of texts: the declared one, else the one that the file states."""
    if reading.encoding != "utf-8":
        return reading.encoding
    if ending == "dta":
        found = re.match(rb"<stata_dta><header><release>(\d+)", first)
        version = int(found[1]) if found else first[0] if first else 0
        return "utf-8" if version >= _UNICODE_STATA else "cp1252"
    try:
        return codecs.lookup(stated or "utf-8").name
    except LookupError:
        return "latin-1"


def _kind(ending: str, stored: str, written: str) -> _Kind:
    """Return the kind of a column by its stored type and its format."""
    if stored == "string":
        return _Kind(Declared(WORDS, stored))
    second, since = 10**6, _SINCE_1960
    if ending == "dta":
        form, dates, times, day, unit = written, _STATA_DATE, _STATA_TIME, DAY, 1000
    elif ending in {"sav", "zsav"}:
        form, dates, times, day, unit = written.upper(), _SPSS_DATE, _SPSS_TIME, second, second
        since = _SINCE_1582
    else:
        form, dates, times, day, unit = written.upper(), _SAS_DATE, _SAS_TIME, DAY, second
    if dates.fullmatch(form):
        return _Kind(Declared(DATES, written), since, day, day=True)
    if times.fullmatch(form):
        return _Kind(Declared(DATES, written), since, unit)
    return _Kind(Declared(NUMBERS, stored))


# ---- JSON Lines ----------------------------------------------------------------------------------
#
# Every line is a record on its own, and its keys belong to it: which keys occur is private. So the
# names of the columns are declared, and a key that a record does not have is missing. A line that
# is no JSON object, or longer than a megabyte, is a record of missing values, and a blank line is
# no record. Objects and lists in a cell are missing.


_LINES = 1 << 15
_DEEP = 256
"""Lines of more brackets are not parsed: the parser's own limit depends on its caller."""
_MARK = BOM.encode()
_HALVES = re.compile("[\ud800-\udfff]")
_DIGITS = 38
"""Up to as many digits a number is an integer, as in text."""


def open_json_lines(files: Sequence[str], reading: Reading) -> Batches:
    """Return the engine over JSON Lines, which reads some lines at a time."""
    if reading.header is None:
        raise ParameterError(
            "header", "name the columns of JSON Lines: which keys the records have is private", "",
            "Use {header} with the keys that are needed; sourdine inspect lists all keys.",
            header=["age", "income"],
        )  # fmt: skip
    names = reading.header

    def cells(columns: Sequence[str]) -> Iterator[list[Any]]:
        records = (record for path in files for record in json_records(path, reading))
        return (_cells(record, columns) for record in records)

    def each(columns: list[str]) -> Iterator[Memory]:
        rows = cells(columns)
        while some := list(islice(rows, _LINES)):
            yield _of_rows(columns, some)

    def whole(columns: list[str]) -> Memory:
        return _of_rows(columns, list(cells(columns)))

    engine = Batches(dict.fromkeys(names), each, whole, lambda: sum(1 for _ in cells(())))
    engine.parsed, engine.reading = True, reading
    return engine


def _of_rows(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Memory:
    return _of_columns(names, list(zip(*rows, strict=True)) or [()] * len(names), len(rows))


def json_records(path: str, reading: Reading = STANDARD) -> Iterator[dict[str, Any]]:
    """Yield the records of a file: the cells of each line by key, none for what is no object."""
    if reading.encoding != "utf-8":
        raise ParameterError(
            "encoding", "be omitted for JSON Lines, which is always UTF-8", repr(reading.encoding),
            "Write the file in UTF-8.",
        )  # fmt: skip
    with open_bytes(path) as file:
        mark = len(_MARK) if file.read(len(_MARK)) == _MARK else 0
        file.seek(mark)
        while line := file.readline(LONGEST):
            if len(line) < LONGEST or line.endswith(b"\n"):
                if line.strip(b" \t\r\n"):
                    yield _record(line.decode("utf-8", "replace"))
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST)
            yield {}


def _record(text: str) -> dict[str, Any]:
    if text.count("[") + text.count("{") > _DEEP:
        return {}
    try:
        found = _decode(text)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    if text.isascii() and "\\" not in text:
        return found
    # halves of surrogate pairs, which JSON can write (\ud800) and UTF-8 cannot
    return {_well_formed(key): _well_formed(value) for key, value in found.items()}


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits.lstrip("-")) <= _DIGITS else float(digits)


_decode = json.JSONDecoder(parse_int=_whole).decode


def _well_formed(value: Any) -> Any:
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else value


def _cells(record: dict[str, Any], names: Sequence[str]) -> list[Any]:
    """Return the cells of columns; objects and lists are missing."""
    found = [record.get(name) for name in names]
    return [None if isinstance(value, (dict, list)) else value for value in found]


# ---- Arrow ---------------------------------------------------------------------------------------
#
# The file format (also called Feather) and the stream format of Arrow, batch by batch. The types of
# the columns are declared.


_MAGIC = b"ARROW1"


def open_arrow(files: Sequence[str]) -> Batches:
    """Return the engine over Arrow files, which reads one batch at a time."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.of("arrow") from None
    schemas = [_guarded(path, partial(_schema, path)) for path in files]
    for schema in schemas:
        require_different(schema.names)
    _require_same([dict(zip(own.names, map(str, own.types), strict=True)) for own in schemas])
    names = list(schemas[0].names)

    def each(columns: list[str]) -> Iterator[Any]:
        for path in files:
            for batch in _batches(path):
                batch.validate()
                if len(batch):
                    yield pa.Table.from_batches([batch.select(columns or names[:1])])

    def whole(columns: list[str]) -> Any:
        parts = list(each(columns))
        return pa.concat_tables(parts) if parts else schemas[0].empty_table().select(columns)

    types = declared_types(schemas[0].empty_table())
    return Batches(types, each, whole, lambda: sum(map(len, each([]))))


def _schema(path: str) -> Any:
    with _opened(path) as reader:
        return reader.schema


def _batches(path: str) -> Iterator[Any]:
    with _opened(path) as reader:
        if hasattr(reader, "get_batch"):
            yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            yield from reader


def _opened(path: str) -> Any:
    """Open a file of either format: the file format begins with a mark."""
    from pyarrow import ipc, memory_map

    with Path(path).open("rb") as file:
        stream = file.read(len(_MAGIC)) != _MAGIC
    return (ipc.open_stream if stream else ipc.open_file)(memory_map(path))
