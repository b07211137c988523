r"""Statistical queries: the average over the rows of something between 0 and 1.

A query is a function of the rows that returns a value for each of them, or, where the rows are
codes :math:`0, \dots, N - 1` of a finite universe, the vector of its :math:`N` values. A function
has the rows in its hands: it can print them, or fail where a row is odd. Take functions from
people you trust with the rows, and vectors from all others.

On rows, which are private, a value beyond [0, 1] is clipped and one that is no number is 0, for a
refusal would tell of a row. On a universe, which is public, both are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]


Query: TypeAlias = "Callable[[Any], Any] | NDArray[Any]"

ROUNDING = 1e-9
"""A value so little beyond 0 or 1 is taken for it."""


def vector_of(query: Query, size: int) -> Values:
    """Return the values of a query over the codes 0, ..., size - 1 of a universe.

    They are public, so a value that is not between 0 and 1 raises.
    """
    values = _floats(np.asarray(query(np.arange(size)) if callable(query) else query), size)
    if not np.all((values >= -ROUNDING) & (values <= 1 + ROUNDING)):
        hint = (
            "Use a condition such as lambda rows: rows > 40, or a fraction such as lambda rows: "
            "rows / 100."
        )
        got = "NaN" if np.isnan(values).any() else "values outside"
        raise ParameterError("the values of a query", "be between 0 and 1", got, hint)
    return np.clip(values, 0.0, 1.0)


def clipped(values: NDArray[Any], size: int) -> Values:
    """Return the values of a query on private rows, those beyond 0 and 1 clipped."""
    return np.clip(np.nan_to_num(_floats(values, size), nan=0.0), 0.0, 1.0)


def _floats(values: NDArray[Any], size: int) -> Values:
    if values.shape != (size,):
        must = f"return one value for each of {size} rows"
        hint = "Use a function such as lambda rows: rows > 40."
        raise ParameterError("a query", must, f"an array of shape {values.shape}", hint)
    if values.dtype.kind not in "biuf":
        must, hint = "be numbers or booleans", "Use a function such as lambda rows: rows > 40."
        raise ParameterTypeError("the values of a query", must, f"{values.dtype}", hint)
    return values.astype(np.float64)
