"""L5: staircase noise: its printed density, its gamma, and what redrawing it costs."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms.staircase import gamma_l1
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
STEPS = 800
"""Steps of the staircase that are added up: nothing is left after them at epsilon 0.1."""


def gamma_printed(epsilon: float) -> float:
    """Return the slide's gamma, term by term."""
    b = exp(-epsilon)
    root = (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3)
    return float(-b / (1 - b) + root / (2 ** (1 / 3) * (1 - b) ** 2))


def redrawn(epsilon: float, gamma: float) -> float:
    """Return the exact loss of redrawing until inside an interval as wide as the sensitivity.

    Inside there are two heights: 1 within gamma of the input, exp(-epsilon) elsewhere.
    """
    x, y = np.linspace(0, 1, 401)[:, None], (np.arange(400) + 0.5) / 400
    near = np.minimum(x + gamma, 1) - np.maximum(x - gamma, 0)
    height = np.where(np.abs(x - y) < gamma, 1.0, exp(-epsilon))
    return level(height / (near + exp(-epsilon) * (1 - near)))


def spends(claimed: Callable[[float], float], gamma: Callable[[float], float]) -> Finding:
    """Compare the exact loss of the redrawn staircase with a level."""
    found = {e: redrawn(e, gamma(e)) for e in EPSILONS}
    over = max(found[e] - claimed(e) for e in EPSILONS)
    words = f"at epsilon 1 it loses {found[1.0]:.4f}, the form says {claimed(1.0):.4f}"
    return Finding(over <= SLACK, found[1.0], words=words)


def spends_in_code(claimed: Callable[[float], float]) -> Finding:
    """Take the gamma of the slide's code, 1/(1 + exp(epsilon/2))."""
    return spends(claimed, gamma_l1)


def spends_on_slide(claimed: Callable[[float], float]) -> Finding:
    """Take the gamma that the slide prints."""
    return spends(claimed, gamma_printed)


def true_level(epsilon: float) -> float:
    """Return the level with the slide's gamma: the window is cut to half at the ends."""
    b, g = exp(-epsilon), gamma_printed(epsilon)
    return epsilon + log((b + (1 - b) * 2 * g) / (b + (1 - b) * g))


def steps(epsilon: float, gamma: float) -> tuple[NDArray[np.float64], float]:
    """Return the numbers of the outer steps, and the printed height of the inner one."""
    b = exp(-epsilon)
    return np.arange(STEPS, dtype=np.float64), (1 - b) / (2 * (gamma + b * (1 - gamma)))


def mass(exponent: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Finding:
    """Add up the density with b to a power on the steps from (j + gamma) to (j + 1 + gamma)."""
    found = {}
    for gamma in (gamma_l1, gamma_printed):
        for e in EPSILONS:
            j, height = steps(e, gamma(e))
            inner, outer = gamma(e), float(np.exp(-e * exponent(j)).sum())
            found[gamma, e] = 2 * height * (inner + outer)
    off = max(abs(m - 1) for m in found.values())
    code, slide = (found[gamma, 1.0] for gamma in (gamma_l1, gamma_printed))
    words = f"mass {code:.2f} at epsilon 1 with the code's gamma, {slide:.2f} with the slide's"
    return Finding(off < 1e-6, code, words=words)


def variance(epsilon: float, gamma: float) -> float:
    """Return the second moment of the staircase, step by step."""
    j, height = steps(epsilon, gamma)
    outer = ((j + 1 + gamma) ** 3 - (j + gamma) ** 3) / 3
    return float(2 * height * (gamma**3 / 3 + np.exp(-epsilon * (j + 1)) @ outer))


def least(gamma: Callable[[float], float]) -> Finding:
    """Compare the variance at the form's gamma with the least over a fine grid of them."""
    over = {}
    for e in EPSILONS:
        others = min(variance(e, g) for g in np.linspace(0.001, 0.999, 999))
        over[e] = max(variance(e, gamma(e)) / others - 1, 0.0)
    worst = max(over, key=lambda e: over[e])
    words = f"the variance is {over[worst]:.2%} above the least at worst (epsilon {worst:g})"
    return Finding(over[worst] <= 1e-6, over[worst], words=words)


def added(amplitude: float) -> Finding:
    """Find the exact loss of noise that is not redrawn, for inputs so far apart, over Delta.

    A report's density at a distance z is b to the number of the step that z is on.
    """
    apart, z = np.linspace(0, amplitude, 56)[:, None], np.linspace(-5, 5, 5001)
    worst = 0.0
    for gamma in (gamma_l1, gamma_printed):
        for e in EPSILONS:
            on, off = (np.ceil(np.abs(t) - gamma(e)).clip(min=0) for t in (z, z - apart))
            worst = max(worst, float(np.abs(on - off).max()))
    words = f"the worst loss is {worst:g} times epsilon, inputs {amplitude:g} Delta apart"
    return Finding(worst <= 1 + SLACK, worst, words=words)


CLAIMS = (
    Claim(
        id="L5",
        statement="staircase noise redrawn until inside is eps private, as coded (it spends"
        " eps + ln(2 - e^(-eps/2)))",
        printed=lambda e: e,
        instead=lambda e: e + log(2 - exp(-e / 2)),
        other=Instead.CORRECTION,
        check=spends_in_code,
        quote="stairc = mechanisms.Staircase(epsilon=1,sensitivity=mx-mi) ... while (not"
        " insideBounds): r = stairc.randomise(val)",
    ),
    Claim(
        id="L5b",
        statement="read so that the redrawn noise has the printed gamma, it is not eps private"
        " either: it spends more than the code does",
        printed=lambda e: e,
        instead=true_level,
        other=Instead.CORRECTION,
        check=spends_on_slide,
        quote="ϵ-LDP : admise",
        ours=True,
    ),
    Claim(
        id="L5c",
        statement="the staircase's density is alpha b^j on the outer steps (it is b^(j+1), which"
        " the printed alpha makes a density)",
        printed=lambda j: j,
        instead=lambda j: j + 1,
        other=Instead.MEANT,
        check=mass,
        quote="α(γ)b^j si |z| ∈ [(j + γ)∆, (j + 1 + γ)∆[",  # noqa: RUF001
    ),
    Claim(
        id="L5d",
        statement="the printed gamma is the best one, for the variance (the code takes another,"
        " best for the mean distance)",
        printed=gamma_printed,
        instead=gamma_l1,
        other=Instead.RIVAL,
        check=least,
        quote="γ = -b/(1-b) + (b - 2b² + 2b⁴ - b⁵)^(1/3) / (2^(1/3) (1-b)²)",  # noqa: RUF001
    ),
    Claim(
        id="L5e",
        statement="staircase noise that is not redrawn is eps private for inputs in an interval of"
        " amplitude Delta (rival: one 10% wider)",
        printed=1.0,
        instead=1.1,
        other=Instead.RIVAL,
        check=added,
        quote="MStair(x) = x + v ... ϵ-LDP : admise",
    ),
)
