"""Rows A1: the mean with Laplace noise (section 3.1)."""

from __future__ import annotations

import operator
from fractions import Fraction
from itertools import pairwise, product
from math import erfc, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.mechanisms.laplace import laplace_law
from sourdine.noise import SeededSource
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.audibert.figure_1 import whole_values
from sourdine_lab.settings import DataLaw

if TYPE_CHECKING:
    from collections.abc import Callable

N, TOP = 1000, 1000
"""Figure 1: a thousand values from 0 to 1000, so the noise of their sum is in whole numbers."""
EPSILON = Fraction(4, 5)
NEAR = 1e-9
NORMAL = f"normal({TOP / 2:g},{sqrt(TOP / 8)})"
"""The second parameter of the report's normal laws is the variance, as in section 2."""


def _deviation(epsilon: Fraction, top: int = TOP) -> float:
    """Return the standard deviation of the mean's noise, by the law."""
    return sqrt(laplace_law(0, top / epsilon).variance()) / N


def raised(moves: Callable[[float, float], bool]) -> Finding:
    """Compare the noise before and after epsilon is doubled, four times."""
    epsilons = [EPSILON / 8, EPSILON / 4, EPSILON / 2, EPSILON, 2 * EPSILON]
    deviations = [_deviation(epsilon) for epsilon in epsilons]
    told = [moves(after, before) for before, after in pairwise(deviations)]
    words = (
        f"standard deviation {deviations[3]:.3f} at epsilon 0.8, {deviations[4]:.3f} at 1.6; "
        f"as claimed in {sum(told)} of {len(told)} doublings"
    )
    return Finding(all(told), deviations[4] / deviations[3], 0.0, words)


def private(scale: Callable[[int, Fraction], Fraction]) -> Finding:
    """Compare the laws of all shifts within the sensitivity."""
    worst = 0.0
    for sensitivity, epsilon in product((1, 5, 40), (Fraction(1, 10), EPSILON, Fraction(3))):
        laws = [laplace_law(x, scale(sensitivity, epsilon)) for x in range(sensitivity + 1)]
        loss = max(laws[0].divergence(law).upper for law in laws)
        worst = max(worst, loss / float(epsilon))
    return Finding(worst <= 1 + NEAR, worst, 0.0, f"loss {worst:.3f} epsilon, claimed epsilon")


def sensitive(sensitivity: Callable[[int, int], float]) -> Finding:
    """Find the most that one replaced value moves a mean of values from 0 to 3."""
    most = {n: _most_moved(n) for n in (1, 2, 3, 4)}
    holds = all(abs(sensitivity(3, n) - moved) <= NEAR for n, moved in most.items())
    words = f"{most[4]:.4f} for four values from 0 to 3, claimed {sensitivity(3, 4):.4f}"
    return Finding(holds, most[4], 0.0, words)


def _most_moved(n: int) -> float:
    data = [np.array(x) for x in product(range(4), repeat=n)]
    return max(abs(float(x.mean() - y.mean())) for x in data for y in data if (x != y).sum() <= 1)


