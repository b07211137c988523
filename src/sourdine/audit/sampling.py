"""Draws against the law, by a chi-square test that can fail in both directions."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import Law, Product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["ALPHA", "p_value"]

ALPHA = 1e-9
"""A correct sampler is rejected about once in a billion runs."""

BINS = 200
FEWEST = 10.0  # expected draws in a bin
PATTERNS = 1 << 12


def p_value(draws: ArrayLike | Sequence[Any], law: Law | Product) -> float:
    """Return how likely draws this far from the law would be if they followed it.

    Cells are gathered in 200 bins of equal probability, and in tails that halve as long as enough
    draws are expected there. A draw where the law has no mass at all gives 0. Of rows each entry
    is tested, and all of them at once by coarse bins, which dependent entries would not fill
    evenly; the least of these p-values is returned, times their number.

    Examples
    --------
    >>> fair = Law.finite([0.0, 0.0])
    >>> p_value([0, 1] * 500, fair), p_value([0, 0, 1] * 500, fair) < 1e-9, p_value([2], fair)
    (1.0, True, 0.0)
    >>> p_value([[0, 0], [1, 1]] * 500, Product((fair, fair))) < 1e-9  # each entry alone is fair
    True
    """
    given: Any = draws
    if not len(given):
        raise ParameterError("draws", "hold at least one", "none", "Draw some first.")
    if isinstance(law, Product):
        if not law.knows(given).all():
            return 0.0
        x = law.rows(given)
        each = [_of_one(column, factor) for column, factor in zip(x.T, law.factors, strict=True)]
        return min(1.0, (len(each) + 1) * min([*each, _at_once(x, law)]))
    return _of_one(np.asarray(given, np.int64), law)


def _of_one(x: NDArray[np.int64], law: Law) -> float:
    if not law.beyond and np.isneginf(law.log_pmf(x)).any():
        return 0.0
    tails = 0.5 ** np.arange(8, 24)
    levels = np.concatenate((tails, np.arange(1, BINS) / BINS, 1 - tails))
    edges, expected = _binned(law, levels)
    bins = np.searchsorted(edges, x, side="left")
    return _fit(bins, expected * len(x))


def _at_once(x: NDArray[np.int64], law: Product) -> float:
    """Test the patterns of all entries, each in so many bins that the patterns stay few."""
    count = len(law.factors)
    few = max(2, int(min(PATTERNS, len(x) / FEWEST) ** (1 / max(count, 1))))
    codes, expected = np.zeros(len(x), np.int64), [np.ones(())]
    for column, factor in zip(x.T, law.factors, strict=True):
        edges, chances = _binned(factor, np.arange(1, few) / few)
        codes = codes * len(chances) + np.searchsorted(edges, column, side="left")
        expected.append(chances)
    return _fit(codes, reduce(np.multiply.outer, expected).ravel() * len(x))


def _binned(law: Law, levels: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the last cells of bins, but for that of the last bin, and the chance of each bin."""
    edges = np.unique(law.quantile(levels))
    return edges, np.diff(law.cdf(edges), prepend=0.0, append=1.0)


def _fit(bins: NDArray[np.int64], expected: Floats) -> float:
    """Return the p-value of the chi-square test."""
    from scipy.special import chdtrc  # noqa: PLC0415 - costs time to import, needed here only

    counts = np.bincount(bins, minlength=len(expected)).astype(np.float64)
    observed, expected = _merged(counts, expected)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chdtrc(len(expected) - 1, statistic)) if len(expected) > 1 else 1.0


def _merged(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Join bins from the left until each expects enough draws; the rest joins the last."""
    group = np.zeros(len(expected), np.int64)
    filled, current, left = 0.0, 0, float(expected.sum())
    for i, e in enumerate(expected.tolist()):
        group[i] = current
        filled, left = filled + e, left - e
        if filled >= FEWEST and left >= FEWEST:
            filled, current = 0.0, current + 1
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
