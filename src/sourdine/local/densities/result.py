"""`Density`: an estimate that is a density, with its noise and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.exact import probability, rational
from sourdine.local.densities.picture import picture
from sourdine.presentation.numbers import shown
from sourdine.privacy import Guarantee
from sourdine.release import Answer, Columns, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number

__all__ = ["Density"]

ROWS = 10
NORMAL = 1.959963984540054
BAND = (
    "The band is pointwise: 95 % of the estimates would fall in it if the people answered again "
    "and the truth were what is drawn. It says nothing of what smoothing hides."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Density(Answer):
    """A density on public bounds: constant on equal cells, not negative, of integral 1.

    Parameters
    ----------
    bounds
        Where it lives.
    mass
        The share of each cell.
    raw
        The heights before they were made a density: unbiased where the estimator is linear.
    spread
        The standard deviation of each height by the known noise and by sampling.
    cost
        What each person's report cost that person.
    method
        What drew the reports, and how they were read.
    reports
        How many people answered.

    Notes
    -----
    *Claim*: whatever the reports, it is not negative and its integral is 1. *Checked by*
    ``test_always_a_density``. *Claim*: `cdf` and `quantile` are inverse to each other where the
    density is positive. *Checked by* ``test_quantiles_invert_the_cdf``.

    Examples
    --------
    >>> half = Density(
    ...     bounds=(0, 10), mass=np.array([0.5, 0.25, 0.25, 0.0]), raw=np.zeros(4),
    ...     spread=np.zeros(4), cost=Guarantee(1, 0, "local"), method="example", reports=9,
    ... )
    >>> half.cdf(2.5), half.quantile(0.5), half.integral(0, 5), half.mean
    (0.5, 2.5, 0.75, 3.125)
    >>> half.pdf([1, 9, 11]).tolist()
    [0.2, 0.0, 0.0]
    """

    bounds: tuple[Number, Number]
    mass: NDArray[np.float64]
    raw: NDArray[np.float64]
    spread: NDArray[np.float64]
    cost: Guarantee
    method: str
    reports: int

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds, as floats."""
        return float(self.bounds[0]), float(self.bounds[1])

    @property
    def edges(self) -> NDArray[np.float64]:
        """The ends of the cells."""
        return np.linspace(*self.ends, self.mass.size + 1)

    @property
    def width(self) -> float:
        """The width of a cell."""
        low, high = self.ends
        return (high - low) / self.mass.size

    @property
    def heights(self) -> NDArray[np.float64]:
        """The density's value in each cell."""
        return self.mass / self.width

    def pdf(self, x: ArrayLike) -> Any:  # noqa: ANN401
        """Return the density at x; 0 outside the bounds."""
        at = np.asarray(x, np.float64)
        low, high = self.ends
        cell = np.searchsorted(self.edges, at, side="right") - 1
        height = self.heights[np.clip(cell, 0, self.mass.size - 1)]
        return _plain(np.where((at >= low) & (at <= high), height, 0.0))

    def cdf(self, x: ArrayLike) -> Any:  # noqa: ANN401
        """Return the share of people at x or below."""
        return _plain(np.interp(np.asarray(x, np.float64), self.edges, self._cumulative))

    def quantile(self, q: ArrayLike) -> Any:  # noqa: ANN401
        """Return the least x that a share ``q`` of people does not pass."""
        for order in np.ravel(q):
            probability(float(order), "q")
        total, order = self._cumulative, np.asarray(q, np.float64)
        cell = np.searchsorted(total, order, side="left") - 1
        cell = np.maximum(cell, np.flatnonzero(self.mass)[0])
        part = np.clip((order - total[cell]) / np.diff(total)[cell], 0, 1)
        return _plain(self.ends[0] + (cell + part) * self.width)

    @property
    def _cumulative(self) -> NDArray[np.float64]:
        total = np.append(0.0, np.cumsum(self.mass))
        return np.asarray(total / total[-1])

    def integral(self, a: Number, b: Number) -> float:
        """Return the share of people between ``a`` and ``b``."""
        ends = self.cdf([float(rational(a, "a")), float(rational(b, "b"))])
        return float(ends[1] - ends[0])

    @property
    def mean(self) -> float:
        """The mean of the density."""
        return float(self.mass @ ((self.edges[:-1] + self.edges[1:]) / 2))

    def band(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the pointwise 95 % band of the heights.

        The spread is that of the estimate over fresh answers, were the estimate the truth: known
        noise and sampling, for whatever smoothing was chosen. What smoothing hides is not in it.
        """
        half = NORMAL * self.spread
        return np.maximum(self.heights - half, 0), self.heights + half

    def plot(
        self,
        *,
        path: str | None = None,
        truth: Callable[[NDArray[np.float64]], ArrayLike] | None = None,
        title: str | None = None,
    ) -> Any:  # noqa: ANN401
        """Draw the density with its band; ``truth`` is a function to draw beside it."""
        return picture(self, path=path, truth=truth, title=title)

    def columns(self) -> Columns:
        """Return the density in each cell, with the ends of its pointwise band."""
        edges, (low, high) = self.edges.tolist(), self.band()
        return Columns(
            labels={"from": edges[:-1], "to": edges[1:]},
            name="density",
            values=self.heights.tolist(),
            lower=low.tolist(),
            upper=high.tolist(),
        )

    def sheet(self) -> Sheet:
        """Return what is printed: the shares of ten equal parts."""
        edges = np.linspace(*self.ends, ROWS + 1)
        width = (self.ends[1] - self.ends[0]) / ROWS
        rows = [
            (shown(a, width), shown(b, width), f"{100 * share:.1f} %")
            for (a, b), share in zip(pairwise(edges), np.diff(self.cdf(edges)), strict=True)
        ]
        return Sheet(heads=("from", "to", "share"), lines=rows, notes=self.notes())

    def notes(self) -> list[tuple[str, str]]:
        """Return what stands below the table."""
        return [("cost", str(self.cost)), ("how", f"{self.method}, {self.reports} reports")]

    def to_dict(self) -> dict[str, Any]:
        """Return everything public as what JSON knows."""
        return {
            "bounds": [str(rational(b, "bounds")) for b in self.bounds],
            "mass": self.mass.tolist(),
            "raw": self.raw.tolist(),
            "spread": self.spread.tolist(),
            "cost": self.cost.to_dict(),
            "method": self.method,
            "reports": self.reports,
            "note": BAND,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Density:
        """Return the density that `to_dict` wrote."""
        low, high = map(Fraction, facts["bounds"])
        arrays = {name: np.array(facts[name], np.float64) for name in ("mass", "raw", "spread")}
        return cls(
            bounds=(low, high),
            cost=Guarantee.from_dict(facts["cost"]),
            method=facts["method"],
            reports=facts["reports"],
            **arrays,
        )


def _plain(x: NDArray[Any]) -> Any:  # noqa: ANN401
    """Return a number for a number, an array for an array."""
    return float(x) if np.ndim(x) == 0 else np.asarray(x)
