"""One thread writes for everybody: what waits for the disk together shares a commit."""

from __future__ import annotations

import queue
from concurrent.futures import Future
from itertools import count
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from sourdine.survey.store import Outcome, Posted, SurveyStore

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["GroupCommit"]

TOGETHER = 1024
"""Posts in one transaction, and lines after which it takes no more."""
LAST = 1 << 62
"""More lines than any post has: what is asked to stop comes after all that waits."""

Waiting = tuple[Posted, Future[Outcome]]


class GroupCommit:
    """Keeps what is posted, many posts to a commit, and counts it each second.

    Short posts come first: one person's record does not wait for the batches that others sent.

    Parameters
    ----------
    place
        The store.
    every
        Seconds from one count to the next.
    """

    def __init__(self, place: str | PathLike[str], *, every: float = 1.0) -> None:
        self.every, self.people, self.commits = every, 0, 0
        self._waiting: queue.PriorityQueue[tuple[int, int, Waiting | None]] = queue.PriorityQueue()
        self._order = count()
        self._store = SurveyStore(place)
        self.people = self._store.fold()
        self._thread = Thread(target=self._run, name="survey store")
        self._thread.start()

    def post(self, posted: Posted) -> Future[Outcome]:
        """Return what will become of a post; it is there when the disk has it."""
        waits: Future[Outcome] = Future()
        self._waiting.put((len(posted.lines), next(self._order), (posted, waits)))
        return waits

    def stop(self) -> None:
        """Write and count what is left, and let go of the store."""
        self._waiting.put((LAST, next(self._order), None))
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
        lines = 0
        while len(posts) < TOGETHER and lines < TOGETHER:
            try:
                size, _, one = (
                    self._waiting.get(timeout=timeout) if not posts else self._waiting.get_nowait()
                )
            except queue.Empty:
                break
            if one is None:
                return posts, False
            lines += size
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
