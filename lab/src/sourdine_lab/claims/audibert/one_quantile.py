"""Rows A5: one quantile by QExp (section 4.1.1 and figures 4 to 6)."""

from __future__ import annotations

import operator
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from sourdine.audit import worst_case
from sourdine.central.quantiles.exponential import QExp
from sourdine_lab.claims.audibert.gaps import Gaps
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CELLS = 100
TOP = 200.0
NEAR = 1e-9


def replaced(factor: float) -> Finding:
    """Find what exp(-factor epsilon |i - pn|) gives away when a value is replaced."""
    mechanism = QExp(epsilon=2 * factor, q=[0.5], cells=CELLS, relation="substitute")
    found = [worst_case(mechanism, [x]) for x in ([0, 1, 2, 99], [0, 0, 2, 99], [0, 49, 50, 99])]
    worst, shown = max(found, key=lambda each: each.epsilon), found[:2]
    losses = ", ".join(f"{each.epsilon:.3f} ({each.pair()})" for each in shown)
    words = f"loss {losses} at epsilon 1, claimed 1"
    return Finding(worst.upper <= 1 + NEAR, worst.epsilon, 0.0, words)


def either(factor: float) -> Finding:
    """Find what it gives away under both relations: one of them must be meant."""
    found = {"replaced": replaced(factor), "added or removed": added(lambda _: factor)}
    holds = any(one.holds for one in found.values())
    words = "; ".join(f"where a value is {how}: {one.words}" for how, one in found.items())
    return Finding(holds, min(one.number for one in found.values()), 0.0, words)


def added(factor: Callable[[float], float]) -> Finding:
    """Find what exp(-factor(p) epsilon |i - pn|) gives away when a value is added or removed."""
    losses = {}
    for p, x in ((0.5, [1, 1, 98]), (0.75, [1] * 4), (0.9, [1] * 10)):
        nominal = 2 * max(p, 1 - p) * factor(p)
        mechanism = QExp(epsilon=nominal, q=[p], cells=CELLS, relation="add_remove")
        losses[p] = worst_case(mechanism, [x])
    upper = max(worst.upper for worst in losses.values())
    shown = ", ".join(f"{worst.epsilon:.2f} at p = {p}" for p, worst in losses.items())
    return Finding(upper <= 1 + NEAR, losses[0.9].epsilon, 0.0, f"loss {shown}, claimed 1")


def flatter(x: Floats) -> Finding:
    """Check that the entropy of the gaps' probabilities never falls as epsilon falls."""
    gaps = Gaps.of(x, (0, TOP))
    spreads = [_entropy(gaps.chances(e)) for e in (5, 2, 1, 0.8, 0.5, 0.1, 0.05, 0.01)]
    fall = max(before - after for before, after in pairwise(spreads))
    words = f"entropy {spreads[0]:.2f} at epsilon 5, {spreads[-1]:.2f} at 0.01; "
    words += f"falls by {fall:.2f} at a step" if fall > NEAR else "falls nowhere"
    return Finding(fall <= NEAR, fall, 0.0, words)


def _entropy(chances: Floats) -> float:
    some = chances > 0
    return -float(chances[some] @ np.log(chances[some]))


def grows(what: Callable[[Gaps, float], Floats]) -> Finding:
    """Check that something of every gap grows each time that epsilon is halved."""
    gaps = Gaps.of(np.random.default_rng(4).uniform(0, TOP, 1000), (0, TOP))
    away = gaps.ranks > 0
    sizes = [what(gaps, e)[away] for e in (0.8, 0.4, 0.2, 0.1)]
    told = [bool((after > before).all()) for before, after in pairwise(sizes)]
    words = f"of all gaps at {sum(told)} of {len(told)} halvings of epsilon"
    return Finding(all(told), float(sum(told)), 0.0, words)


def sharper(moves: Callable[[float, float], bool]) -> Finding:
    """Compare the distances to the sample's median at epsilon e^-32, 0.05 and 0.8."""
    x = np.random.default_rng(4).uniform(0, TOP, 1000)
    gaps, middle = Gaps.of(x, (0, TOP)), float(np.median(x))
    distances = [gaps.risk(middle, e / 2) ** 0.5 for e in (exp(-32), 0.05, 0.8)]
    told = [moves(after, before) for before, after in pairwise(distances)]
    shown = ", ".join(f"{d:.2f}" for d in distances)
    words = (
        f"root mean square distance {shown} at epsilon e^-32, 0.05, 0.8; "
        f"as claimed in {sum(told)} of {len(told)} steps"
    )
    return Finding(all(told), distances[1] / distances[2], 0.0, words)


