"""Means of a number from reports."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import exp, hypot, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import fraction, kind
from sourdine.grid import Grid
from sourdine.laws.law import gaussian_quantile
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow, UnbiasedReport, on_grid
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
from sourdine.results.answer import plain
from sourdine.results.release import Display, Estimator, Release

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from sourdine.privacy import Guarantee

    Floats = NDArray[np.float64]
    Numeric = UnbiasedReport | BoundedLaplace | BoundedStaircase


# ---- What can be read off the reports of a number, linearly and for sure -------------------------


NODES = 512  # about how many ticks, and how many groups of reports, stand for all
TAUS = (*np.geomspace(1e-12, 1e-2, 21).tolist(), 0.03, 0.1, 0.3, 1.0)
"""The path of scores, in parts of the greatest eigenvalue; the first is as good as 0."""
TYPICAL = 2.0  # scores are chosen for the sum of this many standard deviations and the bias


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Channel:
    """The laws of a report at some ticks, with what their inversion needs."""

    nodes: Floats  # the ticks, or positions between them, from 0 to the highest tick
    rows: Floats  # the probabilities of the groups of reports, a row for each node
    first: NDArray[np.int64]  # the first cell of the tally in each group
    every: bool  # is every tick a node?
    reach: int = 0  # how far the next node can be; 0 also if a law is a mixture of two nodes'
    drift: float = 0.0  # the total variation between the laws of neighbouring ticks, at most
    eigenvalues: Floats
    vectors: Floats

    @classmethod
    def of(cls, rows: Floats, **known: Any) -> Channel:
        a = (rows / rows.mean(axis=0)) @ rows.T
        eigenvalues, vectors = np.linalg.eigh((a + a.T) / 2)
        return cls(rows=rows, eigenvalues=np.maximum(eigenvalues, 0), vectors=vectors, **known)

    def counts(self, tally: object) -> Floats:
        return np.add.reduceat(np.asarray(tally, np.float64), self.first)

    def path(self, h: Floats, tau: float) -> Floats:
        """Return the scores of functions at the nodes, columns of ``h``, at one point of the path.

        A constant needs no score, so only what differs from the middle is shrunk.
        """
        middle = (h.max(axis=0) + h.min(axis=0)) / 2
        shrink = self.eigenvalues + tau * self.eigenvalues[-1]
        inner = (self.vectors.T @ (h - middle)).T / shrink
        spread = (self.vectors @ inner.T).T @ self.rows / self.rows.mean(axis=0)
        return np.asarray(middle + spread.T)

    def score(self, g: Floats, h: Floats, steep: float) -> Score:
        """Return the scores g of functions h at the nodes, with their bias and their variance.

        ``steep`` is by how much a function changes from a tick to the next, at most.
        """
        mean, square = self.rows @ g, self.rows @ (g * g)
        variance = np.maximum(square - mean * mean, 0)
        third = np.abs(self.rows @ g**3 - mean * (3 * square - 2 * mean * mean))
        skew = np.divide(third, variance, out=np.zeros_like(third), where=variance > 1e-12)
        span = np.ptp(g, axis=0)
        rounding = 1e-12 * (1 + span)
        bias = np.abs(mean - h).max(axis=0) + self.reach * (steep + self.drift * span) + rounding
        between = (np.diff(mean, axis=0) ** 2).max(axis=0) / 4  # of a mixture of two nodes
        lift = 0.0 if self.every else between
        if self.reach:
            lift = self.reach * self.drift * span**2
        least, most = variance.min(axis=0), variance.max(axis=0) + lift
        return Score(g=g, bias=bias, least=least, most=most, skew=skew.max(axis=0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Score:
    """Scores of reports, for one function or for several, a column each."""

    g: Floats  # a number for each group of reports
    bias: Floats  # how far the mean score of a tick can be from the function, at most
    least: Floats  # the variance of a report's score for the best tick
    most: Floats  # and for the worst
    skew: Floats  # the greatest third central moment of a tick's score, over its variance

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
    """Return the channel of a numeric randomiser."""
    if isinstance(report, UnbiasedReport):
        nodes, every = report.nodes(), np.arange(report.cells)
        whole = len(nodes) == report.last + 1
        return Channel.of(report.rows(), nodes=nodes, first=every, every=whole)
    if not isinstance(report, (BoundedLaplace, BoundedStaircase)):
        hint = "Use frequencies(...) for categories."
        raise ParameterTypeError("report", "be a randomiser of numbers", kind(report), hint)
    ticks = _spaced(report.last, min(report.last, NODES))
    first = _spaced(report.cells, min(report.cells, NODES))[:-1]
    ends = np.append(first[1:] * report.block, report.codes) - 1
    rows = np.array([np.diff(report.law(x).cdf(ends), prepend=0.0) for x in ticks.tolist()])
    return Channel.of(
        rows, nodes=ticks.astype(float), first=first, every=len(ticks) == report.last + 1,
        reach=int(np.diff(ticks).max()) // 2, drift=_drift(report),
    )  # fmt: skip


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


# ---- What every estimate from reports is: public facts that explain a release --------------------


class Estimate(Estimator):
    """What reports tell. It says what a reader must know, and keeps its value in what was drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """The caveats: a function of public facts."""

    def value(self, drawn: Mapping[str, Any]) -> Any:
        found = drawn["estimate"]
        return found if isinstance(found, float) else np.asarray(found)

    def release(
        self, cost: Guarantee, drawn: Mapping[str, Any], grid: Grid | None = None
    ) -> Release:
        return Release(
            value=self.value(drawn), cost=cost, mechanism=self, caveats=self.caveats, drawn=drawn,
            grid=grid,
        )  # fmt: skip


