r"""Few transcripts, few failures: theorems of Stemmer's lecture 9, with their constants.

A mechanism whose answers to any one analyst form one of :math:`2^b` transcripts lets that analyst
ask one of :math:`k 2^b` queries. If each alone is off by more than :math:`\hat\alpha` with
probability :math:`\hat\beta`, some query asked is with probability

.. math:: \beta = \hat\beta\,k\,2^b

(theorem 4), and a mechanism within :math:`\alpha'` of the sample is within :math:`\alpha' +
\hat\alpha` of the truth (theorem 5). All queries that *might* be asked must concentrate, those of
runs that did not happen included. For the Median Mechanism this is corollary 6. In the discussion
of it :math:`\ln(1/\beta)` is dropped and :math:`(\ln k)^{3/2}` becomes :math:`(\ln k)^2`; here
the corollary is evaluated with its constants:

.. math:: \alpha = \Bigl(\frac{\ln 4k}{2n}\Bigr)^{1/4} + w\Bigl(n,\ \ln\frac k\beta + b\ln 2\Bigr).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log, log2
from typing import TYPE_CHECKING

from sourdine.adaptive.ledger.dependence import Iid
from sourdine.exact import integer, number

if TYPE_CHECKING:
    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.exact import Number

__all__ = [
    "ConcentratedAccuracy",
    "MedianPlan",
    "compressed_chance",
    "concentrated_accuracy",
    "median_mechanism_n",
]


def compressed_chance(nats: float, k: int, bits: float) -> float:
    r"""Return :math:`\min(1, \hat\beta\,k\,2^b)` for :math:`\hat\beta = e^{-t}` (theorem 4).

    Examples
    --------
    >>> round(compressed_chance(nats=100.0, k=1000, bits=120.0), 6)
    4.9e-05
    """
    return exp(min(0.0, log(k) + bits * log(2) - nats))


@dataclass(frozen=True, slots=True)
class MedianPlan:
    r"""The Median Mechanism's constants, from what is public.

    .. math:: \alpha' = \Bigl(\frac{\ln 4k}{2n}\Bigr)^{1/4}, \quad
              m = \frac{\ln 4k}{2\alpha'^2} = \sqrt{\frac{n \ln 4k}{2}}, \quad
              h \le m\log_2 |X|, \quad b = h\,\bigl(\log_2 k + \log_2\tfrac{1}{\alpha'}\bigr)

    Examples
    --------
    >>> plan = MedianPlan(n=10_000, k=1000, universe=1024)
    >>> round(plan.accuracy, 3), plan.size, plan.hard, plan.hard > plan.k
    (0.143, 204, 2040, True)
    """

    n: int
    k: int
    universe: int

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("k", 1), ("universe", 2)):
            integer(getattr(self, name), name, least=least)

    @property
    def accuracy(self) -> float:
        r""":math:`\alpha'`, how far an answer may be from the sample's average."""
        return float((log(4 * self.k) / (2 * self.n)) ** 0.25)

    @property
    def size(self) -> int:
        """How many rows a small database has."""
        return ceil(log(4 * self.k) / (2 * self.accuracy**2))

    @property
    def hard(self) -> int:
        """How many answers may have to come from the data; more than k says nothing."""
        return int(self.size * log2(self.universe))

    @property
    def bits(self) -> float:
        """The lecture's count of transcripts, as bits: a position and a value for each."""
        return self.hard * log2(self.k / self.accuracy)

    @property
    def sharp_bits(self) -> float:
        """A count that never passes k values: those of rounding alone, without any mechanism."""
        levels = ceil(1 / (2 * self.accuracy))
        return min(self.bits, self.k * log2(levels + 1))


@dataclass(frozen=True, slots=True)
class ConcentratedAccuracy:
    """How far answers may be from the truth: from the sample, and the sample's averages from it."""

    empirical: float
    sampling: float
    bits: float

    @property
    def total(self) -> float:
        """The sum; 1 or more says nothing."""
        return self.empirical + self.sampling


def concentrated_accuracy(
    n: int,
    k: int,
    universe: int,
    beta: Number = 0.05,
    *,
    dependence: Dependence | None = None,
    sharp: bool = False,
) -> ConcentratedAccuracy:
    r"""Return the Median Mechanism's accuracy for queries that concentrate (corollary 6).

    *Checked by* ``test_corollary_with_its_constants``.

    Parameters
    ----------
    n, k, universe
        Rows, queries and codes.
    beta
        The chance that any answer fails.
    dependence
        How the rows depend on each other; independent if left out.
    sharp
        Count transcripts sharply rather than as the lecture does.

    Examples
    --------
    Of no use at a hundred thousand rows:

    >>> round(concentrated_accuracy(100_000, 10_000, 2**10).total, 2)
    0.74
    """
    plan = MedianPlan(n, k, universe)
    bits = plan.sharp_bits if sharp else plan.bits
    chance = float(number(beta, "beta", above=0, most=1))
    rows = Iid() if dependence is None else dependence
    return ConcentratedAccuracy(plan.accuracy, rows.width(n, log(k / chance) + bits * log(2)), bits)


def median_mechanism_n(
    universe: int, k: int, error: Number, beta: Number = 0.05, *, sharp: bool = False
) -> int:
    """Return the least number of independent rows at which the corollary promises ``error``.

    Examples
    --------
    >>> f"{median_mechanism_n(2**10, 1000, 0.1):.1e}"
    '2.2e+08'
    """
    goal = float(number(error, "error", above=0, most=1))

    def enough(n: int) -> bool:
        return concentrated_accuracy(n, k, universe, beta, sharp=sharp).total <= goal

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
