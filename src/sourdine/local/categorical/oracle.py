"""What the randomisers of this room share: their parameters, and how wrong a report is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.mechanisms.frequency_oracle import FrequencyOracle
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.exact.parameters import Number

__all__ = ["MOST_CATEGORIES", "Oracle", "read_categories", "share"]

MOST_CATEGORIES = (1 << 24) - 1
"""No survey has more categories, so that no tally has more than 2**24 cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle(FrequencyOracle):
    r"""An :math:`\varepsilon`-LDP report of one of :math:`k` categories.

    A report is as wrong as it can be, 1, if it does not support the person's category, else 0.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2.
    """

    most: ClassVar[int] = MOST_CATEGORIES

    epsilon: Number
    categories: int
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive(self.epsilon, "epsilon")
        categories = read_categories(self.categories, self.most)
        guarantee = Guarantee(epsilon, 0, LOCAL)
        settle(self, epsilon=epsilon, categories=categories, guarantee=guarantee)

    @property
    @abstractmethod
    def miss(self) -> Real:
        r"""The chance :math:`1 - p` that a report does not support the truth, to any precision."""

    @abstractmethod
    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        """Return which outcomes of `law` support a category."""

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 for a report that does not support the truth, 0 for one that does."""
        return np.where(self.supports(y, x), 0.0, 1.0)

    def error(self, beta: Number = 0.05) -> float:
        """Return 0 if a report supports the truth but for probability ``beta``, else 1."""
        return float(self.miss.above() > read_beta(beta))


@lru_cache(1024)
def share(weight: int, other: int, drop: Fraction) -> Real:
    r"""Return :math:`\frac{w e^{-d}}{u + w e^{-d}}` to any precision.

    It is the chance of something of weight :math:`w e^{-d}` against one of weight :math:`u`. The
    same object is returned for the same numbers: coins are quick where they know theirs.
    """
    b = weight * exp_neg(drop)
    return b / (other + b)


def read_categories(categories: object, most: int) -> int:
    """Return how many categories there are."""
    k = integer(categories, "categories", least=2)
    if k > most:
        raise ParameterError(
            "categories",
            f"be at most {most}",
            given(k),
            "Group the answers first, to {categories} or fewer, or use RandomizedResponse.",
            categories=most,
        )
    return k
