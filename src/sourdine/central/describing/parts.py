r"""What is published of one column, each part an ordinary statistic at a share of its epsilon.

=============  ==================================================================================
its kind       :math:`\varepsilon/20`, unless it is declared or its type states it: numbers or
               categories, by permute-and-flip over twice the number of values that can be read as
               numbers and the number of all values
numbers        :math:`11\varepsilon/20` for the mean with bounds that are found first, whose three
               sums give the number of values and their standard deviation as well; the rest for
               a distribution function within the same bounds, with the deciles on it
categories     :math:`3\varepsilon/20` for the number of values, the rest for a histogram of the
               categories that many records have, and all of the column's delta
dates          :math:`3\varepsilon/20` for the number of values
=============  ==================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any

from sourdine.central.cdf import Cdf
from sourdine.central.count import Count
from sourdine.central.histogram import Histogram
from sourdine.central.intervals import laplace_quantile
from sourdine.central.mean import Mean
from sourdine.central.variance import Variance
from sourdine.grid import Grid
from sourdine.mechanisms import PermuteAndFlip
from sourdine.release import Release
from sourdine.tally import Ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.statistic import Statistic
    from sourdine.tally import Frame

__all__ = ["CATEGORY", "DATE", "KINDS", "NUMBER", "WHOLE", "Described", "Numbers"]

NUMBER, WHOLE, CATEGORY, DATE = KINDS = ("number", "whole", "category", "date")
KIND, MEAN, COUNT = Fraction(1, 20), Fraction(11, 20), Fraction(3, 20)
DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
EDGES = 14_000
"""For fewer records times epsilon a distribution function is drawn at edges, not at all ticks."""
Numbers = dict[str, tuple[Any, Any, Any]]
"""A value and the ends of its interval, by name; None for ends that do not exist."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """One column of a description.

    Parameters
    ----------
    name
        The column.
    declared
        Its kind, where that is public.
    epsilon, delta
        What is spent on it.
    rows
        About how many rows there are, as was drawn.
    common
        Relation, rows and source of everything that is drawn.
    """

    name: str
    declared: str | None
    epsilon: Fraction
    delta: Fraction
    rows: int
    common: Mapping[str, Any]

    @cached_property
    def choosing(self) -> PermuteAndFlip:
        """What chooses the kind, where it is not declared."""
        relation = self.common["relation"]
        return PermuteAndFlip(
            epsilon=self.epsilon * KIND,
            candidates=2,
            sensitivity=2 * self.common["rows"],
            monotone=relation.value == "add_remove",
            relation=relation,
        )

    @cached_property
    def mean(self) -> Mean:
        """The mean, within bounds that are found."""
        sought: Any = "find"
        step = 1 if self.declared == WHOLE else None
        within = {"bounds": sought, "step": step, "population": True, "missing": "exclude"}
        return Mean(n=self.rows, **within, **self._asked(MEAN))

    @cached_property
    def count(self) -> Count:
        """The number of values of a column of categories."""
        return Count(**self._asked(COUNT))

    @cached_property
    def histogram(self) -> Histogram:
        """The categories that many records have."""
        asked = self._asked(1 - KIND - COUNT)
        return Histogram(categories="unknown", delta=self.delta, **asked)

    def check(self) -> None:
        """Refuse early an epsilon too small for the noise of a part."""
        _ = self.mean, self.count, self.histogram, self.choosing
        asked = self._asked(1 - KIND - MEAN)
        for n in (1, max(1, int(EDGES / asked["epsilon"]))):
            Cdf(bounds=(0, 1), n=n, **asked)

    def _asked(self, share: Fraction) -> dict[str, Any]:
        return {"column": self.name, "epsilon": self.epsilon * share, **self.common}

    def deciles(self, drawn: Mapping[str, Any]) -> Cdf:
        """Return the distribution function within the bounds found, for the deciles on it.

        It is told of fewer records than there are where those are many: a few edges are enough.
        """
        settled: Any = self._settled(drawn)
        asked = self._asked(1 - KIND - MEAN)
        seen = self.variance(drawn).three.in_records(drawn["mean"]["answer"]).sum()
        n = max(1, min(int(seen), int(EDGES / asked["epsilon"])))
        return Cdf(bounds=settled.bounds, step=settled.step, n=n, **asked)

    def variance(self, drawn: Mapping[str, Any]) -> Variance:
        """Return what explains the variance that the three sums hold."""
        settled: Any = self._settled(drawn)
        asked = {**self._asked(MEAN), "epsilon": settled.epsilon}
        return Variance(bounds=settled.bounds, step=settled.step, **asked)

    def beyond(self, drawn: Mapping[str, Any]) -> int:
        """Return about how many records may lie beyond each of the bounds that are found."""
        first: Any = self.mean.first()
        return int(first.outside(drawn["mean"]))

    def _settled(self, drawn: Mapping[str, Any]) -> Statistic:
        first = self.mean.first()
        assert first is not None  # noqa: S101 - its bounds are sought
        return first.settled(drawn["mean"])

    def draw(self, data: Frame) -> dict[str, Any]:
        """Draw the kind and what belongs to it."""
        kind = self.declared or self._chosen(data)
        drawn: dict[str, Any] = {"kind": kind}
        if kind in {NUMBER, WHOLE}:
            drawn["mean"] = self.mean.drawer.draw(data)
            drawn["deciles"] = self.deciles(drawn).draw(data)
        else:
            drawn["count"] = self.count.draw(data)
            if kind == CATEGORY:
                drawn["histogram"] = self.histogram.draw(data)
        return drawn

    def _chosen(self, data: Frame) -> str:
        (numbers,) = data.moments(Ticks(self.name, Grid(0, 1)), 0)
        scores = [2 * numbers, data.present(self.name)]
        winner = int(self.choosing.release(scores, source=self.common["source"]).value)
        return (NUMBER, CATEGORY)[winner]

    def numbers(self, drawn: Mapping[str, Any], beta: float) -> Numbers:
        """Return everything that was drawn, with the ends of its intervals."""
        of = self._of_numbers if drawn["kind"] in {NUMBER, WHOLE} else self._of_words
        return of(drawn, beta)

    def _of_numbers(self, drawn: Mapping[str, Any], beta: float) -> Numbers:
        settled: Any = self._settled(drawn)
        sums = drawn["mean"]["answer"]
        three = self.variance(drawn).three
        n = float(three.in_records(sums).sum())
        half = float(laplace_quantile([1.0, 1.0, 1.0], beta)) * three.scale
        low, high = (float(b) for b in settled.bounds)
        v, least, most = _ends(self.variance(drawn), sums, beta)
        return {
            "count": (max(round(n), 0), max(floor(n - half), 0), max(ceil(n + half), 0)),
            "lowest": (low, None, None),
            "highest": (high, None, None),
            "beyond": (self.beyond(drawn), None, None),
            "mean": _ends(settled, sums, beta),
            "sd": (sqrt(v), sqrt(least), sqrt(most)),
            **self._deciles(drawn, beta),
        }

    def _deciles(self, drawn: Mapping[str, Any], beta: float) -> Numbers:
        asked = self.deciles(drawn)
        knots = asked.knots(drawn["deciles"])
        ticks = (knots.quantiles(DECILES), *knots.quantile_ends(DECILES, beta, "sample"))
        ends = zip(DECILES, *(asked.grid.values(t).tolist() for t in ticks), strict=True)
        return {f"{int(100 * q)} %": (v, a, b) for q, v, a, b in ends}

    def _of_words(self, drawn: Mapping[str, Any], beta: float) -> Numbers:
        named: Numbers = {"count": _ends(self.count, drawn["count"], beta)}
        if "histogram" not in drawn:
            return named
        counted = _ends(self.count, drawn["count"], beta / 2)
        values, ends = _both(self.histogram, drawn["histogram"], beta / 2)
        for key in sorted(values, key=lambda key: -values[key]):
            named[f"= {key}"] = _share(values[key], ends[key], counted)
        return named


def _share(
    n: int, ends: tuple[float, float], counted: tuple[Any, Any, Any]
) -> tuple[float, float, float]:
    """Return the share of a category among all values, between the ends of both counts."""
    all_, least, most = (max(float(x), 1.0) for x in counted)
    return (
        min(max(n / all_, 0.0), 1.0),
        min(max(ends[0] / most, 0.0), 1.0),
        min(max(ends[1] / least, 0.0), 1.0),
    )


def _both(statistic: Statistic, drawn: Mapping[str, Any], beta: float) -> tuple[Any, Any]:
    value = statistic.value(drawn)
    release = Release(value=value, cost=statistic.cost, mechanism=statistic, drawn=drawn)
    return value, statistic.widened_limits(release, beta, "sample")


def _ends(statistic: Statistic, drawn: Mapping[str, Any], beta: float) -> tuple[Any, Any, Any]:
    value, (low, high) = _both(statistic, drawn, beta)
    return value, low, high
