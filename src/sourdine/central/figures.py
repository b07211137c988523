"""Pictures of what a curator releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import DAY
from sourdine.presentation.dates import date_axis
from sourdine.presentation.figures import (
    INK,
    RED,
    RULE,
    SOFT,
    canvas,
    finished,
    gaps,
    legend,
    named_below,
)
from sourdine.tally import Edges

if TYPE_CHECKING:
    from sourdine.central.histogram import Histogram
    from sourdine.release import Release

__all__ = ["bars"]


def bars(
    statistic: Histogram,
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw the counts as bars with their intervals; the parameters are those of `dots`."""
    columns = release.columns()
    counts, low, high = (
        np.array(numbers, float) for numbers in (columns.values, columns.lower, columns.upper)
    )
    figure, axes = canvas()
    edges = statistic.cell.edges if isinstance(statistic.cell, Edges) else None
    if isinstance(statistic.cell, Edges) and edges and statistic.missing == "exclude":
        dated = statistic.cell.dated
        e = np.array([float(v) / (DAY if dated else 1) for v in edges])
        x, width = (e[:-1] + e[1:]) / 2, np.diff(e)
        axes.set_xlim(e[0], e[-1])
        (date_axis if dated else gaps)(axes.xaxis)
    else:
        x, width = np.arange(len(counts)), np.full(len(counts), 0.8)
        (names,) = columns.labels.values()
        named_below(axes, x, list(map(str, names)))
    height = np.maximum(counts, 0)
    axes.bar(x, height, width, color=SOFT, edgecolor="white", linewidth=0.8, label="released")
    axes.errorbar(
        x, height, np.maximum([height - low, high - height], 0), fmt="none",
        ecolor=INK, elinewidth=1, capsize=2,
    )  # fmt: skip
    if truth is not None:
        known, half = np.asarray(truth, float), width / 2
        axes.hlines(known, x - half, x + half, color=RED, linewidth=1.6, label="truth")
        legend(axes)
    axes.set_ylim(bottom=0)
    gaps(axes.yaxis)
    axes.set_ylabel("records", color=INK)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)
