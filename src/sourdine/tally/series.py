"""Frames and series in memory that narwhals knows, read into NumPy columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.grid import MISSING
from sourdine.tally.cells import Codes
from sourdine.tally.column import DATES, HOLDS, Column, Moments
from sourdine.tally.engine import require_different
from sourdine.tally.instants import instants_of_series
from sourdine.tally.memory import UNNAMED, Memory
from sourdine.tally.types import declared_by_series

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.tally.cells import Cell

__all__ = ["column_of_series", "is_whole", "memory_of_frame", "memory_of_series"]


def memory_of_series(series: Any) -> Memory:  # noqa: ANN401
    """Return the engine of a series."""
    name = series.name or UNNAMED
    types = {name: declared_by_series(series)}
    return Memory({name: lambda: column_of_series(series)}, len(series), types=types)


def memory_of_frame(frame: Any) -> Memory:  # noqa: ANN401
    """Return the engine of a frame; a column is read when it is needed."""

    def reader(name: str) -> Callable[[], Column]:
        return lambda: column_of_series(frame.get_column(name))

    def part(name: str, cell: Cell, rows: slice) -> NDArray[np.int64]:
        return _slots(frame.get_column(name)[rows], cell)

    require_different(frame.columns)
    readers = {name: reader(name) for name in frame.columns}
    types = {name: declared_by_series(frame.get_column(name)) for name in frame.columns}
    return Memory(readers, len(frame), part, types=types)


def _slots(series: Any, cell: Cell) -> NDArray[np.int64]:  # noqa: ANN401
    """Return the slots of a series; texts are looked up by the engine."""
    import narwhals as nw  # noqa: PLC0415

    if not (isinstance(cell, Codes) and series.dtype == nw.String):
        return cell.slots(column_of_series(series))
    texts, codes = list(cell.codes), list(cell.codes.values())
    found = series.replace_strict(texts, codes, default=MISSING, return_dtype=nw.Int64)
    return np.asarray(found.to_numpy(), np.int64)


def column_of_series(series: Any) -> Column:  # noqa: ANN401
    """Read a narwhals series."""
    import narwhals as nw  # noqa: PLC0415

    dtype = series.dtype
    declared = declared_by_series(series)
    holds = declared.holds if declared is not None and declared.holds in HOLDS else None
    if dtype.is_float():
        return Column(np.asarray(series.to_numpy(), _float_kind(dtype)), holds=holds)
    if dtype == nw.Boolean or is_whole(dtype):
        gone = np.asarray(series.is_null().to_numpy(), bool)
        filled = (
            series.fill_null(value=False if dtype == nw.Boolean else 0) if gone.any() else series
        )
        return Column(np.asarray(filled.to_numpy()), gone, holds=holds)
    if dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    if holds == DATES and (instants := instants_of_series(series)) is not None:
        return Moments(instants, lambda: np.fromiter(_values(series), object, len(series)))
    return Column.of(_values(series), holds=holds)


def _values(series: Any) -> list[Any]:  # noqa: ANN401
    """Return the values as Python has them; what Python cannot hold is missing, and only that."""
    if series.dtype.is_temporal() and series.implementation.is_polars():
        series = _within_python(series)
    try:
        return list(series.to_list())
    except Exception:  # noqa: BLE001 - every engine has errors of its own
        return [_value(series, i) for i in range(len(series))]


def _value(series: Any, i: int) -> Any:  # noqa: ANN401
    try:
        return series[i : i + 1].to_list()[0]
    except Exception:  # noqa: BLE001 - as above
        return None


def _within_python(series: Any) -> Any:  # noqa: ANN401
    """Return a Polars series of times without those before year 1 or after year 9999."""
    import narwhals as nw  # noqa: PLC0415

    native = nw.to_native(series)
    ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(series.dtype, "time_unit", ""), 1)
    day = 1 if series.dtype == nw.Date else 86_400 * ticks
    low, high = (
        (-_LONGEST * day, _LONGEST * day)
        if series.dtype == nw.Duration
        else (_FIRST_DAY * day, (_LAST_DAY + 1) * day - 1)
    )
    if series.dtype == nw.Time:
        return series
    inside = native.to_physical().is_between(max(low, -(1 << 63)), min(high, (1 << 63) - 1))
    return nw.from_native(
        native.zip_with(inside.fill_null(value=False), native.clear(len(native))), series_only=True
    )


def _float_kind(dtype: Any) -> type:  # noqa: ANN401
    import narwhals as nw  # noqa: PLC0415

    return np.float32 if dtype == nw.Float32 else np.float64


_FIRST_DAY, _LAST_DAY, _LONGEST = -719_162, 2_932_896, 999_999_998
"""Days from 1970 to the years 1 and 9999, and as many as a duration of Python's holds."""


def is_whole(dtype: Any) -> bool:  # noqa: ANN401
    """Return whether a type is one of whole numbers that NumPy has."""
    import narwhals as nw  # noqa: PLC0415

    return dtype.is_integer() and dtype not in {nw.Int128, nw.UInt128}
