r"""Quantiles with an interval of their own: three are drawn for each.

Beside the rank :math:`q_jN` the joint draw aims at :math:`q_jN - u` and :math:`q_jN + u`. The offset
:math:`u` is public: with the probability wanted, no lower bracket errs upward and no upper one
downward by more than :math:`u` (`sourdine.central.quantiles.expected`), so the sample's quantile
lies between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.expected import bracket_error
from sourdine.central.quantiles.joint import JointFree
from sourdine.central.quantiles.lattice import FreeTotal
from sourdine.mechanisms.mechanism import read_level, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

__all__ = ["Brackets"]

MARGIN = 1.5
"""So many 1/c the brackets aim further out, for records that do not lie evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brackets(JointFree):
    r"""`JointFree` for each quantile and a bracket on both sides of it.

    Parameters
    ----------
    level
        The probability with which all intervals hold.
    """

    level: Number = 0.95
    offset: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super(Brackets, self).__post_init__()  # noqa: UP008 - slots make a new class
        level = read_level(self.level)
        u = ceil((bracket_error(self.orders, float(1 - level)) + MARGIN) / self.c)
        three = tuple(q for q in self.orders for _ in range(3))
        h = max(1, round((2 if len(three) <= 12 else 1) * (len(three) + 1) / self.c))
        lattice = FreeTotal(three, h, (-u, 0, u) * len(self.orders))
        settle(self, level=level, offset=u, lattice=lattice)

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that a draw mostly needs."""
        wide = super(Brackets, self).windows(n)  # noqa: UP008 - slots make a new class
        more = self.offset + int(8 * len(self.orders) / self.c)
        return [(a - more, b + more) for a, b in wide]

    def published(self, drawn: Sequence[int]) -> NDArray[np.int64]:
        """Return lower bracket, quantile and upper bracket, a row for each order."""
        goals = self.lattice.goals(drawn[0])  # type: ignore[union-attr]
        out = np.empty(len(goals), np.int64)
        out[np.argsort(goals, kind="stable")] = drawn[1:]
        return np.sort(out.reshape(-1, 3), axis=1)
