"""What Spark tasks do: pack numbers, place rows, draw reports, add up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.frames.memory import memory_of_arrow
from sourdine.frames.spark.cells import Expressions
from sourdine.frames.spark.dataframe import functions, guarded, in_full, kind_of
from sourdine.frames.spark.engine import sortable
from sourdine.frames.spark.executors import mapped
from sourdine.local.table.blocks import ROWS, excluding, shown_block
from sourdine.noise.source import derived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell
    from sourdine.frames.reading import Reading
    from sourdine.local.densities.density import DensityProtocol
    from sourdine.local.spark.sanitizing import Reported
    from sourdine.local.table.schema import Schema
    from sourdine.noise.source import KeyedSource

    Whole = NDArray[np.int64]
    Slots = Sequence[NDArray[np.int64]]


# ---- Several whole numbers in one, so that rows pass between Spark and Python in few columns -----
#
# Spark hands rows to Python, and takes them back, value by value: of nine columns that takes
# several times as long as everything else. Slots and reports are small numbers, of which a word of
# 63 bits holds many.


WORD = 63
"""How many bits of a word are used: its sign is not."""
AT_ONCE = 16
"""The most columns whose expressions form a method that Java compiles. With many more Java never
does, which is slower than handing over what the columns hold."""


@dataclass(frozen=True)
class Packing:
    """Where each of some numbers stands, as the number after it, in as many bits as it needs.

    Each number is -1, for what is missing, or one below its size, which is below 2**63.

    Examples
    --------
    >>> packing = Packing((1000, 2**60, 2))
    >>> packing.fields
    [(0, 0, 10), (1, 0, 61), (1, 61, 2)]
    >>> packing.unpacked(packing.packed([np.array([-1, 999]), np.array([5, -1]), np.array([0, 1])]))
    [array([ -1, 999]), array([ 5, -1]), array([0, 1])]
    """

    sizes: tuple[int, ...]

    @cached_property
    def fields(self) -> list[tuple[int, int, int]]:
        """The word of each number, where it begins there, and how many bits it has."""
        found, word, start = [], 0, 0
        for size in self.sizes:
            bits = size.bit_length()
            if start + bits > WORD:
                word, start = word + 1, 0
            found.append((word, start, bits))
            start += bits
        return found

    @property
    def words(self) -> list[str]:
        return [f"w{i}" for i in range(1 + self.fields[-1][0])] if self.fields else []

    def packed(self, numbers: Sequence[Whole]) -> list[Whole]:
        words = [np.zeros(len(numbers[0]), np.int64) for _ in self.words]
        for (word, start, _), own in zip(self.fields, numbers, strict=True):
            words[word] |= (own + 1) << start
        return words

    def unpacked(self, words: Sequence[Whole]) -> list[Whole]:
        return [((words[w] >> start) & ((1 << bits) - 1)) - 1 for w, start, bits in self.fields]

    def packed_there(self, e: Expressions, numbers: Sequence[Any]) -> list[Any]:
        parts: list[list[Any]] = [[] for _ in self.words]
        for (word, start, _), own in zip(self.fields, numbers, strict=True):
            parts[word].append(e.functions.shiftleft(own + e.whole(1), start))
        return [reduce(lambda a, b: a.bitwiseOR(b), own) for own in parts]

    def unpacked_there(self, e: Expressions) -> list[Any]:
        """Return the numbers as expressions of the words."""
        f = e.functions
        return [
            f.shiftright(f.col(f"w{word}"), start).bitwiseAND(e.whole((1 << bits) - 1)) - e.whole(1)
            for word, start, bits in self.fields
        ]


# ---- Whole numbers of all tasks, added up by Spark: only sums come to the driver -----------------


_TYPES = "place bigint, n bigint"
_ROWS = 1 << 16


def one_row_each(numbers: Sequence[Whole]) -> Iterator[Any]:
    """Yield what a task found, for `added`: a row for each number that is not 0.

    The first partition says the zeros too: how much comes to the driver then depends on how many
    numbers there are, and on nothing else.
    """
    import pyarrow as pa
    from pyspark import TaskContext

    whole = np.concatenate([np.ravel(part) for part in numbers])
    first = TaskContext.get().partitionId() == 0
    places = np.arange(whole.size) if first else np.flatnonzero(whole)
    for start in range(0, places.size, _ROWS):
        some = places[start : start + _ROWS]
        columns = [pa.array(some, pa.int64()), pa.array(whole[some], pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["place", "n"])


def added(
    rows: Any, work: Callable[[Iterator[Any]], Iterator[Any]], numbers: Sequence[Whole]
) -> None:
    """Let every task count, and add up what they yield: `one_row_each` of arrays like ``numbers``.

    The sums are added to ``numbers``.
    """
    f = functions(rows)
    sums = mapped(rows, work, _TYPES).groupBy("place").agg(f.sum("n").alias("n"))
    whole = np.zeros(sum(part.size for part in numbers), np.int64)
    for row in guarded(lambda: _rows(sums)):
        whole[row["place"]] = row["n"]
    start = 0
    for part in numbers:
        part[...] += whole[start : start + part.size].reshape(part.shape)
        start += part.size


def _rows(sums: Any) -> Any:
    """Return the rows of a frame.

    In classic Spark Arrow's have a size that depends on their number alone, while others are
    compressed. Connect sends Arrow's anyway; its `toArrow` asks twice, and a server that logs at
    DEBUG writes down what it is asked again, functions included.
    """
    return sums.toArrow().to_pylist() if hasattr(sums, "_jdf") else sums.collect()


# ---- Rows as Python takes them, in the same order each time they are read ------------------------


_STILL = {
    *("FileScan", "Range", "LocalTableScan", "Project", "Filter", "Union", "ColumnarToRow"),
    "AdaptiveSparkPlan",
}
"""What reads, keeps and computes rows one by one, in one order."""
_NODE = re.compile(r"[\s:+\-*]*(?:\(\d+\) )?(\w+)")


@dataclass(frozen=True)
class Handed:
    """How some cells of rows come to Python: as slots that Spark found, or as what they hold.

    The slots of the cells that were ``found`` are packed, in this order. The columns of the others
    are called c and a number.
    """

    cells: tuple[Cell, ...]
    found: tuple[int, ...]
    reading: Reading

    @cached_property
    def packing(self) -> Packing:
        """Where the slots stand that Spark found."""
        return Packing(tuple(self.cells[i].size for i in self.found))

    def slots(self, table: Any) -> tuple[list[Whole], list[Whole]]:
        """Return the slots of all cells, of a table of rows that were handed over.

        With them comes what tells them all: the words that hold some, and the others. Different
        slots have different words: each slot has bits of its own.
        """
        words = [table.column(word).to_numpy() for word in self.packing.words]
        found = dict(zip(self.found, self.packing.unpacked(words), strict=True))
        engine = memory_of_arrow(table, self.reading)
        others = {
            i: np.asarray(cell.slots(engine.column(f"c{i}")), np.int64)
            for i, cell in enumerate(self.cells)
            if i not in found
        }
        every = found | others
        return [every[i] for i in range(len(every))], [*words, *others.values()]


def handed(
    frame: Any, cells: Sequence[tuple[str, Cell]], reading: Reading
) -> tuple[Any, Handed, list[Any]]:
    """Return what Python needs of rows, how it reads that, and what sorts rows by their slots.

    Spark finds the slots that its expressions can (`sourdine.frames.spark.cells`), of the first
    columns; Python reads the others.
    """
    e = Expressions(functions(frame))
    renamed = frame.toDF(*(f"x{i}" for i in range(len(frame.columns))))
    slots: dict[int, Any] = {}
    columns, order = [], []
    for i, (name, cell) in enumerate(cells):
        field = frame.columns.index(name)
        own = kind_of(frame.schema.fields[field].dataType)
        fits = len(slots) < AT_ONCE and cell.size.bit_length() <= WORD
        key = e.key(cell, f"x{field}", own) if fits else None
        if key is not None and key.direct:
            slots[i] = key.expression
        else:
            columns.append(e.plain(f"x{field}", own).alias(f"c{i}"))
            order.append(sortable(e, e.functions.col(f"c{i}"), own))
    how = Handed(tuple(cell for _, cell in cells), tuple(slots), reading)
    words = how.packing.packed_there(e, list(slots.values()))
    columns += [c.alias(name) for c, name in zip(words, how.packing.words, strict=True)]
    return renamed.select(*columns), how, [*how.packing.words, *order]


@dataclass(frozen=True)
class Settled:
    """Rows that come to Python in the same order each time they are read.

    If they were sorted they are mixed: they then stand where they do for what they hold, and what
    is drawn from them must be placed anew. Computed rows are those of which Python computed
    formulas.
    """

    rows: Any
    how: Handed
    mixed: bool
    computed: bool = False

    @property
    def narrow(self) -> bool:
        """Whether nothing is handed to Python but some numbers a row, by this frame or below."""
        plain = not self.mixed and not self.computed
        return plain and len(self.how.found) == len(self.how.cells)


def settled(
    frame: Any, cells: Sequence[tuple[str, Cell]], reading: Reading, computed: Any = None
) -> Settled:
    """Return `handed` rows in one order; rows with the same slots are the same to whoever draws.

    ``computed`` holds the same rows in the same order with further columns, if cells are of these.
    """
    formulas = computed is not None
    rows, how, order = handed(computed if formulas else frame, cells, reading)
    mixed = not is_ordered(frame)
    placed = rows.sortWithinPartitions(*order) if mixed else rows
    return Settled(placed, how, mixed, formulas)


def is_ordered(frame: Any) -> bool:
    """Return whether a task that runs again sees its rows in the same order, for certain.

    After a shuffle rows stand in the order in which they arrived; a database may give them in any.
    """

    def physical() -> str:
        """Return the plan that Spark would run, in full."""
        with in_full(frame.sparkSession):
            if hasattr(frame, "_jdf"):
                return str(frame._jdf.queryExecution().executedPlan().toString())  # noqa: SLF001
            _, _, plan = frame._explain_string().partition("== Physical Plan ==")  # noqa: SLF001
            return str(plan)

    return _still(guarded(physical))


def _still(plan: str) -> bool:
    """Return whether nothing in a plan changes the order of rows."""
    lines = [line for line in plan.splitlines() if line.strip()]
    found = [_NODE.match(line) for line in lines]
    return bool(lines) and all(node is not None and node[1] in _STILL for node in found)


# ---- What executors do with records: they cut them into blocks and draw the bytes of each --------


def cut(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield the rows as tables of ``rows``, the last with what is left.

    Where they are cut depends on their number alone, not on the batches they came in.
    """
    import pyarrow as pa

    held: list[Any] = []
    room = rows
    for batch in batches:
        rest = batch
        while rest.num_rows >= room:
            held.append(rest.slice(0, room))
            rest = rest.slice(room)
            yield pa.Table.from_batches(held).combine_chunks()
            held, room = [], rows
        if rest.num_rows:
            held.append(rest)
            room -= rest.num_rows
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def blocks(batches: Iterator[Any], how: Handed) -> Iterator[tuple[Slots, Slots]]:
    """Yield the slots of a partition's rows, block by block, as one machine reads them.

    With them comes what tells them all, in as few numbers as they were handed over in.
    """
    yield from map(how.slots, cut(batches, ROWS))


