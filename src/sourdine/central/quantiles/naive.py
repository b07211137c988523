r"""The sample's quantile plus noise of the grid's whole width: what not to do.

One record can move a quantile from one end of the grid to the other, so the noise is as wide as the
grid divided by epsilon, whatever the number of records.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, exp, inf, log, log1p
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.independent import Independent
from sourdine.laws import Law
from sourdine.mechanisms import parameters as read
from sourdine.mechanisms.gaussian import Gaussian, gaussian_law
from sourdine.mechanisms.mechanism import read_beta, read_scale
from sourdine.privacy import Concentrated, Guarantee, Part

if TYPE_CHECKING:
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["NaiveGaussian", "NaiveLaplace", "order_statistic"]


@frozen(kw_only=True)
class Naive(Independent):
    """The common part: which record is the quantile, and the clamping of the noise."""

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks next to the quantiles' records."""
        numbers = [max(ceil(q * n), 1) for q in self.orders]
        return [(k - 1, min(k, n)) for k in numbers]

    def middle(self, x: Points, j: int) -> int:
        """Return the sample's quantile, the middle of the grid if there is no record."""
        return order_statistic(x, max(ceil(self.orders[j] * x.n), 1))

    @property
    def span(self) -> int:
        """How far a person moves a quantile at most, in all groups together."""
        return self.rows * max(self.cells - 1, 1)

    def clamp(self, tick: int) -> int:
        """Return the tick of the grid nearest to a whole number."""
        return min(max(tick, 0), self.cells - 1)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return infinity: noise in ticks can pass any number of records."""
        del n
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
        """Refuse noise too wide for 64 bits."""
        read_scale(self.scale)

    @cached_property
    def scale(self) -> Fraction:
        """The scale of each quantile's noise."""
        return self.span / self.share

    @property
    def parts(self) -> tuple[Part, ...]:
        """A shift of each quantile's noise, by the whole grid; the clamping adds nothing.

        *Checked by* ``test_whole_curve[quantiles.laplace.add_remove]``.
        """
        return (Part.laplace(self.span, self.scale, len(self.orders)),)

    def single(self, x: Points, j: int, source: Source) -> int:
        """Add the noise and clamp."""
        return self.clamp(noise.laplace_around(self.middle(x, j), self.scale, source=source))

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
        """Refuse noise too wide for 64 bits."""
        read_scale(Fraction(ceil(self.variance**0.5)))

    @cached_property
    def variance(self) -> Fraction:
        """The variance of each quantile's noise, but for its being discrete."""
        epsilon, delta, m = self.epsilon, self.delta, len(self.orders)
        span = self.span
        alone = Gaussian(epsilon=epsilon, delta=delta, sensitivity=span, relation=self.relation)
        if m == 1:
            return alone.variance
        return Fraction(m * span * span) / (2 * Concentrated.rho_for(epsilon, delta))

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one draw."""
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
        """Add the noise and clamp."""
        drawn = noise.discrete_gaussian(self.variance, 1, source=source)
        return self.clamp(self.middle(x, j) + int(drawn[0]))

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
