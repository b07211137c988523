r"""Many smoothings of the same reports, weighed by what they are worth.

Add and subtract the same fresh noise :math:`\omega \sim N(0, \Sigma)`: of shares
:math:`y = p + N(0, \Sigma)` the two halves :math:`y + \omega` and :math:`y - \omega` are
independent. So for any smoothing :math:`g`, projection on probabilities included,

.. math:: \|g(y + \omega)\|^2 - 2 \langle g(y + \omega), y - \omega \rangle

has the mean :math:`E\|g(y+\omega) - p\|^2 - \|p\|^2`: its risk at twice the noise, up to what is
the same for all, without bias and without a derivative [1]_. Smoothings are then mixed with weights
:math:`e^{-\text{risk}/8\bar\sigma^2}`, :math:`\bar\sigma^2` being the mean variance of a bin [2]_.

References
----------
.. [1] N. L. Oliveira, J. Lei, R. J. Tibshirani, "Unbiased risk estimation in the normal means
   problem via coupled bootstrap techniques", Electronic Journal of Statistics 18, 2024.
.. [2] G. Leung, A. R. Barron, "Information theory and mixing least-squares regressions", IEEE
   Transactions on Information Theory 52, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.densities.shrinkage import Cosines, Merged, Shrunk, root
from sourdine.local.estimators.simplex import norm_sub

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Smoothing = Callable[[Floats, Floats], Floats]

__all__ = ["Mixture", "smoothings"]

DRAWS = 50
TEMPERATURE = 8
LIGHTEST = 1e-3
"""Smoothings of less weight are left out."""
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
        """Return mixed probabilities, a row for a row of shares."""
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
