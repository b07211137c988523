"""What a chart of a release shows: marks, axes, and a series of numbers for each group.

A statistic describes its chart (`Estimator.chart`). `sourdine.results.figures` draws it with
matplotlib, `sourdine.results.svg` as plain SVG in reports and on the pages of a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.results.tables import interval_text, is_date, is_duration, places, printable, shown
from sourdine.results.tables import label as text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.results.tables import Columns

    Mark = Literal["dots", "bars", "line", "steps"]
    Scale = Literal["number", "date", "days", "percent", "share", "names"]

FEW = 6
"""Up to this number of groups, lines share axes; more have a panel each."""
MOST = 60
"""The maximum number of panels in a chart, and of numbers that are read to a listener."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartAxis:
    """An axis of a chart."""

    scale: Scale = "number"
    """What its numbers are: plain numbers, days from 1970, days, percents, shares of 1, or 0, 1,
    ... for names."""
    label: str = ""
    names: Sequence[str] = ()
    """The names, or of bars between numbers the texts of the edges."""
    view: tuple[float, float] | None = None
    """The part that is shown; defaults to what the marks need."""
    from_zero: bool = False
    """Whether it begins at 0, as counts do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSeries:
    """The numbers of one group, or of a release without groups."""

    name: str
    """The group; empty without groups."""
    x: Sequence[float]
    """The positions of the numbers; of bars between numbers, their edges."""
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    """The numbers and the ends of their intervals, which are the numbers if there are none."""
    population: tuple[Sequence[float], Sequence[float]] | None = None
    """The ends of intervals for the population, if they were asked for."""
    truth: Sequence[float] | None = None
    """The true numbers, if the data is public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of a release."""

    mark: Mark
    """How a number is drawn: a dot in a row of its own, a bar, a point of a line, or a step."""
    x: ChartAxis
    y: ChartAxis
    """The axes. Dots and bars with names have the names on ``x`` and the numbers on ``y``,
    whichever way they are drawn."""
    series: Sequence[ChartSeries]
    """The numbers: one series, or one for each group."""
    grouped: bool = False
    """Whether the series are groups."""
    texts: Sequence[Sequence[str]] = ()
    """Each number of a row of dots as text, with the ends of its interval if it has one."""
    told: str = ""
    """The numbers in words, for a listener."""

    @property
    def together(self) -> bool:
        """Whether all series share axes; else each has a panel of its own."""
        return not self.grouped or (self.mark in {"line", "steps"} and len(self.series) <= FEW)


def scale_of(values: Sequence[Any]) -> Scale:
    """Return the scale on which numbers, dates or durations are drawn."""
    if any(map(is_date, values)):
        return "date"
    return "days" if any(map(is_duration, values)) else "number"


# ---- From the columns of a release ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A group's name, and which rows of a release belong to it."""

    name: str
    rows: list[int]

    def of(self, column: Sequence[Any]) -> list[Any]:
        return [column[i] for i in self.rows]


def groups_of(columns: Columns) -> list[DrawnGroup]:
    """Return the groups of a release in their order; one without a name if there are none."""
    if not columns.by:
        return [DrawnGroup("", list(range(len(columns.values))))]
    rows: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*(columns.labels[name] for name in columns.by), strict=True)):
        rows.setdefault(key, []).append(i)
    return [DrawnGroup(", ".join(map(str, key)), own) for key, own in rows.items()]


def series_of(
    columns: Columns, x: Sequence[float] | None, truth: Any = None
) -> tuple[ChartSeries, ...]:
    """Return the numbers of each group, at positions that default to 0, 1, ... in each.

    ``truth`` are the true numbers, if the data is public: of all in a list, or by key.
    """
    groups = groups_of(columns)
    low, high = columns.lower or columns.values, columns.upper or columns.values
    wider = next(iter(columns.extra_intervals.values()), None)
    known: list[Any] = [None] * len(groups)
    if isinstance(truth, Mapping):  # by the value of one column, or a tuple of those of several
        labels = [columns.labels[name] for name in columns.by]
        keys = [tuple(column[group.rows[0]] for column in labels) for group in groups]
        known = [truth.get(key[0] if len(key) == 1 else key) for key in keys]
    elif truth is not None:
        every = np.ravel(np.asarray(truth)).tolist()
        known = [group.of(every) for group in groups]
    return tuple(
        ChartSeries(
            name=group.name,
            x=list(range(len(group.rows))) if x is None else group.of(x),
            value=places(group.of(columns.values)),
            low=places(group.of(low)),
            high=places(group.of(high)),
            population=wider and (places(group.of(wider[0])), places(group.of(wider[1]))),
            truth=None if true is None else places(np.ravel(np.asarray(true)).tolist()),
        )
        for group, true in zip(groups, known, strict=True)
    )


