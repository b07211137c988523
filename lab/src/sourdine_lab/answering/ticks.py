r"""Averages as whole numbers: each value of a query is a multiple of a public step, 2**-20.

A sum of such values is an integer that one row can move by :math:`2^{20}` ticks at most, so exact
noise on whole numbers can protect it. Queries with values 0 and 1 lose nothing; others are moved by
at most :math:`2^{-21}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.noise import uniform_below
from sourdine_lab.averages import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query
    from sourdine.noise import Source

__all__ = ["GRID", "SLACK", "read_sample", "shuffled", "snapped", "total"]

GRID = 1 << 20
"""Steps from 0 to 1."""

SLACK = 4 / GRID
"""More than snapping a value and whole ticks of noise can add to an error."""


def snapped(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return values within [0, 1] as multiples of the step."""
    return np.rint(values * GRID).astype(np.int64)


def total(query: Query, rows: NDArray[Any]) -> int:
    """Return the sum of a query over the rows, in ticks.

    Examples
    --------
    >>> total(lambda x: x > 1, np.array([1, 2, 3, 4])) == 3 * GRID
    True
    """
    return int(snapped(values_of(query, rows)).sum())


def read_sample(sample: object, name: str = "sample") -> NDArray[Any]:
    """Return the rows of a sample, of which there must be one at least."""
    rows = np.asarray(sample)
    if rows.ndim < 1 or not len(rows):
        raise ParameterError(
            f"{name} must have at least one row, got none. Use an array, as np.array([3, 1, 4])."
        )
    return rows


def shuffled(rows: NDArray[Any], source: Source) -> NDArray[Any]:
    """Return the rows in a random order."""
    keys = np.asarray(uniform_below(1 << 62, len(rows), source=source))
    return np.asarray(rows[np.argsort(keys, kind="stable")])
