"""Counts by group, in one pass for any number of groups; and counts with weights."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from sourdine.frames.cells import Codes, Present, Ticks, inside, joined
from sourdine.frames.engine import Asked, Engine, Flat, complete, largest, merge, product, read_like
from sourdine.frames.memory import Memory
from sourdine.frames.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Ranges, Whole
    from sourdine.frames.engine import Axes, Groups, Named, NamedTicks, One, Powers, Sums, Tallied
    from sourdine.frames.memory import Column, Declared

    Counted = tuple[Whole, Whole]


class Counting(Engine):
    """Rows of another engine that are only counted: no single row comes out."""

    _why: str

    def __init__(self, rows: Engine) -> None:
        self.unweighted, self.columns = rows, rows.columns
        read_like(self, rows)

    def kind(self, name: str) -> str | None:
        return self.unweighted.kind(name)

    def declared(self, name: str) -> Declared | None:
        return self.unweighted.declared(name)

    def present(self, name: str) -> int:
        found = self.groups([(name, Present(name))])
        return sum(int(cast("Whole", sums)[slots >= 0].sum()) for (slots,), sums in found)

    def _refuse(self, *asked: Any, **options: Any) -> NoReturn:
        raise TypeError(self._why)

    slots = column = only = combinations = split = bound = reduced = _refuse


# ---- One group of a partition --------------------------------------------------------------------


class GroupRows(Counting):
    """One group: it selects its own counts from those of all groups, and does nothing else."""

    _why = "a group counts its rows and gives out none; cut the frame with split"

    def __init__(self, whole: Partition, i: int) -> None:
        super().__init__(whole.engine)
        self.whole, self.place = whole, i

    def rows(self) -> int:
        return int(self.whole.rows()[self.place])

    def groups(self, cells: Named) -> Iterator[Groups]:
        yield self.whole.cells(cells)[self.place]

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        return self.whole.moments(name, cell, most)[self.place]

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        return self.whole.products(tuple(cells), tuple(powers))[self.place]

    def between(self, name: str, cell: Ticks, ranges: Ranges) -> Counted:
        return between_each([self], name, cell, [ranges])[0]

    def prefetch(self, asked: Asked) -> None:
        """Announce a query; windows of single groups are not prefetched."""
        if asked.within is None:
            self.whole.prefetch(asked)

    def array(self, name: str) -> NDArray[Any] | None:
        return self.whole.array(name, self.place)


def between_each(
    parts: Sequence[Engine], name: str, cell: Ticks, ranges: Sequence[Ranges]
) -> list[Counted]:
    """Return the ticks of each part within its own ranges, and their counts.

    The groups of one partition are read in one pass.
    """
    groups = [part for part in parts if isinstance(part, GroupRows)]
    if len(groups) < len(parts) or len({id(part.whole) for part in groups}) != 1:
        both = zip(parts, ranges, strict=True)
        return [part.between(name, cell, own) for part, own in both]
    whole = groups[0].whole
    wanted: list[Ranges] = [()] * whole.size
    for part, own in zip(groups, ranges, strict=True):
        wanted[part.place] = own
    found = whole.between(name, cell, wanted)
    return [found[part.place] for part in groups]


# ---- Rows by group -------------------------------------------------------------------------------
#
# A group is a key, of one column or of several, matched as in `Codes`. A query of one group is
# counted for all of them at once (`Partition`), so that ten thousand groups cost little more than
# one; each group (`GroupRows`) then selects its own counts. They equal the counts of the rows that
# `split` would return (``test_parts_count_what_the_split_rows_hold``).


TABLE = 1 << 22
"""Up to this many combinations of codes are looked up in a table."""
DENSE = 1 << 24
"""Up to this many cells of all groups together are counted in a full table."""
_HALF = 31
_LOW = (1 << _HALF) - 1


class Partition:
    """Rows split into groups, and counts of all groups from one pass each.

    Each group has a tuple of ``keys``, with a value of each column; with ``other`` the rows without
    a listed key form a group too, the last.
    """

    def __init__(
        self, engine: Engine, names: Sequence[str], keys: Sequence[tuple[Any, ...]], *, other: bool
    ) -> None:
        self.engine, self.size, self._other = engine, len(keys) + other, other
        own = list(zip(*keys, strict=True)) or [()] * len(names)
        texts = [[read_text(part) for part in parts] for parts in own]
        listed = [dict(zip(*both, strict=True)) for both in zip(texts, own, strict=True)]
        self._axes = [
            (n, Codes(n, list(own.values()))) for n, own in zip(names, listed, strict=True)
        ]
        shape = [cell.size for _, cell in self._axes]
        self._steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
        places = [{text: i for i, text in enumerate(own)} for own in listed]
        flat = [
            sum(
                step * place[text]
                for step, place, text in zip(self._steps, places, key, strict=True)
            )
            for key in zip(*texts, strict=True)
        ]
        self._wide = prod(shape)
        order = sorted(range(len(flat)), key=flat.__getitem__)
        self._flat = np.array(
            [flat[i] for i in order], np.int64 if self._wide < 1 << 62 else object
        )
        self._order = np.array(order, np.int64)
        self._kept: dict[Any, Any] = {}
        self._foreseen: set[Asked] = set()
        self._last: tuple[Ticks, tuple[str, int], list[list[int]]] | None = None
        self._read_last: tuple[tuple[Any, ...], list[Counted]] | None = None

    @property
    def parts(self) -> list[GroupRows]:
        return [GroupRows(self, i) for i in range(self.size)]

    @cached_property
    def _table(self) -> Whole:
        table = np.full(self._wide, -1, np.int64)
        table[self._flat.astype(np.int64)] = self._order
        return table

    def _group(self, slots: Sequence[Whole]) -> Whole:
        """Return the group of each combination of codes; -1 for none."""
        if len(slots) == 1 and len(self._flat) == self._wide and not self._other:
            return slots[0]  # -1 where it is missing
        gone = slots[0] < 0
        if not len(self._flat):
            group = np.full(len(gone), -1)
        elif len(slots) == 1 and len(self._flat) == self._wide:
            group = slots[0]
        else:
            flat: Any = 0
            for slot, step in zip(slots, self._steps, strict=True):
                gone = gone | (slot < 0)
                flat = flat + slot.astype(self._flat.dtype, copy=False) * step
            flat = np.where(gone, 0, flat)
            if self._wide <= TABLE:
                group = self._table[flat]
            else:
                place = np.minimum(np.searchsorted(self._flat, flat), len(self._flat) - 1)
                group = np.where(self._flat[place] == flat, self._order[place], -1)
        return np.where(gone | (group < 0), self.size - 1 if self._other else -1, group)

    @cached_property
    def _of_rows(self) -> Whole:
        """The group of each row in memory."""
        found = [self._group(slots) for slots, _ in self.engine.groups(self._axes)]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _read(self, cells: Named) -> Iterator[tuple[Whole, list[Whole], Whole | None]]:
        """Yield groups, -1 for none, slots along each cell, and their numbers of rows."""
        if not isinstance(self.engine, Memory):
            axes = len(self._axes)
            for slots, counts in self.engine.groups([*self._axes, *cells]):
                yield self._group(slots[:axes]), slots[axes:], counts
        elif not cells:
            yield self._of_rows, [], None
        else:
            start = 0
            for slots, _ in self.engine.groups(cells):
                yield self._of_rows[start : start + len(slots[0])], slots, None
                start += len(slots[0])

    def counted(self, cells: Named) -> Iterator[tuple[Whole, list[Whole], Whole | None]]:
        """Yield groups, slots along each cell, and their numbers of rows (None: one each)."""
        for group, slots, counts in self._read(cells):
            if not len(group) or group.min() >= 0:
                yield group, slots, counts
            else:
                inside = group >= 0
                rest = [slot[inside] for slot in slots]
                yield group[inside], rest, None if counts is None else counts[inside]

    def rows(self) -> Whole:
        """Return the number of rows of each group."""
        if "rows" not in self._kept:
            sums = self._sums(None, 0)
            self._kept["rows"] = np.array([own[0] for own in sums], np.int64)
        rows: Whole = self._kept["rows"]
        return rows

    def moments(self, name: str, cell: Ticks, most: int) -> list[list[int]]:
        """Return the exact sums of powers of ticks of each group, from 0 to the highest."""
        last = self._last
        if last is not None and last[0] is cell and last[1] == (name, most):
            return last[2]  # hashing a cell for each of many groups would take longer than counting
        asked = (name, cell, most)
        if asked not in self._kept:
            sums = self._sums((name, cell), most)
            self._kept[asked] = [own[1:] for own in sums]
        self._last = (cell, (name, most), self._kept[asked])
        return self._last[2]

    def _sums(self, of: One | None, most: int) -> list[list[int]]:
        """Return for each group its rows and, for a column, the sums of powers of ticks."""
        found = self.engine.sums(self._axes, of, most)
        if found is None:
            powers = [] if of is None else [(power,) for power in range(most + 1)]
            return self._multiplied([] if of is None else [of], powers)
        sums = [[0] * (1 if of is None else most + 2) for _ in range(self.size)]
        slots, values = found
        group = self._group(slots)
        for g, own in zip(group.tolist(), values, strict=True):
            if g >= 0:
                sums[g] = [a + b for a, b in zip(sums[g], own, strict=True)]
        return sums

    def products(
        self, cells: tuple[tuple[str, Ticks], ...], powers: tuple[tuple[int, ...], ...]
    ) -> list[list[int]]:
        """Return for each group the exact sums of products of powers of ticks."""
        asked = ("products", cells, powers)
        if asked not in self._kept:
            self._kept[asked] = [own[1:] for own in self._multiplied(cells, powers)]
        sums: list[list[int]] = self._kept[asked]
        return sums

    def _multiplied(self, cells: NamedTicks, powers: Powers) -> list[list[int]]:
        """Return for each group its rows, and sums of products over those without a missing tick.

        They are added up in halves of 31 bits; products beyond 62 bits as Python integers.
        """
        halves = np.zeros((1 + len(powers), 2, self.size), np.int64)
        sums = [[0] * (1 + len(powers)) for _ in range(self.size)]
        most = [largest(cells, own) for own in powers]
        for group, slots, counts in self.counted(cells):
            rows = np.zeros(self.size, np.int64)
            _add(rows, group, None, counts)
            halves[0, 1] += rows
            (place, *ticks), n = complete([group, *slots], counts)
            if len(place) < len(group):
                rows[:] = 0
                _add(rows, place, None, n)
            for i, own in enumerate(powers, 1):
                if not any(own):
                    halves[i, 1] += rows
                    continue
                p = product(ticks, own, wide=most[i - 1] >= 1 << (2 * _HALF))
                if p.dtype == object:
                    each = [1] * len(place) if n is None else n.tolist()
                    for g, v, k in zip(place.tolist(), p.tolist(), each, strict=True):
                        sums[g][i] += k * v
                elif n is None and most[i - 1] * len(p) < 1 << 53:  # a float holds the sum
                    _add(halves[i, 1], place, p, None)
                    halves[i, 0] += halves[i, 1] >> _HALF
                    halves[i, 1] &= _LOW
                else:
                    _add(halves[i, 0], place, p >> _HALF, n)
                    _add(halves[i, 1], place, p & _LOW, n)
        high, low = halves.transpose(1, 2, 0).tolist()
        return [
            [v + (a << _HALF) + b for v, a, b in zip(*parts, strict=True)]
            for parts in zip(sums, high, low, strict=True)
        ]

    def cells(self, cells: Named) -> list[Tallied]:
        """Return for each group the slots that occur along the cells, and their counts."""
        asked = tuple(cells)
        if asked not in self._kept:
            flat = Flat([cell for _, cell in cells], self.size)
            parts = ((flat.of(slots, g), counts) for g, slots, counts in self.counted(cells))
            if self.size * flat.width <= DENSE:
                table = np.zeros(self.size * flat.width, np.int64)
                for place, counts in parts:
                    _add(table, place, None, counts)
                places = np.flatnonzero(table)
                tallied = table[places]
            else:
                places, tallied = merge(parts)
            ends = np.searchsorted(places, [flat.width * i for i in range(self.size + 1)]).tolist()
            slots = flat.back(places % flat.width)
            self._kept[asked] = [
                ([slot[a:b] for slot in slots], tallied[a:b]) for a, b in pairwise(ends)
            ]
        found: list[Tallied] = self._kept[asked]
        return found

    def prefetch(self, asked: Asked) -> None:
        """Announce a query of a group; it is run once, for all of them together."""
        if asked not in self._foreseen:
            self._foreseen.add(asked)
            self.engine.prefetch(Asked((*self._axes, *asked.cells), asked.most))

    def between(self, name: str, cell: Ticks, ranges: Sequence[Ranges]) -> list[Counted]:
        """Return for each group the ticks within its own ranges, and their counts: one pass.

        The engine leaves out ticks that are in no group's range; a group's ranges are applied here.
        """
        if isinstance(self.engine, Memory):
            found = [(ticks, counts) for (ticks,), counts in self.cells([(name, cell)])]
        else:
            every = joined((r for own in ranges for r in own), cell.size)
            found = self._windows(name, cell, tuple(every))
        parts = []
        for (ticks, counts), own in zip(found, ranges, strict=True):
            there = inside(ticks, own)
            parts.append((ticks[there], counts[there]))
        return parts

    def _windows(self, name: str, cell: Ticks, every: tuple[tuple[int, int], ...]) -> list[Counted]:
        """Return the ticks of each group within ranges; the last answer is cached."""
        asked = (name, cell, every)
        if self._read_last is None or self._read_last[0] != asked:
            cells: list[tuple[str, Cell]] = [*self._axes, (name, cell)]
            counted = self.engine.within(cells, every) if every else ()
            self._read_last = asked, self._by_group(counted)
        return self._read_last[1]

    def _by_group(self, counted: Iterable[Groups]) -> list[Counted]:
        """Return the ticks of each group, in order, and their counts."""
        parts: list[list[tuple[Whole, Whole | None]]] = [[] for _ in range(self.size)]
        for slots, counts in counted:
            group = self._group(slots[:-1])
            order = np.argsort(group, kind="stable")
            starts = np.searchsorted(group[order], np.arange(self.size + 1)).tolist()
            for own, a, b in zip(parts, starts[:-1], starts[1:], strict=True):
                rows = order[a:b]
                own.append((slots[-1][rows], None if counts is None else counts[rows]))
        return [merge(own) for own in parts]

    @cached_property
    def _sorted(self) -> tuple[Whole, Whole]:
        """The rows in memory in the order of their groups, and where each group begins."""
        group = self._of_rows
        order = np.argsort(group.astype(np.int16) if self.size < 1 << 15 else group, kind="stable")
        return order, np.searchsorted(group[order], np.arange(self.size + 1))

    def array(self, name: str, i: int) -> NDArray[Any] | None:
        """Return the numbers of a column in a group, if they are in memory."""
        if not isinstance(self.engine, Memory):
            return None
        if ("array", name) not in self._kept:
            whole = self.engine.array(name)
            self._kept["array", name] = None if whole is None else whole[self._sorted[0]]
        ordered, starts = self._kept["array", name], self._sorted[1]
        return None if ordered is None else ordered[starts[i] : starts[i + 1]]


def _add(total: Whole, place: Whole, values: Whole | None, counts: Whole | None) -> None:
    """Add values times counts at their places; for a block of rows as floats, which are exact."""
    if counts is not None:
        np.add.at(total, place, counts if values is None else values * counts)
    elif values is None:
        total += np.bincount(place, minlength=len(total))
    else:
        total += np.bincount(place, values, len(total)).astype(np.int64)


def occurring(columns: Sequence[Column], counts: Whole | None) -> dict[tuple[str, ...], int]:
    """Return the combinations of texts that occur, without missing ones, and their counts."""
    numbered = [_numbered(column) for column in columns]
    there = np.logical_and.reduce([codes >= 0 for _, codes in numbered])
    flat = np.zeros(int(there.sum()), np.int64)
    for texts, codes in numbered:
        flat = flat * max(len(texts), 1) + codes[there]
    places, tallied = merge([(flat, None if counts is None else counts[there])])
    found = {}
    for place, n in zip(places.tolist(), tallied.tolist(), strict=True):
        key, rest = [], place
        for texts, _ in reversed(numbered):
            rest, code = divmod(rest, max(len(texts), 1))
            key.append(texts[code])
        found[tuple(reversed(key))] = n
    return found


def _numbered(column: Column) -> tuple[list[str], Whole]:
    """Return the texts of a column, and the index of each value's text; -1 if it is missing."""
    numbers: dict[str, int] = {}
    codes = column.by_text(lambda t: -1 if t is None else numbers.setdefault(t, len(numbers)))
    return list(numbers), codes


