"""The interface of an engine: the queries it gets, and the exact counts it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, close_matches
from sourdine.frames.cells import inside
from sourdine.frames.reading import STANDARD, read_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes, Ticks
    from sourdine.frames.formulas.engine import Formulas
    from sourdine.frames.frame import Frame
    from sourdine.frames.memory import Column, Declared
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading


# ---- Queries: counts by cells, or sums of powers of ticks ----------------------------------------


@dataclass(frozen=True)
class Asked:
    """A query of the rows; it is hashable and serves as its own key.

    Parameters
    ----------
    cells
        Columns and their cells, one axis each.
    most
        None to count rows; otherwise the query asks for the number of rows and the sums of powers
        of the last cell's ticks, up to this power, for each combination of slots of the other axes.
    within
        Sorted, disjoint, half-open ranges of the last cell's ticks, if no others are wanted.
    """

    cells: tuple[tuple[str, Cell], ...]
    most: int | None = None
    within: tuple[tuple[int, int], ...] | None = None

    @property
    def axes(self) -> tuple[tuple[str, Cell], ...]:
        """The cells by which rows are grouped."""
        return self.cells if self.most is None else self.cells[:-1]


# ---- Tallies: integer counts over public cells ---------------------------------------------------


DENSE = 10**6
"""Up to this many public cells are counted in a full table."""

Groups = "tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]"
"""Slots along each axis, and the number of rows of each (None: one)."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Exact counts; tallies of parts of the data add up to the tally of the whole.

    Parameters
    ----------
    sizes
        The number of public slots of each axis.
    table
        The counts of all cells, `MISSING` last along each axis; None if there are too many.
    ticks, tallied, missing
        For a single axis of more than a million slots: the non-empty slots, in order, their counts,
        and the number of missing values. Which slots are non-empty is private.

    Examples
    --------
    >>> one = Tally((2,), np.array([3, 0, 1]))
    >>> (one + one).counts.tolist()
    [6, 0, 2]
    """

    sizes: tuple[int, ...]
    table: NDArray[np.int64] | None = None
    ticks: NDArray[np.int64] | None = None
    tallied: NDArray[np.int64] | None = None
    missing: int = 0

    def __post_init__(self) -> None:
        if self.table is not None and self.ticks is None and len(self.sizes) == 1:
            held = np.flatnonzero(self.table[:-1])
            object.__setattr__(self, "ticks", held)
            object.__setattr__(self, "tallied", self.table[held])
            object.__setattr__(self, "missing", int(self.table[-1]))

    @property
    def is_dense(self) -> bool:
        """Whether `counts` holds all cells, including empty ones."""
        return self.table is not None

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts of all cells, the missing values last along each axis."""
        if self.table is None:
            raise ParameterError(
                "cells",
                f"be at most {DENSE} for a full table",
                f"{self.sizes[0]}",
                "Use ticks and tallied instead, or a coarser grid.",
            )
        return self.table

    @property
    def total(self) -> int:
        """The number of rows, missing ones included."""
        if self.table is not None:
            return int(self.table.sum())
        assert self.tallied is not None  # noqa: S101
        return int(self.tallied.sum()) + self.missing

    @property
    def present(self) -> int:
        """The number of rows that are in a slot of the only axis."""
        return int(np.asarray(self.tallied).sum())

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.sizes != other.sizes:
            raise ParameterError(
                "tallies",
                "have the same cells to be added",
                f"{self.sizes} and {other.sizes}",
                "Tally both with the same grid.",
            )
        if self.table is not None and other.table is not None:
            return Tally(self.sizes, self.table + other.table)
        parts = [(t.ticks, t.tallied) for t in (self, other) if t.ticks is not None]
        ticks, tallied = merge(parts)
        return Tally(self.sizes, None, ticks, tallied, self.missing + other.missing)


