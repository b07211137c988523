"""Pictures of histograms: bars, or a small panel of bars for each group."""

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
from sourdine.presentation.lettering import FOLD
from sourdine.presentation.small_multiples import Panels, groups_of, true_of
from sourdine.tally import Edges

if TYPE_CHECKING:
    from sourdine.central.histogram import Histogram
    from sourdine.release import Release

__all__ = ["bars"]

MANY_BINS = 60
"""Of more bins, intervals are a band: there is no room for a whisker on each bar."""


def bars(
    statistic: Histogram,
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw the counts as bars with their intervals, those of each group in a panel of its own.

    The parameters are those of `dots`; of groups ``truth`` is a list of counts for each key.
    """
    columns = release.columns()
    if columns.by:
        return _panels(statistic, release, truth, path=path, title=title)
    figure, axes = canvas()
    edges = _edges(statistic)
    if edges is not None:
        _number_axis(axes, statistic, edges)
    else:
        (names,) = columns.labels.values()
        named_below(axes, np.arange(len(names)), list(map(str, names)))
    counts, low, high = (
        np.array(numbers, float) for numbers in (columns.values, columns.lower, columns.upper)
    )
    _upright(axes, edges, (counts, low, high), truth)
    if truth is not None:
        legend(axes)
    axes.set_ylim(bottom=0)
    gaps(axes.yaxis)
    axes.set_ylabel("records", color=INK)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def _edges(statistic: Histogram) -> Any:  # noqa: ANN401
    """Return where bins end on an axis of numbers or days; None where they are only named."""
    if not isinstance(statistic.cell, Edges) or statistic.missing == "count":
        return None
    unit = DAY if statistic.cell.dated else 1
    return np.array([float(v) / unit for v in statistic.cell.edges])


def _number_axis(axes: Any, statistic: Histogram, edges: Any, *, small: bool = False) -> None:  # noqa: ANN401
    axes.set_xlim(edges[0], edges[-1])
    if isinstance(statistic.cell, Edges) and statistic.cell.dated:
        date_axis(axes.xaxis, small=small)
    else:
        if small:
            axes.locator_params(axis="x", nbins=4)
        gaps(axes.xaxis)


def _upright(axes: Any, edges: Any, numbers: tuple[Any, Any, Any], truth: Any) -> None:  # noqa: ANN401
    """Draw bars that stand, with whiskers, or a band where they are many."""
    counts, low, high = (np.maximum(x, 0) for x in numbers)
    if edges is None:
        x, width = np.arange(len(counts)), np.full(len(counts), 0.8)
    else:
        x, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    line = 0.8 if len(counts) <= MANY_BINS else 0.0
    axes.bar(x, counts, width, color=SOFT, edgecolor="white", linewidth=line, label="released")
    if len(counts) <= MANY_BINS:
        axes.errorbar(
            x, counts, [counts - low, high - counts], fmt="none", ecolor=INK, elinewidth=1,
            capsize=2,
        )  # fmt: skip
    else:
        ends = np.append(x - width / 2, x[-1] + width[-1] / 2)
        axes.stairs(high, ends, baseline=low, fill=True, color=INK, alpha=0.25, linewidth=0)
    if truth is not None:
        known, half = np.asarray(truth, float), width / 2
        axes.hlines(known, x - half, x + half, color=RED, linewidth=1.6, label="truth")


def _lying(axes: Any, names: list[str], numbers: tuple[Any, Any, Any], truth: Any) -> None:  # noqa: ANN401
    """Draw bars that lie, whose names stand at the left, where long ones have room."""
    counts, low, high = (np.maximum(x, 0) for x in numbers)
    y = np.arange(len(counts))
    axes.barh(y, counts, 0.72, color=SOFT)
    axes.errorbar(
        counts, y, xerr=[counts - low, high - counts], fmt="none", ecolor=INK, elinewidth=0.9,
        capsize=1.5,
    )  # fmt: skip
    axes.set_yticks(y, names)
    axes.set_ylim(len(counts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    if truth is not None:
        known = np.asarray(truth, float)
        axes.vlines(known, y - 0.36, y + 0.36, color=RED, linewidth=1.6)


def _panels(
    statistic: Histogram,
    release: Release,
    truth: Any,  # noqa: ANN401
    *,
    path: str | None,
    title: str | None,
) -> Any:  # noqa: ANN401
    """Draw a panel for each group, all on the same axes."""
    columns = release.columns()
    groups, edges = groups_of(columns), _edges(statistic)
    names = list(map(str, groups[0].of(list(columns.labels.values())[-1]))) if groups else []
    if edges is not None:
        panels = Panels(groups)
    else:
        longest = max(map(len, names), default=0)
        lines = 1 if longest <= FOLD else 2
        panels = Panels(groups, high=0.35 + 0.17 * lines * len(names), names=longest)
    known = true_of(truth, groups, list(release.value))
    for axes, group, true in zip(panels.axes, panels.groups, known, strict=False):
        numbers: Any = tuple(
            np.array(group.of(x or ()), float)
            for x in (columns.values, columns.lower, columns.upper)
        )
        if edges is not None:
            _upright(axes, edges, numbers, true)
        else:
            _lying(axes, names, numbers, true)
        axes.grid(axis="x" if edges is None else "y", color=RULE, linewidth=0.8)
    counted = "across" if edges is None else "upwards"
    for axes in panels.axes[:1]:  # they share their axes
        if edges is None:
            axes.set_xlim(left=0)
            axes.locator_params(axis="x", nbins=4)
            gaps(axes.xaxis)
        else:
            _number_axis(axes, statistic, edges, small=True)
            axes.set_ylim(bottom=0)
            axes.locator_params(axis="y", nbins=4)
            gaps(axes.yaxis)
    more = "red: the truth" if truth is not None else ""
    return panels.finished(release, title=title, path=path, axis=f"records {counted}", more=more)
