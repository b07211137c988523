r"""What one number tells of a Markov chain: how fast it forgets.

How well averages over a chain concentrate is told by :math:`\lambda`, the norm of the chain's
operator :math:`(Pf)(x) = E[f(x_2) \mid x_1 = x]` on functions of mean zero: the variance of an
average is at most :math:`\frac{1 + \lambda}{1 - \lambda}` times that of independent rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["read_matrix", "second_eigenvalue", "stationary"]

ROUNDING = 1e-9
"""How far probabilities may be from a sum of one: what decimals typed by hand leave."""


def stationary(matrix: ArrayLike) -> NDArray[np.float64]:
    r"""Return the law :math:`\pi` with :math:`\pi P = \pi`, which a chain never leaves.

    States are eliminated one by one without a subtraction [1]_, so the smallest probabilities are
    as exact as the largest. *Checked by* ``test_stationary_law_of_a_steep_chain``.

    References
    ----------
    .. [1] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions
       for Markov chains", Operations Research 33(5), 1985.

    Examples
    --------
    >>> stationary([[0.9, 0.1], [0.3, 0.7]]).round(9).tolist()
    [0.75, 0.25]
    """
    steps = read_matrix(matrix)
    home = _recurrent(steps)
    a = steps[np.ix_(home, home)]
    for k in range(len(a) - 1, 0, -1):
        a[:k, k] /= a[k, :k].sum()
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    weights = np.ones(len(a))
    for k in range(1, len(a)):
        weights[k] = weights[:k] @ a[:k, k]
    pi = np.zeros(len(steps))
    pi[home] = weights / weights.sum()
    return pi


def second_eigenvalue(matrix: ArrayLike) -> float:
    r"""Return the number that a ledger asks for: ``Markov(second_eigenvalue(matrix))``.

    It is the norm of the chain's operator on functions of mean zero in :math:`L_2(\pi)`: the second
    singular value of :math:`D^{1/2} P D^{-1/2}` for :math:`D = \operatorname{diag}(\pi)`, whose
    first one is 1, with :math:`\sqrt\pi` on both sides. For a reversible chain
    (:math:`\pi_x P_{xy} = \pi_y P_{yx}`) it is the largest *absolute* value of all eigenvalues but
    the first. Alternation counts as much as rest: a question that changes with the place of the
    row, as a list of predictions is, can undo it. States that are never visited do not count.
    *Checked by* ``test_second_eigenvalue_by_hand``,
    ``test_the_norm_counts_where_all_other_eigenvalues_are_zero`` and
    ``test_variance_is_within_the_inflation``.

    Examples
    --------
    >>> round(second_eigenvalue([[0.9, 0.1], [0.3, 0.7]]), 9)
    0.6
    >>> round(second_eigenvalue([[0.1, 0.9], [0.9, 0.1]]), 9)
    0.8
    """
    steps = read_matrix(matrix)
    pi = stationary(steps)
    visited = pi > 0
    root = np.sqrt(pi[visited])
    moves = root[:, None] * steps[np.ix_(visited, visited)] / root
    rest = moves - np.outer(root, root)
    return float(np.linalg.norm(rest, 2))


def _recurrent(steps: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the states that a chain comes back to for ever."""
    reach = (steps > 0) | np.eye(len(steps), dtype=bool)
    for _ in range(len(steps).bit_length()):
        reach = reach.astype(np.float32) @ reach.astype(np.float32) > 0
    home = np.flatnonzero((reach <= reach.T).all(axis=1))
    if not reach[np.ix_(home, home)].all():
        raise ParameterError(
            "matrix",
            "have one stationary law",
            "several closed classes of states",
            "Type the matrix of the one that the chain is in.",
        )
    return home


def read_matrix(matrix: ArrayLike) -> NDArray[np.float64]:
    """Return the matrix, each of whose rows is a law."""
    steps = np.asarray(matrix, np.float64)
    if (
        steps.ndim != 2
        or steps.shape[0] != steps.shape[1]
        or not np.isfinite(steps).all()
        or (steps < 0).any()
        or (np.abs(steps.sum(axis=1) - 1) > ROUNDING).any()
    ):
        raise ParameterError(
            "matrix",
            "be square with rows that sum to 1",
            "another one",
            "Type {matrix}: row x holds the chances of what follows x.",
            matrix=[[0.9, 0.1], [0.3, 0.7]],
        )
    return np.asarray(steps / steps.sum(axis=1, keepdims=True))