def drawn_blocks(
    batches: Iterator[Any], how: Handed, key: bytes
) -> Iterator[tuple[Slots, KeyedSource]]:
    """Yield the slots of a partition's rows, block by block, and the bytes of each block."""
    from pyspark import TaskContext

    partition = int(TaskContext.get().partitionId())
    for number, (slots, told) in enumerate(blocks(batches, how)):
        yield slots, block_source(key, partition, number, told)


def block_source(key: bytes, partition: int, block: int, told: Slots) -> KeyedSource:
    """Return the bytes of a block: they follow from the key and from all that stands in it."""
    where = [b"%d" % partition, b"%d" % block]
    return derived(key, [*where, *(np.ascontiguousarray(s, "<i8").data for s in told)])


@dataclass(frozen=True)
class Randomise:
    """Randomises the records of a partition, for a table.

    The key is the secret of this call, and not shown. If rows were mixed, each report gets a random
    number, the last column, by which it is placed.
    """

    schema: Schema
    how: Handed
    written: Reported
    key: bytes = field(repr=False)
    mixed: bool = False

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the reports, as numbers that Spark turns into what the table shows."""
        import pyarrow as pa

        for slots, source in drawn_blocks(batches, self.how, self.key):
            columns = self.written.columns(self.reports(slots, source))
            if self.mixed:
                columns["place"] = np.frombuffer(source.bytes(8 * len(slots[0])), "<i8")
            arrays = [pa.array(column) for column in columns.values()]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def reports(self, slots: Slots, source: KeyedSource) -> list[NDArray[np.int64]]:
        """Return the reports of a block, column by column."""
        told = excluding(slots, len(self.schema.columns))
        return shown_block(self.schema, self.schema.parts(), told, source)


@dataclass(frozen=True)
class AnswerForAll:
    """Plays the people of a partition: everybody's value becomes a report, which is added up.

    The key is the secret of this call, and not shown.
    """

    rule: DensityProtocol
    how: Handed
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield how many people there are, and the tally of their reports."""
        total: Any = 0
        people = 0
        for slots, source in drawn_blocks(batches, self.how, self.key):
            tally, n = self.rule.tallied(slots, source)
            total, people = total + tally, people + n
        if people:
            yield from one_row_each([np.array([people]), total])
