"""What differs between SQLite and PostgreSQL: how to connect, to begin, and to forbid."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.database.address import Address

__all__ = ["Dialect", "Transaction", "dialect_of"]

PATIENCE = 60.0
"""Seconds to wait for other writers."""
WRITERS = 7_305_011
"""The lock that whoever writes to a PostgreSQL database holds."""
RAISE = "RAISE EXCEPTION 'what is written stays'"


class Transaction:
    """A connection inside a transaction: what a job reads and writes with.

    Parameters
    ----------
    dialect, connection
        Which database, and the way to it.

    Notes
    -----
    Statements are written with ``?`` for values, whatever the database.
    """

    __slots__ = ("_connection", "dialect", "notes")

    def __init__(self, dialect: Dialect, connection: Any) -> None:  # noqa: ANN401 - the driver's
        self.dialect, self._connection = dialect, connection
        self.notes: dict[str, str] = {}

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return every row of an answer."""
        return list(self._do(statement, values).fetchall())

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of an answer; None if there is none."""
        found: tuple[Any, ...] | None = self._do(statement, values).fetchone()
        return found

    def run(self, statement: str, *values: object) -> int:
        """Change rows, and return how many."""
        return int(self._do(statement, values).rowcount)

    def note(self, name: str, text: str) -> None:
        """Leave a word for who is told of the commit."""
        self.notes[name] = text

    def _do(self, statement: str, values: Sequence[object]) -> Any:  # noqa: ANN401 - the driver's
        return self._connection.execute(self.dialect.spelled(statement), values)


class Dialect(Protocol):
    """A kind of database."""

    broken: tuple[type[Exception], ...]
    """What is raised when a connection is of no more use."""
    refused: tuple[type[Exception], ...]
    """What is raised when a statement is refused."""

    def connect(self) -> Any:  # noqa: ANN401 - the driver's
        """Return a new connection, outside of any transaction."""

    def begin(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Begin to write, alone."""

    def look(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Begin to read: all that is read until the end is of one moment."""

    def spelled(self, statement: str) -> str:
        """Return a statement with this database's placeholders."""

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return statements after which a table refuses UPDATE or DELETE, always or ``when``."""


class SqliteDialect:
    """A file of SQLite, with a log ahead of it: readers do not wait for writers."""

    broken: tuple[type[Exception], ...] = (sqlite3.OperationalError, sqlite3.InterfaceError)
    refused: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, address: Address) -> None:
        self.path = address.path

    def connect(self) -> sqlite3.Connection:
        """Return a connection to a file that is there."""
        if not self.path.is_file():
            raise sqlite3.OperationalError("no such file")
        db = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                db.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin to write, alone."""
        connection.execute("BEGIN IMMEDIATE")

    def look(self, connection: sqlite3.Connection) -> None:
        """Begin to read."""
        connection.execute("BEGIN")

    def spelled(self, statement: str) -> str:
        """Return the statement as it is."""
        return statement

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return the trigger that refuses."""
        return [
            f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} "
            + (f"WHEN {when} " if when else "")
            + "BEGIN SELECT RAISE(ABORT, 'what is written stays'); END"
        ]


class PostgresDialect:
    """A database of PostgreSQL; needs psycopg (``pip install 'sourdine[postgres]'``)."""

    def __init__(self, address: Address) -> None:
        self.url = address.url
        try:
            self._driver = import_module("psycopg")
        except ImportError:
            raise ParameterError(
                "store",
                "be a file of SQLite where psycopg is not installed",
                "an address of PostgreSQL",
                "Type: pip install 'sourdine[postgres]'.",
            ) from None
        self.broken: tuple[type[Exception], ...] = (
            self._driver.OperationalError,
            self._driver.InterfaceError,
        )
        self.refused: tuple[type[Exception], ...] = (self._driver.DatabaseError,)

    def connect(self) -> Any:  # noqa: ANN401 - the driver's
        """Return a connection whose commits wait for the disk."""
        settings = f"-c synchronous_commit=on -c lock_timeout={int(PATIENCE * 1000)}"
        return self._driver.connect(
            self.url, autocommit=True, options=settings, application_name="sourdine"
        )

    def begin(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Begin to write, alone: the lock ends with the transaction."""
        connection.execute("BEGIN")
        connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS})")

    def look(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Begin to read."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def spelled(self, statement: str) -> str:
        """Return the statement with ``%s`` for values."""
        return statement.replace("?", "%s")

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return the triggers that refuse; a table that may not lose rows is not emptied either."""
        refuse = "EXECUTE FUNCTION what_is_written_stays()"
        function = "what_is_written_stays() RETURNS trigger LANGUAGE plpgsql"
        made = [
            f"CREATE OR REPLACE FUNCTION {function} AS $$ BEGIN {RAISE}; END $$",
            f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} FOR EACH ROW "
            + (f"WHEN ({when}) " if when else "")
            + refuse,
        ]
        if event == "DELETE":
            made.append(
                f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
                f"FOR EACH STATEMENT {refuse}"
            )
        return made


def dialect_of(address: Address) -> Dialect:
    """Return the dialect that an address names."""
    return SqliteDialect(address) if address.is_file else PostgresDialect(address)
