r"""Markov chains: every row depends on the one before it.

How well averages over a chain concentrate is told by one number :math:`\lambda`, the norm of the
chain's operator :math:`(Pf)(x) = E[f(x_2) \mid x_1 = x]` on functions of mean zero: the variance of
an average is at most :math:`\frac{1 + \lambda}{1 - \lambda}` times that of independent rows.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.samples.independent import ROUNDING, iid, read_law
from sourdine.errors import ParameterError
from sourdine.exact import integer, probability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number

__all__ = ["lazy_matrix", "lazy_walk", "markov_chain", "second_eigenvalue", "stationary"]


def lazy_walk(
    law: ArrayLike, n: int, *, rng: np.random.Generator, stay: Number = 0.5
) -> NDArray[np.int64]:
    r"""Return a lazy random walk: the row before with probability ``stay``, else a fresh one.

    .. math:: x_1 \sim D, \qquad x_i = x_{i-1} \text{ with probability } \lambda,
              \text{ else } x_i \sim D

    *Claim*: every row follows :math:`D`, and the second eigenvalue is ``stay`` exactly. *Proof*:
    :math:`Pf = \lambda f + (1 - \lambda) E_D[f]`, which is :math:`\lambda f` for every :math:`f` of
    mean zero: all of them are eigenvectors. *Checked by* ``test_eigenvalue_of_the_lazy_walk``.

    *Claim*: the average of :math:`n` rows has

    .. math:: \operatorname{Var} q(S) = \frac{\operatorname{Var}_D q}{n}\left(
              \frac{1 + \lambda}{1 - \lambda} - \frac{2\lambda(1 - \lambda^n)}{n(1 - \lambda)^2}
              \right)

    about three times that of independent rows where it stays half of the time. *Proof*:
    :math:`\operatorname{Cov}(q(x_i), q(x_j)) = \lambda^{|i - j|}\operatorname{Var}_D q`.
    *Checked by* ``test_variance_of_the_lazy_walk``.

    Parameters
    ----------
    law
        :math:`D`, the probabilities of the codes 0, ..., N - 1.
    n
        How many rows.
    rng
        Where chance comes from.
    stay
        :math:`\lambda`, the chance to stay; declare it to a ledger as ``Markov(stay)``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> len(set(lazy_walk([0.25] * 4, 9, rng=rng, stay=1).tolist()))
    1
    """
    fresh = iid(law, n, rng=rng)
    stays = rng.random(len(fresh)) < float(probability(stay, "stay"))
    return fresh[np.maximum.accumulate(np.where(stays, 0, np.arange(len(fresh))))]


def lazy_matrix(law: ArrayLike, *, stay: Number = 0.5) -> NDArray[np.float64]:
    """Return the matrix of the lazy random walk.

    Examples
    --------
    >>> lazy_matrix([0.5, 0.5]).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    chances, chance = read_law(law), float(probability(stay, "stay"))
    return chance * np.eye(len(chances)) + (1 - chance) * chances


def markov_chain(matrix: ArrayLike, n: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` states of a Markov chain that begins in its stationary law.

    Parameters
    ----------
    matrix
        Row x holds the probabilities of the states that follow x.
    n
        How many rows.
    rng
        Where chance comes from.

    Examples
    --------
    >>> turns = markov_chain([[0, 1], [1, 0]], 5, rng=np.random.default_rng(1))
    >>> np.diff(turns).astype(bool).all()
    np.True_
    """
    steps = _read_matrix(matrix)
    first = iid(stationary(steps), 1, rng=rng)[0]
    pairs = zip(np.cumsum(steps, axis=1), steps, strict=True)
    ends = [row[: np.flatnonzero(chances)[-1]].tolist() for row, chances in pairs]
    states = [int(first)]
    for u in rng.random(integer(n, "n", least=1) - 1).tolist():
        states.append(bisect_right(ends[states[-1]], u))
    return np.array(states, np.int64)


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
    steps = _read_matrix(matrix)
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
    steps = _read_matrix(matrix)
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
            "matrix must have one stationary law, got several closed classes of states. "
            "Type the matrix of the one that the chain is in."
        )
    return home


def _read_matrix(matrix: ArrayLike) -> NDArray[np.float64]:
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
            "matrix must be square with rows that sum to 1, got something else. "
            "Type matrix=[[0.9, 0.1], [0.3, 0.7]]: row x holds the chances of what follows x."
        )
    return np.asarray(steps / steps.sum(axis=1, keepdims=True))
