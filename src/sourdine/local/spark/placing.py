"""Rows as Python takes them, in the same order each time they are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.spark.packing import AT_ONCE, WORD, Packing
from sourdine.tally.opening import open_data
from sourdine.tally.spark.bounding import sortable
from sourdine.tally.spark.cells import Expressions
from sourdine.tally.spark.frames import functions, guarded, in_full, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.tally import Reading
    from sourdine.tally.cells import Cell

    Whole = NDArray[np.int64]

__all__ = ["Handed", "Settled", "handed", "is_ordered", "settled"]

_STILL = {
    *("FileScan", "Range", "LocalTableScan", "Project", "Filter", "Union", "ColumnarToRow"),
    "AdaptiveSparkPlan",
}
"""What reads, keeps and computes rows one by one, in one order."""
_NODE = re.compile(r"[\s:+\-*]*(?:\(\d+\) )?(\w+)")


@dataclass(frozen=True)
class Handed:
    """How some cells of rows come to Python: as slots that Spark found, or as what they hold.

    Parameters
    ----------
    cells
        How they are read.
    found
        Which of them Spark found; their slots are packed, in this order.
    reading
        How text is read, of those that Python reads. Their columns are called c and a number.
    """

    cells: tuple[Cell, ...]
    found: tuple[int, ...]
    reading: Reading

    @cached_property
    def packing(self) -> Packing:
        """Where the slots stand that Spark found."""
        return Packing(tuple(self.cells[i].size for i in self.found))

    def slots(self, table: Any) -> list[Whole]:  # noqa: ANN401
        """Return the slots of all cells, of a table of rows that were handed over."""
        found = dict(zip(self.found, self.packing.unpacked(self._words(table)), strict=True))
        engine = open_data(table, self.reading)
        return [
            found[i] if i in found else np.asarray(cell.slots(engine.column(f"c{i}")), np.int64)
            for i, cell in enumerate(self.cells)
        ]

    def told(self, table: Any, slots: Sequence[Whole]) -> list[Whole]:  # noqa: ANN401
        """Return what tells all slots: the words that hold some, and the others.

        Different slots have different words: each slot has bits of its own.
        """
        others = [own for i, own in enumerate(slots) if i not in self.found]
        return [*self._words(table), *others]

    def _words(self, table: Any) -> list[Whole]:  # noqa: ANN401
        return [table.column(word).to_numpy() for word in self.packing.words]


def handed(
    frame: Any,  # noqa: ANN401
    cells: Sequence[tuple[str, Cell]],
    reading: Reading,
) -> tuple[Any, Handed, list[Any]]:
    """Return what Python needs of rows, how it reads that, and what sorts rows by their slots.

    Spark finds the slots that its expressions can (`sourdine.tally.spark.cells`), of the first
    columns; Python reads the others.

    Parameters
    ----------
    frame
        A data frame of Spark's.
    cells
        Its columns, and how they are read.
    reading
        How text is read.
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

    Parameters
    ----------
    rows
        A data frame of Spark's, with the columns that Python takes.
    how
        How it reads them.
    mixed
        Whether they were sorted. They then stand where they do for what they hold: what is drawn
        from them must be placed anew.
    """

    rows: Any
    how: Handed
    mixed: bool

    @property
    def narrow(self) -> bool:
        """Whether nothing is handed to Python but some numbers a row, by this frame or below."""
        return not self.mixed and len(self.how.found) == len(self.how.cells)


def settled(
    frame: Any,  # noqa: ANN401
    cells: Sequence[tuple[str, Cell]],
    reading: Reading,
) -> Settled:
    """Return `handed` rows in one order; rows with the same slots are the same to whoever draws."""
    rows, how, order = handed(frame, cells, reading)
    if is_ordered(frame):
        return Settled(rows, how, mixed=False)
    return Settled(rows.sortWithinPartitions(*order), how, mixed=True)


def is_ordered(frame: Any) -> bool:  # noqa: ANN401
    """Return whether a task that runs again sees its rows in the same order, for certain.

    After a shuffle rows stand in the order in which they arrived; a database may give them in any.
    """
    return _still(guarded(lambda: _physical(frame)))


def _physical(frame: Any) -> str:  # noqa: ANN401
    """Return the plan that Spark would run, in full."""
    with in_full(frame.sparkSession):
        if hasattr(frame, "_jdf"):
            return str(frame._jdf.queryExecution().executedPlan().toString())  # noqa: SLF001
        _, _, plan = frame._explain_string().partition("== Physical Plan ==")  # noqa: SLF001
        return str(plan)


def _still(plan: str) -> bool:
    r"""Return whether nothing in a plan changes the order of rows.

    Examples
    --------
    >>> _still("*(1) Project [a#1 AS b#2]\n+- *(1) ColumnarToRow\n   +- FileScan parquet [a#1]")
    True
    >>> _still("Exchange hashpartitioning(a#1, 4)\n+- FileScan parquet [a#1]")
    False
    """
    lines = [line for line in plan.splitlines() if line.strip()]
    found = [_NODE.match(line) for line in lines]
    return bool(lines) and all(node is not None and node[1] in _STILL for node in found)
