"""The average of a statistical query over the rows of a sample, whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.queries import clipped
from sourdine.errors import ParameterTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values

__all__ = ["average", "values_of"]


def values_of(query: Query, rows: NDArray[Any]) -> Values:
    """Return the value of a query for each row, within [0, 1]; what is not a number counts as 0.

    So does a row outside the universe of a vector.

    Examples
    --------
    >>> values_of(lambda ages: ages > 40, np.array([38, 41, 65])).tolist()
    [0.0, 1.0, 1.0]
    >>> values_of(np.array([0.0, 0.5, 2.0]), np.array([2, 0, 1, 1])).tolist()
    [1.0, 0.0, 0.5, 0.5]
    """
    if callable(query):
        return clipped(np.asarray(query(rows)), len(rows))
    vector = np.asarray(query)
    if rows.dtype.kind not in "iu":
        must = "be whole numbers if a query is a vector"
        hint = "Use rows.astype(int), or a function such as lambda rows: rows > 40."
        raise ParameterTypeError("rows", must, f"{rows.dtype}", hint)
    known = (rows >= 0) & (rows < vector.size)
    return np.append(clipped(vector, vector.size), 0.0)[np.where(known, rows, vector.size)]


def average(query: Query, rows: NDArray[Any]) -> float:
    """Return the average of a query over the rows.

    Examples
    --------
    >>> average(lambda x: x > 1, np.array([1, 2, 3, 4]))
    0.75
    """
    return float(values_of(query, rows).mean()) if len(rows) else 0.0
