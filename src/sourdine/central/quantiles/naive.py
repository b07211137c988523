"""Two simple baselines: noise of the grid's width, and a noisy histogram."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, exp, inf, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import whole
from sourdine.central.quantiles.independent import Independent
from sourdine.laws import Law
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.above_threshold import first_above_law
from sourdine.mechanisms.gaussian import Gaussian, gaussian_law
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import add, read_beta, read_scale
from sourdine.privacy import Concentrated, Guarantee, Part

if TYPE_CHECKING:
    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Points
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints


# ---- The sample's quantile plus noise of the grid's whole width: what not to do ------------------
#
# One record can move a quantile from one end of the grid to the other, so the noise is as wide as
# the grid divided by epsilon, whatever the number of records.


@frozen(kw_only=True)
class Naive(Independent):
    """The common part: which record is the quantile, and the clamping of the noise."""

    def windows(self, n: int) -> list[tuple[int, int]]:
        numbers = [max(ceil(q * n), 1) for q in self.orders]
        return [(k - 1, min(k, n)) for k in numbers]

    def middle(self, x: Points, j: int) -> int:
        """Return the sample's quantile, the middle of the grid if there is no record."""
        return order_statistic(x, max(ceil(self.orders[j] * x.n), 1))

    @property
    def span(self) -> int:
        """How far a person moves a quantile at most, in all groups together."""
        return self.rows * max(self.cells - 1, 1)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return infinity: noise in ticks can pass any number of records."""
        read_beta(beta)
        return inf


@frozen(kw_only=True)
class NaiveLaplace(Naive):
    r"""Add discrete Laplace noise of scale :math:`km(B-1)/\varepsilon` to each quantile; clamp.

    The quantile is the record number :math:`\lceil qn \rceil`; of no records, the middle of the
    grid.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, under either relation: no change of the data
    moves a tick further than from one end to the other. A person's :math:`k` rows could do no more
    than one, but in as many groups they can do it as many times, so the scale has the factor
    :math:`k`. *Checked by* ``test_naive_noise_grows_with_rows``,
    ``test_naive_laplace_worst_case`` and
    ``test_naive_laplace_ten_percent_too_weak_is_rejected``. *Claim*: the error in ticks passes
    `ticks` with probability :math:`\beta` at most; no bound on ranks exists. *Checked by*
    ``test_naive_laplace_error_in_ticks``.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private
       data analysis", TCC 2006.

    Examples
    --------
    >>> NaiveLaplace(epsilon=1, q=[0.5], cells=1001).ticks(0.05)
    2996.0
    """

    def check(self) -> None:
        read_scale(self.scale)

    @cached_property
    def scale(self) -> Fraction:
        return self.span / self.share

    @property
    def parts(self) -> tuple[Part, ...]:
        """A shift of each quantile's noise, by the whole grid; the clamping adds nothing.

        *Checked by* ``test_whole_curve[quantiles.laplace.add_remove]``.
        """
        return (Part.laplace(self.span, self.scale, len(self.orders)),)

    def single(self, x: Points, j: int, source: Source) -> int:
        drawn = noise.laplace_around(self.middle(x, j), self.scale, source=source)
        return min(max(drawn, 0), self.cells - 1)

    def single_law(self, x: Points, j: int) -> Law:
        r"""Return the clamped law; an end :math:`d` away has :math:`e^{-d/t}/(1+e^{-1/t})`."""
        centre, r = self.middle(x, j), float(1 / self.scale)
        if self.cells == 1:
            return Law.finite([0.0])
        logs = -r * np.abs(np.arange(self.cells) - centre) + log(np.tanh(r / 2))
        ends = np.array([centre, self.cells - 1 - centre])
        logs[[0, -1]] = -r * ends - log1p(exp(-r))
        return Law.finite(logs)

    def ticks(self, beta: Number = 0.05) -> float:
        """Return how many ticks the worst quantile is off with probability ``beta`` at most."""
        t = float(self.scale)
        passed = t * log(2 * len(self.orders) / ((1 + exp(-1 / t)) * read_beta(beta)))
        return float(max(0, ceil(passed * (1 + 1e-12)) - 1))


@frozen(kw_only=True)
class NaiveGaussian(Naive):
    r"""Add discrete Gaussian noise to each quantile; clamp.

    One quantile takes the tight calibration of `Gaussian`; several are a vector of L2 sensitivity
    :math:`\sqrt m (B-1)`, calibrated by zCDP: :math:`\sigma^2 = m (B-1)^2/(2\rho)`.

    Parameters
    ----------
    delta
        The probability with which the loss may pass epsilon, above 0.

    Notes
    -----
    *Claim*: :math:`(\varepsilon, \delta)`-differential privacy under either relation; ``rows``
    multiply the sensitivity, as for `NaiveLaplace`. *Checked by*
    ``test_naive_gaussian_worst_case`` and ``test_naive_gaussian_ten_percent_too_weak_is_rejected``.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
       NeurIPS 2020.

    Examples
    --------
    >>> mechanism = NaiveGaussian(epsilon=1, delta=1e-6, q=[0.5], cells=11)
    >>> round(float(mechanism.variance) ** 0.5, 2)
    42.25
    """

    delta: Fraction = field(converter=read.delta)

    def check(self) -> None:
        read_scale(Fraction(ceil(self.variance**0.5)))

    @cached_property
    def variance(self) -> Fraction:
        """The variance of each quantile's noise, but for its being discrete."""
        promise: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        if len(self.orders) == 1:
            return Gaussian(sensitivity=self.span, relation=self.relation, **promise).variance
        moved = Fraction(len(self.orders) * self.span**2)
        return moved / (2 * Concentrated.rho_for(**promise))

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        """A shift by the whole grid; of several quantiles, zCDP.

        *Checked by* ``test_whole_curve[quantiles.gaussian.add_remove]``.
        """
        m = len(self.orders)
        if m == 1:
            return (Part.gaussian(self.span, self.variance),)
        return (Part.concentrated(m * self.span**2 / (2 * self.variance)),)

    def single(self, x: Points, j: int, source: Source) -> int:
        drawn = noise.discrete_gaussian(self.variance, 1, source=source)
        return min(max(self.middle(x, j) + int(drawn[0]), 0), self.cells - 1)

    def single_law(self, x: Points, j: int) -> Law:
        """Return the clamped law; each end takes the tail beyond it."""
        if self.cells == 1:
            return Law.finite([0.0])
        centre, free = self.middle(x, j), gaussian_law(0, self.variance)
        logs = free.log_pmf(np.arange(self.cells) - centre)
        logs[[0, -1]] = np.log(free.cdf(np.array([-centre, centre + 1 - self.cells])))
        return Law.finite(logs, slack=free.slack + free.beyond / exp(float(logs.min())) + 1e-12)


