"""The privacy of a table of chances: a row for each input, a column for each report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["SLACK", "level", "response"]

SLACK = 1e-9
"""How far beyond a level a loss may be by rounding."""


def level(chances: ArrayLike) -> float:
    """Return the largest privacy loss between two inputs, over all reports.

    Examples
    --------
    >>> round(level([[3, 1], [1, 3]]), 4)  # ln 3, whatever the rows add up to
    1.0986
    """
    rows = np.asarray(chances, np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(rows[:, rows.any(axis=0)])
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def response(keep: float, k: int) -> NDArray[np.float64]:
    """Return randomised response: the truth with chance ``keep``, others alike."""
    other = (1 - keep) / (k - 1)
    return np.full((k, k), other) + np.eye(k) * (keep - other)
