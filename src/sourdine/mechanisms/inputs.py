"""Reading private inputs: a wrong kind is refused, a value never is.

Ticks are whole numbers. What lies beyond 64 bits, or outside a public domain, is moved to the
nearest end; to move every input to fixed ends brings no two inputs further apart.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Value = int | NDArray[np.int64]

__all__ = ["add", "read_code", "read_one", "read_ticks", "read_vector"]

ENDS = np.iinfo(np.int64)
REACH = 1 << 61  # vectors stay within, so that differences of two entries stay within 64 bits


def read_ticks(x: object) -> Value:
    """Return a whole number, or an array of them."""
    if type(x) is int:
        return x
    if _whole(x):
        return int(x)
    ticks = np.asarray(x, object) if isinstance(x, (list, tuple)) else np.asarray(x)
    if ticks.dtype.kind == "O" and all(_whole(v) for v in ticks.flat):
        clipped = [min(max(int(v), ENDS.min), ENDS.max) for v in ticks.flat]
        return np.array(clipped, np.int64).reshape(ticks.shape)
    if ticks.dtype.kind not in "iu":
        raise ParameterTypeError(
            "the input",
            "be whole numbers (ticks of a grid)",
            _kind(x),
            "Snap values first: type Grid(0, 100, step=1).ticks(values).",
        )
    return int(ticks) if ticks.ndim == 0 else np.minimum(ticks, ENDS.max).astype(np.int64)


def read_one(x: object) -> int:
    """Return one whole number."""
    tick = read_ticks(x)
    if not isinstance(tick, int):
        raise ParameterTypeError(
            "the input",
            "be one number",
            "an array",
            "Release the numbers one by one, or use Laplace with the L1 sensitivity.",
        )
    return tick


def read_code(x: object, last: int) -> int:
    """Return a code from 0 to ``last``; what lies outside is moved to the nearest end."""
    scalar = np.ndim(x) == 0 if isinstance(x, np.ndarray) else not isinstance(x, (list, tuple))
    if not scalar or isinstance(x, str) or not (_whole(x) or isinstance(x, np.ndarray)):
        raise ParameterTypeError(
            "the input",
            f"be one code from 0 to {last}",
            _kind(x),
            "Code the answers as 0, 1, 2, ... and release them one by one.",
        )
    return min(max(int(read_ticks(x)), 0), last)


def read_vector(x: object, length: int, name: str) -> NDArray[np.int64]:
    """Return a vector of whole numbers of a public length, each within 2**61 of zero."""
    vector = np.atleast_1d(np.asarray(read_ticks(x), object))
    if vector.shape != (length,):
        raise ParameterTypeError(
            name,
            f"be a vector of {length} whole numbers",
            f"the shape {vector.shape}",
            "Its length is public: construct the mechanism with it.",
        )
    return np.asarray(np.clip(vector, -REACH, REACH), np.int64)


def add(x: Value, k: Value) -> Value:
    """Return x + k; arrays stop at the ends of int64 instead of wrapping round."""
    if isinstance(x, int) and isinstance(k, int):
        return x + k
    if isinstance(x, int):
        x = min(max(x, ENDS.min), ENDS.max)
    x, k = np.asarray(x, np.int64), np.asarray(k, np.int64)
    with np.errstate(over="ignore"):
        total = x + k
    wrapped = ((x ^ total) & (k ^ total)) < 0
    return np.where(wrapped, np.where(k < 0, ENDS.min, ENDS.max), total)


def _whole(x: object) -> TypeGuard[numbers.Integral]:
    return isinstance(x, numbers.Integral) and not isinstance(x, bool)


def _kind(x: object) -> str:
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else kind(x)
