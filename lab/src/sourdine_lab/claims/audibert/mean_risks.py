"""Rows A4: quadratic risks of a mean (section 3.3).

Four values are drawn from a law on 0, 1 and 4, so that all 81 samples can be listed, and the noise
is summed over its law on a fine grid: the risks are exact but for a millionth.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms.gaussian import gaussian_law, tight_variance
from sourdine.mechanisms.laplace import laplace_law
from sourdine_lab.bounds import mean_risk, mean_risk_gaussian, mean_risk_laplace
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.laws import Law

    Floats = NDArray[np.float64]

VALUES, CHANCES = np.array([0.0, 1.0, 4.0]), np.array([0.2, 0.5, 0.3])
THETA = float(VALUES @ CHANCES)
VARIANCE = float((VALUES - THETA) ** 2 @ CHANCES)
N, WIDTH, EPSILON, C = 4, 4, 0.8, 5
SCALE = 400
"""Ticks in (b-a)/(n epsilon), the unit of the noise."""
CLOSE = 1e-5
TICKS = 64


def _errors() -> tuple[Floats, Floats]:
    """Return the errors of the means of all samples, and the probabilities of the samples."""
    samples = np.array(list(product(range(len(VALUES)), repeat=N)))
    return VALUES[samples].mean(axis=1) - THETA, CHANCES[samples].prod(axis=1)


@cache
def _noise(kind: str) -> tuple[Floats, Floats]:
    """Return the noise of the mean and its probabilities."""
    law: Law
    if kind == "laplace":
        law = laplace_law(0, Fraction(SCALE))
    else:
        law = gaussian_law(0, Fraction(C * SCALE) ** 2)
    ticks = np.arange(-60 * SCALE, 60 * SCALE + 1)
    return ticks.astype(np.float64) * WIDTH / (N * EPSILON * SCALE), law.pmf(ticks)


def _risk(kind: str) -> float:
    """Return the mean squared error over all samples and all values of the noise."""
    (errors, chances), (noise, weights) = _errors(), _noise(kind)
    total = sum(p * float((e + noise) ** 2 @ weights) for e, p in zip(errors, chances, strict=True))
    return float(total)


def _compared(claimed: float, exact: float) -> Finding:
    holds = abs(claimed / exact - 1) <= CLOSE
    return Finding(holds, claimed / exact, 0.0, f"{claimed:.5f}, by listing {exact:.5f}")


def without(risk: Callable[[int, float], float]) -> Finding:
    """Compare with the risk without noise."""
    errors, chances = _errors()
    return _compared(risk(N, VARIANCE), float(errors**2 @ chances))


def laplace(risk: Callable[[int, float], float]) -> Finding:
    """Compare with the risk with Laplace noise."""
    return _compared(risk(N, VARIANCE), _risk("laplace"))


def gaussian(risk: Callable[[int, float], float]) -> Finding:
    """Compare with the risk with Gaussian noise."""
    return _compared(risk(N, VARIANCE), _risk("gaussian"))


def decomposed(together: Callable[[float, float, float], float]) -> Finding:
    """Put the risk together from the mean, the mean square and the variance of the error."""
    errors, chances = _errors()
    first, second = float(errors @ chances), float(errors**2 @ chances)
    return _compared(together(first, second, second - first**2), second)


def difference(more: Callable[[float, float], float]) -> Finding:
    """Compare with how much worse Gaussian noise is than Laplace noise."""
    return _compared(more(C, WIDTH / (N * EPSILON)), _risk("gaussian") - _risk("laplace"))


def preferred(delta: Fraction) -> Finding:
    """Compare Laplace noise with the least Gaussian noise at this delta, at three epsilons."""
    ratios = {}
    for epsilon in (Fraction(1, 10), Fraction(4, 5), Fraction(3)):
        gaussian = tight_variance(epsilon, delta, TICKS)
        ratios[float(epsilon)] = gaussian / (2 * (TICKS / epsilon) ** 2)
    shown = ", ".join(f"{float(ratio):.3g} at epsilon {e}" for e, ratio in ratios.items())
    least = float(min(ratios.values()))
    return Finding(least > 1, least, 0.0, f"Gaussian over Laplace variance {shown}")


CLAIMS = (
    Claim(
        id="A4",
        statement="A mean without noise has the quadratic risk Var/n (rival: Var/(n-1)).",
        printed=mean_risk,
        instead=lambda n, variance: variance / (n - 1),
        other=Instead.RIVAL,
        check=without,
    ),
    Claim(
        id="A4b",
        statement="Laplace noise of scale alpha adds 2 alpha² (rival: alpha²).",
        printed=lambda n, v: mean_risk_laplace(n, v, epsilon=EPSILON, bounds=(0, WIDTH)),
        instead=lambda n, v: v / n + (WIDTH / (n * EPSILON)) ** 2,
        other=Instead.RIVAL,
        check=laplace,
    ),
    Claim(
        id="A4c",
        statement="Gaussian noise adds c²(b-a)²/(n epsilon)² (rival: c in place of c²).",
        printed=lambda n, v: mean_risk_gaussian(n, v, epsilon=EPSILON, bounds=(0, WIDTH), c=C),
        instead=lambda n, v: v / n + C * (WIDTH / (n * EPSILON)) ** 2,
        other=Instead.RIVAL,
        check=gaussian,
    ),
    Claim(
        id="A4d",
        statement="The risk is the mean of the squared error plus its variance (meant: the square "
        "of the mean error, which is the 0² of the next line, plus its variance).",
        printed=lambda first, second, variance: second + variance,  # noqa: ARG005
        instead=lambda first, second, variance: first**2 + variance,  # noqa: ARG005
        other=Instead.MEANT,
        check=decomposed,
        quote="E[(θ̂_n - θ)²] = E[(ΣX_i/n - θ)²] + Var[ΣX_i/n - θ] = 0² + …",
    ),
    Claim(
        id="A4e",
        statement="Gaussian noise is worse than Laplace noise by (c²-2)(b-a)²/(n epsilon)² "
        "(rival: c²-1).",
        printed=lambda c, unit: (c**2 - 2) * unit**2,
        instead=lambda c, unit: (c**2 - 1) * unit**2,
        other=Instead.RIVAL,
        check=difference,
    ),
    Claim(
        id="A4f",
        statement="Laplace noise is to be preferred here, delta = 1e-5, even to the least Gaussian "
        "noise that will do (rival: also at delta = 0.1).",
        printed=Fraction(1, 10**5),
        instead=Fraction(1, 10),
        other=Instead.RIVAL,
        check=preferred,
    ),
)
