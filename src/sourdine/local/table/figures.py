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
    from sourdine.privacy import Guarantee
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]


# ---- Pictures of two columns crossed: squares for shares of all people, lines for those of a row -


FEW, ROOMY = 6, 8
"""In letters smaller than `ROOMY`, the numbers of more columns than `FEW` would run together."""
TRACK = 0.8
"""How much of a cell the line from 0 to 100% takes."""


def crossed(
    table: Crossed,
    release: Release,
    share: Floats,
    ends: tuple[Floats, Floats],
    *,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw the shares of all people, and beside them those within each row.

    Parameters
    ----------
    share, ends
        The shares within each row, and the ends of their intervals.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What stands above it.
    """
    figure, first = _canvas(table, panels=2)
    figure.delaxes(first)
    left, right = figure.subplots(1, 2, sharey=True)
    draw_squares(left, release, 8)
    _tracks(right, table, share, ends)
    _named(left, table, f"of all people, with {_confidence(table)}\n(dark: lower end, pale: upper)")
    _named(right, table, f"of the people in the row, 0 to 100%,\nwith {_confidence(table)}")
    left.set_ylabel(table.names[0], color=INK)
    return _finished(figure, table, release, title, path)


def within(
    table: Crossed, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:
    """Draw the shares within each row; the parameters are those of `crossed`."""
    figure, axes = _canvas(table, panels=1)
    _tracks(axes, table, np.asarray(release.value), release.interval(table.display.confidence))
    _named(axes, table, f"of the people in the row, 0 to 100%,\nwith {_confidence(table)}")
    axes.set_ylabel(table.names[0], color=INK)
    return _finished(figure, table, release, title, path)


def _canvas(table: Crossed, panels: int) -> tuple[Any, Any]:
    rows, columns = (len(parts) for parts in table.parts)
    longest = min(max(map(len, table.parts[0])), 36)
    return figures.canvas(
        1.4 + 0.08 * longest + max(3.4, 1.0 * columns + 0.4) * panels, 1.9 + 0.75 * rows
    )


def _confidence(table: Crossed) -> str:
    return f"{100 * table.display.confidence:g}% intervals"


def _named(axes: Any, table: Crossed, text: str) -> None:
    axes.set_xlabel(table.names[1], color=INK)
    axes.set_title(text, loc="left", color=NOTE, fontsize=8)


def _finished(
    figure: Any,
    table: Crossed,
    release: Release,
    title: str | None,
    path: str | None,
) -> Any:
    figure.suptitle(title or table.display.title, x=0.01, ha="left", color=INK, fontsize=11)
    figure.supxlabel(release.price, x=0.01, ha="left", color=NOTE, fontsize=8)
    return figures.saved(figure, path, release)


def draw_squares(axes: Any, release: Release, size: float) -> None:
    """Draw shares as areas: the upper end of the interval, the share, the lower end."""
    table: Any = release.mechanism
    share = np.clip(np.asarray(release.value, float), 0, 1)
    low, high = (np.clip(np.asarray(end, float), 0, 1) for end in release.interval())
    largest = float(np.max(high)) or 1.0
    x, y = _places(axes, table, size)
    for values, colour in ((high, PALE), (share, SOFT), (low, BLUE)):
        side = np.sqrt(values / largest) * 0.74
        for cx, cy, s in zip(x.flat, y.flat, side.flat, strict=True):
            axes.add_patch(_square(cx, cy + 0.06, s, colour))
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
    axes: Any,
    places: tuple[Floats, Floats],
    share: Floats,
    widths: Floats,
    size: float,
) -> None:
    width = 100 * max(float(widths.min()), 1e-6)
    for cx, cy, value in zip(places[0].flat, places[1].flat, share.flat, strict=True):
        text = f"{shown(100 * value, width)}%"
        axes.text(cx, cy - 0.34, text, ha="center", va="top", color=INK, fontsize=size - 1)


def _square(x: float, y: float, side: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - side / 2, y - side / 2), side, side, color=colour, linewidth=0)


# ---- The picture of a whole table: a panel for each column, and one for each pair ----------------


ACROSS = 3
"""How many panels stand side by side."""
MOST_DRAWN = 12
"""How many categories are drawn in a panel."""


def panels(
    what: Any,
    panes: Sequence[tuple[str, Release]],
    *,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw estimates: shares as dots, numbers by their quantiles, with 95% intervals.

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
        figures.plain(axes, length=2, labelsize=7)
        _drawn(axes, release)
        axes.set_title(name, loc="left", color=INK, fontsize=9)
    crossed = any(_is_crossed(release) for _, release in panes)
    _explain(figure, what.cost, title, crossed=crossed)
    return figures.saved(figure, path, what)


def _is_crossed(release: Release) -> bool:
    """Return whether a release is of two columns: these have the parts of both."""
    return hasattr(release.mechanism, "parts")


def _drawn(axes: Any, release: Release) -> None:
    """Draw one estimate, as its kind is drawn."""
    drew: Any = release.mechanism
    if _is_crossed(release):
        draw_squares(axes, release, 6)
    elif isinstance(drew.estimate, Frequencies):
        _shares(axes, release)
    else:
        _quantiles(axes, release)


def _explain(figure: Any, cost: Guarantee, title: str | None, *, crossed: bool) -> None:
    """Write above the panels what was asked and what it cost, and below them what is drawn how."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure.suptitle(title or "Estimates", x=0.01, ha="left", color=INK, fontsize=11)
    keys = [
        Line2D([], [], color=BLUE, marker="o", linewidth=1.4, label="estimate"),
        Patch(color=PALE, label="95% interval"),
    ]
    if crossed:
        keys.append(Patch(color=SOFT, label="pair: the share as an area, its lower end in dark"))
    whole = f"{cost}, for all columns of a record"
    figure.legend(
        handles=keys, title=whole, loc="outside lower left", ncols=len(keys), frameon=False,
        fontsize=8, title_fontsize=8, labelcolor=INK, alignment="left",
    ).get_title().set_color(NOTE)  # fmt: skip


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
