"""Guess and check: one part of the rows guesses, the other nods or corrects.

The training part may be known to everybody. Only what is told about the checking part is charged,
and only its rows carry the certificate.

References
----------
.. [1] R. Rogers, A. Roth, A. Smith, N. Srebro, O. Thakkar, B. Woodworth, "Guaranteed validity for
   empirical approaches to adaptive data analysis", AISTATS 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.adaptive.ledger import Blocks, Iid
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.adaptive.ledger import Dependence
    from sourdine.noise import Source

__all__ = ["halves"]


def halves(
    n: int,
    dependence: Dependence,
    *,
    groups: Sequence[object] | NDArray[np.generic] | None = None,
    source: Source = noise.SYSTEM,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that guess and the rows that check, drawn by chance, whole blocks together.

    Parameters
    ----------
    n
        How many rows there are.
    dependence
        Rows must be independent, or come in blocks. Half of a Markov chain's rows know the other
        half, and are no chain of the same eigenvalue: such parts must be given, far enough apart
        that the checking rows concentrate whatever the training rows are.
    groups
        The block of each row, public; without it, blocks are runs of ``size`` rows.
    source
        Where chance comes from.

    Examples
    --------
    >>> train, check = halves(6, Blocks(3))
    >>> sorted([train.tolist(), check.tolist()])
    [[0, 1, 2], [3, 4, 5]]
    """
    if isinstance(dependence, Iid) and groups is None:
        block = np.arange(n)
    elif isinstance(dependence, (Iid, Blocks)):
        block = _blocks(n, dependence, groups)
    else:
        raise ParameterError(
            "training",
            f"be given for {dependence.name} rows",
            "none",
            "A random half would know the other half, and would not be such a sample. "
            "Type {training} with rows that lie well apart from the others.",
        )
    many = int(block.max()) + 1 if n else 0
    if many < 2:
        raise ParameterError(
            "data",
            "come in at least 2 independent blocks to be split",
            f"{many}",
            "Type {training} with rows of their own.",
        )
    chosen = np.zeros(many, bool)
    chosen[_shuffled(many, source)[: many // 2]] = True
    return np.flatnonzero(chosen[block]), np.flatnonzero(~chosen[block])


def _blocks(
    n: int, dependence: Dependence, groups: Sequence[object] | NDArray[np.generic] | None
) -> NDArray[np.int64]:
    if groups is None:
        return np.arange(n) // (dependence.size if isinstance(dependence, Blocks) else 1)
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ParameterError(
            "groups",
            f"name the block of each of {n} rows",
            f"the shape {labels.shape}",
            "Type {groups} with one label for each row.",
        )
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)


def _shuffled(many: int, source: Source) -> NDArray[np.int64]:
    """Return the numbers below ``many`` in an order of chance."""
    keys = np.frombuffer(source.bytes(16 * many), "<u8").reshape(2, many)
    return np.lexsort((keys[0], keys[1]))
