"""Pictures in one look. matplotlib is loaded when the first is drawn."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import DAY, about
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.presentation.dates import date_axis, is_date, is_duration, places, shown_date
from sourdine.presentation.lettering import FOLD, drawable, families, folded
from sourdine.presentation.numbers import grouped, own_width, shown
from sourdine.presentation.pages import write_page
from sourdine.presentation.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer = Any

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "MANY",
    "NOTE",
    "PALE",
    "RED",
    "RULE",
    "SOFT",
    "MissingExtraError",
    "canvas",
    "dots",
    "finished",
    "folded",
    "gaps",
    "headed",
    "legend",
    "named_below",
    "panels",
    "saved",
]

INK, NOTE, GREY, BLUE, RED = "#1f2933", "#52606d", "#9aa5b1", "#2f6f9f", "#c8553d"
PALE, SOFT, RULE = "#cfdfeb", "#8fb8d6", "#e4e7eb"
MANY = 12
"""From this many names on, they are written slantwise."""
ACROSS = 88
"""How many small letters stand side by side above a picture of the usual width."""


SIDE_BY_SIDE = 84
"""How many letters of names fit below a picture of the usual width."""
LONG = 1e8
"""From here on, the numbers of an axis take so much room that few fit."""


def canvas(width: float = 7.0, height: float = 4.0) -> tuple[Any, Any]:
    """Return an empty figure and its axes, in the common look."""
    figure, (axes,) = panels(1, width, height)
    return figure, axes


def panels(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return an empty figure and as many axes side by side, in the common look."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, loaded late
    except ImportError as error:
        raise MissingExtraError(
            "matplotlib",
            "be installed to draw",
            "none",
            "In the checkout, type pip install '.[plot]'.",
        ) from error
    figure = _picture(Figure)(figsize=(width, height), dpi=150, layout="constrained")
    found = figure.subplots(1, count, squeeze=False)[0].tolist()
    for axes in found:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(GREY)
        axes.tick_params(colors=INK, labelcolor=INK, length=3, width=0.8)
        axes.set_axisbelow(True)
    return figure, found


@cache
def _picture(figure: type[Any]) -> type[Any]:
    """Return the class of figures that a notebook shows by itself, and no name can spoil."""

    class Picture(figure):  # type: ignore[misc]
        trusted = False
        """Whether all texts are the author's own, so that formulas and ends of lines may stay."""

        def _repr_png_(self) -> bytes:
            page = BytesIO()
            self.savefig(page, format="png")
            return page.getvalue()

        def draw(self, renderer: Any) -> None:  # noqa: ANN401
            from matplotlib import rc_context  # noqa: PLC0415 - an extra, loaded late

            if not self.trusted:
                _clean(self)
            with rc_context({"text.parse_math": self.trusted}):
                super().draw(renderer)

    return Picture


def _clean(figure: Any) -> None:  # noqa: ANN401
    """Make every text of a figure one that can be drawn as it stands; lines stay lines."""
    from matplotlib.text import Text  # noqa: PLC0415 - an extra, loaded late

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ticks = axis.get_major_formatter()
            ticks.format_ticks = _cleaning(type(ticks).format_ticks, ticks)
            axis.get_ticklabels()
    for text in figure.findobj(Text):
        shown_text = text.get_text()
        if fonts := families(shown_text):
            text.set_fontfamily(fonts)
        text.set_text("\n".join(drawable(printable(line)) for line in shown_text.split("\n")))
        text.set_parse_math(False)


def _cleaning(format_ticks: Callable[..., list[str]], ticks: Any) -> Callable[..., list[str]]:  # noqa: ANN401
    return lambda values: [folded(text) for text in format_ticks(ticks, values)]


class MissingExtraError(SourdineError, ImportError):  # type: ignore[misc]
    """An optional library is not installed."""


def finished(
    figure: Any,  # noqa: ANN401
    axes: Any,  # noqa: ANN401
    release: Answer,
    *,
    title: str | None,
    path: str | None,
) -> Any:  # noqa: ANN401
    """Write title and cost, save if there is a path, and return the figure."""
    said = " · ".join(filter(None, (release.price, intervals_shown(release.mechanism))))
    headed(axes, title or release.mechanism.title, said)
    return saved(figure, path, release)


def intervals_shown(mechanism: Any) -> str:  # noqa: ANN401 - what drew a release or an estimate
    """Return which intervals a picture shows, if it shows any."""
    shows = getattr(mechanism, "prints_intervals", True)
    return f"{100 * mechanism.shown:g} % intervals" if shows else ""


def headed(axes: Any, title: str, said: str) -> None:  # noqa: ANN401
    """Write a title above the axes, and below it what else is said, folded where it is long."""
    lines = [part for line in said.split("\n") for part in wrap(line, ACROSS)]
    axes.set_title(title, loc="left", color=INK, fontsize=11, pad=11 + 11 * len(lines))
    axes.annotate(
        "\n".join(lines), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
        color=NOTE, fontsize=8, va="bottom",
    ).set_in_layout(False)  # fmt: skip


