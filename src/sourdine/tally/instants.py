"""Series of dates and times as instants, without a value of Python for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import DAY, NOWHERE, instants_of
from sourdine.calendar.instants import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["instants_of_series"]


def instants_of_series(series: Any) -> NDArray[np.int64] | None:  # noqa: ANN401
    """Return the instants of a narwhals series of dates or times; None if they must be read singly.

    The whole numbers that stand for them are read as they are: engines differ in what they make
    of dates before the year 1 or after the year 9999, and in how they round.
    """
    import narwhals as nw  # noqa: PLC0415

    native, kind = nw.to_native(series), series.implementation
    unit = "D" if series.dtype == nw.Date else getattr(series.dtype, "time_unit", "")
    try:
        if kind.is_polars():
            physical = nw.from_native(native.to_physical(), series_only=True)
            whole = physical.cast(nw.Int64).fill_null(NOWHERE)
            return counted(np.asarray(whole.to_numpy(), np.int64), unit)
        if kind.is_pyarrow():
            return _of_arrow(native, unit)
        return _of_pandas(native, unit) if kind.is_pandas() else None
    except Exception:  # noqa: BLE001 - every engine has errors of its own
        return None


def _of_arrow(native: Any, unit: str) -> NDArray[np.int64]:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    narrow = pa.types.is_date32(native.type)
    whole = native.cast(pa.int32()).cast(pa.int64()) if narrow else native.cast(pa.int64())
    x = np.asarray(whole.fill_null(NOWHERE).to_numpy(), np.int64)
    if not pa.types.is_date64(native.type):
        return counted(x, unit)
    instants = counted(x, "ms")
    return np.where(instants == NOWHERE, NOWHERE, instants // DAY * DAY)


def _of_pandas(native: Any, unit: str) -> NDArray[np.int64]:  # noqa: ANN401
    if hasattr(native.array, "__arrow_array__") and str(native.dtype).endswith("[pyarrow]"):
        import pyarrow as pa  # noqa: PLC0415

        return _of_arrow(pa.chunked_array(native.array.__arrow_array__()), unit)
    plain = native if native.dt.tz is None else native.dt.tz_convert(None)
    return instants_of(plain.to_numpy())
