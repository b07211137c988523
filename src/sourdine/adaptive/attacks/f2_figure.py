"""A picture of sketches under attack: how much of the truth they still tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.presentation.figures import (
    BLUE,
    GREY,
    INK,
    PALE,
    RED,
    RULE,
    SOFT,
    canvas,
    gaps,
    saved,
)
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.adaptive.attacks.f2 import F2Attack

__all__ = ["draw"]

COLOURS = (RED, BLUE, GREY, SOFT)


def draw(
    curves: Mapping[str, Sequence[Sequence[F2Attack]]],
    *,
    alpha: float = 0.25,
    steps: int | None = None,
    title: str = "The second moment under attack",
    path: str | None = None,
) -> Any:  # noqa: ANN401 - matplotlib is loaded late
    """Draw estimate over truth against the number of questions, one line for each kind of sketch.

    Parameters
    ----------
    curves
        For each name what `sourdine.adaptive.attacks.f2.curve` returned; up to four.
    alpha
        The relative error to stay within, drawn as a band.
    steps
        The declared number of answers, drawn as a line down.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    """
    if not 1 <= len(curves) <= len(COLOURS):
        raise ParameterError(
            "curves", f"hold from 1 to {len(COLOURS)}", f"{len(curves)}", "Draw fewer at once."
        )
    figure, axes = canvas(7.0, 4.2)
    axes.axhspan(1 - alpha, 1 + alpha, color=PALE, alpha=0.5, linewidth=0)
    axes.axhline(1, color=GREY, linewidth=0.8)
    for colour, (name, sizes) in zip(COLOURS, curves.items(), strict=False):
        _line(axes, sizes, colour, name)
    axes.set_xscale("log")
    if steps is not None:
        axes.axvline(steps, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.annotate(
            f"declared: {shown(steps, 1.0)}", (steps, 0), (-4, 6),
            xycoords=("data", "axes fraction"), textcoords="offset points",
            color=INK, fontsize=8, ha="right",
        )  # fmt: skip
    axes.set_ylim(0, None)
    gaps(axes.xaxis)
    axes.set_xlabel("questions asked by the attacker", color=INK, fontsize=9)
    axes.set_ylabel("estimate / truth", color=INK, fontsize=9)
    axes.set_title(title, loc="left", color=INK, fontsize=11, pad=22)
    axes.annotate(
        f"band: within {100 * alpha:g} % of the truth · line: median sketch · shade: all of them",
        (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color=GREY,
        fontsize=8, va="bottom",
    )  # fmt: skip
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return saved(figure, path)


def _line(axes: Any, sizes: Sequence[Sequence[F2Attack]], colour: str, name: str) -> None:  # noqa: ANN401
    asked = [np.median([done.queries for done in row]) for row in sizes]
    ratios = [[done.ratio for done in row] for row in sizes]
    axes.fill_between(
        asked, [min(row) for row in ratios], [max(row) for row in ratios],
        color=colour, alpha=0.2, linewidth=0,
    )  # fmt: skip
    middle = [float(np.median(row)) for row in ratios]
    axes.plot(asked, middle, "o-", color=colour, markersize=4, linewidth=1.6)
    axes.annotate(
        name, (asked[-1], middle[-1]), (6, 0), textcoords="offset points", color=colour,
        fontsize=9, va="center", annotation_clip=False,
    )  # fmt: skip
