"""Randomised response: for k categories, and for two with Warner's coins."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, expm1
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, one_of, positive, probability
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import PureReport, Report, Specimen, read_beta, register
from sourdine.noise.source import uniform_codes
from sourdine.privacy import LOCAL, Guarantee, Part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source


# ---- What all randomisers of a category share ----------------------------------------------------


class FrequencyOracle(Report):
    r"""One person's category, 0 to :math:`k - 1`, as a report that *supports* some categories.

    A report supports the category :math:`v` with probability :math:`p` if the person's category is
    :math:`v`, and with probability :math:`q` if it is any other. So the number of reports that
    support :math:`v` estimates how many people have it: the estimators of
    `sourdine.local.estimators` need only these two probabilities and the supports.
    """

    __slots__ = ()

    categories: int

    @property
    def top(self) -> int:
        return self.categories - 1

    @property
    @abstractmethod
    def chances(self) -> tuple[float | NDArray[np.float64], float | NDArray[np.float64]]:
        """The probabilities p and q, the same for all categories or one for each."""

    @property
    def block(self) -> int:
        return 1

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of the tallied reports support each category."""
        return tally

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 for a wrong report, 0 for a right one."""
        return np.not_equal(y, x).astype(np.float64)


# ---- Generalised randomised response -------------------------------------------------------------


MOST_CATEGORIES = 1 << 62
CHUNK = 1 << 18  # people at once: enough for the fast coins, few enough for the cache


def _categories(x: int) -> int:
    count = integer(x, "categories", least=2)
    if count > MOST_CATEGORIES:
        hint = "Hash the answers first, to about {categories}."
        raise ParameterError("categories", "be at most 2**62", given(count), hint, categories=1024)
    return count


@frozen(kw_only=True)
class RandomizedResponse(FrequencyOracle, PureReport):
    r"""Report the true category with probability :math:`p`, each other one with :math:`q`.

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + k - 1}, \qquad
              q = \frac{1}{e^\varepsilon + k - 1}

    Categories are coded 0 to :math:`k - 1`; other codes count as the nearest of these. This is
    generalised randomised response, GRR [1]_ [2]_; with two categories it is the scheme of two
    coins with the best coins.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2.

    Notes
    -----
    *Claim*: :math:`p/q = e^\varepsilon`, so a report is :math:`\varepsilon`-LDP, no less. *Checked
    by* ``test_exact_worst_case[category.response]``. *Claim*: `estimate` is unbiased with the
    variance given. *Checked by* ``test_randomized_response_estimator``.

    References
    ----------
    .. [1] P. Kairouz, K. Bonawitz, D. Ramage, "Discrete distribution estimation under local
       privacy", ICML 2016.
    .. [2] J.-F. Couchot, slides on local privacy of tables, 2023 (row L3).

    Examples
    --------
    >>> survey = RandomizedResponse(epsilon=1, categories=4)
    >>> survey.estimate([400, 300, 200, 100]).round(3).tolist()
    [0.749, 0.416, 0.084, -0.249]
    """

    categories: int = field(converter=_categories)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Randomised response itself. *Checked by* ``test_whole_curve[category.response]``."""
        return (Part.response(self.epsilon, self.categories),)

    @property
    def lie(self) -> Real:
        r"""The probability of a wrong report, :math:`(k-1)q`, to any precision."""
        b = exp_neg(self.epsilon)
        return (self.categories - 1) * b / (1 + (self.categories - 1) * b)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        r"""Keep the code with probability :math:`p - q`, else report one of the k uniformly."""
        keep = _keep(self.epsilon, self.categories)
        drawn = np.empty(codes.size, np.int64)
        for start in range(0, codes.size, CHUNK):
            part = codes[start : start + CHUNK]
            anyone = uniform_codes(self.categories, part.size, source)
            kept = noise.bernoulli(keep, part.size, source=source).view(np.int8)
            truth = part.astype(anyone.dtype)
            truth ^= anyone
            truth &= (-kept).astype(anyone.dtype)  # all bits of those who keep their own
            np.bitwise_xor(truth, anyone, out=drawn[start : start + CHUNK], casting="unsafe")
        return drawn

    @property
    def chances(self) -> tuple[float, float]:
        """The probabilities p of the true category and q of each other one."""
        b = exp(-float(self.epsilon))
        p = 1 / (1 + (self.categories - 1) * b)
        return p, b * p

    channel = chances

    @property
    def noise_variance(self) -> float:
        r"""The number of reports times the variance of a rare category's estimate.

        That is :math:`\frac{q(1-q)}{(p-q)^2} = \frac{e^\varepsilon + k - 2}{(e^\varepsilon-1)^2}`.
        """
        b = exp(-float(self.epsilon))
        return b * (1 + (self.categories - 2) * b) / expm1(-float(self.epsilon)) ** 2

    def law(self, x: int) -> Law:
        return Law.two_levels(x, 1, self.categories, float(self.epsilon))

    def error(self, beta: Number = 0.05) -> float:
        return float(self.lie.above() > read_beta(beta))

    def estimate(self, counts: ArrayLike) -> NDArray[np.float64]:
        r"""Return :math:`\hat f = (c/n - q)/(p - q)`, unbiased; single entries may be negative."""
        p, q = self.chances
        c = np.asarray(counts, np.float64)
        if c.shape != (self.categories,) or not c.sum() > 0:
            must = f"be {self.categories} numbers of reports, not all 0"
            hint = "Count the reports of every category."
            raise ParameterError("counts", must, f"an array of shape {c.shape}", hint)
        return np.asarray((c / c.sum() - q) / (p - q))

    def variance(self, frequency: Number, n: int) -> float:
        r"""Return :math:`\frac{f p(1-p) + (1-f) q(1-q)}{n(p-q)^2}`, of one entry of `estimate`."""
        p, q = self.chances
        f = float(probability(frequency, "frequency"))
        spread = f * p * (1 - p) + (1 - f) * q * (1 - q)
        return spread / (integer(n, "n", least=1) * (p - q) ** 2)


