"""Where a data set's rows are: a path, a folder of Parquet, or a table of a database.

======================================  =========================================================
``/srv/wages.parquet``                  a file or a folder that the server reads, as a session does
``/srv/wages.xlsx#Sheet2``              a sheet of an Excel file
``duckdb:////srv/w.db#wages``           a table of a database (`sourdine.frames.databases`)
``sourdine:wages``                      the public wages that the library ships
======================================  =========================================================

Rows are never uploaded. Databases are named on the command line of the server; over HTTP
owners name files below one folder (`require_below`). An address may hold a password: errors
and ledgers repeat the name of the table alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
from sourdine.frames.paths import DATABASE, is_address, split_sheet
from sourdine.frames.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

WAGES = "sourdine:wages"
ADDRESS = re.compile(r"[A-Za-z]+:")
PATTERN = re.compile(r"[*?\[\]{}]")


def opened(source: str, read: Mapping[str, Any] | None = None) -> Frame:
    """Return the data at a source, or refuse it in words that repeat nothing of it.

    Examples
    --------
    >>> len(opened("sourdine:wages"))
    247696
    """
    reading = Reading.of(read)
    if source == WAGES:
        from sourdine.data import wages

        return Frame({"wage": wages()}, read=reading)
    if not is_address(source) and (ADDRESS.match(source) or not _is_there(split_sheet(source)[0])):
        raise _not_there()
    try:
        return Frame(source, read=reading)
    except ParameterError as error:
        raise (_not_there() if error.name == "source" else error) from None


def anchored(source: str) -> str:
    """Return a source whose path holds wherever the server is started.

    Examples
    --------
    >>> anchored("people.csv") == str(Path.cwd() / "people.csv"), anchored("spark:people")
    (True, 'spark:people')
    """
    if not ADDRESS.match(source):
        return str(Path(source).absolute())
    if not source.startswith("duckdb:///"):
        return source
    path, mark, table = source.removeprefix("duckdb:///").partition("#")
    return f"duckdb:///{Path(path).absolute()}{mark}{table}"


def require_below(source: str, folder: str | None) -> str:
    """Return a file or a folder by its true path, if it lies below a folder, or refuse it.

    What a link leads to is looked at, also of files in a folder. Everything else is as if it were
    not there. Without a folder owners may name no data.
    """
    if folder is None:
        from sourdine.server.requests import RefusedError

        what = "be started with a folder in which owners may register data"
        hint = "sourdine serve --folder with its path; or sourdine serve add-data, or add-guard."
        raise RefusedError(403, "the server", what, "", f"Run {hint}")
    if source == WAGES:
        return source
    found, root = DATABASE.fullmatch(source), Path(folder).resolve()
    if found is not None and found["kind"] != "duckdb":
        found = None
    path = source if found is None else unquote(found["where"]).removeprefix("/")
    path, sheet = split_sheet(path)
    if ADDRESS.match(path) or PATTERN.search(path):
        raise _not_there()
    try:
        true = (root / path).resolve(strict=True)
        inside = [true, *(true.rglob("*") if true.is_dir() else ())]
        if not all(one.resolve().is_relative_to(root) for one in inside):
            raise _not_there()
    except (OSError, RuntimeError, ValueError):
        raise _not_there() from None
    part = sheet if found is None else found["table"]
    where = str(true) if found is None else f"duckdb:///{quote(str(true))}"  # it is unquoted again
    return where if part is None else f"{where}#{part}"


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long
        return False


def _not_there() -> ParameterError:
    hint = "Use another path; the address of a database ends in # and the name of a table."
    return ParameterError("source", "name readable data on the server", "", hint)
