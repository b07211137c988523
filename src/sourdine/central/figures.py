"""Pictures of what a curator releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.look.figures import (
    BLUE,
    INK,
    MANY,
    PALE,
    RED,
    RULE,
    SOFT,
    canvas,
    finished,
    gaps,
    legend,
)
from sourdine.look.numbers import own_width, shown
from sourdine.tally import Edges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.histogram import Histogram
    from sourdine.release import Release

__all__ = ["bars", "dots"]


def dots(
    values: Mapping[Any, Any],
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw one dot with its interval for each value.

    Parameters
    ----------
    truth
        Where the data is public: the true value, or one for each key.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    """
    if any(np.ndim(v) for v in values.values()):
        raise ParameterTypeError(
            "a picture must be of one number for each group, got several. Plot a group on its own."
        )
    given = release.interval()
    ends = list(given.values()) if isinstance(given, dict) else [given]
    low, high = (np.array([float(e[i]) for e in ends]) for i in (0, 1))
    y, x = np.arange(len(values))[::-1], np.array([float(v) for v in values.values()])
    figure, axes = canvas(7.0, 1.6 + 0.36 * len(values))
    axes.hlines(y, low, high, color=PALE, linewidth=7, capstyle="round")
    axes.plot(x, y, "o", color=BLUE, markersize=7, label="released")
    for xi, yi, width in zip(values.values(), y, high - low, strict=True):
        axes.annotate(
            shown(xi, own_width(xi, width)),
            (float(xi), yi), (0, 8), textcoords="offset points", ha="center",
            color=INK, fontsize=8,
        )  # fmt: skip
    if truth is not None:
        known = list(truth.values()) if isinstance(truth, dict) else np.atleast_1d(truth)
        axes.plot(known, y, "|", color=RED, markersize=16, markeredgewidth=2, label="truth")
        legend(axes)
    axes.set_yticks(y, [str(key) for key in values])
    axes.set_ylim(-0.6, len(values) - 0.3)
    axes.margins(x=0.12)
    gaps(axes.xaxis)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def bars(
    statistic: Histogram,
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw the counts as bars with their intervals; the parameters are those of `dots`."""
    counts = np.array(release.drawn["counts"], float)
    given = release.interval()
    pairs = list(given.values()) if isinstance(given, dict) else list(zip(*given, strict=True))
    low, high = (np.array([float(p[i]) for p in pairs]) for i in (0, 1))
    figure, axes = canvas()
    edges = statistic.cell.edges if isinstance(statistic.cell, Edges) else None
    if edges is not None and not statistic.missing:
        e = np.array([float(v) for v in edges])
        x, width = (e[:-1] + e[1:]) / 2, np.diff(e)
        axes.set_xlim(e[0], e[-1])
        gaps(axes.xaxis)
    else:
        x, width = np.arange(len(counts)), np.full(len(counts), 0.8)
        names = statistic.labels(release)
        slant = {"rotation": 35, "ha": "right"} if len(names) > MANY else {}
        axes.set_xticks(x, names, **slant)
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
