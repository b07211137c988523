"""The interface of an engine: the queries it gets, and the exact counts it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from copy import copy
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sourdine.errors import ParameterError, SourdineError, close_matches
from sourdine.frames.cells import inside
from sourdine.frames.reading import STANDARD, read_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes, Ranges, Ticks, Whole
    from sourdine.frames.formulas.engine import Formulas
    from sourdine.frames.frame import Frame
    from sourdine.frames.memory import Column, Declared
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading

    Named = Sequence[tuple[str, Cell]]
    NamedTicks = Sequence[tuple[str, Ticks]]
    One = tuple[str, Ticks]
    Axes = Sequence[tuple[str, Codes]]
    Powers = Sequence[tuple[int, ...]]
    Types = Mapping[str, Declared | None]
    Groups = tuple[list[Whole], Whole | None]
    """Slots along each axis, and the number of rows that have them (None: one each)."""
    Tallied = tuple[list[Whole], Whole]
    """Slots along each axis, and their counts or the sums of their weights."""
    Sums = tuple[list[Whole], list[list[int]]]
    """Slots along each axis, and the numbers of each."""
    Occurring = tuple[list[Column], Whole | None]
    """Values of columns, and the number of rows that have them (None: one each)."""

E = TypeVar("E", bound="Engine")


# ---- Queries: counts by cells, or sums of powers of ticks ----------------------------------------


@dataclass(frozen=True)
class Asked:
    """A query of the rows; it is hashable and serves as its own key.

    ``cells`` are columns and their cells, one axis each. With ``most`` it asks for the number of
    rows and the sums of powers of the last cell's ticks, up to this power, for each combination of
    slots of the other axes; ``within`` are sorted, disjoint, half-open ranges of these ticks, if no
    others are wanted.
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
    table: Whole | None = None
    ticks: Whole | None = None
    tallied: Whole | None = None
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
    def counts(self) -> Whole:
        """The counts of all cells, the missing values last along each axis."""
        if self.table is None:
            raise ParameterError(
                "cells", f"be at most {DENSE} for a full table", f"{self.sizes[0]}",
                "Use ticks and tallied instead, or a coarser grid.",
            )  # fmt: skip
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
                "tallies", "have the same cells to be added", f"{self.sizes} and {other.sizes}",
                "Tally both with the same grid.",
            )  # fmt: skip
        if self.table is not None and other.table is not None:
            return Tally(self.sizes, self.table + other.table)
        parts = [(t.ticks, t.tallied) for t in (self, other) if t.ticks is not None]
        ticks, tallied = merge(parts)
        return Tally(self.sizes, None, ticks, tallied, self.missing + other.missing)


class Flat:
    """Combinations of slots as single integers, missing ones included."""

    def __init__(self, cells: Iterable[Cell], groups: int = 1) -> None:
        self._shape = [cell.size + 1 for cell in cells]
        self.width = prod(self._shape)
        self.kind: Any = np.int64 if groups * self.width < 1 << 62 else object

    def of(self, slots: Sequence[Whole], first: Any) -> Any:
        """Return the number of each combination, after ``first``: zeros, or numbers of groups."""
        flat = first.astype(self.kind, copy=False)
        for slot, length in zip(slots, self._shape, strict=True):
            flat = flat * length + (slot + 1)
        return flat

    def back(self, flat: Any) -> list[Whole]:
        """Return the slots of each number."""
        slots: list[Whole] = []
        for length in reversed(self._shape):
            slots.insert(0, np.asarray(flat % length, np.int64) - 1)
            flat = flat // length
        return slots


def merge(parts: Iterable[tuple[Whole, Whole | None]]) -> tuple[Whole, Whole]:
    """Add up (slot, count) pairs: return the distinct slots in order, and their counts."""
    listed = list(parts)
    if not listed:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    slots = np.concatenate([slot for slot, _ in listed])
    alone = all(count is None for _, count in listed)
    if alone:
        slots.sort()
    else:
        counts = np.concatenate([np.ones(len(s), np.int64) if c is None else c for s, c in listed])
        order = np.argsort(slots, kind="stable")
        slots, counts = slots[order], counts[order]
    new = np.ones(len(slots), bool)
    new[1:] = slots[1:] != slots[:-1]
    first = np.flatnonzero(new)
    if alone:
        return slots[first], np.diff(first, append=len(slots))
    return slots[first], np.add.reduceat(counts, first) if len(slots) else counts


