"""How many records there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.central.statistic import Statistic, charged, no_population
from sourdine.mechanisms import Laplace
from sourdine.noise import SYSTEM
from sourdine.release import Release, read_confidence

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["Count"]


@dataclass(frozen=True, kw_only=True)
class Count(Statistic):
    r"""Count records, or the values of a column that are not missing.

    One person changes it by ``rows`` under either relation (under substitution a value may become
    missing), so the noise is discrete Laplace of scale ``rows``:math:`/\varepsilon`. The released
    count is a whole number and may be negative.

    Notes
    -----
    *Claim*: the error is that of the noise, no more and no less. *Checked by*
    ``test_count_error_is_that_of_the_noise``.

    Examples
    --------
    >>> Count(epsilon=1).error(0.05)
    3.0
    """

    kind: ClassVar[str] = "count"

    @cached_property
    def mechanism(self) -> Laplace:
        """What draws it."""
        return Laplace(epsilon=self.epsilon, sensitivity=self.rows, relation=self.relation)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        if self.column is None:
            return ("All records are counted, those with missing values too.", *self.person)
        return ("Records whose value is missing are not counted.", *self.person)

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Count and add the noise."""
        count = len(data) if self.column is None else int(data.distinct(self.column)[1].sum())
        value = self.mechanism.release(count, source=source).value
        return Release(
            value=value,
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn={"count": value},
        )

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what the noise passes with probability ``beta``, whatever the count."""
        del n
        return self.mechanism.error(beta)

    def between(self, release: Release, confidence: Number, of: str) -> tuple[Any, Any]:
        """Return the count plus and minus the noise; a population has no count."""
        no_population(self.kind, of)
        half = int(self.mechanism.error(read_confidence(confidence)))
        return max(release.value - half, 0), max(release.value + half, 0)
