"""A sanitised table back to tallies: all that estimates need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.frames.frame import Frame, is_spark
from sourdine.local.reports.aggregator import joint_tally, read_pairs
from sourdine.local.table.blocks import ROWS, matched
from sourdine.local.table.estimates import Estimates
from sourdine.local.table.schema_files import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell
    from sourdine.local.table.schema import Schema


def counted(
    schema: Schema, clean: object, *, pairs: Sequence[tuple[str, str]], unmarked: bool
) -> Estimates:
    """Count a sanitised table; the parameters are those of `sourdine.local.estimate`."""
    data = Frame(clean)
    check(schema, clean, unmarked=unmarked)
    sampled = schema.method == "sample"
    total = TableTally(schema, read_pairs(pairs, list(schema.columns), sampled=sampled))
    frame = matched(schema, data, drop=None)
    if is_spark(clean):
        from sourdine.local.spark.counting import count_table

        count_table(total, clean)
    else:
        for slots in frame.codes(*total.cells, chunk=ROWS):
            total.add(slots)
    return total.estimates()


class TableTally:
    """Tallies of the columns of a table that a schema sanitised, and of pairs, block by block."""

    def __init__(self, schema: Schema, pairs: Sequence[tuple[str, str]]) -> None:
        self.schema = schema
        self._parts = parts = schema.parts()
        sizes = {name: part.mechanism.cells for name, part in parts.items()}
        self.tallies = {name: np.zeros(n, np.int64) for name, n in sizes.items()}
        self.joint = {(a, b): np.zeros((sizes[a], sizes[b]), np.int64) for a, b in pairs}
        self.counts = np.zeros(len(parts), np.int64)
        self.dropped = np.zeros(len(parts), np.int64)
        self.unanswered = np.zeros(1, np.int64)

    @property
    def cells(self) -> list[Cell]:
        return [part.written_cell for part in self._parts.values()]

    @property
    def numbers(self) -> list[NDArray[np.int64]]:
        """All that is counted, to be added to."""
        several = [*self.tallies.values(), *self.joint.values()]
        return [*several, self.counts, self.dropped, self.unanswered]

    def add(self, slots: Sequence[NDArray[np.int64]]) -> None:
        """Count a block of rows."""
        parts, sampled = self._parts, self.schema.method == "sample"
        read = zip(parts.items(), slots, strict=True)
        codes = {name: part.read_back(column) for (name, part), column in read}
        if sampled:
            answers = sum((c >= 0).astype(np.int64) for c in codes.values())
            self.unanswered += np.count_nonzero(answers == 0)
        for i, (name, part) in enumerate(parts.items()):
            there = codes[name] >= 0
            lost = ~there
            if sampled:
                there, lost = there & (answers == 1), there & (answers > 1)
            self.tallies[name] += part.mechanism.tally(codes[name][there])
            self.counts[i] += np.count_nonzero(there)
            self.dropped[i] += np.count_nonzero(lost)
        for a, b in self.joint:
            both = (codes[a] >= 0) & (codes[b] >= 0)
            one, other = parts[a].mechanism, parts[b].mechanism
            self.joint[a, b] += joint_tally(one, codes[a][both], other, codes[b][both])

    def estimates(self) -> Estimates:
        left = int(self.unanswered[0])
        note = f"{left} people with no answer that this schema could have written were left out."
        counts, dropped = (
            dict(zip(self._parts, each.tolist(), strict=True))
            for each in (self.counts, self.dropped)
        )
        return Estimates(
            schema=self.schema, use="table", tallies=self.tallies, joint=self.joint,
            counts=counts, dropped=dropped, notes=(note,) if left else (),
        )  # fmt: skip
