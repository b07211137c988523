"""SQLite and PostgreSQL behind one interface: one writer at a time, group commit."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Event
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from urllib.parse import unquote
from weakref import finalize

from sourdine.errors import ParameterError, SourdineError
from sourdine.storage import locks
from sourdine.storage.locks import InterruptSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from io import FileIO


# ---- The address of a database, and of one thing in it -------------------------------------------


SCHEME = re.compile(r"(sqlite|postgres(?:ql)?)://", re.IGNORECASE)
SECRET = re.compile(r"(//[^/@:]*):[^/@]*@|([?&]password=)[^&]*", re.IGNORECASE)


def is_address(text: object) -> bool:
    """Whether something is the address of a database, and not a path.

    Examples
    --------
    >>> is_address("sqlite:///wages.db"), is_address("wages.ledger")
    (True, False)
    """
    return isinstance(text, str) and SCHEME.match(text) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is.

    Parameters
    ----------
    url
        The address without what stands behind ``#``.
    part
        What stands behind ``#``: a name within the database; empty if there is none.

    Examples
    --------
    >>> address = Address.read("sqlite:////srv/store.db#wages")
    >>> str(address.path), address.part
    ('/srv/store.db', 'wages')
    >>> print(Address.read("postgresql://anna:secret@db.example/wages"))
    postgresql://anna:***@db.example/wages
    """

    url: str
    part: str = ""

    @classmethod
    def read(cls, text: str) -> Address:
        """Return the address that a person typed, or refuse it."""
        url, _, part = str(text).partition("#")
        if not is_address(url) or (url.lower().startswith("sqlite") and not url[10:].strip("/")):
            raise ParameterError(
                "store",
                "be the address of a database",
                repr(str(cls(url))),
                "Type sqlite:///store.db for a file of this folder, sqlite:////srv/store.db for "
                "one of another, or postgresql://user@host/database.",
            )
        return cls(url, unquote(part))

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.url.lower().startswith("sqlite")

    @property
    def path(self) -> Path:
        """The file of SQLite."""
        return Path(unquote(self.url[10:])).absolute()

    def __str__(self) -> str:
        hidden = SECRET.sub(lambda m: f"{m[1]}:***@" if m[1] else f"{m[2]}***", self.url)
        return str(self.path) if self.is_file else hidden


# ---- What differs between SQLite and PostgreSQL: how to connect, to begin, and to forbid ---------


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

    def __init__(self, dialect: Dialect, connection: Any) -> None:
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

    def _do(self, statement: str, values: Sequence[object]) -> Any:
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

    def connect(self) -> Any:
        """Return a new connection, outside of any transaction."""

    def begin(self, connection: Any) -> None:
        """Begin to write, alone."""

    def end(self) -> None:
        """Let others write, after a commit or a rollback."""

    def look(self, connection: Any) -> None:
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
            return locks.open_locked(turn, stat.S_IMODE(self.path.stat().st_mode), PATIENCE)
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
    from sourdine.storage.postgres import PostgresDialect

    return PostgresDialect(address)


# ---- `SharedDatabase`: one writer at a time, and whoever waits for the disk together shares a
# commit
#
# Who wants to write puts a job into a line. If nobody leads, they lead: they run all jobs that
# wait, each behind a savepoint, commit once, wake who waited for them, and then the next in the
# line. So there is no thread that must be started and ended, and under load many charges cost one
# wait for the disk.
#
# *Claim*: a job that raises undoes itself alone. *Checked by*
# ``test_a_job_that_raises_undoes_itself``. *Claim*: no job returns before its commit.
# *Checked by* ``test_nobody_hears_before_the_commit``.


T = TypeVar("T")

TOGETHER = 128
"""Jobs in one transaction."""
PAUSE = 0.05
"""Seconds after which who waits looks whether somebody leads, if an interrupt kept it unsaid."""
READERS = 4
"""Connections that read, in one process."""


