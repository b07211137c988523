"""Reports as columns of a frame of the kind that came in.

Types follow from the schema alone: whole numbers, floats, texts or booleans, able to hold blanks
if and only if the schema can make some.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.local.table.sanitizing.writing import Written

__all__ = ["arrow", "assembled"]

Column = tuple["Written", "NDArray[Any]", bool]
"""How reports are written, the reports (below 0: a blank), and whether there can be blanks."""


def assembled(frame: object, columns: dict[str, Column], marks: dict[str, str]) -> Any:  # noqa: ANN401
    """Return the columns as a frame of the kind of ``frame``; of others, as an Arrow table.

    An index of pandas is not kept: it may name the people. ``marks`` are kept where a frame has
    a place for them.
    """
    room = type(frame).__module__.split(".")[0]
    if isinstance(frame, Mapping):
        lists = {name: isinstance(frame[name], (list, tuple)) for name in columns}
        return {n: _list(*c) if lists[n] else _numpy(*c) for n, c in columns.items()}
    if room == "pandas":
        made = _pandas(columns)
        made.attrs.update(marks)
        return made
    if room == "polars":
        return _polars(columns)
    if find_spec("pyarrow") is None:
        return {name: _numpy(*column) for name, column in columns.items()}
    import pyarrow as pa  # noqa: PLC0415

    table = pa.table({name: arrow(*column) for name, column in columns.items()})
    return table.replace_schema_metadata(marks)


def arrow(written: Written, codes: NDArray[Any], nullable: bool) -> Any:  # noqa: ANN401, FBT001
    """Return an Arrow array."""
    import pyarrow as pa  # noqa: PLC0415

    gone = codes < 0 if nullable else None
    if written.kind != "text":
        return pa.array(written.values(codes), mask=gone)
    indices = pa.array(np.maximum(codes, 0).astype(np.int32), mask=gone)
    listed = pa.array(written.values(_all(written)).tolist(), pa.string())
    return pa.DictionaryArray.from_arrays(indices, listed).cast(pa.string())


def _all(written: Any) -> NDArray[np.int64]:  # noqa: ANN401
    return np.arange(len(written.listed))


def _numpy(written: Written, codes: NDArray[Any], nullable: bool) -> NDArray[Any]:  # noqa: FBT001
    """Return an array: blanks are NaN, None, or masked."""
    values = written.values(codes)
    if not nullable:
        return values
    gone = codes < 0
    if written.kind in {"whole", "flag"}:
        return np.ma.masked_array(values, gone)
    values[gone] = np.nan if written.kind == "float" else None
    return values


def _list(written: Written, codes: NDArray[Any], nullable: bool) -> list[Any]:  # noqa: FBT001
    """Return a list; a blank is None."""
    values: list[Any] = written.values(codes).tolist()
    if not nullable:
        return values
    return [None if c < 0 else v for c, v in zip(codes.tolist(), values, strict=True)]


def _pandas(columns: dict[str, Column]) -> Any:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415

    masked: dict[str, Callable[[Any, Any], Any]] = {
        "whole": pd.arrays.IntegerArray,
        "flag": pd.arrays.BooleanArray,
    }

    def series(written: Written, codes: NDArray[Any], nullable: bool) -> Any:  # noqa: ANN401, FBT001
        if nullable and written.kind in masked:
            return masked[written.kind](written.values(codes), codes < 0)
        values = _numpy(written, codes, nullable)
        return pd.array(values, dtype="str") if written.kind == "text" else values

    return pd.DataFrame({name: series(*column) for name, column in columns.items()})


def _polars(columns: dict[str, Column]) -> Any:  # noqa: ANN401
    import polars as pl  # noqa: PLC0415

    def series(written: Written, codes: NDArray[Any], nullable: bool) -> Any:  # noqa: ANN401, FBT001
        if written.kind == "text":
            listed = pl.Series(written.values(_all(written)).tolist(), dtype=pl.String)
            whole = listed.gather(np.maximum(codes, 0))
        else:
            whole = pl.Series(written.values(codes))
        return whole.set(pl.Series(codes < 0), None) if nullable else whole

    return pl.DataFrame({name: series(*column) for name, column in columns.items()})
