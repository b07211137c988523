"""Charts: matplotlib figures, small multiples, plain SVG, and pages that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import DAY, about
from sourdine.errors import MissingExtraError, ParameterError, ParameterTypeError
from sourdine.results.formatting import (
    date_axis,
    grouped,
    is_date,
    is_duration,
    own_width,
    places,
    printable,
    shown,
    shown_date,
)
from sourdine.results.templates import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer = Any
    Columns = Any
    Release = Any


# ---- Fonts and long names ------------------------------------------------------------------------


FOLD, LINES = 28, 2
"""The letters per line of a name at an axis, and its maximum number of lines."""
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR",
    "Source Han Sans", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei",
    "Yu Gothic", "MS Gothic", "SimHei", "Malgun Gothic", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "IPAGothic", "Droid Sans Fallback", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Bengali", "Noto Sans Tamil",
)  # fmt: skip
"""Fonts with letters that the default one lacks, used if installed."""


def folded(name: str) -> str:
    """Fold a name into lines that fit next to an axis; a longer one ends in an ellipsis.

    Examples
    --------
    >>> print(folded("Strongly disagree with this statement"))
    Strongly disagree with this
    statement
    """
    text = drawable(printable(name))
    if len(text) <= FOLD:
        return text
    return "\n".join(wrap(text, FOLD, max_lines=LINES, placeholder="…"))


def drawable(text: str) -> str:
    r"""Replace letters that no installed font has by their codes."""
    lacking = {ord(c) for c in text}
    for letters in _fonts().values():
        lacking -= letters
    return "".join(ascii(c)[1:-1] if ord(c) in lacking else c for c in text) if lacking else text


def families(text: str) -> list[str]:
    """Return the fonts that a text needs, the default one first; empty if it needs no other."""
    fonts = _fonts()
    usual, *others = fonts
    needed = {ord(c) for c in text} - fonts[usual]
    found = [name for name in others if needed & fonts[name]]
    return [usual, *found] if found else []


def _fonts() -> dict[str, frozenset[int]]:
    """Return the letters of the default font, and of the installed fallbacks."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    return _among(findfont(FontProperties()), FALLBACKS, len(fontManager.ttflist))


@cache
def _among(usual: Any, fallbacks: tuple[str, ...], known: int) -> dict[str, frozenset[int]]:
    """Search the known fonts; their number tells when there are new ones."""
    from matplotlib.font_manager import FontProperties, fontManager

    del known
    there = {font.name: font.fname for font in fontManager.ttflist if font.name in fallbacks}
    named = FontProperties(fname=usual).get_name()
    paths = {named: usual, **{name: there[name] for name in fallbacks if name in there}}
    return {name: _letters(path) for name, path in paths.items()}


@cache
def _letters(path: Any) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


# ---- Plain SVG: no library, no script, every text escaped; colours are the page's own ------------


def drawing(inside: str, width: float, height: float, told: str) -> str:
    """Return an SVG drawing of a size, with a description for screen readers.

    Examples
    --------
    >>> drawing("", 20, 10, "<nothing>")
    '<svg viewBox="0 0 20 10" role="img" aria-label="&lt;nothing&gt;" direction="ltr"></svg>'
    """
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(told)}" '
        f'direction="ltr">{inside}</svg>'
    )


def whisker(x1: float, x2: float, y: float) -> str:
    """Return a horizontal interval with its ends."""
    across = f'<line class="end" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return across + "".join(
        f'<line class="end" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5:.1f}" y2="{y + 5:.1f}"/>'
        for x in (x1, x2)
    )


def text(words: str, x: float, y: float, anchor: str = "start", kind: str = "tick") -> str:
    """Return words at a place.

    Examples
    --------
    >>> text("a < b", 1, 2)
    '<text class="tick" x="1.0" y="2.0" text-anchor="start">a &lt; b</text>'
    """
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'


# ---- HTML pages with a chart and its table, without network access -------------------------------


def write_page(figure: Any, path: str, *, what: Any = None, title: str | None = None) -> None:
    """Write an HTML page with a figure and the table of its numbers.

    Parameters
    ----------
    figure
        The figure.
    path
        The file to write.
    what
        The answer that is drawn: its table is below the figure.
    title
        The title of the page; defaults to the title of the figure.
    """
    drawing = StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :]
    table = "" if what is None else what._repr_html_()
    page = environment("sourdine.results").get_template("chart.html")
    text = page.render(title=title or _above(figure), svg=svg, table=table)
    Path(path).write_text(f"{text}\n", encoding="utf-8")