@lru_cache(256)
def _keep(epsilon: Fraction, k: int) -> Real:
    """Return p - q, to any precision; cached, as its known digits are worth keeping."""
    b = exp_neg(epsilon)
    return (1 - b) / (1 + (k - 1) * b)


# ---- Warner's randomised response ----------------------------------------------------------------


HALF = Fraction(1, 2)


def _truth(x: Number) -> Fraction:
    return _coin(x, "truth")


def _yes(x: Number) -> Fraction:
    return _coin(x, "yes")


@frozen(kw_only=True)
class Warner(FrequencyOracle):
    r"""Answer a yes-no question with two coins: the truth, or the second coin's answer.

    With probability :math:`\tau` the person tells the truth, else "yes" with probability
    :math:`\pi`:

    .. math:: a = P(\text{yes} \mid \text{yes}) = \tau + (1-\tau)\pi, \qquad
              b = P(\text{yes} \mid \text{no}) = (1-\tau)\pi

    The input and the output are 1 for yes and 0 for no. Warner's own scheme asks the opposite
    question in place of a second coin [1]_; the slides have two coins [3]_.

    Parameters
    ----------
    truth
        :math:`\tau`, above 0 and below 1.
    yes
        :math:`\pi`, above 0 and below 1: with a certain second coin one answer would reveal all.

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
    .. [3] J.-F. Couchot, slides on local privacy of tables, 2023 (row L2).

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
        a, b = self.channel
        worst = Real.of(max(a / b, (1 - b) / (1 - a)))
        return Guarantee(worst.log().above(), 0, LOCAL)

    @staticmethod
    def optimum(epsilon: Number) -> Warner:
        r"""Return the coins of least variance at this epsilon, the first rounded down.

        They are :math:`\pi = 1/2` and :math:`\tau = (e^\varepsilon - 1)/(e^\varepsilon + 1)`: every
        other pair at the same epsilon has a larger variance. Two fair coins are best at ln 3.
        """
        q = exp_neg(positive(epsilon, "epsilon"))
        return Warner(truth=((1 - q) / (1 + q)).below(), yes=HALF)

    @property
    def channel(self) -> tuple[Fraction, Fraction]:
        """The probabilities of answering yes if the truth is yes, and if it is no."""
        b = (1 - self.truth) * self.yes
        return self.truth + b, b

    def read(self, x: object) -> int:
        """Return 0 or 1; True and False are accepted."""
        return super().read(int(x) if isinstance(x, (bool, np.bool_)) else x)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        a, b = self.channel
        return noise.bernoulli_table([b, a], codes, source=source).astype(np.int64)

    @property
    def chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        a, b = map(float, self.channel)
        return np.array([1 - b, a]), np.array([1 - a, b])

    def law(self, x: int) -> Law:
        p = self.channel[1 - x]
        return Law.finite(np.log([float(1 - p), float(p)]))

    def error(self, beta: Number = 0.05) -> float:
        a, b = self.channel
        return float(max(1 - a, b) > read_beta(beta))

    def estimate(self, *, yes: int, n: int) -> Fraction:
        r"""Return :math:`\hat f = (r - b)/(a - b)`, unbiased, from the share :math:`r` of yes."""
        a, b = self.channel
        n = integer(n, "n", least=1)
        count = integer(yes, "yes", least=0)
        if count > n:
            must = f"be at most the number of reports ({n})"
            raise ParameterError("yes", must, given(count), "Use {yes} or less.", yes=n)
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

        the first for the people who answered, the second (``of="population"``) for those they were
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
        hint = f"A certain answer gives no privacy: use {{{name}}}."
        raise ParameterError(name, "be above 0 and below 1", given(p), hint, **{name: 0.5})
    return value


register(
    Specimen("category.response", lambda e: RandomizedResponse(epsilon=e, categories=5), range(5)),
    Specimen("category.warner", Warner.optimum, (0, 1)),
)
