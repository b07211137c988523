"""So many rows of each person, chosen where the rows are.

Python adds two columns: the person's number, and bytes that put the rows in order, both those of
`sourdine.tally.keyed`. Spark's own window then counts and numbers the rows of a person, and keeps
on disk what memory does not hold, also of one person who owns nearly all. Its windows count in 32
bits what they keep, so that nobody may own 2**31 rows. The key is part of the function that is sent
to the executors: it stands in no plan and in no log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sourdine.tally.keyed import MOST, NARROW, chosen, sort_key, start
from sourdine.tally.opening import open_data
from sourdine.tally.spark.cells import TIMES
from sourdine.tally.spark.environment import mapped
from sourdine.tally.spark.executors import tables
from sourdine.tally.spark.frames import windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.tally.spark.cells import Expressions

__all__ = ["Place", "bounded", "plain", "sortable"]


def bounded(  # noqa: PLR0913, PLR0917
    frame: Any,  # noqa: ANN401
    e: Expressions,
    kinds: Mapping[str, str],
    unit: str,
    rows: int,
    key: bytes,
) -> Any:  # noqa: ANN401
    """Return the rows that each person keeps.

    Parameters
    ----------
    frame
        The rows.
    e
        What makes columns of it.
    kinds
        The kind of each column, by its name in the frame.
    unit
        The column that names the person.
    rows
        How many rows each may keep.
    key
        The secret.
    """
    f, rows = e.functions, min(rows, MOST)
    read = plain(frame, e, kinds)
    types = type(read.schema)(list(read.schema.fields)).add("number", "long").add("order", "binary")
    placed = mapped(read, Place(unit, key), types)
    own = windows(frame).partitionBy(sortable(e, f.col(unit), kinds[unit])).orderBy("order")
    first, last = windows(frame).unboundedPreceding, windows(frame).unboundedFollowing
    one = f.count(f.lit(1))  # the number of a row would have 32 bits
    owned, number = one.over(own.rowsBetween(first, last)), f.col("number")
    counted = placed.withColumns({"owned": owned, "place": one.over(own.rowsBetween(first, 0))})
    place = (f.col("place") - e.whole(1)).cast("bigint" if rows < NARROW else "decimal(38,0)")
    stays = chosen(place, f.col("owned"), number, e.whole(rows))
    few = f.col("owned") <= e.whole(rows)
    return counted.filter(f.when(few, f.lit(True)).otherwise(stays)).select(*read.columns)  # noqa: FBT003


def plain(frame: Any, e: Expressions, kinds: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return the columns as Python takes them by Arrow."""
    return frame.select(*(e.plain(name, kind).alias(name) for name, kind in kinds.items()))


def sortable(e: Expressions, c: Any, kind: str) -> Any:  # noqa: ANN401
    """Return what is equal for values with the same text, and only for those."""
    f = e.functions
    if kind in TIMES:
        return e.text(c, kind)
    if kind == "listed":
        return c.cast("string")
    if kind == "float":  # -0.0 reads as 0, and NaN as nothing
        return f.when(~f.isnan(c), c.cast("double") + f.lit(0.0))
    return f.nullif(c, f.lit("")) if kind == "text" else c


@dataclass(frozen=True)
class Place:
    """Adds to rows the number of their person, and bytes in their order.

    Parameters
    ----------
    unit
        The column that names the person.
    key
        The secret; it is not shown.
    """

    unit: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with two columns more."""
        import pyarrow as pa  # noqa: PLC0415

        for table in tables(batches):
            engine = open_data(table)
            names = engine.column(self.unit).texts.tolist()
            number = {name: start(self.key, name) for name in set(names)}
            keys = []
            for name in table.column_names:
                texts = engine.column(name).texts.tolist()
                known = {text: sort_key(text) for text in set(texts)}
                keys.append([known[text] for text in texts])
            numbers = pa.array([number[name] for name in names], pa.int64())
            order = pa.array([b"".join(key) for key in zip(*keys, strict=True)], pa.binary())
            wider = table.append_column("number", numbers).append_column("order", order)
            yield from wider.to_batches()
