r"""The private median of the copies' values, on a public window of a geometric grid.

Cells have the ratio :math:`r = 1 + \alpha/4`: cell 0 holds all below ``least`` and is answered as
0, cell :math:`j \ge 1` holds :math:`[r^{j-1}, r^j)` times ``least`` and is answered by its
geometric middle. Candidates are the :math:`2h + 1` cells around the last *released* answer; values
beyond them count in the first or the last. With :math:`L` values below a cell, :math:`H` below its
upper edge and :math:`s` in all, its score is

.. math:: -\max\bigl(0,\ L - \tfrac{s}{2},\ \tfrac{s}{2} - H\bigr),

how far :math:`s/2` is from the ranks that the cell holds. A score by the edge alone,
:math:`-|H - s/2|`, would not tell the cells apart when all values share one. *Checked by*
``test_values_that_agree_are_found``.

*Claim.* One value changes the score by 1 at most, so a choice by the exponential mechanism is
:math:`\varepsilon_0`-private. *Checked by* ``test_one_copy_moves_a_score_by_one``.

*Claim.* Let :math:`W` values be wrong, the others within :math:`3\alpha/4` of the truth :math:`f`,
inside the window and not below ``least``, or else all 0 with :math:`f`. A cell of score above
:math:`-(s/2 - W)` is answered within :math:`\alpha` of :math:`f`. *Proof.* :math:`H > W`, so a
right value lies below the upper edge; :math:`s - L > W`, so one lies at or above the lower. The
middle is a factor :math:`\sqrt{r} \le 1 + \alpha/8` from either edge, and
:math:`(1 + 3\alpha/4)(1 + \alpha/8) \le 1 + \alpha`,
:math:`(1 - 3\alpha/4)/(1 + \alpha/8) \ge 1 - \alpha` for :math:`\alpha \le 1`. ∎ *Checked by*
``test_a_good_score_is_a_right_answer``.
"""

from __future__ import annotations

from math import floor, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import Exponential

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.noise import Source

    Values = NDArray[np.float64]
    Scores = NDArray[np.int64]

__all__ = ["PrivateMedian"]


class PrivateMedian:
    r"""Answers one after the other, each near the median of private values.

    Parameters
    ----------
    epsilon0
        What one answer may spend, of the values it is given.
    accuracy
        :math:`\alpha`, which sets the ratio of the cells.
    window
        :math:`h`, how many cells there are on either side of the last answer.
    least
        Values below it count as 0.
    start
        Where the first window is centred.

    Examples
    --------
    >>> from sourdine.noise import SYSTEM
    >>> median = PrivateMedian(epsilon0=10, accuracy=0.25, window=12, least=1.0, start=100.0)
    >>> round(median.answer(np.full(100, 120.0), SYSTEM), 1)
    116.6
    """

    __slots__ = ("_cell", "_least", "_mechanism", "_ratio", "_window")

    def __init__(
        self,
        *,
        epsilon0: Fraction | float,
        accuracy: float,
        window: int,
        least: float,
        start: float,
    ) -> None:
        self._mechanism = Exponential(epsilon=epsilon0, candidates=2 * window + 1, sensitivity=2)
        self._ratio = log(1 + accuracy / 4)
        self._window = window
        self._least = least
        self._cell = 0 if start < least else 1 + floor(log(start / least) / self._ratio)

    @property
    def first(self) -> int:
        """The first cell of the window; public, for released answers alone move it."""
        return max(0, self._cell - self._window)

    def middle(self, cell: int) -> float:
        """Return the answer that a cell stands for."""
        return float(self._least * np.exp(self._ratio * (cell - 0.5))) if cell else 0.0

    def scores(self, values: Values) -> Scores:
        """Return the doubled scores of the window's cells: whole numbers, of sensitivity 2."""
        held = np.bincount(self._places(values), minlength=2 * self._window + 1)
        below_upper = held.cumsum()
        below = below_upper - held
        s = len(values)
        off = np.maximum(2 * below - s, s - 2 * below_upper)
        return np.asarray(-np.maximum(0, off), np.int64)

    def answer(self, values: Values, source: Source) -> float:
        """Choose a cell, move the window to it, and return its middle."""
        chosen = self._mechanism.release(self.scores(values), source=source)
        self._cell = self.first + int(chosen.value)
        return self.middle(self._cell)

    def _places(self, values: Values) -> Scores:
        """Return the cell of each value, counted from the window's first; NaN counts as 0."""
        seen = np.nan_to_num(values, nan=0.0, posinf=np.finfo(float).max, neginf=0.0)
        cells = 1 + np.floor(np.log(np.maximum(seen, self._least) / self._least) / self._ratio)
        cells[seen < self._least] = 0
        return np.asarray(np.clip(cells - self.first, 0, 2 * self._window), np.int64)
