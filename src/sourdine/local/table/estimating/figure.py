"""The picture of a whole table: a panel for each column, and one for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.estimators.frequencies import Frequencies
from sourdine.local.table.estimating.cross_figure import draw_squares
from sourdine.local.table.estimating.crossed import Crossed
from sourdine.presentation import figures
from sourdine.presentation.figures import BLUE, GREY, INK, NOTE, PALE, RULE, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.privacy import Guarantee
    from sourdine.release import Release

__all__ = ["MOST_DRAWN", "panels"]

ACROSS = 3
"""How many panels stand side by side."""
MOST_DRAWN = 12
"""How many categories are drawn in a panel."""


def panels(
    what: Any,  # noqa: ANN401 - estimates, fresh or saved
    panes: Sequence[tuple[str, Release]],
    *,
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw estimates: shares as dots, numbers by their quantiles, with 95 % intervals.

    Parameters
    ----------
    what
        All estimates, which know what a record cost.
    panes
        What stands above each panel, and the estimate in it.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What stands above it.
    """
    across = min(ACROSS, len(panes))
    down = -(-len(panes) // across)
    figure, first = figures.canvas(3.6 * across, 0.7 + 2.7 * down)
    figure.delaxes(first)
    for i, (name, release) in enumerate(panes, 1):
        axes = figure.add_subplot(down, across, i)
        _plain(axes)
        _drawn(axes, release)
        axes.set_title(name, loc="left", color=INK, fontsize=9)
    crossed = any(isinstance(release.mechanism, Crossed) for _, release in panes)
    _explain(figure, what.cost, title, crossed=crossed)
    return figures.saved(figure, path, what)


def _drawn(axes: Any, release: Release) -> None:  # noqa: ANN401
    """Draw one estimate, as its kind is drawn."""
    drew: Any = release.mechanism
    if isinstance(drew, Crossed):
        draw_squares(axes, release, 6)
    elif isinstance(drew.estimate, Frequencies):
        _shares(axes, release)
    else:
        _quantiles(axes, release)


def _explain(figure: Any, cost: Guarantee, title: str | None, *, crossed: bool) -> None:  # noqa: ANN401
    """Write above the panels what was asked and what it cost, and below them what is drawn how."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an extra, loaded late
    from matplotlib.patches import Patch  # noqa: PLC0415

    figure.suptitle(title or "Estimates", x=0.01, ha="left", color=INK, fontsize=11)
    keys = [
        Line2D([], [], color=BLUE, marker="o", linewidth=1.4, label="estimate"),
        Patch(color=PALE, label="95 % interval"),
    ]
    if crossed:
        keys.append(Patch(color=SOFT, label="pair: the share as an area, its lower end in dark"))
    whole = f"{cost}, for all columns of a record"
    figure.legend(
        handles=keys, title=whole, loc="outside lower left", ncols=len(keys), frameon=False,
        fontsize=8, title_fontsize=8, labelcolor=INK, alignment="left",
    ).get_title().set_color(NOTE)  # fmt: skip


def _plain(axes: Any) -> None:  # noqa: ANN401
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, labelcolor=INK, length=2, labelsize=7)
    axes.set_axisbelow(True)


def _shares(axes: Any, release: Release) -> None:  # noqa: ANN401
    columns = release.columns()
    kept, categories = columns.largest(MOST_DRAWN), len(columns.values)
    low, high = (np.clip(np.array(end, float), 0, 1) for end in (kept.lower, kept.upper))
    y = np.arange(len(kept.values))[::-1]
    axes.hlines(y, low, high, color=PALE, linewidth=6, capstyle="round")
    axes.plot(np.clip(kept.values, 0, 1), y, "o", color=BLUE, markersize=5)
    axes.set_yticks(y, list(map(str, kept.labels["category"])))
    end = min(1.0, float(high.max()) * 1.15 + 0.02)
    axes.set_xlim(-0.02 * end, 1.02 * end)
    if len(y) < categories:
        axes.set_xlabel(f"the {len(y)} largest of {categories}", color=INK, fontsize=7)
    axes.set_ylim(-0.6, len(y) - 0.4)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g} %")


def _quantiles(axes: Any, release: Release) -> None:  # noqa: ANN401
    statistic: Any = release.mechanism
    orders = 100 * np.asarray(statistic.q)
    low, high = (np.asarray(end, float) for end in release.interval())
    axes.fill_betweenx(orders, low, high, color=PALE, linewidth=0)
    axes.plot(np.asarray(release.value, float), orders, "o-", color=BLUE, markersize=4, linewidth=1)
    axes.yaxis.set_major_formatter(lambda x, _: f"{x:g} %")
    axes.set_ylabel("at or below", color=INK, fontsize=7)
    axes.locator_params(axis="x", nbins=4)
    figures.gaps(axes.xaxis)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
