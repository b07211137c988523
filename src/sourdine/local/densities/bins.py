"""Densities from shares of bins at one resolution or several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import inf, log, pi, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import integer, listed, one_of
from sourdine.laws import Law
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.densities.density import DensityProtocol
from sourdine.local.densities.wavelets import Wavelet
from sourdine.local.estimators.frequencies import norm_sub
from sourdine.mechanisms.mechanism import PureReport, Specimen, register

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.local.densities.density import Floats, Ints
    from sourdine.noise import Source

    Smoothing = Callable[[Floats, Floats], Floats]


# ---- Smoothing shares of bins whose noise is known: free post-processing -------------------------
#
# Shares :math:`y = p + \text{noise}` of :math:`k` bins come with the covariance :math:`\Sigma` of
# their noise, so what is noise and what is not can be told coefficient by coefficient, without any
# constant to guess.


def root(covariance: Floats) -> Floats:
    """Return a matrix whose rows, weighted by independent standard normals, add up to the noise."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)


@dataclass(frozen=True, slots=True)
class Merged:
    """The means of ``bins`` neighbouring bins: a coarser histogram; 1 leaves all as it is."""

    bins: int

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        means = shares.reshape(len(shares), -1, self.bins).mean(axis=2)
        return np.repeat(means, self.bins, axis=1)


@dataclass(frozen=True, slots=True)
class Cosines:
    r"""Cosine coefficients damped by :math:`1/(1 + (m/c)^{2s})`; infinite :math:`s` cuts at c."""

    cut: float
    order: float

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        k = shares.shape[1]
        basis, m = cosines(k), np.arange(k) / self.cut
        damped = m < 1 if np.isinf(self.order) else 1 / (1 + m ** (2 * self.order))
        return np.asarray((shares @ basis.T * damped) @ basis)


@lru_cache(16)
def cosines(k: int) -> Floats:
    """Return the orthonormal cosine basis of k bins, a row for each frequency."""
    m = np.arange(k)[:, None]
    basis = np.cos(pi * m * (np.arange(k) + 0.5) / k) * sqrt(2 / k)
    basis[0] /= sqrt(2)
    return basis


@dataclass(frozen=True, slots=True)
class Shrunk:
    r"""Translation-invariant wavelet shrinkage: small coefficients of all shifts are cut.

    The shares are extended by reflection, a coefficient of the undecimated transform is cut if it
    is below ``factor`` :math:`\sqrt{2\ln k}` of its own standard deviation, which
    :math:`\Sigma` tells exactly, and the transform is inverted.

    Parameters
    ----------
    wavelet
        An orthogonal wavelet of PyWavelets.
    factor
        1 is the universal threshold.

    Notes
    -----
    *Claim*: without a threshold nothing changes, and the standard deviations are those of the
    noise. *Checked by* ``test_shrinkage_knows_its_noise``.

    References
    ----------
    .. [1] R. R. Coifman, D. L. Donoho, "Translation-invariant de-noising", 1995.

    Examples
    --------
    >>> y = np.array([[0.13, 0.12, 0.14, 0.11, 0.12, 0.13, 0.11, 0.14]])
    >>> smooth = Shrunk("haar", 1.0)(y, 0.02 * np.eye(8))
    >>> bool(smooth.std() < y.std() / 3), round(float(smooth.sum()), 6)
    (True, 1.0)
    """

    wavelet: str
    factor: float

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        """Return smoothed shares, a row for a row; ``noise`` is a `root` of its covariance."""
        k = shares.shape[1]
        responses = _responses(self.wavelet, k)
        details = _analysed(shares, responses)
        deviation = np.sqrt((_analysed(noise, responses) ** 2).sum(axis=1, keepdims=True))
        least = self.factor * sqrt(2 * log(k)) * deviation
        least[-1] = 0
        kept = np.fft.fft(np.where(np.abs(details) >= least, details, 0))
        total = (kept * responses.conj()[:, None, :]).sum(axis=0)
        return np.asarray(np.fft.ifft(total).real[:, :k])


