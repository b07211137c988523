"""The histogram method on standard normal samples (C8)."""

from __future__ import annotations

import operator
from fractions import Fraction
from math import erf, exp, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab import bounds
from sourdine_lab.claims.canesse.simulated import SURE, normal_edges, share
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    Claimed = Callable[[int, float, float, float, int], tuple[float, float]]

SETTINGS = (
    (1_000_000, Fraction(9, 10), 0.5, Fraction(1), 1, 50),
    (100_000, Fraction(9, 10), 0.2, Fraction(3), 500, 150),
)
"""n, q, gamma, epsilon, the number of cells of [-5, 5] and of runs."""


def accuracy(form: Claimed) -> Finding:
    """Simulate how often the answer is as near as claimed, with one cell and with 500.

    The form gives a radius around the law's decile and the probability to be within.
    """
    found = []
    for n, q, gamma, epsilon, steps, runs in SETTINGS:
        radius, claimed = form(n, float(q), gamma, float(epsilon), steps)
        away = np.abs(normal_edges(n, q, epsilon, runs, steps) - bounds.normal_quantile(q))
        found.append((share(away <= radius), claimed, steps))
    measured, claimed, steps = min(found, key=lambda f: f[0].value - f[1])
    words = (
        f"held in {measured.value:.2f} ± {measured.error:.2f} of the runs with {steps} "
        f"cell{'s' * (steps > 1)}, claimed at least {claimed:.3f}"
    )
    holds = measured.value >= claimed - SURE * measured.error
    return Finding(holds, measured.value, measured.error, words)


def own_cells(part: float) -> Finding:
    """Simulate the same at the method's own number of cells, n = 1e6, within a part of gamma."""
    n, gamma, found = 1_000_000, 0.1, []
    steps = bounds.histogram_steps(n)
    for i in (6, 7, 8, 9):
        q = Fraction(i, 10)
        claimed = bounds.normal_accuracy_printed(n, float(q), gamma, epsilon=1, steps=steps)
        away = np.abs(normal_edges(n, q, Fraction(1), 40, steps) - bounds.normal_quantile(q))
        found.append((share(away <= part * gamma), claimed, i))
    measured, claimed, i = min(found, key=lambda f: f[0].value - f[1])
    words = (
        f"held in {measured.value:.2f} ± {measured.error:.2f} of the runs with {steps} cells "
        f"(decile {i}), claimed at least {claimed:.3f}"
    )
    holds = measured.value >= claimed - SURE * measured.error
    return Finding(holds, measured.value, measured.error, words)


def _printed(n: int, q: float, gamma: float, epsilon: float, steps: int) -> tuple[float, float]:
    return gamma, bounds.normal_accuracy_printed(n, q, gamma, epsilon=epsilon, steps=steps)


def _corrected(n: int, q: float, gamma: float, epsilon: float, steps: int) -> tuple[float, float]:
    chance = bounds.normal_accuracy(n, q, gamma, epsilon=epsilon, steps=steps, bounds=(-5, 5))
    return gamma + 10 / steps, chance


def constant(least: float) -> Finding:
    r"""Compare :math:`25/(6\pi)` with what is claimed of it."""
    number = 25 / (6 * pi)
    return Finding(
        number >= least, number, 0.0, f"25/(6π) is {number:.2f}, claimed at least {least:g}"
    )


def last_step(holds: Callable[[float, float], bool]) -> Finding:
    """Compare the two sides of the last inequality in the proof of eta, on a grid."""
    kept, total = 0, 0
    for i, n in ((i, n) for i in (6, 7, 8, 9) for n in (10, 100, 1000)):
        d = bounds.normal_quantile(i / 10)
        for gamma in np.linspace(0.05 * d, d, 20):
            factor = 5 * gamma**2 * i * n / (16 * pi * (i + 5 * gamma / sqrt(2 * pi)) ** 2)
            before = exp(-factor * exp(-2 * (d / sqrt(2) + gamma / 2) ** 2))
            kept += holds(before, exp(-factor * exp(-(d**2))))
            total += 1
    return Finding(kept == total, kept / total, 0.0, f"holds at {kept} of {total} points")


def eta(form: Callable[[float, float], float]) -> Finding:
    """Compare eta with the exact chance that the sample's decile is more than gamma/2 away.

    The form is given the two exponents of the printed eta.
    """
    from scipy.special import bdtr, bdtrc, ndtr

    worst = 0.0
    for i, n in ((i, n) for i in (6, 7, 8, 9) for n in (10, 100, 1000, 10_000)):
        q, d, k = i / 10, bounds.normal_quantile(i / 10), i * n // 10
        for gamma in np.linspace(0.02 * d, 0.999 * d, 25):
            truth = bdtr(k - 1, n, ndtr(d + gamma / 2)) + bdtrc(k - 1, n, ndtr(d - gamma / 2))
            worst = max(worst, truth / form(*_exponents(n, q, float(gamma))))
    words = f"truth over claim at most {worst:.3g} for i = 6 to 9, claimed 1"
    return Finding(worst <= 1, worst, 0.0, words)


