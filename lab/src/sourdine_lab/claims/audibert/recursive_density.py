r"""The density of RecExp's draws on the line, in closed form.

A draw at :math:`v` among n records between the bounds a and b, r of them below v, has the density

.. math:: \frac{e^{-c|r - pn|}}{\sum_i (x_{i+1} - x_i)\, e^{-c|i - pn|}},

and the recursion multiplies: the middle quantile first, then each side on its own records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Decay = Callable[[int], float]

__all__ = ["quartiles_loss"]


def _log_density(x: Real, bounds: tuple[float, float], c: float, v: Real) -> Real:
    """Return the log density of a median drawn among sorted records, at each v."""
    d = np.abs(np.arange(len(x) + 1) - len(x) / 2)
    widths = np.diff(x, prepend=bounds[0], append=bounds[1])
    return np.asarray(-c * d[x.searchsorted(v)] - np.log(widths @ np.exp(-c * d)))


def quartiles_loss(x: Real, y: Real, decay: Decay) -> float:
    """Return the greatest log ratio of the densities of three quartiles in [0, 1].

    Orders are rescaled, so every draw is a median of its slice. ``decay(level)`` is the exponent of
    a draw, level 0 the first. The maximum is over quartiles next to the records and half way
    between them: a loss that is reached, not a bound.
    """
    marks = np.unique(np.concatenate((x, y, [0.0, 1.0])))
    left, right = marks[:-1], marks[1:]
    tried = np.concatenate([left + (right - left) * part for part in (1e-6, 0.5, 1 - 1e-6)])
    worst = 0.0
    for v in tried.tolist():
        log_ratio = [_apart(x, y, (0.0, 1.0), decay(0), np.array([v]))]
        for bounds in ((0.0, v), (v, 1.0)):
            inside = tried[(tried > bounds[0]) & (tried < bounds[1])]
            a, b = (z[(z > bounds[0]) & (z < bounds[1])] for z in (x, y))
            if len(inside):
                log_ratio.append(_apart(a, b, bounds, decay(1), inside))
        most = sum(float(each.max()) for each in log_ratio)
        least = sum(float(each.min()) for each in log_ratio)
        worst = max(worst, most, -least)
    return worst


def _apart(x: Real, y: Real, bounds: tuple[float, float], c: float, v: Real) -> Real:
    return _log_density(x, bounds, c, v) - _log_density(y, bounds, c, v)
