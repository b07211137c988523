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

from math import expm1
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.pairs import ULP

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Value"]


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

    *Claim*: it is no less than the truth. *Checked by*
    ``test_the_range_recursion_is_above_every_offset``.
    """

    def __init__(self, step: Fraction, reach: int, ranges: Iterable[tuple[int, int]]) -> None:
        self.step, self.reach = float(step), reach
        x = np.arange(-reach, reach + 1) * self.step
        self.v = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0) * (1 + 8 * ULP)
        for m, times in ranges:
            for _ in range(times):
                self._draw(m)

    def _left(self, index: NDArray[np.int64]) -> Floats:
        """Return a bound at points left of the lattice."""
        kept = np.exp(np.maximum(index * self.step, -700.0)) * (1 - self.v[-1])
        return np.asarray(np.minimum((1 - kept) * (1 + 8 * ULP), 1.0))

    def _draw(self, m: int) -> None:
        r"""Take one draw of range :math:`mh` before the others.

        Between two lattice offsets both losses are split onto the lattice so that their masses
        under P and Q are kept. What is gained is then a chord in :math:`e^t` plus at most
        :math:`4B\lambda(1-\lambda)`, the maximum of which is in closed form.
        """
        h, n = self.step, len(self.v)
        left = self._left(np.arange(-self.reach - m, -self.reach))
        padded = np.concatenate((left, self.v, np.full(m, self.v[-1])))
        whole, bend = expm1(m * h), expm1(h) / expm1(m * h)
        best, before = self.v.copy(), self.v
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
        self.v = np.minimum(best * (1 + 64 * ULP), 1.0)

    def at(self, index: int, part: float, count: int) -> Floats:
        """Return a bound of V at ``index + part``, and at so many whole steps further left.

        V is convex in e^x, so between lattice points it is below the chord.
        """
        points = np.arange(index, index - count - 1, -1) + 1
        on = self.v[np.clip(points, -self.reach, self.reach) + self.reach]
        found = np.where(points < -self.reach, self._left(np.minimum(points, 0)), on)
        if not part:
            return np.asarray(found[1:])
        weight = expm1(part * self.step) / expm1(self.step)
        return np.asarray(((1 - weight) * found[1:] + weight * found[:-1]) * (1 + 64 * ULP))
