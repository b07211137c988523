"""Duchi's mechanism: a number as one bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, tanh
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.exact import exp_neg, positive
from sourdine.laws import Law
from sourdine.local.numeric.unbiased import UnbiasedReport, log_mixed
from sourdine.mechanisms.bounded_laplace import read_last
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

    Floats = NDArray[np.float64]

__all__ = ["Duchi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duchi(UnbiasedReport):
    r"""Round the tick to one of the ends at random, then lie about which.

    The tick :math:`x` of 0 to :math:`m` becomes 1 (the upper end) with probability :math:`x/m`,
    else 0, and the bit is flipped with probability :math:`1/(1+e^\varepsilon)`.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        The highest tick :math:`m`; inputs outside 0 to m count as the nearest end.

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

    Examples
    --------
    >>> report = Duchi(epsilon=1, last=100)
    >>> report.estimates([0, 1]).round(1).tolist()
    [-58.2, 158.2]
    >>> report.law(50).pmf([0, 1]).tolist()
    [0.5, 0.5]
    """

    epsilon: Number
    last: int
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon, last = positive(self.epsilon, "epsilon"), read_last(self.last, least=1)
        settle(self, epsilon=epsilon, last=last, guarantee=Guarantee(epsilon, 0, LOCAL))

    @property
    def codes(self) -> int:
        """Two: a report is a bit."""
        return 2

    @property
    def slope(self) -> float:
        r"""The difference of the chances of a 1 at the two ends, :math:`\tanh(\varepsilon/2)`."""
        return tanh(float(self.epsilon) / 2)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Round at random, then flip at random."""
        b = exp_neg(Fraction(self.epsilon))
        up = noise.uniform_below(self.last, codes.size, source=source) < codes
        up ^= noise.bernoulli(b / (1 + b), codes.size, source=source)
        return up.astype(np.int64)

    def law(self, x: int) -> Law:
        """Return the chances of 0 and 1."""
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
        """Return the two ends."""
        return np.array([0.0, float(self.last)])

    def rows(self) -> Floats:
        """Return the chances of 0 and 1 at either end."""
        b = exp(-float(self.epsilon))
        return np.array([[1.0, b], [b, 1.0]]) / (1 + b)

    def error(self, beta: Number = 0.05) -> float:
        """Return the farthest an estimate can be: one bit is never near for all ticks."""
        read_beta(beta)
        return self.farthest()


register(
    Specimen(
        name="number.duchi",
        make=lambda epsilon: Duchi(epsilon=epsilon, last=5),
        inputs=tuple(range(6)),
        tight=True,
    )
)
