"""Square Wave reports, read by the likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, integer, one_of
from sourdine.local.densities.density import DensityProtocol
from sourdine.local.estimators.distribution import em
from sourdine.local.numeric.sliding import SlidingWindow, square_wave
from sourdine.mechanisms.mechanism import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.noise import Source
    from sourdine.privacy import Guarantee


FRESH = 12
EARLY = 0.03
"""EM stops once a step changes the log likelihood by less: going on would fit the noise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wave(DensityProtocol):
    """Everybody reports a place near their value, or with a smaller chance elsewhere.

    Parameters
    ----------
    bounds, epsilon
        The public bounds, and the privacy loss of one report.
    cells
        The cells of the density, a power of two.
    reading
        ``"ems"``: expectation and maximisation with neighbouring cells averaged at each step.
        ``"em"``: without, stopped early; for densities with spikes, of fewer cells.

    Notes
    -----
    The report is `sourdine.local.numeric.sliding.square_wave`, whose claim
    ``test_exact_worst_case[number.square-wave]`` checks. The spread is that of the estimate from
    fresh reports, were the estimate the truth.

    References
    ----------
    .. [1] Z. Li, T. Wang, M. Lopuhaä-Zwakenberg, N. Li, B. Škorić, "Estimating numerical
       distributions under local differential privacy", SIGMOD 2020.

    Examples
    --------
    >>> protocol = Wave(bounds=(0, 1), epsilon=1, cells=32)
    >>> protocol.report.last
    31
    """

    bounds: tuple[Number, Number]
    epsilon: Number
    cells: int = 256
    reading: Literal["ems", "em"] = "ems"
    grid: Grid = field(init=False, repr=False)
    guarantee: Guarantee = field(init=False, repr=False)
    report: SlidingWindow = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._settle()
        cells = integer(self.cells, "cells", least=4)
        if cells & (cells - 1) or cells > 512:
            must = "be a power of two, at most 512"
            raise ParameterError("cells", must, given(cells), "Use {cells}.", cells=256)
        one_of(self.reading, "reading", "ems", "em")
        settle(self, cells=cells, report=square_wave(self.epsilon, cells - 1))

    @property
    def method(self) -> str:
        return f"square wave on {self.cells} cells, {self.reading.upper()}"

    def reports(self, ticks: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        shift = self.bits - self.cells.bit_length() + 1
        return self.report.randomise(ticks >> shift, source=source)

    def tally(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.report.tally(reports)

    def read(
        self, tally: NDArray[np.int64], n: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        matrix = self.report.rows().T
        share = self._most_likely(matrix, tally)
        law = matrix @ share
        rng = np.random.default_rng(1)
        fresh = rng.multinomial(n, law / law.sum(), size=FRESH)
        again = np.array([self._most_likely(matrix, counts) for counts in fresh])
        spread = np.sqrt(((again - share) ** 2).mean(axis=0))
        return share * self.cells, spread * self.cells

    def _most_likely(
        self, matrix: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if self.reading == "ems":
            return em(matrix, counts, smooth=True)
        return em(matrix, counts, change=EARLY)
