"""Order statistics of a column, as far as an algorithm needs them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.frames.cells import Ticks, joined
from sourdine.frames.grouped import between_each
from sourdine.noise.selection import by_few_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.frames.engine import Tally
    from sourdine.frames.frame import Frame
    from sourdine.grid import Grid
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints

    Values = NDArray[Any]
    Ranges = list[tuple[int, int]]
    Stretch = tuple[int, int, int]
    Outline = tuple[Values, Ints, float]
    Found = tuple[Values, list[Stretch], Outline]
    Counted = tuple[Ints, Ints]


# ---- The order statistics of a column, as far as they were read ----------------------------------
#
# Present values are ticks :math:`0 \ldots B-1`. An *atom* is a tick :math:`v` with :math:`f \ge 1`
# records, :math:`L` of all records lying below it. A position on the line has *rank* :math:`r` if
# :math:`r` records lie below it. The :math:`f` records of an atom are spread evenly over their
# cell, so rank :math:`r` has the mass (cells, or fractions of them)
#
# .. math::
#
#     \mu(r) = \frac{1}{f+1} \quad (L < r < L+f), \qquad
#     \mu(L+f) = \frac{1}{f+1} + (w - v - 1) + \frac{1}{f'+1}
#
# where :math:`w` is the next atom, of :math:`f'` records. The masses of all ranks add up to
# :math:`B`. Algorithms look at a few windows of ranks; the rest of the data need not be sorted.


MANY = 1 << 12
"""Where a window holds more records, masses are computed for the ranks that are asked for."""


class NotReadError(LookupError):
    """Ranks were asked for that no window holds: read more and start again. Never seen outside."""


class Window:
    """Consecutive whole atoms: their ticks, their counts, and the records below the first.

    ``ends`` are the records up to each atom, the atom among them; ``stop`` is the last of these.
    Records of a large grid, where most atoms have few, are kept in order until atoms are needed.
    """

    __slots__ = ("_counts", "_ends", "_records", "_ticks", "start", "stop")

    def __init__(self, ticks: Ints, counts: Ints, start: int, ends: Ints | None = None) -> None:
        self._ticks, self._counts, self.start, self._ends = ticks, counts, start, ends
        self.stop = start + int(counts.sum())
        self._records: NDArray[Any] | None = None

    @classmethod
    def of_records(cls, ticks: NDArray[Any]) -> Window:
        """Take the ticks of all records in order; atoms are counted when they are asked for."""
        made = cls(np.empty(0, np.int64), np.empty(0, np.int64), 0)
        made._records, made.stop = ticks, len(ticks)
        return made

    @property
    def ticks(self) -> Ints:
        self._count()
        return self._ticks

    @property
    def counts(self) -> Ints:
        self._count()
        return self._counts

    @property
    def ends(self) -> Ints:
        if self._ends is None:
            self._ends = self.start + np.cumsum(self.counts)
        return self._ends

    def _count(self) -> None:
        records = self._records
        if records is not None:
            self._ticks, self._counts = _atoms(records)
            self._records = None

    def blocks(self, size: int) -> Iterator[Counted]:
        """Yield ticks and counts, some at a time; neighbouring blocks may share a tick."""
        records = self._records
        for i in range(0, len(self._ticks if records is None else records), size):
            block = slice(i, i + size)
            if records is None:
                yield self._ticks[block], self._counts[block]
            else:
                yield _atoms(records[block])

    def holding(self, first: int, last: int) -> Window:
        """Return the fewest atoms by which the masses of ranks ``first <= r < last`` are known."""
        i, j = self.ends.searchsorted((first, last - 1)).tolist()
        if not len(self.ticks):
            return self
        start = int(self.ends[i - 1]) if i else self.start
        part = slice(i, j + 2)
        return Window(self.ticks[part], self.counts[part], start, self.ends[part])

    def cut(self, first: int, last: int, low: int) -> Window:
        """Return the records from one rank to another, and ticks counted from ``low``."""
        i = int(self.ends.searchsorted(first, side="right"))
        j = int(self.ends.searchsorted(last, side="left")) + 1 if first < last else i
        start = max(self.start - first, 0)
        counts, ends = self.counts[i:j].copy(), self.ends[i:j] - first
        if len(ends):  # both atoms at the ends may lie outside in part
            ends[-1] = min(int(ends[-1]), last - first)
            counts[-1] -= self.ends[i + len(ends) - 1] - first - ends[-1]
            counts[0] = ends[0] - start
        return Window(self.ticks[i:j] - low, counts, start, ends)


def _atoms(records: NDArray[Any]) -> Counted:
    """Return the distinct ticks of records in order, and how often each occurs."""
    new = np.ones(len(records), bool)
    np.not_equal(records[1:], records[:-1], out=new[1:])
    first = np.flatnonzero(new)
    return records[first].astype(np.int64), np.append(first[1:], len(records)) - first


class Points:  # noqa: PLW1641 - equal by what is in arrays, so without a hash
    """The ticks of n records on a grid, in order, in windows of ranks.

    The windows hold atoms in ascending order, in disjoint stretches. Where they do not hold all,
    ``outline``, which `span` needs, has ticks and for each a number of records: so many, in order,
    are at or before the tick, the others at or after it. It may be ``blur`` ticks off. ``reload``
    reads everything, for the rare draw that falls outside of all windows.
    """

    __slots__ = (
        *("_all", "_blur", "_masses", "_outline", "_reload", "_starts"),
        *("cells", "n", "windows"),
    )

    def __init__(
        self,
        n: int,
        cells: int,
        windows: Sequence[Window],
        *,
        outline: tuple[Ints, Ints] | None = None,
        blur: int = 0,
        reload: Callable[[], Points] | None = None,
    ) -> None:
        self.n, self.cells, self.windows = n, cells, list(windows)
        self._starts = [window.start for window in self.windows]
        self._outline, self._blur, self._reload = outline, blur, reload
        self._masses: dict[int, tuple[int, Floats]] = {}
        self._all: Points | None = None

    @classmethod
    def of(cls, ticks: ArrayLike, cells: int) -> Points:
        """Read all ticks; what is below 0 is missing and left out."""
        t = np.asarray(ticks, np.int64).ravel()
        v, f = np.unique(t[t >= 0], return_counts=True)
        return cls.counted(v, f, cells)

    @classmethod
    def counted(cls, ticks: Ints, counts: Ints, cells: int) -> Points:
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
        all_ = self.complete().windows
        return (int(t) for w in all_ for t in np.repeat(w.ticks, w.counts).tolist())

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Points):
            return NotImplemented
        one, two = self.complete(), other.complete()
        sizes = (one.n, one.cells, one._starts) == (two.n, two.cells, two._starts)
        return sizes and all(
            np.array_equal(a.ticks, b.ticks) and np.array_equal(a.counts, b.counts)
            for a, b in zip(one.windows, two.windows, strict=False)
        )

    def masses(self, low: int, high: int) -> Floats:
        r"""Return :math:`\mu(r)` for the ranks ``low <= r < high``; 0 where there is no such rank.

        Each is a sum of at most three non-negative numbers, right to three roundings.
        """
        first, last = max(low, 0), min(high, self.n + 1)
        if first >= last:
            return np.zeros(high - low)
        start, known = self._known_masses(self._holding(first, last), first, last)
        inner = known[first - start : last - start]
        if first == low and last == high:
            return inner
        out = np.zeros(high - low)
        out[first - low : last - low] = inner
        return out

    def _known_masses(self, i: int, first: int, last: int) -> tuple[int, Floats]:
        """Return masses of a window from some rank on: all, unless they are many."""
        if i in self._masses:
            return self._masses[i]
        window = self.windows[i]
        many = window.stop - window.start > MANY
        part = window.holding(first, last) if many else window
        found = self._known(part)[0], self._spread(part)
        if not many:
            self._masses[i] = found
        return found

    def _holding(self, first: int, last: int) -> int:
        """Return the number of the window that knows the mass of a half-open range of ranks."""
        i = bisect_right(self._starts, first) - 1
        start, stop = self._known(self.windows[i]) if i >= 0 else (0, 0)
        if not start <= first < last <= stop:
            raise NotReadError
        return i

    def _known(self, window: Window) -> tuple[int, int]:
        """Return the half-open range of ranks whose mass the window knows."""
        at_end = window.stop == self.n
        return window.start + (window.start > 0), window.stop + at_end

    def _spread(self, window: Window) -> Floats:
        v, f = window.ticks, window.counts
        if len(v) == 0:
            return np.full(1, float(self.cells))
        piece = 1.0 / (f + 1.0)
        if len(v) == window.stop - window.start:  # one record each: two halves and the gap
            mass = np.append(piece[0], v[1:] - v[:-1])
        else:
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
        window = self.windows[self._holding(rank, rank + 1)]
        v, f, ends = window.ticks, window.counts, window.ends
        i = int(ends.searchsorted(rank, side="left"))  # the first atom that ends at or after rank
        inside = i < len(v) and rank > ends[i] - f[i]
        before = i if inside else i - 1
        if inside and rank < ends[i]:
            return [(int(v[i]), 1, int(f[i]))]
        near = range(max(before, 0), min(before + 2, len(v)))
        atoms = [(int(v[k]), 1, int(f[k])) for k in near]
        low = int(v[before]) + 1 if before >= 0 else 0
        high = int(v[before + 1]) if before + 1 < len(v) else self.cells
        empty = [(low, high - low, 0)] if high > low else []
        at = int(before >= 0)
        return atoms[:at] + empty + atoms[at:]

    def piece(self, rank: int, *, source: Source) -> tuple[int, int, int]:
        """Draw one of the pieces a rank is made of, by its mass."""
        pieces = self.around(rank)
        if len(pieces) == 1:
            return pieces[0]
        masses = [cells / (records + 1) for _, cells, records in pieces]
        return pieces[by_few_weights(masses, source=source)]

    def cell(self, rank: int, *, source: Source) -> tuple[int, int]:
        """Draw a cell uniformly from a rank's mass; return its tick and its records."""
        tick, cells, records = self.piece(rank, source=source)
        return tick + (noise.uniform_below(cells, source=source) if cells > 1 else 0), records

    def at(self, ranks: Ints) -> Ints:
        """Return the ticks of some records, numbered from 0 in order."""
        atoms = self.complete().windows[0]
        return atoms.ticks[atoms.ends.searchsorted(ranks, side="right")]

    def below(self, ticks: ArrayLike) -> Ints:
        """Return how many records lie below each tick, reading all of them where it must."""
        at = np.asarray(ticks, np.int64)
        found = np.full(at.shape, -1)
        for window in self.windows:
            if len(window.ticks):
                low = (window.start == 0) | (window.ticks[0] <= at)
                high = (window.stop == self.n) | (at <= window.ticks[-1] + 1)
                i = window.ticks.searchsorted(at)
                found = np.where(low & high, np.where(i, window.ends[i - 1], window.start), found)
        if found.min(initial=0) >= 0:
            return found
        whole = self.complete()
        return np.zeros_like(found) if whole is self else whole.below(at)

    def cut(self, ranks: tuple[int, int], ticks: tuple[int, int]) -> Points:
        """Return the records from one rank to another, on the cells from one tick to another.

        Of the records of an atom at an end, as many belong to it as the ranks say.
        """
        (first, last), (low, high) = ranks, ticks
        parts: list[Window] = []
        for window in self.windows[max(bisect_right(self._starts, first) - 1, 0) :]:
            if window.start > last or (window.start == last > first):
                break
            part = window.cut(first, last, low)
            if len(part.ticks) or window.start <= first == last <= window.stop:
                parts.append(part)
        outline = None
        if self._outline is not None:
            marks, below = self._outline
            outline = np.clip(marks - low, 0, high - low), np.clip(below - first, 0, last - first)
        whole = self.complete
        return Points(
            last - first, high - low + 1, parts[:1] if last == first else parts, outline=outline,
            blur=self._blur, reload=None if self.whole else lambda: whole().cut(ranks, ticks),
        )  # fmt: skip

    def span(self, low: Ints, high: Ints) -> Floats:
        """Return upper bounds on the mass of the ranks from ``low`` to ``high``, both included."""
        left = np.minimum(np.maximum(low, 0), self.n)
        right = np.minimum(np.maximum(high + 1, 0), self.n + 1)
        # record number r (from 1) lies at or after the last outline tick with fewer than r below
        if self._outline is None:
            window = self.windows[0]
            if not self.whole or len(window.ticks) == 0:
                return np.full(len(low), float(self.cells))
            # Below an atom are as many as up to the one before it: nothing to add up for all.
            ticks, ends = window.ticks, window.ends[:-1]
            i = ends.searchsorted(left, side="left") - (left <= window.start)
            j = ends.searchsorted(right, side="left") + (right > window.start)
        else:
            ticks, below = self._outline
            i = below.searchsorted(left, side="left") - 1
            j = below.searchsorted(right, side="left")
        at_left = np.where((left < 1) | (i < 0), 0, np.maximum(ticks[i] - self._blur, 0))
        inside = (right <= self.n) & (j < len(ticks))
        right_tick = ticks[np.minimum(j, len(ticks) - 1)] + self._blur
        at_right = np.where(inside, np.minimum(right_tick, self.cells - 1), self.cells - 1)
        return (at_right - at_left + 1).astype(np.float64)


