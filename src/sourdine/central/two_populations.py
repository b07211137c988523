r"""How far the means of two laws are apart, from independent noisy sums of records of each.

With :math:`z_j = \sum_i(u_{ij} - \mu_j) + \text{noise}_j` and the noisy numbers :math:`N_j`,

.. math:: \frac{M_1}{N_1} - \frac{M_2}{N_2} - (\mu_1 - \mu_2)
          = \frac{z_1}{n_1} - \frac{z_2}{n_2}
          + \frac{z_1}{n_1}\Bigl(\frac{n_1}{N_1} - 1\Bigr)
          - \frac{z_2}{n_2}\Bigl(\frac{n_2}{N_2} - 1\Bigr).

The first two terms are one sum of independent, centred numbers: at the true means, numbers and
variances :math:`V_j` it passes t with probability :math:`\beta'` at most, t the less of Chernoff's
bound and of Berry and Esseen's for unequal laws (0.56 times the largest summand over the standard
deviation). The rest is of second order, and is bounded by what is known of each group alone. All
that is known holds at once but for the parts of :math:`\beta` below: an interval of each mean, the
ends of each V over it, and those of each n. At the true values t is a number, and it only grows
when these are replaced by their ends.

References: I. Shevtsova, "An improvement of convergence rate estimates in the Lyapunov theorem",
Doklady Mathematics 82, 2010 (0.5600 for unequal laws).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.population import LAMBDAS, passed, proved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.central.population import SumEvidence

    Fractions = tuple[float, float]

__all__ = ["proved_apart"]

OWN, ABOVE, BELOW, NUMBER = 0.025, 0.05, 0.025, 0.025
"""The parts of the risk for each group's own interval, the ends of its V, and its number."""
REST = 1 - 2 * (OWN + ABOVE + BELOW + NUMBER)
UNEQUAL = 0.56


class _Known:
    """What is known of one group, all of it at once but for its parts of the risk."""

    def __init__(self, evidence: SumEvidence, beta: float) -> None:
        self.seen = evidence.at_0 - evidence.at_1
        self.estimate = evidence.at_0 / self.seen
        self.low, self.high = proved(evidence, OWN * beta)
        low, high = np.array([self.low]), np.array([self.high])
        upper, lower = evidence.spread(low, high, ABOVE * beta, BELOW * beta)
        self.upper, self.lower = float(upper[0]), float(lower[0])
        self.least, self.most = evidence.number(NUMBER * beta)
        self.noise = evidence.noise(low, high)[0]

    @property
    def furthest(self) -> float:
        """How far a record can be from the mean."""
        return max(self.high, 1 - self.low)

    @property
    def second_order(self) -> float:
        """The mean's error times that of the number."""
        error = max(abs(self.estimate - self.low), abs(self.estimate - self.high))
        return error * max(self.most - self.seen, self.seen - self.least) / self.least


def proved_apart(first: SumEvidence, second: SumEvidence, beta: float) -> Fractions:
    """Return the ends of the first law's mean minus the second's, whatever the laws."""
    a, b = _Known(first, beta), _Known(second, beta)
    outer = a.low - b.high, a.high - b.low
    if min(a.least, b.least) <= 0:
        return outer
    d, more = a.estimate - b.estimate, a.second_order + b.second_order
    low = d - _reach((a, b), (1 - a.low, b.high), beta) - more
    high = d + _reach((a, b), (a.high, 1 - b.low), beta) + more
    return max(outer[0], low), min(outer[1], high)


def _reach(groups: Sequence[_Known], far: Fractions, beta: float) -> float:
    r"""Return what the sum of both passes, towards records at most ``far`` away in each group.

    The lower end is as far away as the sum passes upwards: with large records of the first group,
    :math:`1 - \mu_1` above their mean, and small ones of the second, :math:`\mu_2` below it.
    """
    risk = REST * beta / 2
    scales = np.concatenate([g.noise / g.least for g in groups])
    v = sum(g.upper / g.least**2 for g in groups)
    sides = zip(groups, far, strict=True)
    spreads = [(g.upper / g.least**2, max(r, 1e-9) / g.least) for g, r in sides]
    largest = max(r for _, r in spreads)
    rate = LAMBDAS * min(1 / scales.max(), 8 / largest)
    chance = sum(v / (r * r) * (np.expm1(rate * r) - rate * r) for v, r in spreads)
    noise = -np.log1p(-((rate[:, None] * scales) ** 2)).sum(-1)
    chernoff = float(((chance + noise - np.log(risk)) / rate).min())
    sd = sqrt(max(sum(g.lower / g.most**2 for g in groups), 1e-300))
    room = risk - UNEQUAL * max(g.furthest / g.least for g in groups) / sd
    near = passed(np.array([v]), scales[None, :], np.array([room]))
    return min(chernoff, float(near[0]))
