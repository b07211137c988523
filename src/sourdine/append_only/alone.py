"""One at a time: a lock that an interrupt cannot leave behind.

An interrupt (Ctrl-C) is raised between two steps of the main thread: after a lock was taken and
before anybody wrote down by whom, or at the first step of a Python ``__exit__``. So work is passed
in as a function, and the lock lets go in a ``finally`` whose first call is C's own ``release``. It
says itself whether the lock was held: an owner's lock raises if it was not.

*Claim*: however often and whenever a process is interrupted, no lock stays held. *Checked by*
``test_interrupts_leave_no_lock_behind``.
"""

from __future__ import annotations

import os
from threading import RLock, get_ident
from typing import TYPE_CHECKING, TypeVar

from sourdine.errors import SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUIET", "Alone"]

T = TypeVar("T")


class Alone:
    """Runs one function at a time; refuses its own holder, who would wait for ever.

    Examples
    --------
    >>> alone = Alone()
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


QUIET = Alone()
"""Held while a file is in use, so that no fork can carry a half-written line away."""

if hasattr(os, "register_at_fork"):
    QUIET.wait_for_forks()
