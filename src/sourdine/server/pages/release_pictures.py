"""Pictures of what was released: rows with intervals, bars, curves in bands, panels of groups."""

from __future__ import annotations

import re
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sourdine.presentation.dates import places
from sourdine.presentation.drawing import drawing, text, whisker
from sourdine.presentation.numbers import shown
from sourdine.presentation.small_multiples import FEW, SERIES, groups_of
from sourdine.presentation.texts import printable
from sourdine.release.columns import label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.answers import Release
    from sourdine.presentation.small_multiples import DrawnGroup
    from sourdine.release import Columns

    Place = Callable[[float], float]
    Marks = list[tuple[float, str]]

__all__ = ["HIGH", "LETTER", "NARROW", "release_picture", "scale", "ticks"]

MOST_ROWS = 60
HIGH, LETTER, NARROW = 30.0, 8.0, 520
TALL, LEFT, BELOW, ABOVE = 280.0, 62.0, 42.0, 26.0
EDGE = " to "
DATE = re.compile(r"\d{4}-\d\d-\d\d")
PANEL, BESIDE, LYING, PLOT = 140, 4, 22.0, 110.0
"""Of a panel the least width and how many stand side by side; heights of lying bars and plots."""
MOST_PANELS, MOST_TOLD = 60, 60


def release_picture(release: Release, wide: int) -> Markup:
    """Return the picture of a release, so many pixels wide; nothing where there is none."""
    columns = release.columns()
    ends = columns.lower or ()
    if not ends or None in ends:  # such as a description, whose bounds have no interval
        return Markup()
    groups = groups_of(columns) if columns.by else []
    if 0 < len(groups) < len(columns.values) and len(columns.labels) == len(columns.by) + 1:
        return _of_groups(columns, groups, wide)
    if columns.printed is not None and len(columns.labels) == 1:
        return _curve(columns, wide)
    if columns.printed is not None or len(columns.values) > MOST_ROWS:
        return Markup()
    if list(columns.labels) == ["bin"]:
        return _bars(columns, wide)
    return _rows(columns, wide)


def scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    """Return where values between two lie, from a beginning to an end."""
    across = high - low or 1.0
    return lambda v: begin + (end - begin) * (v - low) / across


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round numbers between two, a few of them, each with its text."""
    rough = (high - low or 1.0) / most
    power = 10.0 ** floor(log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
    found = [i * step for i in range(ceil(low / step), floor(high / step) + 1)]
    return [(v, shown(v, 10 * step)) for v in found]


def _rows(columns: Columns, wide: int) -> Markup:
    """Draw a dot and its interval for each row; what is counted begins at 0."""
    labels = list(columns.labels.values())
    if columns.by and len(groups_of(columns)) == len(columns.values):
        labels = labels[: len(columns.by)]  # one number each: what it is called is said elsewhere
    names = [", ".join(map(label, parts)) for parts in zip(*labels, strict=True)]
    names = [printable(name) for name in names] or [columns.name]
    texts = columns.texts()
    narrow = wide < NARROW
    longest = max(map(len, names))
    left = min(max(LETTER * longest + 16, 60.0), wide * (0.3 if narrow else 0.35))
    right = 12.0 if narrow else LETTER * max(len(_said(row)) for row in texts) + 16
    ends = [*places(columns.lower or ()), *places(columns.upper or ())]
    low, high = min(ends), max(ends)
    pad = 0.04 * (high - low) or 1.0
    begin = min(0.0, low) if columns.name == "count" and low < 0.5 * high else low - pad
    place = scale(begin, high + pad, left, wide - right)
    fits, parts = max(int(left / LETTER), 4), ""
    for i, (name, value, a, b, said) in enumerate(
        zip(
            names,
            places(columns.values),
            places(columns.lower or ()),
            places(columns.upper or ()),
            map(_said, texts),
            strict=True,
        )
    ):
        y = HIGH * (i + 0.5) + 4
        short = name if len(name) <= fits else f"{name[: fits - 1]}…"
        parts += f'<line class="rule" x1="{left}" x2="{wide - right}" y1="{y}" y2="{y}"/>'
        parts += text(short, left - 10, y + 4.5, "end", "name")
        parts += whisker(place(a), place(b), y)
        parts += f'<circle class="dot" cx="{place(value):.1f}" cy="{y}" r="5"/>'
        if not narrow:
            parts += text(said, wide - right + 12, y + 4.5, kind="name")
    told = "; ".join(f"{name}: {_said(row)}" for name, row in zip(names, texts, strict=True))
    axis = HIGH * len(names) + 8
    if not any(map(_dated, columns.values)):
        for v, words in ticks(begin, high + pad, 4 if narrow else 5):
            parts += text(words, place(v), axis + 14, "middle")
        axis += 22
    return Markup(drawing(parts, wide, axis, told))  # noqa: S704 - every text was escaped


def _said(row: Sequence[str]) -> str:
    value, low, high = row
    return f"{value}  ({low} to {high})"


def _dated(value: Any) -> bool:  # noqa: ANN401
    return not isinstance(value, (int, float)) and not hasattr(value, "dtype")


def _upright(columns: Columns, wide: int) -> tuple[str, Callable[[float], float]]:
    """Return the axis at the left of an upright picture, and where values lie."""
    high = max(*map(float, columns.upper or ()), 0.0)
    low = min(*map(float, columns.lower or ()), 0.0)
    low = 0.0 if low > -0.02 * high else low
    place = scale(low, high, TALL - BELOW, ABOVE)
    parts = ""
    for v, words in ticks(low, high, 4):
        y = place(v)
        parts += f'<line class="rule" x1="{LEFT}" x2="{wide}" y1="{y:.1f}" y2="{y:.1f}"/>'
        parts += text(words, LEFT - 8, y + 4, "end")
    return parts + text(columns.name, LEFT, 14), place


def _bars(columns: Columns, wide: int) -> Markup:
    """Draw counts of bins side by side."""
    parts, place = _upright(columns, wide)
    bins = [str(one) for one in columns.labels["bin"]]
    step = (wide - LEFT) / len(bins)
    ends = zip(columns.values, columns.lower or (), columns.upper or (), strict=True)
    for i, (value, low, high) in enumerate(ends):
        x, y, zero = LEFT + i * step, place(float(value)), place(0.0)
        parts += (
            f'<rect class="bar" x="{x + 1:.1f}" y="{min(y, zero):.1f}" '
            f'width="{max(step - 2, 1):.1f}" height="{abs(zero - y):.1f}"/>'
        )
        middle, top, end = x + step / 2, place(float(high)), place(float(low))
        cap = min(step / 5, 5)
        parts += (
            f'<path class="end" d="M{middle:.1f} {top:.1f}V{min(end, zero):.1f}'
            f'M{middle - cap:.1f} {top:.1f}h{2 * cap:.1f}"/>'
        )
    edges = [one.split(EDGE)[0] for one in bins] + bins[-1].split(EDGE)[1:2]
    room = max(ceil(LETTER * (max(map(len, edges)) + 3) / step), 1)
    last = len(edges) - 1
    for i in range(0, len(edges), room):
        if i < last:
            parts += text(edges[i], LEFT + i * step, TALL - BELOW + 18, "middle")
    if last % room == 0 or last % room > room / 2:
        parts += text(edges[last], wide, TALL - BELOW + 18, "end")
    rows = zip(bins, columns.texts(), strict=True)
    told = "; ".join(f"{name}: {_said(row)}" for name, row in rows)
    return Markup(drawing(parts, wide, TALL - 16, told))  # noqa: S704 - every text was escaped


def _curve(columns: Columns, wide: int) -> Markup:
    """Draw a distribution function within its band."""
    parts, place = _upright(columns, wide)
    ((name, at),) = columns.labels.items()
    xs = places(list(at))
    across = scale(xs[0], xs[-1], LEFT, wide - 34)
    thin = max(len(xs) // wide, 1)
    kept = [*range(0, len(xs), thin), len(xs) - 1]

    def line(values: Sequence[Any], order: Sequence[int]) -> str:
        return " ".join(f"{across(xs[i]):.1f},{place(float(values[i])):.1f}" for i in order)

    band = f"{line(columns.upper or (), kept)} {line(columns.lower or (), kept[::-1])}"
    parts += f'<polygon class="band" points="{band}"/>'
    parts += f'<polyline class="curve" points="{line(columns.values, kept)}"/>'
    if not any(map(_dated, at)):
        for v, words in ticks(xs[0], xs[-1], 5):
            parts += text(words, across(v), TALL - BELOW + 18, "middle")
    told = f"{columns.name} {name} values, from {label(at[0])} to {label(at[-1])}"
    return Markup(drawing(parts, wide, TALL - 16, told))  # noqa: S704 - every text was escaped


def _of_groups(columns: Columns, groups: list[DrawnGroup], wide: int) -> Markup:
    """Draw groups of several numbers: bars in panels, curves together or, if many, in panels."""
    own, labels = list(columns.labels.items())[-1]
    if own not in {"q", "at or below"}:
        names = list(map(str, groups[0].of(labels)))
        lying = own == "category" or not all(EDGE in name for name in names)
        parts, high = (_lying if lying else _standing)(columns, groups, names, wide)
    elif len(groups) <= FEW:
        parts, high = _together(columns, groups, wide)
    else:
        parts, high = _curves(columns, groups, wide)
    more = len(groups) - MOST_PANELS
    if more > 0 and (own not in {"q", "at or below"} or len(groups) > FEW):
        parts += text(f"and {more} groups more", 0, high + 14)
        high += 24
    names = [", ".join(map(label, parts)) for parts in zip(*columns.labels.values(), strict=True)]
    told = [f"{printable(n)}: {_said(row)}" for n, row in zip(names, columns.texts(), strict=True)]
    if len(told) > MOST_TOLD:
        told = [f"{columns.name} of {len(groups)} groups"]
    return Markup(drawing(parts, wide, high, "; ".join(told)))  # noqa: S704 - every text was escaped


class _Grid:
    """Where the panels of groups are, with names and ticks at the left."""

    def __init__(self, groups: list[DrawnGroup], wide: int, left: float, plot: float) -> None:
        self.groups, self.left, self.plot = groups[:MOST_PANELS], left, plot
        self.across = min(max(int((wide - left) // PANEL), 1), BESIDE, len(self.groups))
        self.step = (wide - left) / self.across
        self.down = plot + 50
        self.high = self.down * ceil(len(self.groups) / self.across)

    def corner(self, i: int) -> tuple[float, float, float, float]:
        """Return left, right, top and bottom of the plot of a group."""
        x, y = self.left + self.step * (i % self.across), self.down * (i // self.across) + 26
        return x, x + self.step - 16, y, y + self.plot

    def title(self, i: int) -> str:
        """Return the group's name above its panel."""
        x, _, y, _ = self.corner(i)
        return text(_cut(printable(self.groups[i].name), self.step - 16), x, y - 9, kind="name")

    def lowest(self, i: int) -> bool:
        """Return whether no panel stands under this one."""
        return i + self.across >= len(self.groups)

    def first(self, i: int) -> bool:
        """Return whether no panel stands at the left of this one."""
        return i % self.across == 0


