"""What a survey asks of its database, and how it is kept in an SQLite file."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Protocol

from sourdine.errors import ExistingFileError, ParameterError, SourdineError
from sourdine.storage.database import Dialect, SqliteDialect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sourdine.storage.database import Transaction


APPLICATION = 0x536F7576
"""What marks a file as a survey's store."""
VERSION = 1


class Tables(Dialect, Protocol):
    """A dialect that can also make the tables of a survey, and forget what was deleted."""

    settling: tuple[str, ...]
    """Statements after a transaction that let go of what was deleted, as far as possible."""

    def make(self, rows: Transaction, tables: Sequence[str]) -> None:
        """Make the tables of a store, and mark it as one."""

    def made(self, rows: Transaction) -> bool:
        """Return whether `make` made it."""

    def mix(self, rows: Transaction, table: str) -> None:
        """Let a table of one column forget in which order it came."""


class SqliteTables(SqliteDialect):
    """A survey's tables in one file.

    No table has row numbers: rows stand in the order of their keys. What is deleted is overwritten
    with zeros, and the journal is cut to nothing after each commit.
    """

    settings = (
        *("secure_delete = ON", "synchronous = FULL", "temp_store = MEMORY"),
        "journal_mode = TRUNCATE",
    )
    settling: tuple[str, ...] = ()

    def connect(self) -> sqlite3.Connection:
        """Return a connection to an existing file, or refuse one that is no database."""
        try:
            return super().connect()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            raise not_a_store(str(self.path)) from None

    def make(self, rows: Transaction, tables: Sequence[str]) -> None:
        """Make the tables, and mark the file."""
        for table in tables:
            rows.run(f"CREATE TABLE {table} WITHOUT ROWID")
        rows.run(f"PRAGMA application_id = {APPLICATION}")
        rows.run(f"PRAGMA user_version = {VERSION}")

    def made(self, rows: Transaction) -> bool:
        """Return whether `make` made it."""
        marks = rows.one("PRAGMA application_id"), rows.one("PRAGMA user_version")
        return marks == ((APPLICATION,), (VERSION,))

    def mix(self, rows: Transaction, table: str) -> None:
        """Do nothing: rows stand in the order of their keys."""


def not_a_store(shown: str) -> ParameterError:
    """Return what is said of a place that `Tables.make` did not make."""
    return ParameterError(
        "store", "be a store created by sourdine survey open", repr(shown),
        "Check the path, or restore it from a copy.",
    )  # fmt: skip


def new_file(path: Path) -> None:
    """Make an empty file that only its owner reads."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise ExistingFileError(
            "store", "be a new file", str(path), "Choose another name."
        ) from None
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None
