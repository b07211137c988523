"""Mean errors of nine deciles at many sizes, fast: what figures 4 and 5 fit a power of n to.

The noise is Laplace noise in floats, many draws a data set, which the library's own mechanisms
draw exactly; ``test_fast_errors_are_those_of_the_mechanisms`` holds them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.independent import Runs
from sourdine.central.quantiles.points import Points
from sourdine_lab.bounds import histogram_steps
from sourdine_lab.experiments.canesse import deciles, samples
from sourdine_lab.settings import DataLaw

if TYPE_CHECKING:
    from fractions import Fraction

    Floats = deciles.Floats

__all__ = ["NOISES", "SETS", "SIZES", "Line", "errors", "line"]

SIZES = (100, 200, 350, 600, 1000, 1600, 2300, 3000, 3700, 4400, 5000)
SETS, DRAWS = 50, 8
"""The report's number of data sets for each size, and draws on each."""
NOISES = {"listed": (2, 4), "for counts": (2, 2), "figure 4": (1, 2)}
"""Scales times a search's epsilon, of the threshold and of the counts."""
SHARE = 1 / 9


@cache
def errors(law: str, bounds: tuple[float, float], n: int) -> dict[str, Floats]:
    """Return each method's mean error on each of the data sets, to the sample's deciles."""
    rng = np.random.default_rng(n)
    found: dict[str, list[float]] = {}
    for _ in range(SETS):
        x = samples.fractions(DataLaw.read(law).draw(rng, n), bounds)
        truth = deciles.sample_deciles(x)[:, None]
        answers = {name: _searched(x, noise, rng) for name, noise in NOISES.items()}
        answers["inverse sensitivity"] = _drawn(x, rng)
        for name, one in answers.items():
            away = np.sqrt(((one - truth) ** 2).mean(axis=0))
            found.setdefault(name, []).append((bounds[1] - bounds[0]) * float(away.mean()))
    return {name: np.array(values) for name, values in found.items()}


def _searched(x: Floats, noise: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Return the edges that searches name, a row a decile and a column a draw."""
    n, steps = len(x), histogram_steps(len(x))
    below = deciles.counts_below(x, steps)
    targets = np.array([float(q) * n for q in deciles.ORDERS])
    threshold = rng.laplace(0, noise[0] / SHARE, (len(targets), DRAWS, 1))
    counts = rng.laplace(0, noise[1] / SHARE, (len(targets), DRAWS, steps))
    above = counts + below > targets[:, None, None] + threshold
    first = np.where(above.any(axis=2), above.argmax(axis=2), steps - 1)
    return np.asarray((first + 1) / steps)


def _drawn(x: Floats, rng: np.random.Generator) -> Floats:
    """Return draws of the smoothed mechanism with rho = 1/n."""
    points = Points.of((x * deciles.TICKS).astype(np.int64), deciles.TICKS)
    smoothing = round(deciles.TICKS / len(x))
    return np.array([_one(points, q, smoothing, rng) for q in deciles.ORDERS]) / deciles.TICKS


def _one(points: Points, q: Fraction, rho: int, rng: np.random.Generator) -> Floats:
    runs = Runs.of(points, q, whole=True).smoothed(rho)
    length = np.diff(runs.start, append=runs.cells)
    weight = np.cumsum(length * np.exp(-SHARE / 2 * runs.distance))
    run = np.searchsorted(weight, weight[-1] * rng.random(DRAWS), side="right")
    return np.asarray(runs.start[run] + length[run] * rng.random(DRAWS))


@dataclass(frozen=True, slots=True)
class Line:
    """A power of n through mean errors at `SIZES`.

    The line is the least squares one through all n from 100 to 5000, as the report has them, the
    errors between two sizes being interpolated on the logarithmic scale.
    """

    exponent: float
    deviation: float
    bend: float
    """Root mean square distance of the logarithms from the line, without that of chance."""


def line(law: str, bounds: tuple[float, float], method: str) -> Line:
    """Return the line through a method's mean errors on a law."""
    each = [errors(law, bounds, n)[method] for n in SIZES]
    means = np.array([one.mean() for one in each])
    spread = np.array([one.std(ddof=1) / SETS**0.5 for one in each]) / means
    x = np.log(np.arange(SIZES[0], SIZES[-1] + 1))
    # Row i of `between` is the part of size i in the interpolated values.
    between = np.array([np.interp(x, np.log(SIZES), row) for row in np.eye(len(SIZES))])
    away = x - x.mean()
    share = between @ (away / (away @ away))
    values = np.log(means)
    slope = float(share @ values)
    rest = between.T @ values
    rest = rest - rest.mean() - slope * away
    chance = between.T**2 @ spread**2
    bend = float(np.sqrt(max(0.0, float(np.mean(rest**2 - chance)))))
    return Line(slope, float(np.sqrt(share**2 @ spread**2)), bend)
