r"""Certain statements about a distribution function, from reports of a number.

A step cannot be read off noisy reports, a ramp can. With the nodes numbered, let
:math:`R_k(x)` be 1 up to node :math:`k`, fall by :math:`1/\delta` from a node to the next and be 0
from node :math:`k + \delta` on. Its mean over the people is between two values of their
distribution function, :math:`F(t_k) \le E R_k \le F(t_{k+\delta}-)`, and is estimated with a
known bias (`sourdine.local.estimators.channel`). The length :math:`\delta` is chosen from the
number of reports alone: a longer ramp has less noise and tells less exactly where.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.estimators.channel import TYPICAL, Channel, Score, channel, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.estimators.channel import Numeric

    Floats = NDArray[np.float64]

__all__ = ["Ramps", "ramps"]

LENGTHS = 12
"""How many lengths are tried."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ramps:
    """The scores of all ramps of one length.

    Parameters
    ----------
    length
        The length of a ramp, in nodes.
    score
        One column for each ramp, from ``1 - length`` to the last but one node.
    """

    channel: Channel
    length: int
    score: Score

    def scores(self, k: NDArray[np.int64]) -> Floats:
        """Return the scores of ramps, those that are 0 or 1 everywhere included."""
        inside = np.clip(k + self.length - 1, 0, self.score.g.shape[1] - 1)
        g = self.score.g[:, inside]
        return np.where(k <= -self.length, 0.0, np.where(k >= len(self.channel.nodes) - 1, 1.0, g))

    def bias(self, k: NDArray[np.int64]) -> Floats:
        """Return the bias of ramps."""
        inside = np.clip(k + self.length - 1, 0, self.score.g.shape[1] - 1)
        sure = (k <= -self.length) | (k >= len(self.channel.nodes) - 1)
        return np.where(sure, 0.0, self.score.bias[inside])

    def differences(self, k: NDArray[np.int64], less: NDArray[np.int64]) -> Score:
        """Return the scores of differences of ramps: bumps."""
        g = self.scores(k) - self.scores(less)
        found = self.channel.score(g, self.channel.rows @ g, 0.0)
        bias = self.bias(k) + self.bias(less)
        return Score(g=g, bias=bias, least=found.least, most=found.most, skew=found.skew)


@lru_cache(4)
def ramps(report: Numeric, n: int) -> Ramps:
    """Return the ramps that serve ``n`` reports best, where answers are evenly spread."""
    c = channel(report)
    d = len(c.nodes) - 1
    gap = report.last / d

    def tried(length: int) -> tuple[float, int, float]:
        middle = _ramps(d, length, np.array([(d - length) // 2]))[:, 0]
        score, tau = solve(c, middle, n, 1 / (length * gap))
        noise = TYPICAL * sqrt(float(score.most) / max(n, 1)) + float(score.bias)
        return noise + length / d, length, tau

    lengths = sorted({round(v) for v in np.geomspace(1, max(d / 2, 1), LENGTHS)})
    _, length, tau = min(tried(length) for length in lengths)
    h = _ramps(d, length, np.arange(1 - length, d))
    return Ramps(channel=c, length=length, score=c.score(c.path(h, tau), h, 1 / (length * gap)))


def _ramps(d: int, length: int, k: NDArray[np.int64]) -> Floats:
    """Return ramps at the nodes, a column each."""
    return np.clip((k + length - np.arange(d + 1)[:, None]) / length, 0.0, 1.0)
