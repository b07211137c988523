"""L3: generalised randomised response on k categories, its estimator and its variance."""

from __future__ import annotations

from math import exp, expm1
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import RandomizedResponse
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level, response

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILONS = (0.1, 1.0, 3.0)
SIZES = (2, 9, 50)


def spent(keep: Callable[[float, int], float]) -> Finding:
    """Find how far the exact loss is from epsilon: it must reach it, and no more."""
    off = [level(response(keep(e, k), k)) - e for e in EPSILONS for k in SIZES]
    worst = max(off, key=abs)
    drawn = level(response(keep(1.0, 9), 9))
    words = f"k = 9, epsilon 1: loss {drawn:.4f}; farthest from epsilon by {worst:.4f}"
    return Finding(abs(worst) <= SLACK, drawn, words=words)


def law(n: int, cases: int, p: float, q: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the law of how often a category is reported when it is the truth of ``cases``."""
    made = np.ones(1)
    for chance in [p] * cases + [q] * (n - cases):
        made = np.convolve(made, [1 - chance, chance])
    return made


def varies(variance: Callable[[float, float, int, int], float]) -> Finding:
    """Compare the exact variance of the estimator with a formula in f, epsilon, k and n."""
    n, off = 30, 0.0
    for e in EPSILONS:
        for k in SIZES:
            p, q = RandomizedResponse(epsilon=e, categories=k).channel
            for cases in (0, 10, 30):
                chances = law(n, cases, p, q)
                estimate = (np.arange(n + 1) / n - q) / (p - q)
                mean = float(chances @ estimate)
                found = float(chances @ estimate**2) - mean**2
                off = max(off, abs(mean - cases / n), abs(variance(cases / n, e, k, n) / found - 1))
    words = f"bias and variance are off by {off:.2g} of the exact ones at most"
    return Finding(off < 1e-6, off, words=words)


def closed_form(f: float, epsilon: float, k: int, n: int) -> float:
    """Return the library's variance."""
    return RandomizedResponse(epsilon=epsilon, categories=k).variance(f, n)


CLAIMS = (
    Claim(
        id="L3",
        statement="kept with chance e^eps/(k - 1 + e^eps), a category's report spends eps exactly"
        " (rival: k in place of k - 1)",
        printed=lambda e, k: exp(e) / (k - 1 + exp(e)),
        instead=lambda e, k: exp(e) / (k + exp(e)),
        other=Instead.RIVAL,
        check=spent,
        quote="c.eϵ pour r = x, c sinon avec c = 1/(k - 1 + eϵ)",
    ),
    Claim(
        id="L3b",
        statement="what the slides leave out: (c/n - q)/(p - q) estimates a share f without bias,"
        " with variance (f p(1-p) + (1-f) q(1-q))/(n(p-q)^2) (rival: that of a rare category)",
        printed=closed_form,
        instead=lambda _, e, k, n: (k - 2 + exp(e)) / (n * expm1(e) ** 2),
        other=Instead.RIVAL,
        check=varies,
        ours=True,
    ),
)
