"""The picture of a survey of several rounds: a line for each category."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from sourdine.presentation.figures import BLUE, GREY, INK, RED, RULE, SOFT, canvas, headed, saved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.local.rounds.series import Series

__all__ = ["lines"]

COLOURS = (BLUE, RED, INK, SOFT, GREY, "#7a8f3c")


def lines(
    series: Series,
    rows: Sequence[tuple[Any, ...]],
    truth: Mapping[Any, Sequence[float]] | None,
    *,
    path: str | None,
    title: str,
) -> Any:  # noqa: ANN401
    """Draw shares over rounds: a line for each category with a band for its intervals.

    Parameters
    ----------
    series
        What the shares are of.
    rows
        Column, category, round, share and the ends of its interval, the rounds in order.
    truth
        The true shares of some categories, one for each round.
    path
        Where to save the picture.
    title
        What stands above it.
    """
    figure, axes = canvas()
    known = truth or {}
    for (category, group), colour in zip(groupby(rows, lambda row: row[1]), COLOURS, strict=False):
        _, _, at, share, low, high = map(list, zip(*group, strict=True))
        axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, share, "o-", color=colour, markersize=3, linewidth=1.4, label=str(category))
        if category in known:
            axes.plot(at, list(known[category]), "--", color=colour, linewidth=1)
    axes.set_xlabel("round", color=INK)
    axes.set_ylabel("share", color=INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g} %")
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    dashed = ", dashed: the truth" if known else ""
    said = f"one round: {series.schema.costs().one}\nall: {series.schema.guarantee}"
    headed(axes, title, f"{said} · 95 % intervals{dashed}")
    if rows:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left",
                    bbox_to_anchor=(1.01, 1))  # fmt: skip
    return saved(figure, path, series)
