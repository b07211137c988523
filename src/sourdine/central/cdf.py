"""The whole distribution function of a column, and what is read off it once released."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from attrs import field, frozen

from sourdine.calendar import DATES, DAY, read_date, read_instant, written
from sourdine.central.groups import ByGroup
from sourdine.central.intervals import each
from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.central.quantiles.intervals import INDEPENDENT
from sourdine.central.quantiles.statistic import Ranked
from sourdine.central.quantiles.tree import Curve
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, rational
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.kinds import WHAT, param
from sourdine.parameters.question import plain_parameter
from sourdine.privacy import Guarantee
from sourdine.privacy.accounting.parts import widest
from sourdine.results import charts
from sourdine.results.answer import Answer, plain
from sourdine.results.charts import Chart, ChartAxis, ChartSeries
from sourdine.results.release import SHOWN, Release, flat, holding, read_confidence, shown_ends
from sourdine.results.tables import Columns, places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from sourdine.calendar import DateFormat
    from sourdine.central.quantiles.points import Reader
    from sourdine.central.quantiles.tree import Knots
    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.privacy import Part
    from sourdine.results.release import Display


COUNTING = Fraction(1, 100)
"""This part of epsilon pays for a count, by which the way is chosen."""
PRINTED = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
"""The shares near which a row is printed."""


@frozen(kw_only=True, slots=False)
class Cdf(Ranked):
    r"""The share of a column's present values at or below every point of the grid, with a band.

    With weights, shares are of the weight.

    The band holds for all points at once, so any number of quantiles and shares can be read off it
    at no further cost: `Distribution.quantile`, `Distribution.probability`.

    Notes
    -----
    A count at :math:`\varepsilon/100`, unless ``n`` is stated, decides what is counted
    (`sourdine.central.quantiles.tree`): all ticks, or the stretches between quantiles that are
    drawn at half of epsilon. *Claim*: the band holds the records' own distribution function
    everywhere with at least its confidence, and with ``of="population"`` that of the law they were
    drawn from. *Checked by* ``test_the_band_covers_the_records`` and ``benchmarks/cdf.py``.
    *Claim*: :math:`\varepsilon`-differential privacy, as the count, the quantiles and the counts
    are drawn one after the other at parts of epsilon that add up to it.

    Examples
    --------
    >>> release = Cdf(bounds=(0, 120), step=1, epsilon=1).release(list(range(100)) * 200)
    >>> release.quantile(0.5).value in range(48, 52)
    True
    >>> low, high = release.probability(0, 24).interval(0.95)
    >>> bool(low < 0.25 < high < low + 0.04)
    True
    """

    kind: ClassVar[str] = "cdf"
    how = "noisy counts below ticks, or below quantiles"
    span = 0.0, 1.0
    widest = 1.0
    of_dates: ClassVar[bool] = True
    shaped: ClassVar[bool] = True
    count_share = COUNTING
    text: ClassVar[str] = "Estimate the distribution function of a column, with a band."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --epsilon 1 --plot salaries.png",
        "--bounds 0 500000 --n 100000 --error 0.01",
    )

    population: bool = field(default=False, converter=read.population, metadata=param(
        kinds.FLAG, "Also show the confidence band of the population, at no further cost.",
        group=WHAT,
    ))  # fmt: skip

    def check(self) -> None:
        _ = self.grid, self.counting
        for records in (0.0, 1e4, 1e18) if self.counts else (self.about,):
            curve = self.curve(records)
            _ = curve.tree(curve.cells, curve.epsilon) if curve.by_ticks else curve.edges

    @property
    def counts(self) -> bool:
        return self.n is None

    def curve(self, records: float | None) -> Curve:
        """Return the mechanism of the function for about ``n`` records."""
        return Curve(
            epsilon=self.epsilon * (1 - COUNTING if self.counts else 1), cells=self.grid.size,
            relation=self.relation, rows=self.copies, records=records or 0.0,
        )  # fmt: skip

    @property
    def own_parts(self) -> tuple[Part, ...]:
        counted = self.counting.parts if self.counts else ()
        left = Guarantee(self.curve(0).epsilon, 0, self.relation)
        return (*counted, *widest(left, *(self.curve(n).parts for n in self.extremes)))

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        band = "The band holds simultaneously for all values; only a few points are printed."
        more = "quantile(0.5) and probability(a, b) compute other values at no further cost."
        asked = [INDEPENDENT] if self.population else []
        return (self.clipping, band, more, *asked, *self.weighing, *self.person)

    def drawing_for(self, records: float | None) -> Curve:
        return self.curve(records)

    def drawn(self, reader: Reader, draws: Curve, counted: dict[str, Any]) -> dict[str, Any]:
        return {**counted, **draws.draw(reader, self.source)}

    def knots(self, drawn: Mapping[str, Any]) -> Knots:
        """Return the counts below knots."""
        return self.curve(drawn.get("count", self.about)).knots(drawn)

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self.knots(drawn).shares[1:]

    def limits(self, release: Release, beta: float, of: str) -> Any:
        low, high = self.knots(release.drawn).band(beta, of)
        return low[1:], high[1:]

    @property
    def release_kind(self) -> type[Release]:
        return Distribution

    def is_whole_range(self, low: Any, high: Any) -> bool:
        """Return whether nothing is known but that all records are at or below the last value."""
        return super().is_whole_range(low[:-1], high[:-1])

    def planned(self, beta: float, n: int | None) -> float:
        """Return the half height of the band to expect, as a share of the records."""
        n = self.in_units(self.public_n(n))
        of = "population" if self.population else "sample"
        return min(self.curve(n).expected(beta, of) / n, 1.0)

    @property
    def display(self) -> Display:
        return replace(
            super().display,
            head="share",
            title=self.name.replace("cdf", "Distribution function", 1),
            extra_intervals=("population",) if self.population else (),
            populations=self.weights is None,
        )

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        at = np.asarray(release.drawn["knots"], np.int64)[1:] - 1
        return {"at or below": self.grid.values(at).tolist()}

    def printed_rows(self, release: Release) -> Sequence[int]:
        shares = np.asarray(release.value)
        near = np.abs(shares[:, None] - PRINTED).argmin(axis=0)
        return sorted(set(near.tolist()))

    def chart(self, release: Release, truth: Any = None) -> Chart:
        """Return the steps of each group's function; ``truth`` is all records, grouped or not."""
        columns = release.columns()
        at = places(list(columns.labels["at or below"]))
        (lowest,) = places(self.grid.values(np.array([0])).tolist())
        known = None if truth is None else np.sort(places(np.ravel(np.asarray(truth)).tolist()))

        def extended(i: int, one: ChartSeries) -> ChartSeries:
            """Return the function from the lower bound on, where it is 0 and its band is open."""
            x, wider = [lowest, *one.x], one.population
            true = None
            if known is not None and i == 0:  # one line, however many groups there are
                true = (np.searchsorted(known, x, "right") / max(len(known), 1)).tolist()
            return replace(
                one, x=x, value=[0.0, *one.value], low=[0.0, *one.low], high=[*one.high, 1.0],
                population=wider and ([0.0, *wider[0]], [*wider[1], 1.0]),
                truth=true,
            )  # fmt: skip

        return Chart(
            mark="steps", x=ChartAxis(scale="date" if self.is_datetime else "number"),
            y=ChartAxis(scale="share", label="records at or below", view=(0, 1)),
            series=[extended(*pair) for pair in enumerate(charts.series_of(columns, at))],
            told=charts.told(columns), grouped=bool(columns.by),
        )  # fmt: skip


