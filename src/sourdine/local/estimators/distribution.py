"""Quantiles and shares of a number that people reported by a randomiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sourdine.exact import integer, one_of, probability
from sourdine.local.estimators.bayes import em
from sourdine.local.estimators.channel import channel
from sourdine.local.estimators.numeric import NumericEstimate, read_tally
from sourdine.local.estimators.ramps import ramps
from sourdine.release import SHOWN, read_confidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number
    from sourdine.grid import Grid
    from sourdine.local.estimators.channel import Numeric, Score
    from sourdine.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "DistributionEstimate",
    "QuantileEstimate",
    "distribution",
    "quantiles",
]

Method = Literal["ems", "em", "raw"]
MANY = 64
"""From this many nodes on neighbours are alike enough to be smoothed."""


def quantiles(
    report: Numeric, tally: ArrayLike, grid: Grid, q: Number | Sequence[Number]
) -> Release:
    """Estimate quantiles of the people's numbers from their reports.

    Parameters
    ----------
    report
        The randomiser that drew the reports; `square_wave` tells most.
    tally
        Its ``tally(reports)``, of all people.
    grid
        The lattice of the numbers, whose highest tick is that of the randomiser.
    q
        Of which orders, from 0 to 1: one, or several.

    Returns
    -------
    Release
        The quantiles of the most likely distribution, smoothed if the grid is fine, and moved
        into their 95 % intervals. These assume nothing of the distribution and hold for all orders
        together.

    Notes
    -----
    *Claim*: intervals cover as they say. *Checked by* ``test_quantile_intervals_cover``.
    """
    many = tuple(q) if isinstance(q, (list, tuple, np.ndarray)) else (q,)
    read = tuple(float(probability(order, "q")) for order in many)
    estimate = QuantileEstimate(report=report, grid=grid, q=read)
    counts = read_tally(report, tally)
    found = estimate.quantiles(_likely(report, counts, _default(report)))
    low, high = estimate.ends(counts, read_confidence(SHOWN), "sample")
    return estimate.counted(counts, np.clip(found, low, high))


def distribution(
    report: Numeric,
    tally: ArrayLike,
    grid: Grid,
    *,
    method: Method | None = None,
    bins: int = 32,
) -> Release:
    """Estimate which share of the people's numbers falls into each of some bins.

    Parameters
    ----------
    report, tally, grid
        As for `quantiles`.
    method
        ``"em"``: the most likely shares; ``"ems"``: the same, smoothed at each step, the default
        on a fine grid; ``"raw"``: linear, with a known bias and noise, so some may be negative.
    bins
        How many bins of nearly equal length, at most; ``mechanism.edges`` holds their ends.

    Notes
    -----
    ``drawn["raw"]`` holds the raw shares with every method. *Claim*: intervals cover as they say.
    *Checked by* ``test_share_intervals_cover``.
    """
    if method is not None:
        one_of(method, "method", "ems", "em", "raw")
    how = method or _default(report)
    most = integer(bins, "bins", least=1)
    estimate = DistributionEstimate(report=report, grid=grid, method=how, bins=most)
    counts = read_tally(report, tally)
    raw = estimate.raw(counts)
    value = raw if how == "raw" else estimate.shares(_likely(report, counts, how))
    return estimate.counted(counts, value, raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileEstimate(NumericEstimate):
    """Quantiles from reports.

    Parameters
    ----------
    report, grid
        The randomiser, and the lattice of the numbers.
    q
        The orders of the quantiles.
    """

    kind: ClassVar[str] = "quantiles of reports"
    head: ClassVar[str] = "quantile"

    q: tuple[float, ...]

    def quantiles(self, f: Floats) -> Floats:
        """Return the quantiles of a distribution over the nodes.

        Where nodes are fewer than ticks, a node's share is spread evenly up to half-way to the next
        ones and the quantile is the nearest tick.
        """
        c, q = channel(self.report), np.array(self.q)
        cumulative = np.minimum(np.cumsum(f), 1.0)
        if c.every:
            tick = np.searchsorted(cumulative, q * (1 - 1e-12))
        else:
            ends = np.concatenate([c.nodes[:1], (c.nodes[1:] + c.nodes[:-1]) / 2, c.nodes[-1:]])
            tick = np.rint(np.interp(q, np.concatenate([[0.0], cumulative]), ends))
        return np.asarray(self.grid.values(np.minimum(tick, self.report.last).astype(np.int64)))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of all quantiles."""
        return self.ends(np.asarray(release.drawn["tally"], np.int64), beta, of)

    def ends(self, counts: Ints, beta: float, of: str) -> tuple[Floats, Floats]:
        r"""Return the ends of all quantiles.

        A quantile :math:`\xi` has :math:`F(\xi-) \le q \le F(\xi)`. So a node :math:`t_j` is
        possible if the upper end for the mean of :math:`R_j` is at least :math:`q` and the
        lower end for that of :math:`R_{j-\delta}` is at most :math:`q`.
        """
        each = beta / len(self.q)
        n = int(counts.sum())
        q = np.array(self.q)
        if not n:
            low, high = np.zeros(q.shape), np.full(q.shape, float(self.report.last))
        else:
            low, high = _possible(self.report, counts, q, each, of)
        ends = np.floor(low + 1e-9), np.ceil(high - 1e-9)
        first, last = (self.grid.values(np.asarray(end, np.int64)) for end in ends)
        return first, last

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        """Return the order of each quantile."""
        del release
        return {"q": self.q}

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the quantiles against their orders."""
        from sourdine.local.estimators import figures  # noqa: PLC0415 - matplotlib, late

        return figures.steps(self, release, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionEstimate(NumericEstimate):
    """Shares of bins from reports.

    Parameters
    ----------
    report, grid
        The randomiser, and the lattice of the numbers.
    method
        How the shares were found.
    bins
        How many bins there are at most.
    """

    kind: ClassVar[str] = "distribution of reports"
    head: ClassVar[str] = "share"
    even: ClassVar[bool] = True

    method: Method
    bins: int

    @property
    def starts(self) -> Ints:
        """The first node of each bin, and what comes after the last."""
        c = channel(self.report)
        d = len(c.nodes) if c.every else len(c.nodes) - 1
        count = min(self.bins, d)
        return np.array([d * i // count for i in range(count + 1)], np.int64)

    @property
    def edges(self) -> Floats:
        """The numbers at which bins begin, and the upper bound; each bin holds its beginning."""
        nodes = channel(self.report).nodes
        ticks = nodes[np.minimum(self.starts, len(nodes) - 1)]
        return float(self.grid.lower) + float(self.grid.step) * ticks

    def shares(self, f: Floats) -> Floats:
        """Return the shares of bins from those of nodes; one on an edge is halved."""
        if channel(self.report).every:
            return np.add.reduceat(f, self.starts[:-1])
        cells = (f[:-1] + f[1:]) / 2
        cells[0] += f[0] / 2
        cells[-1] += f[-1] / 2
        return np.add.reduceat(cells, self.starts[:-1])

    def bumps(self, n: int) -> tuple[Score, Score]:
        """Return the scores of functions below and above each bin's indicator."""
        found, begin, end = ramps(self.report, n), self.starts[:-1], self.starts[1:]
        length = found.length
        if channel(self.report).every:
            above = found.differences(end - 1, begin - length)
            return found.differences(end - length, begin - 1), above
        return found.differences(end - length, begin), found.differences(end, begin - length)

    def raw(self, counts: Ints) -> Floats:
        """Return the middle between the shares estimated from below and from above."""
        n = int(counts.sum())
        if not n:
            return np.full(len(self.starts) - 1, 1 / (len(self.starts) - 1))
        groups = channel(self.report).counts(counts)
        below, above = self.bumps(n)
        return np.asarray((below.mean(groups) + above.mean(groups)) / 2)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of all shares."""
        each = beta / (len(self.starts) - 1)
        counts = np.asarray(release.drawn["tally"], np.int64)
        n = int(counts.sum())
        if not n:
            return np.zeros(len(self.starts) - 1), np.ones(len(self.starts) - 1)
        groups = channel(self.report).counts(counts)
        below, above = self.bumps(n)
        low = below.mean(groups) - _half(below, groups, each, of)
        high = above.mean(groups) + _half(above, groups, each, of)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        """Return where each bin begins."""
        del release
        return {"begins at": self.edges[:-1].tolist()}

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the shares as bars with their intervals."""
        from sourdine.local.estimators import figures  # noqa: PLC0415 - matplotlib, late

        return figures.bars(self, release, **options)