def _above(figure: Any) -> str:
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    return next(filter(None, titles), "Sourdine")


# ---- Charts with matplotlib, which is imported when first used -----------------------------------


INK, NOTE, GREY, BLUE, RED = "#1f2933", "#52606d", "#9aa5b1", "#2f6f9f", "#c8553d"
PALE, SOFT, RULE = "#cfdfeb", "#8fb8d6", "#e4e7eb"
MANY = 12
"""From this many names on, they are rotated."""
ACROSS = 88
"""The number of small letters that fit above a chart of the default width."""


SIDE_BY_SIDE = 84
"""The number of letters of names that fit below a chart of the default width."""
LONG = 1e8
"""From this value on, the numbers of an axis are so wide that few fit."""


def canvas(width: float = 7.0, height: float = 4.0) -> tuple[Any, Any]:
    """Return an empty figure and its axes, in the common style."""
    figure, (axes,) = panels(1, width, height)
    return figure, axes


def panels(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return an empty figure and ``count`` axes in a row, in the common style."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "plot",
            "be installed",
            "",
            "In the checkout, run pip install '.[plot]'.",
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
    """Return a figure class that notebooks display, and that draws any text literally."""

    class Picture(figure):  # type: ignore[misc]
        trusted = False
        """Whether all texts are the author's own, so that formulas and line ends are kept."""

        def _repr_png_(self) -> bytes:
            page = BytesIO()
            self.savefig(page, format="png")
            return page.getvalue()

        def draw(self, renderer: Any) -> None:
            from matplotlib import rc_context

            if not self.trusted:
                _clean(self)
            with rc_context({"text.parse_math": self.trusted}):
                super().draw(renderer)

    return Picture


def _clean(figure: Any) -> None:
    """Make every text of a figure drawable literally; line ends are kept."""
    from matplotlib.text import Text

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


def _cleaning(format_ticks: Callable[..., list[str]], ticks: Any) -> Callable[..., list[str]]:
    return lambda values: [folded(text) for text in format_ticks(ticks, values)]


def finished(
    figure: Any,
    axes: Any,
    release: Answer,
    *,
    title: str | None,
    path: str | None,
) -> Any:
    """Add title and cost, save if there is a path, and return the figure."""
    said = " · ".join(filter(None, (release.price, intervals_shown(release.mechanism))))
    headed(axes, title or titled(release), said)
    return saved(figure, path, release)


def intervals_shown(mechanism: Any) -> str:
    """Return which intervals a chart shows, if any."""
    display = mechanism.display
    return f"{100 * display.confidence:g}% intervals" if display.intervals else ""


def titled(release: Any) -> str:
    """Return the title of a release's chart, unless another is given."""
    mechanism = release.mechanism
    return str(mechanism.display.title or mechanism)


def headed(axes: Any, title: str, said: str) -> None:
    """Write a title above the axes, and below it a subtitle, folded if it is long."""
    lines = [part for line in said.split("\n") for part in wrap(line, ACROSS)]
    axes.set_title(title, loc="left", color=INK, fontsize=11, pad=11 + 11 * len(lines))
    axes.annotate(
        "\n".join(lines), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
        color=NOTE, fontsize=8, va="bottom",
    ).set_in_layout(False)  # fmt: skip


def saved(figure: Any, path: str | None, what: Answer = None) -> Any:
    """Return the figure, saved if there is a path: as an image, or as a page with its table."""
    if path is None:
        return figure
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in {"html", *figure.canvas.get_supported_filetypes()}:
        raise ParameterError(
            "path",
            "end in .png, .svg, .pdf or .html",
            repr(str(path)),
            "Use {path}.",
            path="picture.png",
        )
    if ending == "html":
        write_page(figure, path, what=what)
    else:
        figure.savefig(path)
    return figure


def named_below(axes: Any, x: Any, names: Sequence[str]) -> None:
    """Write names below an axis: horizontally, or rotated where they would overlap."""
    many = len(names) > MANY
    if many:
        names = [name if len(name) <= FOLD else f"{name[: FOLD - 1]}…" for name in names]
    longest = max((len(line) for name in names for line in folded(name).split("\n")), default=0)
    crowded = many or longest * len(names) > SIDE_BY_SIDE
    slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(x, names, **slant)
    if longest * len(names) > SIDE_BY_SIDE // 2:
        axes.tick_params(axis="x", labelsize=8)


def legend(axes: Any) -> None:
    """Write the legend above the axes, on the right, where there is no data."""
    axes.legend(
        frameon=False, fontsize=8, labelcolor=INK, loc="lower right", bbox_to_anchor=(1, 1),
        ncols=2, markerscale=0.6, handlelength=1.2, borderaxespad=0.2,
    )  # fmt: skip


def gaps(axis: Any) -> None:
    """Separate the thousands of an axis, with as many decimals as distinguish its ticks."""

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


def _fewer(axes: Any, values: Any) -> None:
    """Space out ticks of many digits."""
    long = float(np.abs(np.asarray(values, float)).max(initial=0.0)) >= LONG
    axes.locator_params(axis="x", nbins=3 if long else 6)


def dots(
    release: Answer,
    *,
    truth: Any = None,
    names: Sequence[str] | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw a dot with its interval for each number.

    Parameters
    ----------
    release
        The release to draw.
    truth
        If the data is public: the true value, or one for each key.
    names
        The name of each number; defaults to its label.
    path
        Where to save the chart; the extension sets the format (png, svg, pdf, html).
    title
        The title; defaults to that of the mechanism or statistic.
    """
    shown_columns = release.columns()
    if not shown_columns.bounded and not getattr(release.mechanism, "intervals", False):
        raise ParameterTypeError(
            "plot",
            "plot() is not available for an answer without intervals.",
            "",
            "Print it instead.",
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
    for ends in list(shown_columns.extra_intervals.values())[:1]:
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
    if truth is not None or shown_columns.extra_intervals:
        legend(axes)
    axes.set_yticks(y, names)
    axes.set_ylim(-0.6, len(values) - 0.3)
    axes.margins(x=0.12)
    if not dated:
        _fewer(axes, [low, high])
    if any(map(is_duration, values)):
        axes.set_xlabel("days", color=INK)
    if release.mechanism.display.from_zero:
        axes.set_xlim(left=float(low.min(initial=0.0)))
    (date_axis if dated else gaps)(axes.xaxis)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def _text(value: Any, place: float, width: float) -> str:
    """Return a value with the digits its interval supports; dates and durations are in days."""
    if is_date(value):
        return shown_date(value, DAY * width)
    if is_duration(value):
        return about(DAY * place)
    return shown(value, own_width(value, width))


def _listed(truth: Any) -> list[Any]:
    """Return true values as a list: one alone, or several."""
    several = np.atleast_1d(np.asarray(truth))
    return list(several.tolist())


# ---- Charts of groups: a few share axes, many have a small panel each ----------------------------


SERIES = (BLUE, RED, "#3d8361", "#b7892b", "#7d5ba6", "#66727e")
"""The colours of groups that share axes."""
FEW = len(SERIES)
"""Up to this number of groups share axes."""
MOST = 60
"""The maximum number of panels in a chart."""
MANY_PANELS = 9
"""With more panels than this, there are four in a row."""


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A group's name, and which rows of a release belong to it."""

    name: str
    rows: list[int]

    def of(self, column: Sequence[Any]) -> list[Any]:
        """Return this group's part of a column."""
        return [column[i] for i in self.rows]


def groups_of(columns: Columns) -> list[DrawnGroup]:
    """Return the groups of a release in their order.

    Examples
    --------
    >>> from sourdine.results.tables import Columns
    >>> both = {"sex": ["f", "f", "m", "m"], "q": [0.25, 0.75, 0.25, 0.75]}
    >>> columns = Columns(labels=both, name="q", values=[1] * 4, by=["sex"])
    >>> [(group.name, group.rows) for group in groups_of(columns)]
    [('f', [0, 1]), ('m', [2, 3])]
    """
    rows: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*(columns.labels[name] for name in columns.by), strict=True)):
        rows.setdefault(key, []).append(i)
    return [DrawnGroup(", ".join(map(str, key)), own) for key, own in rows.items()]


