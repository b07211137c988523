"""S3: an oblivious algorithm made robust by many copies and a private median."""

from __future__ import annotations

from collections import Counter
from math import expm1, log, log1p, log10, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.attacks.f2 import probe
from sourdine.adaptive.robust import Robust, certified_steps, copies_needed, cost, lecture_cost
from sourdine.adaptive.robust.proof import stray
from sourdine.adaptive.sketches import AmsSketch
from sourdine.lab.claims.claim import Claim, Finding, Instead
from sourdine.lab.experiments.stemmer.copies import ACCURACY, private_median
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.adaptive.sketches.ams import F2Sketch

COPIES, ROWS, PROBES, RUNS = 100, 100, 1000, 4
CELLS, MISS = 25, 0.05
CERTIFIED = {1000: 0.09, 3000: 0.03, 10_000: 0.011}
"""Copies, and an epsilon0 for which many steps are proved."""


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
    """Probe sketches of 10 000 rows 1000 times, and find the mean relative error."""
    errors = [
        abs(probe(make(seed), PROBES, rng=np.random.default_rng(seed)).ratio - 1)
        for seed in range(RUNS)
    ]
    mean, deviation = float(np.mean(errors)), float(np.std(errors, ddof=1)) / sqrt(RUNS)
    words = f"error {mean:.3f} ± {deviation:.3f} after {PROBES} probes, claimed {ACCURACY}"
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


TIMES = {"t_init": 1000, "t_update": 10, "t_query": 7}


def median_fits(epsilon0: float) -> Finding:
    """Find the copies that a private median needs, and compare with sqrt(T) of them."""
    steps = 10_000
    need = next(s for s in range(1, 10**6) if stray(s, s, 0, epsilon0, cells=CELLS) <= MISS)
    words = f"epsilon0 {epsilon0:g} takes s = {need} copies a step, there are {round(sqrt(steps))}"
    return Finding(need <= sqrt(steps), need, 0.0, words)


def copies_suffice(copies: Callable[[int], float]) -> Finding:
    """Compare a number of copies with the least for which all T steps are proved right."""
    need = {10**i: copies_needed(10**i) for i in range(2, 7)}
    enough = all(copies(steps) >= k for steps, k in need.items())
    words = f"T = 10 000: {copies(10_000):.0f} claimed, {need[10_000]} proved"
    return Finding(enough, need[10_000], 0.0, words)


def phase_is_stable(factor: float) -> Finding:
    """Compose the looks of a phase of c sqrt(T) copies, each at the sample's own epsilon.

    The median takes as many copies as it needs at epsilon0 = 1; advanced composition, delta 1e-6.
    """
    sample = next(s for s in range(1, 1000) if stray(s, s, 0, 1.0, cells=CELLS) <= MISS)
    totals = []
    for steps in (10**4, 10**6):
        each = log1p(sample / (factor * sqrt(steps)) * expm1(1))
        totals.append(each * sqrt(2 * steps * log(1e6)) + steps * each * expm1(each))
    words = (
        f"epsilon {max(totals):.3g} over a phase with {factor:g} sqrt(T) copies, claimed at most 1"
    )
    return Finding(max(totals) <= 1, max(totals), 0.0, words)


def copies_grow_as(power: float) -> Finding:
    """Compare a power of T with that of the copies which a proof needs."""
    slope = log10(copies_needed(10**6) / copies_needed(10**3)) / 3
    words = f"copies of a proof grow as T^{slope:.3f}, claimed T^{power:g}"
    return Finding(abs(slope - power) < 0.1, slope, 0.0, words)


def steps_are_certified(steps: Callable[[int], float]) -> Finding:
    """Compare the steps of a phase of k copies with what the certificate says."""
    proved = {k: certified_steps(k, sample=k, epsilon0=eps) for k, eps in CERTIFIED.items()}
    fine = all(steps(k) <= t for k, t in proved.items())
    words = f"3000 copies: {steps(3000):.0f} steps claimed, {proved[3000]} certified"
    return Finding(fine, proved[3000], 0.0, words)


CLAIMS = (
    Claim(
        id="S3",
        statement="Copies under a private median stay right when updates depend on the answers "
        "(rival: one sketch of the same memory)",
        printed=many_sketches,
        instead=one_sketch,
        other=Instead.RIVAL,
        check=withstands_probes,
    ),
    Claim(
        id="S3b",
        statement="Step 3d takes the median of y_{i,1..k}; there are y_{i,1..s} only",
        printed=lambda sample, copies: copies,  # noqa: ARG005 - both forms know s and k
        instead=lambda sample, copies: sample,  # noqa: ARG005
        other=Instead.CORRECTION,
        check=asks_so_many,
    ),
    Claim(
        id="S3c",
        statement="A step costs t_init/sqrt T + sqrt T t_update + t_query; it is s t_query",
        printed=lambda steps, sample: lecture_cost(steps, **TIMES),  # noqa: ARG005 - no s printed
        instead=lambda steps, sample: cost(
            steps, **TIMES, copies=round(sqrt(steps)), sample=sample
        ),
        other=Instead.CORRECTION,
        check=counts_the_cost,
    ),
    Claim(
        id="S3d",
        statement="The private median runs with epsilon0 of about 1/100 on s of sqrt(T) copies; "
        "for T = 10 000 that takes an epsilon0 of about 1 or 2",
        printed=0.01,
        instead=1.0,
        other=Instead.CORRECTION,
        check=median_fits,
    ),
    Claim(
        id="S3e",
        statement="About sqrt(T) copies carry a proof; with its constants the certificate takes up "
        "to 125 sqrt(T) for a million steps (no attack shows that fewer fail)",
        printed=sqrt,
        instead=lambda steps: 125 * sqrt(steps),
        other=Instead.CORRECTION,
        check=copies_suffice,
    ),
    Claim(
        id="S3f",
        statement="The number of copies grows as the square root of T (rival: as T, one copy a "
        "change)",
        printed=0.5,
        instead=1.0,
        other=Instead.RIVAL,
        check=copies_grow_as,
    ),
    Claim(
        id="S3h",
        statement="The inputs of a phase are stable (epsilon up to 1, say) with respect to the "
        "strings of sqrt(T) copies; that takes about 250 sqrt(T)",
        printed=1.0,
        instead=250.0,
        other=Instead.CORRECTION,
        check=phase_is_stable,
    ),
    Claim(
        id="S3g",
        statement="k copies last for a phase of T = k^2 steps; certified are about (k/270)^2",
        printed=lambda copies: copies**2,
        instead=lambda copies: (copies / 270) ** 2,
        other=Instead.CORRECTION,
        check=steps_are_certified,
    ),
)
