r"""The order statistics of a column, as far as they were read.

Present values are ticks :math:`0 \ldots B-1`. An *atom* is a tick :math:`v` with :math:`f \ge 1`
records, :math:`L` of all records lying below it. A position on the line has *rank* :math:`r` if
:math:`r` records lie below it. The :math:`f` records of an atom are spread evenly over their cell,
so rank :math:`r` has the mass (cells, or fractions of them)

.. math::

    \mu(r) = \frac{1}{f+1} \quad (L < r < L+f), \qquad
    \mu(L+f) = \frac{1}{f+1} + (w - v - 1) + \frac{1}{f'+1}

where :math:`w` is the next atom, of :math:`f'` records. The masses of all ranks add up to
:math:`B`. Algorithms look at a few windows of ranks; the rest of the data need not be sorted.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.noise import Source

__all__ = ["NotReadError", "Points", "Window"]


class NotReadError(LookupError):
    """Ranks were asked for that no window holds: read more and start again. Never seen outside."""


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive whole atoms: their ticks, their counts, and the records below the first."""

    ticks: NDArray[np.int64]
    counts: NDArray[np.int64]
    start: int
    ends: NDArray[np.int64] = field(init=False)
    stop: int = field(init=False)

    def __post_init__(self) -> None:
        ends = self.start + np.cumsum(self.counts)
        object.__setattr__(self, "ends", ends)
        object.__setattr__(self, "stop", int(ends[-1]) if len(ends) else self.start)