# ---- Windows of ranks from an unsorted array, without sorting it ---------------------------------
#
# The snap to the grid is monotone, so it can wait until the few values that are needed are found.
# How a window is found depends on the data, and so does the time it takes; what is found does not.


SMALL = 20_000
"""Below this many values a sort is quickest."""
COARSE = 1 << 16
"""Up to this many cells, counting all is quickest."""
DENSE = 4
"""From this many values to a cell on, counting all is quickest, too."""
LARGEST_SHARE = 0.3
"""Windows that hold more of the values than this are not worth finding."""
BINS = 4096
CHUNK = 1 << 15


def points_of_array(
    values: Values, grid: Grid, windows: Callable[[int], Ranges] | None = None
) -> Points:
    """Return the order statistics of an array without NaN, at least in some windows of ranks.

    ``windows`` gives, for the number of values, the half-open ranges of records that are needed;
    all are read without it.
    """
    n = len(values)
    if windows is None or n < SMALL or grid.size <= COARSE:
        return _all(values, grid)
    wanted = windows_within(windows(n), n)
    if sum(b - a for a, b in wanted) > LARGEST_SHARE * n:
        return _all(values, grid)
    found = _one(values, *wanted[0]) if len(wanted) == 1 else _several(values, wanted)
    if found is None:
        return _all(values, grid)
    gathered, pieces, (marks, below, width) = found
    outline, blur = (grid.ticks(marks), below), 0
    if width:
        blur = 1 + int((grid.ticks(marks + width) - grid.ticks(marks - width)).max())
    parts = _whole_atoms(grid.ticks(gathered), pieces, n)
    return Points(
        n, grid.size, parts, outline=outline, blur=blur, reload=lambda: _all(values, grid)
    )