def lost(epsilon: float) -> Finding:
    """Compare the answer with one drawn blindly from [0, 200], in total variation."""
    gaps = Gaps.of(np.random.default_rng(4).uniform(0, TOP, 1000), (0, TOP))
    apart = float(np.abs(gaps.chances(epsilon) - gaps.lengths / TOP).sum()) / 2
    words = f"total variation {apart:.1e} from the uniform law at epsilon {epsilon:.1e}"
    return Finding(apart <= 1e-3, apart, 0.0, words)


def tied(near: Callable[[list[int]], float]) -> Finding:
    """Find how often the answer is within 1 of 50 when 900 of 1000 values are 50."""
    chance = near([50] * 900 + [200 * k // 99 for k in range(100)])
    return Finding(chance >= 0.9, chance, 0.0, f"within 1 of it with probability {chance:.3f}")


def _near_by_gaps(x: list[int]) -> float:
    return Gaps.of(x, (0, TOP)).within(49, 51, 0.5)


def _near_on_the_grid(x: list[int]) -> float:
    mechanism = QExp(epsilon=1, q=[0.5], cells=int(TOP) + 1, relation="substitute")
    return float(mechanism.law(mechanism.read(x)).pmf([49, 50, 51]).sum())


CLAIMS = (
    Claim(
        id="A5",
        statement="QExp with the weight exp(-epsilon |i-pn|) is epsilon-private for every order p, "
        "whichever relation of section 2 is meant (corrected: half the exponent; as printed a "
        "replaced value gives away more than 1.94, an added one up to 2 max(p, 1-p)).",
        printed=1.0,
        instead=0.5,
        other=Instead.CORRECTION,
        check=either,
        quote="un degré de confidentialité ϵ […] Y_i = (X_{i+1} - X_i)e^{-ϵ|i-pn|}",
    ),
    Claim(
        id="A5b",
        statement="Observed, the report does not say whether values are replaced or added and "
        "removed: in the second case the weight as printed is epsilon-private whatever p "
        "(corrected: the exponent over 2 max(p, 1-p), so as printed for the median alone).",
        printed=lambda p: 1.0,  # noqa: ARG005
        instead=lambda p: 1 / (2 * max(p, 1 - p)),
        other=Instead.CORRECTION,
        check=added,
        ours=True,
    ),
    Claim(
        id="A5c",
        statement="The smaller epsilon, the more evenly the probabilities are spread over the "
        "gaps: so for uniform values, as the report's (rival: for 99 values within 1 of 200, "
        "where the two wide gaps outside take all).",
        printed=np.random.default_rng(4).uniform(0, TOP, 1000),
        instead=np.linspace(100, 101, 99),
        other=Instead.RIVAL,
        check=flatter,
        quote="plus ϵ diminue, […] donc les probabilités seront a priori mieux réparties",
    ),
    Claim(
        id="A5g",
        statement="As epsilon falls, the gap between X_i and X_(i+1) grows (meant: its weight Y_i, "
        "as the slope of exp(-epsilon t) is the reason given).",
        printed=lambda gaps, epsilon: gaps.lengths,  # noqa: ARG005
        instead=lambda gaps, epsilon: gaps.lengths * np.exp(-epsilon * gaps.ranks),
        other=Instead.MEANT,
        check=grows,
        quote="plus ϵ diminue, plus l'écart entre X_i et X_{i+1} augmente",
    ),
    Claim(
        id="A5d",
        statement="The estimates are nearer the median at a larger epsilon, figures 4 to 6 "
        "(rival: further from it).",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.RIVAL,
        check=sharper,
    ),
    Claim(
        id="A5e",
        statement="At epsilon e^-32 all precision is lost (rival: at 0.05, figure 4, too).",
        printed=exp(-32),
        instead=0.05,
        other=Instead.RIVAL,
        check=lost,
    ),
    Claim(
        id="A5f",
        statement="Observed, the report speaks of no ties: drawing among cells of a grid finds a "
        "median that many values share (rival: drawing from gaps, as there are none between them).",
        printed=_near_on_the_grid,
        instead=_near_by_gaps,
        other=Instead.RIVAL,
        check=tied,
        ours=True,
    ),
)
