"""`Seen`: the ids of all records counted so far, 16 bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.reports.records import ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Seen"]


class Seen:
    """A set of ids as sorted runs, each at least twice as long as the next.

    So there are few runs to search, and an id is moved a number of times that grows with the
    logarithm of how many there are.
    """

    __slots__ = ("_runs",)

    def __init__(self, ids: NDArray[Any] | None = None) -> None:
        self._runs: list[NDArray[Any]] = []
        if ids is not None and ids.size:
            self._runs.append(np.unique(ids))

    def __len__(self) -> int:
        return sum(run.size for run in self._runs)

    def fresh(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which ids are new; of equal ones the first."""
        new = np.zeros(ids.size, np.bool_)
        new[np.unique(ids, return_index=True)[1]] = True
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, ids), run.size - 1)
            new &= run[at] != ids
        return new

    def remember(self, ids: NDArray[Any]) -> None:
        """Add ids that are new and differ from each other."""
        if not ids.size:
            return
        self._runs.append(np.sort(ids))
        while len(self._runs) > 1 and self._runs[-2].size < 2 * self._runs[-1].size:
            merged = np.concatenate((self._runs.pop(), self._runs.pop()))
            merged.sort(kind="stable")
            self._runs.append(merged)

    def ids(self) -> NDArray[Any]:
        """Return all ids in order."""
        return np.sort(np.concatenate([np.zeros(0, ID), *self._runs]))

    def __or__(self, other: Seen) -> Seen:
        return Seen(np.concatenate((self.ids(), other.ids())))
