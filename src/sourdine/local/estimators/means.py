"""Means of a number from reports."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import hypot, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import fraction
from sourdine.grid import Grid
from sourdine.local.estimators.channel import TAUS, channel, solve
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow, UnbiasedReport, on_grid
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
from sourdine.results.answer import plain
from sourdine.results.release import Display, Estimator, Release

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from sourdine.local.estimators.channel import Numeric, Score
    from sourdine.privacy import Guarantee

    Floats = NDArray[np.float64]


# ---- What every estimate from reports is: public facts that explain a release --------------------


class Estimate(Estimator):
    """What reports tell. It says what a reader must know, and keeps its value in what was drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """The caveats: a function of public facts."""

    def value(self, drawn: Mapping[str, Any]) -> Any:
        """Return the estimate: a number, or an array of them."""
        found = drawn["estimate"]
        return found if isinstance(found, float) else np.asarray(found)

    def release(
        self, cost: Guarantee, drawn: Mapping[str, Any], grid: Grid | None = None
    ) -> Release:
        return Release(
            value=self.value(drawn),
            cost=cost,
            mechanism=self,
            caveats=self.caveats,
            drawn=drawn,
            grid=grid,
        )


# ---- What the estimates from reports of a number share -------------------------------------------


RANDOMISERS = {
    c.__name__: c for c in (BoundedLaplace, BoundedStaircase, Duchi, HybridReport, SlidingWindow)
}
PARAMETERS = ("epsilon", "last", "slide", "width", "method", "minimise")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericEstimate(Estimate):
    """An estimate from the tally of reports: public parameters that explain a release.

    Parameters
    ----------
    report
        The randomiser.
    grid
        The lattice of the numbers.
    """

    report: Numeric
    grid: Grid

    def __post_init__(self) -> None:
        on_grid(self.report, self.grid)

    @property
    def caveats(self) -> tuple[str, ...]:
        """The caveats: a function of the parameters alone."""
        if isinstance(self.report, (BoundedLaplace, BoundedStaircase)):
            name = type(self.report).__name__
            return (f"{name} tells little of a number: ask with HybridReport or square_wave.",)
        return ()

    def number(self, share: float) -> float:
        """Return the number at a share of the range."""
        return float(self.grid.lower) + share * float(self.grid.step * self.grid.last)

    def to_dict(self) -> dict[str, Any]:
        shown = [name for name in PARAMETERS if hasattr(self.report, name)]
        report = {name: _plain(getattr(self.report, name)) for name in shown}
        bounds = [str(Fraction(v)) for v in (self.grid.lower, self.grid.upper, self.grid.step)]
        own = plain({f.name: getattr(self, f.name) for f in fields(self)[2:]})
        return {"statistic": self.kind, "randomiser": type(self.report).__name__, **own} | {
            "report": report,
            "grid": bounds,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        given = {**facts["report"], "epsilon": fraction(facts["report"]["epsilon"])}
        report: Any = RANDOMISERS[facts["randomiser"]](**given)
        own = {f.name: facts[f.name] for f in fields(cls)[2:]}
        own = {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}
        return cls(report=report, grid=Grid(*map(fraction, facts["grid"])), **own)

    def counted(self, tally: NDArray[np.int64], estimate: Any, **more: object) -> Release:
        drawn = {"tally": tally, "reports": int(tally.sum()), "estimate": estimate, **more}
        return self.release(self.report.guarantee, drawn, self.grid)

    def __str__(self) -> str:
        return f"{self.kind}, {self.report}"


def read_tally(report: Numeric, tally: ArrayLike) -> NDArray[np.int64]:
    """Return a tally as whole numbers, refusing one of another length."""
    counts = np.asarray(tally)
    if counts.shape != (report.cells,) or counts.dtype.kind not in "iu":
        raise ParameterError(
            "tally",
            f"be {report.cells} counts of reports",
            f"{counts.dtype} values of shape {counts.shape}",
            "Pass the result of report.tally(reports).",
        )
    return counts.astype(np.int64)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value


# ---- The mean of a number that people reported by a randomiser -----------------------------------


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
    >>> from sourdine.local.numeric.duchi import Duchi
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

    @property
    def display(self) -> Display:
        return Display(head="mean")

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
    from scipy.special import betaincinv

    zeros, ones = (int(c) for c in counts)
    low = betaincinv(ones, zeros + 1, beta / 2) if ones else 0.0
    high = betaincinv(ones + 1, zeros, 1 - beta / 2) if zeros else 1.0
    (_, none), (_, every) = channel(report).rows
    return float((low - none) / (every - none)), float((high - none) / (every - none))
