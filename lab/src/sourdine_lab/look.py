"""The lab's pictures: a method has one colour everywhere, and lines are named at their ends.

The palette is Okabe and Ito's, which readers with any kind of colour blindness can tell apart; its
yellow is darkened to be seen on white.

References
----------
.. [1] M. Okabe, K. Ito, "Color universal design", 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.results.figures import GREY, INK, RULE, canvas

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "COLOURS", "band", "colour", "logarithmic", "name_lines", "note", "panels", "said", "stated",
    "titled",
]  # fmt: skip

BLACK, ORANGE, SKY, GREEN = "#1f2933", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, RED, PINK = "#b8a800", "#0072b2", "#d55e00", "#cc79a7"
SLATE = "#616e7c"
COLOURS = {
    "no privacy": SLATE,
    "truth": BLACK,
    "stated": BLACK,
    "bound": BLACK,
    "today": BLUE,
    "histogram": ORANGE,
    "inverse sensitivity": GREEN,
    "laplace": RED,
    "gaussian": SKY,
    "exponential": PINK,
    "qexp": PINK,
    "indexp": PINK,
    "jointexp": SKY,
    "recexp": YELLOW,
    "recexp unscaled": ORANGE,
    "bounded laplace": RED,
    "staircase": ORANGE,
    "geometric": ORANGE,
    "wavelets": RED,
    "linear": SKY,
    "unprotected": RED,
    "protected": BLUE,
    "coordinates": ORANGE,
    "l0 sampler": SKY,
    "bitset": GREEN,
    "warner": ORANGE,
    "grr": RED,
    "oue": SKY,
    "olh": GREEN,
    "subset selection": PINK,
    "hybrid": GREEN,
    "piecewise": PINK,
    "duchi": YELLOW,
    "one bit": GREEN,
    "square wave": SKY,
    "splitting": ORANGE,
    "median mechanism": PINK,
    "ledger": YELLOW,
}
"""The same method in the same colour everywhere; ``today`` is what Sourdine does by itself."""
APART = 11.0
"""Points between two names at the ends of lines."""


def colour(method: str) -> str:
    """Return the colour of a method."""
    return COLOURS[method]


def panels(
    count: int,
    *,
    rows: int = 1,
    width: float = 7.0,
    height: float = 4.0,
    sharex: bool = False,
    sharey: bool = True,
) -> tuple[Any, list[Any]]:
    """Return a figure with so many axes, row by row, in the common look."""
    figure, first = canvas(width, height)
    figure.trusted = True
    if count == 1:
        return figure, [first]
    if count % rows:
        raise ParameterError(f"panels must fill their rows, got {count} in {rows}. Give rows=1.")
    first.remove()
    grid = figure.subplots(rows, count // rows, sharex=sharex, sharey=sharey, squeeze=False)
    axes = list(grid.flat)
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.spines[["left", "bottom"]].set_color(GREY)
        one.tick_params(colors=INK, labelcolor=INK, length=3, width=0.8)
        one.set_axisbelow(True)
    return figure, axes


def titled(axes: Any, title: str, *, x: str, y: str) -> None:
    """Write the title and what the axes are, with units."""
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.grid(axis="y", color=RULE, linewidth=0.8)


def logarithmic(axes: Any, which: str = "xy") -> None:
    """Set a logarithmic scale on the axis x, y or both, with few and plain numbers on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for letter in which:
        axis = axes.xaxis if letter == "x" else axes.yaxis
        axes.set(**{f"{letter}scale": "log"})
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low) if low > 0 else np.inf
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,), numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
        axis.set_minor_formatter(NullFormatter())


def _plain(value: float) -> str:
    if 1e-3 <= value < 1e6:
        return f"{value:,.10g}"
    power = round(float(np.log10(value)))
    factor = value / 10.0**power
    return f"$10^{{{power}}}$" if abs(factor - 1) < 1e-6 else f"{value:.0e}"


def band(
    axes: Any,
    x: ArrayLike,
    y: ArrayLike,
    error: ArrayLike | float = 0.0,
    *,
    method: str,
    label: str | None = None,
    dashed: bool = False,
) -> None:
    """Draw a line with two standard errors around it; `name_lines` writes its name."""
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    wide = 2 * np.asarray(error, float)
    if np.any(wide > 0):
        axes.fill_between(xs, ys - wide, ys + wide, color=colour(method), alpha=0.2, linewidth=0)
    style = "--" if dashed else "-"
    axes.plot(xs, ys, style, color=colour(method), linewidth=1.6, label=label or method)


def stated(axes: Any, x: ArrayLike, y: ArrayLike, text: str) -> None:
    """Draw what the document states, dotted; `name_lines` writes its words."""
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    axes.plot(xs, ys, ":", color=colour("stated"), linewidth=1.3, label=text)


def said(axes: Any, height: float, text: str) -> None:
    """Mark on the axis y a number that the document gives without saying where it holds."""
    across = axes.get_yaxis_transform()
    axes.plot([0, 0.03], [height] * 2, color=colour("stated"), transform=across, label="_said")
    axes.text(
        0.04, height, text, transform=across, color=colour("stated"), fontsize=8, va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
    )  # fmt: skip


def name_lines(axes: Any) -> None:
    """Write the name of every line beside its end, moved apart where two would touch.

    A name that was moved far is led back to its line.

    To be called last: scales and limits must be set, with `logarithmic` after the lines.
    """
    lines = [
        (line, float(line.get_xdata()[-1]), float(line.get_ydata()[-1]))
        for line in axes.get_lines()
        if not line.get_label().startswith("_") and len(line.get_xdata())
    ]
    axes.set_ylim(axes.get_ylim())
    points = 72 / axes.figure.dpi
    heights = [axes.transData.transform((x, y))[1] * points for _, x, y in lines]
    places = _apart(heights)
    moved = [abs(place - height) > APART / 2 for place, height in zip(places, heights, strict=True)]
    aside = 20 if any(moved) else 6
    for (line, x, y), height, place, far in zip(lines, heights, places, moved, strict=True):
        tint = line.get_color()
        axes.annotate(
            line.get_label(), (x, y), (aside, place - height), textcoords="offset points",
            color=tint, fontsize=9, va="center", annotation_clip=False,
        )  # fmt: skip
        if far:
            lead = {"arrowstyle": "-", "color": tint, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2}
            axes.annotate(
                "", (x, y), (aside - 2, place - height), textcoords="offset points",
                annotation_clip=False, arrowprops=lead,
            )  # fmt: skip


def note(axes: Any, text: str, x: float = 0.02, y: float = 0.97) -> None:
    """Write a short text into the axes, at a place in fractions of them."""
    axes.text(
        x, y, text, transform=axes.transAxes, color=SLATE, fontsize=8, va="top",
        ha="left" if x < 0.5 else "right",
    )  # fmt: skip


def _apart(heights: list[float]) -> list[float]:
    """Return the heights, moved as little as it takes to be `APART` from each other.

    Examples
    --------
    >>> _apart([0.0, 1.0, 50.0])
    [-5.0, 6.0, 50.0]
    """
    order = np.argsort(heights, kind="stable")
    shift = APART * np.arange(len(order))
    free = np.asarray(heights)[order] - shift
    blocks: list[tuple[float, int]] = []
    for place in free:
        mean, size = float(place), 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean = (mean * size + before * count) / (size + count)
            size += count
        blocks.append((mean, size))
    level = np.concatenate([np.full(size, mean) for mean, size in blocks] or [np.empty(0)])
    places = np.empty(len(order))
    places[order] = level + shift
    return [float(p) for p in places]
