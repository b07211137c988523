"""The sum of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.central.lattice import Numeric
from sourdine.central.statistic import charged, no_population
from sourdine.mechanisms import Laplace
from sourdine.noise import SYSTEM
from sourdine.release import Release, read_confidence

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["Sum"]


@dataclass(frozen=True, kw_only=True)
class Sum(Numeric):
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
    """

    kind: ClassVar[str] = "sum"

    @cached_property
    def unit(self) -> Fraction:
        """The lattice's step, or the part of it that divides the lower bound too."""
        return self.grid.spacing / (self.grid.origin / self.grid.spacing).denominator

    @cached_property
    def mechanism(self) -> Laplace:
        """What draws it, in units."""
        p, q = self._whole()
        ends = [abs(p), abs(p + q * self.last)]
        span = max(*ends, q * self.last) if self.substitutes else max(ends)
        return Laplace(epsilon=self.epsilon, sensitivity=span * self.rows, relation=self.relation)

    def _whole(self) -> tuple[int, int]:
        u = self.unit
        return int(self.grid.origin / u), int(self.grid.spacing / u)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        return (self.clipping, "A missing value adds nothing.", *self.person)

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Add up and add the noise."""
        p, q = self._whole()
        n, total = self.moments(data, 1)
        units = p * n + q * total
        drawn = self.mechanism.release(units, source=source).value
        return Release(
            value=self._value(drawn),
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn={"units": drawn},
            grid=self.grid,
        )

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what the noise passes with probability ``beta``, whatever the data."""
        del n
        return float(Fraction(self.mechanism.error(beta)) * self.unit)

    def between(self, release: Release, confidence: Number, of: str) -> tuple[Any, Any]:
        """Return the sum plus and minus the noise; a population has no sum."""
        no_population(self.kind, of)
        half = int(self.mechanism.error(read_confidence(confidence)))
        units = release.drawn["units"]
        return self._value(units - half), self._value(units + half)

    def _value(self, units: int) -> int | float:
        exact = units * self.unit
        return int(exact) if self.grid.integral else float(exact)
