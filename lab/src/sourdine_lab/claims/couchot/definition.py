"""L1: what the definition brings: later processing is free, combined reports add up."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import Staircase
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level, response

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PAIRS = ((0.5, 0.5), (1.0, 0.3), (2.0, 1.0))
LAST, BEYOND = 20, 60
"""A number of 0 to LAST; reports are followed to so many times LAST beyond the ends."""


def combined(total: Callable[[float, float], float]) -> Finding:
    """Compare the exact loss of two reports on one answer with what the form says they cost."""
    off = []
    for a, b in PAIRS:
        first, second = (response(exp(e) / (2 + exp(e)), 3) for e in (a, b))
        both = (first[:, :, None] * second[:, None, :]).reshape(3, -1)
        off.append(level(both) - total(a, b))
    worst = max(off)
    spent = level(both)
    words = f"reports at 2 and 1 lose {spent:.4f} together, the form says {total(2, 1):.4f}"
    return Finding(worst <= SLACK, spent, words=words)


def clamped(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move what is outside to the nearest end."""
    low, high = BEYOND * LAST, BEYOND * LAST + LAST
    inside = rows[:, low : high + 1].copy()
    inside[:, 0] += rows[:, :low].sum(axis=1)
    inside[:, -1] += rows[:, high + 1 :].sum(axis=1)
    return inside


def redrawn(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw again until it is inside."""
    inside = rows[:, BEYOND * LAST : BEYOND * LAST + LAST + 1]
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def processed(rule: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Finding:
    """Compare the loss of a staircase report of epsilon 1 before and after a rule."""
    noise = Staircase(epsilon=1, sensitivity=LAST)
    places = np.arange(-BEYOND * LAST, (BEYOND + 1) * LAST + 1)
    rows = np.stack([noise.law(x).pmf(places) for x in range(LAST + 1)])
    before, after = level(rows), level(rule(rows))
    words = f"loss {before:.4f} before the rule, {after:.4f} after it"
    return Finding(after <= before + 1e-6, after, words=words)


CLAIMS = (
    Claim(
        id="L1",
        statement="two reports on one answer are private together: their epsilons add up",
        printed=lambda a, b: a + b,
        instead=lambda a, b: max(a, b),  # noqa: PLW0108 - typed as the other form
        other=Instead.RIVAL,
        check=combined,
    ),
    Claim(
        id="L1b",
        statement="what is done to a report afterwards costs nothing, as moving it to the nearest"
        " end does (to draw it again is not something done afterwards)",
        printed=clamped,
        instead=redrawn,
        other=Instead.RIVAL,
        check=processed,
    ),
)
