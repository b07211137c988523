"""Warner's randomised response with two coins, and the best coins."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, one_of, positive, probability
from sourdine.laws import Law
from sourdine.mechanisms.frequency_oracle import FrequencyOracle
from sourdine.mechanisms.mechanism import Report, read_beta
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["Warner"]

HALF = Fraction(1, 2)


def _truth(x: Number) -> Fraction:
    return _coin(x, "truth")


def _yes(x: Number) -> Fraction:
    return _coin(x, "yes")


@frozen(kw_only=True)
class Warner(FrequencyOracle):
    r"""Answer a yes-no question with two coins: the truth, or the second coin's answer.

    With probability :math:`\tau` the person says the truth, else "yes" with probability
    :math:`\pi`:

    .. math:: a = P(\text{yes} \mid \text{yes}) = \tau + (1-\tau)\pi, \qquad
              b = P(\text{yes} \mid \text{no}) = (1-\tau)\pi

    The input and the output are 1 for yes and 0 for no.

    Parameters
    ----------
    truth
        :math:`\tau`, above 0 and below 1.
    yes
        :math:`\pi`, above 0 and below 1: with a sure second coin one of the answers betrays all.

    Notes
    -----
    *Claim*: :math:`\varepsilon = \ln\max(a/b, (1-b)/(1-a))`, no less; two fair coins are
    :math:`\ln 3`-LDP. *Checked by* ``test_exact_worst_case[category.warner]``,
    ``test_two_fair_coins``. *Claims* on `estimate`, `bias` and `variance` (the slides leave them
    open, row L2): *checked by* ``test_warner_estimator``; on `optimum`: *checked by*
    ``test_warner_optimum_beats_other_coins``.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer
       bias", JASA 60(309), 1965.
    .. [2] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy",
       JMLR 17, 2016 (the binary optimum).

    Examples
    --------
    >>> coins = Warner(truth=0.5, yes=0.5)
    >>> round(float(coins.guarantee.epsilon), 6)  # ln 3
    1.098612
    >>> coins.estimate(yes=600, n=1000)
    Fraction(7, 10)
    >>> coins.variance(frequency=0.7, n=1000)
    Fraction(3, 4000)
    """

    truth: Fraction = field(converter=_truth)
    yes: Fraction = field(default=HALF, converter=_yes)
    categories: int = field(init=False, repr=False, eq=False, default=2)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one answer."""
        a, b = self.channel
        worst = Real.of(max(a / b, (1 - b) / (1 - a)))
        return Guarantee(worst.log().above(), 0, LOCAL)

    @staticmethod
    def optimum(epsilon: Number) -> Warner:
        r"""Return the coins of least variance at this epsilon, the first rounded down.

        They are :math:`\pi = 1/2` and :math:`\tau = (e^\varepsilon - 1)/(e^\varepsilon + 1)`: every
        other pair at the same epsilon estimates worse. Two fair coins are best at ln 3 exactly.
        """
        q = exp_neg(positive(epsilon, "epsilon"))
        return Warner(truth=((1 - q) / (1 + q)).below(), yes=HALF)

    @property
    def channel(self) -> tuple[Fraction, Fraction]:
        """The chances of answering yes for those who should, and for those who should not."""
        b = (1 - self.truth) * self.yes
        return self.truth + b, b

    def read(self, x: object) -> int:
        """Return 0 or 1; True and False will do."""
        return Report.read(self, int(x) if isinstance(x, (bool, np.bool_)) else x)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Throw the coins."""
        a, b = self.channel
        return noise.bernoulli_table([b, a], codes, source=source).astype(np.int64)

    @property
    def chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The chances that a report says no, yes: of those who should, and of the others."""
        a, b = map(float, self.channel)
        return np.array([1 - b, a]), np.array([1 - a, b])

    def law(self, x: int) -> Law:
        """Return the chances of no and yes."""
        p = float(self.channel[1 - x])
        return Law.finite(np.log([float(1 - self.channel[1 - x]), p]))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 for a wrong answer, 0 for a right one."""
        return np.not_equal(y, x).astype(np.float64)

    def error(self, beta: Number = 0.05) -> float:
        """Return 0 if a single answer is right but for probability ``beta``, else 1."""
        a, b = self.channel
        return float(max(1 - a, b) > read_beta(beta))

    def estimate(self, *, yes: int, n: int) -> Fraction:
        r"""Return :math:`\hat f = (r - b)/(a - b)`, unbiased, from the share :math:`r` of yes."""
        a, b = self.channel
        n = integer(n, "n", least=1)
        count = integer(yes, "yes", least=0)
        if count > n:
            raise ParameterError(
                "yes",
                f"be at most the number of reports ({n})",
                given(count),
                "Type {yes} or less.",
                yes=n,
            )
        return (Fraction(count, n) - b) / (a - b)

    def bias(self, frequency: Number, *, corrected: bool = True) -> Fraction:
        r"""Return the bias at a true share :math:`f`: of `estimate`, or of the raw share of yes."""
        a, b = self.channel
        f = probability(frequency, "frequency")
        share = f * a + (1 - f) * b
        return ((share - b) / (a - b) if corrected else share) - f

    def variance(
        self, frequency: Number, n: int, of: Literal["sample", "population"] = "sample"
    ) -> Fraction:
        r"""Return the variance of `estimate` at a true share :math:`f`.

        .. math:: \frac{f a(1-a) + (1-f) b(1-b)}{n (a-b)^2} \quad\text{or}\quad
                  \frac{r(1-r)}{n(a-b)^2}, \quad r = fa + (1-f)b

        the first of the people who answered, the second (``of="population"``) of those they were
        drawn from at random.
        """
        one_of(of, "of", "sample", "population")
        a, b = self.channel
        f = probability(frequency, "frequency")
        r = f * a + (1 - f) * b
        spread = r * (1 - r) if of == "population" else f * a * (1 - a) + (1 - f) * b * (1 - b)
        return spread / (integer(n, "n", least=1) * (a - b) ** 2)


def _coin(p: object, name: str) -> Fraction:
    value = probability(p, name)
    if value in (0, 1):
        raise ParameterError(
            name,
            "be above 0 and below 1",
            given(p),
            f"A sure coin leaves no doubt: type {{{name}}}.",
            **{name: 0.5},
        )
    return value


register(
    Specimen(name="category.warner", make=Warner.optimum, inputs=(0, 1), tight=True),
)
