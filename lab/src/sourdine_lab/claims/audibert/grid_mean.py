"""Row A12, the statements: a mean chosen among N answers, and what it tends to."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise
from math import exp
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Real: TypeAlias = NDArray[np.float64]

Coupling: TypeAlias = "Callable[[Real, Real], tuple[Real, Real]]"
"""From two uniform variables to the two that Y_N and Y are made of."""
N_RECORDS, EPSILON = 1000, 0.8
RATE = N_RECORDS * EPSILON / 2
"""n epsilon/2, the rate of the limit."""


def chances(n: int, centre: float = 0.5, rate: float = RATE) -> Real:
    """Return the probabilities of the n answers k/n."""
    logs = -rate * np.abs(np.arange(n) / n - centre)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def limit_cdf(y: Real, rate: float) -> Real:
    """Return the distribution function of the Laplace law around 1/2, cut to [0, 1]."""
    half = np.where(y < 0.5, np.exp(-rate * np.abs(y - 0.5)), 2 - np.exp(-rate * np.abs(y - 0.5)))
    low = exp(-rate / 2)
    return np.asarray((half - low) / (2 - 2 * low))


def tends_to_laplace(part: float) -> Finding:
    """Compare distribution functions as N grows, the limit having so large a part of epsilon."""
    sizes = (1_000, 10_000, 100_000)
    apart = [_distance(n, RATE, N_RECORDS * part * EPSILON) for n in sizes]
    words = f"ε' = {part:g}ε: greatest distance {apart[-1]:.1e} at N = {sizes[-1]}"
    falls = all(after < before / 5 for before, after in pairwise(apart))
    return Finding(falls and apart[-1] < 1e-2, apart[-1], words=words)


def _distance(n: int, rate: float, limit_rate: float) -> float:
    """Return the greatest distance between the distribution functions of Y_N and of a limit."""
    p, limit = chances(n, rate=rate), limit_cdf(np.arange(n) / n, limit_rate)
    upto = np.cumsum(p)
    return float(max(np.abs(upto - limit).max(), np.abs(upto - p - limit).max()))


def quicker(epsilons: tuple[float, ...]) -> Finding:
    """See whether the answers come nearer to 1/2 along these epsilons, for even and odd N."""
    apart = {
        n: [_from_half(n, N_RECORDS * epsilon / 2) for epsilon in epsilons]
        for n in (50, 51, 100, 101, 500, 501, 2_000, 2_001)
    }
    falls = [all(a > b for a, b in pairwise(each)) for each in apart.values()]
    shown = _along(epsilons, apart[2_000])
    words = f"E|Y_N - 1/2| {shown}, N = 2000; falls so at {sum(falls)} of {len(falls)} N"
    return Finding(all(falls), apart[2_000][-1] / apart[2_000][0], words=words)


def limit_quicker(epsilons: tuple[float, ...]) -> Finding:
    """See whether the law of 2000 answers comes nearer to its own limit along these epsilons."""
    rates = [N_RECORDS * epsilon / 2 for epsilon in epsilons]
    apart = [_distance(2_000, rate, rate) for rate in rates]
    falls = all(a > b for a, b in pairwise(apart))
    words = f"distance from the limit {_along(epsilons, apart)}, N = 2000"
    return Finding(falls, apart[-1] / apart[0], words=words)


def _from_half(n: int, rate: float = RATE) -> float:
    """Return E|Y_N - 1/2|."""
    return float(chances(n, rate=rate) @ np.abs(np.arange(n) / n - 0.5))


def _along(epsilons: tuple[float, ...], found: list[float]) -> str:
    return ", ".join(f"{x:.4f} at ε = {e:g}" for e, x in zip(epsilons, found, strict=True))


def keeps_width(limit: float) -> Finding:
    """Compare the expected distance from 1/2 at ever larger N with a limit."""
    found = [_from_half(n) for n in (100, 10_000, 1_000_000)]
    words = (
        f"E|Y_N - 1/2| = {found[0]:.5f}, {found[1]:.5f}, {found[2]:.5f} at N = 100, 10⁴, 10⁶; "
        f"said to tend to {limit:g}"
    )
    return Finding(abs(found[-1] - limit) < 1e-5, found[-1], words=words)


def misses(limit: Callable[[float], float]) -> Finding:
    """Compare P(Y_N - Y >= eta), for Y apart from Y_N and a large odd N, with its limit."""
    n = 200_001
    p, at = chances(n), np.arange(n) / n
    exact = {eta: float(p @ limit_cdf(np.maximum(at - eta, 0), RATE)) for eta in (0.001, 0.02)}
    worst = max(abs(limit(eta) - found) for eta, found in exact.items())
    words = f"at η = 0.02: {limit(0.02):.5f}, exactly {exact[0.02]:.5f}"
    return Finding(worst < 1e-3, limit(0.02), words=words)


def stays_apart(coupling: Coupling) -> Finding:
    """Draw Y_N and Y at a large N, and see how often they are a Laplace scale apart."""
    n, rng = 100_000, np.random.default_rng(12)
    u, v = coupling(rng.random(20_000), rng.random(20_000))
    grid = np.cumsum(chances(n)).searchsorted(u) / n
    line = np.where(v < 0.5, 0.5 + np.log(2 * v) / RATE, 0.5 - np.log(2 - 2 * v) / RATE)
    share = float(np.mean(np.abs(grid - line) >= 1 / RATE))
    error = (share * (1 - share) / len(u)) ** 0.5
    words = f"P(|Y_N - Y| >= 1/(nε')) = {share:.3f} at N = {n}"
    return Finding(share > 0.05 + 4 * error, share, error, words)


def follows_data(centre: Callable[[Real], float]) -> Finding:
    """Estimate the mean of records that are not around 1/2."""
    x = np.random.default_rng(3).beta(2.0, 6.0, N_RECORDS)
    n = 10_000
    estimate = float(chances(n, centre(x)) @ (np.arange(n) / n))
    words = f"the mean of X is {x.mean():.3f}, the expected answer {estimate:.3f}"
    return Finding(abs(estimate - float(x.mean())) < 0.005, estimate, words=words)


def added(most: Callable[[int], float]) -> Finding:
    """Compare how far a record added to n others moves their mean with all cases for small n."""
    found = {n: max(_moves(n, (None,), n + 1)) for n in range(1, 7)}
    holds = all(abs(most(n) - moved) < 1e-12 for n, moved in found.items())
    words = f"said {most(4):.3f} for n = 4, found {found[4]:.3f}; at most {max(found.values()):.2f}"
    return Finding(holds, found[4], words=words)


def replaced(most: Callable[[int], float]) -> Finding:
    """Compare how far a record replaced among n moves their mean with all cases for small n."""
    found = {n: max(_moves(n, (0.0, 0.5, 1.0), n)) for n in range(1, 7)}
    holds = all(abs(most(n) - moved) < 1e-12 for n, moved in found.items())
    return Finding(holds, found[4], words=f"said {most(4):.3f} for n = 4, found {found[4]:.3f}")


def _moves(n: int, old: tuple[float | None, ...], size: int) -> list[float]:
    """Return how far the mean moves from some records and an old one to them and a new one."""
    values = (0.0, 0.5, 1.0)
    return [
        abs((sum(x) + new) / size - (sum(x) + (last or 0.0)) / n)
        for x in combinations_with_replacement(values, size - 1)
        for last in old
        for new in values
    ]


def keeps_privacy(part: float) -> Finding:
    """Compare the laws of the answers for neighbouring means k/n and (k + 1)/n."""
    n, epsilon, worst = 20, 1.0, 0.0
    for size in (2, 5, 50, 1000):
        rate = n * part * epsilon
        logs = [np.log(chances(size, k / n, rate)) for k in range(n + 1)]
        worst = max(worst, *(float(np.abs(a - b).max()) for a, b in pairwise(logs)))
    words = f"exponent {part:g} epsilon/sensitivity: loss {worst:.3f} at most, allowed 1"
    return Finding(worst <= 1, worst, words=words)


def any_density(power: float) -> Finding:
    """Choose among N answers by a power of a density, here of 1 + sin(3y)/2 cut to [0, 1].

    Section 5.2 takes u = ln f, so that the exponent is epsilon/(2 epsilon') times ln f.
    """
    n = 100_000
    at = np.arange(n) / n
    total = 1 + (1 - np.cos(3)) / 6
    weights = (1 + np.sin(3 * at) / 2) ** power
    exact = (at + (1 - np.cos(3 * at)) / 6) / total
    apart = float(np.abs(np.cumsum(weights) / weights.sum() - exact).max())
    words = f"ε = {2 * power:g} ε': greatest distance {apart:.1e} at N = {n}"
    return Finding(apart < 1e-4, apart, words=words)


CLAIMS = (
    Claim(
        id="A12",
        statement="the exponential mechanism on N answers tends in law to a Laplace law of "
        "epsilon' = epsilon/2, cut to [0, 1]",
        printed=0.5,
        instead=1.0,
        other=Instead.RIVAL,
        check=tends_to_laplace,
    ),
    Claim(
        id="A12b",
        statement="Observed, figures 18 to 20, where the answers seem to converge to 0.5 as N "
        "grows: read as a distance that tends to 0; it tends to 2/(n epsilon)",
        printed=0.0,
        instead=1 / RATE,
        other=Instead.CORRECTION,
        check=keeps_width,
        quote="L'algorithme semble converger assez rapidement vers 0.5",
        ours=True,
    ),
    Claim(
        id="A12c",
        statement="P(Y_N - Y >= eta) tends to 1/8 + (e^(-n eps (1+2 eta)/4) + e^(-n eps eta/2))/4",
        printed=lambda eta: 1 / 8 + (exp(-RATE * (1 + 2 * eta) / 2) + exp(-RATE * eta)) / 4,
        instead=lambda eta: (1 / 2 + RATE * eta / 4) * exp(-RATE * eta),
        other=Instead.CORRECTION,
        check=misses,
        quote="P(Y_N - Y ≥ η) → 1/8 + (e^{-nϵ(1+2η)/4} + e^{-nϵη/2})/4 > 0",
    ),
    Claim(
        id="A12d",
        statement="there is no convergence in probability: true of a Y apart from Y_N, not of one "
        "made from the same chance",
        printed=lambda u, v: (u, v),
        instead=lambda u, _v: (u, u),
        other=Instead.RIVAL,
        check=stays_apart,
    ),
    Claim(
        id="A12e",
        statement="the utility is -|o - 1/2|, which does not look at the data (meant: -|o - mean "
        "of X|, as in the line for its sensitivity)",
        printed=lambda _x: 0.5,
        instead=lambda x: float(x.mean()),
        other=Instead.MEANT,
        check=follows_data,
        quote="Prenons la fonction d'utilité u : (X, o) ↦ -|o - 1/2|.",
    ),
    Claim(
        id="A12f",
        statement="the mean's sensitivity is 1 where a record is added or removed",
        printed=lambda _n: 1.0,
        instead=lambda n: 1 / (n + 1),
        other=Instead.CORRECTION,
        check=added,
        quote="Δu = […] 1 pour une relation d'addition / replacement",
    ),
    Claim(
        id="A12g",
        statement="the mean's sensitivity is 1/n where a record is replaced",
        printed=lambda n: 1 / n,
        instead=lambda n: 1 / (n + 1),
        other=Instead.RIVAL,
        check=replaced,
    ),
    Claim(
        id="A12h",
        statement="the exponential mechanism with u = ln f tends to the mechanism of density f, "
        "for epsilon' = epsilon/2",
        printed=1.0,
        instead=0.5,
        other=Instead.RIVAL,
        check=any_density,
    ),
    Claim(
        id="A12n",
        statement="figures 18 to 21: the larger epsilon, the quicker the answers come to 0.5, read "
        "as: the nearer at the same N (rival: the smaller epsilon); how near they stay is A12b",
        printed=(0.1, 0.8, 3.0),
        instead=(3.0, 0.8, 0.1),
        other=Instead.RIVAL,
        check=quicker,
    ),
    Claim(
        id="A12o",
        statement="Observed: the smaller epsilon, the nearer at the same N is the law to its own "
        "limit, cut Laplace (rival: the larger epsilon)",
        printed=(3.0, 0.8, 0.1),
        instead=(0.1, 0.8, 3.0),
        other=Instead.RIVAL,
        check=limit_quicker,
        ours=True,
    ),
    Claim(
        id="A12p",
        statement="a choice among N answers comes near one among all and stays epsilon-private, "
        "whatever N (rival: with an exponent that is not halved)",
        printed=0.5,
        instead=1.0,
        other=Instead.RIVAL,
        check=keeps_privacy,
        quote="approcher un mécanisme ayant un ensemble infini de réponses, en conservant de plus "
        "la differential privacy",
    ),
)
