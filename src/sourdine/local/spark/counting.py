"""Tallies of sanitised tables, of reports and of densities, from Spark frames."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.frames.cells import Ticks
from sourdine.frames.reading import STANDARD
from sourdine.frames.spark.dataframe import functions, in_large_batches, kind_of, require_usable
from sourdine.frames.spark.executors import mapped
from sourdine.local.reports.records import VERSION, Reason, Receipt, Records, read_lines
from sourdine.local.reports.sources import (
    MARK_KEY,
    VERSION_KEY,
    form_of,
    from_arrow,
    read,
    to_arrow,
)
from sourdine.local.spark.tasks import AnswerForAll, added, blocks, handed, one_row_each, settled
from sourdine.noise import SYSTEM
from sourdine.noise.source import KEY_BYTES
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.frames.reading import Reading
    from sourdine.local.densities.density import Density, DensityProtocol
    from sourdine.local.reports.aggregator import Aggregator
    from sourdine.local.reports.records import Form
    from sourdine.local.spark.tasks import Handed
    from sourdine.local.table.counting import TableTally
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


Read = tuple[Records, "Counter[Reason]"]


def count_table(total: TableTally, frame: Any) -> None:
    """Count a sanitised Spark frame, in one pass."""
    cells = list(zip(total.schema.columns, total.cells, strict=True))
    rows, how, _ = handed(frame, cells, STANDARD)
    with in_large_batches(frame.sparkSession):
        work = CountTable(type(total), total.schema, tuple(total.joint), how)
        added(rows, work, total.numbers)


def count_reports(total: Aggregator, frame: Any) -> Receipt:
    """Count a Spark frame of reports: each id once, unless nothing is to be remembered.

    One shuffle brings equal ids together. Of two different reports under one id the one that sorts
    first counts, whatever order they came in.
    """
    names, held = require_usable(frame), [field.dataType for field in frame.schema.fields]
    if [t.simpleString() == "binary" or kind_of(t) == "text" for t in held] != [True]:
        must = "be a single column of a Spark frame, of lines or of files"
        hint = (
            "Select it: spark.read.text(folder), or "
            "spark.read.format('binaryFile').load(folder).select('content')."
        )
        raise ParameterError("reports", must, ", ".join(names) or "no column", hint)
    files = kind_of(frame.schema.fields[0].dataType) != "text"
    line = functions(frame).col("line").cast("binary")
    rows = frame.toDF("line").select(line.alias("line"))
    reading = ReadReports(total.schema, files)
    first: ReadReports | None = reading
    if total.remember == "frame":
        own = mapped(rows, reading, reading.types)
        rows = own.repartition("id").sortWithinPartitions(*own.columns)
        first = None
    outcome = np.zeros(1 + len(Reason), np.int64)
    work = CountReports(type(total), total.schema, total.pairs, first)
    added(rows, work, [outcome, *total.numbers])
    accepted, *dropped = outcome.tolist()
    return Receipt(
        accepted=accepted, dropped={why: n for why, n in zip(Reason, dropped, strict=True) if n}
    )


def density_of_frame(
    rule: DensityProtocol, frame: Any, name: str, reading: Reading, source: Source
) -> Density:
    """Play everybody in a Spark frame, and the server.

    A task that runs again gives the same reports, so nobody answers twice.
    """
    placed = settled(frame, [(name, Ticks(name, rule.grid))], reading)
    work = AnswerForAll(rule, placed.how, source.bytes(KEY_BYTES))
    tally, _ = rule.tallied([], SYSTEM)
    people = np.zeros(1, np.int64)
    added(placed.rows, work, [people, tally])
    cost = rule.guarantee if source.private else Guarantee.none(LOCAL)
    return rule.estimate(tally, int(people[0]), cost=cost)


@dataclass(frozen=True)
class CountTable:
    """Counts a partition of a sanitised table, by an object of this ``kind``."""

    kind: type[TableTally]
    schema: Schema
    pairs: tuple[tuple[str, str], ...]
    how: Handed

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        total = self.kind(self.schema, self.pairs)
        for slots, _ in blocks(batches, self.how):
            total.add(slots)
        yield from one_row_each(total.numbers)


@dataclass(frozen=True)
class ReadReports:
    """Reads lines or whole files of reports into rows that can meet their replays."""

    schema: Schema | Form
    files: bool

    @property
    def types(self) -> str:
        """The columns of the rows: what `to_arrow` writes, why others were dropped, how many."""
        form = form_of(self.schema)
        asked = ["c bigint"] * form.sampled
        answers = [f"a{i} {'binary' if w else 'bigint'}" for i, w in enumerate(form.widths)]
        return ", ".join(["id binary", *asked, *answers, "why string", "n bigint"])

    def read(self, batches: Iterator[Any]) -> Iterator[Read]:
        """Yield records, and how many were dropped on the way and why."""
        form = form_of(self.schema)
        cells = chain.from_iterable(batch.column(0).to_pylist() for batch in batches)
        if not self.files:
            yield from read_lines(form, cells)
            return
        for cell in cells:
            if cell is None:
                yield Records.none(form), Counter({Reason.MALFORMED: 1})
            else:
                yield from read(form, cell)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the records that could have been drawn as rows, then one for each reason."""
        dropped: Counter[Reason] = Counter()
        for records, lost in self.read(batches):
            valid = records.valid()
            dropped.update(lost)
            dropped[Reason.DOMAIN] += int(np.count_nonzero(~valid))
            yield from _packed(records.keep(valid), Counter())
        yield from _packed(Records.none(form_of(self.schema)), dropped)