def _months(marks: Marks, room: float) -> Marks:
    """Return marks whose dates, where the whole ones would touch, are months."""
    dates = all(DATE.fullmatch(words) for _, words in marks)
    if not dates or LETTER * sum(len(words) + 1 for _, words in marks) <= room:
        return marks
    return [(v, words[:7]) for v, words in marks]


def _cut(name: str, room: float) -> str:
    fits = max(int(room / LETTER), 4)
    return name if len(name) <= fits else f"{name[: fits - 1]}…"


def _numbers(columns: Columns) -> tuple[list[float], list[float], list[float]]:
    """Return values and ends as places on an axis."""
    return places(columns.values), places(columns.lower or ()), places(columns.upper or ())


def _rule(x1: float, x2: float, y: float) -> str:
    return f'<line class="rule" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _standing(
    columns: Columns, groups: list[DrawnGroup], names: list[str], wide: int
) -> tuple[str, float]:
    """Draw a panel of standing bars for each group."""
    values, low, high = _numbers(columns)
    top = max(*high, 1.0)
    marks = ticks(0.0, top, 3)
    grid = _Grid(groups, wide, 12 + LETTER * max(len(words) for _, words in marks), PLOT)
    edges = [name.split(EDGE)[0] for name in names] + names[-1].split(EDGE)[1:2]
    parts = ""
    for i, group in enumerate(grid.groups):
        left, right, up, base = grid.corner(i)
        place, step = scale(0.0, top, base, up), (right - left) / len(names)
        parts += grid.title(i)
        for v, words in marks:
            parts += _rule(left, right, place(v))
            parts += text(words, left - 8, place(v) + 4, "end") if grid.first(i) else ""
        for k, row in enumerate(group.rows):
            x, y = left + k * step, place(max(values[row], 0.0))
            a, b, middle = place(max(low[row], 0.0)), place(max(high[row], 0.0)), x + step / 2
            parts += (
                f'<rect class="bar" x="{x + 0.5:.1f}" y="{y:.1f}" width="{max(step - 1, 0.5):.1f}" '
                f'height="{base - y:.1f}"/><path class="end" d="M{middle:.1f} {b:.1f}V{a:.1f}"/>'
            )
        if grid.lowest(i):
            (_, first), (_, last) = _months([(0.0, edges[0]), (1.0, edges[-1])], right - left)
            parts += text(first, left, base + 16) + text(last, right, base + 16, "end")
    return parts, grid.high


