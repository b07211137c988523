"""Data of any library that exports Arrow: ``__arrow_c_stream__`` or ``__arrow_c_array__``.

PyArrow takes it in where it is installed, otherwise DuckDB. A stream may be read only once, so
all of it is read when the frame is made.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import kind
from sourdine.tally.duck import Duck, private_connection
from sourdine.tally.engine import require_different
from sourdine.tally.series import memory_of_frame, memory_of_series

if TYPE_CHECKING:
    from sourdine.tally.engine import Engine

__all__ = ["exports_arrow", "open_capsule"]


def exports_arrow(data: object) -> bool:
    """Return whether an object says that it exports Arrow data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def open_capsule(data: object) -> Engine:
    """Return the engine of what an object exports: rows of columns, or one column."""
    has_arrow = find_spec("pyarrow") is not None
    try:
        return _in_arrow(data) if has_arrow else _in_duckdb(data)
    except ParameterError:
        raise
    except Exception:  # noqa: BLE001 - what an exporter says may hold data
        hint = (
            "Check that the object still holds its data."
            if has_arrow
            else "In the checkout, type pip install '.[arrow]', which reads more of them."
        )
        raise ParameterError(
            "data",
            "export Arrow data that can be read",
            f"{kind(data)} that does not",
            hint,
        ) from None


def _in_arrow(data: Any) -> Engine:  # noqa: ANN401
    import narwhals as nw  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    column = pa.chunked_array(data)
    if not pa.types.is_struct(column.type):
        return memory_of_series(nw.from_native(column, series_only=True))
    require_different([field.name for field in column.type])
    return memory_of_frame(nw.from_native(pa.Table.from_struct_array(column), eager_only=True))


def _in_duckdb(data: Any) -> Engine:  # noqa: ANN401
    connection = private_connection("statistics_propagation")
    connection.execute("SET preserve_insertion_order = true")
    connection.from_arrow(data).create("exported")
    return Duck(connection.table("exported"), connection)
