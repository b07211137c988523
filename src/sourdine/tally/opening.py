"""Which engine holds the data."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.tally.column import Column
from sourdine.tally.engine import Engine, name_twice
from sourdine.tally.memory import UNNAMED, Memory
from sourdine.tally.reading import STANDARD
from sourdine.tally.types import declared_by_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.reading import Reading
    from sourdine.tally.types import Declared

__all__ = ["CSV", "LINES", "NAMELESS", "PARQUET", "is_path", "open_data"]

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
LINES = ".txt"
NAMELESS = (LINES, ".npy")
"""Files without names: their one column is called ``value``."""


def is_path(text: str) -> bool:
    """Return whether a text ends as the path of a file does that can be read."""
    return text.lower().endswith((*CSV, *PARQUET, *NAMELESS))


def open_data(data: object, reading: Reading = STANDARD) -> Engine:
    """Return the engine for some data."""
    if isinstance(data, Engine):
        return data
    if isinstance(data, (str, PathLike)):
        from sourdine.tally.files import open_file  # noqa: PLC0415

        return open_file(fspath(data), reading)
    engine = _of_memory(data)
    engine.reading = reading
    return engine


def _of_memory(data: object) -> Engine:
    if isinstance(data, np.ndarray):
        _require_one_dimension(data)
        types = {UNNAMED: declared_by_numpy(data.dtype)}
        return Memory({UNNAMED: lambda: Column.of_array(data)}, len(data), types=types)
    if isinstance(data, (list, tuple, range)):
        column, _ = _column(data)  # now: a list may grow
        return Memory({UNNAMED: lambda: column}, len(column))
    if isinstance(data, Mapping):
        return _of_dict(data)
    return _of_native(data)


def _column(values: Any) -> tuple[Column, Declared | None]:  # noqa: ANN401
    """Read one column, a sequence, an array or a series, and what its type says."""
    if isinstance(values, np.ndarray):
        _require_one_dimension(values)
        return Column.of_array(values), declared_by_numpy(values.dtype)
    if isinstance(values, (list, tuple, range)):
        _require_values(values)
        return Column.of(values), None
    engine = _of_native(values)
    if len(engine.columns) != 1:
        raise _no_data(values)
    (name,) = engine.columns
    return engine.column(name), engine.declared(name)


def _require_values(values: Sequence[Any]) -> None:
    """Refuse a list of rows, each itself a list or a dict: it has the shape of a table.

    One such element among others is a value like any other, and missing.
    """
    if values and all(isinstance(v, (list, tuple, Mapping, np.ndarray)) for v in values):
        raise ParameterError(
            "data",
            "be a list of single values, or a dict of columns",
            "a list of rows",
            'Pass one column, or a dict such as {"age": [31, 17]}; pandas.DataFrame(data) makes '
            "columns of rows.",
        )


def _require_one_dimension(values: NDArray[Any]) -> None:
    if values.ndim != 1:
        raise ParameterError(
            "data",
            "have one dimension",
            f"an array of {values.ndim}",
            "Pass one column, such as data[:, 0], or a dict of columns.",
        )


def _of_dict(data: Mapping[Any, Any]) -> Memory:
    read = {str(name): _column(values) for name, values in data.items()}
    columns = {name: column for name, (column, _) in read.items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or len(columns) != len(data):
        raise ParameterError(
            "data",
            "be columns of one length with different names",
            f"{len(data)} columns of {len(lengths)} lengths",
            "Give each column as many values as there are rows.",
        )
    readers = {name: _known(column) for name, column in columns.items()}
    return Memory(readers, lengths.pop(), types={name: own for name, (_, own) in read.items()})


def _known(column: Column) -> Callable[[], Column]:
    return lambda: column


def _of_native(data: object) -> Engine:
    if type(data).__module__.split(".")[0] in {"_duckdb", "duckdb"}:
        from sourdine.tally.duck import Duck  # noqa: PLC0415

        return Duck(data)
    if is_spark(data):
        from sourdine.tally.spark import Spark  # noqa: PLC0415

        return Spark(data)
    import narwhals as nw  # noqa: PLC0415
    from narwhals.exceptions import DuplicateError  # noqa: PLC0415

    try:
        frame: Any = nw.from_native(data, allow_series=True)
    except TypeError:
        return _of_batches(data)
    except DuplicateError:
        raise name_twice() from None
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        from sourdine.tally.batches import batches_of_dask  # noqa: PLC0415

        return batches_of_dask(data)
    if isinstance(frame, nw.LazyFrame):
        from sourdine.tally.lazy import LazyEngine  # noqa: PLC0415

        return LazyEngine(frame)
    from sourdine.tally.series import memory_of_frame, memory_of_series  # noqa: PLC0415

    return memory_of_series(frame) if isinstance(frame, nw.Series) else memory_of_frame(frame)


def is_spark(data: object) -> bool:
    """Return whether something is a data frame of Spark's, classic or Connect.

    Examples
    --------
    >>> is_spark([1, 2])
    False
    """
    kind = type(data)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"


def _of_batches(data: object) -> Engine:
    from sourdine.tally.batches import batches_of_dataset, is_dataset  # noqa: PLC0415

    return batches_of_dataset(data) if is_dataset(data) else _of_capsule(data)


def _of_capsule(data: object) -> Engine:
    from sourdine.tally.capsules import exports_arrow, open_capsule  # noqa: PLC0415

    if not exports_arrow(data):
        raise _no_data(data) from None
    return open_capsule(data)


def _no_data(data: object) -> ParameterTypeError:
    return ParameterTypeError(
        "data",
        "be a list, an array, a frame or a path",
        kind(data),
        "Pass a list, a NumPy array, a pandas, Polars, PyArrow, DuckDB or Spark frame, "
        "or the path of a CSV or Parquet file.",
    )