def _lying(
    columns: Columns, groups: list[DrawnGroup], names: list[str], wide: int
) -> tuple[str, float]:
    """Draw a panel of lying bars for each group, with the names of categories at the left."""
    values, low, high = _numbers(columns)
    top = max(*high, 1.0)
    left = min(LETTER * max(map(len, names)) + 14, wide * 0.36)
    grid = _Grid(groups, wide, left, LYING * len(names))
    parts = ""
    for i, group in enumerate(grid.groups):
        begin, right, up, base = grid.corner(i)
        place = scale(0.0, top, begin, right)
        parts += grid.title(i)
        for k, row in enumerate(group.rows):
            y, x = up + LYING * (k + 0.5), place(max(values[row], 0.0))
            a, b = place(max(low[row], 0.0)), place(max(high[row], 0.0))
            if grid.first(i):
                parts += text(
                    _cut(printable(names[k]), left - 16), begin - 8, y + 4.5, "end", "name"
                )
            parts += (
                f'<rect class="bar" x="{begin:.1f}" y="{y - 7:.1f}" width="{x - begin:.1f}" '
                f'height="14"/>'
            )
            parts += f'<path class="end" d="M{a:.1f} {y:.1f}H{b:.1f}"/>'
        parts += f'<path class="end" d="M{begin:.1f} {up:.1f}V{base:.1f}"/>'
        if grid.lowest(i):
            for v, words in ticks(0.0, top, 3):
                parts += text(words, place(v), base + 16, "middle" if v else "start")
    return parts, grid.high


def _axes_of_curves(columns: Columns) -> tuple[list[float], Marks, float, float, Marks]:
    """Return where numbers lie across, and the marks across and upwards with the view upwards."""
    own, labels = list(columns.labels.items())[-1]
    values, low, high = _numbers(columns)
    if own == "q":
        at: list[float] = [100 * float(q) for q in labels]
        across: Marks = [(float(p), f"{p} %") for p in (20, 50, 80)]
        # an end far beyond all values would press them together
        spread = (max(values) - min(values)) or (max(high) - min(low)) or 1.0
        bottom, top = max(min(low), min(values) - spread), min(max(high), max(values) + spread)
        if any(map(_dated, columns.values)):
            first, last = min(columns.values), max(columns.values)
            return at, across, bottom, top, [(places([d])[0], str(d)[:10]) for d in (first, last)]
        return at, across, bottom, top, ticks(bottom, top, 4)
    at = places(labels)
    if any(map(_dated, labels)):
        ends = (min(labels), max(labels))
        across = [(places([d])[0], str(d)[:10]) for d in ends]
    else:
        across = ticks(min(at), max(at), 3)
    return at, across, 0.0, 1.0, [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]


