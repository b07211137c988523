"""Shares that could be true: not negative, and with the sum 1 or the noise cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number

__all__ = ["base_cut", "norm_sub"]


def norm_sub(raw: ArrayLike) -> NDArray[np.float64]:
    r"""Return the nearest shares that are not negative and sum to 1.

    They are :math:`\max(f_v - \theta, 0)` with one :math:`\theta` for all, which is the projection
    on the simplex in the Euclidean norm: a proof is in [1]_. As the truth lies in the simplex,
    which is convex, the squared error summed over all categories never grows. Small shares become
    0, so each of them is biased.

    Notes
    -----
    *Claim*: no point of the simplex is nearer. *Checked by* ``test_norm_sub_is_the_projection``.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the
       l1-ball for learning in high dimensions", ICML 2008.
    .. [2] T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li, "Locally differentially private
       frequency estimation with consistency", NDSS 2020 (Norm-Sub).

    Examples
    --------
    >>> norm_sub([0.75, 0.5, -0.125]).tolist()
    [0.625, 0.375, 0.0]
    """
    f = np.asarray(raw, np.float64)
    down = np.sort(f)[::-1]
    theta = (np.cumsum(down) - 1) / np.arange(1, f.size + 1)
    kept = np.flatnonzero(down > theta)[-1]
    return np.asarray(np.maximum(f - theta[kept], 0))


def base_cut(raw: ArrayLike, sd: ArrayLike, *, beta: Number = 0.05) -> NDArray[np.float64]:
    r"""Return the shares that stand out of the noise; the others become 0.

    Cut is what lies below :math:`z\,\sigma_v`, where among :math:`k` categories that nobody has
    any noise passes :math:`z = \Phi^{-1}(1 - \beta/k)` with probability :math:`\beta` at most,
    by Bonferroni. Where few of many categories are common this errs least of all; the sum is
    that of what is left.

    Parameters
    ----------
    raw, sd
        The unbiased shares and their standard deviations where nobody has the category.
    beta
        :math:`\beta`, above 0 and at most 1.

    Notes
    -----
    *Claim*: of categories that nobody has, none is left but with probability :math:`\beta`.
    *Checked by* ``test_base_cut_keeps_no_noise``.

    References
    ----------
    .. [1] T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li, "Locally differentially private
       frequency estimation with consistency", NDSS 2020 (Base-Cut).

    Examples
    --------
    >>> base_cut([0.5, 0.02, -0.04], 0.02).tolist()
    [0.5, 0.0, 0.0]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - costs time to import, needed here only

    f, chance = np.asarray(raw, np.float64), float(number(beta, "beta", above=0, most=1))
    z = -ndtri(chance / max(f.size, 2))
    return np.where(f > z * np.asarray(sd, np.float64), f, 0.0)
