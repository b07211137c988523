"""The picture of released quantiles: a curve over their orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation import figures
from sourdine.presentation.dates import date_axis, places
from sourdine.presentation.figures import dots, gaps, legend

if TYPE_CHECKING:
    from sourdine.central.quantiles.statistic import Quantiles
    from sourdine.release import Release

__all__ = ["curve"]

FEW = 25
"""Up to so many quantiles have a dot and a bar each; more are a line in a band."""


def curve(
    statistic: Quantiles,
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw the quantiles over their orders, with their intervals.

    Parameters
    ----------
    statistic, release
        What was asked for, and what was published.
    truth
        Where the data is public: the true quantiles.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What is written above; the statistic if left out.
    """
    orders = np.array([float(q) for q in statistic.orders])
    if len(orders) == 1:
        return dots(release, truth=truth, names=[_name(orders[0])], path=path, title=title)
    values, low, high = (np.array(places(v.tolist())) for v in (release.value, *release.interval()))
    percent = 100 * orders
    figure, axes = figures.canvas()
    few = len(orders) <= FEW
    if few:
        _bars(axes, percent, low, high)
    else:
        axes.fill_between(percent, low, high, color=figures.PALE, linewidth=0)
    axes.plot(
        percent, values, "-o" if few else "-",
        color=figures.BLUE, linewidth=1.4, markersize=6, label="released",
    )  # fmt: skip
    if truth is not None:
        known = np.array(places(np.asarray(truth).tolist()))
        axes.plot(
            percent, known, "_" if few else "--",
            color=figures.RED, markersize=13, markeredgewidth=2, linewidth=1.2, label="truth",
        )  # fmt: skip
        legend(axes)
    axes.set_xlim(0, 100)
    axes.set_ylim(*_view(values, low, high))
    axes.set_xticks(percent if len(orders) <= figures.MANY else np.arange(0, 101, 10))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g} %")
    axes.set_xlabel("part of the records at or below", color=figures.INK)
    (date_axis if statistic.lasting else gaps)(axes.yaxis)
    axes.grid(axis="y", color=figures.RULE, linewidth=0.8)
    return figures.finished(figure, axes, release, title=title, path=path)


def _name(order: float) -> str:
    return "median" if order == 0.5 else f"{100 * order:g} % quantile"


def _bars(axes: Any, percent: Any, low: Any, high: Any) -> None:  # noqa: ANN401
    axes.vlines(percent, low, high, color=figures.PALE, linewidth=8, capstyle="round")


def _view(values: Any, low: Any, high: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return what the axis shows: the values, and of the intervals what is not far beyond."""
    spread = float(values[-1] - values[0]) or float(high.max() - low.min()) or 1.0
    lowest, highest = max(low.min(), values[0] - spread), min(high.max(), values[-1] + spread)
    return lowest - 0.06 * spread, highest + 0.06 * spread
