r"""Rare events among many lanes, found by the gaps between them.

Where every lane is marked independently with probability :math:`1/128`, the numbers of unmarked
lanes before each mark are independent with

.. math:: P(k) = \tfrac{1}{128} \left(\tfrac{127}{128}\right)^k, \qquad
          T_k = 1 - \left(\tfrac{127}{128}\right)^{k+1},

and the other way round: marks that leave such gaps are independent. So only the marks are drawn,
one lane in 128, from the cumulative law :math:`T_k` (`sourdine.noise.steps`), which is rational.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.noise.steps import Steps, identity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise.source import Source

__all__ = ["RARITY", "rare_lanes"]

RARITY = 128


def rare_lanes(count: int, source: Source) -> NDArray[np.int64]:
    """Mark each of ``count`` lanes with probability 1/128; return the marked ones, ascending."""
    expected = count // RARITY
    found = np.empty(0, np.int64)
    last = -1
    while last < count:
        gaps = np.empty(expected + 6 * isqrt(expected) + 16, np.int64)
        _gaps().fill(gaps, source)
        lanes = last + np.cumsum(gaps + 1)
        last = int(lanes[-1])
        found = np.concatenate((found, lanes))
    return found[: np.searchsorted(found, count)]


@lru_cache(1)
def _gaps() -> Steps:
    return Steps(_ladder, identity)


def _ladder(bits: int) -> tuple[list[int], list[int]]:
    spare = 64
    one = 1 << (bits + spare)
    low: list[int] = []
    high: list[int] = []
    power_low = power_high = one
    while power_high >> spare:
        power_low = power_low * (RARITY - 1) // RARITY
        power_high = -(-power_high * (RARITY - 1) // RARITY)
        low.append(one - power_high >> spare)
        high.append(-(power_low - one >> spare))
    return low, high
