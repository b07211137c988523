"""SVG charts of plans, releases and leaderboards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sourdine.adaptive.holdout.leaderboard import team_cells
from sourdine.results.charts import FEW, SERIES, drawing, groups_of, text, whisker
from sourdine.results.formatting import places, printable, shown
from sourdine.results.tables import interval_text, label
from sourdine.server.pages.rendering import upward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.adaptive.holdout.leaderboard import Ladder, Team
    from sourdine.answers import Release
    from sourdine.results.charts import DrawnGroup
    from sourdine.results.tables import Columns

    Place = Callable[[float], float]
    Marks = list[tuple[float, str]]


# ---- Pictures of a plan: the gauge with what it would take, and the curve of error against epsilon


ACROSS, RADIUS, THICK = 200.0, 82.0, 18.0
LEAST, MOST = 0.001, 10.0
TALL, LEFT, BELOW, ABOVE, RIGHT = 250.0, 66.0, 40.0, 24.0, 14.0
STEPS = (1, 2, 5)
NARROW = 520


def gauge(spent: float, planned: float, left: str, total: str) -> Markup:
    """Return a half circle: what is spent, what a plan would take, and what is left as words.

    Parameters
    ----------
    spent, planned
        Shares of the total.
    left, total
        As words.
    """
    after = min(spent + planned, 1.0)
    over = spent + planned > 1
    parts = _arc(0, 1, "track") + _arc(0, spent, "spent")
    parts += _arc(spent, after, "over" if over else "next")
    middle = ACROSS / 2
    parts += text(left, middle, 84, "middle", "gauge-left")
    parts += text(f"of {total} left", middle, 104, "middle", "tick")
    told = f"{left} of {total} left"
    if planned:
        told += "; the plan takes more than that" if over else f"; the plan takes {planned:.2%}"
    return Markup(drawing(parts, ACROSS, 112, told))  # noqa: S704 - every text was escaped


def _arc(begin: float, end: float, kind: str) -> str:
    if end - begin < 1e-6:
        return ""
    x0, y0, x1, y1 = (
        *_place(begin),
        *_place(max(end, begin + 0.004)),
    )
    path = f"M{x0:.2f} {y0:.2f}A{RADIUS:g} {RADIUS:g} 0 0 1 {x1:.2f} {y1:.2f}"
    return f'<path class="arc {kind}" d="{path}" stroke-width="{THICK:g}" fill="none"/>'


def _place(share: float) -> tuple[float, float]:
    angle = pi * (1 - min(share, 1.0))
    return ACROSS / 2 + RADIUS * cos(angle), 100 - RADIUS * sin(angle)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePicture:
    """The error against epsilon, both by powers of ten; what cannot be afforded is shaded.

    Parameters
    ----------
    points
        Epsilons and errors, epsilons ascending; an error of 0 lies on the floor.
    here
        The plan's own.
    afford
        The largest epsilon that can be had.
    wide
        Pixels.
    unit
        What the error is counted in.
    """

    points: Sequence[tuple[float, float]]
    here: tuple[float, float] | None
    afford: float
    wide: float
    unit: str

    def draw(self) -> Markup:
        """Return the picture; nothing where no error is known before."""
        if not any(error > 0 for _, error in self.points):
            return Markup()
        edge = min(max(self._x(self.afford), LEFT), self.wide - RIGHT)
        floor_ = TALL - BELOW
        shade = (
            f'<rect class="beyond" x="{edge:.1f}" y="{ABOVE}" height="{floor_ - ABOVE}" '
            f'width="{self.wide - RIGHT - edge:.1f}"/>'
        )
        if edge < self.wide - RIGHT - 1:
            said = "over budget" if self._narrow else "shaded: over budget"
            shade += text(said, self.wide - RIGHT, 14, "end", "beyond-word")
        line = " ".join(f"{self._x(e):.1f},{self._y(error):.1f}" for e, error in self.points)
        parts = shade + self._axes() + f'<polyline class="curve" points="{line}"/>'
        told = f"error against epsilon; up to epsilon {self.afford:g} is available"
        if self.here is not None:
            parts += self._point(*self.here)
            told += f"; at epsilon {self.here[0]:g} it is {upward(self.here[1])} {self.unit}"
        return Markup(drawing(parts, self.wide, TALL, told))  # noqa: S704 - every text was escaped

    @property
    def _narrow(self) -> bool:
        return self.wide < NARROW

    def _point(self, epsilon: float, error: float) -> str:
        x, y = self._x(min(max(epsilon, LEAST), MOST)), self._y(error)
        kind = "here" if epsilon <= self.afford else "here unaffordable"
        return (
            f'<path class="guide" d="M{LEFT} {y:.1f}H{x:.1f}V{TALL - BELOW}"/>'
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
        )

    def _axes(self) -> str:
        floor_, parts = TALL - BELOW, ""
        for error in self._ticks():
            y = self._y(error)
            parts += f'<path class="rule" d="M{LEFT} {y:.1f}H{self.wide - RIGHT}"/>'
            parts += text(upward(error), LEFT - 8, y + 4, "end")
        for power in range(-3, 2):
            x = self._x(10.0**power)
            parts += text(f"{10.0**power:g}", x, floor_ + 17, "middle")
        if self._narrow:  # beside what is said of the shade
            parts += text(f"error ({self.unit or '95%'})", 0, 14)
        else:
            parts += text(f"error (95%{', ' if self.unit else ''}{self.unit})", LEFT, 14)
        return parts + text("epsilon", (LEFT + self.wide - RIGHT) / 2, TALL - 5, "middle")

    def _ticks(self) -> list[float]:
        low, high = self._ends()
        powers = range(floor(low), ceil(high) + 1)
        tens = [10.0**p for p in powers if low <= p <= high]
        if len(tens) > 5:
            return tens[:: ceil(len(tens) / 5)]
        if len(tens) > 2:
            return tens
        fine = [s * 10.0**p for p in range(floor(low) - 1, ceil(high) + 1) for s in STEPS]
        return [v for v in fine if low <= log10(v) <= high]

    def _ends(self) -> tuple[float, float]:
        errors = [log10(error) for _, error in self.points if error > 0]
        low, high = min(errors), max(errors)
        return (low, high) if high - low > 0.1 else (low - 0.5, high + 0.5)

    def _x(self, epsilon: float) -> float:
        low, high = log10(LEAST), log10(MOST)
        share = (log10(max(epsilon, LEAST / 10)) - low) / (high - low)
        return LEFT + (self.wide - LEFT - RIGHT) * share

    def _y(self, error: float) -> float:
        low, high = self._ends()
        share = (min(max(log10(error), low), high) - low) / (high - low) if error > 0 else 0.0
        return TALL - BELOW - (TALL - BELOW - ABOVE) * share


# ---- Pictures of what was released: rows with intervals, bars, curves in bands, panels of groups -


MOST_ROWS = 60
HIGH, LETTER, ROW_NARROW = 30.0, 8.0, 520
ROW_TALL, ROW_LEFT, ROW_BELOW, ROW_ABOVE = 280.0, 62.0, 42.0, 26.0
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
    narrow = wide < ROW_NARROW
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
    return f"{value}  {interval_text(low, high)}"


def _dated(value: Any) -> bool:
    return not isinstance(value, (int, float)) and not hasattr(value, "dtype")


def _upright(columns: Columns, wide: int) -> tuple[str, Callable[[float], float]]:
    """Return the axis at the left of an upright picture, and where values lie."""
    high = max(*map(float, columns.upper or ()), 0.0)
    low = min(*map(float, columns.lower or ()), 0.0)
    low = 0.0 if low > -0.02 * high else low
    place = scale(low, high, ROW_TALL - ROW_BELOW, ROW_ABOVE)
    parts = ""
    for v, words in ticks(low, high, 4):
        y = place(v)
        parts += f'<line class="rule" x1="{ROW_LEFT}" x2="{wide}" y1="{y:.1f}" y2="{y:.1f}"/>'
        parts += text(words, ROW_LEFT - 8, y + 4, "end")
    return parts + text(columns.name, ROW_LEFT, 14), place


def _bars(columns: Columns, wide: int) -> Markup:
    """Draw counts of bins side by side."""
    parts, place = _upright(columns, wide)
    bins = [str(one) for one in columns.labels["bin"]]
    step = (wide - ROW_LEFT) / len(bins)
    ends = zip(columns.values, columns.lower or (), columns.upper or (), strict=True)
    for i, (value, low, high) in enumerate(ends):
        x, y, zero = ROW_LEFT + i * step, place(float(value)), place(0.0)
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
            parts += text(edges[i], ROW_LEFT + i * step, ROW_TALL - ROW_BELOW + 18, "middle")
    if last % room == 0 or last % room > room / 2:
        parts += text(edges[last], wide, ROW_TALL - ROW_BELOW + 18, "end")
    rows = zip(bins, columns.texts(), strict=True)
    told = "; ".join(f"{name}: {_said(row)}" for name, row in rows)
    return Markup(drawing(parts, wide, ROW_TALL - 16, told))  # noqa: S704 - every text was escaped


def _curve(columns: Columns, wide: int) -> Markup:
    """Draw a distribution function within its band."""
    parts, place = _upright(columns, wide)
    ((name, at),) = columns.labels.items()
    xs = places(list(at))
    across = scale(xs[0], xs[-1], ROW_LEFT, wide - 34)
    thin = max(len(xs) // wide, 1)
    kept = [*range(0, len(xs), thin), len(xs) - 1]

    def line(values: Sequence[Any], order: Sequence[int]) -> str:
        return " ".join(f"{across(xs[i]):.1f},{place(float(values[i])):.1f}" for i in order)

    band = f"{line(columns.upper or (), kept)} {line(columns.lower or (), kept[::-1])}"
    parts += f'<polygon class="band" points="{band}"/>'
    parts += f'<polyline class="curve" points="{line(columns.values, kept)}"/>'
    if not any(map(_dated, at)):
        for v, words in ticks(xs[0], xs[-1], 5):
            parts += text(words, across(v), ROW_TALL - ROW_BELOW + 18, "middle")
    told = f"{columns.name} {name} values, from {label(at[0])} to {label(at[-1])}"
    return Markup(drawing(parts, wide, ROW_TALL - 16, told))  # noqa: S704 - every text was escaped


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
        across: Marks = [(float(p), f"{p}%") for p in (20, 50, 80)]
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
    return at, across, 0.0, 1.0, [(0.0, "0%"), (0.5, "50%"), (1.0, "100%")]


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
    clipped = _clipped(low, high, ROW_TALL - ROW_BELOW, 12.0)
    across, parts, y = scale(begin, end, left, wide - 20.0), "", ROW_TALL - ROW_BELOW
    for v, words in beside:
        parts += _rule(left, wide - 20.0, clipped(v)) + text(words, left - 8, clipped(v) + 4, "end")
    for v, words in below:
        parts += text(words, across(v), y + 18, "middle")
    for group, colour in zip(groups, SERIES, strict=False):
        parts += _curve_of(columns, group, xs, (across, clipped), colour)
    x, y = left, ROW_TALL - 2
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


# ---- The picture of a leaderboard: each team's best score with its interval, and what leads next -


BOARD_ABOVE = 22.0
"""Pixels for what is said of the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPicture:
    """All teams, the leader on top; those that never led without a score.

    Parameters
    ----------
    teams, ladder
        In their order; and the grid of their scores.
    bar
        The least score that leads now; None if none does any more.
    own
        The team that looks at it.
    wide
        Pixels.
    """

    teams: Sequence[Team]
    ladder: Ladder
    bar: float | None
    own: str
    wide: float

    def draw(self) -> Markup:
        """Return the picture; nothing before the first submission."""
        scored = [team.score for team in self.teams if team.score is not None]
        if not scored:
            return Markup()
        ends = [end for one in scored for end in (one.lower, one.upper)]
        low, high = min(ends), max([*ends, *([] if self.bar is None else [self.bar])])
        pad = 0.04 * (high - low) or 0.01
        parts = self._axis(low - pad, high + pad)
        place = self._scale(low - pad, high + pad)
        for i, team in enumerate(self.teams):
            parts += self._row(team, BOARD_ABOVE + HIGH * (i + 0.5), place)
        return Markup(drawing(parts, self.wide, self._floor + 26, self._told()))  # noqa: S704 - escaped

    @property
    def _narrow(self) -> bool:
        return self.wide < ROW_NARROW

    @property
    def _left(self) -> float:
        longest = max(len(_named(team)) for team in self.teams)
        share = 0.42 if self._narrow else 0.35
        return min(max(LETTER * longest + 16, 60.0), self.wide * share)

    @property
    def _right(self) -> float:
        return 12.0 if self._narrow else LETTER * len("0.0000  (0.0000 to 0.0000)")

    @property
    def _floor(self) -> float:
        return BOARD_ABOVE + HIGH * len(self.teams)

    def _scale(self, low: float, high: float) -> Callable[[float], float]:
        return scale(low, high, self._left, self.wide - self._right)

    def _axis(self, low: float, high: float) -> str:
        """Return the lines of round scores, and that of the bar."""
        place, floor, parts = self._scale(low, high), self._floor, ""
        for value, words in ticks(low, high, 3 if self._narrow else 5):
            x = place(value)
            parts += f'<path class="rule" d="M{x:.1f} {BOARD_ABOVE}V{floor + 4}"/>'
            parts += text(words, x, floor + 20, "middle")
        if self.bar is None:
            return parts
        said = f"{self.ladder.said(self.bar)} or more takes the lead"
        x, room = place(self.bar), LETTER * len(said) / 2
        middle = min(max(x, self._left + room), self.wide - room)
        parts += f'<path class="guide" d="M{x:.1f} {BOARD_ABOVE - 4}V{floor + 4}"/>'
        return parts + text(said, middle, 12, "middle", "bar-word")

    def _row(self, team: Team, y: float, place: Callable[[float], float]) -> str:
        """Return a team: its name, its interval, its score."""
        left, kind = self._left, "name own" if team.name == self.own else "name"
        parts = text(_named(team, int((left - 12) / LETTER)), left - 12, y + 4.5, "end", kind)
        if team.score is None:
            return parts + text("no lead yet", left + 4, y + 4.5)
        x1, x2, x = map(place, (team.score.lower, team.score.upper, team.score.value))
        parts += f'<line class="span" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}"/>'
        parts += f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="6"/>'
        if self._narrow:
            return parts
        said = "{}  {}".format(*team_cells(team, self.ladder))
        return parts + text(said, self.wide - self._right + 14, y + 4.5, kind="name")

    def _told(self) -> str:
        said = [
            f"{team.name} has not led"
            if team.score is None
            else "{}: {} {}".format(team.name, *team_cells(team, self.ladder))
            for team in self.teams
        ]
        return "; ".join(said)


def _named(team: Team, fits: int = 1000) -> str:
    """Return a team and how often it has tried, in so many letters."""
    name, tries = printable(team.name), f" ({team.tries})"
    room = max(fits - len(tries), 2)
    return (name if len(name) <= room else f"{name[: room - 1]}…") + tries
