"""Generalised randomised response: one of k categories, or a lie."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import exp, expm1
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, probability
from sourdine.laws import Law
from sourdine.mechanisms import parameters as read
from sourdine.mechanisms.frequency_oracle import FrequencyOracle
from sourdine.mechanisms.mechanism import read_beta
from sourdine.mechanisms.registry import Specimen, register
from sourdine.noise.uniform import uniform_codes
from sourdine.privacy import LOCAL, Guarantee, Part

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["RandomizedResponse"]

MOST_CATEGORIES = 1 << 62
CHUNK = 1 << 18
"""People answered for at once: enough for the quick coins, few enough for the cache."""


def _categories(x: int) -> int:
    count = integer(x, "categories", least=2)
    if count > MOST_CATEGORIES:
        raise ParameterError(
            "categories",
            "be at most 2**62",
            given(count),
            "Hash the answers first, to {categories} or so.",
            categories=1024,
        )
    return count


@frozen(kw_only=True)
class RandomizedResponse(FrequencyOracle):
    r"""Report the true category with probability :math:`p`, each other one with :math:`q`.

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + k - 1}, \qquad
              q = \frac{1}{e^\varepsilon + k - 1}

    Categories are coded 0 to :math:`k - 1`; other codes count as the nearest of these. With two
    categories this is Warner's scheme with the best coins.

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

    Examples
    --------
    >>> survey = RandomizedResponse(epsilon=1, categories=4)
    >>> survey.estimate([400, 300, 200, 100]).round(3).tolist()
    [0.749, 0.416, 0.084, -0.249]
    """

    epsilon: Fraction = field(converter=read.epsilon)
    categories: int = field(converter=_categories)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one report."""
        return Guarantee(self.epsilon, 0, LOCAL)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Randomised response itself. *Checked by* ``test_whole_curve[category.response]``."""
        return (Part.response(self.epsilon, self.categories),)

    @property
    def lie(self) -> Real:
        r"""The chance of a wrong report, :math:`(k-1)q`, to any precision."""
        b = exp_neg(self.epsilon)
        return (self.categories - 1) * b / (1 + (self.categories - 1) * b)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        r"""Keep the code with probability :math:`p - q`, else report any of the k alike."""
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
        """The chances p of the true category and q of each other one."""
        return self.channel

    @property
    def noise_variance(self) -> float:
        r"""The number of reports times the variance of a rare category's estimate.

        That is :math:`\frac{q(1-q)}{(p-q)^2} = \frac{e^\varepsilon + k - 2}{(e^\varepsilon-1)^2}`.
        """
        b = exp(-float(self.epsilon))
        return b * (1 + (self.categories - 2) * b) / expm1(-float(self.epsilon)) ** 2

    def law(self, x: int) -> Law:
        """Return the law over the categories."""
        return Law.two_levels(x, 1, self.categories, float(self.epsilon))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 for a wrong report, 0 for a right one."""
        return np.not_equal(y, x).astype(np.float64)

    def error(self, beta: Number = 0.05) -> float:
        """Return 0 if one report is right but for probability ``beta``, else 1."""
        return float(self.lie.above() > read_beta(beta))

    @property
    def channel(self) -> tuple[float, float]:
        """The chances p of the true category and q of each other one."""
        b = exp(-float(self.epsilon))
        p = 1 / (1 + (self.categories - 1) * b)
        return p, b * p

    def estimate(self, counts: ArrayLike) -> NDArray[np.float64]:
        r"""Return :math:`\hat f = (c/n - q)/(p - q)`, unbiased; single entries may be negative."""
        p, q = self.channel
        c = np.asarray(counts, np.float64)
        if c.shape != (self.categories,) or not c.sum() > 0:
            raise ParameterError(
                "counts",
                f"be {self.categories} numbers of reports, not all 0",
                f"the shape {c.shape}",
                "Count the reports of every category.",
            )
        return np.asarray((c / c.sum() - q) / (p - q))

    def variance(self, frequency: Number, n: int) -> float:
        r"""Return :math:`\frac{f p(1-p) + (1-f) q(1-q)}{n(p-q)^2}`, of one entry of `estimate`."""
        p, q = self.channel
        f = float(probability(frequency, "frequency"))
        spread = f * p * (1 - p) + (1 - f) * q * (1 - q)
        return spread / (integer(n, "n", least=1) * (p - q) ** 2)


@lru_cache(256)
def _keep(epsilon: Fraction, k: int) -> Real:
    """Return p - q, to any precision; kept, as what is known of it is worth keeping."""
    b = exp_neg(epsilon)
    return (1 - b) / (1 + (k - 1) * b)


register(
    Specimen(
        name="category.response",
        make=lambda epsilon: RandomizedResponse(epsilon=epsilon, categories=5),
        inputs=tuple(range(5)),
        tight=True,
    )
)
