"""One thread writes for everybody: what waits for the disk together shares a commit."""

from __future__ import annotations

import queue
from concurrent.futures import Future
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from sourdine.survey.store import Outcome, Posted, SurveyStore

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["GroupCommit"]

TOGETHER = 1024
"""Posts in one transaction."""

Waiting = tuple[Posted, Future[Outcome]]


class GroupCommit:
    """Keeps what is posted, many posts to a commit, and counts it each second.

    Parameters
    ----------
    place
        The store.
    every
        Seconds from one count to the next.
    """

    def __init__(self, place: str | PathLike[str], *, every: float = 1.0) -> None:
        self.every, self.people, self.commits = every, 0, 0
        self._waiting: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._store = SurveyStore(place)
        self.people = self._store.fold()
        self._thread = Thread(target=self._run, name="survey store")
        self._thread.start()

    def post(self, posted: Posted) -> Future[Outcome]:
        """Return what will become of a post; it is there when the disk has it."""
        waits: Future[Outcome] = Future()
        self._waiting.put((posted, waits))
        return waits

    def stop(self) -> None:
        """Write and count what is left, and let go of the store."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        due, going = monotonic() + self.every, True
        while going:
            posts, going = self._next(max(0.0, due - monotonic()))
            if posts:
                self._commit(posts)
            if not going or monotonic() >= due:
                self._count()
                due = monotonic() + self.every
        self._store.close()

    def _next(self, timeout: float) -> tuple[list[Waiting], bool]:
        """Return all that waits, and whether more may come."""
        posts: list[Waiting] = []
        while len(posts) < TOGETHER:
            try:
                one = (
                    self._waiting.get(timeout=timeout) if not posts else self._waiting.get_nowait()
                )
            except queue.Empty:
                break
            if one is None:
                return posts, False
            if one[1].set_running_or_notify_cancel():
                posts.append(one)
        return posts, True

    def _commit(self, posts: list[Waiting]) -> None:
        try:
            outcomes = self._store.accept([posted for posted, _ in posts])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            for _, waits in posts:
                waits.set_exception(error)
            return
        self.commits += 1
        for (_, waits), outcome in zip(posts, outcomes, strict=True):
            waits.set_result(outcome)

    def _count(self) -> None:
        try:
            self.people = self._store.fold()
        except self._store.failures:
            return  # the inbox stays as it is, and is counted next time
