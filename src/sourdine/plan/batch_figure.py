"""The picture of a batch: delta against epsilon, of all answers together."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from sourdine.presentation.figures import BLUE, GREY, INK, NOTE, PALE, RED, RULE, canvas, saved
from sourdine.privacy.printing import shown

if TYPE_CHECKING:
    from sourdine.plan.batch import Plans

__all__ = ["drawn"]

POINTS = 33
LEAST = 1e-12
"""Deltas below this are not drawn."""


def drawn(batch: Plans, *, path: str | None, title: str | None) -> Any:  # noqa: ANN401
    """Draw both certified ends, the delta that is meant, and the sum of epsilons."""
    figure, axes = canvas()
    deltas = [10 ** (-12 * k / (POINTS - 1)) for k in range(1, POINTS)]
    ends = [batch.composition.epsilon(delta) for delta in deltas]
    known = [(e, d) for e, d in zip(ends, deltas, strict=True) if e.upper < inf]
    deltas = [delta for _, delta in known]
    lower, upper = ([getattr(e, side) for e, _ in known] for side in ("lower", "upper"))
    axes.fill_betweenx(deltas, lower, upper, color=PALE, linewidth=0)
    axes.plot(upper, deltas, color=BLUE, linewidth=1.8)
    axes.axvline(float(batch.epsilon), color=GREY, linewidth=1.2, linestyle="--")
    axes.annotate(
        f"the sum, {shown(batch.epsilon)}", (float(batch.epsilon), 1), (-4, -2),
        xycoords=("data", "axes fraction"), textcoords="offset points", color=NOTE, fontsize=8,
        ha="right", va="top",
    )  # fmt: skip
    if batch.delta and batch.certified.upper < inf:
        epsilon = batch.certified.upper
        axes.plot(epsilon, float(batch.delta), "o", color=RED, markersize=7)
        axes.annotate(
            f"epsilon {shown(Fraction(repr(epsilon)))}\ndelta {shown(batch.delta)}",
            (epsilon, float(batch.delta)), (8, 8),
            textcoords="offset points", color=INK, fontsize=9,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 1)
    axes.set_xlim(0, None)
    axes.set_xlabel("epsilon", color=INK)
    axes.set_ylabel("delta", color=INK)
    axes.grid(color=RULE, linewidth=0.8)
    answers = "1 answer" if len(batch) == 1 else f"{len(batch)} answers"
    axes.set_title(title or f"{answers}, declared ahead", loc="left", color=INK, fontsize=11)
    return saved(figure, path, batch)
