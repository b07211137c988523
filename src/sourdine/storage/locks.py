"""Locks between threads and processes, and writes that reach the disk."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from errno import ENOSPC
from secrets import token_hex
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from sourdine.errors import SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path


# ---- One at a time: a lock that an interrupt cannot leave behind ---------------------------------
#
# An interrupt (Ctrl-C) is raised between two steps of the main thread: after a lock was taken and
# before anybody wrote down by whom, or at the first step of a Python ``__exit__``. So work is
# passed in as a function, and the lock lets go in a ``finally`` whose first call is C's own
# ``release``. It says itself whether the lock was held: an owner's lock raises if it was not.
#
# *Claim*: however often and whenever a process is interrupted, no lock stays held. *Checked by*
# ``test_interrupts_leave_no_lock_behind``.


T = TypeVar("T")


class InterruptSafeLock:
    """Runs one function at a time; refuses its own holder, who would wait for ever.

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
        """Wait until others have finished, run the function, and return what it returns."""
        found: list[T] = []
        self.attempt(lambda: found.append(work()), wait=True)
        return found[0]

    def attempt(self, work: Callable[[], object], *, wait: bool = False) -> bool:
        """Run the function unless another is running; return whether it ran.

        Parameters
        ----------
        work
            The function.
        wait
            Whether to wait until others have finished.
        """
        me, lock = get_ident(), self._lock
        if self._holder == me:
            raise SourdineError(
                "a turn",
                "end before the next one begins",
                "one inside the other",
                "Ask the open turn, such as turn.halfwidth(), or end it first.",
            )
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
            except RuntimeError:  # it is another's, or an interrupt came before it was ours
                pass

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == get_ident()

    def wait_for_forks(self) -> None:
        """Let no process fork while another thread holds this lock, and no child go on that does.

        The lock is taken before a fork and released after it by C's own functions: those of Python
        could be interrupted at their first step, and leave it held.
        """
        take, release = self._lock.acquire, self._lock.release
        os.register_at_fork(before=take, after_in_parent=release, after_in_child=release)
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        """End a child that was forked inside a turn: it would write over its parent's shoulder."""
        if self.is_mine:
            os.write(2, b"sourdine: a process must not be forked inside a turn of a ledger.\n")
            os._exit(70)


QUIET = InterruptSafeLock()
"""Held while a file is in use, so that no fork can carry a half-written line away."""

if hasattr(os, "register_at_fork"):
    QUIET.wait_for_forks()


# ---- What the operating system does for a book: locks, the disk's word, a name given once --------


PAUSE = 0.002
"""Seconds between two looks at a lock."""

if sys.platform == "win32":  # pragma: no cover - another system
    import msvcrt

    FAR = 2**40
    """A byte beyond the end, so that a lock does not stop readers."""

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
    """Lock a file until it is closed; raise `BlockingIOError` after so many seconds."""
    deadline = monotonic() + patience
    while True:
        try:
            return _taken(file)
        except BlockingIOError:
            if monotonic() > deadline:
                raise
        sleep(PAUSE)


def open_locked(path: Path, rights: int, patience: float) -> FileIO:
    """Return a file that is locked until it is closed; it is made if it is not there.

    Whoever may open a file may lock it, and stop everybody who waits for it: so its rights are
    those that are asked for.
    """
    file = open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, rights))  # noqa: SIM115 - the caller closes it
    try:
        with suppress(OSError):  # of a file of somebody else, who may let others in
            path.chmod(rights)
        hold(file, patience)
    except BaseException:
        file.close()
        raise
    return file


def settle(file: FileIO) -> None:
    """Wait until what was written is on the disk."""
    _flush(file)


def get(file: FileIO, start: int, most: int = -1) -> bytes:
    """Return what a file holds from a place on."""
    file.seek(start)
    return file.read(most)


def put(file: FileIO, start: int, text: bytes) -> None:
    """Write a text at a place, whole, or raise."""
    file.seek(start)
    if file.write(text) != len(text):
        raise OSError(ENOSPC, os.strerror(ENOSPC))


def write_new(path: Path, text: bytes, rights: int) -> None:
    """Write a new file, which appears whole or not at all; raise `FileExistsError` if it is there.

    It is written under a random name and gets its own by a hard link, which fails where the name
    is taken; where there are no hard links, it is made under its own name alone.
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
    """Wait until the names in a folder are on the disk."""
    with suppress(OSError):  # where a folder cannot be opened
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)
