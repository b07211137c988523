r"""Three sums that hold the number, the mean and the variance of values in an interval.

With ticks :math:`t` from 0 to L and :math:`u = t/L`, every record adds
:math:`(1-u)^2,\ 2u(1-u),\ u^2` to three sums A, B, C. These are never negative and together always
1, so one record added or removed moves the three by 1 in all and the whole of epsilon covers each
of them; a replaced one moves them by at most 2, and one that becomes missing by 1. With
:math:`N = A + B + C`,

.. math:: \text{mean} = \frac{B/2 + C}{N}, \qquad \text{variance} = \frac{AC - B^2/4}{N^2}.

All numbers are multiplied by a public whole number, so that the lattice is fine beside the noise.
"""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sourdine.central.intervals import FINE
from sourdine.central.together import Together
from sourdine.privacy import SUBSTITUTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine.privacy import Relation

__all__ = ["NAMES", "ThreeSums"]

NAMES = ("low", "middle", "high")
"""What A, B and C are called."""


@frozen(kw_only=True, slots=False)
class ThreeSums:
    """The sums A, B and C of ticks from 0 to ``last``, with noise.

    Parameters
    ----------
    last
        The highest tick.
    epsilon, relation, rows
        The promise.

    Notes
    -----
    *Claim*: the three sums move by at most 1, or 2, in all. *Checked by*
    ``test_three_sums_move_together``.
    """

    last: int
    epsilon: Fraction
    relation: Relation
    rows: int = 1

    @cached_property
    def boost(self) -> int:
        """What all sums are multiplied by."""
        return max(1, ceil(FINE * self.epsilon / self.last**2))

    @cached_property
    def filled(self) -> int:
        """What one record adds to the three together."""
        return self.last**2 * self.boost

    @cached_property
    def mechanism(self) -> Together:
        """What draws them."""
        moves = (2 if self.relation is SUBSTITUTE else 1) * self.rows
        return Together(
            epsilon=self.epsilon, sensitivity=moves * self.filled, relation=self.relation
        )

    @cached_property
    def scale(self) -> float:
        """The scale of the noise, in records."""
        return float(self.mechanism.scale / self.filled)

    def sums(self, n: int, total: int, squares: int) -> tuple[int, int, int]:
        """Return the three sums beneath the noise, in squared ticks."""
        k, last = self.boost, self.last
        crossed = last * total - squares
        return k * (last * last * n - last * total - crossed), k * 2 * crossed, k * squares

    def draw_all(self, moments: Sequence[Sequence[int]], source: Source) -> list[dict[str, Any]]:
        """Return the three sums of each group with noise, by name."""
        sums = [self.sums(*own) for own in moments]
        drawn = self.mechanism.release_all(sums, source=source)
        return [dict(zip(NAMES, three, strict=True)) for three in drawn]

    def in_records(self, drawn: Mapping[str, int]) -> NDArray[np.float64]:
        """Return what was drawn, a record being 1."""
        return np.array([drawn[name] / self.filled for name in NAMES])
