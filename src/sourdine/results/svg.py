"""Charts as plain SVG: no library, no script, every text escaped; colours are the page's own."""

from __future__ import annotations

from datetime import date, timedelta
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from sourdine.results.charts import MOST
from sourdine.results.figures import SERIES
from sourdine.results.tables import interval_text, printable, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.results.charts import Chart, ChartAxis, ChartSeries

    Place = Callable[[float], float]
    Ticks = list[tuple[float, str]]

LETTER = 8.0
"""About as many pixels as a letter is wide."""
ROW, BAR, PLOT, TALL = 30.0, 22.0, 110.0, 280.0
"""The heights of a row of dots, of a flat bar, of a panel, and of a chart without panels."""
BELOW, NARROW = 42.0, 520
TITLE = 26.0
"""The height of a title above one of several charts."""
PANEL, BESIDE = 140, 4
"""The least width of a panel, and the maximum number in a row."""
MOST_POINTS = 200
"""A line of more points is drawn through some of them."""


def drawing(inside: str, width: float, height: float, told: str) -> str:
    """Return an SVG drawing of a size, with a description for screen readers."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(told)}" '
        f'direction="ltr">{inside}</svg>'
    )


def text(words: str, x: float, y: float, anchor: str = "start", kind: str = "tick") -> str:
    """Return words at a place."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'


def rule(x1: float, x2: float, y1: float, y2: float | None = None, kind: str = "rule") -> str:
    """Return a line, by default a horizontal one of the grid."""
    down = y1 if y2 is None else y2
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{down:.1f}"/>'


def scaled(low: float, high: float, begin: float, end: float) -> Place:
    """Return where values between two lie, from a beginning to an end; others lie at the edge."""
    across = high - low or 1.0
    return lambda v: begin + (end - begin) * (min(max(v, low), high) - low) / across