# ---- A released distribution function, and what is read off it -----------------------------------


Ends = tuple[Any, Any]
Read = TypeVar("Read", bound="ReadOff")


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
        orders, one = read_orders(q), is_one(q)

        def value(part: Release) -> Any:
            asked: Any = part.mechanism
            found = asked.grid.values(asked.knots(part.drawn).quantiles(orders))
            return found[0].item() if one else found

        def ends(part: Release, beta: float, of: str) -> Ends:
            asked: Any = part.mechanism
            both = asked.knots(part.drawn).quantile_ends(orders, beta, of)
            low, high = (asked.grid.values(ticks) for ticks in both)
            return (low[0].item(), high[0].item()) if one else (low, high)

        labels, asked = {"q": [*map(float, orders)]}, {"quantile": q if one else list(orders)}
        return read_off(self, ReadOff, "quantile", labels, asked, (value, ends))

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

        def seen(part: Release) -> tuple[Knots, int, int]:
            asked: Any = part.mechanism
            return asked.knots(part.drawn), *_stretch(asked.grid, a, b, asked.read.dates)

        def value(part: Release) -> float:
            knots, first, last = seen(part)
            return max(float(knots.share(last) - knots.share(first)), 0.0)

        def ends(part: Release, beta: float, of: str) -> Ends:
            knots, first, last = seen(part)
            if first == last:
                return 0.0, 0.0
            below, up_to = (knots.share_ends(tick, beta, of) for tick in (first, last))
            return max(up_to[0] - below[1], 0.0), min(up_to[1] - below[0], 1.0)

        said = {"from": ["lowest" if a is None else a], "to": ["highest" if b is None else b]}
        return read_off(self, ReadOff, "share", said, {"probability": [a, b]}, (value, ends))


