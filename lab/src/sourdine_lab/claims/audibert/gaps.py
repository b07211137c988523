"""QExp without a grid: an answer between two values, by the length of the gap and its rank.

For checks of what the document says of it; what Sourdine draws is on a public grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Gaps"]


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a data set in its bounds, for one order p.

    Examples
    --------
    >>> Gaps.of([1, 3], (0, 4)).chances(0.0).tolist()
    [0.25, 0.5, 0.25]
    """

    edges: NDArray[np.float64]
    ranks: NDArray[np.float64]

    @classmethod
    def of(cls, x: ArrayLike, bounds: tuple[float, float], p: float = 0.5) -> Gaps:
        """Sort the values between the bounds."""
        values = np.sort(np.clip(np.asarray(x, np.float64), *bounds))
        edges = np.concatenate(([bounds[0]], values, [bounds[1]]))
        return cls(edges, np.abs(np.arange(len(values) + 1) - p * len(values)))

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The lengths of the gaps."""
        return np.diff(self.edges)

    def chances(self, c: float) -> NDArray[np.float64]:
        r"""Return the probability of each gap, with weights :math:`e^{-c|i-pn|}` times lengths."""
        present = self.ranks[self.lengths > 0]
        weights = self.lengths * np.exp(-c * (self.ranks - present.min()))
        return np.asarray(weights / weights.sum())

    def within(self, low: float, high: float, c: float) -> float:
        """Return the probability of an answer from ``low`` to ``high``."""
        some = self.lengths > 0
        part = np.diff(np.clip(self.edges, low, high))[some] / self.lengths[some]
        return float(part @ self.chances(c)[some])

    def risk(self, centre: float, c: float) -> float:
        """Return the mean squared distance of the answer to a point."""
        some = self.lengths > 0
        cubes = np.diff((self.edges - centre) ** 3)[some] / (3 * self.lengths[some])
        return float(cubes @ self.chances(c)[some])