def order_statistic(x: Points, number: int) -> int:
    """Return the tick of the record of that number (from 1); of no records, the middle."""
    if x.n == 0:
        return (x.cells - 1) // 2
    for window in x.windows:
        if window.start < number <= window.stop:
            return int(window.ticks[window.ends.searchsorted(number)])
    return order_statistic(x.complete(), number)


# ---- The histogram method: for each quantile, the first edge that enough records lie below -------


@frozen(kw_only=True)
class HistogramMethod(Independent):
    r"""Search the bins of a public histogram for the one that holds the quantile.

    The grid is cut into ``steps`` bins. With :math:`F_i` the number of records below the upper edge
    of bin :math:`i`, the first :math:`i` with

    .. math:: F_i - qn + \nu_i \ge \rho, \qquad
              \rho, \nu_i \sim \mathrm{Lap}\!\left(\frac{1+q}{\varepsilon}\right)
              \text{ (add/remove)}, \quad
              \mathrm{Lap}\!\left(\frac{2}{\varepsilon}\right) \text{ (substitution)}

    is drawn, and the last tick of that bin published; where there is none, the last of the grid.
    Each quantile gets :math:`\varepsilon/m`. All is multiplied by the denominator of :math:`q`, so
    the noise is whole. One pass counts; the rest depends on ``steps`` alone. Canesse [3]_ proposed
    the method, with :math:`\mathrm{Lap}(4/\varepsilon)` on the counts.

    Parameters
    ----------
    steps
        How many bins; public. Where :math:`n` is public, [3]_ takes :math:`1.5\,n/\ln n`.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Let the scales be :math:`T` of :math:`\rho`
    and :math:`Q` of :math:`\nu_i`, and let :math:`i` be drawn from the data. The neighbour draws
    it too if :math:`\rho` moves by :math:`\delta`, at least what the answers passed over grow by,
    and :math:`\nu_i` by :math:`\delta` less what answer :math:`i` grows by: at a cost of
    :math:`|\delta|/T + |\delta - \Delta_i|/Q`.

    *A record added* at :math:`x`: answers at edges above :math:`x` grow by :math:`1-q`, the others
    by :math:`-q`. If :math:`x` is below edge :math:`i`, :math:`\delta = 1-q` moves :math:`\nu_i`
    by nothing; if not, :math:`\delta = -q` does. *Removed*: if an edge passed over is not above
    :math:`x` but edge :math:`i` is, :math:`\delta = q` and :math:`\nu_i` moves by 1; otherwise all
    of them move alike, by :math:`q` or :math:`-(1-q)`. In all at most
    :math:`\max\{\max(q,1-q)/T,\; q/T + 1/Q\}`, which is :math:`\varepsilon` at
    :math:`T = Q = (1+q)/\varepsilon`. *Replaced*: all answers move in one direction, by at most 1,
    so :math:`\delta \in \{0, \pm 1\}` and the cost is at most :math:`1/T + 1/Q`, and a value that
    goes missing costs less. *Checked by* ``test_histogram_worst_case`` and
    ``test_histogram_ten_percent_too_weak_is_rejected``.

    *Claim*: the bin's rank error passes `bin_error` with probability :math:`\beta` at most.
    *Checked by* ``test_histogram_error_bound``. Within a bin there may be any number of records.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014,
       section 3.6.
    .. [2] M. Lyu, D. Su, N. Li, "Understanding the sparse vector technique for differential
       privacy", VLDB 2017.
    .. [3] Canesse 2022, section 3: HistogramMethod, this search for each of nine deciles.

    Examples
    --------
    >>> search = HistogramMethod(epsilon=1, q=[0.5], cells=1000, steps=100)
    >>> search.bin_error(0.05)
    18.0
    """

    steps: int = whole("steps", 1)

    def check(self) -> None:
        read_scale(max(self.scale(j) for j in range(len(self.orders))))

    @property
    def outcomes(self) -> int:
        return self.steps + 1

    def scale(self, j: int) -> Fraction:
        """Return the scale of both noises, in units of one record over the denominator of q."""
        q = self.order(j)
        return q.denominator * self.rows * (2 if self.substitutes else 1 + q) / self.share

    def heights(self, x: Points, j: int) -> Ints:
        """Return how far the count below each edge lies above the target, in those units."""
        q = self.order(j)
        below = counts_below(x.complete(), bin_edges(self.cells, self.steps)[1:])
        return np.asarray(q.denominator * below - q.numerator * x.n)

    def single(self, x: Points, j: int, source: Source) -> int:
        drawn = noise.discrete_laplace(self.scale(j), self.steps + 1, source=source)
        over = add(self.heights(x, j), drawn[1:]) >= drawn[0]
        return int(np.argmax(over)) if np.any(over) else self.steps

    def single_law(self, x: Points, j: int) -> Law:
        """Return the law over the bins, the last outcome meaning none."""
        return first_above_law(self.heights(x, j), self.scale(j), self.scale(j))

    def published(self, drawn: Drawn) -> Ints:
        edges = bin_edges(self.cells, self.steps)
        bins = np.minimum(np.asarray(drawn, np.int64), self.steps - 1)
        return np.sort(np.maximum(edges[bins + 1] - 1, 0))

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `bin_error` where each bin is one tick, infinity elsewhere."""
        return self.bin_error(beta) if self.steps >= self.cells else inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `bin_error`: records that share a bin do not count."""
        return self.bin_error(beta)

    def bin_error(self, beta: Number = 0.05) -> float:
        """Return a bound on the rank error of the worst quantile's bin."""
        half = read_beta(beta) / len(self.orders) / 2
        each = [(self.scale(j), self.order(j).denominator) for j in range(len(self.orders))]
        bounds = (laplace_error(t, half) + laplace_error(t, half / self.steps) for t, _ in each)
        return max(bound / unit for bound, (_, unit) in zip(bounds, each, strict=True))

    def loss(self, x: Points, y: Ints) -> Floats:
        bins = np.minimum(np.sort(self.support()[y], axis=-1), self.steps - 1)
        below = counts_below(x, bin_edges(self.cells, self.steps))
        return self.errors_between(x, below[bins], below[bins + 1])


def bin_edges(cells: int, bins: int) -> Ints:
    r"""Return the first ticks :math:`\lfloor iB/k \rfloor` of the bins, and the grid's end."""
    if cells * bins < 1 << 62:
        return np.arange(bins + 1, dtype=np.int64) * cells // bins
    return np.array([i * cells // bins for i in range(bins + 1)], np.int64)


def counts_below(x: Points, edges: Ints) -> Ints:
    """Return how many records lie below each edge (only where all were read)."""
    atoms = x.windows[0]
    ends = np.concatenate((np.zeros(1, np.int64), atoms.ends))
    return ends[atoms.ticks.searchsorted(edges)]
