"""What differs between SQLite and PostgreSQL: how to connect, to begin, and to forbid."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.append_only import disk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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

    def note(self, book: str, line: int, check: str) -> None:
        """Note a line of a book that is written or shown, for the witness: the last one counts."""
        self.notes = latest(self.notes, {book: f"{line} {check}"})

    def _do(self, statement: str, values: Sequence[object]) -> Any:  # noqa: ANN401 - the driver's
        return self._connection.execute(self.dialect.spelled(statement), values)


def latest(notes: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return what was noted of each book: its later line, with that line's check.

    Examples
    --------
    >>> latest({"a": "9 x", "b": "2 y"}, {"a": "10 z", "b": "1 u"})
    {'a': '10 z', 'b': '2 y'}
    """

    def line(book: str) -> int:
        return int(notes.get(book, "0").partition(" ")[0])

    later = {book: head for book, head in more.items() if int(head.split()[0]) >= line(book)}
    return {**notes, **later}


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

    Writers wait for each other at a lock of the operating system, at which they look every few
    milliseconds: SQLite itself looks again after a tenth of a second, and some would starve.
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
            self._turn = self._locked()
        connection.execute("BEGIN IMMEDIATE")

    def _locked(self) -> FileIO:
        """Return the file at which writers wait; it may be locked by those who may write the store.

        *Checked by* ``test_the_file_at_which_writers_wait_is_locked_by_its_owner_alone``.
        """
        turn = self.path.with_name(f"{self.path.name}-turn")
        try:
            return disk.open_locked(turn, stat.S_IMODE(self.path.stat().st_mode), PATIENCE)
        except BlockingIOError:
            held = f"another process has held {turn} for {PATIENCE:g} seconds"
            raise sqlite3.OperationalError(held) from None
        except OSError as error:
            raise sqlite3.OperationalError(f"{turn}: {error.strerror}") from None

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
