"""A released distribution function and what is read off it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import DATES, DAY, read_date, read_instant, written
from sourdine.central.groups import ByGroup
from sourdine.central.intervals import each
from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, rational
from sourdine.parameters.question import plain_parameter
from sourdine.results import charts
from sourdine.results.answer import Answer, plain
from sourdine.results.charts import FEW, SERIES, DrawnGroup, Panels, beside_lines, groups_of
from sourdine.results.formatting import date_axis, places
from sourdine.results.release import SHOWN, Release, flat, holding, read_confidence
from sourdine.results.tables import Columns, with_free_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from sourdine.calendar import DateFormat
    from sourdine.central.cdf import Cdf
    from sourdine.exact import Number
    from sourdine.grid import Grid


# ---- The picture of a distribution function: a line inside a band of steps, or one for each group


PALE = {"sample": 0.3, "population": 0.14}
"""How strongly bands are drawn."""


def steps(
    statistic: Cdf,
    release: Release,
    *,
    truth: Any = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw a distribution function with its band; of groups, one for each.

    Parameters
    ----------
    statistic, release
        What was asked for, and what was published.
    truth
        Where the data is public: the records themselves.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    title
        What is written above; the statistic if left out.
    """
    columns = release.columns()
    groups = (
        groups_of(columns) if columns.by else [DrawnGroup("", list(range(len(columns.values))))]
    )
    if len(groups) > FEW:
        return _panels(statistic, release, groups, path=path, title=title)
    figure, axes = charts.canvas()
    for group, colour in zip(groups, SERIES, strict=False):
        _one(axes, statistic, release, group, colour)
    if truth is not None:
        ranked = np.sort(places(np.asarray(truth).ravel().tolist()))
        share = np.arange(1, len(ranked) + 1) / max(len(ranked), 1)
        axes.step(ranked, share, where="post", color=charts.RED, linewidth=1, label="truth")
    if columns.by:
        beside_lines(axes)
    elif truth is not None or columns.extra_intervals:
        charts.legend(axes)
    _dress(axes, statistic)
    axes.set_ylabel("records at or below", color=charts.INK)
    return charts.finished(figure, axes, release, title=title, path=path)


def _panels(
    statistic: Cdf,
    release: Release,
    groups: list[DrawnGroup],
    *,
    path: str | None,
    title: str | None,
) -> Any:
    """Draw a panel for each group, all on the same axes."""
    panels = Panels(groups)
    for axes, group in zip(panels.axes, panels.groups, strict=True):
        _one(axes, statistic, release, group, charts.BLUE)
        axes.grid(axis="y", color=charts.RULE, linewidth=0.8)
    for axes in panels.axes[:1]:  # they share their axes
        _dress(axes, statistic, small=True)
        axes.set_yticks([0, 0.5, 1])
    return panels.finished(release, title=title, path=path, axis="upwards: records at or below")


def _dress(axes: Any, statistic: Cdf, *, small: bool = False) -> None:
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
    if statistic.is_datetime:
        date_axis(axes.xaxis, small=small)
    else:
        if small:
            axes.locator_params(axis="x", nbins=4)
        charts.gaps(axes.xaxis)
    axes.grid(axis="y", color=charts.RULE, linewidth=0.8)


def _one(axes: Any, statistic: Cdf, release: Release, group: DrawnGroup, colour: str) -> None:
    """Draw one function, the band of the records and, where it was asked for, of the population."""
    columns = release.columns()
    lowest = statistic.grid.values(np.array([0])).tolist()
    x = np.array(places([*lowest, *group.of(columns.labels["at or below"])]))
    value = np.append(0.0, group.of(columns.values))
    bands = {of: ends for of, ends in columns.extra_intervals.items() if of == "population"}
    for of, ends in (bands | {"sample": (columns.lower or (), columns.upper or ())}).items():
        low, high = (np.array(group.of(end), float) for end in ends)
        label = (
            None if columns.by else {"sample": "the records", "population": "the population"}[of]
        )
        axes.fill_between(
            x, np.append(0.0, low), np.append(high, 1.0), step="post", label=label, color=colour,
            alpha=PALE[of], linewidth=0,
        )  # fmt: skip
    axes.plot(x, value, color=colour, linewidth=1.4, label=charts.folded(group.name) or "released")


