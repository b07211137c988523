"""W3: thresholds and levels of the estimator."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.densities.wavelets import Wavelet
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.dubois.risks import slope

if TYPE_CHECKING:
    from collections.abc import Callable

NU, GAMMA, N = 1.5, 2.5, 100_000
LEVELS = range(7)


def sigma(j: int) -> float:
    """Return the printed scale of a level of db4 at alpha 1."""
    wavelet = Wavelet("db4")
    peak = wavelet.touching * wavelet.peak("psi")
    return float(4 * (2 * NU - 1) / (NU - 1) * peak * max(j, 1) ** NU * 2 ** (j / 2))


def constant() -> float:
    """Return the printed K of db4."""
    wavelet = Wavelet("db4")
    return 4 * wavelet.touching * wavelet.peak("psi") * (2 * NU - 1) / (NU - 1)


def passes(power: Callable[[int], float]) -> Finding:
    """Find the chance that nothing but noise passes a level's threshold, from level 0 on.

    The mean of N Laplace variables is drawn, 20,000 times a level.
    """
    rng, chances = np.random.default_rng(3), []
    for j in LEVELS:
        noise = (rng.gamma(N, 1, 20_000) - rng.gamma(N, 1, 20_000)) * sigma(j) / N
        least = constant() * GAMMA * power(j) * 2 ** (j / 2) / sqrt(N)
        chances.append(float(np.mean(np.abs(noise) >= least)))
    words = f"noise passes at level 0 with chance {chances[0]:.3f}, at 1 with {chances[1]:.3f}"
    return Finding(max(chances) <= 0.1, max(chances), 0.002, words)


def unit(k: Callable[[], float]) -> Finding:
    """Compare K t with gamma sqrt(j) deviations of the noise, sigma_j / sqrt n, for j >= 1."""
    ratios = [
        k() * j ** (NU + 0.5) * 2 ** (j / 2) / sqrt(N) / (sqrt(j) * sigma(j) / sqrt(N))
        for j in LEVELS[1:]
    ]
    words = f"K t is {min(ratios):.4f} times gamma sqrt(j) sigma_j / sqrt(n)"
    return Finding(max(abs(r - 1) for r in ratios) < 1e-12, ratios[0], words=words)


def last_to_pass(n: float) -> int:
    """Return the last level where a coefficient of a density of at most 2 reaches K t, alpha 1."""
    wavelet = Wavelet("db4")
    absolute = float(np.abs(wavelet.values("psi", 12)).sum() / 2**12)
    j = np.arange(1, 100)
    largest = 2 * absolute * 2 ** (-j / 2)
    least = constant() * GAMMA * j ** (NU + 0.5) * 2 ** (j / 2) / sqrt(n)
    return int(j[largest >= least].max())


def finest(power: int) -> Finding:
    """Compare how the last level that can pass grows with 2^(power j1) = n/log n.

    Nothing may pass beyond j1; and the slope in log2 n, the threshold's j^(nu+1/2) taken out, must
    be 1/power within 0.05.
    """
    sizes = 10.0 ** np.arange(14, 32.1, 0.25)
    passing = np.array([last_to_pass(n) for n in sizes])
    ends = np.log2(sizes / np.log(sizes)) / power
    raw = slope(sizes, 2.0**passing)[0]
    found, error = slope(sizes, 2.0**passing * passing ** (NU + 0.5))
    words = (
        f"at n = 1e14 and 1e32 level {passing[0]} and {passing[-1]} can pass, j1 is {ends[0]:.1f}"
        f" and {ends[-1]:.1f}; the slope in log2 n is {raw:.2f}, without its logarithm"
        f" {found:.3f} ± {error:.3f}, said {1 / power:g}"
    )
    holds = bool((passing <= ends).all()) and abs(found - 1 / power) <= 0.05
    return Finding(holds, found, error, words)


def coarsest(exponent: Callable[[int], Fraction]) -> Finding:
    """Ask whether the noise of the level j0, never thresholded, stays below every rate for s < N.

    It is 2^(2 j0)/(n alpha^2); the rate in squared mean is (n alpha^2)^(-s/(s+1)): arithmetic of
    exponents, nothing is drawn.
    """
    gaps = [
        1 - 2 * exponent(n) - Fraction(s, s + 1)
        for n in (1, 2, 4, 8)
        for s in (Fraction(n * k, 100) for k in range(1, 100))
    ]
    words = f"with 2^j0 = (n alpha^2)^({exponent(4)}) at N = 4 the noise beats the rate by an"
    words += f" exponent of {float(min(gaps)):.4f} at least"
    return Finding(min(gaps) >= 0, float(min(gaps)), words=words)


CLAIMS = (
    Claim(
        id="W3",
        statement="the threshold is K gamma j^(nu+1/2) 2^(j/2)/sqrt(n alpha^2), level 0 included"
        " (there it is 0; read max(j, 1))",
        printed=lambda j: j ** (NU + 0.5),
        instead=lambda j: max(j, 1) ** (NU + 0.5),
        other=Instead.MEANT,
        check=passes,
        quote="t = t_{j,n,alpha} = gamma j^{nu+1/2} 2^{j/2} / sqrt(n alpha^2), beside sigma_j with"
        " (j v 1)^nu",
    ),
    Claim(
        id="W3b",
        statement="K = 4 c_A |psi| (2 nu - 1)/(nu - 1) makes the threshold gamma sqrt(j) sigma_j"
        " / sqrt(n) (rival: K without the factor in nu)",
        printed=constant,
        instead=lambda: constant() * (NU - 1) / (2 * NU - 1),
        other=Instead.RIVAL,
        check=unit,
    ),
    Claim(
        id="W3c",
        statement="the last level, 2^(2 j1) = n alpha^2/log, grows as the last one where a"
        " coefficient can pass the threshold, logarithms apart (rival: 2^j1, as without privacy)",
        printed=2,
        instead=1,
        other=Instead.RIVAL,
        check=finest,
    ),
    Claim(
        id="W3d",
        statement="the first level 2^j0 = (n alpha^2)^(1/(2N+2)) keeps its noise below all rates of"
        " s < N, by arithmetic (rival: 1/(2N+1), as without privacy)",
        printed=lambda n: Fraction(1, 2 * n + 2),
        instead=lambda n: Fraction(1, 2 * n + 1),
        other=Instead.RIVAL,
        check=coarsest,
    ),
)
