"""Markov chains: every row depends on the one before it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger.dependence import read_matrix, stationary
from sourdine.exact import integer, probability
from sourdine_lab.samples.independent import iid, read_law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number

__all__ = ["lazy_matrix", "lazy_walk", "markov_chain"]


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
    steps = read_matrix(matrix)
    first = iid(stationary(steps), 1, rng=rng)[0]
    pairs = zip(np.cumsum(steps, axis=1), steps, strict=True)
    ends = [row[: np.flatnonzero(chances)[-1]].tolist() for row, chances in pairs]
    states = [int(first)]
    for u in rng.random(integer(n, "n", least=1) - 1).tolist():
        states.append(bisect_right(ends[states[-1]], u))
    return np.array(states, np.int64)
