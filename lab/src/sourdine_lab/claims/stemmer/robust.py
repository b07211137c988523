"""S3: an oblivious algorithm made robust by many copies and a private median."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import expm1, log, log1p, log10, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.attacks import probe
from sourdine.adaptive.robust.proof import copies_needed, cost, stray
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.f2 import AmsSketch
from sourdine.noise import SeededSource
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.stemmer.copies import ACCURACY, private_median
from sourdine_lab.lecture import lecture_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.adaptive.sketches.f2 import F2Sketch

COPIES, ROWS, PROBES, RUNS = 100, 100, 1000, 4
CELLS, MISS = 25, 0.05
"""Cells of the median, and the chance to miss in a look: our choice."""
TIMES = {"t_init": 1000, "t_update": 10, "t_query": 7}


class Counted:
    """A dynamic algorithm of the value 100 that counts what is asked of it."""

    def __init__(self, tally: Counter[str]) -> None:
        self.tally = tally
        tally["init"] += 1

    def update(self) -> None:
        """Count an update."""
        self.tally["update"] += 1

    def query(self) -> float:
        """Count a query."""
        self.tally["query"] += 1
        return 100.0


def phase(steps: int, copies: int, sample: int) -> Counter[str]:
    """Return what a phase of the construction makes its copies do."""
    tally: Counter[str] = Counter()
    robust = Robust(
        lambda _: Counted(tally), copies=copies, sample=sample, epsilon0=50, steps=steps,
        start=100, source=SeededSource(1),
    )  # fmt: skip
    for _ in range(steps):
        robust.update()
        robust.query()
    return tally


def many_sketches(seed: int) -> F2Sketch:
    """Return the private median of 100 sketches of 100 rows, 25 of which are asked."""
    return private_median(COPIES, ROWS, sample=25, epsilon0=2, start=1e6, source=SeededSource(seed))


def one_sketch(seed: int) -> F2Sketch:
    """Return one sketch of as many rows in all."""
    return AmsSketch(COPIES * ROWS, seed)


def withstands_probes(make: Callable[[int], F2Sketch]) -> Finding:
    """Probe sketches of 10,000 rows 1000 times, and find the mean relative error."""
    errors = [
        abs(probe(make(seed), PROBES, rng=np.random.default_rng(seed)).ratio - 1)
        for seed in range(RUNS)
    ]
    mean, deviation = float(np.mean(errors)), float(np.std(errors, ddof=1)) / sqrt(RUNS)
    words = f"error {mean:.3f} ± {deviation:.3f} after {PROBES} probes, {ACCURACY} allowed"
    return Finding(mean + 4 * deviation <= ACCURACY, mean, deviation, words)


def asks_so_many(asked: Callable[[int, int], int]) -> Finding:
    """Count the values that a median of so many takes, beside the T s of the lecture's total."""
    steps, copies, sample = 100, 10, 4
    counted = phase(steps, copies, asked(sample, copies))["query"]
    words = f"{counted} values in {steps} steps, {steps * sample} were asked for"
    return Finding(counted == steps * sample, counted, 0.0, words)


def counts_the_cost(formula: Callable[[int, int], float]) -> Finding:
    """Count the operations of phases with sqrt(T) copies, and compare with a formula for a step."""
    worst, words = 0.0, ""
    for steps, sample in ((100, 4), (400, 10)):
        done = phase(steps, round(sqrt(steps)), sample)
        true = sum(TIMES[f"t_{what}"] * count for what, count in done.items()) / steps
        found = formula(steps, sample)
        worst = max(worst, abs(found / true - 1))
        words = f"T = {steps}, s = {sample}: {found:.1f} by the formula, {true:.1f} counted"
    return Finding(worst < 1e-9, worst, 0.0, words)


@cache
def median_needs(epsilon0: float) -> int:
    """Return the fewest copies, all right, on which a private median seldom misses."""
    return next(s for s in range(1, 10**6) if stray(s, s, 0, epsilon0, cells=CELLS) <= MISS)


def median_fits(steps: int) -> Finding:
    """Compare sqrt(T) copies with those that a private median needs at epsilon0 = 1/100."""
    need = median_needs(0.01)
    words = f"epsilon0 = 0.01 takes s = {need} copies a step, there are {sqrt(steps):.0f}"
    return Finding(need <= sqrt(steps), need, 0.0, words)


