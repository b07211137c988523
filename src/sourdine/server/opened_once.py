"""`OpenedOnce`: what a worker opens when it is first asked for, such as the data of a data set."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from sourdine.server.requests import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable


T = TypeVar("T")
PATIENCE = 5.0
"""Seconds to wait for another thread that is opening the same."""


class OpenedOnce(Generic[T]):
    """Things by name, each opened by the first thread that asks for it.

    No lock is held while one is opened: a database that cannot be reached delays those who ask for
    its data, and nobody else. They wait for a few seconds at most, so that they do not take all
    threads of a worker. What could not be opened is tried again by the next one who asks.

    Examples
    --------
    >>> things = OpenedOnce()
    >>> things.get("a", lambda: 7), things.get("a", lambda: 8)
    (7, 7)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[str, Future[T]] = {}

    def get(self, name: str, open_it: Callable[[], T]) -> T:
        """Return what has a name; open it if it is not open.

        Raises
        ------
        RefusedError
            Another thread is still opening it: 503, to be sent again.
        """
        with self._lock:
            found = self._found.get(name)
            mine = found is None
            if found is None:
                found = self._found[name] = Future()
        if not mine:
            return self._awaited(found)
        try:
            found.set_result(open_it())
        except BaseException as error:
            with self._lock:
                del self._found[name]
            found.set_exception(error)
            raise
        return found.result()

    def _awaited(self, found: Future[T]) -> T:
        try:
            return found.result(PATIENCE)
        except TimeoutError:
            if found.done():  # it is what opening raised
                raise
            raise RefusedError(
                503,
                "the data",
                "The data are being opened.",
                "",
                "Send the same request again in a moment; nothing was charged.",
                wait=5,
            ) from None
