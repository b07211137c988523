"""SQLite and PostgreSQL behind one interface: one writer at a time, group commit."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections import deque
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Event
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from urllib.parse import unquote
from weakref import finalize

from sourdine.errors import ParameterError, SourdineError
from sourdine.storage import locks
from sourdine.storage.locks import PATIENCE, InterruptSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from io import FileIO


# ---- Addresses -----------------------------------------------------------------------------------


SCHEME = re.compile(r"(sqlite|postgres(?:ql)?)://", re.IGNORECASE)
SECRET = re.compile(r"(//[^/@:]*):[^/@]*@|([?&]password=)[^&]*", re.IGNORECASE)


def is_address(text: object) -> bool:
    """Return whether a value is the address of a database, and not a path.

    Examples
    --------
    >>> is_address("sqlite:///wages.db"), is_address("wages.ledger")
    (True, False)
    """
    return isinstance(text, str) and SCHEME.match(text) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database.

    ``url`` has no fragment (``#...``); that is ``part``, a name within the database.

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
        """Parse an address, or raise a `ParameterError`."""
        url, _, part = str(text).partition("#")
        if not is_address(url) or (url.lower().startswith("sqlite") and not url[10:].strip("/")):
            got = repr(str(cls(url)))
            hint = "Use sqlite:///store.db for a file in this folder, sqlite:////srv/store.db "
            hint += "for one in another, or postgresql://user@host/database."
            raise ParameterError("store", "be the address of a database", got, hint)
        return cls(url, unquote(part))

    @property
    def is_file(self) -> bool:
        """Whether the database is an SQLite file."""
        return self.url.lower().startswith("sqlite")

    @property
    def path(self) -> Path:
        return Path(unquote(self.url[10:])).absolute()

    def __str__(self) -> str:
        hidden = SECRET.sub(lambda m: f"{m[1]}:***@" if m[1] else f"{m[2]}***", self.url)
        return str(self.path) if self.is_file else hidden


# ---- Dialects: what differs between SQLite and PostgreSQL ----------------------------------------


class Transaction:
    """A connection inside a transaction, with which a job reads and writes.

    Statements use ``?`` as the placeholder for values in every dialect.
    """

    __slots__ = ("_connection", "dialect", "notes")

    def __init__(self, dialect: Dialect, connection: Any) -> None:
        self.dialect, self._connection = dialect, connection
        self.notes: dict[str, str] = {}

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return every row of a result."""
        return list(self._do(statement, values).fetchall())

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of a result, or None."""
        found: tuple[Any, ...] | None = self._do(statement, values).fetchone()
        return found

    def run(self, statement: str, *values: object) -> int:
        """Run a statement that changes rows, and return how many it changed."""
        return int(self._do(statement, values).rowcount)

    def each(self, statement: str, many: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of many rows of values."""
        with closing(self._connection.cursor()) as cursor:
            cursor.executemany(self.dialect.spelled(statement), many)

    def note(self, journal: str, line: int, check: str) -> None:
        """Record for the witness the latest line of a journal that was written or read."""
        self.notes = latest(self.notes, {journal: f"{line} {check}"})

    def _do(self, statement: str, values: Sequence[object]) -> Any:
        return self._connection.execute(self.dialect.spelled(statement), values)


