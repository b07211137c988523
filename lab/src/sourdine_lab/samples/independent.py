"""Rows drawn one by one from a law over the codes 0, ..., N - 1, and rows drawn in copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["blocks", "iid", "read_law"]

ROUNDING = 1e-9
"""How far probabilities may be from a sum of one: what decimals typed by hand leave."""


def iid(law: ArrayLike, n: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` independent rows.

    Parameters
    ----------
    law
        The probabilities of the codes 0, ..., N - 1.
    n
        How many rows.
    rng
        Where chance comes from.

    Examples
    --------
    >>> iid([0, 0, 1], 4, rng=np.random.default_rng(1)).tolist()
    [2, 2, 2, 2]
    """
    chances = read_law(law)
    return rng.choice(len(chances), size=integer(n, "n", least=1), p=chances)


def blocks(law: ArrayLike, n: int, *, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` rows of which each is there ``size`` times in a row, the last one maybe less.

    The averages of such a sample spread as those of n/size rows do: declare it to a ledger as
    ``Blocks(size)``. *Checked by* ``test_blocks_spread_as_fewer_rows``.

    Examples
    --------
    >>> rows = blocks([0.5, 0.5], 7, size=3, rng=np.random.default_rng(1))
    >>> len(set(rows[:3].tolist())), len(set(rows[3:6].tolist())), len(rows)
    (1, 1, 7)
    """
    n, size = integer(n, "n", least=1), integer(size, "size", least=1)
    return np.repeat(iid(law, -(-n // size), rng=rng), size)[:n]


def read_law(law: ArrayLike) -> NDArray[np.float64]:
    """Return the probabilities of the codes, whose sum is one to the last digit."""
    chances = np.asarray(law, np.float64)
    if (
        chances.ndim != 1
        or not np.isfinite(chances).all()
        or (chances < 0).any()
        or abs(chances.sum() - 1) > ROUNDING
    ):
        raise ParameterError(
            "law must be a vector of probabilities that sum to 1, got something else. "
            "Use law=[0.5, 0.3, 0.2]: the chances of the codes 0, 1 and 2."
        )
    return np.asarray(chances / chances.sum())
