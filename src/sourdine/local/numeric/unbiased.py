"""What the randomisers of a number share whose reports can be averaged."""

from __future__ import annotations

from abc import abstractmethod
from math import expm1, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.mechanisms.mechanism import Report

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.grid import Grid

    Floats = NDArray[np.float64]

__all__ = ["UnbiasedReport", "log_mixed", "on_grid"]


class UnbiasedReport(Report):
    r"""One person's tick :math:`x` of 0 to :math:`m`, as a report whose mean is a line in it.

    So a line through the reports, `estimates`, has the mean :math:`x`: its average over many people
    is an unbiased estimate of theirs, whatever they answered. Between neighbouring `nodes` the law
    itself is linear in :math:`x`, so what holds there for a linear function holds for every tick.
    """

    __slots__ = ()

    last: int

    @property
    def top(self) -> int:
        """The highest tick, m."""
        return self.last

    @abstractmethod
    def estimates(self, reports: ArrayLike) -> Floats:
        """Return an unbiased estimate, in ticks, of each reporter's tick."""

    @abstractmethod
    def variance(self, x: ArrayLike) -> Floats:
        """Return the variance of `estimates` for a tick."""

    @abstractmethod
    def nodes(self) -> Floats:
        """Return the positions between which the law is linear, from 0 to m."""

    @abstractmethod
    def rows(self) -> Floats:
        """Return the probabilities of all reports, a row for each of the nodes."""

    def values(self, reports: ArrayLike, grid: Grid) -> Floats:
        """Return an unbiased estimate of each reporter's number; it may lie far outside the grid.

        Parameters
        ----------
        reports
            What `randomise` drew.
        grid
            The column's lattice, whose highest tick is ``last``.
        """
        on_grid(self, grid)
        return float(grid.lower) + float(grid.step) * self.estimates(reports)

    def loss(self, x: int, y: NDArray[np.int64]) -> Floats:
        """Return how far the estimate from one report is from the truth, in ticks."""
        return np.abs(self.estimates(y) - x)

    def farthest(self) -> float:
        """Return how far the estimate from one report can be from any tick."""
        ends = self.estimates([0, self.codes - 1])
        return float(max(np.abs(ends - self.last).max(), np.abs(ends).max()) * (1 + 1e-12))


def log_mixed(share: float, epsilon: float) -> float:
    r"""Return :math:`\ln(1 - t + te^{-\varepsilon})`, the weight of two levels mixed.

    Examples
    --------
    >>> round(log_mixed(0.5, 1.0), 4), log_mixed(1.0, 2000.0)
    (-0.3799, -2000.0)
    """
    return -epsilon if share >= 1 else log1p(share * expm1(-epsilon))


def on_grid(report: Any, grid: Grid) -> None:  # noqa: ANN401 - any report that has ticks
    """Refuse a grid on which the reports were not drawn."""
    if grid.last != report.last:
        raise ParameterError(
            "grid",
            f"have the highest tick {report.last} of the reports",
            str(grid.last),
            "Type the grid that the answers were read with.",
        )
