"""Locks between threads and processes, and writes that reach the disk."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from errno import ENOSPC
from secrets import token_hex
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from sourdine.errors import ExistingFileError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO
    from pathlib import Path


PATIENCE = 60.0
"""Seconds to wait for other writers of a database."""


# ---- A lock that interrupts cannot leave held ----------------------------------------------------
#
# An interrupt (Ctrl-C) is raised between two steps of the main thread: for example after a lock was
# acquired and before its owner was recorded, or at the first step of a Python ``__exit__``. So work
# is passed in as a function, and the lock is released in a ``finally`` whose first call is the C
# function ``release``. That call also says whether the lock was held: a lock with an owner raises
# if it was not.
#
# *Claim*: however often and whenever a process is interrupted, no lock stays held. *Checked by*
# ``test_interrupts_leave_no_lock_behind``.


T = TypeVar("T")


class InterruptSafeLock:
    """Runs one function at a time; raises if its holder would wait for itself.

    Examples
    --------
    >>> alone = InterruptSafeLock()
    >>> alone(lambda: 2 + 3)
    5
    """

    __slots__ = ("_holder", "_lock")

    def __init__(self) -> None:
        self._lock = RLock()
        self._holder: int | None = None

    def __call__(self, work: Callable[[], T]) -> T:
        """Wait until others have finished, run the function, and return its result."""
        found: list[T] = []
        self.attempt(lambda: found.append(work()), wait=True)
        return found[0]

    def attempt(self, work: Callable[[], object], *, wait: bool = False) -> bool:
        """Run the function unless another is running and ``wait`` is false; say whether it ran."""
        me, lock = get_ident(), self._lock
        if self._holder == me:
            hint = "Use the open transaction, such as turn.halfwidth(), or end it first."
            raise SourdineError("a turn", "Transactions cannot be nested.", "", hint)
        try:
            if not lock.acquire(wait):
                return False
            self._holder = me
            work()
            return True
        finally:
            if self._holder == me:
                self._holder = None
            try:  # noqa: SIM105 - suppress() is Python, and could be interrupted
                lock.release()
            except RuntimeError:  # another thread's, or interrupted before it was acquired
                pass

    def wait_for_forks(self) -> None:
        """Prevent forks while another thread holds this lock, and end a child forked by its holder.

        The lock is acquired before a fork and released after it by C functions: Python functions
        could be interrupted at their first step, and leave it held.
        """
        take, release = self._lock.acquire, self._lock.release
        os.register_at_fork(before=take, after_in_parent=release, after_in_child=release)
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        """End a child that was forked while the lock was held: it would write to the same file."""
        if self._holder == get_ident():
            os.write(2, b"sourdine: a process must not be forked inside a turn of a ledger.\n")
            os._exit(70)


QUIET = InterruptSafeLock()
"""Held while a file is in use, so that no fork inherits a half-written line."""

if hasattr(os, "register_at_fork"):
    QUIET.wait_for_forks()


# ---- Locks, writes and new files of the operating system -----------------------------------------


PAUSE = 0.002
"""Seconds between two attempts to lock."""

if sys.platform == "win32":  # pragma: no cover - another system
    import msvcrt

    FAR = 2**40
    """A byte beyond the end, so that a lock does not block readers."""

    def _taken(file: FileIO) -> None:
        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error

    def _flush(file: FileIO) -> None:
        os.fsync(file.fileno())
else:
    import fcntl

    def _taken(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _flush(file: FileIO) -> None:
        fcntl.fcntl(file, FULL) if FULL else os.fsync(file.fileno())

    FULL: int = getattr(fcntl, "F_FULLFSYNC", 0)
    """Where a plain fsync does not reach the disk."""


def hold(file: FileIO, patience: float) -> None:
    """Lock a file until it is closed; raise `BlockingIOError` after ``patience`` seconds."""
    deadline = monotonic() + patience
    while True:
        try:
            return _taken(file)
        except BlockingIOError:
            if monotonic() > deadline:
                raise
        sleep(PAUSE)


def open_locked(path: Path, rights: int, patience: float) -> FileIO:
    """Open a file, creating it if needed, and lock it until it is closed.

    Anyone who may open a file may lock it, and block everybody who waits for it: so it gets
    exactly the requested permissions.
    """
    file = open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, rights))  # noqa: SIM115 - the caller closes it
    try:
        with suppress(OSError):  # the file has another owner, who may admit others
            path.chmod(rights)
        hold(file, patience)
    except BaseException:
        file.close()
        raise
    return file


def settle(file: FileIO) -> None:
    """Return once all writes are on disk."""
    _flush(file)


def get(file: FileIO, start: int, most: int = -1) -> bytes:
    """Return the bytes of a file from an offset on."""
    file.seek(start)
    return file.read(most)


def put(file: FileIO, start: int, text: bytes) -> None:
    """Write all bytes at an offset, or raise."""
    file.seek(start)
    if file.write(text) != len(text):
        raise OSError(ENOSPC, os.strerror(ENOSPC))


@contextmanager
def making(name: str, path: Path, hint: str = "Choose another name.") -> Iterator[None]:
    """Say of a new file that a parameter names that it exists, or could not be written."""
    try:
        yield
    except FileExistsError:
        raise ExistingFileError(name, "be a new file", str(path), hint) from None
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def write_new(path: Path, text: bytes, rights: int) -> None:
    """Create a file that appears whole or not at all; raise `FileExistsError` if it exists.

    It is written under a random name and then gets its own by a hard link, which fails if the
    name is taken; without hard links, it is created under its own name directly.
    """
    aside = path.with_name(f".{token_hex(8)}.new")
    try:
        _write(aside, text, rights)
        try:
            os.link(aside, path)
        except FileExistsError:
            raise
        except OSError:
            _write(path, text, rights)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()
    settle_folder(path.parent)


def _write(path: Path, text: bytes, rights: int) -> None:
    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, rights)

    with open(path, "xb", buffering=0, opener=opener) as file:
        put(file, 0, text)
        settle(file)


def settle_folder(folder: Path) -> None:
    """Return once the names in a folder are on disk."""
    with suppress(OSError):  # where a folder cannot be opened
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)