def latest(notes: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Merge two records of the latest line of each journal, with that line's check.

    Of two checks of one line the first stays.

    Examples
    --------
    >>> latest({"a": "9 x", "b": "2 y"}, {"a": "10 z", "b": "1 u"})
    {'a': '10 z', 'b': '2 y'}
    """

    def line(head: str) -> int:
        return int(head.partition(" ")[0])

    known = {name: line(head) for name, head in notes.items()}
    return {**notes, **{name: x for name, x in more.items() if line(x) > known.get(name, 0)}}


class Dialect(Protocol):
    """Interface of a kind of database."""

    broken: tuple[type[Exception], ...]
    """Exceptions that mean that a connection can no longer be used."""
    refused: tuple[type[Exception], ...]
    """Exceptions that mean that a statement was refused."""

    def connect(self) -> Any:
        """Return a new connection, outside of any transaction."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction that writes, with no other writer."""

    def end(self) -> None:
        """Release the writers' lock after a commit or a rollback."""

    def look(self, connection: Any) -> None:
        """Begin a transaction that reads one consistent snapshot."""

    def spelled(self, statement: str) -> str:
        """Return a statement with this database's placeholders."""

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return statements that make a table refuse UPDATE or DELETE, always or ``when``."""

    def backup(self, path: Path) -> None:
        """Write a copy of the committed data to a new file, or say which command does it."""


class SqliteDialect:
    """An SQLite file with a write-ahead log, so that readers do not wait for writers.

    Writers wait for a lock of the operating system, which they poll every few milliseconds.
    SQLite itself polls only every tenth of a second, which would starve some writers.
    """

    broken: tuple[type[Exception], ...] = (sqlite3.OperationalError, sqlite3.InterfaceError)
    refused: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)
    settings: tuple[str, ...] = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON")

    def __init__(self, address: Address) -> None:
        self.path = address.path
        self._turn: FileIO | None = None

    def connect(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise sqlite3.OperationalError("no such file")
        db = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in self.settings:
                db.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def begin(self, connection: sqlite3.Connection) -> None:
        if self._turn is None:
            self._turn = self._locked()
        connection.execute("BEGIN IMMEDIATE")

    def _locked(self) -> FileIO:
        """Return the writers' lock file, with the permissions of the database file.

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
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def look(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")

    def backup(self, path: Path) -> None:
        with closing(self.connect()) as db, closing(sqlite3.connect(path)) as copy:
            db.backup(copy)

    def spelled(self, statement: str) -> str:
        return statement

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        return [
            f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} "
            + (f"WHEN {when} " if when else "")
            + "BEGIN SELECT RAISE(ABORT, 'what is written stays'); END"
        ]


def dialect_of(address: Address) -> Dialect:
    if address.is_file:
        return SqliteDialect(address)
    from sourdine.storage.postgres import PostgresDialect

    return PostgresDialect(address)


# ---- One writer at a time, group commit ----------------------------------------------------------
#
# A writer appends its job to a queue. If no thread leads, the writer becomes the leader: it runs
# all waiting jobs, each behind a savepoint, commits once, and wakes the threads that waited for
# these jobs and then the next in the queue. So there is no thread to start and stop, and under load
# many charges share one wait for the disk.
#
# *Claim*: a job that raises undoes itself alone. *Checked by*
# ``test_a_job_that_raises_undoes_itself``. *Claim*: no job returns before its commit.
# *Checked by* ``test_nobody_hears_before_the_commit``.


T = TypeVar("T")

TOGETHER = 128
"""Maximum number of jobs in one transaction."""
PAUSE = 0.05
"""Seconds between checks for a leader, in case an interrupt prevented the wake-up."""
READERS = 4
"""Maximum number of connections for reading in one process."""


class _Job(Generic[T]):
    """A function that waits to be run in a transaction, and its result."""

    __slots__ = ("done", "error", "result", "woken", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work, self.done, self.woken = work, False, Event()
        self.result: T
        self.error: BaseException | None = None


class SharedDatabase:
    """A database shared by threads and processes.

    Parameters
    ----------
    address
        ``sqlite:///store.db`` or ``postgresql://host/name``. The database must exist.
    witness
        Called with the recorded lines after each commit and each read, before a result is
        returned; None for no witness. Reads are recorded too, since a commit may have succeeded
        whose witness could not be called.
    dialect
        From the address to the dialect, for a database with settings or locks of its own.
    """

    def __init__(
        self,
        address: str | Address,
        *,
        witness: Callable[[Mapping[str, str]], None] | None = None,
        dialect: Callable[[Address], Dialect] = dialect_of,
    ) -> None:
        self.address = address if isinstance(address, Address) else Address.read(address)
        self._dialect_of, self.witness, self.commits = dialect, witness, 0
        self.dialect = dialect(self.address)
        self._failures = (*self.dialect.broken, *self.dialect.refused)
        self._renew()
        self.read(lambda rows: rows.one("SELECT 1"))

    def _renew(self) -> None:
        """Reset the state in a new process: connections are not shared across a fork."""
        self._process, self._alone = os.getpid(), InterruptSafeLock()
        self._waiting: deque[_Job[Any]] = deque()
        self._writer: Any = None
        self._readers: deque[Any] = deque()
        self._places = BoundedSemaphore(READERS)
        self._open: list[Any] = []
        finalize(self, _let_go, self._open, self._process)

    def _here(self) -> None:
        if self._process != os.getpid():
            self.dialect = self._dialect_of(self.address)
            self._renew()

    def _connected(self) -> Any:
        self._open.append(self.dialect.connect())
        return self._open[-1]

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run a function alone in a transaction, and return once its writes are on disk."""
        self._here()
        job = _Job(work)
        self._waiting.append(job)
        try:
            while not job.done:
                if self._alone.attempt(lambda: self._lead(job)):
                    with suppress(IndexError):
                        self._waiting[0].woken.set()
                else:
                    job.woken.wait(PAUSE)
                    job.woken.clear()
        finally:
            job.done = True  # in case an interrupt came while it waited
            with suppress(ValueError):
                self._waiting.remove(job)
        if job.error is not None:
            raise job.error
        return job.result

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run a function on a consistent snapshot, without waiting for writers."""
        with self._reader() as db:
            self.dialect.look(db)
            rows = Transaction(self.dialect, db)
            result = work(rows)
            db.execute("COMMIT")
        self._tell(rows.notes)
        return result

    def outside(self, *statements: str) -> None:
        """Run statements outside of any transaction, such as VACUUM."""
        with self._reader() as db:
            for statement in statements:
                db.execute(statement)

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        """Yield a connection; one with which anything failed is not used again."""
        self._here()
        with self._places:
            db = None
            try:
                with suppress(IndexError):  # another thread may take the last one
                    db = self._readers.pop()
                db = db or self._connected()
                yield db
            except BaseException as error:
                self._drop(db)
                if isinstance(error, self._failures):
                    raise self._trouble(error) from None
                raise
            self._readers.append(db)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the committed data to a new file, while others keep working."""
        where = Path(path)
        with locks.making("path", where):
            where.touch(mode=0o600, exist_ok=False)
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
        self._here()
        self._drop(self._writer)
        self._writer = None
        with suppress(IndexError):
            while True:
                self._drop(self._readers.pop())

    def _lead(self, job: _Job[Any]) -> None:
        """Run waiting jobs until this one is done, here or by an earlier leader."""
        while not job.done:
            self._together([one for one in [*self._waiting][:TOGETHER] if not one.done] or [job])

    def _together(self, batch: list[_Job[Any]]) -> None:
        failure: BaseException | None = None
        committed = False
        try:
            self._commit(batch)
            committed = True
        except self._failures as error:
            failure = self._trouble(error)
        except SourdineError as error:
            failure = error
        finally:
            if not committed:  # what broke the connection may have broken all of them
                said = f"a write to {self.address} was interrupted. Nothing was released."
                failure = failure or SourdineError(said)
                self.close()
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
        """Call the witness; if that fails, no waiting request gets a result."""
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
            with suppress(Exception):  # it is broken anyway
                connection.close()

    def _trouble(self, error: BaseException) -> SourdineError:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        return SourdineError(f"{self.address} could not be used: {said}. Nothing was released.")


INHERITED: list[Any] = []
"""Connections of the parent process: closing them here would end the parent's sessions."""


def _let_go(connections: list[Any], process: int) -> None:
    """Close the connections of a database that is no longer in use."""
    if process != os.getpid():
        INHERITED.extend(connections)
        return
    for connection in connections:
        with suppress(Exception):
            connection.close()