def merge(
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.int64] | None]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up (slot, count) pairs: return the distinct slots in order, and their counts."""
    listed = list(parts)
    if not listed:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    slots = np.concatenate([slot for slot, _ in listed])
    if all(count is None for _, count in listed):
        slots.sort()
        first = _starts(slots)
        return slots[first], np.diff(first, append=len(slots))
    counts = np.concatenate([np.ones(len(s), np.int64) if c is None else c for s, c in listed])
    order = np.argsort(slots, kind="stable")
    slots, counts = slots[order], counts[order]
    first = _starts(slots)
    return slots[first], np.add.reduceat(counts, first) if len(slots) else counts


def _starts(rising: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each distinct value of a sorted array begins."""
    new = np.ones(len(rising), bool)
    new[1:] = rising[1:] != rising[:-1]
    return np.flatnonzero(new)


def gather(
    sizes: tuple[int, ...],
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> Tally:
    """Make a tally of an engine's counts."""
    if prod(sizes) <= DENSE:
        return _table(sizes, groups)
    if len(sizes) > 1:
        raise ParameterError(
            "cells",
            f"be at most {DENSE} in all for several columns",
            " x ".join(map(str, sizes)),
            "Use coarser grids or fewer categories.",
        )
    ticks, tallied = merge((slots[0], counts) for slots, counts in groups)
    missing = int(tallied[ticks < 0].sum())
    return Tally(sizes, None, ticks[ticks >= 0], tallied[ticks >= 0], missing)


def _table(
    sizes: tuple[int, ...],
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> Tally:
    shape = tuple(size + 1 for size in sizes)
    table = np.zeros(prod(shape), np.int64)
    for slots, counts in groups:
        flat = _from_0(slots[0], shape[0])
        for slot, length in zip(slots[1:], shape[1:], strict=True):
            flat = flat * length + _from_0(slot, length)
        if counts is None:
            table += np.bincount(flat, minlength=len(table))
        else:
            np.add.at(table, flat, counts)
    return Tally(sizes, table.reshape(shape))


def _from_0(slots: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return slots with the missing ones last."""
    some = bool(len(slots)) and slots.min() < 0
    return np.where(slots < 0, length - 1, slots) if some else slots


def add_moments(
    cell: Ticks,
    most: int,
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> list[int]:
    """Add up the moments of an engine's ticks."""
    sums = [0] * (most + 1)
    for (ticks,), counts in groups:
        sums = [a + b for a, b in zip(sums, cell.moments(ticks, counts, most), strict=True)]
    return sums


_HALF = 31
"""Products below 2**62 are summed exactly as their upper and lower halves of this many bits."""
_PRODUCT = 1 << (2 * _HALF)


def largest(cells: Sequence[tuple[str, Ticks]], powers: Sequence[int]) -> int:
    """Return the largest product of these powers of ticks that one row can have."""
    return prod(cell.grid.last**power for (_, cell), power in zip(cells, powers, strict=True))


def add_products(
    cells: Sequence[tuple[str, Ticks]],
    powers: Sequence[tuple[int, ...]],
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> list[int]:
    """Add up products of powers of ticks over the rows in which none is missing."""
    sums = [0] * len(powers)
    wide = [largest(cells, own) >= _PRODUCT for own in powers]
    for slots, counts in groups:
        ticks, n = complete(slots, counts)
        for i, own in enumerate(powers):
            sums[i] += _summed(product(ticks, own, wide=wide[i]), n)
    return sums


def complete(
    slots: Sequence[NDArray[np.int64]], counts: NDArray[np.int64] | None
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]:
    """Leave out the rows in which a tick is missing."""
    there = np.logical_and.reduce([own >= 0 for own in slots])
    if there.all():
        return list(slots), counts
    return [own[there] for own in slots], None if counts is None else counts[there]


def product(
    ticks: Sequence[NDArray[np.int64]], powers: Sequence[int], *, wide: bool
) -> NDArray[Any]:
    found: Any = np.ones(len(ticks[0]), object if wide else np.int64)
    for own, power in zip(ticks, powers, strict=True):
        if power:
            factor = own.astype(object) if wide else own
            found = found * (factor if power == 1 else factor**power)
    return np.asarray(found)


def _summed(products: NDArray[Any], counts: NDArray[np.int64] | None) -> int:
    """Return an exact sum of products, each times the number of its rows."""
    if products.dtype == object:
        return int(products.sum() if counts is None else (products * counts.astype(object)).sum())
    n = len(products) if counts is None else int(counts.sum())
    if n >= 1 << (_HALF + 1):  # one part of the data never has so many rows; groups of them may
        return _summed(products.astype(object), counts)
    high, low = products >> _HALF, products & ((1 << _HALF) - 1)
    if counts is not None:
        high, low = high * counts, low * counts
    return (int(high.sum()) << _HALF) + int(low.sum())


# ---- Engines: they count exactly, and do nothing else --------------------------------------------
#
# An engine holds the rows and returns integers over public cells. Noise is never added inside it.


def require_different(names: Sequence[str]) -> None:
    """Refuse an empty list of columns, and duplicate names, which would be ambiguous.

    Examples
    --------
    >>> require_different(["age", "sex", "age"])
    Traceback (most recent call last):
    sourdine.errors.ParameterError: data must have columns with different names, got 'age' twice. Rename one of them.
    """  # noqa: E501
    if not names:
        raise ParameterError(
            "data", "have at least one column", "", "Pass data with one column or more."
        )
    if len(set(names)) < len(names):
        raise name_twice(next(name for i, name in enumerate(names) if name in names[:i]))


def name_twice(name: str | None = None) -> ParameterError:
    """Return the error for duplicate column names."""
    return ParameterError(
        "data",
        "have columns with different names",
        "a duplicate name" if name is None else f"{name!r} twice",
        "Rename one of them.",
    )


def listed_columns(frame: Frame | Engine, wanted: str | None = None) -> str:
    """Return a sentence that lists the columns; of a text file, only those like the wanted one.

    A text file may have no header, and then its first line is somebody's record. So undeclared
    names of a text file are shown only if they resemble the name that was typed.

    Examples
    --------
    >>> from sourdine.frames.frame import Frame
    >>> listed_columns(Frame({"age": [31], "vote": ["yes"]}))
    "The columns are: 'age', 'vote'."
    """
    like = close_matches(wanted or "", frame.columns)
    meant = f"Did you mean {' or '.join(map(repr, like))}?" if like else ""
    if not frame.parsed or frame.reading.header is not None:
        return f"{meant} The columns are: {', '.join(map(repr, frame.columns))}.".strip()
    if like:
        return meant
    if any(not name or read_number(name) is not None for name in frame.columns):
        return (
            "The first line of the file holds numbers. If it is a record and not a header, pass "
            "the column names as header in a Reading or on the command line."
        )
    damaged = any("\ufffd" in name for name in frame.columns)
    encoded = " The file seems to be in another encoding." if damaged else ""
    return (
        "Look at the columns with sourdine inspect: they are not listed here, as the first line "
        f"of a file without a header is a record.{encoded}"
    )


class Engine(ABC):
    """Rows of named columns, stored anywhere."""

    parsed = False
    """Whether the rows were parsed from text, so that a cell's content may decide what is a row."""
    reading: Reading = STANDARD
    """How numbers are written in texts."""
    away = False
    """Whether single rows never leave the engine: `slots` and `column` raise."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def kind(self, name: str) -> str | None:
        """Return the type that the data itself states, in a word; None if it states none."""
        return None

    def declared(self, name: str) -> Declared | None:
        """Return the declared type of a column; None if it has none, or one without a meaning.

        Values are not read: a type is refused regardless of the rows.
        """
        return None

    @abstractmethod
    def rows(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield slots along each cell and the number of rows that have them (None: one each)."""

    @abstractmethod
    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of at most ``rows`` rows at a time, in the order of the rows."""

    @abstractmethod
    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return all values of a column, in the order of the rows; see `Frame.column`."""

    @abstractmethod
    def only(self, *names: str) -> Engine:
        """Return an engine with only these columns; the others are not read."""

    def values(self, name: str) -> Iterator[tuple[Column, NDArray[np.int64] | None]]:
        """Yield values of a column and the number of rows that have them (None: one each)."""
        for (column,), counts in self.combinations([name]):
            yield column, counts

    def present(self, name: str) -> int:
        """Return the number of values of a column that are not missing."""
        return sum(
            int(np.count_nonzero(values.present) if n is None else n[values.present].sum())
            for values, n in self.values(name)
        )

    def owned(self, unit: str, most: int) -> dict[int, int]:
        """Return how many people own each number of rows; ``most`` stands for all larger ones."""
        found: dict[str | None, int] = {}
        for column, counts in self.values(unit):
            for text, k in column.occurring(counts).items():
                found[text] = found.get(text, 0) + k
        return dict(Counter(min(own, most) for own in found.values()))

    @abstractmethod
    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key."""

    @abstractmethod
    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each value of ``unit``.

        Rows are ordered by all columns that the engine has, so call `only` first. Which rows are
        kept is defined in `sourdine.frames.units`.
        """

    def derived(self, formulas: Formulas) -> Engine | None:
        """Return the rows that a filter keeps, with derived columns.

        None if the engine cannot compute all of them exactly as `sourdine.frames.formulas.arrays`.
        """
        del formulas
        return None

    @abstractmethod
    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person, as `sourdine.frames.people` defines it.

        Its columns are `Reduction.names`: a number, a time or NULL, then the groups.
        """

    def array(self, name: str) -> NDArray[Any] | None:
        """Return the numbers of a column, if they are in memory."""
        return None

    def total(self, name: str, cell: Ticks, power: int) -> int:
        """Return the exact sum of powers of ticks."""
        return add_moments(cell, power, self.groups([(name, cell)]))[power]

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the exact sums of powers of ticks, from 0 to the highest, in one pass."""
        return add_moments(cell, most, self.groups([(name, cell)]))

    def weighted(
        self, cells: Sequence[tuple[str, Cell]], weight: tuple[str, Ticks]
    ) -> Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64]]]:
        """Yield slots along each cell, and the sum of the weights' ticks of rows that have them.

        A missing weight is 0.
        """
        for slots, counts in self.groups([*cells, weight]):
            ticks = np.maximum(slots[-1], 0)
            yield slots[:-1], ticks if counts is None else ticks * counts

    def products(
        self, cells: Sequence[tuple[str, Ticks]], powers: Sequence[tuple[int, ...]]
    ) -> list[int]:
        """Return exact sums of products of ticks over the rows in which none is missing: one pass.

        Parameters
        ----------
        cells
            Columns and their grids.
        powers
            For each sum, the power of each cell's tick; all zeros count the rows.
        """
        return add_products(cells, powers, self.groups(cells))

    def tally(self, cells: Sequence[tuple[str, Cell]]) -> Tally:
        """Count the rows in each cell."""
        return gather(tuple(cell.size for _, cell in cells), self.groups(cells))

    def in_one_pass(self, name: str, cell: Ticks) -> bool:
        """Return whether counting all ticks takes less time than counting blocks, then some."""
        del name, cell
        return False

    def sums(
        self, axes: Sequence[tuple[str, Codes]], of: tuple[str, Ticks] | None, most: int
    ) -> tuple[list[NDArray[np.int64]], list[list[int]]] | None:
        """Return codes along axes, and for each the number of rows and the sums of powers.

        None if the engine has no better way than to count the ticks of each group.
        """
        return None

    def afresh(self) -> Engine:
        """Return the same rows without prefetched answers."""
        return self

    def prefetch(self, asked: Asked) -> None:  # noqa: B027 - most engines answer one by one
        """Announce a query: announced queries may be answered together in one pass."""

    @abstractmethod
    def combinations(
        self, names: Sequence[str]
    ) -> Iterator[tuple[list[Column], NDArray[np.int64] | None]]:
        """Yield values of several columns and how many rows have them (None: one each)."""

    def within(
        self, cells: Sequence[tuple[str, Cell]], ranges: Sequence[tuple[int, int]]
    ) -> Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield what `groups` yields, for only the rows whose last slot lies in ranges.

        Parameters
        ----------
        cells
            As in `groups`; the last is a `Ticks`.
        ranges
            Sorted, disjoint and half-open. The corresponding ranges of raw values, which an engine
            can compare without snapping, are computed in `sourdine.frames.sql`.
        """
        for slots, counts in self.groups(cells):
            there = inside(slots[-1], ranges)
            yield [slot[there] for slot in slots], None if counts is None else counts[there]

    def between(
        self, name: str, cell: Ticks, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ticks within sorted, disjoint, half-open ranges, and their counts."""
        found = self.within([(name, cell)], ranges) if ranges else ()
        return merge((slots[0], counts) for slots, counts in found)