class _Job(Generic[T]):
    """What somebody waits for."""

    __slots__ = ("done", "error", "result", "woken", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work, self.done, self.woken = work, False, Event()
        self.result: T
        self.error: BaseException | None = None


class SharedDatabase:
    """A database, shared by threads and processes.

    Parameters
    ----------
    address
        Where it is: ``sqlite:///store.db`` or ``postgresql://host/name``. It is not made here.
    witness
        Called after each commit, and after each read, before anybody hears of it, with what was
        noted; None for nobody. A read notes what it shows: a commit may be there whose witness
        could not be told.

    Raises
    ------
    SourdineError
        It cannot be reached.
    """

    def __init__(
        self,
        address: str | Address,
        *,
        witness: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        self.address = address if isinstance(address, Address) else Address.read(address)
        self.dialect, self.witness, self.commits = dialect_of(self.address), witness, 0
        self._failures = (*self.dialect.broken, *self.dialect.refused)
        self._renew()
        self.read(lambda rows: rows.one("SELECT 1"))

    def _renew(self) -> None:
        """Begin anew, in a new process: connections are not shared with the one it came from."""
        self._process, self._alone = os.getpid(), InterruptSafeLock()
        self._waiting: deque[_Job[Any]] = deque()
        self._writer: Any = None
        self._readers: deque[Any] = deque()
        self._places = BoundedSemaphore(READERS)
        self._open: list[Any] = []
        finalize(self, _let_go, self._open, self._process)

    def _here(self) -> None:
        if self._process != os.getpid():
            self.dialect = dialect_of(self.address)
            self._renew()

    def _connected(self) -> Any:
        self._open.append(self.dialect.connect())
        return self._open[-1]

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run a function alone, in a transaction, and return when the disk has what it wrote."""
        self._here()
        job = _Job(work)
        self._waiting.append(job)
        try:
            while not job.done:
                if self._alone.attempt(lambda: self._lead(job)):
                    self._wake_next()
                else:
                    job.woken.wait(PAUSE)
                    job.woken.clear()
        finally:
            job.done = True  # if an interrupt came while it waited
            with suppress(ValueError):
                self._waiting.remove(job)
        if job.error is not None:
            raise job.error
        return job.result

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run a function on what is committed, all of one moment, without waiting for writers."""
        self._here()
        with self._places:
            db = None
            try:
                db = self._readers.pop() if self._readers else self._connected()
                self.dialect.look(db)
                rows = Transaction(self.dialect, db)
                result = work(rows)
                db.execute("COMMIT")
            except BaseException as error:
                self._drop(db)
                if isinstance(error, self._failures):
                    raise self._trouble(error) from None
                raise
            self._readers.append(db)
        self._tell(rows.notes)
        return result

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of what is committed to a new file, while others go on."""
        where = Path(path)
        try:
            where.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise ParameterError(
                "path", "be a new file", f"{str(path)!r}, which exists", "Type another name."
            ) from None
        except OSError as error:
            raise SourdineError(f"{where} could not be written: {error.strerror}.") from None
        try:
            self.dialect.backup(where)
            with where.open("r+b", buffering=0) as file:
                locks.settle(file)
        except Exception as error:
            where.unlink()
            if isinstance(error, self._failures):
                raise self._trouble(error) from None
            raise

    def close(self) -> None:
        """Let go of all connections."""
        self._here()
        self._drop(self._writer)
        self._writer = None
        while self._readers:
            self._drop(self._readers.pop())

    def _lead(self, job: _Job[Any]) -> None:
        """Run what waits until a job is done: by this thread, or by another before it."""
        while not job.done:
            self._together([one for one in [*self._waiting][:TOGETHER] if not one.done] or [job])

    def _wake_next(self) -> None:
        with suppress(IndexError):
            self._waiting[0].woken.set()

    def _together(self, batch: list[_Job[Any]]) -> None:
        failure: BaseException | None = SourdineError(
            f"a write to {self.address} was interrupted. Nothing was released."
        )
        try:
            self._commit(batch)
            failure = None
        except self._failures as error:
            failure = self._trouble(error)
        except SourdineError as error:
            failure = error
        finally:
            if failure is not None:
                self._drop(self._writer)
                self._writer = None
            self.dialect.end()
            for job in batch:
                job.error = failure or job.error
                job.done = True
                with suppress(ValueError):
                    self._waiting.remove(job)
                job.woken.set()

    def _commit(self, batch: list[_Job[Any]]) -> None:
        if self._writer is None:
            self._writer = self._connected()
        self.dialect.begin(self._writer)
        notes: dict[str, str] = {}
        for job in batch:
            notes = latest(notes, self._run(job))
        self._writer.execute("COMMIT")
        self.dialect.end()
        self.commits += 1
        self._tell(notes)

    def _tell(self, notes: Mapping[str, str]) -> None:
        """Tell the witness what was noted; if that fails, no waiting request is answered."""
        if self.witness is not None and notes:
            self.witness(notes)

    def _run(self, job: _Job[Any]) -> Mapping[str, str]:
        rows = Transaction(self.dialect, self._writer)
        self._writer.execute("SAVEPOINT job")
        try:
            job.result = job.work(rows)
        except self.dialect.broken:
            raise
        except Exception as error:  # noqa: BLE001 - it is the caller's
            job.error = self._trouble(error) if isinstance(error, self.dialect.refused) else error
            self._writer.execute("ROLLBACK TO SAVEPOINT job")
            rows.notes = {}
        self._writer.execute("RELEASE SAVEPOINT job")
        return rows.notes

    def _drop(self, connection: Any) -> None:
        if connection is not None:
            with suppress(ValueError):
                self._open.remove(connection)
            with suppress(Exception):  # it is of no more use
                connection.close()

    def _trouble(self, error: BaseException) -> SourdineError:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        return SourdineError(f"{self.address} could not be used: {said}. Nothing was released.")


INHERITED: list[Any] = []
"""Connections of the process that this one was forked from: closing them would end those."""


def _let_go(connections: list[Any], process: int) -> None:
    """Close the connections of a database that nobody uses any more."""
    if process != os.getpid():
        INHERITED.extend(connections)
        return
    for connection in connections:
        with suppress(Exception):
            connection.close()
