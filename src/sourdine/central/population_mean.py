r"""A mean with its variance beside it, for intervals about the law that the records come from.

*The number of records is private*: `ThreeSums`, whose line is :math:`M - \mu N` with
:math:`M = B/2 + C`, and :math:`\mu^2A - \mu(1-\mu)B + (1-\mu)^2C = \sum(u_i - \mu)^2`. Its noise
has the variance of a sum and a count (`sourdine.central.ratio`) times
:math:`1 + (\frac12-\mu)^2/(\mu^2 + (1-\mu)^2)`: 1 in the middle of the range, 1.25 at its ends.

*It is public*: :math:`T = \sum u` and :math:`W = \sum u(1-u)`. If a record moves by
:math:`d = |u - u'|`, the two move by :math:`d + d|1 - u - u'| \le d(2 - d) \le 1`, so noise of
scale :math:`1/\varepsilon` on each covers both: the variance costs nothing. A missing value is
:math:`u = 1/2`. Here :math:`\sum(u_i-\mu)^2 = T - W - 2\mu T + n\mu^2`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sourdine.central.intervals import (
    FINE,
    KNOTS,
    accepted,
    laplace_quantile,
    least_fixed,
    lower_risks,
)
from sourdine.central.population import MomentEvidence, normal, proved
from sourdine.central.ratio import PLANNED
from sourdine.central.together import Together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.central.three_sums import ThreeSums
    from sourdine.noise import Source
    from sourdine.privacy import Relation

    Floats = NDArray[np.float64]
    Fractions = tuple[float, float]

__all__ = ["OfPrivateNumber", "OfPublicNumber", "PopulationMean"]


class PopulationMean(ABC):
    """A mean as a fraction of the range, with what is known of its law."""

    @property
    @abstractmethod
    def mechanism(self) -> Together:
        """What draws it."""

    @abstractmethod
    def draw(self, records: int, moments: Sequence[int], source: Source) -> dict[str, Any]:
        """Return every number drawn, from the sums of powers of ticks."""

    @abstractmethod
    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        """Return what was drawn, a record being 1; None if there seem to be no records."""

    @abstractmethod
    def error(self, beta: float, n: int) -> float:
        """Return the error, as a fraction of the range."""

    @abstractmethod
    def quantiles(self, beta: float) -> Floats:
        """Return what the line's noise passes at `KNOTS`."""

    def fraction(self, drawn: Mapping[str, Any]) -> float:
        """Return the mean; the middle, if nothing seems to be there."""
        seen = self.evidence(drawn)
        return 0.5 if seen is None else min(max(seen.at_0 / (seen.at_0 - seen.at_1), 0.0), 1.0)

    def limits(self, drawn: Mapping[str, Any], beta: float, of: str) -> Fractions:
        """Return the ends of the sample's mean, of the law's, or of that if sums are normal."""
        seen = self.evidence(drawn)
        if seen is None:
            return 0.0, 1.0
        ends = {"sample": self._of_sample, "population": proved, "normal": normal}[of]
        low, high = ends(seen, beta)
        p = self.fraction(drawn)
        return min(low, p), max(high, p)

    def _of_sample(self, seen: MomentEvidence, beta: float) -> Fractions:
        for risk in lower_risks(beta):
            if inside := accepted(seen.at_0, seen.at_1, self.quantiles(risk)):
                return inside
        return 0.0, 1.0


@frozen(kw_only=True, slots=False)
class OfPrivateNumber(PopulationMean):
    """Three sums, from which mean, variance and number follow."""

    sums: ThreeSums

    @property
    def mechanism(self) -> Together:
        """What draws the three sums."""
        return self.sums.mechanism

    def draw(self, records: int, moments: Sequence[int], source: Source) -> dict[str, Any]:
        """Draw the three sums."""
        del records
        n, total, squares = moments
        return self.sums.draw_all([(n, total, squares)], source)[0]

    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        """Return the line and the sum of squares."""
        a, b, c = self.sums.in_records(drawn).tolist()
        n = a + b + c
        if n <= 0:
            return None
        m = b / 2 + c
        return MomentEvidence(
            at_0=m,
            at_1=m - n,
            square=(c, -(b + 2 * c), n),
            scale=self.sums.scale,
            weights=_three_weights,
            counted=(1.0, 1.0, 1.0),
        )

    def quantiles(self, beta: float) -> Floats:
        """Return what the line's noise passes."""
        return _table(beta) * self.sums.scale * (1 + 3 / FINE)

    def error(self, beta: float, n: int) -> float:
        """Return the error of a mean `PLANNED` inside the bounds."""

        def noisy(e: float) -> float:
            p = max(PLANNED - e, 0.0)
            weights = np.array([p, abs(0.5 - p), 1 - p])
            return float(laplace_quantile(weights, beta)) * self.sums.scale * (1 + 3 / FINE) / n

        return least_fixed(noisy, 1.0)


