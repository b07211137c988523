"""Shares of bins, at one resolution or at several, smoothed with their known noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from sourdine.exact import one_of
from sourdine.local.densities.bin_report import BinReport
from sourdine.local.densities.mixture import Mixture, smoothings
from sourdine.local.densities.protocol import DensityProtocol
from sourdine.local.densities.shrinkage import Shrunk, root
from sourdine.local.densities.wavelets import Wavelet
from sourdine.mechanisms.mechanism import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.grid import Grid
    from sourdine.noise import Source
    from sourdine.privacy import Guarantee

    Floats = NDArray[np.float64]

__all__ = ["Bins"]

READINGS = ("mixture", "shrinkage", "histogram")

FRESH = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins(DensityProtocol):
    r"""Everybody reports the bin of their value by optimal unary encoding.

    With several resolutions each person draws one, whatever their value, and reports the bin
    there: coarse reports tell the slow parts of the density with less noise, fine ones its details.
    The server joins them by weighted least squares, which gives shares of the finest bins and the
    covariance of their noise, and smooths these.

    Parameters
    ----------
    bounds, epsilon
        The public bounds, and the privacy loss of one report.
    bins
        The numbers of bins, powers of two from the finest, 4 at least, to the coarsest.
    weights
        How often each resolution is drawn, as whole numbers.
    reading
        ``"mixture"`` of many smoothings by their estimated risk; ``"shrinkage"`` of wavelet
        coefficients of all shifts; ``"histogram"``: none.
    wavelet
        That of the shrinkage.

    Notes
    -----
    The report is `BinReport`, whose claim is checked there. *Claim*: the joined shares are unbiased
    with the covariance given. *Checked by* ``test_joined_shares_are_unbiased``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.
    .. [2] M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the accuracy of differentially private
       histograms through consistency", VLDB 2010 (least squares over resolutions).

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> protocol = Bins(bounds=(0, 1), epsilon=2, bins=(16, 4), weights=(2, 1))
    >>> reports = protocol.randomise([0.3] * 5000, source=SeededSource(1))
    >>> reports.shape
    (5000, 3)
    >>> density = protocol.estimate(protocol.tally(reports), len(reports))
    >>> density.integral(0.25, 0.5) > 0.9
    True
    """

    bounds: tuple[Number, Number]
    epsilon: Number
    bins: Sequence[int] = (64,)
    weights: Sequence[int] = (1,)
    reading: Literal["mixture", "shrinkage", "histogram"] = "mixture"
    wavelet: str = "db4"
    grid: Grid = field(init=False, repr=False)
    guarantee: Guarantee = field(init=False, repr=False)
    report: BinReport = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._settle()
        given = [self.bins] if isinstance(self.bins, int) else self.bins
        report = BinReport(epsilon=self.epsilon, bins=given, weights=self.weights)
        one_of(self.reading, "reading", *READINGS)
        settle(self, bins=report.bins, weights=report.weights, report=report)
        if self.reading != "histogram":
            _ = (
                Wavelet(self.wavelet),
                Shrunk(self.wavelet, 1.0)(np.full((1, 4), 0.25), np.eye(4)),
            )  # refuses early

    @property
    def method(self) -> str:
        """What a reader is told of it."""
        sizes = ", ".join(map(str, self.bins))
        told = {
            "mixture": "smoothed by estimated risk",
            "shrinkage": f"{self.wavelet} shrinkage of all shifts",
            "histogram": "not smoothed",
        }
        return f"unary encoding of {sizes} bins, {told[self.reading]}"

    def reports(self, ticks: NDArray[np.int64], source: Source) -> NDArray[np.uint8]:
        """Draw a resolution and the bits of its bins, a row of bytes for each person."""
        finest = ticks >> (self.bits - self.report.bins[0].bit_length() + 1)
        return self.report.randomise(finest, source=source)

    def tally(self, reports: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Count, for each resolution, the reports and those that support each bin."""
        return self.report.tally(reports)

    def shares(self, tally: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the shares of the finest bins and the covariance of their noise."""
        k, start = self.bins[0], 0
        information, weighted = np.zeros((k, k)), np.zeros(k)
        for size, oracle in zip(self.bins, self.report.oracles, strict=True):
            n, support = int(tally[start]), tally[start + 1 : start + 1 + size]
            start += 1 + size
            if n == 0:
                continue
            p, q = oracle.chances
            often = (support + 1) / (n + 2)
            precision = n * (p - q) ** 2 / (often * (1 - often))
            share = (support / n - q) / (p - q)
            merged = np.repeat(np.eye(size), k // size, axis=1)
            information += merged.T @ (precision[:, None] * merged)
            weighted += merged.T @ (precision * share)
        covariance = np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)
        return covariance @ weighted, covariance

    def read(self, tally: NDArray[np.int64], n: int) -> tuple[Floats, Floats]:
        """Smooth the shares, and again with fresh noise for the spread."""
        del n
        shares, covariance = self.shares(tally)
        k, by = shares.size, root(covariance)
        if self.reading == "histogram":
            return shares * k, np.sqrt(np.diag(covariance)) * k
        if self.reading == "shrinkage":
            smooth: Mixture | Shrunk = Shrunk(self.wavelet, 1.0)
        else:
            smooth = Mixture.of(shares, covariance, smoothings(k))
        mean = smooth(shares[None], by)
        fresh = np.random.default_rng(1).standard_normal((FRESH, len(by))) @ by
        again = smooth(mean + fresh, by)
        return mean[0] * k, np.sqrt(((again - mean) ** 2).mean(axis=0)) * k
