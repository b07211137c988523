"""Slices between quantiles that are drawn: what is drawn inside them, and its law.

Ticks and the ranks at which they cut the records make slices. What is drawn inside one depends on
its own records and on public targets alone, so a record more changes one slice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.points import NotReadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.points import Points
    from sourdine.noise import Source

    Floats = NDArray[np.float64]
    Key = tuple[tuple[int, int], tuple[int, int], tuple[int, ...]]

__all__ = ["Sampler", "Slices", "cut_logs", "sliced", "slices_logs"]


class Sampler(Protocol):
    """What draws the ticks of a slice, counted from its left end."""

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Return a total's number, the ticks and the ranks at which they cut the records."""


def sliced(goals: Sequence[int], stride: int) -> list[list[int]]:
    """Return the cumulative targets of each slice, less that of its left end.

    Parameters
    ----------
    goals
        The cumulative targets of all quantiles, the total at the end.
    stride
        Every so many, a quantile ends a slice.

    Examples
    --------
    >>> sliced([10, 20, 30, 40, 50], 2)
    [[10, 20], [10, 20], [10]]
    """
    m, base = len(goals) - 1, [0, *goals]
    ends = [-1, *range(stride - 1, m, stride), m]
    return [[base[j + 1] - base[a + 1] for j in range(a + 1, b + 1)] for a, b in pairwise(ends)]


class Slices:
    """Draws inside slices; a slice that comes again is weighed once.

    Parameters
    ----------
    points
        The records.
    make
        What draws inside a slice, from its records and its cumulative targets.
    """

    __slots__ = ("_made", "_make", "_points")

    def __init__(self, points: Points, make: Callable[[Points, tuple[int, ...]], Sampler]) -> None:
        self._points, self._make = points, make
        self._made: dict[Key, Sampler] = {}

    def draw(
        self, ticks: list[int], ranks: list[int], goals: list[list[int]], source: Source
    ) -> list[int]:
        """Return the ticks inside all slices, one slice after the other."""
        x, drawn = self._points, []
        cuts, places = [0, *ranks, x.n], [0, *ticks, x.cells - 1]
        for i, inner in enumerate(goals):
            if len(inner) > 1:
                key = (cuts[i], cuts[i + 1]), (places[i], places[i + 1]), tuple(inner)
                if key not in self._made:
                    self._made[key] = self._slice(*key)
                drawn += [places[i] + tick for tick in self._made[key].draw(source)[1]]
        return drawn

    def _slice(
        self, ranks: tuple[int, int], ticks: tuple[int, int], goals: tuple[int, ...]
    ) -> Sampler:
        try:
            return self._make(self._points.cut(ranks, ticks), goals)
        except NotReadError:
            return self._make(self._points.complete().cut(ranks, ticks), goals)


def cut_logs(logs: Floats, inside: Callable[[int, int], Floats]) -> Floats:
    """Return log weights of a level's ticks together with what is drawn inside their slices.

    Parameters
    ----------
    logs
        The level's log weights by rows of targets, ticks and ranks.
    inside
        The log probabilities of all that the slices of these ticks and ranks can give.
    """
    parts = []
    for i in range(logs.shape[1]):
        cuts = np.flatnonzero(logs[0, i] > -np.inf).tolist()
        parts.append(
            np.logaddexp.reduce(
                np.array([inside(i, r) + logs[:, i, r, None] for r in cuts]), axis=0
            )
        )
    return np.concatenate(parts, axis=1)


def slices_logs(
    x: Points,
    cut: tuple[Sequence[int], Sequence[int]],
    goals: list[list[list[int]]],
    logs_inside: Callable[[Points, Targets], Floats],
) -> Floats:
    """Return the log probabilities of the slices' ticks for a cut; a row for each row of goals.

    Parameters
    ----------
    x
        The records.
    cut
        The ticks, and the ranks at which they cut.
    goals
        For each row the cumulative targets of each slice.
    logs_inside
        The log probabilities of one slice.
    """
    logs = np.zeros((len(goals), 1))
    o, r = cut
    parts = zip(pairwise((0, *r, x.n)), pairwise((0, *o, x.cells - 1)), strict=True)
    for i, (ranks, ticks) in enumerate(parts):
        if len(goals[0][i]) == 1:
            continue
        part = x.cut(ranks, ticks)
        inner = logs_inside(part, Targets(part.n, np.array([row[i] for row in goals], np.int64)))
        logs = (logs[:, :, None] + inner[:, None, :]).reshape(len(goals), -1)
    return logs
