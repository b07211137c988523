"""Memoised local hashing: a few permanent responses, however many categories there are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import given, integer, positive
from sourdine.local.categorical.hashing import LocalHashing, digits_in, primes_for
from sourdine.local.categorical.oracle import Oracle
from sourdine.local.rounds.memoised import Memoised, read_permanent
from sourdine.mechanisms.mechanism import settle
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

__all__ = ["MemoisedHashing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoisedHashing(Memoised, LocalHashing):
    r"""LOLOHA: hash the category once and for all, keep a response to each of its :math:`g` values.

    A person draws a hash (that of `LocalHashing`), and for each hashed value a randomised response
    at :math:`\varepsilon_\infty`; both are kept. Each round sends the hash, and the response to the
    hashed answer of that round by another randomised response, so that one report is
    :math:`\varepsilon_1`-LDP. A report looks like one of `LocalHashing` at :math:`\varepsilon_1`
    and :math:`g`, and is estimated like one:

    .. math:: p = \frac{e^{\varepsilon_1}}{e^{\varepsilon_1} + g - 1}, \qquad q = \frac1g, \qquad
              \frac{q(1-q)}{(p-q)^2} =
              \frac{(e^{\varepsilon_1} + g - 1)^2}{(g - 1)(e^{\varepsilon_1} - 1)^2}

    Parameters
    ----------
    epsilon
        :math:`\varepsilon_1`, the privacy loss of one report, above 0.
    permanent
        :math:`\varepsilon_\infty`, what any number of rounds costs a person whose answer stays;
        above ``epsilon``.
    categories
        :math:`k`, at least 2.
    values
        :math:`g`, a prime. All rounds together cost :math:`g\varepsilon_\infty` between histories
        that change alike (`sourdine.local.rounds.losses`), so 2 is mostly best.

    Notes
    -----
    *Claim*: one report is :math:`\varepsilon_1`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.memoised]``; rounds by ``[rounds.hashing.stays]`` and
    ``[rounds.hashing.any]``. For :math:`g = 2` the second response is that of the paper. For more
    values the paper's formula [1]_ is cautious: it leaves one report below :math:`\varepsilon_1`
    (``test_the_second_response_of_the_paper``); here it is exact.

    References
    ----------
    .. [1] H. H. Arcolezi, C. Pinzón, C. Palamidessi, S. Gambs, "Frequency estimation of evolving
       data under local differential privacy", EDBT 2023.

    Examples
    --------
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> hours.total, round(hours.noise_variance, 2)
    (Fraction(2, 1), 25.67)
    >>> print(hours.guarantee)
    epsilon 0.4, any two inputs of one person
    """

    permanent: Number
    values: int = 2

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        k, g = self.categories, integer(self.values, "values", least=2)
        if g not in primes_for(k):
            raise ParameterError(
                "values",
                f"be a prime whose reports of {k} categories can be tallied",
                given(self.values),
                "Type {values}.",
                values=2,
            )
        permanent = read_permanent(self.permanent, Fraction(self.epsilon))
        settle(self, permanent=permanent, values=g, digits=digits_in(k, g))

    @property
    def answers(self) -> int:
        """How many permanent responses a person has, g."""
        return self.values

    @property
    def hashes(self) -> int:
        r"""How many hashes there are, :math:`g^d`."""
        return int(self.values**self.digits)

    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the hashed answers of keys and categories."""
        return LocalHashing.hashed(self, key, x)


register(
    Specimen(
        name="category.memoised",
        make=lambda epsilon: MemoisedHashing(
            epsilon=epsilon, permanent=2 * positive(epsilon, "epsilon"), categories=5, values=3
        ),
        inputs=tuple(range(5)),
        tight=True,
    )
)
