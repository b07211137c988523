"""Densities from noisy wavelet coefficients."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log, log2, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import flag, given, integer, one_of, positive, rational
from sourdine.laws import Product
from sourdine.local.densities.density import DensityProtocol
from sourdine.local.densities.wavelets import DEEPEST, UNIT, Basis, Level, Wavelet
from sourdine.mechanisms.laplace import laplace_error, laplace_law
from sourdine.mechanisms.mechanism import (
    PureReport,
    Specimen,
    read_beta,
    read_scale,
    register,
    settle,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.local.densities.density import Floats, Ints
    from sourdine.noise import Source
    from sourdine.results.release import Release


# ---- One person's wavelet coefficients, each with noise: what `Dubois` asks people for -----------


Constants = Literal["exact", "paper"]
MOST_NU = 100
"""The paper's noise grows as ``j**nu`` with the level j; beyond, it passes every float."""


def _bits(x: int) -> int:
    return integer(x, "bits_of_input", least=1, most=DEEPEST, example=DEEPEST)


def _constants(x: Constants) -> Constants:
    return one_of(x, "constants", "exact", "paper")


def _nu(x: Number) -> Fraction:
    nu = rational(x, "nu", example=1.5)
    if not 1 < nu <= MOST_NU:
        must = f"be above 1 and at most {MOST_NU}"
        raise ParameterError("nu", must, given(x), "Use {nu}.", nu=1.5)
    return nu


@frozen(kw_only=True)
class WaveletReport(PureReport):
    """A report of one of 2**bits_of_input cells, by the functions of a `Basis`."""

    wavelet: str = "haar"
    bits_of_input: int = field(default=12, converter=_bits)
    first: int
    last: int

    def __attrs_post_init__(self) -> None:
        _ = self.basis  # refuses early

    @cached_property
    def basis(self) -> Basis:
        return Basis(self.wavelet, self.bits_of_input, self.first, self.last)

    @property
    def top(self) -> int:
        return (1 << self.bits_of_input) - 1


@frozen(kw_only=True)
class NoisyCoefficients(WaveletReport):
    r"""Report all wavelet coefficients of a value, each with Laplace noise.

    Coefficients are whole multiples of :math:`2^{-16}` (times :math:`2^{j/2}`, which the server
    knows) and the noise is discrete Laplace on them, of the scale :math:`t_j` for level j, by the
    ``constants`` and ``nu`` of `Dubois`.

    Notes
    -----
    *Claim*: the loss between any two values is
    :math:`\sum_j \|c_j(x) - c_j(x')\|_1/t_j \le \sum_j 2 s_j/t_j \le \varepsilon`, computed on
    whole numbers, with :math:`s_j` the greatest L1 norm of a value's coefficients of level j.
    *Checked by* ``test_exact_worst_case[density.dubois]``, ``test_dubois_loss_of_all_pairs`` and
    ``test_dubois_loss_of_every_pair_on_a_small_grid``. With Haar's wavelet, two values without a
    common function reach it; the printed constants are 5 (Haar) to 24 times (coif3) larger than
    needed.

    Examples
    --------
    >>> report = NoisyCoefficients(epsilon=1, wavelet="haar", bits_of_input=4, first=1, last=1)
    >>> report.randomise([3, 12]).shape
    (2, 4)
    """

    constants: Constants = field(default="exact", converter=_constants)
    nu: Fraction = field(default=Fraction(3, 2), converter=_nu)

    def __attrs_post_init__(self) -> None:
        _ = self.scales  # refuses early

    @cached_property
    def scales(self) -> tuple[Fraction, ...]:
        """The noise's scale of each level in ticks, without the factor 2**(j/2)."""
        return tuple(read_scale(self._sum(level) / self.epsilon) for level in self.basis.levels)

    def _sum(self, level: Level) -> int:
        """Return how far coefficients are taken to be apart, times the levels that share it."""
        if self.constants == "exact":
            return 2 * len(self.basis.levels) * self.basis.reach(level)
        wavelet, nu = self.basis.wavelet, float(self.nu)
        peak = wavelet.touching * wavelet.peak(level.kind) * UNIT
        grown = (2 * nu - 1) / (nu - 1) * max(level.j, 1) ** nu if level.kind == "psi" else 1.0
        return ceil(4 * peak * grown)

    @property
    def worst(self) -> Fraction:
        """A bound of the privacy loss between any two values: epsilon, or less."""
        pairs = zip(self.basis.levels, self.scales, strict=True)
        return sum((2 * self.basis.reach(level) / t for level, t in pairs), Fraction(0))

    @property
    def cells(self) -> int:
        return sum(map(self.basis.size, self.basis.levels))

    @property
    def bits(self) -> int:
        return 64 * self.cells

    def each(self) -> list[Fraction]:
        pairs = zip(self.basis.levels, self.scales, strict=True)
        return [t for level, t in pairs for _ in range(self.basis.size(level))]

    def coefficients(self, codes: Ints) -> Ints:
        return np.hstack([self.basis.coefficients(level, codes) for level in self.basis.levels])

    def reports(self, codes: Ints, source: Source) -> Ints:
        parts = []
        for level, t in zip(self.basis.levels, self.scales, strict=True):
            shape = (codes.size, self.basis.size(level))
            drawn = noise.discrete_laplace(t, shape, source=source)
            parts.append(self.basis.coefficients(level, codes) + drawn)
        return np.hstack(parts)

    def tally(self, reports: NDArray[Any]) -> Ints:
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows are of the right length: any whole numbers may be drawn."""
        right = reports.dtype.kind == "i" and reports.shape[1:] == (self.cells,)
        return np.full(len(reports), right, np.bool_)

    def draw(self, x: int, size: int | None, source: Source) -> Ints:
        drawn = self.reports(np.full(1 if size is None else size, x), source)
        return drawn[0] if size is None else drawn

    def outcome(self, release: Release) -> Ints:
        return np.asarray(release.value, np.int64)

    def law(self, x: int) -> Product:  # type: ignore[override]
        pairs = zip(self.coefficients(np.array([x]))[0].tolist(), self.each(), strict=True)
        return Product(tuple(laplace_law(c, t) for c, t in pairs))

    def loss(self, x: int, y: Ints) -> Floats:
        """Return the noise of each coefficient, in units of its scale."""
        away = np.abs(np.asarray(y) - self.coefficients(np.array([x])))
        return np.asarray(away / np.array([float(t) for t in self.each()]))

    def error(self, beta: Number = 0.05) -> float:
        """Return what no coefficient's noise passes with probability ``beta``, in its scale."""
        chance = read_beta(beta)
        return max(laplace_error(t, chance) / float(t) for t in self.scales)


