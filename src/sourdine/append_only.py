r"""A file that only grows: what is written in it survives kills, forks and other writers.

A `Book` is a SQLite file with a table ``terms`` of one row, fixed when the file is made, and
tables of numbered lines. Triggers refuse to change or delete a line.

=========================  =======================================================================
``BEGIN IMMEDIATE``        one writer reads, decides and writes, the others wait
``journal_mode=DELETE``    once a line is written the one file holds it; with a write-ahead log
                           a copy of the file alone would have forgotten the latest lines
``synchronous=EXTRA``      file and folder reach the disk before anything is answered
a connection per turn      nothing is carried across a fork, and a file that was deleted or
                           replaced meanwhile is noticed
=========================  =======================================================================

Network file systems often break the locks that this relies on: keep a book on a local disk. And
whoever may write the file may delete it: it guards against mistakes and crashes, not against its
owner.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sqlite3 import Connection

__all__ = ["Alone", "Book", "FileKind", "new_identity", "now", "only_grows", "only_one"]

PATIENCE = 60.0
"""Seconds to wait for other writers."""


class Alone:
    """A lock that refuses its own holder, who would wait for ever, and lets others wait."""

    __slots__ = ("_holder", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        self._holder: int | None = None

    def __enter__(self) -> None:
        if self.is_mine:
            raise SourdineError(
                "a turn",
                "end before the next one begins",
                "one inside the other",
                "Ask the open turn, such as turn.halfwidth(), or end it first.",
            )
        self.lock.acquire()
        self._holder = get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = None
        self.lock.release()

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == get_ident() and self.lock.locked()

    def before_fork(self) -> None:
        """Wait until others have finished; who forks inside a turn has nobody to wait for."""
        if not self.is_mine:
            self.lock.acquire()

    def after_fork(self) -> None:
        """Let go of it, unless this thread is inside a turn."""
        if not self.is_mine:
            self.lock.release()

    def in_child(self) -> None:
        """End a child that was forked inside a turn: it would write over its parent's shoulder."""
        if self.is_mine:
            os.write(2, b"sourdine: a process must not be forked inside a turn of a ledger.\n")
            os._exit(70)
        self.lock.release()


_QUIET = Alone()
"""Held while a file is in use, so that no fork can carry a half-written line away."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_QUIET.before_fork,
        after_in_parent=_QUIET.after_fork,
        after_in_child=_QUIET.in_child,
    )


@dataclass(frozen=True, slots=True)
class FileKind:
    """What sort of book it is.

    Parameters
    ----------
    noun
        What a person calls it.
    mark
        Four letters that the file carries.
    version
        The format of its tables.
    schema
        The statements that make them; ``terms`` has a column ``identity``.
    """

    noun: str
    mark: bytes
    version: int
    schema: str

    @property
    def application(self) -> int:
        """Return the mark as SQLite stores it."""
        return int.from_bytes(self.mark, "big")


def only_grows(table: str) -> str:
    """Return triggers by which lines of a table are numbered 1, 2, ... and stay as they are."""
    return f"""
CREATE TRIGGER {table}_follow BEFORE INSERT ON {table}
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM {table})
BEGIN SELECT RAISE(ABORT, 'a book is written line after line'); END;
{_stays(table)}"""  # noqa: S608 - names of our own tables


def only_one(table: str) -> str:
    """Return triggers by which a table holds one row for good."""
    return f"""
CREATE TRIGGER {table}_are_one BEFORE INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > 0
BEGIN SELECT RAISE(ABORT, 'a book has one set of terms'); END;
{_stays(table)}"""  # noqa: S608 - names of our own tables


def _stays(table: str) -> str:
    return f"""CREATE TRIGGER {table}_stay BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'what is written stays as it is'); END;
CREATE TRIGGER {table}_remain BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'what is written is never deleted'); END;
"""


def now() -> str:
    """Return the time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_identity() -> str:
    """Return the name of one file, unlike all others."""
    return uuid.uuid4().hex


class Book:
    """A file that only grows, shared by all processes that name it.

    Parameters
    ----------
    path
        The file.
    kind
        What sort of book it is.
    begin
        Writes the terms of a new file; None if the file must be there.

    Raises
    ------
    ParameterError
        The file is not a book of this kind, or is damaged.
    """

    __slots__ = ("_identity", "kind", "path")

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: FileKind,
        begin: Callable[[Connection], None] | None = None,
    ) -> None:
        self.path = Path(os.fsdecode(path)).absolute()
        self.kind = kind
        with self.turn("rw" if begin is None else "rwc") as connection:
            if begin is not None and _is_empty(connection):
                self._make(connection, begin)
            self._require_ours(connection)
            self._identity = _identity(connection)
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise self.refusal("damaged")

    @contextmanager
    def turn(self, mode: str = "rw") -> Iterator[Connection]:
        """Hold the file alone for one transaction; whatever raises inside undoes it."""
        with _QUIET, self._in_plain_words():
            uri = f"{self.path.as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
            with closing(connection):
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA fullfsync = ON")
                connection.execute("BEGIN IMMEDIATE")
                if hasattr(self, "_identity") and _identity(connection) != self._identity:
                    raise ParameterError(
                        f"the {self.kind.noun}",
                        "stay the file that was opened",
                        f"another one at {self.path}",
                        "Put the first one back, or open it anew.",
                    )
                yield connection
                connection.execute("COMMIT")

    def refusal(self, reason: str) -> ParameterError:
        """Return the error for a file that cannot be what it should be."""
        noun = self.kind.noun
        return ParameterError(
            noun,
            "be a file that Sourdine wrote",
            f"{self.path} ({reason})",
            f"Type the path of a new file, or restore the {noun} from a copy.",
        )

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise SourdineError(self._trouble(str(error))) from None
        except sqlite3.DatabaseError as error:
            raise self.refusal(str(error)) from None

    def _trouble(self, reason: str) -> str:
        if "locked" in reason:
            reason = f"another process has held it for {PATIENCE:g} seconds"
        elif "unable to open" in reason:
            there = "no such file" if self.path.parent.is_dir() else "no such folder"
            reason = "it may not be read and written" if self.path.exists() else there
        return (
            f"the {self.kind.noun} {self.path} could not be used: {reason}. Nothing was released."
        )

    def _make(self, connection: Connection, begin: Callable[[Connection], None]) -> None:
        for statement in _statements(self.kind.schema):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {self.kind.application}")
        connection.execute(f"PRAGMA user_version = {self.kind.version}")
        begin(connection)

    def _require_ours(self, connection: Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != self.kind.application:
            raise self.refusal("a database of something else")
        if version != self.kind.version:
            raise self.refusal(f"of format {version}, this reads {self.kind.version}")


def _is_empty(connection: Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(objects == 0 and application == 0)


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script: ``executescript`` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _identity(connection: Connection) -> str:
    (identity,) = connection.execute("SELECT identity FROM terms").fetchone() or ("",)
    return str(identity)
