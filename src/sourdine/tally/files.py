"""CSV and Parquet files, read by DuckDB.

A CSV file is read as text: a cell that does not read as a number is missing, and in a valid file no
cell can change how another is read. (In one that is not, a quote that is never closed swallows the
rows after it.) The first line names the columns and its most frequent separator (comma,
semicolon, tab or bar) separates the fields. A row with too few fields is filled up with missing
values, further fields are dropped, and a row that is not UTF-8 or longer than two megabytes is
none (``test_a_dirty_csv_never_raises``); so the number of rows is never taken for public. Where
records are read one by one, to be randomised, every one of them is a row
(``test_no_cell_makes_its_row_vanish``).

All columns of a CSV file are read even if one is needed, for otherwise a row that is not UTF-8 in
another column would be a row for some counts and none for others.

The statistics in a Parquet file do not say whether a column holds NaN, and DuckDB takes them to say
that it does not, so what it infers from them is turned off (``test_nan_hidden_by_statistics``).
"""

from __future__ import annotations

import csv
import gzip
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager
from glob import escape, glob, has_magic
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import IO, TYPE_CHECKING, Any
from weakref import finalize

from sourdine.errors import ParameterError
from sourdine.tally import sql
from sourdine.tally.duck import Duck, guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell

__all__ = ["mended", "open_file"]

_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_SEPARATORS = (",", ";", "\t", "|")
_BLOCK, _LONG, _CELL = 1 << 24, 1 << 20, 1 << 14
"""Bytes read at once, characters of a line that need no care, and of a cell that are kept."""


def open_file(path: str) -> Duck:
    """Return an engine over a file, or over all files that a pattern names."""
    lowered = path.lower()
    if not lowered.endswith((*_CSV, *_PARQUET)):
        raise ParameterError(
            f"path must end in .csv, .tsv or .parquet, got {path!r}. "
            f"Rename the file, or read it with pandas or Polars and pass the frame."
        )
    files = [path] if Path(path).is_file() else sorted(glob(path, recursive=True))  # noqa: PTH207
    if not files:
        raise ParameterError(
            f"path must name a file that exists, got {path!r}. "
            f"Check the name and the folder, which is {str(Path.cwd())!r} now."
        )
    is_text = lowered.endswith(_CSV)
    scan = _csv(files) if is_text else _parquet(files)
    connection = _connect("statistics_propagation" + ",unused_columns" * is_text)
    relation = guarded(lambda: connection.sql(f"SELECT * FROM {scan}"))  # noqa: S608
    return TextFile(relation, connection, path) if is_text else Duck(relation, connection)


class TextFile(Duck):
    """Text files; record by record, every one of them is read, whatever its cells hold.

    Parameters
    ----------
    relation, connection
        As in `Duck`.
    path
        The file, or the pattern of several.
    """

    def __init__(self, relation: Any, connection: Any, path: str) -> None:  # noqa: ANN401
        super().__init__(relation, connection, parsed=True)
        self._path = path

    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of all records; parts of a file are read as they are."""
        if self._part:
            yield from super().slots(cells, rows)
            return
        with mended(self._path) as path:
            engine = self if path == self._path else open_file(path)
            yield from Duck.slots(engine, cells, rows)


@contextmanager
def mended(path: str) -> Iterator[str]:
    """Give the path of text files in which every record is a row, whatever bytes it holds.

    Files of UTF-8 without long lines are given as they are. Others are copied for the time being
    into a folder that only the user may read: what is not UTF-8 is replaced and what is longer than
    any number or category cut off, so that no cell can make its row vanish.
    """
    files = [path] if Path(path).is_file() else sorted(glob(path, recursive=True))  # noqa: PTH207
    if not path.lower().endswith(_CSV) or all(map(_plain, files)):
        yield path
        return
    with TemporaryDirectory(prefix="sourdine-") as folder:
        for i, file in enumerate(files):
            _copy(file, Path(folder) / f"{i:09d}.csv")
        yield str(Path(folder) / "*.csv")


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
            separator = max(_SEPARATORS, key=lines.readline().count)
            lines.seek(0)
            write = csv.writer(copy)
            for row in csv.reader((line.replace("\0", "") for line in lines), delimiter=separator):
                write.writerow([cell[:_CELL].replace("\r", " ") for cell in row])
    finally:
        csv.field_size_limit(limit)


def _connect(without: str) -> Any:  # noqa: ANN401
    """Open a private database in memory that says nothing and spills to a folder of its own.

    What it spills is private data: only the user may read the folder, which goes with the database.
    """
    import duckdb  # noqa: PLC0415

    folder = mkdtemp(prefix="sourdine-")
    connection = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": folder,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        },
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"SET disabled_optimizers = '{without}'")
    return connection


def _listed(files: Sequence[str]) -> str:
    return "[" + ", ".join(sql.string(escape(f) if has_magic(f) else f) for f in files) + "]"


def _parquet(files: Sequence[str]) -> str:
    return f"read_parquet({_listed(files)}, hive_partitioning = false)"


def _csv(files: Sequence[str]) -> str:
    separator, names = _header(files[0])
    columns = ", ".join(f"{sql.string(n)}: 'VARCHAR'" for n in names)
    options = (
        f"columns = {{{columns}}}, delim = {sql.string(separator)}, header = true, "
        """quote = '"', escape = '"', auto_detect = false, strict_mode = false, """
        "null_padding = true, ignore_errors = true, parallel = false"
    )
    return f"read_csv({_listed(files)}, {options})"


def _header(path: str) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns, from the first line alone."""
    with _opened(path) as lines:
        first = lines.readline()
        separator = max(_SEPARATORS, key=first.count)
        lines.seek(0)
        names = next(csv.reader(lines, delimiter=separator), [])
    if not names:
        raise ParameterError(
            f"a CSV file must begin with a line of column names, got none in {path!r}. Add one."
        )
    return separator, _different(names)


def _bytes(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]


def _opened(path: str) -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return Path(path).open(encoding="utf-8-sig", errors="replace", newline="")


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
