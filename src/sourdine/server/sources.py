"""Where a data set's rows are: a path, a folder of Parquet, or a table of a database.

======================================  =========================================================
``/srv/wages.parquet``                  a file or a folder that the server reads, as a session does
``duckdb:////srv/w.db#wages``           a table of a DuckDB file, opened to be read only
``postgresql://user@host/db#wages``     a table or a view of PostgreSQL, counted there
``spark:wages``, ``sc://host#wages``    a table of Spark's: on this machine, or on a cluster
``sourdine:wages``                      the public wages that the library ships
======================================  =========================================================

Rows are never uploaded. Databases are named on the command line of the server; over HTTP
owners name files below one folder (`require_below`). An address may hold a password: errors
and ledgers repeat the name of the table alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from weakref import finalize

from sourdine.errors import ParameterError, SourdineError
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

WAGES = "sourdine:wages"
DATABASE = re.compile(
    r"(?P<kind>duckdb|postgres|postgresql|spark|sc)://(?P<where>[^#]*)#(?P<table>[^#\"]+)"
)
TABLE = re.compile(r"spark:(?P<table>[^/#\"]+)")
ADDRESS = re.compile(r"[A-Za-z]+:")
PATTERN = re.compile(r"[*?\[\]{}]")


def opened(source: str, read: Mapping[str, Any] | None = None) -> Frame:
    """Return the data at a source, or refuse it in words that repeat nothing of it.

    Parameters
    ----------
    source
        A path or an address.
    read
        How texts are read.

    Examples
    --------
    >>> len(opened("sourdine:wages"))
    247696
    """
    reading = Reading.of(read)
    if source == WAGES:
        from sourdine.data import wages

        return Frame({"wage": wages()}, read=reading)
    database, table = DATABASE.fullmatch(source), TABLE.fullmatch(source)
    if database is not None:
        return _of_database(database["kind"], source, reading)
    if table is not None:
        return _of_spark(table["table"], None, reading)
    if ADDRESS.match(source) or not _is_there(source):
        raise _not_there()
    return Frame(source, read=reading)


def _of_database(kind: str, source: str, reading: Reading) -> Frame:
    address, _, table = source.partition("#")
    if kind == "duckdb":
        path = Path(unquote(address.removeprefix("duckdb:///")))
        return Frame(_of_duckdb(path.absolute(), unquote(table)), read=reading)
    if kind in ("spark", "sc"):
        return _of_spark(unquote(table), address, reading)
    from sourdine.frames.postgres import open_table

    return Frame(open_table(address, unquote(table), reading))


def _of_spark(table: str, master: str | None, reading: Reading) -> Frame:
    from sourdine.frames.spark.opening import open_stored

    try:
        return Frame(open_stored(f"spark:{table}", master, reading))
    except SourdineError as error:
        if error.name != "master":
            raise
        raise _not_there() from None  # an address of Spark's may hold a token


def _of_duckdb(path: Path, table: str) -> Any:
    """Return a table or a view, which reads nothing but its own file."""
    import duckdb

    if not path.is_file():
        raise _not_there()
    folder = mkdtemp(prefix="sourdine-")
    config: dict[str, Any] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "temp_directory": folder,
    }
    try:
        connection = duckdb.connect(str(path), read_only=True, config=config)
        finalize(connection, rmtree, folder, ignore_errors=True)
        return connection.table(f'"{table}"')
    except duckdb.Error:
        raise _not_there() from None


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
    not there.

    Parameters
    ----------
    source
        What an owner typed.
    folder
        Below which owners may name data; None where they may not.
    """
    if folder is None:
        from sourdine.server.requests import RefusedError

        raise RefusedError(
            403,
            "the server",
            "be started with a folder in which owners may register data",
            "",
            "Run sourdine serve --folder with its path; or sourdine serve add-data, or add-guard.",
        )
    if source == WAGES:
        return source
    found, root = DATABASE.fullmatch(source), Path(folder).resolve()
    duckdb = found is not None and found["kind"] == "duckdb"
    path = unquote(found["where"]).removeprefix("/") if found is not None and duckdb else source
    if ADDRESS.match(path) or PATTERN.search(path):
        raise _not_there()
    try:
        true = (root / path).resolve(strict=True)
        inside = [true, *(true.rglob("*") if true.is_dir() else ())]
        if not all(one.resolve().is_relative_to(root) for one in inside):
            raise _not_there()
    except (OSError, RuntimeError, ValueError):
        raise _not_there() from None
    return f"duckdb:///{true}#{found['table']}" if found is not None and duckdb else str(true)


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long
        return False


def _not_there() -> ParameterError:
    return ParameterError(
        "source",
        "name readable data on the server",
        "",
        "Use another path; the address of a database ends in # and the name of a table.",
    )


def source_name(source: str) -> str:
    """Return what a ledger calls the data at a source; no password is in it.

    Examples
    --------
    >>> source_name("/srv/wages.parquet"), source_name("duckdb:////srv/w.db#people")
    ('wages.parquet', 'people')
    >>> source_name("postgresql://anna:secret@host/db#public.people"), source_name("spark:people")
    ('public.people', 'people')
    """
    found = DATABASE.fullmatch(source) or TABLE.fullmatch(source)
    if found is not None:
        return unquote(found["table"])
    if "://" in source:
        return "data"
    return re.split(r"[/:]", source.rstrip("/"))[-1] or "data"
