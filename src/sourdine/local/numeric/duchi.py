"""Duchi's one-bit mechanism, and its hybrid with the piecewise window."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import exp, expm1, log, tanh
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.exact import exp_neg
from sourdine.laws import Law
from sourdine.local.numeric.sliding import SlidingWindow, UnbiasedReport, log_mixed, piecewise
from sourdine.mechanisms.mechanism import Specimen, register

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.noise import Source

    Floats = NDArray[np.float64]


# ---- Duchi's mechanism: a number as one bit ------------------------------------------------------


@frozen(kw_only=True)
class Duchi(UnbiasedReport):
    r"""Round the tick to one of the ends at random, then lie about which.

    The tick :math:`x` of 0 to :math:`m`, ``last``, becomes 1 (the upper end) with probability
    :math:`x/m`, else 0, and the bit is flipped with probability :math:`1/(1+e^\varepsilon)`.

    Notes
    -----
    *Claim*: exactly :math:`\varepsilon`-LDP. *Checked by* ``test_exact_worst_case[number.duchi]``.
    *Claim*: `estimates` is unbiased with the `variance` given. *Checked by*
    ``test_estimates_are_unbiased``. Of all reports this has the least worst variance below an
    epsilon of about 1; beyond, the rounding to an end is most of it and does not vanish.

    References
    ----------
    .. [1] J. Duchi, M. Jordan, M. Wainwright, "Minimax optimal procedures for locally private
       estimation", JASA 113, 2018.
    .. [2] J. Duchi, M. Jordan, M. Wainwright, "Local privacy and statistical minimax rates", FOCS
       2013.

    Examples
    --------
    >>> report = Duchi(epsilon=1, last=100)
    >>> report.estimates([0, 1]).round(1).tolist()
    [-58.2, 158.2]
    >>> report.law(50).pmf([0, 1]).tolist()
    [0.5, 0.5]
    """

    @property
    def codes(self) -> int:
        return 2

    @property
    def slope(self) -> float:
        return tanh(float(self.epsilon) / 2)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        b = exp_neg(self.epsilon)
        up = noise.uniform_below(self.last, codes.size, source=source) < codes
        up ^= noise.bernoulli(b / (1 + b), codes.size, source=source)
        return up.astype(np.int64)

    def law(self, x: int) -> Law:
        up, epsilon = x / self.last, float(self.epsilon)
        return Law.finite([log_mixed(up, epsilon), log_mixed(1 - up, epsilon)])

    def estimates(self, reports: ArrayLike) -> Floats:
        r"""Return :math:`\frac m2 \pm \frac m2 \frac{e^\varepsilon+1}{e^\varepsilon-1}`."""
        sign = 2 * np.asarray(reports, np.float64) - 1
        return self.last / 2 * (1 + sign / self.slope)

    def variance(self, x: ArrayLike) -> Floats:
        r"""Return :math:`\frac{m^2}{4\tanh^2(\varepsilon/2)} - (x - \frac m2)^2`."""
        off = np.asarray(x, np.float64) - self.last / 2
        return np.asarray((self.last / 2 / self.slope) ** 2 - off * off)

    def nodes(self) -> Floats:
        return np.array([0.0, float(self.last)])

    def rows(self) -> Floats:
        b = exp(-float(self.epsilon))
        return np.array([[1.0, b], [b, 1.0]]) / (1 + b)


# ---- The hybrid of Duchi's bit and the piecewise window ------------------------------------------


THRESHOLD = Fraction(61, 100)  # up to this epsilon Duchi's bit alone has the smaller worst variance


@frozen(kw_only=True)
class HybridReport(UnbiasedReport):
    r"""Report by Duchi's bit with probability :math:`e^{-\varepsilon/2}`, else by the window.

    The codes 0 and 1 are Duchi's, those from 2 on are the cells of `piecewise`: the report says
    which of the two drew it. Up to an epsilon of 0.61 it is Duchi's bit always.

    Notes
    -----
    *Claim*: exactly :math:`\varepsilon`-LDP: the choice between the two does not depend on the
    tick. *Checked by* ``test_exact_worst_case[number.hybrid]``. *Claim*: `estimates` is unbiased
    with the `variance` given, which is nearly the same for all ticks. *Checked by*
    ``test_estimates_are_unbiased``.

    References
    ----------
    .. [1] N. Wang, X. Xiao, Y. Yang et al., "Collecting and analyzing multidimensional data with
       local differential privacy", ICDE 2019.

    Examples
    --------
    >>> HybridReport(epsilon=0.5, last=100).codes, HybridReport(epsilon=2, last=100).codes
    (2, 412)
    """

    @cached_property
    def bit(self) -> Duchi:
        return Duchi(epsilon=self.epsilon, last=self.last)

    @cached_property
    def window(self) -> SlidingWindow:
        return piecewise(self.epsilon, self.last)

    @property
    def always_bit(self) -> bool:
        """Whether epsilon is so small that the window is never used."""
        return self.epsilon <= THRESHOLD

    @property
    def codes(self) -> int:
        return 2 if self.always_bit else 2 + self.window.codes

    @property
    def shares(self) -> tuple[float, float]:
        half = float(self.epsilon) / 2
        return (1.0, 0.0) if self.always_bit else (exp(-half), -expm1(-half))

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Draw by both, and keep one of the two by a coin."""
        drawn = self.bit.reports(codes, source)
        if self.always_bit:
            return drawn
        cells = self.window.reports(codes, source) + 2
        half = exp_neg(self.epsilon / 2)
        np.copyto(cells, drawn, where=noise.bernoulli(half, codes.size, source=source))
        return cells

    def law(self, x: int) -> Law:
        if self.always_bit:
            return self.bit.law(x)
        bit = -float(self.epsilon) / 2 + self.bit.law(x).log_pmf([0, 1])
        cells = log(self.shares[1]) + self.window.law(x).log_pmf(np.arange(self.window.codes))
        return Law.finite(np.concatenate([bit, cells]))

    def estimates(self, reports: ArrayLike) -> Floats:
        y = np.asarray(reports, np.int64)
        return np.where(y < 2, self.bit.estimates(y), self.window.estimates(y - 2))

    def variance(self, x: ArrayLike) -> Floats:
        """Return the mean of the two variances: both estimates have the same mean."""
        share, rest = self.shares
        return np.asarray(share * self.bit.variance(x) + rest * self.window.variance(x))

    def nodes(self) -> Floats:
        return self.bit.nodes() if self.always_bit else self.window.nodes()

    def rows(self) -> Floats:
        share, rest = self.shares
        if self.always_bit:
            return self.bit.rows()
        up = self.nodes()[:, None] / self.last
        ends = self.bit.rows()
        return np.hstack([share * ((1 - up) * ends[0] + up * ends[1]), rest * self.window.rows()])

    def farthest(self) -> float:
        if self.always_bit:
            return self.bit.farthest()
        return max(self.bit.farthest(), self.window.farthest())


register(
    Specimen("number.duchi", lambda e: Duchi(epsilon=e, last=5), range(6)),
    Specimen("number.hybrid", lambda e: HybridReport(epsilon=e, last=3), range(4)),
)
