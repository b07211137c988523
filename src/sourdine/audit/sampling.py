"""Draws against the law, by a chi-square test that can fail in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.laws import Law

__all__ = ["ALPHA", "p_value"]

ALPHA = 1e-9
"""A correct sampler is rejected about once in a billion runs."""

BINS = 200
FEWEST = 10.0  # expected draws in a bin


def p_value(draws: ArrayLike, law: Law) -> float:
    """Return how likely draws this far from the law would be if they followed it.

    Cells are gathered in 200 bins of equal probability, and in tails that halve as long as enough
    draws are expected there. A draw where the law has no mass at all gives 0.

    Examples
    --------
    >>> from sourdine.laws import Law
    >>> fair = Law.finite([0.0, 0.0])
    >>> p_value([0, 1] * 500, fair), p_value([0, 0, 1] * 500, fair) < 1e-9, p_value([2], fair)
    (1.0, True, 0.0)
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - costs time to import, needed here only

    x = np.asarray(draws, np.int64)
    if not len(x):
        raise ParameterError("draws", "hold at least one", "none", "Draw some first.")
    if not law.beyond and np.isneginf(law.log_pmf(x)).any():
        return 0.0
    tails = 0.5 ** np.arange(8, 24)
    levels = np.concatenate((tails, np.arange(1, BINS) / BINS, 1 - tails))
    edges = np.unique(law.quantile(levels))
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * len(x)
    bins = np.searchsorted(edges, x, side="left")
    counts = np.bincount(bins, minlength=len(edges) + 1).astype(np.float64)
    observed, expected = _merged(counts, expected)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chdtrc(len(expected) - 1, statistic)) if len(expected) > 1 else 1.0


def _merged(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Join bins from the left until each expects enough draws; the rest joins the last."""
    group = np.zeros(len(expected), np.int64)
    filled, current = 0.0, 0
    for i, e in enumerate(expected):
        group[i] = current
        filled += e
        if filled >= FEWEST and expected[i + 1 :].sum() >= FEWEST:
            filled, current = 0.0, current + 1
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
