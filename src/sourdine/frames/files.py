"""Files by their paths, and folders of them: CSV, Parquet, values by line, arrays."""

from __future__ import annotations

import sys
import zlib
from glob import escape, glob, has_magic
from itertools import groupby
from os import sep, walk
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import MissingFileError, ParameterError
from sourdine.frames import sql
from sourdine.frames.duck import Duck, guarded, private_connection
from sourdine.frames.engine import require_different
from sourdine.frames.memory import UNNAMED, Column, Memory, declared_by_numpy
from sourdine.frames.paths import (
    ARROW,
    CSV,
    EXCEL,
    JSON_LINES,
    LINES,
    NAMELESS,
    PARQUET,
    READSTAT,
    is_address,
    is_path,
    shown_source,
    split_sheet,
)
from sourdine.frames.reading import STANDARD
from sourdine.frames.text_files import (
    BOM,
    LONGEST,
    Copy,
    fixed,
    header,
    is_plain,
    rewritten,
    strict_column,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.engine import Engine
    from sourdine.frames.reading import Reading
    from sourdine.frames.text_files import Header


# ---- Folders of files ----------------------------------------------------------------------------
#
# A folder stands for the files below it, which must be of one kind. Names that begin with a dot or
# an underscore (``_SUCCESS``, ``.crc``) are ignored. In a folder ``year=2024`` every row of every
# file has the text ``2024`` in the column ``year``: it is read as text, so that no folder changes
# how another is read.


NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""The placeholder that writers use for a missing value."""
PATH = "path_of_sourdine"
"""The column that holds a file's path while folders are read."""
_HIDDEN = (".", "_")


def files_below(folder: str, kinds: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the files below a folder, in order; all must be of one of several kinds."""
    found: list[list[str]] = [[] for _ in kinds]
    for place, inner, names in walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith(_HIDDEN))
        for name in sorted(names):
            path = str(Path(place) / name)
            for own, endings in zip(found, kinds, strict=True):
                if not name.startswith(_HIDDEN) and name.lower().endswith(endings):
                    own.append(path)
    some = [own for own in found if own]
    if len(some) != 1:
        raise ParameterError(
            "the folder", "hold files of one kind only, such as Parquet or CSV",
            f"{folder!r} with {'files of several types' if some else 'no such files'}",
            "Use a pattern, such as 'folder/*.parquet'.",
        )  # fmt: skip
    return some[0]


def root_of(path: str) -> str:
    """Return the folder below which the names of folders may hold columns.

    Examples
    --------
    >>> root_of("sales/*/*.parquet")
    'sales'
    """
    parts = Path(path).parts
    magic = next((i for i, part in enumerate(parts) if has_magic(part)), len(parts))
    if Path(path).is_dir():
        return path
    return str(Path(*parts[:magic])) if magic < len(parts) else ""


def folder_columns(root: str, files: Sequence[str]) -> dict[str, str]:
    """Return the columns that folders below a root name, as expressions of a file's `PATH`.

    All files must have the same ones.
    """
    keys = [_keys(root, path) for path in files] if root else []
    if not keys or not any(keys):
        return {}
    if any(set(own) != set(keys[0]) for own in keys) or len(set(keys[0])) < len(keys[0]):
        raise ParameterError(
            "the folders", "give the same columns for all files, each once", "",
            "Use a pattern for files of the same columns, such as 'folder/*/*.parquet'.",
        )  # fmt: skip
    below = f"substr({PATH}, {len(root.rstrip(sep)) + 1})"
    return {key: _value(below, key) for key in keys[0]}


def _keys(root: str, path: str) -> list[str]:
    folders = Path(path).relative_to(root).parts[:-1]
    return [part.split("=", 1)[0] for part in folders if part.partition("=")[0] != part]


def _value(below: str, key: str) -> str:
    start = sql.string(f"/{key}=")
    rest = f"substr({below}, strpos({below}, {start}) + {len(key) + 2})"
    text = f"url_decode(split_part({rest}, '/', 1))"
    return f"nullif(nullif({text}, {sql.string(NOTHING)}), '')"


# ---- Files: CSV and Parquet through DuckDB, one value per line, NumPy arrays ---------------------
#
# A CSV file is read as text: a cell that is not a number is missing, and no record changes how
# another is read, whatever its bytes are (`sourdine.frames.text_files`). Every record is a row, for
# every query of the file. The first line names the columns and shows the separator; columns of
# several files are matched by name. Anything else about a file is declared
# (`sourdine.frames.reading`).
#
# The statistics in a Parquet file do not say whether a column holds NaN, and DuckDB infers from
# them that it does not, so this inference is turned off (``test_nan_hidden_by_statistics``).


_KINDS = (PARQUET, CSV, NAMELESS, JSON_LINES, ARROW, READSTAT)
"""The files that folders may hold: one kind each."""
_BLOCK = 1 << 20
_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")


def open_file(path: str, reading: Reading = STANDARD) -> Engine:
    """Return an engine over a file, a folder, the files of a pattern, or a table of a database.

    An Excel file may be followed by ``#`` and the name of a sheet; the addresses of tables are in
    `sourdine.frames.databases`.
    """
    if is_address(path):
        from sourdine.frames.databases import open_address

        return open_address(path, reading)
    sheet, ending = None, path.lower()
    if Path(path).is_dir():
        files = files_below(path, _KINDS)
        ending = files[0].lower()
    elif is_path(path):
        path, sheet = split_sheet(path)
        ending = path.lower()
        files = [path] if Path(path).is_file() else sorted(glob(path, recursive=True))  # noqa: PTH207
        if not files:
            here = f"Check the path; the current folder is {str(Path.cwd())!r}."
            raise MissingFileError("the file", "exist", path, here)
    else:
        raise ParameterError(
            "the file",
            "end in .csv, .tsv, .parquet, .xlsx, .sav, .sas7bdat, .xpt, .dta, .jsonl, .arrow, "
            ".feather, .txt (one value per line) or .npy (an array)",
            repr(shown_source(path)),
            "Save the sheet as .xlsx or CSV from the program that wrote it."
            if ending.endswith(_SHEETS)
            else "Give a CSV file the ending .csv; read others with pandas or Polars and pass the "
            "frame.",
        )
    try:
        return _opened(ending, files, reading, folder_columns(root_of(path), files), sheet)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> ParameterError:
    why = getattr(error, "strerror", None) or "not what its ending says"
    return ParameterError(
        "the file", "be readable", f"{path!r} ({why})", "Check the file and its permissions."
    )


def _opened(
    ending: str, files: Sequence[str], reading: Reading, named: Mapping[str, str], sheet: str | None
) -> Engine:
    if ending.endswith(PARQUET):
        connection = private_connection()
        _require_different_columns(connection, files)
        rows = _scanned(connection, _parquet(files))
        if named:
            # they replace columns of the same name in files
            own = [sql.name(c) for c in rows.columns if c not in named]
            own += [f"{value} AS {sql.name(c)}" for c, value in named.items()]
            rows = _scanned(connection, _parquet(files, PATH)).project(", ".join(own))
        engine: Engine = Duck(rows, connection, untyped=named)
    elif named:
        raise ParameterError(
            "the folder", "hold Parquet files if folder names hold a column", "other files",
            "Write them as Parquet.",
        )  # fmt: skip
    elif ending.endswith(CSV):
        return TextFile(files, reading)
    elif ending.endswith((*EXCEL, *READSTAT, *JSON_LINES, *ARROW)):
        from sourdine.frames.formats import open_format

        engine = open_format(ending, files, reading, sheet)
    else:
        engine = TextLines(files, reading) if ending.endswith(LINES) else _of_arrays(files)
    engine.reading = reading
    return engine


class TextFile(Duck):
    """Text files; every record is read, whatever its cells hold.

    Files are scanned when the first row is needed, and those that DuckDB would not read by the
    rules of `sourdine.frames.text_files` are rewritten for it. A curator who inspects a file opens
    it in spite of duplicate names (``anyway``); ``copies`` have to live as long as the rows.
    """

    def __init__(
        self,
        files: Sequence[str],
        reading: Reading,
        *,
        anyway: bool = False,
        copies: Sequence[object] = (),
    ) -> None:
        self.files = files
        self._heads = [header(path, reading) for path in files]
        if any(head.twice for head in self._heads) and not anyway:
            raise ParameterError(
                "a CSV file", "have distinct column names in its header line", "a duplicate name",
                "Rename one of them, which sourdine inspect shows. If the first line is a "
                "record, pass the column names as header in a Reading or on the command line.",
            )  # fmt: skip
        self._copies: list[object] = list(copies)
        self._opened: Any = None
        names = self._heads[0].names
        if any(set(head.names) != set(names) for head in self._heads):
            raise ParameterError(
                "the files", "have the same columns", "different columns",
                "Read files with the same columns, or write the same names in their header lines.",
            )  # fmt: skip
        connection = private_connection()
        columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {sql.name(n)}" for n in names)
        super().__init__(connection.sql(f"SELECT {columns}"), connection, parsed=True)
        self.reading = reading

    def _rows(self) -> Any:
        if self._part:
            return super()._rows()
        if self._opened is None:
            scans = [self._scan(*file) for file in zip(self.files, self._heads, strict=True)]
            self._opened = _scanned(self._connection, _joined(scans))
        return self._opened

    def _scan(self, path: str, head: Header) -> tuple[str, Header]:
        try:
            if is_plain(path, head):
                return path, head
            copy = Copy(rewritten(path, head))
            self._copies.append(copy)
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(path, error) from None
        return copy.path, head

    def column(self, name: str, *, strict: bool = False) -> Column:
        if strict and not self._part:
            return Column.of(strict_column(self.files, name, self.reading), reading=self.reading)
        return super().column(name)


def open_standard_input(reading: Reading, *, anyway: bool = False) -> TextFile:
    """Return the engine over CSV from standard input, which is copied to a file without a name."""
    copy = Copy(iter(lambda: sys.stdin.buffer.read(_BLOCK), b""))
    return TextFile([copy.path], reading, anyway=anyway, copies=[copy])


class TextLines(Memory):
    """Text files of one value per line, without a header, read into memory.

    Bytes that the encoding does not have are replaced. A blank line is a missing value.
    """

    parsed = True

    def __init__(self, files: Sequence[str], reading: Reading) -> None:
        self.files, self.reading = files, reading
        column = Column.of([line for path in files for line in _lines(path, reading)])
        super().__init__({UNNAMED: column}, len(column))

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return the lines; if strict, refuse invalid UTF-8."""
        if not strict:
            return super().column(name)
        lines: list[str | None] = []
        for path in self.files:
            try:
                lines += _lines(path, self.reading, "strict")
            except UnicodeDecodeError:
                raise ParameterError(
                    Path(path).name, f"be text in {self.reading.encoding.upper()}", "other bytes",
                    "Declare the encoding of the file.",
                ) from None  # fmt: skip
            while lines and lines[-1] is None:
                lines.pop()
        return Column.of(lines, reading=self.reading)


def _lines(path: str, reading: Reading, errors: str = "replace") -> list[str | None]:
    content = Path(path).read_bytes()
    text = content.decode(fixed(reading.encoding), errors).removeprefix(BOM)
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") or None for line in lines]


def _of_arrays(files: Sequence[str]) -> Memory:
    arrays = [_array(path) for path in files]
    types = {declared_by_numpy(array.dtype) for array in arrays}
    if len({array.dtype for array in arrays}) == 1:
        column = Column.of_array(np.concatenate(arrays))
    else:
        column = Column.of([value for array in arrays for value in array.tolist()])
    own = types.pop() if len({one and one.holds for one in types}) == 1 else None
    return Memory({UNNAMED: column}, len(column), types={UNNAMED: own})


def _array(path: str) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError:
        raise
    except Exception:  # noqa: BLE001 - a file may hold anything
        array = None
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        got = f"an array of {array.ndim} dimensions" if isinstance(array, np.ndarray) else ""
        raise ParameterError(
            Path(path).name, "be a one-dimensional array without objects", got,
            "Write it with numpy.save.",
        )  # fmt: skip
    return array


def _scanned(connection: Any, scan: str) -> Any:
    return guarded(lambda: connection.sql(f"SELECT * FROM {scan}"))  # noqa: S608


def _listed(files: Sequence[str]) -> str:
    return "[" + ", ".join(sql.string(escape(f) if has_magic(f) else f) for f in files) + "]"


def _require_different_columns(connection: Any, files: Sequence[str]) -> None:
    """Refuse a Parquet file with duplicate names: DuckDB would rename the second.

    A schema lists a column and then its children, each with the number of its own children.
    """
    fields = f"SELECT file_name, name, num_children FROM parquet_schema({_listed(files)})"  # noqa: S608
    for _, own in groupby(guarded(connection.sql(fields).fetchall), lambda field: field[0]):
        names, inside = [], 0
        for _, name, children in list(own)[1:]:
            if not inside:
                names.append(name)
            inside += (children or 0) - bool(inside)
        require_different(names)


def _parquet(files: Sequence[str], path: str | None = None) -> str:
    named = "" if path is None else f", filename = {sql.string(path)}"
    return f"read_parquet({_listed(files)}, hive_partitioning = false{named})"


def _joined(scans: Sequence[tuple[str, Header]]) -> str:
    """Return a scan of all files: one scan where their first lines agree, else one by one."""
    parts = [_csv([p for p, _ in same], head) for head, same in groupby(scans, lambda s: s[1])]
    if len(parts) == 1:
        return parts[0]
    columns = ", ".join(map(sql.name, scans[0][1].names))
    return "(" + " UNION ALL ".join(f"SELECT {columns} FROM {part}" for part in parts) + ")"  # noqa: S608


def _csv(files: Sequence[str], head: Header) -> str:
    columns = ", ".join(f"{sql.string(n)}: 'VARCHAR'" for n in head.names)
    longest = 4 * (LONGEST + len(head.names))
    options = (
        f"columns = {{{columns}}}, delim = {sql.string(head.separator)}, "
        f"header = {str(not head.declared).lower()}, max_line_size = {longest}, "
        """quote = '"', escape = '"', auto_detect = false, strict_mode = false, """
        "null_padding = true, ignore_errors = true, parallel = false"
    )
    return f"read_csv({_listed(files)}, {options})"
