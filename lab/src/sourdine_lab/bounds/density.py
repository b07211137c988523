r"""Densities under local privacy: rates and lower bounds (Dubois et al. 2019, section 2).

People answer through channels that are :math:`\alpha`-private, one after the other: the bounds hold
for sequentially interactive ones too.
"""

from __future__ import annotations

from functools import cache
from math import exp, expm1, log, sqrt

import numpy as np

from sourdine.exact import integer, positive
from sourdine.local.densities.wavelets import Wavelet
from sourdine_lab.bounds.reading import read_between

__all__ = [
    "density_is_dense", "density_rate", "density_rate_open", "density_risk_at_least",
    "two_densities_risk",
]  # fmt: skip


def density_is_dense(s: float, p: float, r: float) -> bool:
    """Return whether smoothness s in the norm p is in the dense zone for the loss r.

    Examples
    --------
    >>> density_is_dense(1, 2, 2), density_is_dense(1, 1.5, 6)
    (True, False)
    """
    return p > r / (s + 1)


def density_rate(n: int, alpha: float, *, s: float, p: float, r: float) -> float:
    r"""Return the rate below which no private estimator stays on a Besov ball, up to a constant.

    .. math:: (n\alpha^2)^{-\frac{rs}{2s+2}} \text{ for } p > \frac{r}{s+1}, \qquad
       \left(\frac{n\alpha^2}{\ln(n\alpha^2)}\right)^{-\frac{r(s - 1/p + 1/r)}{2(s - 1/p) + 2}}
       \text{ else}

    Parameters
    ----------
    n, alpha
        How many people, and what each spends.
    s, p
        The smoothness, above 1/p, and the norm in which it is measured.
    r
        The loss is the r-th power of the distance in :math:`L_r`.

    Notes
    -----
    *Claim*: the two forms meet at the elbow up to the logarithm. *Checked by*
    ``test_density_rates_meet_at_the_elbow``.

    Examples
    --------
    >>> round(density_rate(10**6, 1, s=1, p=2, r=2), 6)  # the square root of n is lost
    0.001
    >>> round(density_rate_open(10**6, s=1, r=2), 6)
    0.0001
    """
    size = integer(n, "n", least=1) * float(positive(alpha, "alpha")) ** 2
    read_between(1 / p, "1/p", 0, s)
    if density_is_dense(s, p, r):
        return float(size ** (-r * s / (2 * s + 2)))
    power = -r * (s - 1 / p + 1 / r) / (2 * (s - 1 / p) + 2)
    return float((size / log(size)) ** power)


def density_rate_open(n: int, *, s: float, r: float) -> float:
    r"""Return :math:`n^{-rs/(2s+1)}`, the rate without privacy in the dense zone."""
    return float(integer(n, "n", least=1) ** (-r * s / (2 * s + 1)))


def two_densities_risk(
    n: int, alpha: float, *, apart: float, variation: float, r: float = 2
) -> float:
    r"""Return a risk that no private estimator stays below on two densities, with its constant.

    Two densities with :math:`|f - g|_r` = ``apart`` and total variation distance
    :math:`\delta` = ``variation`` are told by n private answers with a total variation of at most
    :math:`\tau = \frac12 \min(2, e^\alpha)(e^\alpha - 1)\delta\sqrt n` [1]_ (the contraction, then
    Pinsker's inequality), so some estimate is off by half of ``apart`` with probability
    :math:`(1 - \tau)/2`:

    .. math:: \inf \sup E|\hat f - f|_r^r \ge \frac{1 - \tau}{2} \left(\frac{\text{apart}}{2}
              \right)^r .

    Notes
    -----
    *Claim*: no test of randomised response tells two laws better. *Checked by*
    ``test_two_densities_are_told_no_better_than_allowed``.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally
       private estimation", JASA 113, 2018, theorem 1.

    Examples
    --------
    >>> round(two_densities_risk(1000, 0.5, apart=0.02, variation=0.01), 6)
    4.2e-05
    """
    a = float(positive(alpha, "alpha"))
    told = min(2.0, exp(a)) * expm1(a) * variation * sqrt(integer(n, "n", least=1)) / 2
    return max(0.0, 1 - told) / 2 * float((apart / 2) ** r)


@cache
def _lengths(wavelet: str, r: float) -> tuple[int, float, float, float]:
    """Return the support of psi, its norms in L_1 and L_r, the latter to the r, and its peak."""
    made = Wavelet(wavelet)
    psi = np.abs(made.values("psi", 12))
    return made.length, float(psi.sum()) / 4096, float((psi**r).sum()) / 4096, made.peak("psi")