# ---- What the estimates from reports of a number share -------------------------------------------


RANDOMISERS: dict[str, Any] = {
    c.__name__: c for c in (BoundedLaplace, BoundedStaircase, Duchi, HybridReport, SlidingWindow)
}
"""What makes a randomiser of its stored parameters; one above this module enters itself."""
PARAMETERS = ("epsilon", "last", "slide", "width", "method", "minimise", "channel")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericEstimate(Estimate):
    """An estimate from the tally of reports: public parameters that explain a release."""

    report: Numeric
    grid: Grid

    def __post_init__(self) -> None:
        on_grid(self.report, self.grid)

    @property
    def caveats(self) -> tuple[str, ...]:
        if isinstance(self.report, (BoundedLaplace, BoundedStaircase)):
            name = type(self.report).__name__
            return (f"{name} tells little of a number: ask with HybridReport or square_wave.",)
        return ()

    def number(self, share: float) -> float:
        return float(self.grid.lower) + share * float(self.grid.step * self.grid.last)

    def to_dict(self) -> dict[str, Any]:
        known = {name: getattr(self.report, name, None) for name in PARAMETERS}
        report = {k: str(v) if k == "epsilon" else v for k, v in known.items() if v is not None}
        bounds = [str(Fraction(v)) for v in (self.grid.lower, self.grid.upper, self.grid.step)]
        own = plain({f.name: getattr(self, f.name) for f in fields(self)[2:]})
        name = type(self.report).__name__
        return {
            "statistic": self.kind, "randomiser": name, **own, "report": report, "grid": bounds
        }  # fmt: skip

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
        must, got = f"be {report.cells} counts of reports", f"{counts.dtype} values of shape"
        hint = "Pass the result of report.tally(reports)."
        raise ParameterError("tally", must, f"{got} {counts.shape}", hint)
    return counts.astype(np.int64)


# ---- The mean of a number that people reported by a randomiser -----------------------------------


CAUTION = 1.0  # the noise is taken to be this many standard errors larger than its estimate


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
    """A mean from reports: the average of each report's best score."""

    kind: ClassVar[str] = "mean of reports"
    display: ClassVar[Display] = Display(head="mean")

    def estimate(self, counts: NDArray[np.int64]) -> float:
        n = int(counts.sum())
        if not n:
            return self.number(0.5)
        share, _ = scores_of_share(self.report, n)
        return self.number(float(share.mean(channel(self.report).counts(counts))))

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
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
