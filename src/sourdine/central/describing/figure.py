"""A description as a picture: a small one for each column."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.describing.parts import DATE
from sourdine.central.describing.sheet import TOP, cut, leaves_many_out
from sourdine.presentation.figures import (
    BLUE,
    GREY,
    INK,
    NOTE,
    PALE,
    SOFT,
    canvas,
    gaps,
    saved,
)
from sourdine.release.release import read_confidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.describing.describe import Describe
    from sourdine.release import Release

    Numbers = Mapping[str, tuple[Any, Any, Any]]

__all__ = ["panels"]

ACROSS = 3


def panels(
    question: Describe, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:  # noqa: ANN401
    """Draw, of each column, its deciles as bars of equal numbers of records, or its categories."""
    found = question.numbers(release.drawn, read_confidence(question.shown))
    down = ceil(len(found) / ACROSS)
    figure, first = canvas(3.3 * ACROSS, 0.9 + 1.9 * down)
    first.remove()
    grid = figure.subplots(down, ACROSS, squeeze=False).ravel()
    for axes in grid[len(found) :]:
        axes.remove()
    for axes, (name, numbers) in zip(grid, found.items(), strict=False):
        _dress(axes)
        if release.drawn["columns"][name]["kind"] == DATE:
            _empty(axes, "dates are only counted")
        elif _too_few(*numbers["count"]):
            _empty(axes, "too few values to show")
        else:
            (_deciles if "mean" in numbers else _categories)(axes, numbers)
        gone = numbers["missing"][0]
        out = {what: x[0] for what, x in numbers.items()}
        said = [f"{100 * gone:.0f} % missing"] if gone >= 0.005 else []
        said += ["many may lie outside"] if leaves_many_out(out) else []
        more = ", ".join(said)
        axes.set_title(cut(name, 30), loc="left", fontsize=9, color=INK)
        axes.text(1, 1.03, more, transform=axes.transAxes, ha="right", fontsize=7, color=NOTE)
    figure.suptitle(title or "Described privately", x=0.01, ha="left", fontsize=12, color=INK)
    figure.supxlabel(
        f"{release.price} · bars hold a tenth of the records each, wide where they are thin",
        fontsize=8, color=NOTE, x=0.01, ha="left",
    )  # fmt: skip
    return saved(figure, path)


def _too_few(count: float, low: float, high: float) -> bool:
    """Return whether the number of values is within twice its error of 0: bars would be noise."""
    return count <= 2 * max(count - low, high - count)


def _dress(axes: Any) -> None:  # noqa: ANN401
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.tick_params(colors=INK, labelcolor=INK, labelsize=7, length=2)


def _deciles(axes: Any, numbers: Numbers) -> None:  # noqa: ANN401
    """Draw a histogram whose bars hold a tenth of the records each, and the mean."""
    deciles = [x[0] for what, x in numbers.items() if what.endswith(" %")]
    edges = np.array([numbers["lowest"][0], *deciles, numbers["highest"][0]], float)
    width = np.diff(edges)
    least = (edges[-1] - edges[0]) / 60
    height = 1 / np.maximum(width, least)
    axes.bar(
        edges[:-1], height, np.maximum(width, least), align="edge", color=SOFT, edgecolor="white",
        linewidth=0.4,
    )  # fmt: skip
    mean, low, high = numbers["mean"]
    axes.axvspan(low, high, color=PALE, zorder=0)
    axes.axvline(mean, color=BLUE, linewidth=1.2)
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=4)
    gaps(axes.xaxis)


def _empty(axes: Any, text: str) -> None:  # noqa: ANN401
    """Write why there is no picture."""
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", fontsize=7, color=NOTE
    )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])


def _categories(axes: Any, numbers: Numbers) -> None:  # noqa: ANN401
    """Draw the most common categories as bars with their intervals."""
    named = [(what[2:], x) for what, x in numbers.items() if what.startswith("= ")][:TOP]
    if not named:
        _empty(axes, "no category is common enough")
        return
    place = np.arange(len(named))[::-1]
    share, low, high = (100 * np.array([x[i] for _, x in named], float) for i in range(3))
    axes.barh(place, share, color=SOFT, height=0.7)
    axes.errorbar(
        share, place, xerr=np.maximum([share - low, high - share], 0), fmt="none", ecolor=INK,
        elinewidth=0.8, capsize=1.5,
    )  # fmt: skip
    axes.set_yticks(place, [cut(name, 16) for name, _ in named])
    axes.xaxis.set_major_formatter("{x:.0f} %")
    axes.locator_params(axis="x", nbins=4)
