"""Data in files: CSV and Parquet through DuckDB, one value a line, arrays that NumPy saved.

A CSV file is read as text: a cell that does not read as a number is missing, and in a valid file no
cell can change how another is read. (In one that is not, a quote that is never closed swallows the
rows after it.) The first line names the columns and shows the separator. A row with too few fields
is filled up with missing values, further fields are dropped, and a row that is not UTF-8 or longer
than two megabytes is none (``test_a_dirty_csv_never_raises``); so the number of rows is never taken
for public. Where records are read one by one, to be randomised, every one of them is a row
(``test_no_cell_makes_its_row_vanish``).

All columns of a CSV file are read even if one is needed, for otherwise a row that is not UTF-8 in
another column would be a row for some counts and none for others.

The statistics in a Parquet file do not say whether a column holds NaN, and DuckDB takes them to say
that it does not, so what it infers from them is turned off (``test_nan_hidden_by_statistics``).
"""

from __future__ import annotations

import zlib
from glob import escape, glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.tally import sql
from sourdine.tally.column import Column
from sourdine.tally.duck import Duck, guarded, private_connection
from sourdine.tally.memory import UNNAMED, Memory
from sourdine.tally.opening import CSV, LINES, PARQUET, is_path
from sourdine.tally.separated import header, mended, strict_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell
    from sourdine.tally.engine import Engine

__all__ = ["open_file"]


def open_file(path: str) -> Engine:
    """Return an engine over a file, or over all files that a pattern names."""
    if not is_path(path):
        raise ParameterError(
            "path",
            "end in .csv, .tsv or .parquet, or in .txt for one value a line or .npy for an array",
            repr(path),
            "Rename the file, or read it with pandas or Polars and pass the frame.",
        )
    files = [path] if Path(path).is_file() else sorted(glob(path, recursive=True))  # noqa: PTH207
    if not files:
        raise ParameterError(
            "path",
            "name a file that exists",
            repr(path),
            f"Check the name and the folder, which is {str(Path.cwd())!r} now.",
        )
    try:
        return _opened(path.lower(), files)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "not what its ending says"
        raise ParameterError(
            "path",
            "name a file that can be read",
            f"{path!r} ({why})",
            "Check the file and who may read it.",
        ) from None


def _opened(ending: str, files: Sequence[str]) -> Engine:
    if ending.endswith(CSV):
        return TextFile(files)
    if ending.endswith(PARQUET):
        connection = private_connection("statistics_propagation")
        return Duck(_scanned(connection, _parquet(files)), connection)
    return TextLines(files) if ending.endswith(LINES) else _of_arrays(files)


class TextFile(Duck):
    """Text files; record by record, every one of them is read, whatever its cells hold.

    Parameters
    ----------
    files
        Their paths.
    """

    def __init__(self, files: Sequence[str]) -> None:
        connection = private_connection("statistics_propagation,unused_columns")
        super().__init__(_scanned(connection, _csv(files)), connection, parsed=True)
        self._files = files

    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of all records; parts of a file are read as they are."""
        if self._part:
            yield from super().slots(cells, rows)
            return
        with mended(self._files) as files:
            engine = self if files is self._files else TextFile(files)
            yield from Duck.slots(engine, cells, rows)

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return the cells of a column, of all records."""
        if self._part:
            return super().column(name)
        if strict:
            return Column.of(strict_column(self._files, name))
        with mended(self._files) as files:
            engine = self if files is self._files else TextFile(files)
            return Duck.column(engine, name)


class TextLines(Memory):
    """Text files of one value a line, without a header, read into memory.

    What is not UTF-8 is replaced. A blank line is a value that is missing.

    Parameters
    ----------
    files
        Their paths.
    """

    parsed = True

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        column = Column.of([line for path in files for line in _lines(path, "replace")])
        super().__init__({UNNAMED: lambda: column}, len(column))

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return the lines; strictly, what is not UTF-8 is refused."""
        if not strict:
            return super().column(name)
        lines: list[str | None] = []
        for path in self._files:
            try:
                lines += _lines(path, "strict")
            except UnicodeDecodeError:
                raise ParameterError(
                    Path(path).name, "be text in UTF-8", "other bytes", "Write it again."
                ) from None
            while lines and lines[-1] is None:
                lines.pop()
        return Column.of(lines)


def _lines(path: str, errors: str) -> list[str | None]:
    text = Path(path).read_bytes().decode("utf-8-sig", errors)
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") or None for line in lines]


def _of_arrays(files: Sequence[str]) -> Memory:
    arrays = [_array(path) for path in files]
    if len({array.dtype for array in arrays}) == 1:
        column = Column.of_array(np.concatenate(arrays))
    else:
        column = Column.of([value for array in arrays for value in array.tolist()])
    return Memory({UNNAMED: lambda: column}, len(column))


def _array(path: str) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError:
        raise
    except Exception:  # noqa: BLE001 - whatever the file holds
        array = None
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        got = "something else" if array is None else "one of another shape"
        raise ParameterError(
            Path(path).name,
            "be an array of one dimension and no objects",
            got,
            "Write it with numpy.save.",
        )
    return array


def _scanned(connection: Any, scan: str) -> Any:  # noqa: ANN401
    return guarded(lambda: connection.sql(f"SELECT * FROM {scan}"))  # noqa: S608


def _listed(files: Sequence[str]) -> str:
    return "[" + ", ".join(sql.string(escape(f) if has_magic(f) else f) for f in files) + "]"


def _parquet(files: Sequence[str]) -> str:
    return f"read_parquet({_listed(files)}, hive_partitioning = false)"


def _csv(files: Sequence[str]) -> str:
    separator, names = header(files[0])
    columns = ", ".join(f"{sql.string(n)}: 'VARCHAR'" for n in names)
    options = (
        f"columns = {{{columns}}}, delim = {sql.string(separator)}, header = true, "
        """quote = '"', escape = '"', auto_detect = false, strict_mode = false, """
        "null_padding = true, ignore_errors = true, parallel = false"
    )
    return f"read_csv({_listed(files)}, {options})"
