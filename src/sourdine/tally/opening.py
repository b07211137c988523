"""Which engine holds the data."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.tally.column import Column
from sourdine.tally.engine import Engine
from sourdine.tally.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["open_data"]

UNNAMED = "value"


def open_data(data: object) -> Engine:
    """Return the engine for some data."""
    if isinstance(data, Engine):
        return data
    if isinstance(data, (str, PathLike)):
        from sourdine.tally.files import open_file  # noqa: PLC0415

        return open_file(fspath(data))
    if isinstance(data, (list, tuple, range, np.ndarray)):
        column = _column(data)
        return Memory({UNNAMED: lambda: column}, len(column))
    if isinstance(data, Mapping):
        return _of_dict(data)
    return _of_native(data)


def _column(values: Any) -> Column:  # noqa: ANN401
    """Read one column: a sequence, an array or a series."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ParameterError(
                f"data must have one dimension, got an array of {values.ndim}. "
                f"Pass one column, as data[:, 0], or a dict of columns."
            )
        return Column.of_array(values)
    if isinstance(values, (list, tuple, range)):
        return Column.of(values)
    from sourdine.tally.lazy import column_of_series, narwhal  # noqa: PLC0415

    return column_of_series(narwhal(values, series=True))


def _of_dict(data: Mapping[Any, Any]) -> Memory:
    columns = {str(name): _column(values) for name, values in data.items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or len(columns) != len(data):
        raise ParameterError(
            f"data must be columns of one length with different names, got {len(data)} columns "
            f"of {len(lengths)} lengths. Give each column as many values as there are rows."
        )
    return Memory({name: _known(column) for name, column in columns.items()}, lengths.pop())


def _known(column: Column) -> Callable[[], Column]:
    return lambda: column


def _of_native(data: object) -> Engine:
    if type(data).__module__.split(".")[0] in {"_duckdb", "duckdb"}:
        from sourdine.tally.duck import Duck  # noqa: PLC0415

        return Duck(data)
    from sourdine.tally.lazy import open_native  # noqa: PLC0415

    return open_native(data)
