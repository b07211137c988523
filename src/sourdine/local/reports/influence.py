"""What one invented report can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sourdine.mechanisms.frequency_oracle import FrequencyOracle

__all__ = ["influence"]


def influence(oracle: FrequencyOracle) -> float:
    r"""Return how many people's answers one invented report can outweigh, for one category.

    A report that is well formed counts, whoever wrote it. It supports a category or not, so in
    place of an honest one it moves the share of a category by

    .. math:: \frac{1}{n\,(p - q)}

    at most: as much as if :math:`1/(p - q)` of the :math:`n` people had answered otherwise. A
    fraction :math:`\beta` of invented reports moves it by :math:`\beta/(p - q)` at most
    (``test_influence_is_the_largest_move``).

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy",
       IEEE S&P 2021.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> round(influence(RandomizedResponse(epsilon=1, categories=10)), 2)
    6.82
    """
    p, q = oracle.chances
    return float(np.max(1 / (np.asarray(p) - np.asarray(q))))