def density_risk_at_least(
    n: float, alpha: float, *, s: float, p: float, r: float, radius: float = 1, wavelet: str = "db8"
) -> float:
    r"""Return a risk that no private estimator stays below on a Besov ball, with its constant.

    The densities are 1/2 on [0, 1], continued smoothly on both sides, with m of the functions
    :math:`\psi_{jk}` added there, supports apart, of height :math:`\pm\beta`: they are in the ball
    as long as :math:`\beta m^{1/p} \le L\, 2^{-j(s + 1/2 - 1/p)}`, where L = ``radius`` is what
    the density without them leaves of the ball, and not negative as long as
    :math:`2^{j/2} \beta \|\psi\|_\infty \le \frac12`. The bound is the largest over j, m and
    :math:`\beta` of

    .. math:: \frac m2 (1 - \tau)\, \beta^r 2^{j(r/2 - 1)} \|\psi\|_r^r, \qquad
       \tau = \sqrt{n/2}\, (e^\alpha - 1) \beta 2^{-j/2} \|\psi\|_1

    by Assouad's lemma, and for one bump at an unknown one of M places

    .. math:: \Big(1 - \frac{I + \ln 2}{\ln M}\Big) 2^{1 - r} \beta^r 2^{j(r/2 - 1)}
       \|\psi\|_r^r, \qquad I = \tfrac n4 (e^\alpha - 1)^2 \beta^2 2^{-j} \|\psi\|_1^2

    by Fano's inequality.

    Parameters
    ----------
    n, alpha
        How many people, and what each spends.
    s, p, r
        As in `density_rate`.
    radius
        What the ball leaves to the bumps.
    wavelet
        The wavelet of the norm and of the bumps.

    Notes
    -----
    Let q(z|x) be a channel and :math:`q_0(z)` its least value over x. Then
    :math:`|q(z|x) - c(z)| \le \frac12 (e^\alpha - 1) q_0(z)` for the middle c of its values, so
    the laws of one report under two densities f and g differ by
    :math:`\frac12 (e^\alpha - 1) q_0(z) \int \gamma_z (f - g)` with some
    :math:`|\gamma_z| \le 1`; both are at least :math:`q_0`, whose integral is at most 1. Hence
    the chi-square divergence, and with it that of Kullback and Leibler, is at most
    :math:`\frac14 (e^\alpha - 1)^2 \sup_\gamma (\int \gamma (f - g))^2`. Two signs of one bump
    differ by :math:`2\beta\psi_{jk}`; Pinsker's inequality gives :math:`\tau`, in turn or not.
    Positions of one bump: the information is at most the mean divergence from the mixture, for
    channels that are not interactive. *Claim*: the exponents are those of `density_rate`.
    *Checked by* ``test_lower_bounds_fall_with_the_exponents_of_the_rates``.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally
       private estimation", JASA 113, 2018.

    Examples
    --------
    >>> density_risk_at_least(10**6, 1, s=1, p=2, r=2) < density_rate(10**6, 1, s=1, p=2, r=2)
    True
    """
    a = float(positive(alpha, "alpha"))
    read_between(1 / p, "1/p", 0, s)
    length, one, power, peak = _lengths(wavelet, r)
    best = 0.0
    for j in range(int(np.log2(length)), 40 + int(np.log2(n))):
        places = (1 << j) // length
        highest = min(radius * 2 ** (-j * (s + 0.5 - 1 / p)), 2 ** (-j / 2 - 1) / peak)
        told = expm1(a) * 2 ** (-j / 2) * one
        beta = highest * np.logspace(0, -j / p * np.log10(2) - 6, 200)
        room = radius * 2 ** (-j * (s + 0.5 - 1 / p)) / beta
        m = np.minimum(places, np.maximum(room, 1.0) ** p)
        apart = beta**r * 2 ** (j * (r / 2 - 1)) * power
        signs = m / 2 * np.maximum(1 - sqrt(n / 2) * told * beta, 0) * apart
        best = max(best, float(signs.max()))
        if places > 2:
            known = n / 4 * (told * beta) ** 2
            missed = np.maximum(1 - (known + log(2)) / log(places), 0)
            best = max(best, float((missed * apart * 2 ** (1 - r)).max()))
    return best
