r"""How often a sampler that watches a few coordinates wins OneFromMany, by counting.

:math:`Y` is a random half of :math:`X`, and :math:`t = \lfloor 49|X|/100 \rfloor` elements are
deleted. Whoever deletes what is named takes one watched element of :math:`Y` a time, so the sampler
needs :math:`t` of them. Deletions fixed beforehand leave :math:`|X|/2 - t + 1` elements at the last
question, of which it needs to watch one.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from sourdine_lab.one_from_many.lower_bound import deletions

__all__ = ["least_watched", "wins"]


def wins(universe: int, watched: int, *, adaptive: bool) -> Fraction:
    """Return the chance to survive all deletions.

    Examples
    --------
    >>> [round(float(wins(200, 40, adaptive=a)), 3) for a in (True, False)]
    [0.0, 0.49]
    """
    half, t = universe // 2, deletions(universe)
    everything = comb(universe, watched)
    if adaptive:
        ways = sum(
            comb(half, h) * comb(universe - half, watched - h)
            for h in range(t, min(half, watched) + 1)
        )
        return Fraction(ways, everything)
    return 1 - Fraction(comb(universe - (half - t + 1), watched), everything)


def least_watched(universe: int, *, adaptive: bool, chance: Fraction = Fraction(1, 4)) -> int:
    """Return the fewest coordinates with which the chance to win is at least so large.

    Examples
    --------
    >>> [least_watched(n, adaptive=True) for n in (200, 400)]
    [194, 389]
    >>> [least_watched(n, adaptive=False) for n in (200, 400)]
    [19, 23]
    """
    low, high = 0, universe
    while high - low > 1:
        middle = (low + high) // 2
        enough = wins(universe, middle, adaptive=adaptive) >= chance
        low, high = (low, middle) if enough else (middle, high)
    return high
