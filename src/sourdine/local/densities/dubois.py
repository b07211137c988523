"""Noisy wavelet coefficients: the mechanism and the estimators of Dubois and her co-authors."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log, log2, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from sourdine.exact import flag, integer, one_of, positive
from sourdine.local.densities.coefficients import NoisyCoefficients
from sourdine.local.densities.protocol import DensityProtocol
from sourdine.local.densities.wavelets import UNIT, Basis, Wavelet
from sourdine.mechanisms.mechanism import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.grid import Grid
    from sourdine.noise import Source
    from sourdine.privacy import Guarantee

__all__ = ["Dubois", "coarse_levels", "paper_levels"]

GAMMA = Fraction(5, 2)
r"""The paper leaves it open. :math:`2\sqrt{\ln 2} = 1.67` is the universal threshold, but lets too
much noise pass at the few coefficients of coarse levels."""
PLAUSIBLE = 0.5
"""A level is dropped if even half of all people in one place would not pass its threshold."""


def paper_levels(n: int, epsilon: Number, wavelet: Wavelet) -> tuple[int, int]:
    r"""Return the paper's :math:`j_0` and :math:`j_1`, with 1 for the constants it leaves open.

    .. math:: 2^{j_0} \approx (n\alpha^2)^{1/(2N+2)}, \qquad
              2^{2j_1} \le \frac{n\alpha^2}{\ln(n\alpha^2)}

    N + 1 is the number of bounded weak derivatives of phi (`Wavelet.smoothness`), not of vanishing
    moments. The theorem asks for N > 0; a rougher wavelet (Haar, db2 to db5) gets N = 1.

    Examples
    --------
    >>> paper_levels(100_000, 1, Wavelet("db8"))
    (4, 6)
    """
    return _levels(n, epsilon, max(1, wavelet.smoothness))


def coarse_levels(n: int, epsilon: Number, wavelet: Wavelet) -> tuple[int, int]:
    r"""Return the same with the vanishing moments for N: a coarser :math:`j_0`, the default.

    The noise of that level is never thresholded. At :math:`n = 10^5` the squared error of db4 on
    Beta(2, 5) is a third of that from the paper's :math:`j_0` on.

    Examples
    --------
    >>> coarse_levels(100_000, 1, Wavelet("db4"))
    (2, 6)
    """
    return _levels(n, epsilon, wavelet.moments)


def _levels(n: int, epsilon: Number, smoothness: int) -> tuple[int, int]:
    size = max(n * float(epsilon) ** 2, 3.0)
    last = max(0, floor(log2(size / log(size)) / 2))
    last = min(last, DensityProtocol.bits - 1)
    return min(last, round(log2(size) / (2 * smoothness + 2))), last


@dataclass(frozen=True, kw_only=True, eq=False)
class Dubois(DensityProtocol):
    r"""Every person adds Laplace noise to all wavelet coefficients of their value.

    A person at :math:`x` releases :math:`\varphi_{j_0 k}(x) + \sigma_{j_0 - 1} W` and
    :math:`\psi_{jk}(x) + \sigma_j W'` for :math:`j_0 \le j \le j_1` and all :math:`k` that touch
    the bounds. The server averages and keeps :math:`\hat\beta_{jk}` if
    :math:`|\hat\beta_{jk}| \ge \gamma \sqrt{\max(j,1)}\, \sigma_j / \sqrt n`.

    Parameters
    ----------
    bounds, epsilon
        The public bounds, and the paper's :math:`\alpha`.
    n
        How many people will answer, about: it sets the levels.
    wavelet
        A compactly supported orthogonal wavelet of PyWavelets.
    constants
        ``"paper"``: :math:`\sigma_{j_0-1} = 4 c_A \|\varphi\|_\infty 2^{j_0/2}/\alpha` and
        :math:`\sigma_j = 4\frac{2\nu-1}{\nu-1} c_A \|\psi\|_\infty \max(j,1)^\nu 2^{j/2}/\alpha`.
        ``"exact"``: :math:`\sigma_j = 2 J s_j 2^{j/2}/\alpha` for J levels in all, with
        :math:`s_j = \max_x \sum_k |\psi(2^j x - k)|` over the grid.
    nu, gamma
        The paper's :math:`\nu > 1` and :math:`\gamma`.
    first, last
        The levels :math:`j_0` and :math:`j_1`; if left out, the paper's :math:`j_1`
        (`paper_levels`) and a coarser :math:`j_0` (`coarse_levels`).
    rule
        ``"hard"``: the thresholded estimator. ``"linear"``: keep everything.
    cap
        Drop levels whose threshold nothing plausible could pass.

    Notes
    -----
    The report is `NoisyCoefficients`, whose privacy is proved and checked there. *Claim*: the
    paper's constants are larger than needed, at levels 2 to 6 from 5 times (Haar) to 24 times
    (coif3). *Checked by* ``test_printed_constants_are_too_large``. *Claim*: the averages are
    unbiased with the variance of the noise. *Checked by*
    ``test_dubois_coefficients_are_unbiased``.

    References
    ----------
    .. [1] C. Butucea, A. Dubois, M. Kroll, A. Saumard, "Local differential privacy: elbow effect
       in optimal density estimation and adaptation over Besov ellipsoids", Bernoulli 26(3), 2020.

    Examples
    --------
    >>> protocol = Dubois(bounds=(0, 1), epsilon=1, n=100_000, wavelet="db4", constants="paper")
    >>> protocol.basis.first, protocol.basis.last, protocol.size
    (2, 6, 164)
    >>> round(float(protocol.worst), 2)
    0.1
    """

    bounds: tuple[Number, Number]
    epsilon: Number
    n: int
    wavelet: str = "db4"
    constants: Literal["exact", "paper"] = "exact"
    nu: Number = Fraction(3, 2)
    gamma: Number = GAMMA
    first: int | None = None
    last: int | None = None
    rule: Literal["hard", "linear"] = "hard"
    cap: bool = True
    grid: Grid = field(init=False, repr=False)
    guarantee: Guarantee = field(init=False, repr=False)
    report: NoisyCoefficients = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._settle()
        n = integer(self.n, "n", least=1)
        first, last = coarse_levels(n, self.epsilon, Wavelet(self.wavelet))
        one_of(self.rule, "rule", "hard", "linear")
        report = NoisyCoefficients(
            epsilon=self.epsilon,
            wavelet=self.wavelet,
            bits_of_input=self.bits,
            first=first if self.first is None else self.first,
            last=max(last, self.first or 0) if self.last is None else self.last,
            constants=self.constants,
            nu=self.nu,
        )
        settle(
            self,
            n=n,
            nu=report.nu,
            gamma=positive(self.gamma, "gamma"),
            first=report.first,
            last=report.last,
            cap=flag(self.cap, "cap"),
            report=report,
        )

    @property
    def basis(self) -> Basis:
        """The levels."""
        return self.report.basis

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The noise's scale of each level in ticks, without the factor 2**(j/2)."""
        return self.report.scales

    @property
    def worst(self) -> Fraction:
        """A bound of the privacy loss between any two values: epsilon, or less."""
        return self.report.worst

    @property
    def size(self) -> int:
        """How many coefficients a person releases."""
        return self.report.cells

    @property
    def chunk(self) -> int:
        """How many people are answered for at once."""
        return max(1, (1 << 22) // self.size)

    @property
    def method(self) -> str:
        """What a reader is told of it."""
        kept = "thresholded" if self.rule == "hard" else "linear"
        return f"noisy {self.wavelet} coefficients, {self.constants} constants, {kept}"

    def coefficients(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what a person's values are before the noise, in ticks, a row a person."""
        return self.report.coefficients(ticks)

    def reports(self, ticks: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Add the noise to all coefficients."""
        return self.report.randomise(ticks, source=source)

    def tally(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up the coefficients."""
        return self.report.tally(reports)

    def averages(self, tally: NDArray[np.int64], n: int) -> list[NDArray[np.float64]]:
        """Return the unbiased coefficients of each level."""
        ends = np.cumsum([self.basis.size(level) for level in self.basis.levels])[:-1]
        parts = np.split(np.asarray(tally, np.float64) / (n * UNIT), ends)
        return [p * level.height for p, level in zip(parts, self.basis.levels, strict=True)]

    def thresholds(self, n: int) -> list[float]:
        """Return what a coefficient of each level must reach to be kept: 0 for phi."""
        made = []
        for level, t in zip(self.basis.levels, self.scales, strict=True):
            sigma = float(t) / UNIT * level.height
            universal = float(self.gamma) * sqrt(max(level.j, 1)) * sigma / sqrt(n)
            made.append(universal if level.kind == "psi" and self.rule == "hard" else 0.0)
        return made

    def read(
        self, tally: NDArray[np.int64], n: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Threshold the averages and rebuild."""
        deviations = [
            sqrt(2 / n) * float(t) / UNIT * level.height
            for level, t in zip(self.basis.levels, self.scales, strict=True)
        ]
        return rebuilt(
            self.basis, self.averages(tally, n), deviations, self.thresholds(n), cap=self.cap
        )


def rebuilt(
    basis: Basis,
    averages: list[NDArray[np.float64]],
    deviations: list[float],
    thresholds: list[float],
    *,
    cap: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of the kept functions at all cells, and its standard deviation."""
    total, variance = np.zeros(1 << basis.bits), np.zeros(1 << basis.bits)
    for level, c, sd, least in zip(basis.levels, averages, deviations, thresholds, strict=True):
        plausible = PLAUSIBLE * basis.wavelet.peak("psi") * level.height
        if cap and least > plausible:
            continue
        kept = np.abs(c) >= least
        total += basis.rebuild(level, np.where(kept, c, 0.0))
        variance += basis.rebuild_variance(level, np.where(kept, sd * sd, 0.0))
    return total, np.sqrt(variance)
