"""The variance and the standard deviation of a column, from three noisy sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import frozen

from sourdine.central.intervals import (
    FINE,
    KNOTS,
    accepted,
    laplace_quantile,
    least_fixed,
    lower_risks,
    sampled,
)
from sourdine.central.ratio import PLANNED, Together, UnitSums
from sourdine.central.statistic import Numeric
from sourdine.central.weights import Weighted
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.frame import Frame
    from sourdine.noise import Source
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release

    Floats = NDArray[np.float64]
    Fractions = tuple[float, float]


# ---- Three sums that hold the number, the mean and the variance of values in an interval ---------
#
# With ticks :math:`t` from 0 to L and :math:`u = t/L`, every record adds :math:`(1-u)^2,\ 2u(1-u),\
# u^2` to three sums A, B, C. These are never negative and together always 1, so one record added or
# removed moves the three by 1 in all and the whole of epsilon covers each of them; a replaced one
# moves them by at most 2, and one that becomes missing by 1. With :math:`N = A + B + C`,
#
# .. math:: \text{mean} = \frac{B/2 + C}{N}, \qquad \text{variance} = \frac{AC - B^2/4}{N^2}.
#
# All numbers are multiplied by a public whole number, so that the lattice is fine beside the noise.
# Where noise would be too wide for 64 bits, as that of weights (`sourdine.central.weights`), each
# sum is divided by a public whole number d and rounded down: rounding moves each of the three by
# less than 1 more, so sums that move by m together then move by less than m/d + 3.


NAMES = ("low", "middle", "high")
WIDE = 1 << 54
"""From twice this scale on, sums are divided."""


@frozen(kw_only=True, slots=False)
class ThreeSums(UnitSums):
    """The sums A, B and C of ticks from 0 to ``last``, with noise.

    Notes
    -----
    *Claim*: the three sums move by at most 1, or 2, in all. *Checked by*
    ``test_three_sums_move_together``, and divided by ``test_divided_sums_move_together``.
    """

    last: int

    @property
    def whole(self) -> int:
        return self.last**2

    @cached_property
    def divisor(self) -> int:
        return max(1, floor(self.moves / self.epsilon / WIDE))

    @cached_property
    def mechanism(self) -> Together:
        moves = self.moves if self.divisor == 1 else self.moves // self.divisor + 3
        return Together(epsilon=self.epsilon, sensitivity=moves, relation=self.relation)

    @cached_property
    def scale(self) -> float:
        return float(self.mechanism.scale * self.divisor / self.filled)

    def sums(self, n: int, total: int, squares: int) -> tuple[int, int, int]:
        """Return the three sums beneath the noise, in squared ticks."""
        k, last, d = self.boost, self.last, self.divisor
        crossed = last * total - squares
        low = last * last * n - last * total - crossed
        return k * low // d, k * 2 * crossed // d, k * squares // d

    def draw_all(self, moments: Sequence[Sequence[int]], source: Source) -> list[dict[str, Any]]:
        """Return the three sums of each group with noise, by name."""
        sums = [self.sums(*own) for own in moments]
        drawn = self.mechanism.release_all(sums, source=source)
        return [dict(zip(NAMES, three, strict=True)) for three in drawn]

    def in_records(self, drawn: Mapping[str, int]) -> NDArray[np.float64]:
        """Return what was drawn, a record being 1."""
        unit = Fraction(self.divisor, self.filled)
        return np.array([float(drawn[name] * unit) for name in NAMES])


# ---- The variance of a column --------------------------------------------------------------------
#
# Released are the three sums A, B, C of `sourdine.central.variance`; from them
# :math:`\text{variance} = (AC - B^2/4)/N^2`.
#
# For the true mean :math:`\mu` and variance :math:`v` the sum of :math:`(u - \mu)^2 - v` over all
# records is zero, and in terms of the three sums it is
# :math:`(\mu^2 - v)A - (\mu(1-\mu) + v)B + ((1-\mu)^2 - v)C`: a line in :math:`v`, pure
# noise at the truth. So for each :math:`\mu` Fieller's interval holds :math:`v`; the interval is
# the union of these over an interval for :math:`\mu`, found in the same way. A wrong
# :math:`\mu` moves the line by its squared error only, so a fifth of the risk is enough for it.


MEANS = 9
WIDEST = 1e150
"""How far bounds may be apart, and how close: the square is a float."""
HIGHEST = 0.25


@frozen(kw_only=True, slots=False)
class Variance(Weighted, Numeric):
    r"""The variance of the values that are not missing, with n (not n - 1) below the line.

    With weights it is :math:`\sum w(x - m)^2 / \sum w`, with the weighted mean m.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence.
    *Checked by* ``test_variance_intervals_cover``. *Claim*: the planned error holds, for many
    records, whatever the data whose mean is 15% of the range inside the bounds. *Checked by*
    ``test_planned_variance_error``.

    Examples
    --------
    >>> 0.1 < Variance(bounds=(0, 10), epsilon=1).error(0.05, n=1000) < 0.3
    True
    """

    kind: ClassVar[str] = "variance"
    how = "discrete Laplace noise on three sums"
    called: ClassVar[str] = "variance"
    found_units: ClassVar[str] = "squared found widths"
    text: ClassVar[str] = "Compute the variance of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c age --bounds 0 120 --step 1 --epsilon 0.5",
        "--bounds 0 120 --n 100000 --epsilon 0.5",
    )

    @cached_property
    def three(self) -> ThreeSums:
        return ThreeSums(
            last=self.last, epsilon=self.epsilon, relation=self.relation, rows=self.copies
        )

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.three.mechanism.parts

    def check(self) -> None:
        _ = self.three.mechanism, self._range

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        left = f"Missing values are excluded from the {self.called}."
        return (self.clipping, left, *self.weighing, *self.person)

    @property
    def display(self) -> Display:
        return replace(super().display, populations=self.weights is None)

    def prefetch(self, data: Frame) -> None:
        data.prefetch(self.cell, most=2)

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        moments = [data.moments(self.cell, 2) for data in frames]
        return self.three.draw_all(moments, self.source)

    def value(self, drawn: Mapping[str, Any]) -> float:
        """Return the variance; that of the middle, if nothing seems to be there."""
        a, b, c = (int(drawn[name]) for name in NAMES)
        p = HIGHEST / 2
        if a + b + c > 0:
            p = min(max((4 * a * c - b * b) / (4 * (a + b + c) ** 2), 0.0), HIGHEST)
        return p * self._range

    @property
    def _range(self) -> float:
        """The squared width of the range, which must be a float; that of found bounds always is."""
        if not 1 / WIDEST <= self.width <= WIDEST:
            must = f"be {1 / WIDEST:g} to {WIDEST:g} apart for a variance"
            hint = "Measure the values in another unit."
            raise ParameterError("bounds", must, f"{self.width:g}", hint)
        return self.width**2

    def limits(self, release: Release, beta: float, of: str) -> Fractions:
        sums = self.three.in_records(release.drawn)
        low, high = self._sampled(sums, beta) if of == "population" else self._limits(sums, beta)
        return float(low) * self._range, float(min(high, HIGHEST)) * self._range

    def _limits(self, sums: Floats, beta: float) -> Fractions:
        for b in lower_risks(beta):
            means = np.linspace(*self._means(sums, 0.2 * b), MEANS).tolist()
            if spans := [span for m in means if (span := self._at(sums, m, 0.8 * b))]:
                return min(low for low, _ in spans), max(high for _, high in spans)
        return 0.0, HIGHEST

    def _means(self, sums: Floats, beta: float) -> Fractions:
        a, b, c = sums
        for risk in lower_risks(beta):
            q = mean_table(risk) * self.three.scale * (1 + 2 / FINE)
            if inside := accepted(b / 2 + c, -a - b / 2, q):
                return inside
        return 0.0, 1.0

    def _at(self, sums: Floats, m: float, beta: float) -> Fractions | None:
        """Return the ends of the mean square distance from ``m``, as a fraction of the range."""
        at_0, at_1 = (float(_weights(m, v) @ sums) for v in (0.0, 1.0))
        weights = np.abs(_weights(m, KNOTS))
        q = laplace_quantile(weights, beta) * self.three.scale * (1 + 3 / FINE)
        return accepted(at_0, at_1, q)

    def _sampled(self, sums: Floats, beta: float) -> Fractions:
        """Return the ends of the law's variance: the mean square distance from the law's mean."""
        low, high = self._means(sums, 0.05 * beta)
        q = float(laplace_quantile([1.0, 1.0, 1.0], 0.1 * beta)) * self.three.scale
        n = max(float(sums.sum()) - q, 0.0)
        first, last = sampled(low, high, n, 0.3 * beta)
        ends = []
        for m in np.linspace(first, last, MEANS):
            most = max(m, 1 - m) ** 2
            span = self._at(sums, float(m), 0.1 * beta) or (0.0, 1.0)
            down, up = sampled(min(span[0] / most, 1), min(span[1] / most, 1), n, 0.5 * beta)
            ends.append((down * most, up * most))
        return min(a for a, _ in ends), min(max(b for _, b in ends), HIGHEST)

    @property
    def span(self) -> tuple[float, float]:
        return 0.0, self.widest

    @property
    def widest(self) -> float:
        return HIGHEST * self._range

    def planned(self, beta: float, n: int | None) -> float:
        """Return the error for values that all lie 15% of the range inside the bounds."""
        n = self.in_units(self.public_n(n))

        def noisy(e: float) -> float:
            weights = np.abs(_weights(PLANNED, e))
            return float(laplace_quantile(weights, beta)) * self.three.scale * (1 + 3 / FINE) / n

        return least_fixed(noisy, HIGHEST) * self._range


@frozen(kw_only=True, slots=False)
class Std(Variance):
    r"""The standard deviation: the square root of the variance, with its intervals.

    Notes
    -----
    *Claim*: the planned error holds whenever that of the variance does, since
    :math:`|\sqrt a - \sqrt b| \le \sqrt{|a - b|}`. *Checked by* ``test_the_planned_error_of_std``.

    Examples
    --------
    >>> release = Std(bounds=(0, 10), epsilon=1).release([0, 10] * 5000)
    >>> abs(release.value - 5) < 0.1
    True
    """

    kind: ClassVar[str] = "std"
    called: ClassVar[str] = "standard deviation"
    found_units: ClassVar[str] = "found widths"
    text: ClassVar[str] = "Compute the standard deviation of a column."

    def value(self, drawn: Mapping[str, Any]) -> float:
        return sqrt(super().value(drawn))

    def limits(self, release: Release, beta: float, of: str) -> Fractions:
        low, high = super().limits(release, beta, of)
        return sqrt(max(low, 0.0)), sqrt(high)

    @property
    def widest(self) -> float:
        return self.width / 2

    def planned(self, beta: float, n: int | None) -> float:
        return sqrt(super().planned(beta, n))


def _weights(m: float, v: float | Floats) -> Floats:
    """Return what the three sums weigh in the sum of (u - m)^2 - v."""
    return np.stack((m * m - v, -m * (1 - m) - v, (1 - m) ** 2 - v), -1)


@lru_cache(64)
def mean_table(beta: float) -> Floats:
    """Return the quantiles at `KNOTS` of the line of the mean, for noises of scale 1."""
    p = KNOTS
    return laplace_quantile(np.abs(np.stack((p, 0.5 - p, 1 - p), -1)), beta)
