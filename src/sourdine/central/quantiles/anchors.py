r"""Few quantiles drawn, many published: for data too small for all of them.

A joint draw wants some :math:`16/\varepsilon` records and more between neighbouring quantiles.
Where there are fewer, drawing fewer quantiles (*anchors*) with the whole budget and interpolating
the others errs less than drawing all. Interpolation is a function of what was drawn and of public
bounds, so it costs nothing.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.joint import JointFree
from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.laws import Law
    from sourdine.noise import Source
    from sourdine.privacy import Part

__all__ = ["Anchors", "anchors_for"]

KAPPA = 16
LEAST = 3
MOST_JOINT = 40
"""How many quantiles one joint draw takes."""


def anchors_for(m: int, records: float, epsilon: float) -> int:
    r"""Return how many of m quantiles to draw for about so many records.

    .. math:: m_0 = n\varepsilon/2\kappa - 1, \qquad \kappa = 16,

    within 3 and 40: :math:`\kappa` from 12 to 24 err about the same, less fails on wide bounds.
    """
    return max(LEAST, min(m, MOST_JOINT, round(records * epsilon / (2 * KAPPA)) - 1))


def _anchors(x: int) -> int:
    return integer(x, "anchors", least=1)


@frozen(kw_only=True)
class Anchors(QuantileMechanism):
    r"""`JointFree` on some of the quantiles, linear interpolation for the others.

    Beyond the outermost anchors the milder of two continuations is taken: the straight line to the
    bound, and the exponential tail through the last two anchors.

    Parameters
    ----------
    anchors
        How many quantiles are drawn, at least 2.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, that of the joint draw: all else is a
    function of it. *Checked by* ``test_anchors_law_keeps_the_claim`` and
    ``test_anchors_constant_cannot_be_raised``.

    Examples
    --------
    >>> percentiles = Anchors(epsilon=1, q=[i / 100 for i in range(1, 100)], cells=1000, anchors=3)
    >>> [float(q) for q in percentiles.drawn.orders]
    [0.25, 0.5, 0.75]
    """

    anchors: int = field(converter=_anchors)

    def check(self) -> None:
        """Refuse more anchors than quantiles, or one alone."""
        m, count = len(self.orders), self.anchors
        if not 2 <= count <= m:
            raise ParameterError(
                "anchors",
                "be from 2 to the number of quantiles",
                f"{count} for {m}",
                "Type {anchors}.",
                anchors=min(max(count, 2), m),
            )
        _ = self.drawn

    @cached_property
    def drawn(self) -> JointFree:
        """What draws the anchors."""
        m, count = len(self.orders), self.anchors
        places = np.rint(np.arange(1, count + 1) / (count + 1) * (m + 1) - 1).astype(int)
        chosen = [self.orders[i] for i in np.unique(np.clip(places, 0, m - 1))]
        return JointFree(
            epsilon=self.epsilon,
            q=chosen,
            cells=self.cells,
            relation=self.relation,
            rows=self.rows,
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of the joint draw.

        *Checked by* ``test_whole_curve[quantiles.anchors.add_remove]``.
        """
        return self.drawn.parts

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that the anchors mostly need."""
        return self.drawn.windows(n)

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw the anchors, after the total's number."""
        return self.drawn.one(x, source)

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        """Draw the anchors many times."""
        return self.drawn.many(x, size, source)

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the anchors and what lies between and beyond them."""
        q = np.array([float(order) for order in self.orders])
        known = np.array([float(order) for order in self.drawn.orders])
        ticks = np.asarray(drawn[1:], np.float64)
        last = self.cells - 1
        out = np.interp(q, [0.0, *known, 1.0], [0.0, *ticks, float(last)])
        below, above = q < known[0], q > known[-1]
        slope = (ticks[1] - ticks[0]) / np.log(known[1] / known[0])
        out[below] = np.maximum(out[below], ticks[0] - slope * np.log(known[0] / q[below]))
        slope = (ticks[-1] - ticks[-2]) / np.log((1 - known[-2]) / (1 - known[-1]))
        tail = ticks[-1] + slope * np.log((1 - known[-1]) / (1 - q[above]))
        out[above] = np.minimum(out[above], tail)
        return np.asarray(np.clip(np.rint(out), 0, last), np.int64)

    def support(self) -> NDArray[np.int64]:
        """Return everything that can be drawn: totals and anchors."""
        return self.drawn.support()

    def law(self, x: Points) -> Law:
        """Return the law of what is drawn, as rows of `support`."""
        return self.drawn.law(x)

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of what each output publishes."""
        ticks = [self.published(row) for row in self.support()[y]]
        return self.rank_errors(x, np.array(ticks))

    def total(self, drawn: Drawn) -> int:
        """Return the total beside the anchors."""
        return self.drawn.total(drawn)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return infinity: what lies between the anchors can be anything."""
        del beta, n
        return inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return that of the anchors."""
        return self.drawn.expected(beta, n)
