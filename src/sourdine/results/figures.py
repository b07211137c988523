"""Charts drawn with matplotlib, and pages made from templates."""

from __future__ import annotations

from functools import cache, partial
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import MissingExtraError, ParameterError
from sourdine.results.charts import MOST
from sourdine.results.tables import date_axis, grouped, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.results.charts import Chart, ChartAxis, ChartSeries

    Answer = Any
    from jinja2 import Environment


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
    """Fold a name into lines that fit next to an axis; a longer one ends in an ellipsis."""
    text = drawable(printable(name))
    if len(text) <= FOLD:
        return text
    return "\n".join(wrap(text, FOLD, max_lines=LINES, placeholder="…"))


def drawable(text: str) -> str:
    r"""Replace letters that no installed font has by their codes."""
    lacking = {ord(c) for c in text}
    for letters in _fonts().values():
        lacking -= letters
    if not lacking:
        return text
    return "".join(ascii(c)[1:-1] if ord(c) in lacking else c for c in text)


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


# ---- HTML pages with a chart and its table, without network access -------------------------------


def write_page(figure: Any, path: str, *, what: Any = None, title: str | None = None) -> None:
    """Write an HTML page with a figure, and below it the table of the answer that is drawn.

    The title of the page defaults to that of the figure.
    """
    drawing = StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    titles = [title, figure.get_suptitle(), *(each.get_title(loc="left") for each in figure.axes)]
    text = environment("sourdine.results").get_template("chart.html").render(
        title=next(filter(None, titles), "Sourdine"), svg=svg[svg.index("<svg") :],
        table="" if what is None else what._repr_html_(),
    )  # fmt: skip
    Path(path).write_text(f"{text}\n", encoding="utf-8")


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
        raise MissingExtraError.of("plot") from error
    figure = _picture(Figure)(figsize=(width, height), dpi=150, layout="constrained")
    found = figure.subplots(1, count, squeeze=False)[0].tolist()
    for axes in found:
        plain(axes, length=3, width=0.8)
    return figure, found


