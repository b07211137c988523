"""Iterative Bayes: the frequencies under which the reports at hand are most likely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["em"]


def em(
    matrix: ArrayLike,
    counts: ArrayLike,
    *,
    smooth: bool = False,
    change: float = 1e-3,
    most: int = 10_000,
) -> NDArray[np.float64]:
    r"""Return the frequencies of the inputs, from counts of the reports, by EM.

    Each step splits every count :math:`c_y` over the inputs by Bayes' rule [1]_:

    .. math:: f_x \leftarrow f_x \sum_y \frac{c_y}{n} \frac{M_{yx}}{\sum_{x'} M_{yx'} f_{x'}}

    It starts from equal frequencies, which keeps what the reports cannot tell apart equal, and the
    likelihood never falls. With ``smooth`` each step ends with a mean of neighbours of weights 1/4,
    1/2, 1/4, the end cells being their own outer neighbours: EMS of [2]_, for ordered cells.

    Parameters
    ----------
    matrix
        :math:`M_{yx} = P(y \mid x)`, a row for each report; columns sum to 1.
    counts
        :math:`c_y`, how often each report occurred.
    smooth
        Average neighbouring cells at each step.
    change
        Stop once a step changes the log likelihood of all reports together by less.
    most
        The number of steps to stop after.

    Returns
    -------
    array
        Frequencies that are not negative and sum to 1; equal ones if there are no reports.

    Notes
    -----
    *Claim*: without ``smooth`` the likelihood rises to its maximum. *Checked by*
    ``test_em_finds_the_most_likely_frequencies``. *Claim*: nothing a report holds, empty cells
    and reports that no input could have caused among it, makes a step fail. *Checked by*
    ``test_em_takes_any_counts``.

    References
    ----------
    .. [1] R. Agrawal, R. Srikant, "Privacy-preserving data mining", SIGMOD 2000 (the steps); D.
       Agrawal, C. Aggarwal, "On the design and quantification of privacy preserving
       data mining algorithms", PODS 2001 (that they are EM).
    .. [2] Z. Li, T. Wang, M. Lopuhaä-Zwakenberg, N. Li, B. Škorić, "Estimating numerical
       distributions under local differential privacy", SIGMOD 2020.

    Examples
    --------
    >>> em([[0.75, 0.25], [0.25, 0.75]], [60, 40], change=1e-12).round(3).tolist()
    [0.7, 0.3]
    >>> em([[0.75, 0.25], [0.25, 0.75]], [90, 10], change=1e-12).round(3).tolist()
    [1.0, 0.0]
    """
    whole, c = np.asarray(matrix, np.float64), np.asarray(counts, np.float64)
    f = np.full(whole.shape[1], 1 / whole.shape[1])
    seen = (c > 0) & (whole.max(axis=1) > 0)
    if not seen.any():
        return f
    m, c = np.ascontiguousarray(whole[seen]), c[seen]
    n, before = c.sum(), -np.inf
    for _ in range(most):
        chance = np.maximum(m @ f, np.finfo(np.float64).tiny)
        likelihood = c @ np.log(chance)
        if abs(likelihood - before) < change:
            break
        before = likelihood
        f = f * (m.T @ (c / (n * chance)))
        f = _smoothed(f) if smooth else f
        f /= f.sum()
    return f


def _smoothed(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each cell with its neighbours; the sum stays."""
    wide = np.concatenate([f[:1], f, f[-1:]])
    return np.asarray(wide[:-2] / 4 + f / 2 + wide[2:] / 4)
