"""What executors do with records: they cut them into blocks and draw the bytes of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.spark.adding import one_row_each
from sourdine.local.table.sanitizing.blocks import ROWS, shown_block
from sourdine.local.table.sanitizing.outputs import arrow
from sourdine.noise.keyed import derived
from sourdine.tally.opening import open_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.densities.protocol import DensityProtocol
    from sourdine.local.table.schema import Schema
    from sourdine.noise.keyed import KeyedSource
    from sourdine.tally import Reading
    from sourdine.tally.cells import Cell

    Slots = Sequence[NDArray[np.int64]]

__all__ = ["AnswerForAll", "Randomise", "block_source", "blocks", "cut"]


def cut(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield the rows as tables of ``rows``, the last with what is left.

    Where they are cut depends on their number alone, not on the batches they came in.
    """
    import pyarrow as pa  # noqa: PLC0415

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


def blocks(
    batches: Iterator[Any],
    names: Sequence[str],
    cells: Sequence[tuple[str, Cell]],
    reading: Reading,
) -> Iterator[Slots]:
    """Yield the slots of a partition's rows, block by block, read as on one machine.

    Parameters
    ----------
    batches
        What Spark hands over.
    names
        The names of its columns.
    cells
        The columns that are wanted, and how they are read.
    reading
        How text is read.
    """
    for table in cut(batches, ROWS):
        engine = open_data(table.rename_columns(list(names)), reading)
        yield from engine.slots(cells, ROWS)


def block_source(key: bytes, partition: int, block: int, slots: Slots) -> KeyedSource:
    """Return the bytes of a block: they follow from the key and from all that stands in it."""
    told = [b"%d" % partition, b"%d" % block]
    return derived(key, [*told, *(np.ascontiguousarray(s, "<i8").data for s in slots)])


def _partition() -> int:
    """Return which partition this task is for."""
    from pyspark import TaskContext  # noqa: PLC0415

    return int(TaskContext.get().partitionId())


@dataclass(frozen=True)
class Randomise:
    """Randomises the records of a partition, for a table.

    Parameters
    ----------
    schema
        What a record may cost.
    names
        The columns, in the order of the frame.
    reading
        How text is read.
    key
        The secret of this call; it is not shown.
    mixed
        Whether each report gets a random number, the last column, by which it is placed.
    """

    schema: Schema
    names: tuple[str, ...]
    reading: Reading
    key: bytes = field(repr=False)
    mixed: bool = False

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the reports as the table shows them."""
        import pyarrow as pa  # noqa: PLC0415

        parts = self.schema.parts()
        sampled, partition = self.schema.method == "sample", _partition()
        cells = [(name, part.cell) for name, part in parts.items()]
        titles = [f"c{i}" for i in range(len(self.names))] + ["place"] * self.mixed
        for number, slots in enumerate(blocks(batches, self.names, cells, self.reading)):
            source = block_source(self.key, partition, number, slots)
            shown = dict(zip(parts, shown_block(self.schema, parts, slots, source), strict=True))
            columns = [
                arrow(parts[n].written, shown[n], sampled or parts[n].column.blank)
                for n in self.names
            ]
            if self.mixed:
                columns.append(pa.array(np.frombuffer(source.bytes(8 * len(slots[0])), "<i8")))
            yield pa.RecordBatch.from_arrays(columns, names=titles)


@dataclass(frozen=True)
class AnswerForAll:
    """Plays the people of a partition: everybody's value becomes a report, which is added up.

    Parameters
    ----------
    rule
        The protocol.
    cell
        The column, and the lattice of its values.
    reading
        How text is read.
    key
        The secret of this call; it is not shown.
    """

    rule: DensityProtocol
    cell: Cell
    reading: Reading
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield how many people there are, and the tally of their reports."""
        name, partition = str(self.cell.column), _partition()
        total: Any = 0
        people = 0
        for number, slots in enumerate(blocks(batches, [name], [(name, self.cell)], self.reading)):
            source = block_source(self.key, partition, number, slots)
            tally, n = self.rule.tallied(slots, source)
            total, people = total + tally, people + n
        if people:
            yield from one_row_each([np.array([people]), total])