# ---- Rows with weights ---------------------------------------------------------------------------


class WeightedRows(Counting):
    """The rows of an engine, each counted as often as the tick of its weight says.

    Counts are then sums of weights, exactly: they are integers, and those of all engines agree
    (``test_engine``). A missing weight is 0; the lattice of weights begins at 0.
    """

    _why = "weighted rows are counted and not shown"

    def __init__(self, rows: Engine, weight: One) -> None:
        super().__init__(rows)
        self._weight = weight

    def afresh(self) -> Engine:
        return WeightedRows(self.unweighted.afresh(), self._weight)

    def rows(self) -> int:
        """Return the sum of all weights."""
        return sum(int(sums.sum()) for _, sums in self.unweighted.weighted([], self._weight))

    def groups(self, cells: Named) -> Iterable[Tallied]:
        return self.unweighted.weighted(cells, self._weight)

    def within(self, cells: Named, ranges: Ranges) -> Iterator[Tallied]:
        for (w, *slots), counts in self.unweighted.within([self._weight, *cells], ranges):
            ticks = np.maximum(w, 0)
            yield slots, ticks if counts is None else ticks * counts

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the sums of weights times powers of ticks."""
        _, found = self.sums([], (name, cell), most)
        return found[0][1:] if found else [0] * (most + 1)

    def sums(self, axes: Axes, of: One | None, most: int) -> Sums:
        """Return codes along axes, and for each the weights of rows and of powers of ticks."""
        added: dict[int, list[int]] = {}
        flat = Flat(cell for _, cell in axes)
        for slots, w in self.groups([*axes, *([] if of is None else [of])]):
            place = flat.of(slots[: len(axes)], np.zeros(len(w), np.int64))
            keys = np.zeros(1, np.int64)
            if axes:
                keys, place = np.unique(place, return_inverse=True)
            parts = _powers(w, slots[-1] if of else None, place, len(keys), most)
            for key, *own in zip(keys.tolist(), *parts, strict=True):
                before = added.get(key, [0] * len(own))
                added[key] = [a + int(b) for a, b in zip(before, own, strict=True)]
        return flat.back(np.array(list(added), flat.kind)), list(added.values())


def _powers(
    w: Whole, ticks: Whole | None, place: NDArray[np.intp], size: int, most: int
) -> list[list[int]]:
    """Return for each place the weights, and the weights times powers of ticks, exactly."""
    parts = [_added(w, place, size)]
    if ticks is None:
        return parts
    if len(ticks) and ticks.min() < 0:
        there = ticks >= 0
        w, ticks, place = w[there], ticks[there], place[there]
    heaviest, highest = int(w.max(initial=0)) * len(w), int(ticks.max(initial=0))
    for power in range(most + 1):
        kind: Any = np.int64 if heaviest * highest**power < 1 << 62 else object
        parts.append(_added(w.astype(kind) * ticks.astype(kind) ** power, place, size))
    return parts


def _added(values: NDArray[Any], place: NDArray[np.intp], size: int) -> list[int]:
    if size == 1:
        return [int(values.sum())]
    sums = np.zeros(size, values.dtype)
    np.add.at(sums, place, values)
    return [int(v) for v in sums]