def gather(sizes: tuple[int, ...], groups: Iterable[Groups]) -> Tally:
    """Make a tally of an engine's counts."""
    if prod(sizes) <= DENSE:
        shape = tuple(size + 1 for size in sizes)
        table = np.zeros(prod(shape), np.int64)
        for slots, counts in groups:
            flat: Any = None
            for own, length in zip(slots, shape, strict=True):
                some = bool(len(own)) and own.min() < 0
                place = np.where(own < 0, length - 1, own) if some else own  # missing ones last
                flat = place if flat is None else flat * length + place
            if counts is None:
                table += np.bincount(flat, minlength=len(table))
            else:
                np.add.at(table, flat, counts)
        return Tally(sizes, table.reshape(shape))
    if len(sizes) > 1:
        raise ParameterError(
            "cells", f"be at most {DENSE} in all for several columns", " x ".join(map(str, sizes)),
            "Use coarser grids or fewer categories.",
        )  # fmt: skip
    ticks, tallied = merge((slots[0], counts) for slots, counts in groups)
    missing = int(tallied[ticks < 0].sum())
    return Tally(sizes, None, ticks[ticks >= 0], tallied[ticks >= 0], missing)


_HALF = 31
"""Products below 2**62 are summed exactly as their upper and lower halves of this many bits."""
_PRODUCT = 1 << (2 * _HALF)


def largest(cells: NamedTicks, powers: Sequence[int]) -> int:
    """Return the largest product of these powers of ticks that one row can have."""
    return prod(cell.grid.last**power for (_, cell), power in zip(cells, powers, strict=True))


def add_products(cells: NamedTicks, powers: Powers, groups: Iterable[Groups]) -> list[int]:
    """Add up products of powers of ticks over the rows in which none is missing."""
    sums = [0] * len(powers)
    wide = [largest(cells, own) >= _PRODUCT for own in powers]
    for slots, counts in groups:
        ticks, n = complete(slots, counts)
        for i, own in enumerate(powers):
            sums[i] += _summed(product(ticks, own, wide=wide[i]), n)
    return sums


def complete(slots: Sequence[Whole], counts: Whole | None) -> Groups:
    """Leave out the rows in which a tick is missing."""
    if not any(len(own) and own.min() < 0 for own in slots):
        return list(slots), counts
    there = np.logical_and.reduce([own >= 0 for own in slots])
    return [own[there] for own in slots], None if counts is None else counts[there]


def product(ticks: Sequence[Whole], powers: Sequence[int], *, wide: bool) -> NDArray[Any]:
    kind: Any = object if wide else np.int64
    factors = [
        own.astype(kind, copy=False) if power == 1 else own.astype(kind, copy=False) ** power
        for own, power in zip(ticks, powers, strict=True)
        if power
    ]
    return np.asarray(reduce(mul, factors) if factors else np.ones(len(ticks[0]), kind))


def _summed(products: NDArray[Any], counts: Whole | None) -> int:
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
        "data", "have columns with different names",
        "a duplicate name" if name is None else f"{name!r} twice", "Rename one of them.",
    )  # fmt: skip


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
        "Look at the columns with sourdine inspect. They are not listed here, because the first "
        f"line of a file without a header is a record.{encoded}"
    )


