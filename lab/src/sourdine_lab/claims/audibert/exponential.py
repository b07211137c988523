"""Rows A3: the exponential mechanism over a finite set (section 2)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sourdine.laws import Law
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SCORES = ([0, 0, 0, 0], [0, 60, 60, 60], [5, 2, 0, 1])


def private(decay: Callable[[float, int], float]) -> Finding:
    """Compare the laws of all score vectors within the sensitivity of these, in both directions."""
    worst = 0.0
    for epsilon, sensitivity in ((0.5, 1), (1.0, 2), (3.0, 1)):
        c = decay(epsilon, sensitivity)
        loss = max(_loss(np.array(u), c, sensitivity) for u in SCORES)
        worst = max(worst, loss / epsilon)
    words = f"loss {worst:.4f} epsilon, claimed epsilon"
    return Finding(worst <= 1 + 1e-9, worst, 0.0, words)


def defined(sensitivity: Callable[[Floats], float]) -> Finding:
    """Compare two neighbours that move the best candidate down and a poor one up."""
    u, v = np.array([0.0, 60.0, -60.0, -60.0]), np.array([1.0, 59.0, -60.0, -60.0])
    c = 1 / (2 * sensitivity(np.abs(u - v)))
    here, there = Law.finite(c * (u - u.max())), Law.finite(c * (v - v.max()))
    loss = max(here.divergence(there).upper, there.divergence(here).upper)
    return Finding(loss <= 1 + 1e-9, loss, 0.0, f"loss {loss:.3f} at epsilon 1, claimed 1")


def _loss(u: NDArray[np.int64], c: float, sensitivity: int) -> float:
    here, worst = Law.finite(c * (u - u.max())), 0.0
    for move in product((-sensitivity, 0, sensitivity), repeat=len(u)):
        moved = u + np.array(move)
        there = Law.finite(c * (moved - moved.max()))
        worst = max(worst, here.divergence(there).upper, there.divergence(here).upper)
    return worst


CLAIMS = (
    Claim(
        id="A3",
        statement="Choosing o with probability proportional to exp(epsilon u/(2 sensitivity)) is "
        "epsilon-private (rival: an exponent 10% larger).",
        printed=lambda epsilon, sensitivity: epsilon / (2 * sensitivity),
        instead=lambda epsilon, sensitivity: 1.1 * epsilon / (2 * sensitivity),
        other=Instead.RIVAL,
        check=private,
    ),
    Claim(
        id="A3b",
        statement="The sensitivity of u is its largest change over all o and all neighbours "
        "(rival: the mean over o).",
        printed=lambda changes: float(changes.max()),
        instead=lambda changes: float(changes.mean()),
        other=Instead.RIVAL,
        check=defined,
    ),
)
