r"""Samples on which splitting fails: a fresh part for each query is no fresh part.

Splitting answers every query on a part of its own. That is sound for independent rows, where the
parts know nothing of each other; with dependent rows a part may tell all about the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine_lab.samples.independent import iid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LONGEST", "decode", "encoded", "repeated"]

LONGEST = 40
"""Rows whose bits fit into an average that is known to the last digit of a float."""


def encoded(n: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    r"""Return ``n`` rows that hold a fair coin each, and in their low-order bits all coins.

    .. math:: x_i = 2^n v_i + \sum_j 2^j v_j, \qquad v_j \sim \operatorname{Bernoulli}(\tfrac12)

    The coin alone, :math:`x_i \ge 2^n`, is as good a query as on independent rows. What
    :func:`~sourdine_lab.game.splitting_on_encoded` asks is concentrated too, and any one part
    tells what all others hold.

    Parameters
    ----------
    n
        How many rows, 40 at most.
    rng
        Where chance comes from.

    Examples
    --------
    >>> rows = encoded(8, rng=np.random.default_rng(1))
    >>> (decode(rows[3], 8) == (rows >> 8)).all()
    np.True_
    """
    if integer(n, "n", least=1) > LONGEST:
        raise ParameterError(
            f"n must be at most {LONGEST} for all rows to fit into one, got {n}. Use n={LONGEST}."
        )
    coins = rng.integers(0, 2, n)
    return np.asarray((coins << n) + (coins << np.arange(n)).sum())


def decode(row: int | np.int64, n: int) -> NDArray[np.int64]:
    """Return the coins of all ``n`` rows, from one row of :func:`encoded`."""
    return (int(row) >> np.arange(n)) & 1


def repeated(law: ArrayLike, n: int, *, times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` rows that are one block of independent rows, ``times`` times over.

    Split in ``times`` parts, every part is the same: splitting reuses one small sample. *Checked
    by* ``test_splitting_fails_on_a_repeated_block``.

    Examples
    --------
    >>> rows = repeated([0.25] * 4, 12, times=3, rng=np.random.default_rng(1))
    >>> (rows[:4] == rows[4:8]).all() and (rows[:4] == rows[8:]).all()
    np.True_
    """
    n, times = integer(n, "n", least=1), integer(times, "times", least=1)
    return np.resize(iid(law, -(-n // times), rng=rng), n)