@frozen(kw_only=True, slots=False)
class OfPublicNumber(PopulationMean):
    """The sums T and W of ticks from 0 to ``last``, a missing value being in the middle.

    Parameters
    ----------
    last
        The highest tick.
    epsilon, relation, rows
        The promise.

    Notes
    -----
    *Claim*: the two sums move by at most 1 in all. *Checked by*
    ``test_two_sums_move_together``.
    """

    last: int
    epsilon: Fraction
    relation: Relation
    rows: int = 1

    @cached_property
    def boost(self) -> int:
        """What both sums are multiplied by, so that their lattice is fine beside the noise."""
        return max(1, ceil(FINE * self.epsilon / (4 * self.last**2)))

    @cached_property
    def filled(self) -> int:
        """What a record at the upper bound adds to T: in quarters of squared ticks."""
        return 4 * self.last**2 * self.boost

    @cached_property
    def mechanism(self) -> Together:
        """What draws the two sums."""
        return Together(
            epsilon=self.epsilon, sensitivity=self.rows * self.filled, relation=self.relation
        )

    @cached_property
    def scale(self) -> float:
        """The scale of the noise, in records."""
        return float(self.mechanism.scale / self.filled)

    def sums(self, records: int, n: int, total: int, squares: int) -> tuple[int, int]:
        """Return the two sums beneath the noise."""
        k, last, gone = self.boost, self.last, records - n
        crossed = last * total - squares
        return k * 2 * last * (2 * total + last * gone), k * (4 * crossed + last * last * gone)

    def draw(self, records: int, moments: Sequence[int], source: Source) -> dict[str, Any]:
        """Draw the two sums."""
        n, total, squares = moments
        given = self.sums(records, n, total, squares)
        first, second = self.mechanism.release(given, source=source).value
        return {"total": int(first), "crossed": int(second), "records": records}

    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        """Return the line and the sum of squares."""
        n = drawn["records"]
        if not n:
            return None
        t, w = drawn["total"] / self.filled, drawn["crossed"] / self.filled
        return MomentEvidence(
            at_0=t,
            at_1=t - n,
            square=(t - w, -2 * t, float(n)),
            scale=self.scale,
            weights=_two_weights,
            n=n,
        )

    def quantiles(self, beta: float) -> Floats:
        """Return what the line's noise passes, the same everywhere."""
        return np.full(len(KNOTS), float(laplace_quantile([1.0], beta)) * self._step)

    def error(self, beta: float, n: int) -> float:
        """Return the error among n records."""
        return min(float(laplace_quantile([1.0], beta)) * self._step / n, 1.0)

    @property
    def _step(self) -> float:
        return self.scale * (1 + 1 / FINE)


def _three_weights(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return what the noises on A, B and C weigh in the line and in the sum of squares."""
    rest = 1 - low
    middle = np.maximum(np.abs(0.5 - low), np.abs(0.5 - high))
    return (
        np.stack((high, middle, rest), -1),
        np.stack((high * high, high * rest, rest * rest), -1),
    )


def _two_weights(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return what the noises on T and W weigh in the line and in the sum of squares."""
    one = np.ones_like(low)
    tilted = np.maximum(np.abs(1 - 2 * low), np.abs(1 - 2 * high))
    return one[..., None], np.stack((tilted, one), -1)


@lru_cache(64)
def _table(beta: float) -> Floats:
    """Return the quantiles of the line's noise at `KNOTS`, for noises of scale 1."""
    p = KNOTS
    return laplace_quantile(np.abs(np.stack((p, 0.5 - p, 1 - p), -1)), beta)