@lru_cache(32)
def _responses(wavelet: str, k: int) -> NDArray[np.complex128]:
    r"""Return the Fourier transforms of the filters of all scales, the coarse mean last.

    Their squares add up to 1: the transform of all shifts is undone by its adjoint.
    """
    h, g = Wavelet(wavelet).filters
    omega = 2 * pi * np.arange(2 * k) / (2 * k)
    coarse = np.ones(2 * k, np.complex128)
    out = []
    for scale in range(max(1, k.bit_length() - 2)):
        lags = np.exp(-1j * np.outer(omega, np.arange(h.size) << scale)) / sqrt(2)
        out.append(coarse * (lags @ g))
        coarse = coarse * (lags @ h)
    return np.array([*out, coarse])


def _analysed(rows: Floats, responses: NDArray[np.complex128]) -> Floats:
    """Return the coefficients of reflected rows: scale, row, shift."""
    reflected = np.fft.fft(np.hstack([rows, rows[:, ::-1]]))
    return np.asarray(np.fft.ifft(reflected * responses[:, None, :]).real)


# ---- Many smoothings of the same reports, weighed by what they are worth -------------------------
#
# Add and subtract the same fresh noise :math:`\omega \sim N(0, \Sigma)`: of shares
# :math:`y = p + N(0, \Sigma)` the two halves :math:`y + \omega` and :math:`y - \omega` are
# independent. So for any smoothing :math:`g`, projection on probabilities included,
#
# .. math:: \|g(y + \omega)\|^2 - 2 \langle g(y + \omega), y - \omega \rangle
#
# has the mean :math:`E\|g(y+\omega) - p\|^2 - \|p\|^2`: its risk at twice the noise, up to what is
# the same for all, without bias and without a derivative [1]_. Smoothings are then mixed with
# weights :math:`e^{-\text{risk}/8\bar\sigma^2}`, :math:`\bar\sigma^2` being the mean variance of a
# bin [2]_.
#
# References
# ----------
# .. [1] N. L. Oliveira, J. Lei, R. J. Tibshirani, "Unbiased risk estimation in the normal means
#    problem via coupled bootstrap techniques", Electronic Journal of Statistics 18, 2024.
# .. [2] G. Leung, A. R. Barron, "Information theory and mixing least-squares regressions", IEEE
#    Transactions on Information Theory 52, 2006.


