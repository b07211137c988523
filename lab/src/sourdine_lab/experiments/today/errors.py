"""Means of simulated errors, with their uncertainty as it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine_lab.table import Table

__all__ = ["mean_and_error", "uncertainty"]

LOWEST = 0.2
"""A band of two standard errors ends at this part of its line, for logarithmic axes."""


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    return float(np.mean(values)), float(np.std(values, ddof=1)) / len(values) ** 0.5


def uncertainty(
    rows: Table, value: str = "error", deviation: str = "deviation"
) -> NDArray[np.float64]:
    """Return standard errors that leave two of them above 0 on a logarithmic axis."""
    return np.asarray(np.minimum(rows[deviation], (1 - LOWEST) / 2 * rows[value]))
