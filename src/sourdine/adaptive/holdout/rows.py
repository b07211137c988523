"""Whether two sets of features are the same rows in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["same_rows"]


def same_rows(a: Any, b: Any) -> bool:  # noqa: ANN401 - arrays, tables, sparse matrices, lists
    """Return whether both hold the same values; what is missing is like what is missing.

    Examples
    --------
    >>> same_rows([[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]]))
    True
    >>> same_rows([[1, 2], [3, 4]], [[3, 4], [1, 2]])
    False
    """
    if a is b:
        return True
    if hasattr(a, "nnz") and hasattr(b, "nnz"):
        return bool(a.shape == b.shape and (a != b).nnz == 0)
    one, two = _array(a), _array(b)
    if one.shape != two.shape:
        return False
    kinds = {one.dtype.kind, two.dtype.kind}
    if kinds <= set("biuf") or kinds in ({"M"}, {"m"}):
        return bool(np.array_equal(one, two, equal_nan=True))
    return all(map(_alike, one.ravel().tolist(), two.ravel().tolist()))


def _array(rows: Any) -> np.ndarray[Any, np.dtype[Any]]:  # noqa: ANN401
    try:
        return np.asarray(rows)
    except ValueError:  # rows of several lengths
        array = np.empty(len(rows), object)
        array[:] = rows
        return array


def _alike(x: Any, y: Any) -> bool:  # noqa: ANN401
    try:
        return bool(x is y or x == y or (x != x and y != y))  # noqa: PLR0124 - not a number
    except (TypeError, ValueError):  # pandas' NA, which is neither like nor unlike
        return False
