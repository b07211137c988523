"""Compute the sum of a column."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import frozen

from sourdine.central.intervals import FINE
from sourdine.central.moments import noise_quantile
from sourdine.central.statistic import Numeric
from sourdine.central.weights import RISK, Stratified
from sourdine.mechanisms import Laplace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release


@frozen(kw_only=True, slots=False)
class Sum(Stratified, Numeric):
    r"""Add up the values of a column; a missing one adds nothing.

    On the lattice a value is :math:`u(p + q t)`, with :math:`t` its tick and whole numbers
    :math:`p, q` (:math:`u` is the step over the denominator of lower/step), so the sum is a whole
    number of units :math:`u`, and so is the noise.

    Notes
    -----
    *Claim*: with the bounds a and b one record added or removed moves the sum by at most
    :math:`\max(|a|, |b|)`; one replaced, or made missing, by
    :math:`\max(|a|, |b|, b - a)`. *Checked by*
    ``test_a_sum_moves_no_further_than_its_noise_covers``.

    Examples
    --------
    >>> Sum(bounds=(0, 100), step=1, epsilon=1).error(0.05)
    300.0
    >>> release = Sum(bounds=(0, 10), step=1, epsilon=1).release([1, 2, 3] * 1000)
    >>> abs(release.value - 6000) < 500
    True
    """

    kind: ClassVar[str] = "sum"
    centred: ClassVar[bool] = False
    found_units: ClassVar[str] = "found bounds"
    text: ClassVar[str] = "Compute the sum of a column."
    examples: ClassVar[tuple[str, str]] = (
        "visits.parquet -c cost --bounds 0 5000 --step 1 --unit patient --rows 3 --epsilon 1",
        "--bounds 0 5000 --step 1 --epsilon 1",
    )

    @property
    def display(self) -> Display:
        designed = self.strata is not None
        extra = ("population",) if designed else ()
        return replace(super().display, populations=designed, extra_intervals=extra)

    @cached_property
    def tick(self) -> Fraction:
        """The unit of what is drawn: u, times the step of weights."""
        return self.grid.step / self._whole[1] * self.weight_step

    @cached_property
    def mechanism(self) -> Laplace:
        p, q = self._whole
        ends = [abs(p), abs(p + q * self.last)]
        span = max(*ends, q * self.last) if self.substitutes else max(ends)
        return Laplace(
            epsilon=self.epsilon_of_answer, sensitivity=span * self.copies, relation=self.relation
        )

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return (*self.mechanism.parts, *self.design_parts)

    @cached_property
    def _whole(self) -> tuple[int, int]:
        """P and q: the unit is the part of the step that divides the lower bound too."""
        return (self.grid.lower / self.grid.step).as_integer_ratio()

    def check(self) -> None:
        _ = self.mechanism

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        return (self.clipping, "Missing values count as 0.", *self.weighing, *self.person)

    def prefetch(self, data: Frame) -> None:
        data.prefetch(self.cell, most=1)

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        p, q = self._whole
        moments = [data.moments(self.cell, 1) for data in frames]
        drawn = self.mechanism.release_all([p * n + q * t for n, t in moments], source=self.source)
        both = zip(drawn, self.draw_design(frames), strict=True)
        return [{"units": x, **design} for x, design in both]

    def value(self, drawn: Mapping[str, Any]) -> int | float:
        return self._sum(drawn["units"])

    def _sum(self, units: int) -> int | float:
        exact = units * self.tick
        return int(exact) if self.grid.integral and self.weight is None else float(exact)

    def planned(self, beta: float, n: int | None) -> float:
        return float(Fraction(self.mechanism.error(beta)) * self.tick)

    def limits(self, release: Release, beta: float, of: str) -> tuple[int | float, int | float]:
        half, units = int(self.mechanism.error(beta)), release.drawn["units"]
        if of == "population" and self.weight is not None and self.design is not None:
            # the sum is off by noise, and as the survey is drawn
            heaviest = float(self.weight.grid.upper / self.tick)
            x, y = (float(end) * heaviest for end in (self.grid.upper, self.grid.lower))
            variance = self.design.variance(release.drawn["strata"], x, y, RISK * beta)
            noise = np.array([float(self.mechanism.scale) * (1 + 1 / FINE)])
            half = ceil(noise_quantile(noise, variance, (1 - RISK) * beta))
        return self._sum(units - half), self._sum(units + half)
