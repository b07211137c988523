"""Pictures of what was released: rows with intervals, bars side by side, or a curve in its band."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sourdine.presentation.dates import places
from sourdine.presentation.drawing import drawing, text, whisker
from sourdine.presentation.numbers import shown
from sourdine.presentation.texts import printable
from sourdine.release.columns import label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.answers import Release
    from sourdine.release import Columns

__all__ = ["HIGH", "LETTER", "NARROW", "release_picture", "scale", "ticks"]

MOST_ROWS = 60
HIGH, LETTER, NARROW = 30.0, 8.0, 520
TALL, LEFT, BELOW, ABOVE = 280.0, 62.0, 42.0, 26.0
EDGE = " to "


def release_picture(release: Release, wide: int) -> Markup:
    """Return the picture of a release, so many pixels wide; nothing where there is none."""
    columns = release.columns()
    if columns.lower is None or columns.upper is None or not columns.values:
        return Markup()
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
    names = [", ".join(map(label, parts)) for parts in zip(*columns.labels.values(), strict=True)]
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
