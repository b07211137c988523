"""Laws of private proportions: row k of a matrix is the law over 0 to n where k of n are ones."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Laws = NDArray[np.float64]

__all__ = [
    "clamped_geometric",
    "distances",
    "is_unbiased",
    "losses",
    "one_record",
    "privacy",
    "two_ends",
    "weighed",
]


def weighed(n: int, decay: float) -> Laws:
    r"""Return inverse sensitivity: :math:`P(j) \propto e^{-\lambda|j - k|}`, normalised by row."""
    j = np.arange(n + 1)
    weights = np.exp(-decay * np.abs(j - j[:, None]))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def clamped_geometric(n: int, epsilon: float) -> Laws:
    """Return two-sided geometric noise of exponent epsilon, what falls outside moved to 0 or n."""
    q = exp(-epsilon)
    j = np.arange(n + 1)
    laws = (1 - q) / (1 + q) * q ** np.abs(j - j[:, None]).astype(float)
    laws[:, 0], laws[:, n] = q**j / (1 + q), q ** (n - j).astype(float) / (1 + q)
    return np.asarray(laws)


def two_ends(n: int, epsilon: float) -> Laws:
    """Return a coin between 0 and n, whatever the data: every answer is a median of it."""
    del epsilon
    laws = np.zeros((n + 1, n + 1))
    laws[:, 0] = laws[:, n] = 0.5
    return laws


def one_record(epsilon: float, steps: int = 40) -> Iterator[Laws]:
    """Yield mechanisms for one record: all pairs of chances to err, on a grid and at e^-epsilon/2.

    The latter is the least of an unbiased mechanism: where it errs with 1/2 at the other record.
    """
    chances = np.append(np.arange(steps + 1) / steps, exp(-epsilon) / 2)
    for a in chances:
        for b in chances:
            yield np.array([[1 - a, a], [b, 1 - b]])


def distances(laws: Laws) -> Laws:
    """Return n E|M - t/n|: a row for each k, a column for each t."""
    j = np.arange(len(laws))
    return np.asarray(laws @ np.abs(j[:, None] - j))


def losses(laws: Laws) -> NDArray[np.float64]:
    """Return n E|M - f| for each k."""
    return np.diag(distances(laws))


def is_unbiased(laws: Laws) -> bool:
    """Return whether E|M - f| <= E|M - t| for all k and t."""
    return bool((losses(laws) <= distances(laws).min(axis=1) * (1 + 1e-12)).all())


def privacy(laws: Laws) -> float:
    """Return the greatest loss between k and k + 1 ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws)
        apart = np.abs(logs[1:] - logs[:-1])
    return float(np.nan_to_num(apart, nan=0.0).max())
