"""Quantiles and shares of a number from reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sourdine.exact import integer, one_of, probability
from sourdine.local.estimators.means import (
    TYPICAL,
    Channel,
    NumericEstimate,
    Score,
    channel,
    read_tally,
    solve,
)
from sourdine.results import charts
from sourdine.results.charts import Chart, ChartAxis
from sourdine.results.release import SHOWN, Display, read_confidence
from sourdine.results.tables import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.local.estimators.means import Numeric
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


# ---- Certain statements about a distribution function, from reports of a number ------------------
#
# A step cannot be read off noisy reports, a ramp can. With the nodes numbered, let :math:`R_k(x)`
# be 1 up to node :math:`k`, fall by :math:`1/\delta` from a node to the next and be 0 from node
# :math:`k + \delta` on. Its mean over the people is between two values of their distribution
# function, :math:`F(t_k) \le E R_k \le F(t_{k+\delta}-)`, and is estimated with a known bias
# (`sourdine.local.estimators.means`). The length :math:`\delta` is chosen from the number of
# reports alone: a longer ramp has less noise and tells less exactly where.


LENGTHS = 12  # how many lengths are tried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ramps:
    """The scores of all ramps of one length."""

    channel: Channel
    length: int  # in nodes
    score: Score  # one column for each ramp, from ``1 - length`` to the last but one node

    def scores(self, k: Ints) -> tuple[Floats, Floats]:
        """Return the scores of ramps and their bias: those that are 0 or 1 everywhere have none."""
        inside = np.clip(k + self.length - 1, 0, self.score.g.shape[1] - 1)
        none, all_ = k <= -self.length, k >= len(self.channel.nodes) - 1
        g = np.where(none, 0.0, np.where(all_, 1.0, self.score.g[:, inside]))
        return g, np.where(none | all_, 0.0, self.score.bias[inside])

    def differences(self, k: Ints, less: Ints) -> Score:
        (one, bias), (other, more) = self.scores(k), self.scores(less)
        found = self.channel.score(one - other, self.channel.rows @ (one - other), 0.0)
        return replace(found, bias=bias + more)


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


def _ramps(d: int, length: int, k: Ints) -> Floats:
    """Return ramps at the nodes, a column each."""
    return np.clip((k + length - np.arange(d + 1)[:, None]) / length, 0.0, 1.0)


# ---- Iterative Bayes: the frequencies under which the reports at hand are most likely ------------


def em(
    matrix: ArrayLike,
    counts: ArrayLike,
    *,
    smooth: bool = False,
    change: float = 1e-3,
    most: int = 10_000,
) -> Floats:
    r"""Return the frequencies of the inputs, from counts of the reports, by EM.

    Each step splits every count :math:`c_y` over the inputs by Bayes' rule [1]_:

    .. math:: f_x \leftarrow f_x \sum_y \frac{c_y}{n} \frac{M_{yx}}{\sum_{x'} M_{yx'} f_{x'}}

    It starts from equal frequencies, which keeps what the reports cannot tell apart equal, and the
    likelihood never falls. With ``smooth`` each step ends with a mean of neighbours of weights 1/4,
    1/2, 1/4, the end cells being their own outer neighbours: EMS of [2]_, for ordered cells.

    Parameters
    ----------
    matrix
        :math:`M_{yx} = P(y \mid x)`, a row for each report; columns sum to 1.
    counts
        :math:`c_y`, how often each report occurred.
    smooth
        Average neighbouring cells at each step.
    change
        Stop once a step changes the log likelihood of all reports together by less.
    most
        The number of steps to stop after.

    Returns
    -------
    array
        Frequencies that are not negative and sum to 1; equal ones if there are no reports.

    Notes
    -----
    *Claim*: without ``smooth`` the likelihood rises to its maximum. *Checked by*
    ``test_em_finds_the_most_likely_frequencies``. *Claim*: nothing a report holds, empty cells
    and reports that no input could have caused among it, makes a step fail. *Checked by*
    ``test_em_takes_any_counts``.

    References
    ----------
    .. [1] R. Agrawal, R. Srikant, "Privacy-preserving data mining", SIGMOD 2000 (the steps); D.
       Agrawal, C. Aggarwal, "On the design and quantification of privacy preserving
       data mining algorithms", PODS 2001 (that they are EM).
    .. [2] Z. Li, T. Wang, M. Lopuhaä-Zwakenberg, N. Li, B. Škorić, "Estimating numerical
       distributions under local differential privacy", SIGMOD 2020.

    Examples
    --------
    >>> em([[0.75, 0.25], [0.25, 0.75]], [60, 40], change=1e-12).round(3).tolist()
    [0.7, 0.3]
    >>> em([[0.75, 0.25], [0.25, 0.75]], [90, 10], change=1e-12).round(3).tolist()
    [1.0, 0.0]
    """
    whole, c = np.asarray(matrix, np.float64), np.asarray(counts, np.float64)
    f = np.full(whole.shape[1], 1 / whole.shape[1])
    seen = (c > 0) & (whole.max(axis=1) > 0)
    if not seen.any():
        return f
    m, c = np.ascontiguousarray(whole[seen]), c[seen]
    n, before = c.sum(), -np.inf
    for _ in range(most):
        chance = np.maximum(m @ f, np.finfo(np.float64).tiny)
        likelihood = c @ np.log(chance)
        if abs(likelihood - before) < change:
            break
        before = likelihood
        f = f * (m.T @ (c / (n * chance)))
        if smooth:
            wide = np.concatenate([f[:1], f, f[-1:]])
            f = wide[:-2] / 4 + f / 2 + wide[2:] / 4
        f /= f.sum()
    return f


# ---- Frequencies as smooth as the reports say ----------------------------------------------------
#
# Many densities are near a shape of few numbers: even, exponential, a beta or a normal law. Others
# have steps and peaks. So several models are fitted, and the reports weigh them: each shape alone,
# and each with cosines of several strengths and smoothnesses.


@dataclass(frozen=True, slots=True, eq=False)
class SmoothModel:
    r"""The logarithm of frequencies as a shape and a sum of cosines.

    Parameters
    ----------
    shape
        The functions of the shape: each has mean 0 and standard deviation 1 over the cells, and a
        normal coefficient of standard deviation `SHAPED`.
    slope, scale
        The coefficient of :math:`\cos(\pi j x)` is normal with mean 0 and standard deviation
        :math:`\tau j^{-s}`: the slope :math:`s` and the scale :math:`\tau`, which is 0 for a shape
        without cosines.
    """

    shape: tuple[str, ...]
    slope: float = 0.0
    scale: float = 0.0

    @property
    def prior(self) -> float:
        """The logarithm of the weight before the reports: half of all is on shapes alone."""
        return 0.0 if self.scale else log(len(SLOPES) * len(SCALES))

    def functions(self, cells: int) -> Floats:
        return _functions(cells, self.shape, min(WAVES, cells - 1) if self.scale else 0)

    def precision(self, columns: int) -> Floats:
        j = np.arange(1.0, columns - len(self.shape) + 1)
        waves = (j**self.slope / self.scale) ** 2 if self.scale else j
        return np.concatenate([np.full(len(self.shape), SHAPED**-2.0), waves])


WAVES = 64  # the most cosines of a logarithm of frequencies
SHAPED = 3.0
SHAPES: tuple[tuple[str, ...], ...] = (
    (),
    ("x",),
    ("log x", "log(1 - x)"),
    ("log x", "log(1 - x)", "x", "x^2"),
)
SLOPES = (1.0, 2.0, 3.0)
SCALES = (0.03, 0.07, 0.17, 0.4, 0.95, 2.2, 5.3, 13.0, 30.0)
LESS = 15.0  # a scale whose evidence is less by this, in logarithms, ends the search on its side
KEPT = 8  # the most models that fresh reports are read by


@lru_cache(32)
def _functions(cells: int, shape: tuple[str, ...], waves: int) -> Floats:
    """Return the functions of a shape, and cosines, by their means over the cells."""
    edges = np.arange(cells + 1) / cells
    x = (edges[:-1] + edges[1:]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.diff(np.where(edges > 0, edges * np.log(edges) - edges, 0.0)) * cells
    by_name = {"x": x, "x^2": x**2, "log x": logarithm, "log(1 - x)": logarithm[::-1]}
    columns = [by_name[name] - by_name[name].mean() for name in shape]
    columns = [column / column.std() for column in columns]
    columns.extend(np.sqrt(2) * np.cos(np.pi * np.outer(np.arange(1, waves + 1), x)))
    return np.array(columns).reshape(-1, cells).T.copy()


Fit = tuple[float, "Floats", SmoothModel]
"""The logarithm of the evidence for a model, and the frequencies by it."""


@dataclass(frozen=True, slots=True, eq=False)
class SmoothFit:
    r"""Frequencies by the mean of several models, each weighed by how likely it makes the reports.

    Parameters
    ----------
    matrix
        :math:`P(y \mid x)` at the nodes, a row for each report.
    between
        The weights of the nodes in each cell, a column for each cell; the nodes are the cells
        if left out.

    Notes
    -----
    The most plausible coefficients of a `SmoothModel` are found by Newton's steps, and the
    probability of the reports under it by Laplace's approximation [1]_: so the reports say how
    smooth the distribution is.

    References
    ----------
    .. [1] D. MacKay, "Bayesian interpolation", Neural Computation 4(3), 1992.

    Examples
    --------
    >>> fit = SmoothFit(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> fit.best([600, 400])[0].round(1).tolist()
    [0.7, 0.3]
    """

    matrix: Floats
    between: Floats | None = None

    def best(self, counts: ArrayLike) -> tuple[Floats, list[SmoothModel]]:
        """Return the frequencies, and the models of most weight."""
        c = np.asarray(counts, np.float64)
        fits: list[Fit] = []
        for shape in SHAPES if c.sum() else ():
            known, fit = self._fitted(c, SmoothModel(shape))
            fits.append(fit)
            for slope in SLOPES:
                theta, highest = known, -np.inf
                for scale in SCALES:
                    theta, fit = self._fitted(c, SmoothModel(shape, slope, scale), theta)
                    fits.append(fit)
                    highest = max(highest, fit[0])
                    if fit[0] < highest - LESS:
                        break
        fits.sort(key=lambda fit: -fit[0] - fit[2].prior)
        return self._averaged(fits), [model for _, _, model in fits[:KEPT]]

    def again(self, counts: ArrayLike, models: Sequence[SmoothModel]) -> Floats:
        c = np.asarray(counts, np.float64)
        return self._averaged([self._fitted(c, model)[1] for model in models])

    def _averaged(self, fits: Sequence[Fit]) -> Floats:
        if not fits:
            return np.full(self._cells, 1 / self._cells)
        level = np.array([evidence + model.prior for evidence, _, model in fits])
        weights = np.exp(level - level.max())
        return np.asarray(weights @ np.array([f for _, f, _ in fits]) / weights.sum())

    @property
    def _cells(self) -> int:
        return len((self.matrix if self.between is None else self.between).T)

    def _reported(self, f: Floats) -> Floats:
        return np.asarray(self.matrix @ (f if self.between is None else self.between @ f))

    def _fitted(
        self, c: Floats, model: SmoothModel, known: Floats | None = None
    ) -> tuple[Floats, Fit]:
        """Return the coefficients, and what is known by them."""
        functions, n = model.functions(self._cells), c.sum()
        precision = model.precision(functions.shape[1])

        def at(theta: Floats) -> tuple[Floats, Floats, float]:
            level = functions @ theta
            f = np.exp(level - level.max())
            f /= f.sum()
            p = self._reported(f)
            return f, p, float(c @ np.log(p) - theta @ (precision * theta) / 2)

        theta = np.zeros(len(precision))
        if known is not None:
            theta[: len(known)] = known
        f, p, value = at(theta)
        for _ in range(30):
            back = self.matrix.T @ (c / p)
            if self.between is not None:
                back = self.between.T @ back
            slope = functions.T @ (f * (back - f @ back)) - precision * theta
            moved = self._reported(f[:, None] * (functions - f @ functions))
            curved = n * (moved.T / p) @ moved + np.diag(precision)
            step, size = np.linalg.solve(curved, slope), 1.0
            gain = float(step @ slope)
            if gain < 1e-3:
                break
            while size > 1e-4:
                found = at(theta + size * step)
                if found[2] >= value:
                    theta = theta + size * step
                    f, p, value = found
                    break
                size /= 2
            else:
                break
        evidence = value + (np.log(precision).sum() - np.linalg.slogdet(curved)[1]) / 2
        return theta, (float(evidence), f, model)


# ---- Quantiles and shares of a number that people reported by a randomiser -----------------------


Method = Literal["ems", "em", "smooth", "raw"]
MANY = 64  # from this many nodes on neighbours are alike enough to be smoothed


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
        into their 95% intervals. These assume nothing of the distribution and hold for all orders
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
        on a fine grid; ``"smooth"``: as smooth as the reports say, the default for designs;
        ``"raw"``: linear, with a known bias and noise, so some may be negative.
    bins
        How many bins of nearly equal length, at most; ``mechanism.edges`` holds their ends.

    Notes
    -----
    ``drawn["raw"]`` holds the raw shares with every method. *Claim*: intervals cover as they say.
    *Checked by* ``test_share_intervals_cover``.
    """
    if method is not None:
        one_of(method, "method", "ems", "em", "smooth", "raw")
    how = method or _default(report)
    most = integer(bins, "bins", least=1)
    estimate = DistributionEstimate(report=report, grid=grid, method=how, bins=most)
    counts = read_tally(report, tally)
    raw = estimate.raw(counts)
    value = raw if how == "raw" else estimate.shares(_likely(report, counts, how))
    return estimate.counted(counts, value, raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileEstimate(NumericEstimate):
    """Quantiles of the orders ``q`` from reports."""

    kind: ClassVar[str] = "quantiles of reports"
    display: ClassVar[Display] = Display(head="quantile")

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
        return self.ends(np.asarray(release.drawn["tally"], np.int64), beta, of)

    def ends(self, counts: Ints, beta: float, of: str) -> tuple[Floats, Floats]:
        r"""Return the ends of all quantiles.

        A quantile :math:`\xi` has :math:`F(\xi-) \le q \le F(\xi)`. So a node :math:`t_j` is
        possible if the upper end for the mean of :math:`R_j` is at least :math:`q` and the
        lower end for that of :math:`R_{j-\delta}` is at most :math:`q`.
        """
        c, n, q = channel(self.report), int(counts.sum()), np.array(self.q)
        low, high = np.zeros(q.shape), np.full(q.shape, float(self.report.last))
        if n:
            found, d, groups = ramps(self.report, n), len(c.nodes) - 1, c.counts(counts)
            mean, half = found.score.mean(groups), _half(found.score, groups, beta / len(q), of)
            upper = np.append((mean + half)[found.length - 1 :], 1.0)  # ramps 0 to d
            lower = np.append(0.0, (mean - half)[: d + found.length - 1])[: d + 1]
            first = np.argmax(upper >= q[:, None], axis=1)
            last = d - np.argmax((lower <= q[:, None])[:, ::-1], axis=1)
            if not c.every:  # a quantile between two nodes
                first, last = np.maximum(first - 1, 0), np.minimum(last + 1, d)
            low, high = c.nodes[np.minimum(first, last)], c.nodes[np.maximum(first, last)]
        ends = np.floor(low + 1e-9), np.ceil(high - 1e-9)
        low, high = (self.grid.values(np.asarray(end, np.int64)) for end in ends)
        return low, high

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        return {"q": self.q}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return charts.quantiles(release.columns(), truth)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionEstimate(NumericEstimate):
    """Shares of bins from reports."""

    kind: ClassVar[str] = "distribution of reports"
    display: ClassVar[Display] = Display(head="share", even=True)

    method: Method
    bins: int

    @property
    def starts(self) -> Ints:
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
        found, begin, end = ramps(self.report, n), self.starts[:-1], self.starts[1:]
        length = found.length
        if channel(self.report).every:
            above = found.differences(end - 1, begin - length)
            return found.differences(end - length, begin - 1), above
        return found.differences(end - length, begin), found.differences(end, begin - length)

    def raw(self, counts: Ints) -> Floats:
        n, bins = int(counts.sum()), len(self.starts) - 1
        if not n:
            return np.full(bins, 1 / bins)
        groups = channel(self.report).counts(counts)
        below, above = self.bumps(n)
        return np.asarray((below.mean(groups) + above.mean(groups)) / 2)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        counts = np.asarray(release.drawn["tally"], np.int64)
        n, bins = int(counts.sum()), len(self.starts) - 1
        if not n:
            return np.zeros(bins), np.ones(bins)
        groups = channel(self.report).counts(counts)
        below, above = self.bumps(n)
        low = below.mean(groups) - _half(below, groups, beta / bins, of)
        high = above.mean(groups) + _half(above, groups, beta / bins, of)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        return {"begins at": self.edges[:-1].tolist()}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        """Return bars, scaled so that a bin of two ticks is as high as one of four."""
        columns, width = release.columns(), np.diff(self.edges)
        if len(width) and width[-1] == 0:  # the last bin is one tick
            width[-1] = width[:-1].max(initial=1.0)
        even = width.mean() / width
        (one,) = charts.series_of(columns, None, truth)
        edges = np.append(self.edges[:-1], self.edges[-2] + width[-1]).tolist()
        sides = (one.value, one.low, one.high)
        value, low, high = ((np.array(side) * even).tolist() for side in sides)
        true = None if one.truth is None else (np.array(one.truth) * even).tolist()
        highest = min(max(high) * 1.05, max(*value, 0.0) * 2.5) or 1.0
        names = [shown(edge, width.mean() / 10) for edge in edges]
        return Chart(
            mark="bars",
            x=ChartAxis(names=names, view=(edges[0], edges[-1])),
            y=ChartAxis(scale="share", label="share of a bin of even width", view=(0, highest)),
            series=[replace(one, x=edges, value=value, low=low, high=high, truth=true)],
            told=charts.told(columns),
        )


def _half(score: Score, groups: Floats, beta: float, of: str) -> Floats:
    """Return half-widths; the noise given the answers is at most that of the worst tick."""
    variance = np.maximum(score.plain(groups), score.least)
    if of == "sample":
        variance = np.minimum(variance, score.most)
    return score.half(variance, int(groups.sum()), beta)


def _default(report: Numeric) -> Method:
    if hasattr(report, "channel"):  # a design
        return "smooth"
    return "ems" if len(channel(report).nodes) >= MANY else "em"


def _likely(report: Numeric, counts: Ints, method: Method) -> Floats:
    """Return the shares of the nodes under which the reports are most likely."""
    c = channel(report)
    if method == "smooth":
        return SmoothFit(c.rows.T).best(c.counts(counts))[0]
    return em(c.rows.T, c.counts(counts), smooth=method == "ems")
