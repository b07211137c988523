"""`SharedDatabase`: one writer at a time, and whoever waits for the disk together shares a commit.

Who wants to write puts a job into a line. If nobody leads, they lead: they run all jobs that wait,
each behind a savepoint, commit once, wake who waited for them, and then the next in the line. So
there is no thread that must be started and ended, and under load many charges cost one wait for the
disk.

*Claim*: a job that raises undoes itself alone. *Checked by*
``test_a_job_that_raises_undoes_itself``. *Claim*: no job returns before its commit.
*Checked by* ``test_nobody_hears_before_the_commit``.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from threading import BoundedSemaphore, Event
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import finalize

from sourdine.append_only import Alone, disk
from sourdine.database.address import Address
from sourdine.database.dialects import Transaction, dialect_of, latest
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SharedDatabase"]

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
        self._process, self._alone = os.getpid(), Alone()
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

    def _connected(self) -> Any:  # noqa: ANN401 - the driver's
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
                disk.settle(file)
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

    def _drop(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
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
