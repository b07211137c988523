"""Charts of estimates: a panel for each column, and crossed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.estimators.frequencies import Frequencies
from sourdine.results import figures
from sourdine.results.figures import BLUE, INK, NOTE, PALE, RULE, SOFT
from sourdine.results.tables import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.local.table.crossed import Crossed
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]


# ---- Pictures of two columns crossed: squares for shares of all people, lines for those of a row -


FEW, ROOMY = 6, 8
"""In letters smaller than `ROOMY`, the numbers of more columns than `FEW` would run together."""
TRACK = 0.8
"""How much of a cell the line from 0 to 100% takes."""


def draw_crossed(
    table: Crossed, release: Release, share: Floats, ends: tuple[Floats, Floats],
    *, squares: bool, path: str | None = None, title: str | None = None,
) -> Any:  # fmt: skip
    """Draw the shares within each row with their intervals.

    With ``squares`` those of all people, which the release then holds, stand beside them.
    """
    rows, columns = map(len, table.parts)
    longest = min(max(map(len, table.parts[0])), 36)
    width = 1.4 + 0.08 * longest + max(3.4, 1.0 * columns + 0.4) * (1 + squares)
    figure, axes = figures.canvas(width, 1.9 + 0.75 * rows)
    sure = f"{100 * table.display.confidence:g}% intervals"

    def name(pane: Any, text: str) -> None:
        pane.set_xlabel(table.names[1], color=INK)
        pane.set_title(text, loc="left", color=NOTE, fontsize=8)

    left = axes
    if squares:
        figure.delaxes(axes)
        left, axes = figure.subplots(1, 2, sharey=True)
        draw_squares(left, release, 8)
        name(left, f"of all people, with {sure}\n(dark: lower end, pale: upper)")
    _tracks(axes, table, share, ends)
    name(axes, f"of the people in the row, 0 to 100%,\nwith {sure}")
    left.set_ylabel(table.names[0], color=INK)
    figure.suptitle(title or table.display.title, x=0.01, ha="left", color=INK, fontsize=11)
    figure.supxlabel(release.price, x=0.01, ha="left", color=NOTE, fontsize=8)
    return figures.saved(figure, path, release)


def draw_squares(axes: Any, release: Release, size: float) -> None:
    """Draw shares as areas: the upper end of the interval, the share, the lower end."""
    from matplotlib.patches import Rectangle

    table: Any = release.mechanism
    share = np.clip(np.asarray(release.value, float), 0, 1)
    low, high = (np.clip(np.asarray(end, float), 0, 1) for end in release.interval())
    largest = float(np.max(high)) or 1.0
    x, y = _places(axes, table, size)
    for values, colour in ((high, PALE), (share, SOFT), (low, BLUE)):
        sides = np.sqrt(values / largest) * 0.74
        for cx, cy, side in zip(x.flat, y.flat, sides.flat, strict=True):
            corner = (cx - side / 2, cy + 0.06 - side / 2)
            axes.add_patch(Rectangle(corner, side, side, color=colour, linewidth=0))
    if size >= ROOMY or share.shape[1] <= FEW:
        _numbers(axes, (x, y), share, high - low, size)
    axes.set_aspect("equal")


def _tracks(axes: Any, table: Crossed, share: Floats, ends: tuple[Floats, Floats]) -> None:
    """Draw each share as a dot with its interval on a line of its own from 0 to 1."""
    x, y = _places(axes, table, 8)
    share, low, high = (np.clip(x, 0, 1) for x in (share, *ends))
    left = x - TRACK / 2
    axes.hlines(y, left, left + TRACK, color=RULE, linewidth=1.2)
    for end in (left, left + TRACK):
        axes.vlines(end, y - 0.06, y + 0.06, color=RULE, linewidth=1.2)
    axes.hlines(y, left + TRACK * low, left + TRACK * high, color=PALE, linewidth=9)
    axes.plot((left + TRACK * share).ravel(), y.ravel(), "o", color=BLUE, markersize=5)
    _numbers(axes, (x, y + 0.06), share, high - low, 8)


def _places(axes: Any, table: Crossed, size: float) -> tuple[Floats, Floats]:
    """Name rows and columns, and return where the cells are."""
    rows, columns = (len(parts) for parts in table.parts)
    longest = max(len(figures.folded(part)) for part in table.parts[1])
    slant = {"rotation": 30, "ha": "right"} if longest > 8 else {}
    axes.set_xticks(np.arange(columns), table.parts[1], **slant)
    axes.set_yticks(np.arange(rows)[::-1], table.parts[0])
    axes.set_xlim(-0.6, columns - 0.4)
    axes.set_ylim(-0.75, rows - 0.4)
    axes.tick_params(length=0, labelsize=size, labelcolor=INK)
    for edge in axes.spines.values():
        edge.set_visible(False)
    x, y = np.meshgrid(np.arange(columns, dtype=float), np.arange(rows, dtype=float)[::-1])
    return x, y


def _numbers(
    axes: Any, places: tuple[Floats, Floats], share: Floats, widths: Floats, size: float
) -> None:
    width = 100 * max(float(widths.min()), 1e-6)
    for cx, cy, value in zip(places[0].flat, places[1].flat, share.flat, strict=True):
        text = f"{shown(100 * value, width)}%"
        axes.text(cx, cy - 0.34, text, ha="center", va="top", color=INK, fontsize=size - 1)


# ---- The picture of a whole table: a panel for each column, and one for each pair ----------------


ACROSS = 3
"""How many panels stand side by side."""
MOST_DRAWN = 12
"""How many categories are drawn in a panel."""


def panels(
    what: Any, panes: Sequence[tuple[str, Release]], *,
    path: str | None = None, title: str | None = None,
) -> Any:  # fmt: skip
    """Draw estimates: shares as dots, numbers by their quantiles, with 95% intervals.

    ``what`` knows what a record cost; each of the panes has a title.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    across = min(ACROSS, len(panes))
    down = -(-len(panes) // across)
    figure, first = figures.canvas(3.6 * across, 0.7 + 2.7 * down)
    figure.delaxes(first)
    keys = [
        Line2D([], [], color=BLUE, marker="o", linewidth=1.4, label="estimate"),
        Patch(color=PALE, label="95% interval"),
    ]
    areas = Patch(color=SOFT, label="pair: the share as an area, its lower end in dark")
    for i, (name, release) in enumerate(panes, 1):
        axes = figure.add_subplot(down, across, i)
        figures.plain(axes, length=2, labelsize=7)
        drew: Any = release.mechanism
        if hasattr(drew, "parts"):  # two columns have the parts of both
            draw_squares(axes, release, 6)
            keys = [*keys[:2], areas]
        elif isinstance(drew.estimate, Frequencies):
            _shares(axes, release)
        else:
            _quantiles(axes, release)
        axes.set_title(name, loc="left", color=INK, fontsize=9)
    figure.suptitle(title or "Estimates", x=0.01, ha="left", color=INK, fontsize=11)
    figure.legend(
        handles=keys, title=f"{what.cost}, for all columns of a record", loc="outside lower left",
        ncols=len(keys), frameon=False, fontsize=8, title_fontsize=8, labelcolor=INK,
        alignment="left",
    ).get_title().set_color(NOTE)  # fmt: skip
    return figures.saved(figure, path, what)


def _shares(axes: Any, release: Release) -> None:
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
    axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g}%")


def _quantiles(axes: Any, release: Release) -> None:
    statistic: Any = release.mechanism
    orders = 100 * np.asarray(statistic.q)
    low, high = (np.asarray(end, float) for end in release.interval())
    axes.fill_betweenx(orders, low, high, color=PALE, linewidth=0)
    axes.plot(np.asarray(release.value, float), orders, "o-", color=BLUE, markersize=4, linewidth=1)
    axes.yaxis.set_major_formatter(lambda x, _: f"{x:g}%")
    axes.set_ylabel("at or below", color=INK, fontsize=7)
    axes.locator_params(axis="x", nbins=4)
    figures.gaps(axes.xaxis)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