def ticks(low: float, high: float, most: int) -> Ticks:
    """Return round numbers between two, a few of them, each with its text."""
    rough = (high - low or 1.0) / most
    power = 10.0 ** floor(log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
    found = [i * step for i in range(ceil(low / step), floor(high / step) + 1)]
    return [(v, shown(v, 10 * step)) for v in found]


def ticks_of(axis: ChartAxis, low: float, high: float, most: int) -> Ticks:
    """Return the ticks of an axis as its scale asks; of dates the first and the last."""
    if axis.scale == "date":
        first = date(1970, 1, 1)
        return [(v, str(first + timedelta(days=floor(v)))) for v in (low, high)]
    if axis.scale == "percent":
        return [(float(p), f"{p}%") for p in (20, 50, 80)]
    if axis.scale == "share":
        found = ticks(100 * low, 100 * high, 2 if most < 4 else 4)
        return [(v / 100, f"{words}%") for v, words in found]
    return ticks(low, high, most)


def draw_all(charts: Mapping[str, Chart], wide: int) -> str:
    """Return one drawing of several charts, each below its title; of one chart, that chart."""
    if len(charts) == 1:
        return draw(next(iter(charts.values())), wide)
    parts, top = "", 0.0
    for title, chart in charts.items():
        drawn = draw(chart, wide)
        high = float(drawn.partition('viewBox="0 0 ')[2].partition('"')[0].split()[1])
        place = f'y="{top + TITLE:g}" width="{wide}" height="{high:g}"'
        parts += text(title, 0, top + 18, kind="name")
        parts += drawn.replace("<svg ", f"<svg {place} ", 1)
        top += TITLE + high
    return drawing(parts, wide, top, "; ".join(charts))


def draw(chart: Chart, wide: int) -> str:
    """Return the chart as a drawing that is ``wide`` pixels wide."""
    if chart.mark == "dots":
        parts, high = _rows(chart, wide)
    elif chart.together and chart.mark != "bars":
        parts, high = _lines(chart, wide)
    else:
        parts, high = _panels(chart, wide)
        if (more := len(chart.series) - MOST) > 0:
            parts += text(f"and {more} groups more", 0, high + 14)
            high += 24
    return drawing(parts, wide, high, chart.told)


def _cut(name: str, room: float) -> str:
    fits = max(int(room / LETTER), 4)
    return name if len(name) <= fits else f"{name[: fits - 1]}…"


def _rows(chart: Chart, wide: int) -> tuple[str, float]:
    """Draw a dot and its interval for each row; counts begin at 0."""
    (series,) = chart.series
    names = chart.x.names
    said = [f"{v}  {interval_text(*ends)}" if ends else v for v, *ends in chart.texts]
    narrow = wide < NARROW
    left = min(max(LETTER * max(map(len, names)) + 16, 60.0), wide * (0.3 if narrow else 0.35))
    right = 12.0 if narrow else LETTER * max(map(len, said)) + 16
    low, high = min(series.low), max(series.high)
    pad = 0.04 * (high - low) or 1.0
    begin = min(0.0, low) if chart.y.from_zero and low < 0.5 * high else low - pad
    place, parts = scaled(begin, high + pad, left, wide - right), ""
    for i, name in enumerate(names):
        y = ROW * (i + 0.5) + 4
        parts += rule(left, wide - right, y)
        parts += text(_cut(name, left), left - 10, y + 4.5, "end", "name")
        ends = place(series.low[i]), place(series.high[i])
        parts += rule(*ends, y, kind="end")
        parts += "".join(rule(end, end, y - 5, y + 5, "end") for end in ends)
        parts += f'<circle class="dot" cx="{place(series.value[i]):.1f}" cy="{y}" r="5"/>'
        if not narrow:
            parts += text(said[i], wide - right + 12, y + 4.5, kind="name")
    axis = ROW * len(names) + 8
    if chart.y.scale == "number":
        for v, words in ticks(begin, high + pad, 4 if narrow else 5):
            parts += text(words, place(v), axis + 14, "middle")
        axis += 22
    return parts, axis


def _line(series: ChartSeries, across: Place, place: Place, colour: str = "") -> str:
    """Return a line in its band: in the page's own colour, or in another."""
    thin = max(len(series.x) // MOST_POINTS, 1)
    kept = [*range(0, len(series.x) - 1, thin), len(series.x) - 1]

    def points(numbers: Sequence[float], order: Sequence[int]) -> str:
        return " ".join(f"{across(series.x[i]):.1f},{place(numbers[i]):.1f}" for i in order)

    band = f"{points(series.high, kept)} {points(series.low, kept[::-1])}"
    look, line = 'class="band"', 'class="curve"'
    if colour:
        look = f'fill="{colour}" fill-opacity="0.16"'
        line = f'fill="none" stroke="{colour}" stroke-width="2.4" stroke-linejoin="round"'
    return (
        f'<polygon {look} points="{band}"/><polyline {line} points="{points(series.value, kept)}"/>'
    )


def _views(chart: Chart) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what both axes show."""
    every = chart.series[:MOST]
    x = chart.x.view or (min(s.x[0] for s in every), max(s.x[-1] for s in every))
    return x, chart.y.view or (0.0, max(1.0, *(v for s in every for v in s.high)))


def _lines(chart: Chart, wide: int) -> tuple[str, float]:
    """Draw lines on the same axes, with a colour and a name for each group."""
    (first, last), (low, high) = _views(chart)
    beside = ticks_of(chart.y, low, high, 4)
    left = 14 + LETTER * max((len(words) for _, words in beside), default=0)
    right, base = wide - 20.0, TALL - BELOW
    top, parts = 12.0, ""
    if chart.y.label:
        parts, top = text(_cut(chart.y.label, right), 0, 12), 30.0
    place, across = scaled(low, high, base, top), scaled(first, last, left, right)
    for v, words in beside:
        parts += rule(left, right, place(v)) + text(words, left - 8, place(v) + 4, "end")
    for v, words in ticks_of(chart.x, first, last, 5):
        anchor = "end" if v == last else "middle"
        parts += text(words, across(v), base + 18, anchor)
    for series, colour in zip(chart.series, SERIES, strict=False):
        parts += _line(series, across, place, colour if chart.grouped else "")
    x, y = left, TALL - 2.0
    if chart.x.label:
        parts += text(_cut(chart.x.label, right - left), right, base + 36, "end")
        y += 18
    for series, colour in zip(chart.series, SERIES, strict=False):
        if not chart.grouped:
            return parts, y - 14
        name = _cut(printable(series.name), wide - left - 40)
        room = 30 + LETTER * len(name)
        if x > left and x + room > wide:
            x, y = left, y + 22
        parts += f'<rect fill="{colour}" x="{x:.1f}" y="{y - 8:.1f}" width="14" height="4"/>'
        parts += text(name, x + 20, y, kind="name")
        x += room
    return parts, y + 12


def _panels(chart: Chart, wide: int) -> tuple[str, float]:
    """Draw a panel for each series, or one large one; categories have flat bars."""
    flat = chart.x.scale == "names"
    drawn = chart.series[:MOST]
    (first, last), (low, high) = _views(chart)
    marks = ticks_of(chart.y, low, high, 3 if chart.grouped else 5)
    longest = max(map(len, chart.x.names), default=0) if flat else max(len(w) for _, w in marks)
    begin = min(LETTER * longest + 18, wide * 0.36)
    plot = PLOT if chart.grouped else TALL - BELOW - 26
    if flat:
        plot = BAR * len(chart.x.names)
    across = min(max(int((wide - begin) // PANEL), 1), BESIDE, len(drawn))
    step, down = (wide - begin) / across, plot + 50
    parts = ""
    for i, series in enumerate(drawn):
        left, top = begin + step * (i % across), down * (i // across) + 26
        right, base = left + step - 16, top + plot
        title = printable(series.name) if chart.grouped else chart.y.label
        parts += text(
            _cut(title, step - 16), left, top - 9, kind="name" if chart.grouped else "tick"
        )
        outer = (i % across == 0, i + across >= len(drawn))
        if flat:
            parts += _flat(chart, series, (left, right, top, base), marks, outer)
            continue
        place = scaled(low, high, base, top)
        for v, words in marks:
            parts += rule(left, right, place(v))
            parts += text(words, left - 8, place(v) + 4, "end") if outer[0] else ""
        x = scaled(first, last, left, right)
        if chart.mark == "bars":
            parts += _bars(series, x, place)
            below = _edges(series, chart.x.names, x)
        else:
            parts += _line(series, x, place)
            below = [(x(v), words) for v, words in ticks_of(chart.x, first, last, 3)]
        if outer[1]:
            for at, words in _short(below, right - left):
                anchor = "middle"
                if at <= left:
                    anchor = "start"
                elif at >= right:
                    anchor = "end"
                parts += text(words, at, base + 16, anchor)
    return parts, down * ceil(len(drawn) / across)


def _bars(series: ChartSeries, across: Place, place: Place) -> str:
    """Return upright bars between their edges, with their intervals."""
    edges, base, parts = [across(edge) for edge in series.x], place(0.0), ""
    for k, value in enumerate(series.value):
        left, wide, y = edges[k], edges[k + 1] - edges[k], place(value)
        middle, cap, gap = left + wide / 2, min(wide / 5, 5), 1.0 if wide > 8 else 0.25
        low, high = place(series.low[k]), place(series.high[k])
        parts += (
            f'<rect class="bar" x="{left + gap:.1f}" y="{y:.1f}" '
            f'width="{max(wide - 2 * gap, 0.5):.1f}" height="{base - y:.1f}"/>'
            f'<path class="end" d="M{middle:.1f} {high:.1f}V{low:.1f}'
            f'M{middle - cap:.1f} {high:.1f}h{2 * cap:.1f}"/>'
        )
    return parts


def _flat(
    chart: Chart,
    series: ChartSeries,
    box: tuple[float, float, float, float],
    marks: Ticks,
    outer: tuple[bool, bool],
) -> str:
    """Return flat bars with their intervals, with the names of categories on the left."""
    left, right, top, base = box
    place = scaled(0.0, _views(chart)[1][1], left, right)
    parts = ""
    for k, name in enumerate(chart.x.names):
        y, x = top + BAR * (k + 0.5), place(series.value[k])
        if outer[0]:
            parts += text(_cut(printable(name), left - 16), left - 8, y + 4.5, "end", "name")
        parts += (
            f'<rect class="bar" x="{left:.1f}" y="{y - 7:.1f}" width="{x - left:.1f}" height="14"/>'
            f'<path class="end" d="M{place(series.low[k]):.1f} {y:.1f}'
            f'H{place(series.high[k]):.1f}"/>'
        )
    parts += f'<path class="end" d="M{left:.1f} {top:.1f}V{base:.1f}"/>'
    if outer[1]:
        for v, words in marks:
            parts += text(words, place(v), base + 16, "middle" if v else "start")
    return parts


def _edges(series: ChartSeries, names: Sequence[str], across: Place) -> Ticks:
    """Return the edges of bars with their texts: the last, and those before it that fit."""
    kept = [(across(series.x[-1]), names[-1])]
    room = LETTER * (max(map(len, names)) + 2)
    for edge, name in zip(series.x, names, strict=True):
        at = across(edge)
        if at == across(series.x[0]) or (kept[-1][0] - at >= room and at - kept[-2][0] >= room):
            kept.insert(-1, (at, name))
    return kept


def _short(marks: Ticks, room: float) -> Ticks:
    """Return marks whose dates, if the whole ones would touch, are months."""
    if LETTER * sum(len(words) + 1 for _, words in marks) <= room:
        return marks
    return [(v, words[:7] if words[4:5] == "-" else words) for v, words in marks]
