"""The two methods near one decile of a large sample, where n enters by the width of a cell alone.

Around an inner decile of a large uniform sample the values are a Poisson process, here with one
value a unit of length, and the sample's decile stands at 0. Errors are in that unit: n times the
error on U(0, 1). Each search or draw has a ninth of epsilon = 1.
"""

from __future__ import annotations

from functools import cache
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.central.quantiles.points import Points
from sourdine.mechanisms import AboveThreshold
from sourdine.noise import SeededSource
from sourdine_lab.claims.canesse.simulated import NINTH, Measured

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["histogram_away", "inverse_sensitivity_away"]

REACH = 1600
"""Values on each side; the noise has a scale of 36 at most."""
FINE = 256
"""Ticks to a unit."""


@cache
def histogram_away(
    n: float, runs: int = 1500, *, epsilon: Fraction = NINTH, monotone: bool = True
) -> Measured:
    """Return the root mean square error of the histogram method, a cell holding ln n / 1.5."""
    rng, source = np.random.default_rng(11), SeededSource(11)
    width = log(n) / 1.5
    edges = np.arange(-REACH, REACH, width)
    search = AboveThreshold(epsilon=epsilon, queries=len(edges), monotone=monotone)
    away = np.empty(runs)
    for run in range(runs):
        shifted = edges + width * rng.random()
        named = int(search.draw(_heights(shifted, rng), None, source))
        away[run] = shifted[min(named, len(edges) - 1)]
    return _root_mean_square(away)


def _heights(edges: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the number of values below each edge, less that below the decile or at it."""
    right = np.cumsum(rng.standard_exponential(2 * REACH))
    left = np.cumsum(rng.standard_exponential(2 * REACH))
    above = np.searchsorted(right, edges)
    return np.where(edges > 0, above, -1 - np.searchsorted(left, -edges))


@cache
def inverse_sensitivity_away(runs: int = 600) -> Measured:
    """Return the root mean square error of inverse sensitivity with rho = 1/n, by its law."""
    rng = np.random.default_rng(12)
    centre = 2 * REACH * FINE
    mechanism = InverseSensitivity(
        epsilon=NINTH, q=[0.5], cells=2 * centre, relation="substitute", rho=FINE
    )
    squares = np.empty(runs)
    for run in range(runs):
        right, left = (np.cumsum(rng.standard_exponential(REACH)) for _ in range(2))
        x = np.concatenate((-left, [0.0], right))
        ticks = (centre + x * FINE).astype(np.int64)
        law = mechanism.single_law(Points.of(ticks, 2 * centre), 0)
        squares[run] = (law.variance() + (law.mean() - centre) ** 2) / FINE**2
    return _root_mean_square(np.sqrt(squares))


def _root_mean_square(away: NDArray[np.float64]) -> Measured:
    squares = away**2
    root = sqrt(squares.mean())
    return Measured(root, float(squares.std(ddof=1)) / sqrt(len(away)) / (2 * root))