def tenth(factor: float) -> Finding:
    """Divide the upper bound by 10 and measure how narrow and how high the peak becomes."""
    narrower = _deviation(EPSILON) / _deviation(EPSILON, TOP // 10)
    peaks = [float(laplace_law(0, top / EPSILON).pmf(0)) for top in (TOP // 10, TOP)]
    higher = peaks[0] / peaks[1]
    holds = abs(narrower / factor - 1) < 0.01 and abs(higher / factor - 1) < 0.01
    words = f"{narrower:.3f} times as narrow, {higher:.3f} times as high, claimed {factor:.3g}"
    return Finding(holds, narrower, 0.0, words)


def spread(variance: Callable[[float], float]) -> Finding:
    """Integrate the variance of the density numerically."""
    x = np.linspace(0, 60, 600_001)
    ratios = []
    for alpha in (0.5, 1.0, 7.0):
        density = np.exp(-x) / (2 * alpha)
        moment = 2 * float(np.trapezoid((alpha * x) ** 2 * density, alpha * x))
        ratios.append(variance(alpha) / moment)
    holds = all(abs(ratio - 1) < 1e-6 for ratio in ratios)
    return Finding(holds, ratios[1], 0.0, f"{ratios[1]:.4f} times the integral")


def similar(kept: bool) -> Finding:  # noqa: FBT001
    """Compare 2000 private means of uniform and of normal values, by how far they spread.

    The data are kept for all runs, and means compared with theirs; or they are drawn afresh, and
    means compared with the law's.
    """
    runs, middle = 2000, TOP / 2
    found = {}
    for i, law in enumerate((f"uniform(0,{TOP})", NORMAL)):
        rng = np.random.default_rng(i)
        sums = [
            int(whole_values(DataLaw.read(law), N, (0, TOP), rng).sum())
            for _ in range(1 if kept else runs)
        ]
        drawn = noise.discrete_laplace(TOP / EPSILON, runs, source=SeededSource(i))
        found[law] = (np.array(sums) - (sums[0] if kept else N * middle) + drawn) / N
    away = [np.abs(one) for one in found.values()]
    uniform, normal = (float(one.mean()) for one in away)
    error = normal / uniform * sum((one.std() / one.mean()) ** 2 / runs for one in away) ** 0.5
    ratio = normal / uniform
    words = (
        f"normal values spread {ratio:.3f} ± {error:.3f} times as wide as uniform ones, "
        f"{'the same data in all runs' if kept else 'fresh data in each run'}"
    )
    return Finding(abs(ratio - 1) <= 4 * error, ratio, error, words)


def stays_inside(deviation: float) -> Finding:
    """Find how likely one of 1000 normal values is to leave [0, 1000]."""
    one = erfc(TOP / 2 / deviation / sqrt(2))
    words = (
        f"[0, 1000] is ±{TOP / 2 / deviation:.1f} deviations; one of {N} values leaves it with "
        f"probability {N * one:.2g} at most"
    )
    return Finding(N * one < 1e-9, N * one, 0.0, words)


CLAIMS = (
    Claim(
        id="A1",
        statement="Raising epsilon raises the scale of the Laplace noise, so it spreads wider "
        "(meant: lowers it, as alpha = sensitivity/epsilon stands above).",
        printed=operator.gt,
        instead=operator.lt,
        other=Instead.MEANT,
        check=raised,
        quote="Augmenter ϵ fait aussi augmenter α donc le support du bruit augmente.",  # noqa: RUF001
    ),
    Claim(
        id="A1b",
        statement="Laplace noise of scale sensitivity/epsilon is epsilon-private "
        "(rival: a scale 10% smaller).",
        printed=lambda sensitivity, epsilon: sensitivity / epsilon,
        instead=lambda sensitivity, epsilon: sensitivity / epsilon * Fraction(9, 10),
        other=Instead.RIVAL,
        check=private,
    ),
    Claim(
        id="A1c",
        statement="One replaced value moves a mean by (b-a)/n at most "
        "(rival: (b-a)/(n+1), for an added value).",
        printed=lambda width, n: width / n,
        instead=lambda width, n: width / (n + 1),
        other=Instead.RIVAL,
        check=sensitive,
    ),
    Claim(
        id="A1d",
        statement="Dividing b by 10 divides the width of the peak by 10 and makes it 10 times as "
        "high (rival: the root of 10).",
        printed=10.0,
        instead=10**0.5,
        other=Instead.RIVAL,
        check=tenth,
    ),
    Claim(
        id="A1e",
        statement="The Laplace law of scale alpha has variance 2 alpha² (rival: alpha²).",
        printed=lambda alpha: 2 * alpha**2,
        instead=lambda alpha: alpha**2,
        other=Instead.RIVAL,
        check=spread,
    ),
    Claim(
        id="A1f",
        statement="Normal values, N(500, 125), 125 being the variance as in section 2, give "
        "similar results: 2000 private means of one data set spread about its mean as those of "
        "uniform values do (rival: about the law's mean, fresh data in each run).",
        printed=True,
        instead=False,
        other=Instead.RIVAL,
        check=similar,
        quote="la même simulation avec des X_i gaussiennes, de loi N((a+b)/2, (a+b)/8). Les "
        "résultats sont similaires.",
    ),
    Claim(
        id="A1g",
        statement="Observed, the report does not clamp them: a normal law has no range, but of "
        "1000 values of N(500, 125) none leaves [0, 1000], so the same noise serves (rival: 125 "
        "read as the standard deviation).",
        printed=sqrt(TOP / 8),
        instead=TOP / 8,
        other=Instead.RIVAL,
        check=stays_inside,
        ours=True,
    ),
)
