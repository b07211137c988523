"""What differs between SQLite and PostgreSQL: how to connect, to begin, and to forbid."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.append_only import disk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import FileIO
    from pathlib import Path

    from sourdine.database.address import Address

__all__ = ["Dialect", "Transaction", "dialect_of"]

PATIENCE = 60.0
"""Seconds to wait for other writers."""


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

    def end(self) -> None:
        """Let others write, after a commit or a rollback."""

    def look(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Begin to read: all that is read until the end is of one moment."""

    def spelled(self, statement: str) -> str:
        """Return a statement with this database's placeholders."""

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return statements after which a table refuses UPDATE or DELETE, always or ``when``."""

    def backup(self, path: Path) -> None:
        """Write a copy of what is committed to a new file, or say what to type."""


class SqliteDialect:
    """A file of SQLite, with a log ahead of it: readers do not wait for writers.

    Writers wait for each other at a lock of the operating system, which wakes the next one at once:
    SQLite itself looks again after a tenth of a second, and some writers would starve.
    """

    broken: tuple[type[Exception], ...] = (sqlite3.OperationalError, sqlite3.InterfaceError)
    refused: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, address: Address) -> None:
        self.path = address.path
        self._turn: FileIO | None = None

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
        if self._turn is None:
            self._turn = open(f"{self.path}-turn", "ab", buffering=0)  # noqa: SIM115, PTH123 - held
            disk.wait(self._turn)
        connection.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        """Let others write."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def look(self, connection: sqlite3.Connection) -> None:
        """Begin to read."""
        connection.execute("BEGIN")

    def backup(self, path: Path) -> None:
        """Copy the file while others write to it."""
        with closing(self.connect()) as db, closing(sqlite3.connect(path)) as copy:
            db.backup(copy)

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


def dialect_of(address: Address) -> Dialect:
    """Return the dialect that an address names."""
    if address.is_file:
        return SqliteDialect(address)
    from sourdine.database.postgres import PostgresDialect  # noqa: PLC0415 - psycopg, if asked for

    return PostgresDialect(address)