def _packed(records: Records, dropped: Counter[Reason]) -> Iterator[Any]:
    """Yield rows of Spark's types."""
    import pyarrow as pa

    table = to_arrow(records)
    whole = [pa.int64() if pa.types.is_integer(t) else pa.binary() for t in table.schema.types]
    arrays = [c.cast(t) for c, t in zip(table.columns, whole, strict=True)]
    names = [*table.column_names, "why", "n"]
    none = [pa.nulls(len(records), t) for t in (pa.string(), pa.int64())]
    yield from pa.Table.from_arrays([*arrays, *none], names=names).to_batches()
    if dropped:
        blank = [pa.nulls(len(dropped), t) for t in whole]
        why = [pa.array([r.name for r in dropped]), pa.array(dropped.values(), pa.int64())]
        yield from pa.Table.from_arrays([*blank, *why], names=names).to_batches()


@dataclass(frozen=True)
class CountReports:
    """Counts the reports of a partition, in which all copies of a record are.

    What counts is of this ``kind``; ``first`` reads cells, and is None if they come as rows,
    replays together.
    """

    kind: type[Aggregator]
    schema: Schema | Form
    pairs: tuple[tuple[str, str], ...]
    first: ReadReports | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what became of the reports, and the tallies."""
        remember = "ids" if self.first is None else "none"
        total = self.kind(self.schema, pairs=self.pairs, remember=remember)
        found = _unpacked(total.form, batches) if self.first is None else self.first.read(batches)
        lost: Counter[Reason] = Counter()
        for records, dropped in found:
            total.add(records)
            lost.update(dropped)
        lost.update(total.receipt.dropped)
        outcome = np.array([total.receipt.accepted, *(lost[why] for why in Reason)], np.int64)
        yield from one_row_each([outcome, *total.numbers])


def _unpacked(form: Form, batches: Iterator[Any]) -> Iterator[Read]:
    """Yield the records of rows, and what was dropped before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marks = {VERSION_KEY: str(VERSION), MARK_KEY: form.mark}
    for batch in batches:
        table = pa.Table.from_batches([batch])
        gone = table.filter(pc.is_valid(table["why"])).select(["why", "n"]).to_pydict()
        dropped: Counter[Reason] = Counter()
        for why, n in zip(gone["why"], gone["n"], strict=True):
            dropped[Reason[why]] += n
        rows = table.filter(pc.is_null(table["why"])).drop_columns(["why", "n"])
        records, lost = from_arrow(form, rows.replace_schema_metadata(marks))
        yield records, dropped + lost