def true_of(
    truth: Any,
    groups: Sequence[DrawnGroup],
    keys: Sequence[Any],
) -> list[list[Any] | None]:
    """Return the true numbers of each group: from a mapping by key, or one list of all."""
    if truth is None:
        return [None] * len(groups)
    if isinstance(truth, Mapping):
        return [list(truth[key]) if key in truth else None for key in keys]
    every = np.ravel(np.asarray(truth)).tolist()
    return [group.of(every) for group in groups]


class Panels:
    """A grid of small panels that share their axes, one for each group.

    Parameters
    ----------
    groups
        The groups; if there are more than 60, the first are drawn.
    high
        The height of a panel, in inches.
    names
        The number of letters of the names at the left, if categories are there.
    """

    def __init__(self, groups: Sequence[DrawnGroup], high: float = 1.35, names: int = 0) -> None:
        self.groups, self.all = list(groups)[:MOST], len(groups)
        m = len(self.groups)
        self.across = 2 if m in {2, 4} else min(m, 3 if m <= MANY_PANELS else 4)
        down = ceil(m / max(self.across, 1))
        wide = max(7.0, 2.3 * self.across + 0.075 * min(names, 28))
        self.figure, first = canvas(wide, 0.9 + (high + 0.25) * max(down, 1))
        first.remove()
        self.figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
        grid = self.figure.subplots(
            max(down, 1), max(self.across, 1), sharex=True, sharey=True, squeeze=False
        ).ravel()
        if not m:
            grid[0].text(0.5, 0.5, "no group was found", ha="center", color=NOTE, fontsize=9)
            grid[0].set_axis_off()
        for axes in grid[max(m, 1) :]:
            axes.remove()
        self.axes = grid[:m].tolist()
        for i, (axes, group) in enumerate(zip(self.axes, self.groups, strict=True)):
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            for side in ("left", "bottom"):
                axes.spines[side].set_color(GREY)
            axes.tick_params(colors=INK, labelcolor=INK, labelsize=7, length=2)
            below = i + self.across >= m  # there is no panel below this one
            axes.tick_params(labelbottom=below, labelleft=i % self.across == 0)
            axes.set_title(folded(group.name), loc="left", fontsize=8, color=INK)
            axes.set_axisbelow(True)

    def finished(
        self, release: Release, *, title: str | None, path: str | None, axis: str, more: str = ""
    ) -> Any:
        """Write title, cost and axis labels, save if there is a path, return the figure."""
        drawn = len(self.groups)
        left = f"the first {drawn} of {self.all} groups" if drawn < self.all else ""
        shown = intervals_shown(release.mechanism)
        shown += " of all groups together" if shown else ""
        said = " · ".join(filter(None, (axis, release.price, shown, left, more)))
        self.figure.suptitle(title or titled(release), x=0.01, ha="left", color=INK, fontsize=11)
        self.figure.supxlabel(said, x=0.01, ha="left", color=NOTE, fontsize=8)
        return saved(self.figure, path, release)


def lines(axes: Any, x: Any, numbers: Mapping[str, Any], colour: str, *, label: str) -> None:
    """Draw a group's numbers as a line within the band of their intervals.

    Parameters
    ----------
    axes
        The axes to draw on.
    x
        The positions of the numbers.
    numbers
        The ``value`` and the ends of the intervals, ``low`` and ``high``.
    colour, label
        Of the line.
    """
    axes.fill_between(x, numbers["low"], numbers["high"], color=colour, alpha=0.16, linewidth=0)
    dots = "-o" if len(x) <= 25 else "-"
    axes.plot(
        x, numbers["value"], dots, color=colour, linewidth=1.5, markersize=3.5, label=folded(label)
    )


def beside_lines(axes: Any, order: Sequence[int] | None = None) -> None:
    """Write the names of lines to the right of the axes, each in its line's colour."""
    handles, names = axes.get_legend_handles_labels()
    order = range(len(names)) if order is None else order
    axes.legend(
        [handles[i] for i in order], [names[i] for i in order], frameon=False, fontsize=8,
        labelcolor="linecolor", loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2,
        labelspacing=0.7,
    )  # fmt: skip
