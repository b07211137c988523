"""Rows A8 and A11: how near to the quantiles IndExp, JointExp and RecExp come."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.lab.claims.claim import Claim, Finding, Instead
from sourdine.lab.experiments.audibert.many_quantiles import (
    AS_DRAWN,
    algorithm,
    largest,
    on_grid,
    orders,
    squares,
    values,
)
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair: TypeAlias = tuple[str, str]
"""Two methods, the first said to be nearer to the truth."""
Case: TypeAlias = tuple[str, str, str]
"""A law of the data, a norm, and a form of IndExp to hold against RecExp."""
SURE = 4.0
"""How many standard errors a difference must have."""
NORMS = {"squares": squares, "largest": largest}


@cache
def distances(  # noqa: PLR0913 - what is drawn, and how often
    method: str,
    law: str,
    norm: str,
    m: int,
    epsilon: float,
    *,
    n: int = 100,
    runs: int = 80,
    width: float = 1.0,
) -> NDArray[np.float64]:
    """Return the distances of runs from the quantiles of the law, in units of the data's range.

    Every method meets the same data sets.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - late

    q = orders(m)
    rng, source = np.random.default_rng(5), SeededSource(5)
    mechanism = algorithm(method, q, epsilon)
    truth = np.array(q) if law == "uniform" else betaincinv(2.0, 2.0, np.array(q))
    out = []
    for _ in range(runs):
        x = rng.random(n) if law == "uniform" else rng.beta(2.0, 2.0, n)
        drawn = width * values(method, mechanism, on_grid(x / width), source)
        out.append(NORMS[norm](drawn - truth))
    return np.array(out)


def margin(worse: NDArray[np.float64], better: NDArray[np.float64]) -> float:
    """Return the difference of two means in its standard errors."""
    apart = worse - better
    return float(apart.mean() / (apart.std(ddof=1) / len(apart) ** 0.5))


def nearer(pair: Pair, law: str, norm: str) -> Finding:
    """Judge which of two is nearer, for 19 and 49 quantiles at epsilon 1 and 10."""
    better, worse = pair
    cases = [
        [distances(method, law, norm, m, e) for method in (worse, better)]
        for m in (20, 50)
        for e in (1, 10)
    ]
    least = min(margin(*case) for case in cases)
    risk = [float(one.mean()) for one in cases[2]]
    words = (
        f"{better} {risk[1]:.2f}, {worse} {risk[0]:.2f} (m = 50, ε = 1); least margin of four "
        f"cases {least:.1f} standard errors"
    )
    return Finding(least > SURE, least, 1.0, words)


def nearer_in_squares(pair: Pair) -> Finding:
    """Figure 12: the squared norm on U(0, 1)."""
    return nearer(pair, "uniform", "squares")


def nearer_at_worst(pair: Pair) -> Finding:
    """Figure 13: the greatest norm on Beta(2, 2)."""
    return nearer(pair, "beta", "largest")


def sorted_noise(width: float) -> Finding:
    """Hold sorted IndExp against RecExp at epsilon 1 with bounds so many times the data's range."""
    pair = [
        distances(method, "uniform", "squares", 50, 1, width=width)
        for method in ("recexp", "indexp")
    ]
    sure = margin(*pair)
    words = (
        f"bounds {width:g} times the range: IndExp sorted {pair[1].mean():.2f}, RecExp "
        f"{pair[0].mean():.2f}"
    )
    return Finding(sure > SURE, sure, 1.0, words)


def above_indexp(method: str) -> Finding:
    """Judge whether IndExp is nearer to nine deciles of 100 records, at epsilon 10."""
    other, indexp = (distances(name, "uniform", "squares", 10, 10) for name in (method, AS_DRAWN))
    sure = margin(other, indexp)
    words = f"{method} {other.mean():.3f}, IndExp {indexp.mean():.3f} (m = 10, ε = 10)"
    return Finding(sure > SURE, sure, 1.0, words)


def reverses(cases: tuple[Case, Case]) -> Finding:
    """Judge whether the nearer of IndExp and RecExp is another in the second case."""
    sure = [
        margin(
            distances("recexp", law, norm, 50, 1), distances(indexp, law, norm, 50, 1)
        )
        for law, norm, indexp in cases
    ]  # fmt: skip
    holds = sure[0] > SURE and sure[1] < -SURE
    before, after = (", ".join(case) for case in cases)
    words = f"IndExp ahead by {sure[0]:.1f} standard errors ({before}), by {sure[1]:.1f} ({after})"
    return Finding(holds, sure[1], 1.0, words)


def beats(pair: Pair) -> Finding:
    """Judge which of two is nearer to nine deciles of 1000 records, at epsilon 1."""
    better, worse = (
        distances(method, "uniform", "squares", 10, 1, n=1000, runs=300) for method in pair
    )
    sure = margin(worse, better)
    names = f"{pair[0]} {1e3 * better.mean():.2f}, {pair[1]} {1e3 * worse.mean():.2f}"
    return Finding(sure > SURE, sure, 1.0, f"thousand times the risk: {names}")


CLAIMS = (
    Claim(
        id="A8b",
        statement="m independent draws are far from the best: a joint draw of nine deciles is "
        "nearer",
        printed=("jointexp", "indexp"),
        instead=("indexp", "jointexp"),
        other=Instead.RIVAL,
        check=beats,
    ),
    Claim(
        id="A8c",
        statement="RecExp's precision beats all records, so JointExp's for nine deciles, where a "
        "record is replaced",
        printed=("recexp", "jointexp"),
        instead=("jointexp", "recexp"),
        other=Instead.OPPOSITE,
        check=beats,
    ),
    Claim(
        id="A11",
        statement="figure 12: in the squared norm IndExp (left as drawn) beats RecExp",
        printed=(AS_DRAWN, "recexp"),
        instead=("recexp", AS_DRAWN),
        other=Instead.OPPOSITE,
        check=nearer_in_squares,
    ),
    Claim(
        id="A11b",
        statement="figure 13: in the greatest norm on Beta(2, 2) RecExp beats IndExp",
        printed=("recexp", AS_DRAWN),
        instead=(AS_DRAWN, "recexp"),
        other=Instead.RIVAL,
        check=nearer_at_worst,
    ),
    Claim(
        id="A11c",
        statement="figures 12 and 13 differ in their winner because of the norm; it is whether "
        "IndExp's answers are sorted",
        printed=(("uniform", "squares", "indexp"), ("uniform", "largest", "indexp")),
        instead=(("uniform", "squares", "indexp"), ("uniform", "squares", AS_DRAWN)),
        other=Instead.CORRECTION,
        check=reverses,
    ),
    Claim(
        id="A11d",
        statement="once sorted, IndExp beats RecExp on U(0, 1) at epsilon 1: sorted noise over the "
        "bounds is the answer where the data fill them",
        printed=1.0,
        instead=10.0,
        other=Instead.RIVAL,
        check=sorted_noise,
    ),
    Claim(
        id="A11e",
        statement="RecExp lies above IndExp, as figure 12 shows it, where its orders are not "
        "rescaled",
        printed="recexp unscaled",
        instead="recexp",
        other=Instead.RIVAL,
        check=above_indexp,
    ),
)
