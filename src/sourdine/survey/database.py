"""The tables of a survey in SQLite, and the choice of a database."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.errors import ExistingFileError, MissingFileError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager


# ---- `SqliteFile`: a survey's tables in one file -------------------------------------------------
#
# No table has row numbers: rows stand in the order of their keys. What is deleted is overwritten
# with zeros, and the journal is cut to nothing after each commit.


APPLICATION = 0x536F7576
"""What marks a file as a survey's store."""
VERSION = 1
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


class SqliteFile:
    """A file, and the connection to it.

    Parameters
    ----------
    place
        Its path.
    new
        Whether to make it; it must not exist then.
    """

    failures: type[Exception] = sqlite3.Error

    def __init__(self, place: str, *, new: bool = False) -> None:
        self.place = self.shown = place
        path = Path(place)
        if new:
            _begin(path)
        elif not path.is_file():
            raise MissingFileError("store", "exist", place, "Create it with sourdine survey open.")
        self._db = _connected(path)

    def make(self, tables: Sequence[str]) -> None:
        """Make the tables, inside a transaction, and mark the file."""
        for table in tables:
            self._db.execute(f"CREATE TABLE {table} WITHOUT ROWID")
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {VERSION}")

    def made(self) -> bool:
        """Return whether `make` made it."""
        try:
            found = self.rows("PRAGMA application_id") + self.rows("PRAGMA user_version")
        except sqlite3.DatabaseError:
            return False
        return found == [(APPLICATION,), (VERSION,)]

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return self._db.execute(query, values).fetchall()

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Run a statement; return how many rows it touched."""
        return self._db.execute(query, values).rowcount

    def each(self, query: str, many: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of many values."""
        self._db.executemany(query, many)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write alone: all of it happens, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def mix(self, table: str) -> None:
        """Do nothing: rows stand in the order of their keys."""

    def settle(self) -> None:
        """Do nothing: what is deleted is overwritten at once."""

    def copy(self, place: Path) -> None:
        """Write a copy of what is committed to a new file, while others go on."""
        _begin(place)
        with closing(_connected(place)) as new:
            self._db.backup(new)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _begin(path: Path) -> None:
    """Make an empty file that only its owner reads."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise ExistingFileError(
            "store", "be a new file", str(path), "Choose another name."
        ) from None
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    for setting in (
        *("secure_delete = ON", "synchronous = FULL", "temp_store = MEMORY"),
        "journal_mode = TRUNCATE",
    ):
        with suppress(sqlite3.DatabaseError):  # another kind of file, which is refused later
            db.execute(f"PRAGMA {setting}")
    return db


# ---- What a store asks of its database, and which one an address names ---------------------------


POSTGRES = ("postgresql://", "postgres://")


class Database(Protocol):
    """Tables, and transactions that are on the disk when they end.

    Queries are written with ``?`` where a value stands, and mean the same in SQLite and PostgreSQL.
    """

    place: str
    shown: str
    """The place as messages name it: without a password."""
    failures: type[Exception]
    """What it raises when it cannot answer now."""

    def make(self, tables: Sequence[str]) -> None:
        """Make the tables of a store, inside a transaction, and mark it as one."""

    def made(self) -> bool:
        """Return whether `make` made it."""

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Run a statement; return how many rows it touched."""

    def each(self, query: str, many: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of many values."""

    def transaction(self) -> AbstractContextManager[None]:
        """Return a transaction of the only one who writes: all of it happens, or nothing."""

    def mix(self, table: str) -> None:
        """Let a table of one column forget in which order it came, inside a transaction."""

    def settle(self) -> None:
        """Let go of what was deleted, as far as the database can, after a transaction."""

    def close(self) -> None:
        """Let go of it."""


def database(place: str, *, new: bool = False) -> Database:
    """Return the database that an address names.

    Parameters
    ----------
    place
        ``postgresql://...``, or the path of an SQLite file.
    new
        Whether it must have no survey yet.
    """
    if place.startswith(POSTGRES):
        from sourdine.survey.postgres_database import (
            PostgresDatabase,
        )

        return PostgresDatabase(place, new=new)
    return SqliteFile(place, new=new)
