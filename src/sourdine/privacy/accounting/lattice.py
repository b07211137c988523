r"""Losses on a lattice: rounded up so that both masses are kept, or down.

A loss :math:`l` between lattice points :math:`jh` and :math:`(j+1)h` is split between them so that
its masses under :math:`P` and :math:`Q` are kept ("connect the dots" [1]_): the share
:math:`(1 - e^{-(l - jh)})/(1 - e^{-h})` goes up. The new pair has the old one as a
post-processing. Rounding every loss down, and keeping the masses under :math:`P`, gives a bound
from below.

References
----------
.. [1] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, "Connect the dots: tighter
   discrete approximations of privacy loss distributions", PoPETs 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, expm1, gcd, lcm, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.pairs import ULP, Pair
from sourdine.privacy.accounting.ranges import recursion_step

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Laid", "common_unit", "is_on", "laid_down", "laid_up", "lattice_step"]

POINTS = 1 << 17
"""A lattice on which not all losses lie is about so fine, over all that matters."""
EXACT = 1 << 18
"""A lattice on which they all lie has at most so many points there."""


@dataclass(frozen=True, eq=False)
class Laid:
    """Masses on consecutive lattice points, of each of several equal draws."""

    first: int
    mass: NDArray[np.float64]
    times: int
    slack: float
    beyond: float = 0.0


def is_on(pair: Pair, step: Fraction) -> bool:
    """Whether all losses are lattice points, exactly.

    Examples
    --------
    >>> pair = Pair.on(Fraction(1, 10), np.array([-1, 1]), np.array([0.4, 0.6]), 0)
    >>> is_on(pair, Fraction(1, 20)), is_on(pair, Fraction(1, 7))
    (True, False)
    """
    return bool(pair.unit) and (pair.unit / step).denominator == 1


def laid_up(pair: Pair, times: int, step: Fraction) -> Laid:
    """Return a pair on the lattice that dominates this one."""
    index, over = _between(pair, step, 1)
    higher = np.minimum(np.expm1(-over) / expm1(-float(step)), 1.0)
    first, slack = int(index.min()), pair.slack + 64 * ULP
    mass = np.zeros(int(index.max()) - first + 2)
    np.add.at(mass, index - first, pair.mass * (1 - higher))
    np.add.at(mass, index - first + 1, pair.mass * higher)
    return _trimmed(Laid(first, mass, times, slack, pair.beyond))


def laid_down(pair: Pair, times: int, step: Fraction) -> Laid:
    """Return masses on the lattice with no loss above what it was."""
    index, _ = _between(pair, step, -1)
    first, slack = int(index.min()), pair.slack + 8 * ULP
    mass = np.bincount(index - first, weights=pair.mass).astype(np.float64)
    return _trimmed(Laid(first, mass, times, slack))


def _trimmed(laid: Laid) -> Laid:
    """Drop what is too small for a float to hold, at either end, against the user."""
    kept = np.flatnonzero(laid.mass > 1e-290)
    if not len(kept):
        return laid
    lost = 1e-280 if (laid.mass[: kept[0]].any() or laid.mass[kept[-1] + 1 :].any()) else 0.0
    mass = laid.mass[kept[0] : kept[-1] + 1]
    return Laid(laid.first + int(kept[0]), mass, laid.times, laid.slack, laid.beyond + lost)


def _between(
    pair: Pair, step: Fraction, direction: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the lattice point below each loss, and how far above it the loss is.

    Losses with a unit are divided exactly, others are first moved by more than their error.
    """
    h, ratio = float(step), pair.unit / step
    top = float(np.abs(pair.loss).max())
    multiples = top / float(pair.unit) + 1 if pair.unit else 0.0
    if pair.unit and max(ratio.numerator * multiples, ratio.denominator) < 2**62:
        multiple = np.rint(pair.loss / float(pair.unit)).astype(np.int64) * ratio.numerator
        index, over = np.divmod(multiple, ratio.denominator)
        return index, over * (h / ratio.denominator)
    loss = pair.loss + direction * 64 * ULP * (1 + top) * np.abs(pair.loss)
    index = np.floor(loss / h - (direction < 0) * 4 * ULP * np.abs(loss / h)).astype(np.int64)
    return index, np.clip(loss - index * h, 0.0, h)


def common_unit(units: Iterable[Fraction]) -> Fraction:
    """Return the largest rational of which all are whole multiples; 0 for none.

    Examples
    --------
    >>> common_unit([Fraction(1, 10), Fraction(49, 500)])
    Fraction(1, 500)
    """

    def both(x: Fraction, y: Fraction) -> Fraction:
        below = lcm(x.denominator, y.denominator)
        return Fraction(gcd(int(x * below), int(y * below)), below)

    return reduce(both, units, Fraction(0))


def lattice_step(pairs: Iterable[tuple[Pair, int]], ranges: Counter[Fraction]) -> Fraction:
    """Return the spacing of a lattice for all losses of a batch.

    It is the common unit of the losses, where that is not too fine; otherwise a spacing that
    keeps as many of the largest losses on the lattice as can be.

    Parameters
    ----------
    pairs, ranges
        What is composed, and how often each.
    """
    drawn = list(pairs)
    exact = common_unit([*(pair.unit for pair, _ in drawn), *ranges])
    tops = [float(np.abs(pair.loss).max()) for pair, _ in drawn]
    variance = sum(n * pair.variance for pair, n in drawn)
    most = sum(2 * n * top for top, (_, n) in zip(tops, drawn, strict=True))
    span = min(most, 24 * sqrt(variance) + 2 * max(tops, default=0.0)) or 1.0
    if ranges:
        aim = Fraction(max(recursion_step(ranges), span / (2 * POINTS) if drawn else 0.0))
    else:
        if all(pair.unit for pair, _ in drawn) and span <= EXACT * exact:
            return exact or Fraction(1)
        aim = Fraction(span / POINTS)
    large = [Fraction(top).limit_denominator(10**6) for top in tops if top > aim]
    for unit in (exact, common_unit([*large, *ranges]), common_unit(ranges)):
        if unit > aim / 2:
            return unit / ceil(unit / aim)
    return aim