def windows_within(ranges: Ranges, n: int) -> Ranges:
    """Return windows of n records, each of one record at least, in order and disjoint."""
    starts = ((min(max(0, a), n - 1), b) for a, b in ranges)
    return joined(((a, max(b, a + 1)) for a, b in starts), n)


def _all(values: Values, grid: Grid) -> Points:
    ticks = grid.ticks(values)
    if grid.size <= max(COARSE, len(values) // DENSE):
        counts = np.bincount(ticks, minlength=grid.size)
        there = np.flatnonzero(counts)
        return Points(len(values), grid.size, [Window(there, counts[there], 0)])
    if grid.size < 1 << 31:
        ticks = ticks.astype(np.int32)  # half as many bytes are sorted in half the time
    ticks.sort()
    return Points(len(ticks), grid.size, [Window.of_records(ticks)])


def _whole_atoms(ticks: Ints, pieces: list[Stretch], n: int) -> list[Window]:
    """Return, for each stretch of sorted ticks, its atoms that are certainly whole.

    A stretch is where it begins and ends among the ticks, and how many records are below it.
    """
    new = np.ones(len(ticks), bool)
    np.not_equal(ticks[1:], ticks[:-1], out=new[1:])
    new[[begin for _, begin, _ in pieces]] = True
    first = np.flatnonzero(new)
    atoms, counts = ticks[first], np.append(first[1:], len(ticks)) - first
    windows = []
    for start, begin, end in pieces:
        i, j = (int(k) for k in first.searchsorted((begin, end)))
        i, j = i + (start > 0), j - (start + end - begin < n)
        if i < j:
            windows.append(Window(atoms[i:j], counts[i:j], start + int(first[i]) - begin))
    return windows


def _one(x: Values, a: int, b: int) -> Found | None:
    """Find one window between two values of a sample: two comparisons, one compress."""
    n = len(x)
    s = int(min(max(2000, 2 * n**0.6), n // 4))
    sample = np.sort(x[:: max(1, n // s)])
    s = len(sample)
    p, q = a / n, b / n
    i = floor(p * s - 4 * sqrt(s * p * (1 - p))) - 2
    j = ceil(q * s + 4 * sqrt(s * q * (1 - q))) + 2
    if i < 0 and j >= s:
        return None
    keep = x >= sample[i] if i >= 0 else np.ones(n, bool)
    start = n - int(np.count_nonzero(keep))
    if j < s:
        keep &= x <= sample[j]
    y = x[keep]
    if start > a or start + len(y) < b:
        return None
    if len(y) > 3 * (b - a):
        y.partition([a - start, b - start - 1])
        y, start = y[a - start : b - start], a
    y.sort()
    outline = (y[[0, -1]], np.array([start, start + len(y) - 1]), 0.0)
    return y, [(start, 0, len(y))], outline


def _several(x: Values, wanted: Ranges) -> Found | None:
    """Find several windows by linear bins: count the bins, gather and sort those that matter."""
    n = len(x)
    sample = np.sort(x[:: max(1, n // 2048)])
    low, high = float(sample[4]), float(sample[-5])
    bins = BINS if len(wanted) < 40 else 4 * BINS
    if not (np.isfinite(low) and np.isfinite(high) and high > low):
        return None
    scale = (bins - 2) / (high - low)
    if not (np.isfinite(scale) and scale > 0 and np.isfinite(1 / scale)):
        return None
    code = _codes(x, low - 1 / scale, scale, bins)
    counts = np.bincount(code, minlength=bins)
    below = np.concatenate(([0], np.cumsum(counts)))
    needed = np.zeros(bins, bool)
    for a, b in wanted:
        i = max(int(below.searchsorted(a, side="right")) - 1, 0)
        needed[max(i - 1, 0) : max(int(below.searchsorted(b, side="left")), i + 1) + 1] = True
    if counts[needed].sum() > 0.5 * n:
        return None
    y = x.take(np.flatnonzero(needed.take(code)))
    y.sort()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], needed, [False])).view(np.int8)))
    starts, stops = below[edges[0::2]], below[edges[1::2]]
    at = np.concatenate(([0], np.cumsum(stops - starts)))
    ends = zip(starts.tolist(), at[:-1].tolist(), at[1:].tolist(), strict=True)
    pieces = [(start, begin, end) for start, begin, end in ends if end > begin]
    marks = low + (np.arange(bins + 1) - 1) / scale
    # one bin, and what a float cannot tell, for the rounding of a code
    width = 1 / scale + 4 * float(np.spacing(max(abs(low), abs(high))))
    return y, pieces, (marks[1:-1], below[1:-1], width)


def _codes(x: Values, low: float, scale: float, bins: int) -> NDArray[np.intp]:
    """Return each value's bin, clamped to the ends; a monotone function of the value."""
    code = np.empty(len(x), np.intp)
    buffer = np.empty(min(CHUNK, len(x)))
    most = bins - 0.5
    with np.errstate(over="ignore"):
        for i in range(0, len(x), CHUNK):
            v = x[i : i + CHUNK]
            t = buffer[: len(v)]
            np.subtract(v, low, out=t, dtype=np.float64)
            t *= scale
            np.maximum(t, 0.0, out=t)
            np.minimum(t, most, out=t)
            code[i : i + CHUNK] = t
    return code


# ---- From a frame to the order statistics that an algorithm needs, and no further ----------------


OUTLINE = 1 << 16
"""A first pass over data that is not in memory counts about this many blocks of cells."""
WHOLE = 1 << 49
"""From here on whole numbers and floats are snapped differently."""


class Reader:
    """A column on a grid, read as far as is asked for."""

    def __init__(self, frame: Frame, column: str, grid: Grid) -> None:
        self.frame, self.cell = frame, Ticks(column, grid)
        values = frame.array(column) if grid.points is None else None
        if values is not None and values.dtype.kind == "f":
            far = max(abs(grid.lower), abs(grid.lower + grid.last * grid.step))
            if grid.integral and far >= WHOLE:
                values = None  # whole numbers beside a missing one were made floats
            elif len(values):
                with np.errstate(invalid="ignore"):
                    some = np.isnan(values.min())
                values = values[~np.isnan(values)] if some else values
        self._values: NDArray[Any] | None = values
        self._last: Points | None = None
        self.found: dict[tuple[tuple[int, int], ...], Counted] = {}

    def prefetch(self, windows: Callable[[int], Ranges] | None = None) -> None:
        """Say what will be read: the outline, or else some windows of ranks."""
        if self._values is not None:
            return
        if windows is None:
            self.frame.prefetch(self._blocks)
        elif (wanted := self.ranges(windows)) is not None:
            self.frame.prefetch(self.cell, ranges=wanted)

    @property
    def n(self) -> int:
        return len(self._values) if self._values is not None else self._outline.present

    @cached_property
    def _block(self) -> int:
        name = self.frame.resolve(self.cell.column)
        if self.frame.engine.in_one_pass(name, self.cell):
            return 1
        return -(-self.cell.grid.size // OUTLINE)

    @cached_property
    def _below(self) -> Ints:
        """How many values lie below each block of cells; the number of all at the end."""
        return np.concatenate(([0], np.cumsum(self._outline.counts[:-1])))

    @property
    def _blocks(self) -> Ticks:
        return Ticks(self.cell.column, self.cell.grid, block=self._block)

    @cached_property
    def _outline(self) -> Tally:
        return self.frame.tally(self._blocks)

    def between(self, edges: list[int]) -> Ints:
        """Return how many values lie in each stretch between edges: below, between, above."""
        points = self.points(None) if self._last is None else self._last
        below = points.below(np.minimum(edges, self.cell.grid.size))
        return np.diff(below, prepend=0, append=points.n)

    def points(self, windows: Callable[[int], Ranges] | None) -> Points:
        """Return the order statistics, at least in the windows of ranks that are asked for."""
        self._last = self._read(windows)
        return self._last

    def _read(self, windows: Callable[[int], Ranges] | None) -> Points:
        if self._values is not None:
            return points_of_array(self._values, self.cell.grid, windows)
        wanted = self.ranges(windows)
        if wanted is None:
            tally = self._outline if self._block == 1 else self.frame.tally(self.cell)
            ticks, counts = np.asarray(tally.ticks), np.asarray(tally.tallied)
            return Points.counted(ticks, counts, self.cell.grid.size)
        return self._windows(wanted)

    def ranges(self, windows: Callable[[int], Ranges] | None) -> Ranges | None:
        """Return the ranges of ticks that hold the records wanted; None if all are to be read."""
        if windows is None or self._values is not None or self._block == 1 or self.n == 0:
            return None
        below, block, size = self._below, self._block, self.cell.grid.size
        ranges = []
        for a, b in windows_within(windows(self.n), self.n):
            first = max(int(below.searchsorted(a, side="right")) - 1, 0)
            last = max(int(below.searchsorted(b, side="left")), first + 1)
            ranges.append((first * block, min(last * block, size)))
        return joined(ranges, size)

    @staticmethod
    def read_together(
        readers: Sequence[Reader], windows: Sequence[Callable[[int], Ranges]]
    ) -> None:
        """Read the windows of several readers of one column: in one query, if of its groups."""
        planned = [(r, r.ranges(own)) for r, own in zip(readers, windows, strict=True)]
        some = [(reader, wanted) for reader, wanted in planned if wanted is not None]
        if not some:
            return
        engines, cell = [reader.frame.engine for reader, _ in some], some[0][0].cell
        name = some[0][0].frame.resolve(cell.column)
        found = between_each(engines, name, cell, [wanted for _, wanted in some])
        for (reader, wanted), own in zip(some, found, strict=True):
            reader.found = {tuple(wanted): own}

    def _windows(self, apart: Ranges) -> Points:
        """Read only the blocks of cells that hold the records wanted."""
        below, block, size = self._below, self._block, self.cell.grid.size
        found = self.found.pop(tuple(apart), None)
        ticks, counts = self.frame.between(self.cell, apart) if found is None else found
        parts = []
        for a, b in apart:
            i, j = ticks.searchsorted((a, b))
            if counts[i:j].sum() != below[-(-b // block)] - below[a // block]:
                raise ParameterError(
                    "data", "not change while they are read", "different rows in a second pass",
                    "Write them to a file or a table that does not change, and read that.",
                )  # fmt: skip
            some = counts[i:j] > 0  # records of weight 0 are no atoms
            if some.any():
                own = ticks[i:j][some], counts[i:j][some]
                parts.append(Window(*own, int(below[a // block])))
        outline = np.arange(len(below) - 1) * block, below[:-1]
        return Points(self.n, size, parts, outline=outline, reload=lambda: self._read(None))