def dots(
    columns: Columns,
    truth: Any = None,
    *,
    names: Sequence[str] | None = None,
    label: str = "",
    from_zero: bool = False,
) -> Chart:
    """Return the chart with a dot and an interval for each number.

    ``truth`` is the true number, a list of them, or one for each key; ``names`` default to labels.
    """
    if not columns.bounded:
        raise ParameterTypeError(
            "plot", "plot() is not available for an answer without intervals.", "",
            "Print it instead.",
        )  # fmt: skip
    labels = list(columns.labels.values())
    single = columns.by and len(groups_of(columns)) == len(columns.values)
    if single:  # what each number is, is said in the title
        labels = labels[: len(columns.by)]
    named = [", ".join(map(text_of, parts)) for parts in zip(*labels, strict=True)]
    rows = names or named or [columns.name][: len(columns.values)]
    known = list(truth.values()) if isinstance(truth, Mapping) else truth
    (series,) = series_of(replace(columns, by=()), None, known)
    scale = scale_of(columns.values)
    return Chart(
        mark="dots", x=ChartAxis(scale="names", names=[printable(str(name)) for name in rows]),
        y=ChartAxis(scale=scale, label="days" if scale == "days" else label, from_zero=from_zero),
        series=[series], texts=columns.texts(), told=told(columns),
    )  # fmt: skip


def shares(columns: Columns, people: int, truth: Any = None) -> Chart:
    """Return the chart of shares of people: a dot for each category, or for the largest."""
    kept, (categories,) = columns.largest(columns.most), columns.labels.values()
    label = f"share of {shown(people, 1.0)} people"
    if len(kept.values) < len(categories):
        label += f", the {len(kept.values)} largest of {len(categories)} categories"
    if truth is not None:
        known = dict(zip(categories, np.ravel(np.asarray(truth)).tolist(), strict=True))
        truth = [known[name] for (own,) in [kept.labels.values()] for name in own]
    return dots(kept, truth, label=label)


def quantiles(columns: Columns, truth: Any = None) -> Chart:
    """Return the chart of quantiles: a line over the orders, for each group."""
    orders = [100 * float(q) for q in list(columns.labels.values())[-1]]
    series = series_of(columns, orders, truth)
    views = [_view(one) for one in series[:MOST]] or [(0.0, 1.0)]
    view = min(low for low, _ in views), max(high for _, high in views)
    return Chart(
        mark="line",
        x=ChartAxis(scale="percent", label="part of the records at or below", view=(0, 100)),
        y=ChartAxis(scale=scale_of(columns.values), view=view), series=series,
        grouped=bool(columns.by), told=told(columns),
    )  # fmt: skip


def _view(series: ChartSeries) -> tuple[float, float]:
    """Return what the axis shows: the values, and of the intervals what is not far beyond."""
    lowest, highest = min(series.low), max(series.high)
    spread = (series.value[-1] - series.value[0]) or (highest - lowest) or 1.0
    return (
        max(lowest, series.value[0] - spread) - 0.06 * spread,
        min(highest, series.value[-1] + spread) + 0.06 * spread,
    )


def told(columns: Columns) -> str:
    """Return all numbers in words; of many, what they are."""
    if len(columns.values) > MOST or columns.printed is not None:
        groups = f" of {len(groups_of(columns))} groups" if columns.by else ""
        return f"{columns.name}{groups}, {len(columns.values)} numbers"
    labels = list(columns.labels.values())
    names = [", ".join(map(text_of, parts)) for parts in zip(*labels, strict=True)]
    names = names or [columns.name]
    said = [
        f"{text}  {interval_text(*ends)}" if ends and ends[0] else text
        for text, *ends in columns.texts()
    ]
    return "; ".join(f"{printable(a)}: {b}" for a, b in zip(names, said, strict=True))
