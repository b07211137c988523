"""What the claims are held to: answers in simulation and laws on drawn samples, kept once drawn.

Seeds are fixed; a claim is refuted by a simulation only where it is `SURE` standard errors off.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, log, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.central.quantiles.points import Points
from sourdine.noise import SeededSource
from sourdine_lab.bounds import histogram_steps
from sourdine_lab.experiments.canesse.deciles import first_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.laws import Law

__all__ = [
    "NINTH", "SURE", "Drawn", "Measured", "far_error", "mean", "normal_edges", "share",
    "uniform_edges", "windows",
]  # fmt: skip

Floats: TypeAlias = "NDArray[np.float64]"
SURE = 4.0
NINTH = Fraction(1, 9)
FINE = 1 << 30


class Measured(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float


def mean(values: Floats) -> Measured:
    """Return the mean of independent values."""
    return Measured(float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values)))


def share(held: NDArray[np.bool_]) -> Measured:
    """Return how often something held; where always or never, the standard error is not 0."""
    chance = (held.sum() + 1) / (len(held) + 2)
    return Measured(float(held.mean()), sqrt(chance * (1 - chance) / len(held)))


@cache
def uniform_edges(n: int, q: Fraction, epsilon: Fraction, runs: int) -> Floats:
    """Return answers of the histogram method as listed, on samples of U(0, 1).

    Each search has a ninth of epsilon.
    """
    steps = histogram_steps(n)
    return _edges(n, np.full(steps, 1 / steps), q, epsilon, runs) / steps


@cache
def normal_edges(n: int, q: Fraction, epsilon: Fraction, runs: int, steps: int) -> Floats:
    """Return the same on samples of N(0, 1) and ``steps`` cells of [-5, 5]."""
    from scipy.special import ndtr

    edges = np.linspace(-5, 5, steps + 1)
    shares = np.diff(ndtr(edges))
    shares[0] += ndtr(edges[0])
    return np.asarray(edges[_edges(n, shares, q, epsilon, runs).astype(int)])


def _edges(n: int, shares: Floats, q: Fraction, epsilon: Fraction, runs: int) -> Floats:
    rng, source = np.random.default_rng(n), SeededSource(n)
    cells = np.append(shares, max(0.0, 1 - shares.sum()))
    counts = (np.cumsum(rng.multinomial(n, cells))[:-1] for _ in range(runs))
    each = epsilon * NINTH
    return np.array([first_edges(c, n, q, source, epsilon=each)[0] for c in counts], float)


@cache
def far_error(n: int, q: float, epsilon: float) -> float:
    r"""Return the histogram method's expected error for an n too large to be drawn.

    The counts are at their means, :math:`1/\sqrt n` off at most, and the sum over the cells is an
    integral; the two noises have their laws. Each search has a ninth of epsilon.
    """
    y = np.linspace(0, 1, 20_001)
    cells, scale = 1.5 * n / log(n), 9 * 4 / epsilon
    u = (np.arange(400) + 0.5) / 400
    rho = -scale / 2 * np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))
    passing = (rho[:, None] - n * (y - q)) / scale
    tail = np.exp(-np.abs(passing)) / 2
    log_below = np.where(passing > 0, np.log1p(-tail), -np.abs(passing) - log(2))
    steps = cells * np.diff(y) * (log_below[:, 1:] + log_below[:, :-1]) / 2
    left = np.exp(np.hstack((np.zeros((len(u), 1)), np.cumsum(steps, axis=1)))).mean(axis=0)
    away = np.abs(y - q)
    return float(-np.diff(left) @ (away[1:] + away[:-1]) / 2 + left[-1] * (1 - q))


class Drawn(NamedTuple):
    """A sample of U(0, 1) near its quantile, and the mechanism's law on it, in ticks."""

    tick: int
    law: Law

    @property
    def median(self) -> float:
        """The sample's quantile."""
        return self.tick / FINE

    def beyond(self, centre: float, radius: float) -> float:
        """Return the probability to be farther than a radius from a centre."""
        low, high = round((centre - radius) * FINE), round((centre + radius) * FINE)
        inside = self.law.cdf([high, low])
        return float(1 - (inside[0] - inside[1]))

    def distance(self, centre: float) -> float:
        """Return the expected distance from a centre."""
        return self.law.expectation_abs(round(centre * FINE)) / FINE


@cache
def windows(n: int, q: Fraction, epsilon: Fraction, rho: float, sets: int) -> tuple[Drawn, ...]:
    r"""Return the law of inverse sensitivity on samples of U(0, 1), at epsilon for one call.

    Only the order statistics around the quantile are drawn, by their representation as sums of
    exponential variables: what lies beyond weighs :math:`e^{-45}`. Distances are ranks, so on the
    window alone the mechanism for its median is the one for the quantile of all.
    """
    rng, m = np.random.default_rng(10), ceil(q * n)
    reach = min(ceil(90 / epsilon), m - 1, n - m)
    mechanism = InverseSensitivity(
        epsilon=epsilon, q=[0.5], cells=FINE, relation="substitute", rho=round(rho * FINE)
    )
    found = []
    for _ in range(sets):
        gaps = rng.standard_exponential(2 * reach)
        before = rng.standard_gamma(m - reach) + np.concatenate(([0.0], np.cumsum(gaps)))
        x = before / (before[-1] + rng.standard_gamma(n + 1 - m - reach))
        points = Points.of((x * FINE).astype(np.int64), FINE)
        found.append(Drawn(int(x[reach] * FINE), mechanism.single_law(points, 0)))
    return tuple(found)
