"""The whole distribution function of a column."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine.central.distribution import Distribution
from sourdine.central.quantiles.algorithm import prefetch, read_windows
from sourdine.central.quantiles.intervals import INDEPENDENT
from sourdine.central.quantiles.points import Reader
from sourdine.central.quantiles.tree import Curve
from sourdine.central.statistic import Numeric, finished
from sourdine.mechanisms import Laplace
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.kinds import WHAT, param
from sourdine.privacy import Guarantee
from sourdine.privacy.accounting.parts import widest
from sourdine.results import charts
from sourdine.results.charts import Chart, ChartAxis, ChartSeries
from sourdine.results.formatting import places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.quantiles.tree import Knots
    from sourdine.central.statistic import Stages
    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release


COUNTING = Fraction(1, 100)
"""This part of epsilon pays for a count, by which the way is chosen."""
FEWEST, MOST = 0.0, 1e18
"""So many records lead to each of the two ways."""
PRINTED = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
"""The shares near which a row is printed."""


@frozen(kw_only=True, slots=False)
class Cdf(Numeric):
    r"""The share of a column's present values at or below every point of the grid, with a band.

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
    of_dates: ClassVar[bool] = True
    shaped: ClassVar[bool] = True
    text: ClassVar[str] = "Estimate the distribution function of a column, with a band."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --epsilon 1 --plot salaries.png",
        "--bounds 0 500000 --n 100000 --error 0.01",
    )

    population: bool = field(
        default=False, converter=read.population,
        metadata=param(
            kinds.FLAG,
            "Also show the confidence band of the population, at no further cost.",
            group=WHAT,
        ),
    )  # fmt: skip

    def check(self) -> None:
        _ = self.grid, self.counting
        for records in (0.0, 1e4, 1e18) if self.counts else (self.n,):
            curve = self.curve(records)
            _ = curve.tree(curve.cells, curve.epsilon) if curve.by_ticks else curve.edges

    @property
    def counts(self) -> bool:
        """Whether part of epsilon pays for a count."""
        return self.n is None

    @cached_property
    def counting(self) -> Laplace:
        """What draws the count."""
        epsilon = self.epsilon * COUNTING
        return Laplace(epsilon=epsilon, sensitivity=self.rows, relation=self.relation)

    def curve(self, records: float | None) -> Curve:
        """Return what draws the function, for about so many records."""
        return Curve(
            epsilon=self.epsilon * (1 - COUNTING if self.counts else 1),
            cells=self.grid.size,
            relation=self.relation,
            rows=self.rows,
            records=records or 0.0,
        )

    @property
    def own_parts(self) -> tuple[Part, ...]:
        counted = self.counting.parts if self.counts else ()
        records = (FEWEST, MOST) if self.counts else (self.n,)
        left = Guarantee(self.curve(0).epsilon, 0, self.relation)
        return (*counted, *widest(left, *(self.curve(n).parts for n in records)))

    @property
    def how(self) -> str:
        return "noisy counts below ticks, or below quantiles"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        band = "The band holds simultaneously for all values; only a few points are printed."
        more = "quantile(0.5) and probability(a, b) compute other values at no further cost."
        asked = [INDEPENDENT] if self.population else []
        return (self.clipping, band, more, *asked, *self.person)

    def draw(self, data: Frame) -> dict[str, Any]:
        return self.draw_all([data])[0]

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        """Count each group and choose for it, read what all need together, and draw."""
        return finished(self.drawing(frames))

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Count and choose, then draw, each when others know what they will read too."""
        readers = [Reader(data, data.resolve(self.column), self.grid) for data in frames]
        prefetch(readers)
        yield
        counts: list[dict[str, Any]] = [{} for _ in readers]
        if self.counts:
            found = [self.counting.release(r.n, source=self.source).value for r in readers]
            counts = [{"count": int(count)} for count in found]
        curves = [self.curve(own.get("count", self.n)) for own in counts]
        prefetch(readers, [curve.reads for curve in curves])
        yield
        read_windows(readers, [curve.reads for curve in curves])
        both = zip(readers, counts, curves, strict=True)
        return [{**own, **curve.draw(reader, self.source)} for reader, own, curve in both]

    def knots(self, drawn: Mapping[str, Any]) -> Knots:
        """Return the counts below knots."""
        return self.curve(drawn.get("count", self.n)).knots(drawn)

    def value(self, drawn: Mapping[str, Any]) -> Any:
        """Return the share at or below each value of `labels`."""
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

    @property
    def span(self) -> tuple[Any, Any]:
        return 0.0, 1.0

    @property
    def widest(self) -> float:
        return 1.0

    def planned(self, beta: float, n: int | None) -> float:
        """Return the half height of the band to expect, as a share of the records."""
        n = self.public_n(n)
        of = "population" if self.population else "sample"
        return min(self.curve(n).expected(beta, of) / n, 1.0)

    @property
    def display(self) -> Display:
        return replace(
            super().display,
            head="share",
            title=self.name.replace("cdf", "Distribution function", 1),
            extra_intervals=("population",) if self.population else (),
        )

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        at = np.asarray(release.drawn["knots"], np.int64)[1:] - 1
        return {"at or below": self.grid.values(at).tolist()}

    def printed_rows(self, release: Release) -> Sequence[int]:
        """Return the rows that are printed: those near a few shares."""
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
            mark="steps",
            x=ChartAxis(scale="date" if self.is_datetime else "number"),
            y=ChartAxis(scale="share", label="records at or below", view=(0, 1)),
            series=[extended(*pair) for pair in enumerate(charts.series_of(columns, at))],
            told=charts.told(columns),
            grouped=bool(columns.by),
        )