def composed(factor: float, steps: int) -> float:
    """Return the epsilon of the looks of a phase of c sqrt(T) copies, each at its sample's own.

    The median takes as many copies as it needs at epsilon0 = 1; advanced composition, delta 1e-6.
    """
    each = log1p(median_needs(1) / (factor * sqrt(steps)) * expm1(1))
    return each * sqrt(2 * steps * log(1e6)) + steps * each * expm1(each)


def constant_of_a_proof(factor: float) -> Finding:
    """Compare c with k/sqrt(T), k the fewest copies for which all T steps are proved right.

    It may be off by a quarter. Two other ways to prove are told beside it.
    """
    ratios = [copies_needed(10**i) / sqrt(10**i) for i in range(2, 7)]
    steps = 10_000
    median = copies_needed(steps, method="exponential") / sqrt(steps)
    composition = next(c for c in range(1, 1000) if composed(c, steps) <= 1)
    fits = all(0.75 <= ratio / factor <= 1.25 for ratio in ratios)
    words = (
        f"{factor:g} sqrt(T) stated, {min(ratios):.0f} to {max(ratios):.0f} by Gaussian counts; at "
        f"T = {steps} a private median takes {median:.0f}, composition to epsilon 1 {composition}"
    )
    return Finding(fits, ratios[2], 0.0, words)


def copies_grow_as(power: float) -> Finding:
    """Compare a power of T with that of the copies which our proof needs."""
    slope = log10(copies_needed(10**6) / copies_needed(10**3)) / 3
    words = f"copies of our proof grow as T^{slope:.3f}, claimed T^{power:g}"
    return Finding(abs(slope - power) < 0.1, slope, 0.0, words)


CLAIMS = (
    Claim(
        id="S3",
        statement="Copies under a private median stay right, within 25% (our threshold), when "
        "updates depend on the answers (rival: one sketch of the same memory)",
        printed=many_sketches,
        instead=one_sketch,
        other=Instead.RIVAL,
        check=withstands_probes,
    ),
    Claim(
        id="S3b",
        statement="Step 3d takes the median of y_{i,1..k}; y_{i,1..s} are meant, which step 3c "
        "makes",
        printed=lambda sample, copies: copies,  # noqa: ARG005 - both forms know s and k
        instead=lambda sample, copies: sample,  # noqa: ARG005
        other=Instead.MEANT,
        check=asks_so_many,
        quote="Output z_i = DP_Stable_Median(y_{i,1}, …, y_{i,k})",
    ),
    Claim(
        id="S3c",
        statement="A phase costs k t_init + T k t_update + T s t_query (rival: without s, which "
        "the next line takes for a constant)",
        printed=lambda steps, sample: cost(
            steps, **TIMES, copies=round(sqrt(steps)), sample=sample
        ),
        instead=lambda steps, sample: lecture_cost(steps, **TIMES),  # noqa: ARG005 - as if s = 1
        other=Instead.RIVAL,
        check=counts_the_cost,
    ),
    Claim(
        id="S3d",
        statement="Observed, as no T is named: s of sqrt(T) copies are enough for a private median "
        "with epsilon0 of about 1/100, 25 cells and a miss in 20 looks, for T = 6.2 million "
        "(rival: 6.0 million)",
        printed=6_200_000,
        instead=6_000_000,
        other=Instead.RIVAL,
        check=median_fits,
        ours=True,
    ),
    Claim(
        id="S3e",
        statement="Observed: where the lecture says about sqrt(T) copies, our proof takes 100 "
        "sqrt(T), within a quarter, for T from 100 to 10^6; not shown necessary (rival: half of "
        "that)",
        printed=100.0,
        instead=50.0,
        other=Instead.RIVAL,
        check=constant_of_a_proof,
        ours=True,
    ),
    Claim(
        id="S3f",
        statement="The number of copies grows as the square root of T, by our proof within 0.1 in "
        "the power (rival: as T, one copy a change)",
        printed=0.5,
        instead=1.0,
        other=Instead.RIVAL,
        check=copies_grow_as,
    ),
)
