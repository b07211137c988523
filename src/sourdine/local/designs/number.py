"""Numbers reported by a design for their distribution function."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.exact import integer, positive
from sourdine.laws import Law
from sourdine.local.designs.design import Design, design
from sourdine.local.estimators.channel import TAUS
from sourdine.local.numeric.sliding import UnbiasedReport
from sourdine.mechanisms.inputs import read_last
from sourdine.mechanisms.mechanism import Specimen, read_beta, register, settle
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source

    Floats = NDArray[np.float64]


FINEST = 32
"""The most nodes unless they are given: a design for as many is known, or takes a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedNumber(UnbiasedReport):
    r"""Round a tick at random to one of :math:`k` nodes, and report that by a design.

    The nodes are spread evenly from 0 to :math:`m`. A tick between two of them goes to one or the
    other so that its mean is the tick, so the law of a report is linear between nodes. The design
    is the best one for a distribution function at the nodes.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        The highest tick :math:`m`; inputs outside 0 to m count as the nearest end.
    categories
        :math:`k`; by default every tick is a node, up to 32.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, as every law is a mixture of the design's. *Checked by*
    ``test_exact_worst_case[number.design]``. *Claim*: `estimates` is unbiased with the `variance`
    given, for all ticks. *Checked by* ``test_numbers_are_unbiased``.

    Examples
    --------
    >>> report = DesignedNumber(epsilon=1, last=9, categories=4)
    >>> [round(float(report.law(x).mean()), 2) for x in (3, 4, 5, 6)]  # linear between nodes
    [5.01, 4.86, 4.71, 4.56]
    """

    epsilon: Number
    last: int
    categories: int | None = None
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon, last = positive(self.epsilon, "epsilon"), read_last(self.last, least=1)
        wanted = min(last + 1, FINEST) if self.categories is None else self.categories
        k = integer(wanted, "categories", least=2, most=min(last + 1, 256))
        settle(self, epsilon=epsilon, last=last, categories=k)
        settle(self, guarantee=Guarantee(epsilon, 0, LOCAL))

    @property
    def design(self) -> Design:
        """The design for the nodes."""
        return design("distribution", self.epsilon, categories=self._gaps + 1, progress=False)

    @property
    def _gaps(self) -> int:
        return int(self.categories or 2) - 1

    @property
    def codes(self) -> int:
        return self.design.codes

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Round each tick to a node at random, unless all are nodes, and report that."""
        place = codes * self._gaps
        if self._gaps < self.last:
            place = place + noise.uniform_below(self.last, codes.size, source=source)
        return self.design.reports(place // self.last, source)

    def law(self, x: int) -> Law:
        node, rest = divmod(x * self._gaps, self.last)
        weights = self.design.weights.astype(np.float64)
        mixed = weights[:, node] * (self.last - rest)
        if rest:
            mixed += weights[:, node + 1] * rest
        return Law.finite(np.log(mixed))

    def nodes(self) -> Floats:
        return np.linspace(0.0, self.last, self._gaps + 1)

    def rows(self) -> Floats:
        return self.design.rows()

    def estimates(self, reports: ArrayLike) -> Floats:
        """Return the unbiased scores of least variance for evenly spread ticks."""
        return _scores(self)[np.asarray(reports)]

    def variance(self, x: ArrayLike) -> Floats:
        """Return the variance of `estimates` for a tick, rounding included."""
        scores = _scores(self)
        second = np.interp(np.asarray(x, np.float64), self.nodes(), self.rows() @ scores**2)
        return np.asarray(second - np.asarray(x, np.float64) ** 2)

    def farthest(self) -> float:
        """Return how far the estimate from one report can be from any tick."""
        scores = _scores(self)
        return float(max(scores.max(), self.last - scores.min()) * (1 + 1e-12))

    def error(self, beta: Number = 0.05) -> float:
        """Return how far the estimate is off at most but for probability ``beta``, for any tick."""
        read_beta(beta)
        return self.farthest()


@lru_cache(64)
def _scores(report: DesignedNumber) -> Floats:
    from sourdine.local.estimators.channel import channel

    nodes = report.nodes()
    found = channel(report).path(nodes[:, None], TAUS[0])[:, 0]
    return np.asarray(found)


def _specimen(epsilon: Any) -> DesignedNumber:
    return DesignedNumber(epsilon=epsilon, last=9, categories=4)


register(Specimen(name="number.design", make=_specimen, inputs=tuple(range(10)), tight=True))
