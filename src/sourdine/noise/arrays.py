"""Reading arrays of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HIGHEST", "LOWEST", "int64_array", "saturated", "saturated_array"]

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def int64_array(
    x: object, name: str, *, least: int | None = None, most: int | None = None
) -> NDArray[np.int64]:
    """Return ``x`` as an array of 64-bit integers from ``least`` to ``most``.

    The values may be private, so no text holds one of them.
    """
    array = np.asarray(x)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ParameterTypeError(
            name,
            "be whole numbers of at most 64 bits",
            str(array.dtype),
            f"Round them first, for example {name}.astype(int).",
        )
    if (least is not None and array.min() < least) or (most is not None and array.max() > most):
        raise ParameterError(
            name, f"be {_range(least, most)}", "a value outside", f"Clip {name} first."
        )
    if array.dtype.kind == "u" and array.max() > HIGHEST:
        raise ParameterError(name, "be below 2**63", "a value above", f"Clip {name} first.")
    return array.astype(np.int64, copy=False)


def _range(least: int | None, most: int | None) -> str:
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"from {least} to {most}"


def saturated(value: int) -> int:
    """Return the 64-bit integer nearest to ``value``."""
    return min(max(value, LOWEST), HIGHEST)


def saturated_array(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the 64-bit integers nearest to values that may be Python integers of any size."""
    clipped: NDArray[Any] = np.clip(values, LOWEST, HIGHEST)
    return clipped.astype(np.int64, copy=False)
