"""What all randomisers of a category share: reports support categories."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from sourdine.mechanisms.mechanism import Report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FrequencyOracle"]


class FrequencyOracle(Report):
    r"""One person's category, 0 to :math:`k - 1`, as a report that *supports* some categories.

    A report supports the category :math:`v` with probability :math:`p` if the person's is
    :math:`v`, and with probability :math:`q` if it is another, whichever. So the number of reports
    that support :math:`v` tells how many people have it: all estimators of
    `sourdine.local.estimators` need are these two chances and the supports.
    """

    __slots__ = ()

    categories: int

    @property
    def top(self) -> int:
        """The highest code, k - 1."""
        return self.categories - 1

    @property
    @abstractmethod
    def chances(self) -> tuple[float | NDArray[np.float64], float | NDArray[np.float64]]:
        """The chances p and q, the same for all categories or one for each."""

    @property
    def block(self) -> int:
        """Every category is counted on its own."""
        return 1

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of the tallied reports support each category."""
        return tally