def plain(axes: Any, **ticks: float) -> None:
    """Give axes the common style: two thin sides, and a grid behind the marks."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, labelcolor=INK, **ticks)
    axes.set_axisbelow(True)


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
            ticks.format_ticks = partial(_folded_ticks, ticks)
            axis.get_ticklabels()
    for text in figure.findobj(Text):
        shown_text = text.get_text()
        if fonts := families(shown_text):
            text.set_fontfamily(fonts)
        text.set_text("\n".join(drawable(printable(line)) for line in shown_text.split("\n")))
        text.set_parse_math(False)


def _folded_ticks(ticks: Any, values: Any) -> list[str]:
    return [folded(text) for text in type(ticks).format_ticks(ticks, values)]


def finished(
    figure: Any, axes: Any, release: Answer, *, title: str | None, path: str | None
) -> Any:
    """Add title and cost, save if there is a path, and return the figure."""
    usual, intervals = _about(release)
    headed(axes, title or usual, " · ".join(filter(None, (release.price, intervals))))
    return saved(figure, path, release)


def _about(release: Answer) -> tuple[str, str]:
    """Return the usual title of a chart, and which intervals it shows, if any."""
    display = release.mechanism.display
    intervals = f"{100 * display.confidence:g}% intervals" if display.intervals else ""
    return str(display.title or release.mechanism), intervals


def headed(axes: Any, title: str, said: str) -> None:
    """Write a title above the axes, and below it a subtitle, folded if it is long."""
    lines = [part for line in said.split("\n") for part in wrap(line, ACROSS)]
    title = "\n".join(wrap(title, TITLE))
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
            "path", "end in .png, .svg, .pdf or .html", repr(str(path)), path="picture.png"
        )
    if ending == "html":
        write_page(figure, path, what=what)
    else:
        figure.savefig(path)
    return figure


def _named_below(axes: Any, names: Sequence[str]) -> None:
    """Write names below an axis: horizontally, or rotated where they would overlap."""
    many = len(names) > MANY
    if many:
        names = [name if len(name) <= FOLD else f"{name[: FOLD - 1]}…" for name in names]
    longest = max((len(line) for name in names for line in folded(name).split("\n")), default=0)
    crowded = many or longest * len(names) > SIDE_BY_SIDE
    slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(np.arange(len(names)), names, **slant)
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
        apart = min(np.diff(axis.get_majorticklocs()), default=1.0)
        steps = [apart * 10**d for d in range(9)]
        whole = (d for d, step in enumerate(steps) if abs(step - round(step)) < 1e-3 * abs(step))
        return grouped(f"{x:.{next(whole, 9)}f}")

    axis.set_major_formatter(written)


# ---- Charts of releases --------------------------------------------------------------------------


SERIES = (BLUE, RED, "#3d8361", "#b7892b", "#7d5ba6", "#66727e")
"""The colours of groups that share axes."""
WHISKERS = 60
"""With more bars than this, intervals are a band: there is no room for a whisker on each."""
POINTS = 25
"""With more points than this, a line has no dots, and its intervals are a band."""
MANY_PANELS = 9
"""With more panels than this, there are four in a row."""
BANDS = {"sample": 0.3, "population": 0.14}
"""How strongly the bands of steps are drawn."""


def draw(
    chart: Chart, release: Answer, *, title: str | None = None, path: str | None = None
) -> Any:
    """Draw the chart of a release; save it if there is a path."""
    if chart.mark == "dots":
        return _dots(chart, release, title, path)
    if not chart.together:
        return _panels(chart, release, title, path)
    figure, axes = canvas()
    if chart.mark == "bars":
        _bars(axes, chart, chart.series[0])
    else:
        drawn = _line if chart.mark == "line" else _steps
        for series, colour in zip(chart.series, SERIES, strict=False):
            drawn(axes, chart, series, colour)
        axes.set_xlabel(chart.x.label, color=INK)
    _scaled(axes, chart)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.set_ylabel(chart.y.label, color=INK)
    first = chart.series[0]
    if chart.grouped:
        _names_beside_lines(axes, chart)
    elif first.truth is not None or (chart.mark == "steps" and first.population):
        legend(axes)
    return finished(figure, axes, release, title=title, path=path)


def _dots(chart: Chart, release: Answer, title: str | None, path: str | None) -> Any:
    """Draw a dot with its interval for each number, in rows with names on the left."""
    (series,) = chart.series
    x, low, high = (np.array(side) for side in (series.value, series.low, series.high))
    y = np.arange(len(x))[::-1]
    many = len(x) > MANY
    figure, axes = canvas(7.0, 1.6 + (0.24 if many else 0.36) * len(x))
    if series.population:
        least, most = series.population
        axes.hlines(y, least, most, color=GREY, linewidth=1.4, label="population", zorder=1)
    axes.hlines(y, low, high, color=PALE, linewidth=7, capstyle="round", zorder=1.5)
    axes.plot(x, y, "o", color=BLUE, markersize=7, label="released")
    for (text, *_), xi, yi, end in zip(chart.texts, x, y, np.maximum(x, high), strict=True):
        at, offset = ((end, yi), (9, 0)) if many else ((xi, yi), (0, 8))
        look = {"va": "center"} if many else {"ha": "center"}
        axes.annotate(text, at, offset, textcoords="offset points", color=INK, fontsize=8, **look)
    if series.truth is not None:
        axes.plot(series.truth, y, "|", color=RED, markersize=16, markeredgewidth=2, label="truth")
    if series.truth is not None or series.population:
        legend(axes)
    axes.set_yticks(y, chart.x.names)
    axes.set_ylim(-0.6, len(x) - 0.3)
    axes.margins(x=0.12)
    if chart.y.scale != "date":  # ticks of many digits are spaced out
        long = float(np.abs(np.asarray([low, high], float)).max(initial=0.0)) >= LONG
        axes.locator_params(axis="x", nbins=3 if long else 6)
    axes.set_xlabel(chart.y.label, color=INK)
    if chart.y.from_zero:
        axes.set_xlim(left=float(low.min(initial=0.0)))
    _ticks(axes.xaxis, chart.y)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def _bars(axes: Any, chart: Chart, series: ChartSeries, *, flat: bool = False) -> None:
    """Draw bars with their intervals; flat ones have room for long names on the left."""
    value, low, high = (np.maximum(side, 0) for side in (series.value, series.low, series.high))
    many = len(value) > WHISKERS
    ends = [value - low, high - value]
    if chart.x.scale == "names":
        at, width = np.arange(len(value)), np.full(len(value), 0.72 if flat else 0.8)
    else:
        edges = np.array(series.x)
        at, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    if flat:
        axes.barh(at, value, width, color=SOFT)
        axes.errorbar(value, at, xerr=ends, fmt="none", ecolor=INK, elinewidth=0.9, capsize=1.5)
        axes.set_yticks(at, chart.x.names)
        axes.set_ylim(len(value) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    else:
        line = 0.0 if many else 0.8
        axes.bar(at, value, width, color=SOFT, edgecolor="white", linewidth=line, label="released")
    if many and not flat:
        sides = np.append(at - width / 2, at[-1] + width[-1] / 2)
        axes.stairs(high, sides, baseline=low, fill=True, color=INK, alpha=0.25, linewidth=0)
    elif not flat:
        axes.errorbar(at, value, ends, fmt="none", ecolor=INK, elinewidth=1, capsize=2)
    if series.truth is not None:
        rules = axes.vlines if flat else axes.hlines
        half = width / 2
        rules(series.truth, at - half, at + half, color=RED, linewidth=1.6, label="truth")


def _line(axes: Any, chart: Chart, series: ChartSeries, colour: str) -> None:
    """Draw a line with its intervals: a bar at each of a few points, else a band."""
    x, dotted = np.array(series.x), len(series.x) <= POINTS
    if chart.grouped:
        axes.fill_between(x, series.low, series.high, color=colour, alpha=0.16, linewidth=0)
    elif dotted:
        axes.vlines(x, series.low, series.high, color=PALE, linewidth=8, capstyle="round")
    else:
        axes.fill_between(x, series.low, series.high, color=PALE, linewidth=0)
    name = folded(series.name) if chart.grouped else "released"
    size = {"linewidth": 1.5, "markersize": 3.5} if chart.grouped else {"linewidth": 1.4}
    axes.plot(x, series.value, "-o" if dotted else "-", color=colour, label=name, **size)
    if series.truth is not None and (chart.grouped or not dotted):
        own = colour if chart.grouped and chart.together else RED
        known = {} if chart.grouped else {"label": "truth"}
        axes.plot(x, series.truth, "--", color=own, linewidth=1.2, **known)
    elif series.truth is not None:
        axes.plot(x, series.truth, "_", color=RED, markersize=13, markeredgewidth=2, label="truth")


def _steps(axes: Any, chart: Chart, series: ChartSeries, colour: str) -> None:
    """Draw a function within the band of the records and, if asked for, of the population."""
    bands = {"population": series.population, "sample": (series.low, series.high)}
    for of, ends in bands.items():
        if ends is not None:
            name = None if chart.grouped else {"sample": "the records"}.get(of, "the population")
            axes.fill_between(
                series.x, *ends, step="post", label=name, color=colour, alpha=BANDS[of], linewidth=0
            )
    name = folded(series.name) or "released"
    axes.plot(series.x, series.value, color=colour, linewidth=1.4, label=name)
    if series.truth is not None:
        axes.step(series.x, series.truth, where="post", color=RED, linewidth=1, label="truth")


def _scaled(axes: Any, chart: Chart, *, small: bool = False) -> None:
    """Set what the axes show, and their ticks; panels share both."""
    if chart.mark == "bars":
        axes.set_ylim(bottom=0)
    if chart.x.scale == "names":
        _named_below(axes, list(chart.x.names))
    else:
        _ticks(axes.xaxis, chart.x, small=small)
    if chart.x.scale == "percent":
        x, most, even = np.array(chart.series[0].x), MANY, np.arange(0, 101, 10)
        if small:
            most, even = 3, np.array([20, 50, 80])
        axes.set_xticks(x if len(x) <= most else even)
    _ticks(axes.yaxis, chart.y, small=small)
    if small and chart.y.scale == "share":
        axes.set_yticks([0, 0.5, 1])
    for view, axis in ((chart.x.view, axes.set_xlim), (chart.y.view, axes.set_ylim)):
        if view is not None:
            axis(*view)


def _ticks(axis: Any, shown_axis: ChartAxis, *, small: bool = False) -> None:
    """Write the ticks of an axis as its scale asks."""
    if shown_axis.scale == "date":
        date_axis(axis, small=small)
    elif shown_axis.scale in {"percent", "share"}:
        factor = 100 if shown_axis.scale == "share" else 1
        axis.set_major_formatter(lambda x, _: f"{factor * x:g}%")
    else:
        if small:
            axis.axes.locator_params(axis=axis.axis_name, nbins=4)
        gaps(axis)


def _panels(chart: Chart, release: Answer, title: str | None, path: str | None) -> Any:
    """Draw a panel for each group, all on the same axes."""
    flat = chart.x.scale == "names"
    longest = max(map(len, chart.x.names), default=0) if flat else 0
    lines = 1 if longest <= FOLD else 2
    high = 0.35 + 0.17 * lines * len(chart.x.names) if flat else 1.35
    figure, grid = _grid([folded(series.name) for series in chart.series[:MOST]], high, longest)
    for axes, series in zip(grid, chart.series, strict=False):
        if chart.mark == "bars":
            _bars(axes, chart, series, flat=flat)
        elif chart.mark == "steps":
            _steps(axes, chart, series, BLUE)
        else:
            for other in chart.series[:MOST]:
                axes.plot(other.x, other.value, color=RULE, linewidth=0.8, zorder=1)
            _line(axes, chart, series, BLUE)
        axes.grid(axis="x" if flat else "y", color=RULE, linewidth=0.8)
    if flat and grid:
        grid[0].set_xlim(left=0)
        _ticks(grid[0].xaxis, chart.y, small=True)
    elif grid:
        _scaled(grid[0], chart, small=True)
    usual, _ = _about(release)
    folded_title = "\n".join(wrap(title or usual, TITLE))
    figure.suptitle(folded_title, x=0.01, ha="left", color=INK, fontsize=11)
    said = " · ".join(filter(None, _below_panels(chart, release, len(grid))))
    figure.supxlabel(said, x=0.01, ha="left", color=NOTE, fontsize=8)
    return saved(figure, path, release)


def _below_panels(chart: Chart, release: Answer, shown_groups: int) -> Iterator[str]:
    """Yield what is said below the panels: axes, cost, intervals, groups and colours."""
    across, upwards = chart.x, chart.y
    if chart.x.scale == "names":
        across, upwards = chart.y, chart.x
    if across.label:
        yield f"across: {across.label}"
    if upwards.label:
        yield f"upwards: {upwards.label}"
    yield release.price
    _, intervals = _about(release)
    if intervals:
        yield f"{intervals} of all groups together"
    if len(chart.series) > shown_groups:
        yield f"the first {shown_groups} of {len(chart.series)} groups"
    if chart.mark == "line":
        yield "grey: the other groups"
    if any(series.truth is not None for series in chart.series):
        yield "red: the truth"


def _grid(names: Sequence[str], high: float, letters: int) -> tuple[Any, list[Any]]:
    """Return a figure with a small panel of a height below each name; they share their axes.

    ``letters`` is the number of letters of the names on the left, if categories are there.
    """
    m = len(names)
    most = 3 if m <= MANY_PANELS else 4
    across = 2 if m in {2, 4} else max(min(m, most), 1)
    down = max(ceil(m / across), 1)
    wide = max(7.0, 2.3 * across + 0.075 * min(letters, 28))
    figure, first = canvas(wide, 0.9 + (high + 0.25) * down)
    first.remove()
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    every = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    if not m:
        every[0].text(0.5, 0.5, "no group was found", ha="center", color=NOTE, fontsize=9)
        every[0].set_axis_off()
    for axes in every[max(m, 1) :]:
        axes.remove()
    for i, (axes, name) in enumerate(zip(every, names, strict=False)):
        plain(axes, labelsize=7, length=2)
        axes.tick_params(labelbottom=i + across >= m, labelleft=i % across == 0)
        axes.set_title(name, loc="left", fontsize=8, color=INK)
    return figure, every[:m]


def _names_beside_lines(axes: Any, chart: Chart) -> None:
    """Write the names of lines to the right of the axes, each in its line's colour."""
    handles, names = axes.get_legend_handles_labels()
    order = list(range(len(names)))
    if chart.mark == "line":  # as the lines end, from the top
        order.sort(key=lambda i: -chart.series[i].value[-1])
    axes.legend(
        [handles[i] for i in order], [names[i] for i in order], frameon=False, fontsize=8,
        labelcolor="linecolor", loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2,
        labelspacing=0.7,
    )  # fmt: skip


TITLE = 72
"""Letters of a line of a title."""


# ---- Pages made from Jinja templates: all texts are escaped unless they are marked as HTML -------


@cache
def environment(package: str) -> Environment:
    """Return the templates in the folder ``web`` of a package.

    Jinja is imported here, since most programs make no page.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