# ---- A released distribution function, and what is read off it -----------------------------------


Ends = tuple[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Distribution(Release):
    """A released distribution function: any number of quantiles and shares are read off it.

    Examples
    --------
    >>> import sourdine as sd
    >>> ages = sd.cdf(list(range(100)) * 200, bounds=(0, 120), step=1, epsilon=1)
    >>> ages.quantile([0.25, 0.75]).value.shape
    (2,)
    """

    def quantile(self, q: Number | Sequence[Number]) -> ReadOff:
        """Return quantiles, with intervals that hold for all that is ever read off.

        Parameters
        ----------
        q
            An order above 0 and below 1, or a list of them.
        """
        orders = read_orders(q)
        one = is_one(q)

        def value(part: Release) -> Any:
            asked: Any = part.mechanism
            found = asked.grid.values(asked.knots(part.drawn).quantiles(orders))
            return found[0].item() if one else found

        def ends(part: Release, beta: float, of: str) -> Ends:
            asked: Any = part.mechanism
            both = asked.knots(part.drawn).quantile_ends(orders, beta, of)
            low, high = (asked.grid.values(ticks) for ticks in both)
            return (low[0].item(), high[0].item()) if one else (low, high)

        labels = {"q": [float(order) for order in orders]}
        asked = {"quantile": q if one else list(read_orders(q))}
        return self._read_off("quantile", labels, asked, (value, ends))

    def probability(
        self, a: Number | dt.date | str | None = None, b: Number | dt.date | str | None = None
    ) -> ReadOff:
        """Return the share of the records from ``a`` to ``b``, both included.

        Parameters
        ----------
        a, b
            The ends, dates if the bounds are: the whole day, where no time is given. One that is
            left out is a bound.
        """

        def ticks(asked: Any) -> tuple[int, int]:
            return _stretch(asked.grid, a, b, asked.read.dates)

        def value(part: Release) -> float:
            asked: Any = part.mechanism
            knots, (first, last) = asked.knots(part.drawn), ticks(part.mechanism)
            return max(float(knots.share(last) - knots.share(first)), 0.0)

        def ends(part: Release, beta: float, of: str) -> Ends:
            asked: Any = part.mechanism
            knots, (first, last) = asked.knots(part.drawn), ticks(part.mechanism)
            below = knots.share_ends(first, beta, of)
            up_to = knots.share_ends(last, beta, of)
            if first == last:
                return 0.0, 0.0
            return max(up_to[0] - below[1], 0.0), min(up_to[1] - below[0], 1.0)

        said = {"from": ["lowest" if a is None else a], "to": ["highest" if b is None else b]}
        return self._read_off("share", said, {"probability": [a, b]}, (value, ends))

    def _read_off(
        self,
        name: str,
        labels: Mapping[str, Sequence[Any]],
        asked: Mapping[str, Any],
        how: tuple[Callable[[Release], Any], Callable[[Release, float, str], Ends]],
    ) -> ReadOff:
        value, ends = how
        answer = self.answer
        if not isinstance(answer.mechanism, ByGroup):
            return ReadOff(
                name=name, labels=labels, value=value(answer), release=self, asked=asked,
                ends=lambda beta, of: ends(answer, beta, of),
            )  # fmt: skip
        groups = answer.mechanism
        keys, parts = groups.keys(answer.drawn), groups.releases(answer)
        size = len(next(iter(labels.values())))
        repeated = {head: list(column) * len(keys) for head, column in labels.items()}
        listed = [key if isinstance(key, tuple) else (key,) for key in keys for _ in range(size)]
        by = {name: [key[i] for key in listed] for i, name in enumerate(groups.columns_of)}
        named = with_free_names(by, repeated)

        def all_ends(beta: float, of: str) -> dict[Any, Ends]:
            risk = each(beta, len(keys))
            return {key: ends(part, risk, of) for key, part in zip(keys, parts, strict=True)}

        return ReadOff(
            name=name, labels=named, value=dict(zip(keys, map(value, parts), strict=True)),
            release=self, asked=asked, ends=all_ends,
        )  # fmt: skip


def _stretch(grid: Grid, a: object, b: object, form: DateFormat) -> tuple[int, int]:
    """Return the first tick of a stretch, and the one after its last."""
    if grid.points is None:
        low, high = (None if x is None else rational(x, name) for x, name in ((a, "a"), (b, "b")))
    else:
        low, high = _instant(grid, a, "a", form), _instant(grid, b, "b", form)
    if low is not None and high is not None and low > high:
        swapped = (float(high), float(low)) if grid.points is None else (b, a)
        raise ParameterError(
            "b", "be at least a", str(b), "Use the smaller one first: {a}, {b}.",
            **dict(zip("ab", swapped, strict=True)),
        )  # fmt: skip
    first = 0 if low is None else _tick(grid, low, up=True)
    last = grid.size if high is None else _tick(grid, high, up=False) + 1
    return first, max(first, last)


def _instant(grid: Grid, x: object, name: str, form: DateFormat) -> Fraction | None:
    """Return the beginning of a date, or its end as the upper end; of a time on a lattice of dates,
    too.
    """  # noqa: D205 - the sentence does not fit one line
    if x is None:
        return None
    date = read_date(x) or read_date(x, form)
    if date is None:
        raise ParameterTypeError(
            name, "be a date, like the bounds", given(x), f"Use {{{name}}}.",
            **{name: written(grid.value(0))},
        )  # fmt: skip
    instant = read_instant(date) or 0
    if grid.points == DATES or not isinstance(date, dt.datetime):
        instant = instant // DAY * DAY + (DAY - 1 if name == "b" else 0)
    return Fraction(instant)


def _tick(grid: Grid, x: Fraction, *, up: bool) -> int:
    """Return the first tick at or after a value, or the last at or before it."""
    steps = (x - grid.lower) / grid.step
    tick = -(-steps.numerator // steps.denominator) if up else steps.numerator // steps.denominator
    return int(min(max(tick, 0 if up else -1), grid.size if up else grid.last))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadOff(Answer):
    """Numbers read off a distribution function: they cost nothing more.

    Parameters
    ----------
    name
        What the numbers are.
    labels
        What tells them apart.
    value
        A number, an array, or one of them for each group.
    release
        What they were read off.
    asked
        What was asked: an order, or the ends of a stretch.
    ends
        The ends of their intervals, for a risk, of the sample or of the population.
    """

    name: str
    labels: Mapping[str, Sequence[Any]]
    value: Any
    release: Distribution
    asked: Mapping[str, Any]
    ends: Callable[[float, str], Any] = field(hash=False)

    def interval(self, confidence: Number = SHOWN, *, of: str = "sample") -> Any:
        """Return the ends between which the truth lies, of the sample or of the population.

        They hold together with all that is read off the same release.
        """
        if of not in ("sample", "population"):
            raise ParameterError(
                "of", "be 'sample' or 'population'", repr(of), "Use {of}.", of="sample"
            )
        return holding(self.value, self.ends(read_confidence(confidence), of))

    def columns(self) -> Columns:
        """Return the numbers, with labels and the ends of their intervals."""
        shown = self.release.mechanism.display
        confidence = shown.confidence
        lower, upper = self._ends(confidence, "sample")
        return Columns(
            labels=self.labels,
            name=self.name,
            values=flat(self.value),
            lower=lower,
            upper=upper,
            extra_intervals={of: self._ends(confidence, of) for of in shown.extra_intervals},
            confidence=confidence,
        )

    def _ends(self, confidence: float, of: str) -> tuple[list[Any], list[Any]]:
        """Return the lower and the upper ends, one by one."""
        ends = self.interval(confidence, of=of)
        pairs = list(ends.values()) if isinstance(ends, Mapping) else [ends]
        return [x for low, _ in pairs for x in flat(low)], [
            x for _, high in pairs for x in flat(high)
        ]

    def notes(self) -> list[tuple[str, str]]:
        source = str(self.release.mechanism)
        return [
            ("from", source),
            ("cost", f"none beyond that of the release: {self.release.price}"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked, and the release it was read off."""
        asked = {name: plain_parameter(x) for name, x in self.asked.items()}
        return {"value": plain(self.value), "read_off": asked, "release": self.release.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return what is read off the release that `to_dict` wrote."""
        ((name, asked),) = facts["read_off"].items()
        release: Any = Distribution.from_dict(facts["release"])
        found: Self = release.quantile(asked) if name == "quantile" else release.probability(*asked)
        return found
