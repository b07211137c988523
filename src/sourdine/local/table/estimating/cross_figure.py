"""Pictures of two columns crossed: squares for shares of all people, lines for those of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.table.estimating.within import ratio_ends, ratios
from sourdine.presentation import figures
from sourdine.presentation.figures import BLUE, INK, NOTE, PALE, RULE, SOFT
from sourdine.presentation.numbers import shown
from sourdine.release import read_confidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.table.estimating.crossed import Crossed
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["crossed", "draw_squares", "within"]

FEW, ROOMY = 6, 8
"""In letters smaller than `ROOMY`, the numbers of more columns than `FEW` would run together."""
TRACK = 0.8
"""How much of a cell the line from 0 to 100 % takes."""


def crossed(
    table: Crossed, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:  # noqa: ANN401
    """Draw the shares of all people, and beside them those within each row.

    Parameters
    ----------
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What stands above it.
    """
    figure, first = _canvas(table, panels=2)
    figure.delaxes(first)
    left, right = figure.subplots(1, 2, sharey=True)
    draw_squares(left, release, 8)
    beta = read_confidence(table.shown)
    _tracks(right, table, ratios(release.drawn), ratio_ends(release.drawn, beta, "sample"))
    _named(
        left,
        table,
        f"of all people; dark to pale: lower end, share, upper end ({_confidence(table)})",
    )
    _named(right, table, f"of the people in the row, from 0 to 100 %, with {_confidence(table)}")
    left.set_ylabel(table.names[0], color=INK)
    return _finished(figure, table, release, title, path)


def within(
    table: Crossed, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:  # noqa: ANN401
    """Draw the shares within each row; the parameters are those of `crossed`."""
    figure, axes = _canvas(table, panels=1)
    _tracks(axes, table, np.asarray(release.value), release.interval(table.shown))
    _named(axes, table, f"of the people in the row, from 0 to 100 %, with {_confidence(table)}")
    axes.set_ylabel(table.names[0], color=INK)
    return _finished(figure, table, release, title, path)


def _canvas(table: Crossed, panels: int) -> tuple[Any, Any]:
    rows, columns = (len(parts) for parts in table.parts)
    longest = min(max(map(len, table.parts[0])), 36)
    return figures.canvas(
        1.4 + 0.08 * longest + max(3.4, 1.0 * columns + 0.4) * panels, 1.9 + 0.75 * rows
    )


def _confidence(table: Crossed) -> str:
    return f"{100 * table.shown:g} % intervals"


def _named(axes: Any, table: Crossed, text: str) -> None:  # noqa: ANN401
    axes.set_xlabel(table.names[1], color=INK)
    axes.set_title(text, loc="left", color=NOTE, fontsize=8)


def _finished(
    figure: Any,  # noqa: ANN401
    table: Crossed,
    release: Release,
    title: str | None,
    path: str | None,
) -> Any:  # noqa: ANN401
    figure.suptitle(title or table.title, x=0.01, ha="left", color=INK, fontsize=11)
    figure.supxlabel(release.price, x=0.01, ha="left", color=NOTE, fontsize=8)
    return figures.saved(figure, path, release)


def draw_squares(axes: Any, release: Release, size: float) -> None:  # noqa: ANN401
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


def _tracks(axes: Any, table: Crossed, share: Floats, ends: tuple[Floats, Floats]) -> None:  # noqa: ANN401
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


def _places(axes: Any, table: Crossed, size: float) -> tuple[Floats, Floats]:  # noqa: ANN401
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
    axes: Any,  # noqa: ANN401
    places: tuple[Floats, Floats],
    share: Floats,
    widths: Floats,
    size: float,
) -> None:
    width = 100 * max(float(widths.min()), 1e-6)
    for cx, cy, value in zip(places[0].flat, places[1].flat, share.flat, strict=True):
        text = f"{shown(100 * value, width)} %"
        axes.text(cx, cy - 0.34, text, ha="center", va="top", color=INK, fontsize=size - 1)


def _square(x: float, y: float, side: float, colour: str) -> Any:  # noqa: ANN401
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra, loaded late

    return Rectangle((x - side / 2, y - side / 2), side, side, color=colour, linewidth=0)
