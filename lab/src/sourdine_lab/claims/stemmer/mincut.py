"""S4: the construction applied to the global min-cut of a changing graph."""

from __future__ import annotations

from functools import cache
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine.adaptive.attacks import toggle, weak_vertex
from sourdine.adaptive.graphs import (
    DynamicMinCut,
    RobustMinCut,
    SkeletonMinCut,
    least_cut,
    mincut,
)
from sourdine.adaptive.robust.proof import copies_needed, cost
from sourdine.noise import SeededSource
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.lecture import lecture_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.adaptive.attacks import MinCutEstimator

    Graph = frozenset[tuple[int, int]]

VERTICES, DEGREE, KEEP, GRAPHS = 40, 16, 0.5, 4
COPIES, CHANGES = 2, 200
NEAR = 0.25
"""How far a measured power may be off: samples halve, so costs go up in steps of up to two."""
OFF = 0.4
"""How far off a robust estimate may be: our threshold, the lecture names none."""
SIZES = ((10**4, 10**6), (10**6, 10**8), (10**4, 10**8), (10**8, 10**12))
"""Vertices and edges."""


def step_cost(steps: float, vertices: int, edges: int) -> float:
    """Return the lecture's cost of a step: t_init = |E|, t_update = sqrt|V|, t_query = 1."""
    return lecture_cost(round(steps), t_init=edges, t_update=sqrt(vertices), t_query=1)


def least_cost(vertices: int, edges: int) -> float:
    """Return the least cost over phases of all lengths, by search."""
    lengths = np.unique(np.geomspace(1, edges, 2000).astype(int))
    return min(step_cost(int(steps), vertices, edges) for steps in lengths)


def many_samples(edges: Graph, seed: int) -> MinCutEstimator:
    """Return the private median of 24 samples of the edges."""
    return RobustMinCut(
        VERTICES, edges, keep=KEEP, copies=24, epsilon0=4, steps=100, source=SeededSource(seed)
    )


def one_sample(edges: Graph, seed: int) -> MinCutEstimator:
    """Return one sample of the edges."""
    return SkeletonMinCut(VERTICES, edges, keep=KEEP, seed=seed)


def withstands_toggling(make: Callable[[Graph, int], MinCutEstimator]) -> Finding:
    """Take edges away by what the answers tell, and compare the last answer with the truth."""
    off = []
    for seed in range(GRAPHS):
        edges = weak_vertex(VERTICES, DEGREE, rng=np.random.default_rng(seed))
        victim = make(edges, seed)
        end = toggle(victim, VERTICES, edges, least=4)
        shown, true = median(victim.query() for _ in range(5)), mincut(VERTICES, end.edges)
        off.append(abs(shown / true - 1))
    mean, deviation = float(np.mean(off)), float(np.std(off, ddof=1)) / sqrt(GRAPHS)
    words = (
        f"off by {mean:.0%} ± {deviation:.0%} after the attack, {max(off):.0%} at most on {GRAPHS} "
        f"graphs; {OFF:.0%} allowed"
    )
    return Finding(mean + 4 * deviation <= OFF, mean, deviation, words)


def cost_grows_as(powers: tuple[float, float]) -> Finding:
    """Compare |E|^a |V|^b with the least cost: the ratio must stay the same."""
    a, b = powers
    ratios = [least_cost(v, m) / (float(m) ** a * float(v) ** b) for v, m in SIZES]
    spread = max(ratios) / min(ratios)
    words = f"least cost over |E|^{a:g} |V|^{b:g}: {min(ratios):.3g} to {max(ratios):.3g}"
    return Finding(spread < 1.05, spread, 0.0, words)


def phase_is_best(steps: Callable[[int, int], float]) -> Finding:
    """Compare the cost at a length of the phase with the least."""
    excess = max(step_cost(steps(v, m), v, m) / least_cost(v, m) for v, m in SIZES)
    return Finding(excess < 1.01, excess, 0.0, f"{excess:.3f} times the least cost")


def beats_computing_anew(copies: Callable[[int], int]) -> Finding:
    """Compare the cost of the best phase with |E|, where |V| = 10^4 and |E| = 10^6."""
    vertices, edges = SIZES[0]
    steps = round(edges / sqrt(vertices))
    k = copies(steps)
    each = cost(steps, t_init=edges, t_update=sqrt(vertices), t_query=1, copies=k, sample=k)
    return Finding(each < edges, each, 0.0, f"{k} copies: {each:.2g} a step, anew {edges:.2g}")


class Counted(NamedTuple):
    """Operations of a copy that is kept up to date, and of computing the cut anew."""

    vertices: int
    edges: int
    init: float
    update: float
    anew: int