def saved(figure: Any, path: str | None, what: Answer = None) -> Any:  # noqa: ANN401
    """Return the figure, saved if there is a path: as a picture, or as a page with its table."""
    if path is None:
        return figure
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in {"html", *figure.canvas.get_supported_filetypes()}:
        raise ParameterError(
            "path",
            "end in png, svg, pdf or html",
            repr(str(path)),
            "Type {path}.",
            path="picture.png",
        )
    if ending == "html":
        write_page(figure, path, what=what)
    else:
        figure.savefig(path)
    return figure


def named_below(axes: Any, x: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    """Write names below an axis: side by side, or slantwise where they would run together."""
    many = len(names) > MANY
    if many:
        names = [name if len(name) <= FOLD else f"{name[: FOLD - 1]}…" for name in names]
    longest = max((len(line) for name in names for line in folded(name).split("\n")), default=0)
    crowded = many or longest * len(names) > SIDE_BY_SIDE
    slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(x, names, **slant)
    if longest * len(names) > SIDE_BY_SIDE // 2:
        axes.tick_params(axis="x", labelsize=8)


def legend(axes: Any) -> None:  # noqa: ANN401
    """Write the legend above the axes, on the right, where no data can be."""
    axes.legend(
        frameon=False, fontsize=8, labelcolor=INK, loc="lower right", bbox_to_anchor=(1, 1),
        ncols=2, markerscale=0.6, handlelength=1.2, borderaxespad=0.2,
    )  # fmt: skip


def gaps(axis: Any) -> None:  # noqa: ANN401
    """Set gaps between the thousands of an axis, and as many decimals as tell its ticks apart."""

    def written(x: float, _: int) -> str:
        if abs(x) < 1e4:
            return f"{x:g}"
        places = axis.get_majorticklocs()
        apart = min(np.diff(places), default=1.0)
        decimals = next((d for d in range(9) if _is_whole(apart * 10**d)), 9)
        return grouped(f"{x:.{decimals}f}")

    axis.set_major_formatter(written)


def _is_whole(x: float) -> bool:
    return bool(abs(x - round(x)) < 1e-3 * abs(x))


def _fewer(axes: Any, values: Any) -> None:  # noqa: ANN401
    """Let ticks of many digits stand further apart."""
    long = float(np.abs(np.asarray(values, float)).max(initial=0.0)) >= LONG
    axes.locator_params(axis="x", nbins=3 if long else 6)


def dots(
    release: Answer,
    *,
    truth: Any = None,  # noqa: ANN401
    names: Sequence[str] | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw one dot with its interval for each number.

    Parameters
    ----------
    release
        What was published.
    truth
        Where the data is public: the true value, or one for each key.
    names
        What each number is called; its labels if left out.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What is written above; what drew it if left out.
    """
    shown_columns = release.columns()
    if not shown_columns.bounded and not getattr(release.mechanism, "intervals", False):
        raise ParameterTypeError(
            "a picture", "be of numbers with intervals", "an answer without", "Print it instead."
        )
    values = shown_columns.values
    sides = (shown_columns.lower or values, shown_columns.upper or values)
    low, high = (np.array(places(ends)) for ends in sides)
    dated = any(map(is_date, values))
    labels = zip(*shown_columns.labels.values(), strict=True)
    names = names or [", ".join(map(str, parts)) for parts in labels]
    names = names or [shown_columns.name][: len(values)]
    y, x = np.arange(len(values))[::-1], np.array(places(values))
    figure, axes = canvas(7.0, 1.6 + 0.36 * len(values))
    for ends in list(shown_columns.beside.values())[:1]:
        least, most = (np.array(places(end)) for end in ends)
        axes.hlines(y, least, most, color=GREY, linewidth=1.4, label="population", zorder=1)
    axes.hlines(y, low, high, color=PALE, linewidth=7, capstyle="round", zorder=1.5)
    axes.plot(x, y, "o", color=BLUE, markersize=7, label="released")
    for value, xi, yi, width in zip(values, x, y, high - low, strict=True):
        text = _text(value, xi, width)
        axes.annotate(
            text, (xi, yi), (0, 8), textcoords="offset points", ha="center",
            color=INK, fontsize=8,
        )  # fmt: skip
    if truth is not None:
        known = places(list(truth.values()) if isinstance(truth, dict) else _listed(truth))
        axes.plot(known, y, "|", color=RED, markersize=16, markeredgewidth=2, label="truth")
    if truth is not None or shown_columns.beside:
        legend(axes)
    axes.set_yticks(y, names)
    axes.set_ylim(-0.6, len(values) - 0.3)
    axes.margins(x=0.12)
    if not dated:
        _fewer(axes, [low, high])
    if any(map(is_duration, values)):
        axes.set_xlabel("days", color=INK)
    if release.mechanism.from_zero:
        axes.set_xlim(left=float(low.min(initial=0.0)))
    (date_axis if dated else gaps)(axes.xaxis)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def _text(value: Any, place: float, width: float) -> str:  # noqa: ANN401
    """Return a value as its interval supports it, that of dates and durations being in days."""
    if is_date(value):
        return shown_date(value, DAY * width)
    if is_duration(value):
        return about(DAY * place)
    return shown(value, own_width(value, width))


def _listed(truth: Any) -> list[Any]:  # noqa: ANN401
    """Return true values as a list: one alone, or several."""
    several = np.atleast_1d(np.asarray(truth))
    return list(several.tolist())
