"""Permanent randomised response: one response to each category, kept and told again and again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sourdine.exact import positive
from sourdine.laws import Law
from sourdine.local.categorical.oracle import Oracle, share
from sourdine.local.rounds.memoised import Memoised, read_permanent
from sourdine.mechanisms.mechanism import settle
from sourdine.mechanisms.randomized_response import RandomizedResponse
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.exact.parameters import Number

__all__ = ["PermanentResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermanentResponse(Memoised, Oracle):
    r"""Keep a response to each category at :math:`\varepsilon_\infty`, tell it at another.

    RAPPOR's two steps, a permanent and an instantaneous response [1]_, on categories instead of
    bits. One report is a `RandomizedResponse` at :math:`\varepsilon_1`.

    Parameters
    ----------
    epsilon
        :math:`\varepsilon_1`, the privacy loss of one report, above 0.
    permanent
        :math:`\varepsilon_\infty`, what any number of rounds costs a person whose answer stays;
        above ``epsilon``.
    categories
        :math:`k`, from 2 to 256. All rounds together cost :math:`k\varepsilon_\infty` between
        histories that change alike.

    Notes
    -----
    *Claim*: one report is :math:`\varepsilon_1`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.permanent]``; rounds by ``[rounds.response.stays]``,
    ``[rounds.response.alike]`` and ``[rounds.response.any]``.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable
       privacy-preserving ordinal response", CCS 2014.
    .. [2] H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, "Improving the utility of locally
       differentially private protocols for longitudinal and multidimensional frequency
       estimates", Digital Communications and Networks, 2022 (L-GRR).

    Examples
    --------
    >>> smokes = PermanentResponse(epsilon=0.5, permanent=1, categories=2)
    >>> smokes.law(1).pmf([0, 1]).round(3).tolist()
    [0.378, 0.622]
    """

    most: ClassVar[int] = 256

    permanent: Number

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        settle(self, permanent=read_permanent(self.permanent, Fraction(self.epsilon)))

    @property
    def answers(self) -> int:
        """How many permanent responses a person has, k."""
        return self.categories

    @property
    def hashes(self) -> int:
        """One: the answer is its own hash."""
        return 1

    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the categories themselves."""
        return x + key

    @property
    def response(self) -> RandomizedResponse:
        """What one report is."""
        return RandomizedResponse(epsilon=self.epsilon, categories=self.categories)

    @property
    def miss(self) -> Real:
        """The chance of another category than the truth, to any precision."""
        return share(self.categories - 1, 1, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p of the true category and q of each other one."""
        return self.response.chances

    @property
    def noise_variance(self) -> float:
        """The number of reports times the variance of the estimate of a rare category."""
        return self.response.noise_variance

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        """Return which reports are the category."""
        return np.equal(y, x)

    def law(self, x: int) -> Law:
        """Return the law over the categories."""
        return Law.two_levels(x, 1, self.categories, float(self.epsilon))


register(
    Specimen(
        name="category.permanent",
        make=lambda epsilon: PermanentResponse(
            epsilon=epsilon, permanent=2 * positive(epsilon, "epsilon"), categories=4
        ),
        inputs=tuple(range(4)),
        tight=True,
    )
)