@cache
def counted() -> tuple[Counted, ...]:
    """Count the operations on graphs of about |V|^2/2 edges whose min-cut is 1.6 |V|^(3/4).

    Two copies whose samples keep ten edges of the min-cut, and 200 changes fixed in advance.
    """
    found = []
    for n in (64, 144, 324):
        rng = np.random.default_rng(n)
        edges = set(weak_vertex(n, round(1.6 * n**0.75), rng=rng))
        m, anew = len(edges), least_cut(n, edges)[1]
        made = [
            DynamicMinCut(n, edges, error=0.375, strength=10, seed=seed) for seed in range(COPIES)
        ]
        init = sum(copy.operations for copy in made)
        for _ in range(CHANGES):
            u, v = sorted((rng.choice(n - 1, 2, replace=False) + 1).tolist())
            present = (u, v) not in edges
            (edges.add if present else edges.discard)((u, v))
            for copy in made:
                copy.update(u, v, present)
        update = sum(copy.operations for copy in made) - init
        found.append(Counted(n, m, init / COPIES, update / COPIES / CHANGES, anew))
    return tuple(found)


def _power(x: list[float], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def change_grows_as(power: float) -> Finding:
    """Compare a power of |V| with that of the operations of a change."""
    rows = counted()
    found = _power([r.vertices for r in rows], [r.update for r in rows])
    words = (
        f"{rows[0].update:.0f} operations at |V| = {rows[0].vertices}, {rows[-1].update:.0f} at "
        f"{rows[-1].vertices}: |V|^{found:.2f}, {power:g} claimed"
    )
    return Finding(abs(found - power) < NEAR, found, 0.0, words)


def robust_step_grows_as(power: float) -> Finding:
    """Compare a power of |V| with that of a step of the construction with T = |E|/sqrt|V|."""
    rows, steps = counted(), []
    for row in rows:
        phase = round(row.edges / sqrt(row.vertices))
        copies = round(sqrt(phase))
        steps.append(
            cost(phase, t_init=row.init, t_update=row.update, t_query=1, copies=copies, sample=12)
        )
    found = _power([r.vertices for r in rows], steps)
    words = (
        f"{steps[0]:.0f} operations a step at |V| = {rows[0].vertices}, {steps[-1]:.0f} at "
        f"{rows[-1].vertices} (anew {rows[-1].anew}): |V|^{found:.2f}, {power:g} claimed"
    )
    return Finding(abs(found - power) < NEAR, found, 0.0, words)


def anew_grows_as(power: float) -> Finding:
    """Compare a power of |E| with that of the ends of edges that an exact algorithm looks at."""
    rows = counted()
    found = _power([r.edges for r in rows], [r.anew for r in rows])
    words = f"{rows[-1].anew} for {rows[-1].edges} edges: |E|^{found:.2f}, {power:g} claimed"
    return Finding(abs(found - power) < 0.1, found, 0.0, words)


CLAIMS = (
    Claim(
        id="S4",
        statement="The min-cut of a changing graph is estimated robustly, within 40% (our "
        "threshold; rival: one sample of the edges)",
        printed=many_samples,
        instead=one_sample,
        other=Instead.RIVAL,
        check=withstands_toggling,
    ),
    Claim(
        id="S4b",
        statement="The best phase costs sqrt|E| |V|^(1/4) a step (rival: sqrt|E| |V|^(1/2))",
        printed=(0.5, 0.25),
        instead=(0.5, 0.5),
        other=Instead.RIVAL,
        check=cost_grows_as,
    ),
    Claim(
        id="S4c",
        statement="The best phase has T = |E|/sqrt|V| steps (rival: |E|/|V|)",
        printed=lambda vertices, edges: edges / sqrt(vertices),
        instead=lambda vertices, edges: edges / vertices,
        other=Instead.RIVAL,
        check=phase_is_best,
    ),
    Claim(
        id="S4d",
        statement="With sqrt(T) copies a step costs less than computing anew, |E|, at |V| = 10^4 "
        "and |E| = 10^6 (rival: with as many copies as our proof needs)",
        printed=lambda steps: round(sqrt(steps)),
        instead=copies_needed,
        other=Instead.RIVAL,
        check=beats_computing_anew,
    ),
    Claim(
        id="S4e",
        statement="Observed, as the theorem is quoted without its algorithm: a copy of ours whose "
        "questions read a number takes |V|^(1/2) for a change, within 0.25 in the power, where |E| "
        "is of order |V|^2 and the min-cut of |V|^(3/4) (rival: "
        "|V|^(5/4), as the exact cut of all edges takes)",
        printed=0.5,
        instead=1.25,
        other=Instead.RIVAL,
        check=change_grows_as,
        quote="t_update = O(√|V|)",
        ours=True,
    ),
    Claim(
        id="S4f",
        statement="Observed: with such copies a step of the construction grows as sqrt|E| "
        "|V|^(1/4), which is |V|^(5/4) here, within 0.25 in the power (rival: |V|^2, as "
        "computing anew does)",
        printed=1.25,
        instead=2.0,
        other=Instead.RIVAL,
        check=robust_step_grows_as,
        quote="√|E| · |V|^{1/4}",
        ours=True,
    ),
    Claim(
        id="S4g",
        statement="Computing the min-cut anew at each step costs |E| a step (rival: |E|^(3/2), "
        "which is |V| |E| on these graphs)",
        printed=1.0,
        instead=1.5,
        other=Instead.RIVAL,
        check=anew_grows_as,
    ),
)
