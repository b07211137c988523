"""Tables of databases by their addresses.

======================================  =========================================================
``duckdb:////srv/w.db#wages``           a table or a view of a DuckDB file, opened to be read only
``postgresql://user@host/db#wages``     a table or a view of PostgreSQL, counted there
``spark:wages``, ``sc://host#wages``    a table of Spark's: on this machine, or on a cluster
======================================  =========================================================

The path of a DuckDB file is relative after three slashes and absolute after four. A schema may
stand before the name of a table, and a dot between them. An address may hold a password: errors,
reports and ledgers repeat the name of the table alone (``test_no_output_holds_the_password``).
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
from sourdine.frames import sql

if TYPE_CHECKING:
    from sourdine.frames.engine import Engine
    from sourdine.frames.reading import Reading

DATABASE = re.compile(
    r"(?P<kind>duckdb|postgres|postgresql|spark|sc)://(?P<where>[^#]*)#(?P<table>[^#\"]+)"
)
TABLE = re.compile(r"spark:(?P<table>[^/#\"]+)")
_SCHEME = re.compile(r"(?:duckdb|postgres|postgresql|spark|sc):/|spark:[^/]", re.IGNORECASE)
"""One slash is enough: a path that was made of an address has no more."""
_SECRET = re.compile(r"(:/{1,2})[^/]*@")


def is_address(source: str) -> bool:
    """Return whether a text is meant to be the address of a table, and not a path.

    Examples
    --------
    >>> is_address("duckdb:///w.db#wages"), is_address("postgresql://host/db"), is_address("w.csv")
    (True, True, False)
    """
    return _SCHEME.match(source) is not None


def open_address(source: str, reading: Reading) -> Engine:
    """Return the engine over a table, or refuse it in words that repeat nothing of its address."""
    database, table = DATABASE.fullmatch(source), TABLE.fullmatch(source)
    if table is not None:
        return _of_spark(table["table"], None, reading)
    if database is None:
        raise not_readable()
    address, name = source.partition("#")[0], unquote(database["table"])
    if database["kind"] == "duckdb":
        path = Path(unquote(database["where"].removeprefix("/")))
        return _of_duckdb(path.absolute(), name, reading)
    if database["kind"] in {"spark", "sc"}:
        return _of_spark(name, address, reading)
    from sourdine.frames.postgres import open_table

    return open_table(address, name, reading)


def _of_spark(table: str, master: str | None, reading: Reading) -> Engine:
    from sourdine.frames.spark.opening import open_stored

    try:
        return open_stored(f"spark:{table}", master, reading)
    except SourdineError as error:
        if error.name != "master":
            raise
        raise not_readable() from None  # an address of Spark's may hold a token


def _of_duckdb(path: Path, table: str, reading: Reading) -> Engine:
    """Return a table or a view, which reads nothing but its own file."""
    import duckdb

    from sourdine.frames.duck import Duck

    if not path.is_file():
        raise not_readable()
    folder = mkdtemp(prefix="sourdine-")
    config: dict[str, Any] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "temp_directory": folder,
    }
    try:
        connection = duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error:
        rmtree(folder, ignore_errors=True)
        raise not_readable() from None
    finalize(connection, rmtree, folder, ignore_errors=True)
    try:
        engine = Duck(_table(connection, table))
    except duckdb.Error:
        connection.close()
        raise not_readable() from None
    engine.reading = reading
    return engine


def _table(connection: Any, table: str) -> Any:
    """Return a table by its whole name; else, by the part after a dot, of the schema before it."""
    import duckdb

    try:
        return connection.sql(f"FROM {sql.name(table)}")
    except duckdb.CatalogException:
        if "." not in table:
            raise
    return connection.sql(f"FROM {'.'.join(map(sql.name, table.split('.', 1)))}")


def not_readable() -> ParameterError:
    """Return the error for a source that cannot be opened, which does not repeat it."""
    return ParameterError(
        "source",
        "name readable data",
        "",
        "Use another path; the address of a database ends in # and the name of a table.",
    )


def source_name(source: str) -> str:
    """Return what a ledger calls the data at a path or an address; no password is in it.

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


def shown_source(source: str) -> str:
    """Return a path or an address as it may be printed, without what a password may be in.

    Examples
    --------
    >>> shown_source("postgresql://anna:secret@host/db#people"), shown_source("w.csv")
    ('postgresql://...#people', 'w.csv')
    >>> shown_source("mysql://anna:secret@host/db")
    'mysql://...@host/db'
    """
    found = DATABASE.fullmatch(source)
    if found is not None and found["kind"] != "duckdb":
        return f"{found['kind']}://...#{found['table']}"
    return "data" if found is None and is_address(source) else _SECRET.sub(r"\1...@", source)
