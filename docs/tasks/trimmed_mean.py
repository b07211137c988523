"""The mean of a column without its lowest and highest values."""

from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine.central.cdf import Cdf
from sourdine.central.statistic import Numeric
from sourdine.exact import number
from sourdine.parameters import kinds
from sourdine.parameters.kinds import WHAT, param


def read_trim(x: object) -> Fraction:
    return number(x, "trim", above=0, most=Fraction(49, 100), example=0.1)


@frozen(kw_only=True, slots=False)
class TrimmedMean(Numeric):
    r"""The mean of the values between the ``trim`` and the ``1 - trim`` quantile.

    With :math:`a` = ``trim`` and the distribution function :math:`F` on ticks 0 to :math:`L`,
    it is :math:`L - \sum_{t<L} g(F(t))` with
    :math:`g(y) = (\min(\max(y, a), 1 - a) - a)/(1 - 2a)`, so a released `Cdf` and its band give
    the value and its interval at no further cost.
    """

    kind: ClassVar[str] = "trimmed_mean"
    text: ClassVar[str] = "The mean of a column without its lowest and highest values."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c income --bounds 0 500000 --trim 0.1 --epsilon 1",
        "--bounds 0 500000 --trim 0.1 --n 100000 --epsilon 1",
    )
    trim: Fraction = field(
        default=Fraction(1, 10), converter=read_trim,
        metadata=param(kinds.PROBABILITY, "The share left out at each end.", group=WHAT),
    )  # fmt: skip
    how = "read off a noisy distribution function"

    @cached_property
    def cdf(self) -> Cdf:
        shared = ("bounds", "step", "column", "epsilon", "relation", "rows", "n", "source")
        return Cdf(**{name: getattr(self, name) for name in shared})

    def check(self) -> None:
        self.cdf.check()

    own_parts = property(lambda self: self.cdf.own_parts)
    caveats = property(lambda self: (self.clipping, *self.person))
    span = property(lambda self: (self.lowest, self.lowest + self.width))
    widest = property(lambda self: self.width)

    def draw(self, data: Any) -> dict[str, Any]:
        return self.cdf.draw(data)

    def value(self, drawn: Any) -> float:
        knots = self.cdf.knots(drawn)
        gaps, shares = np.diff(knots.at), knots.shares  # between knots, on a straight line
        return self._mean(gaps, shares[:-1] + np.diff(shares) * (gaps - 1) / (2 * gaps))

    def limits(self, release: Any, beta: float, of: str) -> tuple[float, float]:
        knots = self.cdf.knots(release.drawn)
        gaps, (low, high) = np.diff(knots.at), knots.band(beta, of)
        most = np.where(gaps == 1, high[:-1], high[1:])  # F rises: below the next knot's end
        return self._mean(gaps, most), self._mean(gaps, low[:-1])

    def _mean(self, gaps: Any, shares: Any) -> float:
        a = float(self.trim)
        g = (np.clip(shares, a, 1 - a) - a) / (1 - 2 * a)
        return self.lowest + self.width * float(1 - (gaps * g).sum() / self.last)

    def planned(self, beta: float, n: int | None) -> float:
        return min(self.width * self.cdf.planned(beta, n) / (1 - 2 * float(self.trim)), self.width)
