r"""Wavelet estimators of a density, with privacy and without, and their risks.

People are drawn by their law from a density on a grid of :math:`2^{12}` cells. Nobody's noise is
drawn alone: the sum of n Laplace variables is drawn at once, as a difference of two gamma
variables, which is the sum's exact law. So n may be :math:`10^{12}`.

The grid has no levels beyond 11. The paper's last level is a finer one from
:math:`n\alpha^2 = 3.2 \cdot 10^8` on, but nothing of these densities reaches a threshold there.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, log, log2, sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.local.densities.dubois import Dubois, rebuilt
from sourdine.local.densities.wavelets import UNIT, Basis, Wavelet
from sourdine_lab.besov import means
from sourdine_lab.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "BITS", "CELLS", "NOISE", "SHAPES", "SMOOTHNESS", "X", "heights", "kept", "linear", "means",
    "noisy", "open_hard", "printed_hard", "private_hard", "slope", "wavelet",
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
SMOOTHNESS = {"triangle": 1.5, "step": 0.5, "smooth": 4.0}
"""In squared mean; of the last as much as db4 has vanishing moments."""


def wavelet(*, derivatives: int = -1) -> Kind:
    """Return the kind of a wavelet of PyWavelets, with N at least as given."""

    def read(given: object) -> str:
        made = Wavelet(str(given))
        if made.smoothness < derivatives:
            raise ValueError
        return made.name

    rough = "" if derivatives < 0 else f" with N >= {derivatives}"
    return Kind(f"be an orthogonal wavelet of PyWavelets{rough}", read)


def heights(name: str) -> Floats:
    """Return a density's height on each cell."""
    f = SHAPES[name](X)
    return np.asarray(f / f.mean())


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
def _rule(n: int, alpha: float, name: str) -> Dubois:
    return Dubois(bounds=(0, 1), epsilon=alpha, n=n, wavelet=name)


@lru_cache(8)
def _printed(n: int, alpha: float, name: str, nu: float, gamma: float) -> Dubois:
    return Dubois.printed(n, alpha, wavelet=name, nu=nu, gamma=gamma)


def private_hard(
    n: int, truth: Floats, rng: np.random.Generator, *, alpha: float = 1, name: str = "db4"
) -> Floats:
    """Estimate by `Dubois` as it is: exact constants, a coarser first level, a cap."""
    rule = _rule(n, alpha, name)
    averages, thresholds = noisy(rule, n, truth, rng), rule.thresholds(n)
    return rebuilt(rule.basis, averages, [0.0] * len(averages), thresholds, cap=True)[0]


def printed_hard(
    n: int, truth: Floats, rng: np.random.Generator, *, alpha: float = 1, name: str = "db8",
    nu: float = 1.5, gamma: float = 4,
) -> Floats:  # fmt: skip
    """Estimate by the paper's rule: its noise, levels and thresholds, and no cap."""
    rule = _printed(n, alpha, name, nu, gamma)
    return kept(rule.basis, noisy(rule, n, truth, rng), rule.thresholds(n))


def open_hard(n: int, truth: Floats, rng: np.random.Generator, *, name: str = "db4") -> Floats:
    """Estimate from the values themselves, thresholded at sqrt(2 ln n / n)."""
    last = min(BITS - 1, max(2, floor(log2(n / log(n)))))
    basis = Basis(name, BITS, 2, last)
    share = rng.multinomial(n, truth / truth.sum()) / n
    averages = [level.height * means(basis, level, share) for level in basis.levels]
    return kept(basis, averages, [sqrt(2 * log(n) / n) * (v.kind == "psi") for v in basis.levels])


def linear(
    n: int, truth: Floats, rng: np.random.Generator, s: float, *, private: bool, alpha: float = 1,
    name: str = "db4", noise: float = NOISE,
) -> Floats:  # fmt: skip
    """Estimate by the functions phi of one level, the best for a known smoothness s.

    That level is 2^J = (n alpha^2/C)^(1/(2s+2)) with privacy, all of it spent on these functions,
    and n^(1/(2s+1)) without; C = ``noise`` stands for the noise.
    """
    power, size = (2 * s + 2, n * alpha**2 / noise) if private else (2 * s + 1, n)
    j = min(BITS - 1, max(0, round(log2(max(size, 1)) / power)))
    basis = Basis(name, BITS, j, j)
    level = basis.levels[0]
    share = rng.multinomial(n, truth / truth.sum()) / n
    average = means(basis, level, share)
    if private:
        scale = 2 * basis.reach(level) / UNIT / alpha
        average += scale * (rng.gamma(n, 1, average.size) - rng.gamma(n, 1, average.size)) / n
    return basis.rebuild(level, level.height * average)


def slope(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the slope of the line through the logarithms, and its standard error."""
    a, b = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    found = float(a @ b / (a @ a))
    left = b - found * a
    return found, float(sqrt(left @ left / max(len(a) - 2, 1) / (a @ a)))
