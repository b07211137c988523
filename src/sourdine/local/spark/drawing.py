"""What executors do with records: they cut them into blocks and draw the bytes of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.spark.adding import one_row_each
from sourdine.local.table.sanitizing.blocks import ROWS, shown_block
from sourdine.noise.keyed import derived

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.densities.protocol import DensityProtocol
    from sourdine.local.spark.placing import Handed
    from sourdine.local.spark.reported import Reported
    from sourdine.local.table.schema import Schema
    from sourdine.noise.keyed import KeyedSource

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


def blocks(batches: Iterator[Any], how: Handed) -> Iterator[tuple[Slots, Slots]]:
    """Yield the slots of a partition's rows, block by block, as one machine reads them.

    With them comes what tells them all, in as few numbers as they were handed over in.

    Parameters
    ----------
    batches
        What Spark hands over.
    how
        How it comes.
    """
    for table in cut(batches, ROWS):
        slots = how.slots(table)
        yield slots, how.told(table, slots)


def block_source(key: bytes, partition: int, block: int, told: Slots) -> KeyedSource:
    """Return the bytes of a block: they follow from the key and from all that stands in it."""
    where = [b"%d" % partition, b"%d" % block]
    return derived(key, [*where, *(np.ascontiguousarray(s, "<i8").data for s in told)])


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
    how
        How the columns of the schema come.
    written
        How their reports leave.
    key
        The secret of this call; it is not shown.
    mixed
        Whether each report gets a random number, the last column, by which it is placed.
    """

    schema: Schema
    how: Handed
    written: Reported
    key: bytes = field(repr=False)
    mixed: bool = False

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the reports, as numbers that Spark turns into what the table shows."""
        import pyarrow as pa  # noqa: PLC0415

        partition = _partition()
        for number, (slots, told) in enumerate(blocks(batches, self.how)):
            source = block_source(self.key, partition, number, told)
            columns = self.written.columns(self.reports(slots, source))
            if self.mixed:
                columns["place"] = np.frombuffer(source.bytes(8 * len(slots[0])), "<i8")
            arrays = [pa.array(column) for column in columns.values()]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def reports(self, slots: Slots, source: KeyedSource) -> list[NDArray[np.int64]]:
        """Return the reports of a block, column by column."""
        return shown_block(self.schema, self.schema.parts(), slots, source)


@dataclass(frozen=True)
class AnswerForAll:
    """Plays the people of a partition: everybody's value becomes a report, which is added up.

    Parameters
    ----------
    rule
        The protocol.
    how
        How the values come.
    key
        The secret of this call; it is not shown.
    """

    rule: DensityProtocol
    how: Handed
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield how many people there are, and the tally of their reports."""
        partition = _partition()
        total: Any = 0
        people = 0
        for number, (slots, told) in enumerate(blocks(batches, self.how)):
            source = block_source(self.key, partition, number, told)
            tally, n = self.rule.tallied(slots, source)
            total, people = total + tally, people + n
        if people:
            yield from one_row_each([np.array([people]), total])
