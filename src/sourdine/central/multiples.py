"""A table of many statistics on a page: a row for each group, or a small picture of each."""

from __future__ import annotations

import datetime as dt
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation.figures import (
    BLUE,
    INK,
    NOTE,
    PALE,
    RED,
    RULE,
    gaps,
    panels,
    saved,
)
from sourdine.release.columns import end_heads, with_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.release import Columns, Release

__all__ = ["across", "multiples"]

OWN = ("column", "statistic", "q")
"""What tells the numbers of a group apart."""


def across(columns: Columns) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and lines, a line for each group; without groups a line for each number.

    A column is named once: where quantiles follow one another, only their orders do. Intervals
    stand behind their numbers.
    """
    names, keys = _names(columns), _keys(columns)
    groups = list(dict.fromkeys(keys))
    own = [columns.labels.get(name, [None] * len(keys)) for name in OWN[:2]] + [_orders(columns)]
    per = len(keys) // max(len(groups), 1)
    first = list(zip(*own, strict=True))[:per]
    if not names:
        called = [_head(*what, again=False) for what in first]
        ends = end_heads(columns.confidence) if columns.bounded else ()
        lines = [(name, *text) for name, text in zip(called, columns.texts(), strict=True)]
        return ("statistic", columns.name, *ends), lines
    heads = [
        _head(column, word, q, again=i > 0 and first[i - 1][:2] == (column, word))
        for i, (column, word, q) in enumerate(first)
    ]
    texts = [with_ends(*text) for text in columns.texts()]
    lines = [(*map(str, group), *texts[i * per : (i + 1) * per]) for i, group in enumerate(groups)]
    return (*names, *heads), lines


def _keys(columns: Columns) -> list[tuple[Any, ...]]:
    """Return the group of each number."""
    by = [columns.labels[name] for name in _names(columns)]
    return list(zip(*by, strict=True)) if by else [()] * len(columns.values)


def _names(columns: Columns) -> list[str]:
    """Return the columns of groups: they stand first, and one of them may be called q."""
    return list(takewhile(lambda name: name != OWN[0], columns.labels))


def _orders(columns: Columns) -> Sequence[float | None]:
    own = {} if "q" in _names(columns) else columns.labels
    return own.get("q", [None] * len(columns.values))


def _head(column: str, word: str, q: float | None, *, again: bool) -> str:
    """Return what a number is called: the statistic, or the order of a quantile."""
    called = word if q is None or word == "median" else f"{100 * q:g} %"
    return called if again else f"{column} {called}".strip()


def multiples(release: Release, *, path: str | None = None, title: str | None = None) -> Any:  # noqa: ANN401
    """Draw a panel for each statistic of a table, groups from top to bottom.

    Parameters
    ----------
    release
        What was published.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    title
        What is written above.
    """
    columns = release.columns()
    labels = columns.labels
    keys = _keys(columns)
    groups = list(dict.fromkeys(keys))
    own = list(zip(labels.get("column", ()), labels.get("statistic", ()), strict=True))
    wanted = list(dict.fromkeys(own)) or [("", "")]
    names = [", ".join(map(str, key)) for key in groups]
    figure, axes = panels(len(wanted), 2.6 + 2.3 * len(wanted), 1.5 + 0.26 * len(groups))
    place = {key: len(groups) - 1 - i for i, key in enumerate(groups)}
    for panel, one in zip(axes, wanted, strict=True):
        rows = [i for i, pair in enumerate(own) if pair == one]
        _panel(panel, columns, rows, [place[keys[i]] for i in rows])
        panel.set_title(f"{one[1]} of {one[0]}" if one[0] else one[1], color=INK, fontsize=9)
        panel.set_ylim(-0.6, len(groups) - 0.4)
        panel.set_yticks(range(len(groups)), names[::-1])
        if one[1] == "count":
            panel.set_xlim(left=0)
    for panel in axes[1:]:
        panel.tick_params(axis="y", labelleft=False)
    figure.suptitle(title or release.mechanism.title, x=0.01, ha="left", color=INK, fontsize=11)
    note = f"{release.price} · {100 * release.mechanism.shown:g} % intervals of all together"
    figure.supxlabel(note, x=0.01, ha="left", color=NOTE, fontsize=8)
    return saved(figure, path)


def _panel(panel: Any, columns: Columns, rows: list[int], y: list[int]) -> None:  # noqa: ANN401
    """Draw the numbers of one statistic: dots with intervals, or quantiles on a line."""
    if columns.lower is None or columns.upper is None:
        return
    dated = any(isinstance(columns.values[i], dt.date) for i in rows)
    x, low, high = (
        np.array([_place(ends[i]) for i in rows], float)
        for ends in (columns.values, columns.lower, columns.upper)
    )
    orders = np.array([_orders(columns)[i] for i in rows], float)
    at = np.array(y, float)
    several = len(set(orders[~np.isnan(orders)].tolist())) > 1
    if several:
        for line in sorted(set(y)):
            inside = at == line
            panel.plot(x[inside], at[inside], "-", color=PALE, lw=3, zorder=1)
        panel.plot(x, at, "|", color=BLUE, ms=6, zorder=2)
        middle = orders == 0.5
        panel.plot(x[middle], at[middle], "o", color=RED, ms=3.5, zorder=3)
    else:
        panel.hlines(at, low, high, color=PALE, linewidth=5)
        panel.plot(x, at, "o", color=BLUE, ms=4)
    panel.margins(x=0.08)
    if dated:
        _as_dates(panel.xaxis)
    else:
        panel.locator_params(axis="x", nbins=4)
        gaps(panel.xaxis)
    panel.grid(axis="x", color=RULE, linewidth=0.8)
    panel.tick_params(axis="y", length=0, labelsize=8)
    panel.tick_params(axis="x", labelsize=8)


def _place(value: Any) -> Any:  # noqa: ANN401 - a number, a date or a duration
    """Return where a value is drawn: dates and durations in days."""
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    if not isinstance(value, dt.date):
        return value
    return _untyped_dates().date2num(value)


def _as_dates(axis: Any) -> None:  # noqa: ANN401 - an axis of matplotlib's
    dates = _untyped_dates()
    locator = dates.AutoDateLocator(minticks=2, maxticks=5)
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axis.get_offset_text().set_fontsize(8)


def _untyped_dates() -> Any:  # noqa: ANN401 - it has no types
    from matplotlib import dates  # noqa: PLC0415 - pictures load it late

    return dates