def _exponents(n: int, q: float, gamma: float) -> tuple[float, float]:
    d, i, root = bounds.normal_quantile(q), 10 * q, sqrt(2 * pi)
    first = n * gamma**2 / i**2 * (q - gamma / (2 * root)) * exp(-(d**2))
    second = 5 * gamma**2 * i * n / (16 * pi * (i + 5 * gamma / root) ** 2) * exp(-(d**2))
    return first, second


def mu(form: Callable[[float], float]) -> Finding:
    """Compare mu with the exact chance of fewer than alpha values in an outer interval.

    The form is given the printed mu, where it says something.
    """
    from scipy.special import bdtr, ndtr

    worst = 0.0
    for q, n, gamma in (
        (q, n, g) for q in (0.1, 0.5, 0.9) for n in (100, 1000, 10_000) for g in (0.1, 0.3, 1)
    ):
        d = bounds.normal_quantile(q)
        edges = ndtr([d - gamma, d - gamma / 2, d + gamma / 2, d + gamma])
        for alpha in (1, 3, 20, 100):
            truth = sum(bdtr(alpha - 1, n, p) for p in (edges[1] - edges[0], edges[3] - edges[2]))
            printed = bounds.normal_mu(n, q, gamma, alpha)
            if printed < 1:
                worst = max(worst, truth / form(printed))
    return Finding(worst <= 1, worst, 0.0, f"truth over claim at most {worst:.3g}, claimed 1")


def speaks_of(deciles: range) -> Finding:
    """Count the deciles for which an interval [0, d] of gamma holds more than 0."""
    empty = [i for i in deciles if bounds.normal_quantile(i / 10) <= 0]
    words = f"[0, d] holds no gamma above 0 for {len(empty)} of {len(deciles)} deciles"
    return Finding(not empty, len(empty), 0.0, words)


def quantile(form: Callable[[float], float]) -> Finding:
    """Put claimed deciles into the normal law's distribution function."""
    worst = max(abs((1 + erf(form(i / 5 - 1) / sqrt(2))) / 2 - i / 10) for i in range(1, 10))
    return Finding(worst < 1e-12, worst, 0.0, f"the law at the deciles is off by up to {worst:.2g}")


def _erfinv(x: float) -> float:
    from scipy.special import erfinv

    return float(erfinv(x))


CLAIMS = (
    Claim(
        id="C8",
        statement="The answer is within gamma with probability 1 - beta - eta - mu for any number "
        "k of cells (3.5.0.1; the width of a cell is missing; at the method's own k, C8h)",
        printed=_printed,
        instead=_corrected,
        other=Instead.CORRECTION,
        check=accuracy,
        quote="P(A_i ∈ [d_i - gamma, d_i + gamma]) ≥ 1 - beta - eta - mu ... k ∈ N",
    ),
    Claim(
        id="C8b",
        statement="25/(6π) ≥ 5 (appendix C; 1 is what the step needs)",
        printed=5.0,
        instead=1.0,
        other=Instead.CORRECTION,
        check=constant,
        quote="comme 25/(6π) ≥ 5",
    ),
    Claim(
        id="C8c",
        statement="The last inequality in the proof of eta goes upwards",
        printed=operator.le,
        instead=operator.ge,
        other=Instead.OPPOSITE,
        check=last_step,
        quote="exp(-F exp(-2(erf⁻¹(2*0.1i - 1) + gamma/2)²)) ≤ exp(-F exp(-d_i²)), "
        "F = 5 gamma² in/(16π(i + 5 gamma/√2π)²)",
    ),
    Claim(
        id="C8d",
        statement="The sample's decile is gamma/2 away with probability eta at most (3.5.0.2) "
        "[rival: ten times the exponents]",
        printed=lambda first, second: exp(-first) + exp(-second),
        instead=lambda first, second: exp(-10 * first) + exp(-10 * second),
        other=Instead.RIVAL,
        check=eta,
    ),
    Claim(
        id="C8e",
        statement="Fewer than alpha values in an outer interval: probability mu at most (3.5.0.3) "
        "[rival: twice the exponent]",
        printed=lambda value: value,
        instead=lambda value: value**2 / 2,
        other=Instead.RIVAL,
        check=mu,
    ),
    Claim(
        id="C8f",
        statement="The theorem, with gamma in [0, d], speaks of all deciles",
        printed=range(1, 10),
        instead=range(6, 10),
        other=Instead.CORRECTION,
        check=speaks_of,
        quote="Soit gamma ∈ [0, d_i], i ∈ [1, 9]",
    ),
    Claim(
        id="C8g",
        statement="The deciles of N(0, 1) are √2 erfinv(0.2 i - 1) (3.5.0.1) [rival: without √2]",
        printed=lambda x: sqrt(2) * _erfinv(x),
        instead=_erfinv,
        other=Instead.RIVAL,
        check=quantile,
    ),
    Claim(
        id="C8h",
        statement="With its own k = 1.5 n/ln n cells the answer is within gamma as promised "
        "(3.5.0.1; n = 1e6, ε = 1, gamma = 0.1) [rival: within a hundredth of gamma]",
        printed=1.0,
        instead=0.01,
        other=Instead.RIVAL,
        check=own_cells,
    ),
)
