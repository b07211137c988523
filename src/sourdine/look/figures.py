"""Pictures in one look. matplotlib is loaded when the first is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import SourdineError
from sourdine.look.numbers import shown

if TYPE_CHECKING:
    from sourdine.release import Release

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "MANY",
    "PALE",
    "RED",
    "RULE",
    "SOFT",
    "MissingExtraError",
    "canvas",
    "finished",
    "gaps",
    "legend",
]

INK, GREY, BLUE, RED = "#1f2933", "#9aa5b1", "#2f6f9f", "#c8553d"
PALE, SOFT, RULE = "#cfdfeb", "#8fb8d6", "#e4e7eb"
MANY = 12
"""From so many names on, they are written slantwise."""


def canvas(width: float = 7.0, height: float = 4.0) -> tuple[Any, Any]:
    """Return an empty figure and its axes, in the common look."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, loaded late
    except ImportError as error:
        raise MissingExtraError(
            "matplotlib must be installed to draw, got none. Type pip install 'sourdine[plot]'."
        ) from error
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    axes = figure.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, labelcolor=INK, length=3, width=0.8)
    axes.set_axisbelow(True)
    return figure, axes


class MissingExtraError(SourdineError, ImportError):
    """An optional library is not installed."""


def finished(
    figure: Any,  # noqa: ANN401
    axes: Any,  # noqa: ANN401
    release: Release,
    *,
    title: str | None,
    path: str | None,
) -> Any:  # noqa: ANN401
    """Write title and cost, save if there is a path, and return the figure."""
    axes.set_title(title or str(release.mechanism), loc="left", color=INK, fontsize=11, pad=22)
    axes.annotate(
        f"{release.cost} · 95 % intervals", (0, 1), (0, 6), xycoords="axes fraction",
        textcoords="offset points", color=GREY, fontsize=8, va="bottom",
    )  # fmt: skip
    if path is not None:
        figure.savefig(path)
    return figure


def legend(axes: Any) -> None:  # noqa: ANN401
    """Write the legend above the axes, on the right, where no data can be."""
    axes.legend(
        frameon=False, fontsize=8, labelcolor=INK, loc="lower right", bbox_to_anchor=(1, 1),
        ncols=2, markerscale=0.6, handlelength=1.2, borderaxespad=0.2,
    )  # fmt: skip


def gaps(axis: Any) -> None:  # noqa: ANN401
    """Set gaps between the thousands of an axis."""
    axis.set_major_formatter(lambda x, _: shown(round(x), 1.0) if abs(x) >= 1e4 else f"{x:g}")
