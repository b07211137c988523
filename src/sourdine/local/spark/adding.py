"""Whole numbers of all tasks, added up by Spark: only sums come to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.spark.environment import mapped
from sourdine.tally.spark.frames import functions, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

__all__ = ["added", "one_row_each"]

_TYPES = "place bigint, n bigint"
_ROWS = 1 << 16


def one_row_each(numbers: Sequence[Whole]) -> Iterator[Any]:
    """Yield what a task found, for `added`: a row for each number that is not 0.

    The first partition says the zeros too: how much comes to the driver then depends on how many
    numbers there are, and on nothing else.
    """
    import pyarrow as pa  # noqa: PLC0415
    from pyspark import TaskContext  # noqa: PLC0415

    whole = np.concatenate([np.ravel(part) for part in numbers])
    first = TaskContext.get().partitionId() == 0
    places = np.arange(whole.size) if first else np.flatnonzero(whole)
    for start in range(0, places.size, _ROWS):
        some = places[start : start + _ROWS]
        columns = [pa.array(some, pa.int64()), pa.array(whole[some], pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, names=["place", "n"])


def added(
    rows: Any,  # noqa: ANN401
    work: Callable[[Iterator[Any]], Iterator[Any]],
    numbers: Sequence[Whole],
) -> None:
    """Let every task count, and add up what they yield.

    Parameters
    ----------
    rows
        A data frame of Spark's.
    work
        What a task does; it yields `one_row_each` of arrays like ``numbers``.
    numbers
        Where the sums are put.
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


def _rows(sums: Any) -> Any:  # noqa: ANN401
    """Return the rows of a frame.

    In classic Spark Arrow's have a size that depends on their number alone, while others are
    compressed. Connect sends Arrow's anyway; its `toArrow` asks twice, and a server that logs at
    DEBUG writes down what it is asked again, functions included.
    """
    return sums.toArrow().to_pylist() if hasattr(sums, "_jdf") else sums.collect()
