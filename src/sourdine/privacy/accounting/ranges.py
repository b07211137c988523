r"""Draws of bounded range whose offsets an analyst chooses on the way: exact recursion.

A draw of range :math:`\eta` has losses in some :math:`[t - \eta, t]`. The worst has the two
ends alone, the upper one with probability :math:`p_t = (e^\eta - e^t)/(e^\eta - 1)`; but which
:math:`t` is worst depends on the losses before [1]_. So

.. math::
    V_0(x) = (1 - e^x)_+, \qquad
    V_{k+1}(x) = \sup_{0 \le t \le \eta} p_t V_k(x - t) + (1 - p_t) V_k(x - t + \eta)

and :math:`\delta_k(\varepsilon) = V_k(\varepsilon)`.

References
----------
.. [1] J. Dong, D. Durfee, R. Rogers, "Optimal differential privacy composition for exponential
   mechanisms", ICML 2020.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import expm1, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.pairs import ULP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Value", "reach_of", "recursion_step", "simplified"]

WORK = 1e8
"""The recursion has at most about so many steps, of some nanoseconds each."""


class Value:
    """An upper bound of V on a lattice from -reach to reach.

    Parameters
    ----------
    step
        The spacing of the lattice.
    reach
        How many steps are kept on either side of 0.
    ranges
        Of every draw, how many steps its range is, rounded up, and how many such draws.

    Notes
    -----
    Right of the lattice V is at most its last value. Left of it, as the roles of P and Q can be
    exchanged, :math:`V(x) = 1 - e^x + e^x V(-x)`, which bounds it again by the last value.

    Draws of different ranges do not commute, so V is the largest over all orders, by recursion over
    how many of each are left.

    *Claim*: it is no less than the truth. *Checked by*
    ``test_the_range_recursion_is_above_every_offset``.
    """

    def __init__(self, step: Fraction, reach: int, ranges: Iterable[tuple[int, int]]) -> None:
        self.step, self.reach = float(step), reach
        kinds = list(ranges)
        x = np.arange(-reach, reach + 1) * self.step
        start = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0) * (1 + 8 * ULP)
        found: dict[tuple[int, ...], Floats] = {}
        for counts in product(*(range(n + 1) for _, n in kinds)):
            found[counts] = start
            best = None
            for i, (m, _) in enumerate(kinds):
                if counts[i]:
                    fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
                    v = self._drawn(found[fewer], m)
                    best = v if best is None else np.maximum(best, v)
                    if i == 0:
                        del found[fewer]
            found[counts] = start if best is None else best
        self.v = found[tuple(n for _, n in kinds)]

    def _left(self, v: Floats, index: NDArray[np.int64]) -> Floats:
        """Return a bound at points left of the lattice."""
        kept = np.exp(np.maximum(index * self.step, -700.0)) * (1 - v[-1])
        return np.asarray(np.minimum((1 - kept) * (1 + 8 * ULP), 1.0))

    def _drawn(self, v: Floats, m: int) -> Floats:
        r"""Return V with one draw of range :math:`mh` before the others.

        Between two lattice offsets both losses are split onto the lattice so that their masses
        under P and Q are kept. What is gained is then a chord in :math:`e^t` plus at most
        :math:`4B\lambda(1-\lambda)`, the maximum of which is in closed form.
        """
        h, n = self.step, len(v)
        left = self._left(v, np.arange(-self.reach - m, -self.reach))
        padded = np.concatenate((left, v, np.full(m, v[-1])))
        whole, bend = expm1(m * h), expm1(h) / expm1(m * h)
        best, before = v.copy(), v
        for j in range(m):
            up0, up1 = padded[m - j :][:n], padded[m - j - 1 :][:n]
            down0, down1 = padded[2 * m - j :][:n], padded[2 * m - j - 1 :][:n]
            share = expm1((j + 1) * h) / whole
            kept = (share * whole + 1) * expm1((m - j - 1) * h) / whole
            after = kept * up1 + share * down1
            four = np.maximum((whole + 1) * (up1 - up0) - (down1 - down0), 0.0) * bend
            rise = after - before
            inside = np.abs(rise) < four
            top = before + (rise + four) ** 2 / (4 * np.where(inside, four, 1.0))
            np.maximum(best, np.where(inside, top, after), out=best)
            before = after
        return np.asarray(np.minimum(best * (1 + 64 * ULP), 1.0))

    def at(self, index: int, part: float, count: int) -> Floats:
        """Return a bound of V at ``index + part``, and at so many whole steps further left.

        V is convex in e^x, so between lattice points it is below the chord.
        """
        points = np.arange(index, index - count - 1, -1) + 1
        on = self.v[np.clip(points, -self.reach, self.reach) + self.reach]
        found = np.where(points < -self.reach, self._left(self.v, np.minimum(points, 0)), on)
        if not part:
            return np.asarray(found[1:])
        weight = expm1(part * self.step) / expm1(self.step)
        return np.asarray(((1 - weight) * found[1:] + weight * found[:-1]) * (1 + 64 * ULP))


def reach_of(ranges: Counter[Fraction]) -> float:
    """Return how far from 0 losses of draws of these ranges are worth following."""
    variance = sum(n * float(eta) ** 2 / 4 for eta, n in ranges.items())
    far = 14 * sqrt(variance) + variance + float(max(ranges))
    return min(far, sum(n * float(eta) for eta, n in ranges.items()))


def recursion_step(ranges: Counter[Fraction]) -> float:
    """Return a spacing at which the recursion is short: a part of the least range, or more."""
    states = prod(n + 1 for n in ranges.values())
    work = states * float(sum(ranges)) * 2 * reach_of(ranges)  # over the spacing squared
    least = float(min(ranges))
    return max(least / 512, min(least / 32, sqrt(10 * work / WORK)), sqrt(work / WORK))


def simplified(ranges: Counter[Fraction]) -> tuple[Counter[Fraction], Counter[Fraction]]:
    """Return ranges for which the recursion is short, and what is taken for pure promises instead.

    Ranges are rounded up to larger ones, or taken for pure, whichever adds less variance.
    """
    kept, pure = Counter(ranges), Counter[Fraction]()
    while kept and recursion_step(kept) > float(min(kept)) / 4:
        sizes = sorted(kept)
        promise = min(sizes, key=lambda eta: 3 * kept[eta] * eta**2)
        cost = 3 * kept[promise] * promise**2
        larger = dict(pairwise(sizes))
        merges = {s: kept[s] * (large**2 - s**2) for s, large in larger.items()}
        small = min(merges, key=merges.__getitem__, default=None)
        if small is not None and merges[small] < cost:
            kept[larger[small]] += kept.pop(small)
        else:
            pure[promise] += kept.pop(promise)
    return kept, pure