# ---- Noisy wavelet coefficients: the mechanism and the estimators of Dubois and her co-authors ---


Rule = Literal["hard", "linear"]
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
    r"""Return the same with the vanishing moments for N: a coarser :math:`j_0`.

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


def people(x: int) -> int:
    """Return about how many people will answer."""
    return integer(x, "n", least=1)


def _gamma(x: Number) -> Fraction:
    return positive(x, "gamma")


def _rule(x: Rule) -> Rule:
    return one_of(x, "rule", "hard", "linear")


def _cap(x: bool) -> bool:  # noqa: FBT001 - as it is given
    return flag(x, "cap")


@frozen(kw_only=True, eq=False)
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
        The levels :math:`j_0` and :math:`j_1`. They default to the paper's (`paper_levels`) with
        the paper's constants, else to the paper's :math:`j_1` and a coarser :math:`j_0`
        (`coarse_levels`).
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
    >>> protocol.basis.first, protocol.basis.last, protocol.report.cells
    (4, 6, 152)
    >>> round(float(protocol.worst), 2)
    0.09
    """

    n: int = field(converter=people)
    wavelet: str = "db4"
    constants: Constants = field(default="exact", converter=_constants)
    nu: Fraction = field(default=Fraction(3, 2), converter=_nu)
    gamma: Fraction = field(default=GAMMA, converter=_gamma)
    first: int | None = None
    last: int | None = None
    rule: Rule = field(default="hard", converter=_rule)
    cap: bool = field(default=True, converter=_cap)

    def __attrs_post_init__(self) -> None:
        settle(self, first=self.report.first, last=self.report.last)

    @cached_property
    def report(self) -> NoisyCoefficients:
        levels = paper_levels if self.constants == "paper" else coarse_levels
        first, last = levels(self.n, self.epsilon, Wavelet(self.wavelet))
        if self.last is not None:  # the usual first one, but not above a last level that was given
            first = min(first, integer(self.last, "last", least=0))
        return NoisyCoefficients(
            epsilon=self.epsilon, wavelet=self.wavelet, bits_of_input=self.bits,
            first=first if self.first is None else self.first,
            last=max(last, self.first or 0) if self.last is None else self.last,
            constants=self.constants, nu=self.nu,
        )  # fmt: skip

    @classmethod
    def printed(
        cls,
        n: int,
        alpha: Number,
        *,
        bounds: tuple[Number, Number] = (0, 1),
        wavelet: str = "db8",
        nu: Number = Fraction(3, 2),
        gamma: Number = 4,
    ) -> Dubois:
        r"""Return estimator (5) of the paper with all that theorem 4.1 says of it.

        Noise of the printed scales, levels by `paper_levels`, hard thresholds

        .. math:: K t_j = 4 c_A \|\psi\|_\infty \frac{2\nu - 1}{\nu - 1}\,
                  \gamma j^{\nu + 1/2} \frac{2^{j/2}}{\sqrt{n \alpha^2}},

        and no cap. The paper leaves :math:`\gamma` and the constants of the levels open: these are
        4 and 1. At level 0, :math:`j` is read as 1, as in the scale of the noise there.

        Parameters
        ----------
        n, alpha
            How many people will answer, and what each spends.
        bounds
            The public bounds. Levels count from their width: the paper's :math:`[-T, T]` is mapped
            to [0, 1].
        wavelet
            A wavelet with :math:`N > 0`, so two bounded derivatives of :math:`\varphi`: db6, sym8,
            coif3 or longer.
        nu, gamma
            The paper's :math:`\nu > 1` and :math:`\gamma`, which must be large enough: with 2.5
            noise passes rarely, but then rules the mean error.

        Raises
        ------
        ParameterError
            The wavelet is too rough for the theorem.

        Notes
        -----
        `estimate` makes a density of what it finds; ``raw`` is estimator (5) itself. Values lie in
        4,096 cells, so :math:`j_1` is at most 11: that of the paper up to
        :math:`n\alpha^2 = 3.2 \cdot 10^8`.

        *Claim*: the printed noise is :math:`\alpha`-private for every :math:`\nu` and all levels.
        The coefficients of a level differ by :math:`2 c_A \|\psi\|_\infty 2^{j/2}` in all at
        most, so :math:`\varphi` costs :math:`\alpha/2` and the others
        :math:`\frac\alpha2 \frac{\nu - 1}{2\nu - 1} \sum_j \max(j, 1)^{-\nu} \le
        \frac\alpha2`. `worst` is the cost of the levels in use, by whole numbers: a tenth of
        :math:`\alpha` or less. *Checked by* ``test_printed_estimator_is_private``.

        *Accuracy*: poor unless there are very many people. On two bumps and a million people at
        :math:`\alpha = 1` the squared error is 10, where the estimate 0 has 1.7.
        *Checked by* ``test_printed_estimator_needs_very_many_people``.

        Examples
        --------
        >>> rule = Dubois.printed(1_000_000, 1)
        >>> rule.first, rule.last, round(float(rule.worst), 3)
        (5, 8, 0.064)
        """
        if (smooth := Wavelet(wavelet).smoothness) < 1:
            must = "have N > 0, that is two bounded derivatives, as theorem 4.1 asks"
            got = f"{given(wavelet)} with N = {smooth}"
            raise ParameterError("wavelet", must, got, "Use {wavelet}.", wavelet="db8")
        public: dict[str, Any] = {"wavelet": wavelet, "nu": nu, "gamma": gamma}
        return cls(bounds=bounds, epsilon=alpha, n=n, constants="paper", cap=False, **public)

    @property
    def basis(self) -> Basis:
        return self.report.basis

    @property
    def scales(self) -> tuple[Fraction, ...]:
        return self.report.scales

    @property
    def worst(self) -> Fraction:
        """A bound of the privacy loss between any two values: epsilon, or less."""
        return self.report.worst

    @property
    def chunk(self) -> int:
        return max(1, (1 << 22) // self.report.cells)

    @property
    def method(self) -> str:
        kept = "thresholded" if self.rule == "hard" else "linear"
        return f"noisy {self.wavelet} coefficients, {self.constants} constants, {kept}"

    def averages(self, tally: Ints, n: int) -> list[Floats]:
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

    def read(self, tally: Ints, n: int) -> tuple[Floats, Floats]:
        pairs = zip(self.basis.levels, self.scales, strict=True)
        deviations = [sqrt(2 / n) * float(t) / UNIT * level.height for level, t in pairs]
        averages, thresholds = self.averages(tally, n), self.thresholds(n)
        return rebuilt(self.basis, averages, deviations, thresholds, cap=self.cap)


def rebuilt(
    basis: Basis,
    averages: list[Floats],
    deviations: list[float],
    thresholds: list[float],
    *,
    cap: bool,
) -> tuple[Floats, Floats]:
    """Return the sum of the kept functions at all cells, and its standard deviation."""
    total, variance = np.zeros(1 << basis.bits), np.zeros(1 << basis.bits)
    for level, c, sd, least in zip(basis.levels, averages, deviations, thresholds, strict=True):
        plausible = PLAUSIBLE * basis.wavelet.peak("psi") * level.height
        if cap and least > plausible:
            continue
        kept = np.abs(c) >= least
        total += basis.rebuild(level, np.where(kept, c, 0.0))
        variance += basis.rebuild(level, np.where(kept, sd * sd, 0.0), power=2)
    return total, np.sqrt(variance)


register(
    Specimen(
        "density.dubois",
        lambda e: NoisyCoefficients(epsilon=e, wavelet="haar", bits_of_input=3, first=1, last=1),
        range(0, 8, 2), draws=20_000,
    ),
)  # fmt: skip