class Points:  # noqa: PLW1641 - equal by what is in arrays, so without a hash
    """The records' ticks in order, in windows of ranks.

    Parameters
    ----------
    n
        How many records there are.
    cells
        How many ticks the grid has.
    windows
        Atoms in ascending order, in disjoint stretches. The first may begin, the last end inside
        the data.
    outline
        Ticks and, for each, a number of records: so many, in order, are at or before the tick, the
        others at or after it. A coarse outline of the rest, needed by `span` where the windows do
        not hold all.
    blur
        How many ticks the outline may be off.
    reload
        Reads everything, for the rare draw that falls outside of all windows.
    """

    __slots__ = (
        *("_all", "_blur", "_masses", "_outline", "_reload", "_starts"),
        *("cells", "n", "windows"),
    )

    def __init__(  # noqa: PLR0913 - a few are for the rest of the data
        self,
        n: int,
        cells: int,
        windows: Sequence[Window],
        *,
        outline: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
        blur: int = 0,
        reload: Callable[[], Points] | None = None,
    ) -> None:
        self.n, self.cells, self.windows = n, cells, list(windows)
        self._starts = [window.start for window in self.windows]
        self._outline, self._blur, self._reload = outline, blur, reload
        self._masses: dict[int, tuple[int, NDArray[np.float64]]] = {}
        self._all: Points | None = None

    @classmethod
    def of(cls, ticks: ArrayLike, cells: int) -> Points:
        """Read all ticks; what is below 0 is missing and left out."""
        t = np.asarray(ticks, np.int64).ravel()
        v, f = np.unique(t[t >= 0], return_counts=True)
        return cls.counted(v, f, cells)

    @classmethod
    def counted(cls, ticks: NDArray[np.int64], counts: NDArray[np.int64], cells: int) -> Points:
        """Take sorted distinct ticks and how often each occurs; zero counts are left out."""
        some = counts > 0
        v, f = ticks[some], counts[some].astype(np.int64)
        return cls(int(f.sum()), cells, [Window(v, f, 0)])

    @property
    def whole(self) -> bool:
        """Whether one window holds all records."""
        return len(self.windows) == 1 and self.windows[0].stop - self.windows[0].start == self.n

    def complete(self) -> Points:
        """Return points that hold all records, which are read once."""
        if self.whole or self._reload is None:
            return self
        if self._all is None:
            self._all = self._reload()
        return self._all

    def __iter__(self) -> Iterator[int]:
        """Go through all ticks in order (only where all were read)."""
        return iter(np.repeat(self.windows[0].ticks, self.windows[0].counts).tolist())

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same records in the same windows."""
        if not isinstance(other, Points):
            return NotImplemented
        sizes = (self.n, self.cells, self._starts) == (other.n, other.cells, other._starts)
        pairs = zip(self.windows, other.windows, strict=False)
        return sizes and all(
            np.array_equal(a.ticks, b.ticks) and np.array_equal(a.counts, b.counts)
            for a, b in pairs
        )

    def masses(self, low: int, high: int) -> NDArray[np.float64]:
        r"""Return :math:`\mu(r)` for the ranks ``low <= r < high``; 0 where there is no such rank.

        Each is a sum of at most three non-negative numbers, right to three roundings.
        """
        first, last = max(low, 0), min(high, self.n + 1)
        if first >= last:
            return np.zeros(high - low)
        start, known = self._window_masses(first, last)
        inner = known[first - start : last - start]
        if first == low and last == high:
            return inner
        out = np.zeros(high - low)
        out[first - low : last - low] = inner
        return out

    def _window_masses(self, first: int, last: int) -> tuple[int, NDArray[np.float64]]:
        i = self._holding(first, last)
        if i not in self._masses:
            window = self.windows[i]
            self._masses[i] = (self._known(window)[0], self._spread(window))
        return self._masses[i]

    def _holding(self, first: int, last: int) -> int:
        """Return the number of the window that knows the mass of a half-open range of ranks."""
        i = bisect_right(self._starts, first) - 1
        if i < 0:
            raise NotReadError
        start, stop = self._known(self.windows[i])
        if not start <= first < last <= stop:
            raise NotReadError
        return i

    def _known(self, window: Window) -> tuple[int, int]:
        """Return the half-open range of ranks whose mass the window knows."""
        at_end = window.stop == self.n
        return window.start + (window.start > 0), window.stop + at_end

    def _spread(self, window: Window) -> NDArray[np.float64]:
        v, f = window.ticks, window.counts
        if len(v) == 0:
            return np.full(1, float(self.cells))
        piece = 1.0 / (f + 1.0)
        mass = np.repeat(piece, f)
        mass[window.ends[:-1] - window.start] += (v[1:] - v[:-1] - 1) + piece[:-1]
        if window.start == 0:
            mass[0] += v[0]
        else:
            mass = mass[1:]
        if window.stop == self.n:
            mass = np.append(mass, (self.cells - 1 - v[-1]) + piece[-1])
        return mass

    def around(self, rank: int) -> list[tuple[int, int, int]]:
        """Return what rank ``rank`` is made of, in order: ``(first tick, cells, records)``.

        An entry with records is one of the ``records + 1`` equal pieces of an atom's cell; one
        without is a run of empty cells.
        """
        return self._pieces(self.windows[self._holding(rank, rank + 1)], rank)

    def _pieces(self, window: Window, rank: int) -> list[tuple[int, int, int]]:
        v, f, ends = window.ticks, window.counts, window.ends
        i = int(ends.searchsorted(rank, side="left"))  # the first atom that ends at or after rank
        inside = i < len(v) and rank > ends[i] - f[i]
        before = i if inside else i - 1
        if inside and rank < ends[i]:
            return [(int(v[i]), 1, int(f[i]))]
        left = [(int(v[before]), 1, int(f[before]))] if before >= 0 else []
        right = [(int(v[before + 1]), 1, int(f[before + 1]))] if before + 1 < len(v) else []
        low = left[0][0] + 1 if left else 0
        high = right[0][0] if right else self.cells
        empty = [(low, high - low, 0)] if high > low else []
        return left + empty + right

    def piece(self, rank: int, *, source: Source) -> tuple[int, int, int]:
        """Draw one of the pieces a rank is made of, by its mass."""
        pieces = self.around(rank)
        if len(pieces) == 1:
            return pieces[0]
        masses = np.array([cells / (records + 1) for _, cells, records in pieces])
        return pieces[noise.by_weight(masses, source=source)]

    def cell(self, rank: int, *, source: Source) -> tuple[int, int]:
        """Draw a cell uniformly from a rank's mass; return its tick and its records."""
        tick, cells, records = self.piece(rank, source=source)
        return tick + (noise.uniform_below(cells, source=source) if cells > 1 else 0), records

    def below(self, tick: int) -> int:
        """Return how many records lie below a tick, reading all of them where it must."""
        for window in self.windows:
            if not len(window.ticks):
                continue
            low = window.start == 0 or window.ticks[0] <= tick
            high = window.stop == self.n or tick <= window.ticks[-1] + 1
            if low and high:
                i = int(window.ticks.searchsorted(tick))
                return int(window.ends[i - 1]) if i else window.start
        whole = self.complete()
        return 0 if whole is self else whole.below(tick)

    def cut(self, ranks: tuple[int, int], ticks: tuple[int, int]) -> Points:
        """Return the records from one rank to another, on the cells from one tick to another.

        Of the records of an atom at an end, as many belong to it as the ranks say.
        """
        (first, last), (low, high) = ranks, ticks
        parts: list[Window] = []
        for window in self.windows[max(bisect_right(self._starts, first) - 1, 0) :]:
            if window.start > last or (window.start == last > first):
                break
            i = int(window.ends.searchsorted(first, side="right"))
            j = int(window.ends.searchsorted(last, side="left")) + 1
            counts = window.counts[i:j].copy()
            if len(counts):
                counts[-1] -= max(int(window.ends[i : i + len(counts)][-1]) - last, 0)
                counts[0] -= max(first - int(window.ends[i] - window.counts[i]), 0)
            some = counts > 0
            if some.any() or window.start <= first == last <= window.stop:
                shifted = window.ticks[i:j][some] - low
                parts.append(Window(shifted, counts[some], max(window.start - first, 0)))
        outline = None
        if self._outline is not None:
            marks, below = self._outline
            outline = np.clip(marks - low, 0, high - low), np.clip(below - first, 0, last - first)
        whole = self.complete
        return Points(
            last - first,
            high - low + 1,
            parts[:1] if last == first else parts,
            outline=outline,
            blur=self._blur,
            reload=None if self.whole else lambda: whole().cut(ranks, ticks),
        )

    def span(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return upper bounds on the mass of the ranks from ``low`` to ``high``, both included."""
        left, right = np.clip(low, 0, self.n), np.clip(high + 1, 0, self.n + 1)
        if self._outline is None:
            window = self.windows[0]
            if not self.whole or len(window.ticks) == 0:
                return np.full(len(low), float(self.cells))
            ticks, below = window.ticks, window.ends - window.counts
        else:
            ticks, below = self._outline
        # record number r (from 1) lies at or after the last outline tick with fewer than r below
        i = below.searchsorted(left, side="left") - 1
        j = below.searchsorted(right, side="left")
        at_left = np.where((left < 1) | (i < 0), 0, np.maximum(ticks[i] - self._blur, 0))
        inside = (right <= self.n) & (j < len(ticks))
        right_tick = ticks[np.minimum(j, len(ticks) - 1)] + self._blur
        at_right = np.where(inside, np.minimum(right_tick, self.cells - 1), self.cells - 1)
        return (at_right - at_left + 1).astype(np.float64)
