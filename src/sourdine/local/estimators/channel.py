r"""What can be read off the reports of a number, linearly and for sure.

A report is a channel: :math:`P(y \mid x)` for ticks :math:`x` and reports :math:`y`. To estimate
the mean of :math:`h(x)` over the people who reported, average a *score* :math:`g(y)` over their
reports. With :math:`(Pg)(x) = \sum_y P(y \mid x) g(y)` its error is the noise, whose variance is
known, and a bias of at most :math:`\max_x |(Pg)(x) - h(x)|`, whatever people answered. Among all
scores, those on the path

.. math:: g_\tau = W^{-1}P^\top (P W^{-1} P^\top + \tau I)^{-1} h, \qquad
          W = \mathrm{diag}\Big(\frac1d \sum_x P(y \mid x)\Big)

have, for evenly spread answers, the least second moment for their squared bias; the one with the
shortest interval for :math:`n` reports is taken, by its worst variance and its worst bias.

There are up to about 500 *nodes* :math:`x`. If there are more ticks, the law of a tick
between two nodes is either a mixture of theirs (`UnbiasedReport`), so nothing changes, or within a
known total variation of the nearer one's, which adds to the bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.laws.law import gaussian_quantile
from sourdine.local.numeric.sliding import UnbiasedReport
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numeric = UnbiasedReport | BoundedLaplace | BoundedStaircase


NODES = 512
"""About how many ticks, and how many groups of reports, stand for all."""
TAUS = (*np.geomspace(1e-12, 1e-2, 21).tolist(), 0.03, 0.1, 0.3, 1.0)
"""The path of scores, in parts of the greatest eigenvalue; the first is as good as 0."""
TYPICAL = 2.0
"""Scores are chosen for the sum of this many standard deviations and the bias."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Channel:
    """The laws of a report at some ticks, with what their inversion needs.

    Parameters
    ----------
    nodes
        The ticks, or positions between them, from 0 to the highest tick.
    rows
        The probabilities of the groups of reports, a row for each node.
    first
        The first cell of the tally in each group.
    every
        Is every tick a node?
    reach
        How far the nearest node can be, in ticks; 0 if every tick is a node or its law a mixture
        of two nodes'.
    drift
        The total variation between the laws of neighbouring ticks, at most.
    """

    nodes: Floats
    rows: Floats
    first: NDArray[np.int64]
    every: bool
    reach: int
    drift: float
    eigenvalues: Floats
    vectors: Floats

    def counts(self, tally: object) -> Floats:
        """Return how many reports fell into each group."""
        return np.add.reduceat(np.asarray(tally, np.float64), self.first)

    def path(self, h: Floats, tau: float) -> Floats:
        """Return the scores of functions at the nodes, columns of ``h``, at one point of the path.

        A constant needs no score, so only what differs from the middle is shrunk.
        """
        middle = (h.max(axis=0) + h.min(axis=0)) / 2
        shrink = self.eigenvalues + tau * self.eigenvalues[-1]
        inner = (self.vectors.T @ (h - middle)).T / shrink
        return np.asarray(
            middle + ((self.vectors @ inner.T).T @ self.rows / self.rows.mean(axis=0)).T
        )

    def score(self, g: Floats, h: Floats, steep: float) -> Score:
        """Return scores with what can be said of them: their bias and their variance.

        Parameters
        ----------
        g, h
            The scores, and the functions at the nodes that they estimate: one, or a column each.
        steep
            By how much a function changes from a tick to the next, at most.
        """
        mean, square = self.rows @ g, self.rows @ (g * g)
        variance = np.maximum(square - mean * mean, 0)
        third = np.abs(self.rows @ g**3 - mean * (3 * square - 2 * mean * mean))
        skew = np.divide(third, variance, out=np.zeros_like(third), where=variance > 1e-12)
        span = np.ptp(g, axis=0)
        rounding = 1e-12 * (1 + span)
        bias = np.abs(mean - h).max(axis=0) + self.reach * (steep + self.drift * span) + rounding
        between = (np.diff(mean, axis=0) ** 2).max(axis=0) / 4  # of a mixture of two nodes
        lift = self.reach * self.drift * span**2 if self.reach else 0.0 if self.every else between
        return Score(
            g=g,
            bias=bias,
            least=variance.min(axis=0),
            most=variance.max(axis=0) + lift,
            skew=skew.max(axis=0),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Score:
    """Scores of reports, for one function or for several, a column each.

    Parameters
    ----------
    g
        A number for each group of reports.
    bias
        How far the mean score of a tick can be from the function, at most.
    least, most
        The variance of a report's score, for the best and the worst tick.
    skew
        The greatest third central moment of a tick's score, over its variance.
    """

    g: Floats
    bias: Floats
    least: Floats
    most: Floats
    skew: Floats

    def mean(self, counts: Floats) -> Floats:
        return np.asarray(counts @ self.g / counts.sum())

    def plain(self, counts: Floats) -> Floats:
        """Return the variance of the scores among the reports, with one degree of freedom less."""
        n = counts.sum()
        off = self.g - self.mean(counts)
        return np.asarray(counts @ (off * off) / max(n - 1, 1))

    def half(self, variance: Floats | float, n: int, beta: float) -> Floats:
        r"""Return the half-width of an interval for a mean of ``n`` scores of this variance.

        The quantile :math:`z` of the normal law, with the first term of Cornish and Fisher for the
        skewness of a score with rare outliers, and the bias:

        .. math:: \frac{z\sigma}{\sqrt n} + \frac{|z^2-1|}{6n}\frac{|\kappa_3|}{\sigma^2}
                  + \text{bias}.
        """
        z = gaussian_quantile(beta)
        return z * np.sqrt(variance / n) + abs(z * z - 1) / (6 * n) * self.skew + self.bias


def solve(c: Channel, h: Floats, n: float, steep: float) -> tuple[Score, float]:
    """Return the score of a function at the nodes for about ``n`` reports, and its tau."""

    def tried(tau: float) -> tuple[float, Score, float]:
        score = c.score(c.path(h, tau), h, steep)
        return TYPICAL * sqrt(float(score.most) / max(n, 1)) + float(score.bias), score, tau

    _, score, tau = min((tried(tau) for tau in TAUS), key=lambda found: found[0])
    return score, tau


@lru_cache(16)
def channel(report: Numeric) -> Channel:
    """Return the channel of a numeric randomiser.

    Examples
    --------
    >>> from sourdine.local.numeric.sliding import square_wave
    >>> c = channel(square_wave(1, 20))
    >>> c.rows.shape, c.every
    ((21, 31), True)
    """
    if isinstance(report, UnbiasedReport):
        nodes, first, reach, drift = report.nodes(), np.arange(report.cells), 0, 0.0
        rows = report.rows()
    elif isinstance(report, (BoundedLaplace, BoundedStaircase)):
        ticks = _spaced(report.last, min(report.last, NODES))
        first = _spaced(report.cells, min(report.cells, NODES))[:-1]
        ends = np.append(first[1:] * report.block, report.codes) - 1
        rows = np.array([np.diff(report.law(x).cdf(ends), prepend=0.0) for x in ticks.tolist()])
        nodes, reach, drift = ticks.astype(float), int(np.diff(ticks).max()) // 2, _drift(report)
    else:
        raise ParameterTypeError(
            "report",
            "be a randomiser of numbers",
            kind(report),
            "Use frequencies(...) for categories.",
        )
    a = (rows / rows.mean(axis=0)) @ rows.T
    eigenvalues, vectors = np.linalg.eigh((a + a.T) / 2)
    return Channel(
        nodes=nodes,
        rows=rows,
        first=first,
        every=len(nodes) == report.last + 1,
        reach=reach,
        drift=drift,
        eigenvalues=np.maximum(eigenvalues, 0),
        vectors=vectors,
    )


def _drift(report: BoundedLaplace | BoundedStaircase) -> float:
    r"""Return a bound of the total variation between the laws of neighbouring ticks.

    Bounded Laplace: both :math:`|y - x|` and the normaliser move the log probability by at most
    :math:`\lambda` each, so it is :math:`\tanh\lambda \le \lambda` at most. Staircase: one tick
    enters and one leaves *near*, and the normaliser moves by one tick's weight.
    """
    if isinstance(report, BoundedLaplace):
        return float(report.decay)
    b, near = exp(-float(report.level)), report.near(0)[1]
    return 1.5 * (1 - b) / (near + (report.last + 1 - near) * b)


def _spaced(last: int, steps: int) -> NDArray[np.int64]:
    """Return whole numbers from 0 to ``last``, in steps of nearly equal length."""
    return np.array([last * i // steps for i in range(steps + 1)], np.int64)