def _possible(
    report: Numeric, counts: Ints, q: Floats, beta: float, of: str
) -> tuple[Floats, Floats]:
    """Return the first and the last tick that can be each quantile."""
    c, n = channel(report), int(counts.sum())
    found = ramps(report, n)
    d = len(c.nodes) - 1
    groups = c.counts(counts)
    mean, half = found.score.mean(groups), _half(found.score, groups, beta, of)
    zero, one = np.zeros(1), np.ones(1)
    upper = np.concatenate([(mean + half)[found.length - 1 :], one])  # ramps 0 to d
    lower = np.concatenate([zero, (mean - half)[: d + found.length - 1]])[: d + 1]
    first = np.argmax(upper >= q[:, None], axis=1)
    last = d - np.argmax((lower <= q[:, None])[:, ::-1], axis=1)
    if not c.every:  # a quantile between two nodes
        first, last = np.maximum(first - 1, 0), np.minimum(last + 1, d)
    return c.nodes[np.minimum(first, last)], c.nodes[np.maximum(first, last)]


def _half(score: Score, groups: Floats, beta: float, of: str) -> Floats:
    """Return half-widths; the noise given the answers is at most that of the worst tick."""
    variance = np.maximum(score.plain(groups), score.least)
    if of == "sample":
        variance = np.minimum(variance, score.most)
    return score.half(variance, int(groups.sum()), beta)


def _default(report: Numeric) -> Method:
    return "ems" if len(channel(report).nodes) >= MANY else "em"


def _likely(report: Numeric, counts: Ints, method: Method) -> Floats:
    """Return the shares of the nodes under which the reports are most likely."""
    c = channel(report)
    return em(c.rows.T, c.counts(counts), smooth=method == "ems")
