"""The mean of a number that people reported by a randomiser."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import hypot, log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sourdine.local.estimators.channel import TAUS, channel, solve
from sourdine.local.estimators.numeric import NumericEstimate, read_tally
from sourdine.local.numeric import UnbiasedReport

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.grid import Grid
    from sourdine.local.estimators.channel import Numeric, Score
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["MeanEstimate", "mean", "scores_of_share"]

CAUTION = 1.0
"""The noise is taken to be this many standard errors larger than its estimate."""


def mean(report: Numeric, tally: ArrayLike, grid: Grid) -> Release:
    """Estimate the mean of the people's numbers from their reports.

    Parameters
    ----------
    report
        The randomiser that drew the reports.
    tally
        Its ``tally(reports)``, of all people.
    grid
        The lattice of the numbers, whose highest tick is that of the randomiser.

    Returns
    -------
    Release
        The mean, which for few reports may lie outside the grid's bounds; its intervals do not.

    Notes
    -----
    *Claim*: unbiased for Duchi, the hybrid and all sliding windows. *Checked by*
    ``test_means_are_unbiased``. *Claim*: intervals of the sample cover as they say, whatever
    people answered, if 50 or more reported. *Checked by* ``test_mean_intervals_cover``. Those of a
    population cover too if answers that nobody in the sample has are rare and extreme. *Checked by*
    ``test_a_population_with_rare_extremes_is_covered``.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> from sourdine.local.numeric import Duchi
    >>> ages = Grid(0, 120, step=1)
    >>> release = mean(Duchi(epsilon=1, last=120), [600, 400], ages)
    >>> round(release.value, 1), [round(end, 1) for end in release.interval()]
    (34.0, [26.1, 42.1])
    """
    estimate = MeanEstimate(report=report, grid=grid)
    counts = read_tally(report, tally)
    return estimate.counted(counts, estimate.estimate(counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate(NumericEstimate):
    """A mean from reports: the average of each report's best score.

    Parameters
    ----------
    report
        The randomiser.
    grid
        The lattice of the numbers.
    """

    kind: ClassVar[str] = "mean of reports"
    head: ClassVar[str] = "mean"

    def estimate(self, counts: NDArray[np.int64]) -> float:
        """Return the estimate; of no reports, the middle of the range."""
        n = int(counts.sum())
        if not n:
            return self.number(0.5)
        share, _ = scores_of_share(self.report, n)
        return self.number(float(share.mean(channel(self.report).counts(counts))))

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
        """Return the ends of the mean of those who reported, or of the law they come from."""
        counts = np.asarray(release.drawn["tally"], np.int64)
        n = int(counts.sum())
        if not n:
            return self.number(0), self.number(1)
        if self.report.codes == 2:
            low, high = _of_bits(self.report, counts, beta)
        else:
            low, high = _of_scores(self.report, counts, beta, of)
        return self.number(min(max(low, 0), 1)), self.number(min(max(high, 0), 1))


@lru_cache(64)
def scores_of_share(report: Numeric, n: int) -> tuple[Score, Score]:
    """Return the scores of a tick's share of the range, and of its square.

    Reports that can be averaged have two unbiased scores of the share, the line through the
    reports and the one that is best for evenly spread answers: that with the smaller worst
    variance is taken.
    """
    c = channel(report)
    share = c.nodes / report.last
    if isinstance(report, UnbiasedReport):
        line = report.estimates(np.arange(report.codes)) / report.last
        both = [c.score(g, share, 1 / report.last) for g in (c.path(share, TAUS[0]), line)]
        first = min(both, key=lambda score: float(score.most))
    else:
        first, _ = solve(c, share, n, 1 / report.last)
    second, _ = solve(c, share**2, n, 2 / report.last)
    return first, second


def _of_scores(
    report: Numeric, tally: NDArray[np.int64], beta: float, of: str
) -> tuple[float, float]:
    r"""Return the ends by the normal law of a sum, plus the bias.

    The noise of a report's score :math:`g` has the variance :math:`E[g^2] - (Pg)^2(x)`: the mean
    of the first is seen, that of the second estimated by a score of its own. It is never less
    than that of the best tick, and never more than that of the worst.

    In a population some may have an extreme answer that nobody in the sample has. If they are a
    share :math:`u`, nobody of :math:`n` has it with probability
    :math:`(1-u)^n \le e^{-un}`. So at the level :math:`\beta` it is at most
    :math:`\ln(1/\beta)/n`, and moves the mean by that share of the way to the farther end.
    """
    counts, n = channel(report).counts(tally), int(tally.sum())
    first, second = scores_of_share(report, n)
    if of == "sample":
        u = first.g**2 - second.g
        level = float(counts @ u) / n
        noise = sqrt(max(float(counts @ (u - level) ** 2), 0.0)) / n
        variance = min(level + float(second.bias) + CAUTION * noise, float(first.most))
    else:
        variance = float(first.plain(counts))
    half = float(first.half(max(variance, float(first.least)), n, beta))
    centre = float(first.mean(counts))
    if of == "population":
        half = hypot(half, -log(beta) / n * max(centre, 1 - centre))
    return centre - half, centre + half


def _of_bits(report: Numeric, counts: NDArray[np.int64], beta: float) -> tuple[float, float]:
    r"""Return Clopper and Pearson's ends for the chance of a 1, as shares of the range.

    For independent bits of different chances both tails are at most those of the binomial law with
    their mean (W. Hoeffding, "On the distribution of the number of successes in independent
    trials", Ann. Math. Statist. 27, 1956), so the ends hold for a sample too.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - late, as everywhere

    zeros, ones = (int(c) for c in counts)
    low = betaincinv(ones, zeros + 1, beta / 2) if ones else 0.0
    high = betaincinv(ones + 1, zeros, 1 - beta / 2) if zeros else 1.0
    (_, none), (_, every) = channel(report).rows
    return float((low - none) / (every - none)), float((high - none) / (every - none))
