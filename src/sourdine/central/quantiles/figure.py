"""The picture of released quantiles: a curve over their orders, or one for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.results import charts
from sourdine.results.charts import FEW as FEW_GROUPS
from sourdine.results.charts import (
    SERIES,
    Panels,
    beside_lines,
    dots,
    gaps,
    groups_of,
    legend,
    lines,
    true_of,
)
from sourdine.results.formatting import date_axis, places

if TYPE_CHECKING:
    from sourdine.central.quantiles.statistic import Quantiles
    from sourdine.results.release import Release


FEW = 25
"""Up to so many quantiles have a dot and a bar each; more are a line in a band."""


def curve(
    statistic: Quantiles,
    release: Release,
    *,
    truth: Any = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw the quantiles over their orders, with their intervals; those of a group are a line.

    Parameters
    ----------
    statistic, release
        What was asked for, and what was published.
    truth
        Where the data is public: the true quantiles; of groups, a list of them for each key.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What is written above; the statistic if left out.
    """
    orders = np.array([float(q) for q in statistic.orders])
    columns = release.columns()
    if len(orders) == 1:
        names = [group.name for group in groups_of(columns)] if columns.by else [_name(orders[0])]
        return dots(release, truth=truth, names=names, path=path, title=title)
    if columns.by:
        return _of_groups(statistic, release, truth, path=path, title=title)
    # Without intervals both ends are the value, so that no bar or band is seen.
    sides = (columns.values, columns.lower or columns.values, columns.upper or columns.values)
    values, low, high = (np.asarray(places(list(side)), np.float64) for side in sides)
    percent = 100 * orders
    figure, axes = charts.canvas()
    few = len(orders) <= FEW
    if few:
        _bars(axes, percent, low, high)
    else:
        axes.fill_between(percent, low, high, color=charts.PALE, linewidth=0)
    axes.plot(
        percent, values, "-o" if few else "-",
        color=charts.BLUE, linewidth=1.4, markersize=6, label="released",
    )  # fmt: skip
    if truth is not None:
        known = np.array(places(np.asarray(truth).tolist()))
        axes.plot(
            percent, known, "_" if few else "--",
            color=charts.RED, markersize=13, markeredgewidth=2, linewidth=1.2, label="truth",
        )  # fmt: skip
        legend(axes)
    axes.set_xlim(0, 100)
    axes.set_ylim(*_view(values, low, high))
    axes.set_xticks(percent if len(orders) <= charts.MANY else np.arange(0, 101, 10))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}%")
    axes.set_xlabel("part of the records at or below", color=charts.INK)
    (date_axis if statistic.is_datetime else gaps)(axes.yaxis)
    axes.grid(axis="y", color=charts.RULE, linewidth=0.8)
    return charts.finished(figure, axes, release, title=title, path=path)


def _of_groups(
    statistic: Quantiles,
    release: Release,
    truth: Any,
    *,
    path: str | None,
    title: str | None,
) -> Any:
    """Draw a line in its band for each group: together if they are few, else in panels."""
    columns = release.columns()
    groups = groups_of(columns)
    low, high = columns.lower or columns.values, columns.upper or columns.values
    kept = {"value": columns.values, "low": low, "high": high}
    numbers = [
        {name: np.array(places(group.of(column))) for name, column in kept.items()}
        for group in groups
    ]
    known = [
        None if true is None else np.array(places(true))
        for true in true_of(truth, groups, list(release.value))
    ]
    percent = 100 * np.array([float(q) for q in statistic.orders])
    if len(groups) <= FEW_GROUPS:
        figure, axes = charts.canvas()
        for group, own, true, colour in zip(groups, numbers, known, SERIES, strict=False):
            lines(axes, percent, own, colour, label=group.name)
            if true is not None:
                axes.plot(percent, true, "--", color=colour, linewidth=1)
        ends = [float(own["value"][-1]) for own in numbers]
        beside_lines(axes, sorted(range(len(ends)), key=lambda i: -ends[i]))
        _dress_lines(axes, statistic, numbers, percent)
        axes.set_xlabel("part of the records at or below", color=charts.INK)
        return charts.finished(figure, axes, release, title=title, path=path)
    panels = Panels(groups)
    for i, (axes, group) in enumerate(zip(panels.axes, panels.groups, strict=True)):
        for other in numbers[: len(panels.groups)]:
            axes.plot(percent, other["value"], color=charts.RULE, linewidth=0.8, zorder=1)
        lines(axes, percent, numbers[i], charts.BLUE, label=group.name)
        if known[i] is not None:
            axes.plot(percent, known[i], "--", color=charts.RED, linewidth=1)
        axes.grid(axis="y", color=charts.RULE, linewidth=0.8)
    for axes in panels.axes[:1]:  # they share their axes
        _dress_lines(axes, statistic, numbers[: len(panels.groups)], percent, small=True)
    return panels.finished(
        release, title=title, path=path, axis="across: part of the records at or below",
        more="grey: the other groups" + ("; red: the truth" if truth is not None else ""),
    )  # fmt: skip


def _dress_lines(
    axes: Any,
    statistic: Quantiles,
    numbers: list[dict[str, Any]],
    percent: Any,
    *,
    small: bool = False,
) -> None:
    """Set the axes of lines: what they show, and the ticks."""
    views = [_view(own["value"], own["low"], own["high"]) for own in numbers]
    axes.set_ylim(min(low for low, _ in views), max(high for _, high in views))
    axes.set_xlim(0, 100)
    even = np.array([20, 50, 80]) if small else np.arange(0, 101, 10)
    axes.set_xticks(percent if len(percent) <= (3 if small else charts.MANY) else even)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}%")
    if statistic.is_datetime:
        date_axis(axes.yaxis, small=small)
    else:
        if small:
            axes.locator_params(axis="y", nbins=4)
        gaps(axes.yaxis)
    axes.grid(axis="y", color=charts.RULE, linewidth=0.8)


def _name(order: float) -> str:
    return "median" if order == 0.5 else f"{100 * order:g}% quantile"


def _bars(axes: Any, percent: Any, low: Any, high: Any) -> None:
    axes.vlines(percent, low, high, color=charts.PALE, linewidth=8, capstyle="round")


def _view(values: Any, low: Any, high: Any) -> tuple[float, float]:
    """Return what the axis shows: the values, and of the intervals what is not far beyond."""
    spread = float(values[-1] - values[0]) or float(high.max() - low.min()) or 1.0
    lowest, highest = max(low.min(), values[0] - spread), min(high.max(), values[-1] + spread)
    return lowest - 0.06 * spread, highest + 0.06 * spread