def read_off(
    release: Release,
    kind: type[Read],
    name: str,
    labels: Mapping[str, Sequence[Any]],
    asked: Mapping[str, Any],
    how: tuple[Callable[[Release], Any], Callable[[Release, float, str], Ends]],
) -> Read:
    """Return what is read off a release, of each group if there are groups.

    ``how`` are the value of a release without groups, and the ends of its interval.
    """
    value, ends = how
    answer = release.answer
    if not isinstance(answer.mechanism, ByGroup):
        return kind(
            name=name, labels=labels, value=value(answer), release=release, asked=asked,
            ends=lambda beta, of: ends(answer, beta, of),
        )  # fmt: skip
    groups = answer.mechanism
    keys, parts = groups.keys(answer.drawn), groups.releases(answer)
    sizes = [len(next(iter(labels.values())))] * len(keys)
    repeated = {head: list(column) * len(keys) for head, column in labels.items()}
    named = groups.labelled(keys, sizes, repeated)

    def all_ends(beta: float, of: str) -> dict[Any, Ends]:
        risk = each(beta, len(keys))
        return {key: ends(part, risk, of) for key, part in zip(keys, parts, strict=True)}

    return kind(
        name=name, labels=named, value=dict(zip(keys, map(value, parts), strict=True)),
        release=release, asked=asked, ends=all_ends,
    )  # fmt: skip


def _stretch(grid: Grid, a: object, b: object, form: DateFormat) -> tuple[int, int]:
    """Return the first tick of a stretch, and the one after its last."""

    def end(x: object, name: str) -> Fraction:
        return rational(x, name) if grid.points is None else _instant(grid, x, name, form)

    low, high = None if a is None else end(a, "a"), None if b is None else end(b, "b")
    if low is not None and high is not None and low > high:
        swapped = (float(high), float(low)) if grid.points is None else (b, a)
        hint, tries = "Use the smaller one first: {a}, {b}.", dict(zip("ab", swapped, strict=True))
        raise ParameterError("b", "be at least a", str(b), hint, **tries)
    first = 0 if low is None else ceil((low - grid.lower) / grid.step)
    last = grid.size if high is None else floor((high - grid.lower) / grid.step) + 1
    first, last = (min(max(tick, 0), grid.size) for tick in (first, last))
    return first, max(first, last)


def _instant(grid: Grid, x: object, name: str, form: DateFormat) -> Fraction:
    """Return the beginning of a date, or its end as the upper end; on dates that of a time, too."""
    date = read_date(x) or read_date(x, form)
    if date is None:
        must, tries = "be a date, like the bounds", {name: written(grid.value(0))}
        raise ParameterTypeError(name, must, given(x), f"Use {{{name}}}.", **tries)
    instant = read_instant(date) or 0
    if grid.points == DATES or not isinstance(date, dt.datetime):
        instant = instant // DAY * DAY + (DAY - 1 if name == "b" else 0)
    return Fraction(instant)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadOff(Answer):
    """Numbers read off a distribution function: they cost nothing more.

    Parameters
    ----------
    name, labels
        What the numbers are, and what tells them apart.
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
    release: Release
    asked: Mapping[str, Any]
    ends: Callable[[float, str], Any] = dataclass_field(hash=False)

    def interval(self, confidence: Number = SHOWN, *, of: str = "sample") -> Any:
        """Return the ends between which the truth lies, of the sample or of the population.

        They hold together with all that is read off the same release.
        """
        if of not in ("sample", "population"):
            must = "be 'sample' or 'population'"
            raise ParameterError("of", must, repr(of), "Use {of}.", of="sample")
        return holding(self.value, self.ends(read_confidence(confidence), of))

    def columns(self) -> Columns:
        shown = self.release.mechanism.display
        confidence = shown.confidence
        lower, upper = self._ends(confidence, "sample")
        return Columns(
            labels=self.labels, name=self.name, values=flat(self.value), lower=lower, upper=upper,
            extra_intervals={of: self._ends(confidence, of) for of in shown.extra_intervals},
            confidence=confidence,
        )  # fmt: skip

    def _ends(self, confidence: float, of: str) -> tuple[list[Any], list[Any]]:
        ends = self.interval(confidence, of=of)
        return shown_ends(list(ends.values()) if isinstance(ends, Mapping) else [ends])

    def notes(self) -> list[tuple[str, str]]:
        cost = f"none beyond that of the release: {self.release.price}"
        return [("from", str(self.release.mechanism)), ("cost", cost)]

    def to_dict(self) -> dict[str, Any]:
        asked = {name: plain_parameter(x) for name, x in self.asked.items()}
        return {"value": plain(self.value), "read_off": asked, "release": self.release.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        ((name, asked),) = facts["read_off"].items()
        release: Any = Distribution.from_dict(facts["release"])
        found: Self = release.quantile(asked) if name == "quantile" else release.probability(*asked)
        return found