class Engine(ABC):
    """Rows of named columns, stored anywhere."""

    columns: tuple[str, ...] = ()
    """The names of the columns."""
    parsed = False
    """Whether the rows were parsed from text, so that a cell's content may decide what is a row."""
    reading: Reading = STANDARD
    """How numbers are written in texts."""
    away = False
    """Whether single rows never leave the engine: `slots` and `column` raise."""
    _cuts: tuple[tuple[str, Codes, int], ...] = ()
    """Columns, keys and the code of the rows that an engine of `cut` selects as it counts."""

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

    def groups(self, cells: Named) -> Iterable[Groups]:
        """Yield slots along each cell and the number of rows that have them (None: one each)."""
        for columns, counts in self.combinations([name for name, _ in cells]):
            yield [cell.slots(c) for (_, cell), c in zip(cells, columns, strict=True)], counts

    @abstractmethod
    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        """Yield the slots of at most ``rows`` rows at a time, in the order of the rows."""

    @abstractmethod
    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return all values of a column, in the order of the rows; see `Frame.column`."""

    @abstractmethod
    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        """Yield values of several columns and how many rows have them (None: one each)."""

    @abstractmethod
    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key."""

    def _in_memory(self, names: Sequence[str]) -> Engine:
        """Read some columns into memory, for what the engine cannot compute itself."""
        raise NotImplementedError

    def only(self, *names: str) -> Engine:
        """Return an engine with only these columns; the others are not read."""
        engine = copy(self)
        engine.columns = names
        return engine

    def values(self, name: str) -> Iterator[tuple[Column, Whole | None]]:
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
        found: Counter[str | None] = Counter()
        for column, counts in self.values(unit):
            found.update(column.occurring(counts))
        return dict(Counter(min(own, most) for own in found.values()))

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each value of ``unit``.

        Rows are ordered by all columns that the engine has, so call `only` first. Which rows are
        kept is defined in `sourdine.frames.units`.
        """
        return self._in_memory(self.columns).bound(unit, rows, key)

    def derived(self, formulas: Formulas) -> Engine | None:
        """Return the rows that a filter keeps, with derived columns.

        None if the engine cannot compute all of them exactly as `sourdine.frames.formulas.arrays`.
        """
        return None

    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person, as `sourdine.frames.people` defines it.

        Its columns are `Reduction.names`: a number, a time or NULL, then the groups.
        """
        return self._in_memory(how.needed).reduced(how)

    def array(self, name: str) -> NDArray[Any] | None:
        """Return the numbers of a column, if they are in memory."""
        return None

    def total(self, name: str, cell: Ticks, power: int) -> int:
        """Return the exact sum of powers of ticks."""
        return self.moments(name, cell, power)[power]

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the exact sums of powers of ticks, from 0 to the highest, in one pass."""
        sums = [0] * (most + 1)
        for (ticks,), counts in self.groups([(name, cell)]):
            sums = [a + b for a, b in zip(sums, cell.moments(ticks, counts, most), strict=True)]
        return sums

    def weighted(self, cells: Named, weight: One) -> Iterable[Tallied]:
        """Yield slots along each cell, and the sum of the weights' ticks of rows that have them.

        A missing weight is 0.
        """
        for slots, counts in self.groups([*cells, weight]):
            ticks = np.maximum(slots[-1], 0)
            yield slots[:-1], ticks if counts is None else ticks * counts

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        """Return exact sums of products of ticks over the rows in which none is missing: one pass.

        ``powers`` are for each sum the power of each cell's tick; all zeros count the rows.
        """
        return add_products(cells, powers, self.groups(cells))

    def tally(self, cells: Named) -> Tally:
        """Count the rows in each cell."""
        return gather(tuple(cell.size for _, cell in cells), self.groups(cells))

    def in_one_pass(self, name: str, cell: Ticks) -> bool:
        """Return whether counting all ticks takes less time than counting blocks, then some."""
        return False

    def sums(self, axes: Axes, of: One | None, most: int) -> Sums | None:
        """Return codes along axes, and for each the number of rows and the sums of powers.

        None if the engine has no better way than to count the ticks of each group.
        """
        return None

    def afresh(self) -> Engine:
        """Return the same rows without prefetched answers."""
        return self

    def prefetch(self, asked: Asked) -> None:  # noqa: B027 - most engines answer one by one
        """Announce a query: announced queries may be answered together in one pass."""

    def within(self, cells: Named, ranges: Ranges) -> Iterable[Groups]:
        """Yield what `groups` yields, for only the rows whose last slot lies in ranges.

        The last cell is a `Ticks`; ranges are sorted, disjoint and half-open. Those of raw values,
        which an engine compares without snapping, are computed in `sourdine.frames.sql`.
        """
        for slots, counts in self.groups(cells):
            there = inside(slots[-1], ranges)
            yield [slot[there] for slot in slots], None if counts is None else counts[there]

    def between(self, name: str, cell: Ticks, ranges: Ranges) -> tuple[Whole, Whole]:
        """Return the ticks within sorted, disjoint, half-open ranges, and their counts."""
        found = self.within([(name, cell)], ranges) if ranges else ()
        return merge((slots[0], counts) for slots, counts in found)


def guarded(work: Callable[[], Any], got: str, hint: str) -> Any:
    """Run a library; on failure, raise an error without its message, which may hold data."""
    try:
        return work()
    except SourdineError:
        raise
    except Exception:  # noqa: BLE001 - every library has its own errors
        raise ParameterError("data", "be readable to the end", got, hint) from None


def cut(engine: Engine, name: str, keys: Codes) -> list[Engine]:
    """Return engines over the rows of each key."""
    parts = [copy(engine) for _ in range(keys.size)]
    for code, part in enumerate(parts):
        part._cuts = (*engine._cuts, (name, keys, code))  # noqa: SLF001
    return parts


def read_like(engine: E, other: Engine) -> E:
    """Let an engine read text as another one does, whose rows it holds; return it."""
    engine.parsed, engine.reading = other.parsed, other.reading
    return engine


class RemoteEngine(Engine):
    """Rows that never leave their engine one by one."""

    away = True
    _what: tuple[str, str]
    """What the rows are in, and what to do instead."""

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        raise self._refused()

    def column(self, name: str, *, strict: bool = False) -> Column:
        raise self._refused()

    def _refused(self) -> ParameterError:
        got, hint = self._what
        return ParameterError("data", "be on this machine to be read row by row", got, hint)
