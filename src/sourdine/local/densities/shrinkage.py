r"""Smoothing shares of bins whose noise is known: free post-processing.

Shares :math:`y = p + \text{noise}` of :math:`k` bins come with the covariance :math:`\Sigma` of
their noise, so what is noise and what is not can be told coefficient by coefficient, without any
constant to guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.densities.wavelets import Wavelet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Cosines", "Merged", "Shrunk", "cosines", "root"]


def root(covariance: Floats) -> Floats:
    """Return a matrix whose rows, weighted by independent standard normals, add up to the noise."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)


@dataclass(frozen=True, slots=True)
class Merged:
    """The means of ``bins`` neighbouring bins: a coarser histogram; 1 leaves all as it is."""

    bins: int

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        """Return smoothed shares, a row for a row."""
        del noise
        means = shares.reshape(len(shares), -1, self.bins).mean(axis=2)
        return np.repeat(means, self.bins, axis=1)


@dataclass(frozen=True, slots=True)
class Cosines:
    r"""Cosine coefficients damped by :math:`1/(1 + (m/c)^{2s})`; infinite :math:`s` cuts at c."""

    cut: float
    order: float

    def __call__(self, shares: Floats, noise: Floats) -> Floats:
        """Return smoothed shares, a row for a row."""
        del noise
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
        return _synthesised(np.where(np.abs(details) >= least, details, 0), responses)


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


def _synthesised(details: Floats, responses: NDArray[np.complex128]) -> Floats:
    """Return the rows again."""
    total = (np.fft.fft(details) * responses.conj()[:, None, :]).sum(axis=0)
    return np.asarray(np.fft.ifft(total).real[:, : details.shape[2] // 2])
