r"""The private median of the copies' values, on a public window of a geometric grid.

Cells have the ratio :math:`r = 1 + \alpha/4`: cell 0 holds all below ``least`` and is answered as
0, cell :math:`j \ge 1` holds :math:`[r^{j-1}, r^j)` times ``least`` and is answered by its
geometric middle. Candidates are the :math:`2h + 1` cells around the last one chosen; values beyond
them count in the first or the last. These two have no outer edge and are no answer (but for cell 0,
which has one): where one of them is chosen, the window moves to it and the values are looked at
again. With :math:`L` values below a cell, :math:`H` below its upper edge and :math:`s` in all, its
score is

.. math:: -\max\bigl(0,\ L - \tfrac{s}{2},\ \tfrac{s}{2} - H\bigr),

how far :math:`s/2` is from the ranks that the cell holds. A score by the edge alone,
:math:`-|H - s/2|`, would not tell the cells apart when all values share one. *Checked by*
``test_values_that_agree_are_found``.

*Claim.* One value changes the score by 1 at most, so a choice by the exponential mechanism is
:math:`\varepsilon_0`-private. *Checked by* ``test_one_copy_moves_a_score_by_one``.

*Claim.* Let :math:`W` values be wrong, the others within :math:`3\alpha/4` of the truth :math:`f`
and not below ``least``, or else all 0 with :math:`f`. Wherever the window is, a cell of score above
:math:`-(s/2 - W)` that is an answer is within :math:`\alpha` of :math:`f`. *Proof.* Such a cell has
both its edges, so that :math:`L` and :math:`H` count what truly lies below them. :math:`H > W`, so
a right value lies below the upper edge; :math:`s - L > W`, so one lies at or above the lower. For
cell 0 the first says that :math:`f = 0`. Else the middle is a factor :math:`\sqrt{r} \le 1 +
\alpha/8` from either edge, and :math:`(1 + 3\alpha/4)(1 + \alpha/8) \le 1 + \alpha`,
:math:`(1 - 3\alpha/4)/(1 + \alpha/8) \ge 1 - \alpha` for :math:`\alpha \le 1`. ∎ *Checked by*
``test_a_good_score_is_a_right_answer``.

*Claim.* Let :math:`r^{h-1} \ge (1 + 3\alpha/4)/(1 - 3\alpha/4)`. While the truth stays and only
cells of such scores are chosen, the window moves one way, by :math:`h` cells or more, to an answer.
*Proof.* Let the last cell be chosen. It has a right value at or above its lower edge, so all right
values lie at or above :math:`r^{1-h}` times that edge, above the first cell of the next window,
which then is not chosen. Likewise downwards. ∎ *Checked by* ``test_a_leap_is_followed_one_way``.
"""

from __future__ import annotations

from math import exp, floor, log
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

LARGEST = 1e300


class PrivateMedian:
    r"""Looks at private values, one after the other, each near their median.

    Parameters
    ----------
    epsilon0
        What one look may spend, of the values it is given.
    error
        :math:`\alpha`, which sets the ratio of the cells.
    window
        :math:`h`, how many cells there are on either side of the last one chosen.
    least
        Values below it count as 0, as negative ones and NaN do; above 1e300 they count as that.
    start
        Where the first window is centred.

    Examples
    --------
    >>> from sourdine.noise import SYSTEM
    >>> median = PrivateMedian(epsilon0=10, error=0.25, window=12, least=1.0, start=100.0)
    >>> round(median.look(np.full(100, 120.0), SYSTEM), 1)
    116.6
    >>> looks = [median.look(np.full(100, 500.0), SYSTEM) for _ in range(3)]
    >>> looks[:2], round(looks[2], 1)
    ([None, None], 499.7)
    """

    __slots__ = ("_cell", "_least", "_mechanism", "_ratio", "_window")

    def __init__(
        self,
        *,
        epsilon0: Fraction | float,
        error: float,
        window: int,
        least: float,
        start: float,
    ) -> None:
        self._mechanism = Exponential(
            epsilon=epsilon0, candidates=2 * window + 1, sensitivity=2, relation="substitute"
        )
        self._ratio = log(1 + error / 4)
        self._window = window
        self._least = least
        self._cell = 0 if start < least else 1 + floor(log(start / least) / self._ratio)

    @property
    def first(self) -> int:
        """The first cell of the window; public, for cells that were released alone move it."""
        return max(0, self._cell - self._window)

    def middle(self, cell: int) -> float:
        """Return the answer that a cell stands for."""
        if not cell:
            return 0.0
        return exp(min(log(self._least) + self._ratio * (cell - 0.5), log(LARGEST)))

    def answer(self, place: int) -> float | None:
        """Return what the window's cell at a place is answered as; None if it lacks an edge."""
        edgeless = place == 2 * self._window or (place == 0 and self.first > 0)
        return None if edgeless else self.middle(self.first + place)

    def scores(self, values: Values) -> Scores:
        """Return the doubled scores of the window's cells: whole numbers, of sensitivity 2."""
        held = np.bincount(self._places(values), minlength=2 * self._window + 1)
        below_upper = held.cumsum()
        below = below_upper - held
        s = len(values)
        off = np.maximum(2 * below - s, s - 2 * below_upper)
        return np.asarray(-np.maximum(0, off), np.int64)

    def look(self, values: Values, source: Source) -> float | None:
        """Choose a cell, move the window to it, and return its answer, if it is one."""
        place = int(self._mechanism.release(self.scores(values), source=source).value)
        answer = self.answer(place)
        self._cell = self.first + place
        return answer

    def _places(self, values: Values) -> Scores:
        """Return the cell of each value, counted from the window's first."""
        seen = np.minimum(np.nan_to_num(values, nan=0.0, neginf=0.0), LARGEST)
        logs = np.log(np.maximum(seen, self._least)) - log(self._least)
        cells = 1 + np.floor(logs / self._ratio)
        cells[seen < self._least] = 0
        return np.asarray(np.clip(cells - self.first, 0, 2 * self._window), np.int64)
