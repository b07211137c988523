r"""Densities under local privacy: rates and lower bounds (Dubois et al. 2019, section 2).

People answer through channels that are :math:`\alpha`-private, one after the other: the bounds hold
for sequentially interactive ones too.
"""

from __future__ import annotations

from math import exp, expm1, log, sqrt

from sourdine.exact import integer, positive
from sourdine_lab.bounds.reading import read_between

__all__ = ["density_is_dense", "density_rate", "density_rate_open", "two_densities_risk"]


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