def _curve_of(
    columns: Columns,
    group: DrawnGroup,
    xs: list[float],
    axes: tuple[Place, Place],
    colour: str = "",
) -> str:
    """Return a group's curve in its band: in the page's own colour, or in another."""
    values, low, high = _numbers(columns)
    across, place = axes

    def line(numbers: list[float], rows: list[int]) -> str:
        return " ".join(f"{across(xs[i]):.1f},{place(numbers[i]):.1f}" for i in rows)

    thin = max(len(group.rows) // 200, 1)
    rows = [*group.rows[:-1:thin], group.rows[-1]]
    band = f"{line(high, rows)} {line(low, rows[::-1])}"
    look = f'fill="{colour}" fill-opacity="0.16"' if colour else 'class="band"'
    drawn = (
        f'fill="none" stroke="{colour}" stroke-width="2.4" stroke-linejoin="round"'
        if colour
        else 'class="curve"'
    )
    return f'<polygon {look} points="{band}"/><polyline {drawn} points="{line(values, rows)}"/>'


def _together(columns: Columns, groups: list[DrawnGroup], wide: int) -> tuple[str, float]:
    """Draw the curves of a few groups on the same axes, with a colour and a name for each."""
    xs, below, low, high, beside = _axes_of_curves(columns)
    left = 14 + LETTER * max((len(words) for _, words in beside), default=0)
    begin, end = (0.0, 100.0) if list(columns.labels)[-1] == "q" else (min(xs), max(xs))
    clipped = _clipped(low, high, TALL - BELOW, 12.0)
    across, parts, y = scale(begin, end, left, wide - 20.0), "", TALL - BELOW
    for v, words in beside:
        parts += _rule(left, wide - 20.0, clipped(v)) + text(words, left - 8, clipped(v) + 4, "end")
    for v, words in below:
        parts += text(words, across(v), y + 18, "middle")
    for group, colour in zip(groups, SERIES, strict=False):
        parts += _curve_of(columns, group, xs, (across, clipped), colour)
    x, y = left, TALL - 2
    for group, colour in zip(groups, SERIES, strict=False):
        name = _cut(printable(group.name), wide - left - 40)
        room = 30 + LETTER * len(name)
        if x > left and x + room > wide:
            x, y = left, y + 22
        parts += f'<rect fill="{colour}" x="{x:.1f}" y="{y - 8:.1f}" width="14" height="4"/>'
        parts += text(name, x + 20, y, kind="name")
        x += room
    return parts, y + 12


def _clipped(low: float, high: float, begin: float, end: float) -> Place:
    """Return where values lie; those beyond the view lie at its edge."""
    place = scale(low, high, begin, end)
    return lambda v: place(min(max(v, low), high))


def _curves(columns: Columns, groups: list[DrawnGroup], wide: int) -> tuple[str, float]:
    """Draw a panel with a curve for each of many groups."""
    xs, below, low, high, beside = _axes_of_curves(columns)
    grid = _Grid(groups, wide, 14 + LETTER * max((len(w) for _, w in beside), default=0), PLOT)
    begin, end = (0.0, 100.0) if list(columns.labels)[-1] == "q" else (min(xs), max(xs))
    parts = ""
    for i, group in enumerate(grid.groups):
        left, right, up, base = grid.corner(i)
        place, across = _clipped(low, high, base, up), scale(begin, end, left, right)
        parts += grid.title(i)
        for v, words in beside:
            parts += _rule(left, right, place(v))
            parts += text(words, left - 8, place(v) + 4, "end") if grid.first(i) else ""
        parts += _curve_of(columns, group, xs, (across, place))
        if grid.lowest(i):
            for v, words in _months(below, right - left):
                anchor = "start" if v == begin else "end" if v == end else "middle"
                parts += text(words, across(v), base + 16, anchor)
    return parts, grid.high
