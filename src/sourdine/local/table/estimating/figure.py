"""Pictures of a whole table: a panel for each column, a map for a pair of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.table.absence import PaidFlag
from sourdine.local.table.columns import Number
from sourdine.presentation import figures
from sourdine.presentation.figures import BLUE, GREY, INK, PALE, RULE, SOFT
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from sourdine.local.table.estimating.estimates import Estimates
    from sourdine.local.table.estimating.pairs import PairTable
    from sourdine.release import Release

__all__ = ["panels", "squares"]

ACROSS = 3
"""How many panels stand side by side."""
MOST_DRAWN = 12
"""How many categories are drawn in a panel."""


def panels(estimates: Estimates, *, path: str | None = None, title: str | None = None) -> Any:  # noqa: ANN401
    """Draw each column: shares as dots, numbers as a distribution, with 95 % intervals.

    Parameters
    ----------
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    title
        What stands above it.
    """
    names = list(estimates)
    panes = len(names) + len(estimates.joint)
    across = min(ACROSS, panes)
    down = -(-panes // across)
    figure, first = figures.canvas(3.6 * across, 0.7 + 2.7 * down)
    figure.delaxes(first)
    for i, name in enumerate(names):
        axes = figure.add_subplot(down, across, i + 1)
        _plain(axes)
        part = estimates.schema.parts(estimates.use)[name]
        if not isinstance(part.column, Number):
            many = len(part.column.listed) > MOST_DRAWN
            _shares(axes, estimates.shares(name, together=many))
        elif isinstance(part.mechanism, PaidFlag):
            _quantiles(axes, estimates.quantiles(name))
        else:
            _bins(axes, estimates.distribution(name, bins=10))
        axes.set_title(name, loc="left", color=INK, fontsize=9)
    for i, (one, other) in enumerate(estimates.joint, len(names) + 1):
        axes = figure.add_subplot(down, across, i)
        _plain(axes)
        found = estimates.pair(one, other)
        _squares(axes, found.mechanism, found, 6)
        axes.set_title(f"{one} and {other}", loc="left", color=INK, fontsize=9)
    cost = f"{estimates.cost} · 95 % intervals"
    figure.suptitle(f"{title}\n{cost}" if title else cost, x=0.01, ha="left", color=INK, fontsize=9)
    if path is not None:
        figure.savefig(path)
    return figure


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
    low, high = np.array(kept.lower, float), np.array(kept.upper, float)
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


def _bins(axes: Any, release: Release) -> None:  # noqa: ANN401
    statistic: Any = release.mechanism
    edges = np.asarray(statistic.edges, float)
    low, high = (np.asarray(end, float) for end in release.interval())
    share = np.asarray(release.value, float)
    edges = edges[: len(share) + 1]
    width = np.diff(edges)
    even = np.where(width > 0, width.mean() / np.where(width > 0, width, 1), 1)
    share, low, high = share * even, low * even, high * even
    axes.stairs(high, edges, baseline=low, fill=True, color=PALE, linewidth=0)
    axes.stairs(share, edges, color=BLUE, linewidth=1.4)
    axes.set_ylim(0, min(float(high.max()), 3 * float(share.max())) * 1.08)
    axes.yaxis.set_major_formatter(lambda x, _: f"{100 * x:g} %")
    axes.locator_params(axis="x", nbins=4)
    figures.gaps(axes.xaxis)
    axes.grid(axis="y", color=RULE, linewidth=0.8)


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


def squares(
    table: PairTable, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:  # noqa: ANN401
    """Draw the shares of two columns as squares; the inner one is the lower end of the interval.

    Parameters
    ----------
    path
        Where to save the picture.
    title
        What stands above it.
    """
    rows, columns = (len(parts) for parts in table.parts)
    longest = max(map(len, table.parts[0]))
    figure, axes = figures.canvas(2.6 + 0.08 * longest + 0.95 * columns, 1.9 + 0.8 * rows)
    _squares(axes, table, release, 8)
    axes.set_xlabel(table.names[1], color=INK)
    axes.set_ylabel(table.names[0], color=INK)
    name = title or f"{table.names[0]} and {table.names[1]}"
    return figures.finished(figure, axes, release, title=name, path=path)


def _squares(axes: Any, table: Any, release: Release, size: float) -> None:  # noqa: ANN401
    share = np.clip(np.asarray(release.value, float), 0, 1)
    low, high = (np.asarray(end, float) for end in release.interval())
    rows, columns = share.shape
    largest = float(np.max(high)) or 1.0
    x, y = np.meshgrid(np.arange(columns), np.arange(rows)[::-1])
    for values, colour in ((high, PALE), (share, SOFT), (low, BLUE)):
        side = np.sqrt(values / largest) * 0.78
        for cx, cy, s in zip(x.flat, y.flat, side.flat, strict=True):
            axes.add_patch(_square(cx, cy, s, colour))
    width = 100 * max(float((high - low).min()), 1e-6)
    for cx, cy, value in zip(x.flat, y.flat, share.flat, strict=True):
        text = f"{shown(100 * value, width)} %"
        axes.text(cx, cy - 0.4, text, ha="center", va="top", color=INK, fontsize=size - 1)
    axes.set_xlim(-0.6, columns - 0.4)
    axes.set_ylim(-0.75, rows - 0.4)
    axes.set_aspect("equal")
    slant = {"rotation": 30, "ha": "right"} if max(map(len, table.parts[1])) > 8 else {}
    axes.set_xticks(np.arange(columns), table.parts[1], **slant)
    axes.set_yticks(np.arange(rows)[::-1], table.parts[0])
    axes.tick_params(length=0, labelsize=size)
    for edge in ("left", "bottom"):
        axes.spines[edge].set_visible(False)


def _square(x: float, y: float, side: float, colour: str) -> Any:  # noqa: ANN401
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra, loaded late

    return Rectangle((x - side / 2, y - side / 2), side, side, color=colour, linewidth=0)