DRAWS = 50
TEMPERATURE = 8
LIGHTEST = 1e-3  # smoothings of less weight are left out
WAVELETS = ("haar", "db2", "db4", "sym8")
FACTORS = (0.6, 0.8, 1.0, 1.2)
CUTS = (3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
DAMPED = (4, 6, 8, 12, 16, 24)


def smoothings(k: int) -> tuple[Smoothing, ...]:
    """Return all smoothings of k bins, k a power of two that is 4 or more."""
    merged = [Merged(m) for m in (1, 2, 4) if m < k]
    shrunk = [Shrunk(wavelet, factor) for wavelet in WAVELETS for factor in FACTORS]
    cut = [Cosines(c, inf) for c in CUTS if c < k]
    damped = [Cosines(c, 2) for c in DAMPED if c < k]
    return (*merged, *shrunk, *cut, *damped)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Weights of smoothings, found from the shares that they smooth.

    Notes
    -----
    *Claim*: the estimated risks are unbiased. *Checked by* ``test_estimated_risks_are_unbiased``.
    *Claim*: the mixture is nearly as good as the best smoothing. *Checked by*
    ``test_mixture_is_near_the_best``.
    """

    used: tuple[Smoothing, ...]
    weights: Floats

    @staticmethod
    def of(shares: Floats, covariance: Floats, used: tuple[Smoothing, ...]) -> Mixture:
        """Weigh the smoothings; the noise added for it is the same for the same shares."""
        risks = estimated_risks(shares, covariance, used)
        mean = np.trace(covariance) / shares.size
        weights = np.exp(-(risks - risks.min()) / (TEMPERATURE * max(mean, 1e-300)))
        (kept,) = np.nonzero(weights > LIGHTEST * weights.sum())
        return Mixture(tuple(used[i] for i in kept), weights[kept] / weights[kept].sum())

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        mixed = np.zeros_like(shares)
        for weight, smooth in zip(self.weights, self.used, strict=True):
            mixed += weight * _projected(smooth(shares, noise))
        return mixed


def estimated_risks(
    shares: Floats, covariance: Floats, used: tuple[Smoothing, ...], *, seed: int = 0
) -> Floats:
    """Return the risk of each smoothing at twice the noise, less what is the same for all."""
    noise = root(covariance)
    fresh = np.random.default_rng(seed).standard_normal((DRAWS, len(noise))) @ noise
    plus, minus = shares + fresh, shares - fresh
    made = (_projected(g(plus, noise * np.sqrt(2))) for g in used)
    return np.array([(e * (e - 2 * minus)).sum(axis=1).mean() for e in made])


def _projected(rows: Floats) -> Floats:
    return np.array([norm_sub(row) for row in rows])


# ---- One person's bin at a resolution drawn by chance: what `Bins` asks people for ---------------


MOST = 1 << 12
EXAMPLE = {"bins": (64, 16, 4), "weights": (12, 5, 3)}


def _bins(x: Sequence[int] | int) -> tuple[int, ...]:
    every = listed([x] if isinstance(x, int) else x, "bins", **EXAMPLE)
    return tuple(integer(k, f"bins[{i}]", least=4) for i, k in enumerate(every))


def _weights(x: Sequence[int]) -> tuple[int, ...]:
    every = listed(x, "weights", **EXAMPLE)
    return tuple(integer(w, f"weights[{i}]", least=1) for i, w in enumerate(every))


@frozen(kw_only=True)
class BinReport(PureReport):
    r"""Draw a resolution, whatever the value, and report its bin there by unary encoding.

    A report is a row of bytes: the number of the resolution, then the bits of its bins. The input
    is one of the finest ``bins``, which are those of `Bins`, as the ``weights`` are.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, no less: the resolution does not depend on the value, and
    given it the report is that of a unary encoding. *Checked by*
    ``test_exact_worst_case[density.histogram]`` and ``test_resolutions_do_not_depend_on_values``.

    Examples
    --------
    >>> report = BinReport(epsilon=2, bins=(16, 4), weights=(2, 1))
    >>> report.randomise([3, 3, 15]).shape, report.law(3).pmf([0]).shape
    ((3, 3), (1,))
    """

    bins: tuple[int, ...] = field(converter=_bins)
    weights: tuple[int, ...] = field(default=(1,), converter=_weights)

    def __attrs_post_init__(self) -> None:
        bins, weights = self.bins, self.weights
        dyadic = all(k & (k - 1) == 0 for k in bins) and bins == tuple(sorted(set(bins))[::-1])
        if not bins or not dyadic or bins[0] > MOST or len(weights) != len(bins):
            must = f"be decreasing powers of two from 4 to {MOST}, with a weight for each"
            got, hint = f"{bins} and {weights}", "Use {bins} and {weights}."
            raise ParameterError("bins", must, got, hint, **EXAMPLE)

    @cached_property
    def oracles(self) -> tuple[UnaryEncoding, ...]:
        return tuple(UnaryEncoding(epsilon=self.epsilon, categories=k) for k in self.bins)

    @property
    def top(self) -> int:
        return self.bins[0] - 1

    @property
    def starts(self) -> list[int]:
        """The number of the first outcome of each resolution, and that of all of them."""
        return list(accumulate((1 << k for k in self.bins), initial=0))

    @property
    def codes(self) -> int:
        return self.starts[-1]

    @property
    def cells(self) -> int:
        return sum(1 + k for k in self.bins)

    def bin(self, codes: Ints, r: int) -> Ints:
        """Return the bins of a resolution that hold these finest ones."""
        return codes // (self.bins[0] // self.bins[r])

    def reports(self, codes: Ints, source: Source) -> NDArray[np.uint8]:
        ends = np.cumsum(self.weights)
        point = noise.uniform_below(int(ends[-1]), codes.size, source=source)
        which = np.searchsorted(ends, point, side="right")
        rows = np.zeros((codes.size, 1 + self.oracles[0].width), np.uint8)
        rows[:, 0] = which
        for r, oracle in enumerate(self.oracles):
            (mine,) = np.nonzero(which == r)
            bits = oracle.randomise(self.bin(codes[mine], r), source=source)
            rows[mine, 1 : 1 + oracle.width] = bits
        return rows

    def _of(self, reports: NDArray[Any], r: int) -> NDArray[np.uint8]:
        mine = reports[reports[:, 0] == r, 1 : 1 + self.oracles[r].width]
        return np.ascontiguousarray(mine)

    def tally(self, reports: NDArray[Any]) -> Ints:
        parts = []
        for r, oracle in enumerate(self.oracles):
            mine = self._of(reports, r)
            parts += [np.array([len(mine)]), oracle.support(oracle.tally(mine))]
        return np.concatenate(parts).astype(np.int64)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows, from any source, hold a resolution and bits of its bins."""
        fits = np.zeros(len(reports), np.bool_)
        if reports.dtype != np.uint8 or reports.shape[1:] != (1 + self.oracles[0].width,):
            return fits
        for r, oracle in enumerate(self.oracles):
            mine = reports[:, 0] == r
            empty = (reports[mine, 1 + oracle.width :] == 0).all(axis=1)
            fits[mine] = oracle.valid(self._of(reports, r)) & empty
        return fits

    def outcomes(self, reports: NDArray[Any]) -> Ints:
        found = np.zeros(len(reports), np.int64)
        for r, oracle in enumerate(self.oracles):
            mine = reports[:, 0] == r
            found[mine] = self.starts[r] + oracle.outcomes(self._of(reports, r))
        return found

    def law(self, x: int) -> Law:
        logs = []
        for r, oracle in enumerate(self.oracles):
            inside = oracle.law(int(self.bin(np.array(x), r))).log_pmf(np.arange(1 << self.bins[r]))
            logs.append(np.log(self.weights[r] / sum(self.weights)) + inside)
        return Law.finite(np.concatenate(logs))

    def loss(self, x: int, y: Ints) -> Floats:
        wrong = np.zeros(np.shape(y))
        for r, oracle in enumerate(self.oracles):
            here = (y >= self.starts[r]) & (y < self.starts[r + 1])
            own = int(self.bin(np.array(x), r))
            wrong[here] = oracle.loss(own, np.asarray(y)[here] - self.starts[r])
        return wrong

    def error(self, beta: Number = 0.05) -> float:
        """Return that of the unary encoding, which has the same at every resolution."""
        return self.oracles[0].error(beta)


# ---- Shares of bins, at one resolution or at several, smoothed with their known noise ------------


Reading = Literal["mixture", "shrinkage", "histogram"]
FRESH = 50


def _reading(x: Reading) -> Reading:
    return one_of(x, "reading", "mixture", "shrinkage", "histogram")


@frozen(kw_only=True, eq=False)
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

    bins: tuple[int, ...] = field(default=(64,), converter=_bins)
    weights: tuple[int, ...] = field(default=(1,), converter=_weights)
    reading: Reading = field(default="mixture", converter=_reading)
    wavelet: str = "db4"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.reading != "histogram":  # refuses early
            _ = Wavelet(self.wavelet), Shrunk(self.wavelet, 1.0)(np.full((1, 4), 0.25), np.eye(4))

    @cached_property
    def report(self) -> BinReport:
        return BinReport(epsilon=self.epsilon, bins=self.bins, weights=self.weights)

    @property
    def method(self) -> str:
        sizes = ", ".join(map(str, self.bins))
        told = {
            "mixture": "smoothed by estimated risk",
            "shrinkage": f"{self.wavelet} shrinkage of all shifts",
            "histogram": "not smoothed",
        }
        return f"unary encoding of {sizes} bins, {told[self.reading]}"

    def shares(self, tally: Ints) -> tuple[Floats, Floats]:
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

    def read(self, tally: Ints, n: int) -> tuple[Floats, Floats]:
        """Smooth the shares, and again with fresh noise for the spread."""
        shares, covariance = self.shares(tally)
        k, by = shares.size, root(covariance)
        if self.reading == "histogram":
            return shares * k, np.sqrt(np.diag(covariance)) * k
        smooth: Smoothing = Shrunk(self.wavelet, 1.0)
        if self.reading == "mixture":
            smooth = Mixture.of(shares, covariance, smoothings(k))
        mean = smooth(shares[None], by)
        fresh = np.random.default_rng(1).standard_normal((FRESH, len(by))) @ by
        again = smooth(mean + fresh, by)
        return mean[0] * k, np.sqrt(((again - mean) ** 2).mean(axis=0)) * k


register(
    Specimen(
        "density.histogram", lambda e: BinReport(epsilon=e, bins=(8, 4), weights=(2, 1)), range(8),
        draws=50_000, also=("density.shrinkage",),
    ),
)  # fmt: skip
