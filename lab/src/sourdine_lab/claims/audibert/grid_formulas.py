r"""Row A12, the formulas of appendix A.1: normalisers and characteristic functions.

Throughout :math:`r = e^{-n\varepsilon/4}` and :math:`q = e^{n\varepsilon/(2N)}`, so that the answer
:math:`k/N` weighs :math:`e^{-(n\varepsilon/2)|k/N - 1/2|}`.
"""

from __future__ import annotations

import cmath
from math import exp
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

Normaliser: TypeAlias = "Callable[[float, float, int], float]"
"""From r, q and L to the sum of all weights."""
PRODUCTS = (0.5, 8.0, 40.0)
"""Values of n epsilon."""
TIMES = (0.5, 3.0, 20.0)
LARGE = 100_000


def weights(product: float, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the weights of the n answers."""
    return np.asarray(np.exp(-product / 2 * np.abs(np.arange(n) / n - 0.5)))


def _normaliser(form: Normaliser, odd: int) -> Finding:
    ratios = [
        form(exp(-product / 4), exp(product / (2 * (2 * half + odd))), half)
        / weights(product, 2 * half + odd).sum()
        for product in PRODUCTS
        for half in (1, 5, 50)
    ]
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    words = f"formula over sum: {ratios[5]:.6f} at nε = 8, L = 50; farthest from 1: {worst:.3g}"
    return Finding(abs(worst - 1) < 1e-9, worst, words=words)


def odd_normaliser(form: Normaliser) -> Finding:
    """Compare a formula with the sum of the weights of 2L + 1 answers."""
    return _normaliser(form, 1)


def even_normaliser(form: Normaliser) -> Finding:
    """Compare a formula with the sum of the weights of 2L answers."""
    return _normaliser(form, 0)


def equivalent(form: Callable[[float], float]) -> Finding:
    """Compare a formula with the sum of weights over N, for large even and odd N."""
    ratios = [
        form(product) / (weights(product, n).sum() / n)
        for product in PRODUCTS
        for n in (LARGE, LARGE + 1)
    ]
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    return Finding(abs(worst - 1) < 1e-3, worst, words=f"formula over sum: {worst:.5f} at worst")


def phi_formula(rate: float, t: float) -> complex:
    """Return the printed characteristic function for a limit of this rate."""
    it, low = 1j * t, exp(-rate / 2)
    left = (cmath.exp(it / 2) - low) / (it + rate)
    right = (cmath.exp(it) * low - cmath.exp(it / 2)) / (it - rate)
    return rate / (2 * (1 - low)) * (left + right)


def characteristic(rate: Callable[[float], float]) -> Finding:
    """Compare the printed characteristic function with that of many answers, even and odd."""
    worst = 0.0
    for product in PRODUCTS:
        for n in (LARGE, LARGE + 1):
            p = weights(product, n)
            for t in TIMES:
                exact = complex(p @ np.exp(1j * t * np.arange(n) / n)) / float(p.sum())
                worst = max(worst, abs(phi_formula(rate(product), t) - exact))
    words = f"rate {rate(8.0):g} at nε = 8: greatest difference {worst:.1e}"
    return Finding(worst < 1e-3, worst, words=words)


def first_part(form: Callable[[complex, float, int], complex]) -> Finding:
    """Compare an equivalent of the first half of the characteristic function with the sum."""
    worst, n = 1.0 + 0.0j, 2 * LARGE + 1
    for product in PRODUCTS:
        p = weights(product, n)
        for t in TIMES:
            half = p[: LARGE + 1] @ np.exp(1j * t * np.arange(LARGE + 1) / n)
            ratio = form(1j * t, product, LARGE) / (complex(half) / float(p.sum()))
            worst = max(worst, ratio, key=lambda each: abs(each - 1))
    words = f"formula over sum: {abs(worst):.4g} at worst"
    return Finding(abs(worst - 1) < 1e-3, abs(worst), words=words)


def undivided(it: complex, product: float, half: int) -> complex:
    """Return the middle of the printed line for (1)/CN(2L + 1): (1) alone."""
    low = exp(-product / 4)
    rate = -(2 * it + product) / (2 * (2 * half + 1))
    return low * (1 - cmath.exp((2 * it + product) / 4)) / rate


def divided(it: complex, product: float, half: int) -> complex:
    """Return its right-hand side."""
    del half
    low = exp(-product / 4)
    return (cmath.exp(it / 2) - low) / (2 * it + product) * 2 * product / (4 * (1 - low))


CLAIMS = (
    Claim(
        id="A12i",
        statement="CN(2L+1) = r (1 + q - 2 q^(L+1)) / (1 - q)",
        printed=lambda r, q, half: r * (1 + q - 2 * q ** (half + 1)) / (1 - q),
        instead=lambda r, q, half: r * (1 + q - 2 * q**half) / (1 - q),
        other=Instead.RIVAL,
        check=odd_normaliser,
    ),
    Claim(
        id="A12j",
        statement="CN(2L) = (1 - r) (1 + 2q/(1 - q)²) (meant: (1 - r) (1 + 2/(q - 1)), which the "
        "lines above and below give)",
        printed=lambda r, q, _half: (1 - r) * (1 + 2 * q / (1 - q) ** 2),
        instead=lambda r, q, _half: (1 - r) * (1 + 2 / (q - 1)),
        other=Instead.MEANT,
        check=even_normaliser,
        quote="(1 - e^{-nϵ/4})[1 + 2e^{nϵ/4L}/(1 - e^{nϵ/4L})²]",
    ),
    Claim(
        id="A12k",
        statement="CN(N) ~ 4N (1 - e^(-n eps/4)) / (n eps)",
        printed=lambda product: 4 * (1 - exp(-product / 4)) / product,
        instead=lambda product: 4 / product,
        other=Instead.RIVAL,
        check=equivalent,
    ),
    Claim(
        id="A12l",
        statement="the characteristic functions of Y_N tend to the printed one, of rate n eps/2",
        printed=lambda product: product / 2,
        instead=lambda product: product,
        other=Instead.RIVAL,
        check=characteristic,
    ),
    Claim(
        id="A12m",
        statement="(1)/CN(2L+1) ~ the middle of its line, which is (1) itself, not divided "
        "(meant: its right-hand side)",
        printed=undivided,
        instead=divided,
        other=Instead.MEANT,
        check=first_part,
        quote="(1)/CN(2L+1) ~ e^{-nϵ/4}(1 - e^{(2it+nϵ)/4})/(-(2it+nϵ)/(2(2L+1))) = …",
    ),
)
