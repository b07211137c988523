"""One person's wavelet coefficients, each with noise: what `Dubois` asks people for."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import given, integer, one_of, positive, rational
from sourdine.laws import Product
from sourdine.local.densities.wavelets import DEEPEST, UNIT, Basis, Level
from sourdine.mechanisms.laplace import laplace_error, laplace_law
from sourdine.mechanisms.mechanism import Report, read_beta, read_scale, settle
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.release import Release

__all__ = ["NoisyCoefficients"]


@dataclass(frozen=True, kw_only=True)
class NoisyCoefficients(Report):
    r"""Report all wavelet coefficients of a value, each with Laplace noise.

    Coefficients are whole multiples of :math:`2^{-16}` (times :math:`2^{j/2}`, which the server
    knows) and the noise is discrete Laplace on them, of the scale :math:`t_j` for level j.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    wavelet, bits_of_input, first, last
        As in `Basis`; the input is one of :math:`2^b` cells.
    constants, nu
        As in `Dubois`.

    Notes
    -----
    *Claim*: the loss between any two values is
    :math:`\sum_j \|c_j(x) - c_j(x')\|_1/t_j \le \sum_j 2 s_j/t_j \le \varepsilon`, computed on
    whole numbers, with :math:`s_j` the greatest L1 norm of a value's coefficients of level j.
    *Checked by* ``test_exact_worst_case[density.dubois]``, ``test_dubois_loss_of_all_pairs`` and
    ``test_dubois_loss_of_every_pair_on_a_small_grid``. With Haar's wavelet, two values without a
    common function reach it; the printed constants are 5 (Haar) to 24 times (coif3) larger than
    needed.

    References
    ----------
    .. [1] C. Butucea, A. Dubois, M. Kroll, A. Saumard, "Local differential privacy: elbow effect
       in optimal density estimation and adaptation over Besov ellipsoids", Bernoulli 26(3), 2020.

    Examples
    --------
    >>> report = NoisyCoefficients(epsilon=1, wavelet="haar", bits_of_input=4, first=1, last=1)
    >>> report.randomise([3, 12]).shape
    (2, 4)
    """

    epsilon: Number
    wavelet: str = "db4"
    bits_of_input: int = 12
    first: int = 2
    last: int = 5
    constants: Literal["exact", "paper"] = "exact"
    nu: Number = Fraction(3, 2)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive(self.epsilon, "epsilon")
        integer(self.bits_of_input, "bits_of_input", least=1, most=DEEPEST, example=DEEPEST)
        one_of(self.constants, "constants", "exact", "paper")
        nu = rational(self.nu, "nu", example=1.5)
        if nu <= 1:
            raise ParameterError("nu", "be above 1", given(self.nu), "Type {nu}.", nu=1.5)
        settle(self, epsilon=epsilon, nu=nu, guarantee=Guarantee(epsilon, 0, LOCAL))
        _ = self.scales  # refuses early

    @cached_property
    def basis(self) -> Basis:
        """The levels."""
        return Basis(self.wavelet, self.bits_of_input, self.first, self.last)

    @property
    def top(self) -> int:
        """The highest cell."""
        return (1 << self.bits_of_input) - 1

    @cached_property
    def scales(self) -> tuple[Fraction, ...]:
        """The noise's scale of each level in ticks, without the factor 2**(j/2)."""
        made = self._printed if self.constants == "paper" else self._exact
        return tuple(read_scale(made(level)) for level in self.basis.levels)

    def _exact(self, level: Level) -> Fraction:
        return 2 * len(self.basis.levels) * self.basis.reach(level) / Fraction(self.epsilon)

    def _printed(self, level: Level) -> Fraction:
        wavelet, nu = self.basis.wavelet, float(self.nu)
        peak = wavelet.touching * wavelet.peak(level.kind) * UNIT
        grown = (2 * nu - 1) / (nu - 1) * max(level.j, 1) ** nu if level.kind == "psi" else 1.0
        return Fraction(ceil(4 * peak * grown)) / Fraction(self.epsilon)

    @property
    def worst(self) -> Fraction:
        """A bound of the privacy loss between any two values: epsilon, or less."""
        pairs = zip(self.basis.levels, self.scales, strict=True)
        return sum((2 * self.basis.reach(level) / t for level, t in pairs), Fraction(0))

    @property
    def cells(self) -> int:
        """How many coefficients a report has."""
        return sum(map(self.basis.size, self.basis.levels))

    @property
    def bits(self) -> int:
        """The size of one report: 64 bits a coefficient."""
        return 64 * self.cells

    def each(self) -> list[Fraction]:
        """Return the noise's scale of each coefficient."""
        pairs = zip(self.basis.levels, self.scales, strict=True)
        return [t for level, t in pairs for _ in range(self.basis.size(level))]

    def coefficients(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the values are before the noise, in ticks, a row a person."""
        return np.hstack([self.basis.coefficients(level, codes) for level in self.basis.levels])

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Add the noise to all coefficients, a row a person."""
        parts = []
        for level, t in zip(self.basis.levels, self.scales, strict=True):
            shape = (codes.size, self.basis.size(level))
            drawn = noise.discrete_laplace(t, shape, source=source)
            parts.append(self.basis.coefficients(level, codes) + drawn)
        return np.hstack(parts)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Add up the coefficients; tallies may be added."""
        total: NDArray[np.int64] = reports.sum(axis=0, dtype=np.int64)
        return total

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows are of the right length: any whole numbers may be drawn."""
        right = reports.dtype.kind == "i" and reports.shape[1:] == (self.cells,)
        return np.full(len(reports), right, np.bool_)

    def draw(self, x: int, size: int | None, source: Source) -> NDArray[np.int64]:
        """Draw reports for one cell."""
        drawn = self.reports(np.full(1 if size is None else size, x), source)
        return drawn[0] if size is None else drawn

    def outcome(self, release: Release) -> NDArray[np.int64]:
        """Return the noisy coefficients."""
        return np.asarray(release.value, np.int64)

    def law(self, x: int) -> Product:  # type: ignore[override]
        """Return the law of each coefficient; they are independent."""
        pairs = zip(self.coefficients(np.array([x]))[0].tolist(), self.each(), strict=True)
        return Product(tuple(laplace_law(c, t) for c, t in pairs))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the noise of each coefficient, in units of its scale."""
        away = np.abs(np.asarray(y) - self.coefficients(np.array([x])))
        return np.asarray(away / np.array([float(t) for t in self.each()]))

    def error(self, beta: Number = 0.05) -> float:
        """Return what no coefficient's noise passes with probability ``beta``, in its scale."""
        chance = read_beta(beta)
        return max(laplace_error(t, chance) / float(t) for t in self.scales)


register(
    Specimen(
        name="density.dubois",
        make=lambda epsilon: NoisyCoefficients(
            epsilon=epsilon, wavelet="haar", bits_of_input=3, first=1, last=1
        ),
        inputs=tuple(range(0, 8, 2)),
        tight=True,
        draws=20_000,
    )
)
