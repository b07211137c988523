"""L6: a whole table: what a record spends, rounding, and what is read off the data."""

from __future__ import annotations

from math import exp, prod
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import BoundedLaplace
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level, response
from sourdine_lab.experiments.couchot.pima import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

WHOLE = ("Pregnancies", "Glucose", "BloodPressure", "SkinThickness", "Insulin", "Age")
TOP = 10
"""The public bounds of a small column are 0 and TOP."""


def rounded(epsilon: float, last: int) -> NDArray[np.float64]:
    """Return the chances of Laplace noise on [0, last], redrawn until inside, then rounded."""
    edges = np.clip(np.arange(last + 2) - 0.5, 0, last)
    x, scale = np.arange(last + 1)[:, None], last / epsilon
    below = 0.5 * np.exp(-np.abs(edges - x) / scale)
    cumulative = np.where(edges < x, below, 1 - below)
    inside = np.diff(cumulative, axis=1)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def record(total: float) -> Finding:
    """Add up the exact losses of the nine columns of the slides at epsilon 1 each."""
    spent = sum(
        level(rounded(1.0, column.last)) if column.name in WHOLE else 1.0 for column in COLUMNS
    )
    spent += level(response(exp(1) / (1 + exp(1)), 2))
    words = f"nine columns at epsilon 1 lose {spent:.3f} together, the form says {total:g}"
    return Finding(spent <= total + SLACK, spent, words=words)


def rounding(share: Callable[[int], float]) -> Finding:
    """Compare the exact loss after rounding with a share of epsilon, on 0 to m."""
    found = {m: level(rounded(1.0, m)) for m in (1, 2, 5, 17, 80)}
    over = max(found[m] - share(m) for m in found)
    words = (
        f"of epsilon 1 a column of 0 to 17 spends {found[17]:.4f}, the form says {share(17):.4f}"
    )
    return Finding(over <= SLACK, found[17], words=words)


def leaks(bounds: Callable[[Sequence[int]], tuple[int, int]]) -> Finding:
    """Find the chance that the reports rule out a neighbouring table for certain.

    Everybody reports at epsilon 1; the neighbour differs in one record.
    """

    def law(data: Sequence[int], x: int) -> NDArray[np.float64]:
        low, high = bounds(data)
        made = BoundedLaplace(epsilon=1, last=high - low).law(min(max(x, low), high) - low)
        return np.where(
            (np.arange(TOP + 1) >= low) & (np.arange(TOP + 1) <= high),
            np.nan_to_num(made.pmf(np.clip(np.arange(TOP + 1) - low, 0, high - low))), 0.0,
        )  # fmt: skip

    worst = 0.0
    for one, other in (((2, 5, 9), (2, 5, 4)), ((2, 5, 4), (2, 5, 9)), ((0, 3, 6), (2, 3, 6))):
        inside = prod(
            float(law(one, x)[law(other, z) > 0].sum()) for x, z in zip(one, other, strict=True)
        )
        worst = max(worst, 1 - inside)
    words = f"a neighbouring table is ruled out with chance {worst:.3f}"
    return Finding(worst <= SLACK, worst, words=words)


def filled(fill: Callable[[Sequence[int]], float]) -> Finding:
    """Find the loss of the whole table when one record of it changes and two are missing."""

    def loss(one: int, other: int) -> float:
        report = BoundedLaplace(epsilon=1, last=TOP)
        own = report.law(one).divergence(report.law(other)).upper
        a, b = (round(fill((3, x, 8))) for x in (one, other))
        return own + 2 * report.law(a).divergence(report.law(b)).upper

    worst = max(loss(x, z) for x in range(TOP + 1) for z in range(TOP + 1))
    words = f"one changed record of epsilon 1 loses {worst:.3f}, two missing ones included"
    return Finding(worst <= 1 + 1e-6, worst, words=words)


def labels(domain: Callable[[Sequence[int]], Sequence[int]]) -> Finding:
    """Find the chance that the labels' reports rule out a neighbouring table."""
    one, other = (0, 1, 2), (0, 1, 1)
    seen = set(domain(other))
    k = len(domain(one))
    chances = response(exp(1) / (k - 1 + exp(1)), k)
    allowed = [i for i, label in enumerate(domain(one)) if label in seen]
    inside = prod(float(chances[domain(one).index(x), allowed].sum()) for x in one)
    words = f"a neighbouring table is ruled out with chance {1 - inside:.3f}"
    return Finding(1 - inside <= SLACK, 1 - inside, words=words)


CLAIMS = (
    Claim(
        id="L6",
        statement="the slides' question of the global eps of a call at eps = 1: the columns add up,"
        " 9 a record (rival: the 1 of the call)",
        printed=9.0,
        instead=1.0,
        other=Instead.RIVAL,
        check=record,
        quote="valeur du eps global?",
        ours=True,
    ),
    Claim(
        id="L6b",
        statement="the least and the largest value are the bounds (bounds must be public)",
        printed=lambda data: (min(data), max(data)),
        instead=lambda _: (0, TOP),
        other=Instead.CORRECTION,
        check=leaks,
        quote="mi, mx = description[att]['min'], description[att]['max']",
    ),
    Claim(
        id="L6c",
        statement="rounding to whole numbers keeps eps (it even leaves 1/(2m) of it unspent; rival:"
        " 1/m)",
        printed=lambda _: 1.0,
        instead=lambda m: 1 - 1 / m,
        other=Instead.RIVAL,
        check=rounding,
        quote="return int(round(r)) if isInteger else r",
    ),
    Claim(
        id="L6d",
        statement="missing values become the median of the column (it must be a public number)",
        printed=lambda data: float(np.median(data)),
        instead=lambda _: TOP / 2,
        other=Instead.CORRECTION,
        check=filled,
        quote="df[column].fillna(df[column].median(),inplace=True)",
    ),
    Claim(
        id="L6e",
        statement="the categories are those found in the data (they must be public)",
        printed=lambda data: sorted(set(data)),
        instead=lambda _: [0, 1, 2],
        other=Instead.CORRECTION,
        check=labels,
        quote="discVals ={k : df[k].unique() for k in discreteAttributes}",
    ),
)
