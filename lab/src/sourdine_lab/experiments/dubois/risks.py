r"""Wavelet estimators of a density, with privacy and without, and their risks.

People are drawn by their law from a density on a grid of :math:`2^{12}` cells. The sum of the noise
of n people is drawn at once, as a difference of two gamma variables: the sum's exact law.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, log, log2, sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.local.densities.dubois import Dubois, rebuilt
from sourdine.local.densities.wavelets import UNIT, Basis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.local.densities.wavelets import Level

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "BITS", "CELLS", "SHAPES", "X", "heights", "kept", "linear", "means", "noisy", "open_hard",
    "private_hard", "slope",
]  # fmt: skip

BITS = 12
CELLS = 1 << BITS
NOISE = 100
X = (np.arange(CELLS) + 0.5) / CELLS

SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "triangle": lambda x: 1 - np.abs(2 * x - 1),
    "step": lambda x: np.where(x < 0.3, 2.0, 0.5),
    "smooth": lambda x: np.sin(np.pi * x) ** 8,
}


def heights(name: str) -> Floats:
    """Return a density's height on each cell."""
    f = SHAPES[name](X)
    return np.asarray(f / f.mean())


@lru_cache(64)
def _columns(basis: Basis, level: Level) -> tuple[NDArray[np.int64], Floats]:
    """Return which function of a level each cell's values belong to, and the values."""
    whole, column = basis.places(level, np.arange(1 << basis.bits))
    table = basis.table(level)
    rows = np.stack([whole - m + len(table) - 1 for m in range(len(table))])
    return rows.ravel(), (table[:, column] / UNIT).ravel()


def means(basis: Basis, level: Level, share: Floats) -> Floats:
    """Return the mean of a level's functions over people's shares of the cells, times 2^(-j/2)."""
    rows, values = _columns(basis, level)
    weights = values * np.tile(share, len(values) // len(share))
    made: Floats = np.bincount(rows, weights, minlength=basis.size(level)).astype(np.float64)
    return made


def noisy(rule: Dubois, n: int, truth: Floats, rng: np.random.Generator) -> list[Floats]:
    """Return the averages of n people's private coefficients, level by level."""
    share = rng.multinomial(n, truth / truth.sum()) / n
    made = []
    for level, t in zip(rule.basis.levels, rule.scales, strict=True):
        size = rule.basis.size(level)
        noise = float(t) / UNIT * (rng.gamma(n, 1, size) - rng.gamma(n, 1, size)) / n
        made.append(level.height * (means(rule.basis, level, share) + noise))
    return made


def kept(basis: Basis, averages: list[Floats], thresholds: list[float]) -> Floats:
    """Return the estimate that keeps what reaches its level's threshold."""
    return rebuilt(basis, averages, [0.0] * len(averages), thresholds, cap=False)[0]


@lru_cache(8)
def _rule(n: int) -> Dubois:
    return Dubois(bounds=(0, 1), epsilon=1, n=n)


def private_hard(n: int, truth: Floats, rng: np.random.Generator) -> Floats:
    """Estimate by the paper's rule: its levels and thresholds, noise of the exact constants."""
    rule = _rule(n)
    averages, thresholds = noisy(rule, n, truth, rng), rule.thresholds(n)
    return rebuilt(rule.basis, averages, [0.0] * len(averages), thresholds, cap=True)[0]


def open_hard(n: int, truth: Floats, rng: np.random.Generator) -> Floats:
    """Estimate from the values themselves, thresholded at sqrt(2 ln n / n)."""
    last = min(BITS - 1, max(2, floor(log2(n / log(n)))))
    basis = Basis("db4", BITS, 2, last)
    share = rng.multinomial(n, truth / truth.sum()) / n
    averages = [level.height * means(basis, level, share) for level in basis.levels]
    return kept(basis, averages, [sqrt(2 * log(n) / n) * (v.kind == "psi") for v in basis.levels])


def linear(n: int, truth: Floats, rng: np.random.Generator, s: float, *, private: bool) -> Floats:
    """Estimate by the functions phi of one level, the best for a known smoothness s.

    That level is 2^J = (n/C)^(1/(2s+2)) with privacy, all of it spent on these functions, and
    n^(1/(2s+1)) without; C stands for the noise.
    """
    power, size = (2 * s + 2, n / NOISE) if private else (2 * s + 1, n)
    j = min(BITS - 1, max(0, round(log2(max(size, 1)) / power)))
    basis = Basis("db4", BITS, j, j)
    level = basis.levels[0]
    share = rng.multinomial(n, truth / truth.sum()) / n
    average = means(basis, level, share)
    if private:
        scale = 2 * basis.reach(level) / UNIT
        average += scale * (rng.gamma(n, 1, average.size) - rng.gamma(n, 1, average.size)) / n
    return basis.rebuild(level, level.height * average)


def slope(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the slope of the line through the logarithms, and its standard error."""
    a, b = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    found = float(a @ b / (a @ a))
    left = b - found * a
    return found, float(sqrt(left @ left / max(len(a) - 2, 1) / (a @ a)))
