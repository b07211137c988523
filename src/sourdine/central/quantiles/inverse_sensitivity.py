"""The inverse sensitivity mechanism: how many records must change to make a cell the quantile."""

from __future__ import annotations

from math import ceil, inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.independent import Independent
from sourdine.exact import integer
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import Part

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

    Ints = NDArray[np.int64]

__all__ = ["InverseSensitivity", "Runs"]

FINEST_ORDER = 1 << 24


def _rho(x: int) -> int:
    return integer(x, "rho", least=0)


@frozen(kw_only=True)
class InverseSensitivity(Independent):
    r"""Draw a cell with weight :math:`e^{-c\,\mathrm{len}_\rho(v)}`, each quantile on its own.

    :math:`\mathrm{len}(v)` is how far the cell is from being the quantile. With :math:`L` records
    below and :math:`f` records in the cell:

    .. math::

        \mathrm{len}(v) = \max(0,\; L - k + 1,\; k - L - f), \quad k = \lceil qn \rceil, \quad
        c = \frac{\varepsilon}{2} \qquad \text{(substitution)}

        \mathrm{len}(v) = \max(0,\; L - qn,\; qn - L - f), \quad
        c = \frac{\varepsilon}{2 \max(q, 1-q)} \qquad \text{(add/remove)}

    The first is the number of records to change so that record number :math:`k` lies in the cell.
    The second is in units of rank: one record added or removed covers :math:`\max(q, 1-q)` of it at
    most. Smoothing takes the least over the cells within :math:`\rho` ticks. Each quantile gets
    :math:`\varepsilon/m`. No tie needs care: a cell of many records is a good answer as a whole.

    Parameters
    ----------
    rho
        The public resolution :math:`\rho`, in ticks: cells that close to a good one are as good.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Substitution: if a record is replaced,
    :math:`k` stays and :math:`L`, :math:`L + f` move by at most 1 each. If one is added (a missing
    value was filled), :math:`k` stays or becomes :math:`k + 1`. If it stays, :math:`L - k + 1`
    grows by 0 or 1 and :math:`k - L - f` falls by 0 or 1; otherwise the first falls and the second
    grows by 0 or 1. So len moves by at most 1. Add/remove: :math:`L - qn` and :math:`qn - L - f`
    move by :math:`q` or :math:`1 - q`. The least of functions that move by at most :math:`s` moves
    by at most :math:`s`. Weights are exact, so no part of epsilon goes to rounding. *Checked by*
    ``test_inverse_sensitivity_worst_case`` and
    ``test_inverse_sensitivity_ten_percent_too_weak_is_rejected``.

    *Claim*: len is what it says. *Checked by* ``test_len_is_the_number_of_records_to_change``.

    *Claim*: with probability :math:`1 - \beta` a cell within :math:`\rho` ticks has a rank error of
    at most `smooth_error`: some cell has len 0, all with len above :math:`e` weigh
    :math:`B e^{-ce}` at most, and the rank error is at most len. *Checked by*
    ``test_inverse_sensitivity_error_bound``.

    References
    ----------
    .. [1] H. Asi, J. Duchi, "Near instance-optimality in differential privacy", 2020.

    Examples
    --------
    >>> median = InverseSensitivity(epsilon=1, q=[0.5], cells=101, rho=2)
    >>> round(median.smooth_error(0.05), 1)
    7.6
    """

    rho: int = field(default=0, converter=_rho)

    def check(self) -> None:
        """Count a resolution wider than the grid as the grid."""
        settle(self, rho=min(self.rho, self.cells))

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""So many draws of range :math:`\varepsilon/m`.

        *Checked by* ``test_whole_curve[quantiles.inverse_sensitivity.add_remove]`` and
        ``[quantiles.inverse_sensitivity.substitute]``.
        """
        return (Part.range(self.share, len(self.orders)),)

    def order(self, j: int) -> Fraction:
        """Return an order as near as its multiples by counts fit 64 bits."""
        return self.orders[j].limit_denominator(FINEST_ORDER)

    def decay(self, j: int) -> Fraction:
        """Return c for the j-th quantile."""
        q = self.order(j)
        moves = 1 if self.substitutes else max(q, 1 - q)
        return self.share / (2 * moves * self.rows)

    def unit(self, j: int) -> int:
        """Return how many units of distance one rank is."""
        return 1 if self.substitutes else self.order(j).denominator

    def runs(self, x: Points, j: int) -> Runs:
        """Return the cells as runs of equal distance, smoothed."""
        return Runs.of(x.complete(), self.order(j), whole=self.substitutes).smoothed(self.rho)

    def single(self, x: Points, j: int, source: Source) -> int:
        """Draw a run, then a cell of it."""
        runs = self.runs(x, j)
        length = np.diff(runs.start, append=self.cells)
        decay = self.decay(j) / self.unit(j)
        i = noise.choose_run(length, runs.distance, decay, source=source)
        return int(runs.start[i]) + noise.uniform_below(int(length[i]), source=source)

    def single_law(self, x: Points, j: int) -> Law:
        """Return the law over the ticks, a piece for each run."""
        runs = self.runs(x, j)
        length = np.diff(runs.start, append=self.cells)
        some = length > 0
        logs = -float(self.decay(j) / self.unit(j)) * runs.distance[some]
        return Law.of(runs.start[some], length[some], logs, np.zeros(len(logs)))

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `smooth_error` without smoothing, infinity with it: it may pass any records."""
        del n
        return inf if self.rho else self.smooth_error(beta)

    def smooth_error(self, beta: Number = 0.05) -> float:
        r"""Return :math:`\ln(mB/\beta)/c`, in ranks, up to :math:`\rho` ticks."""
        slowest = min(self.decay(j) for j in range(len(self.orders)))
        return log(len(self.orders) * self.cells / read_beta(beta)) / float(slowest)

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of an output, each tick moved by at most rho at will."""
        ticks = np.sort(self.support()[y], axis=-1)
        worst = np.zeros(len(ticks))
        for j in range(len(self.orders)):
            runs = Runs.of(x, self.order(j), whole=False).smoothed(self.rho)
            at = runs.start.searchsorted(ticks[:, j], side="right") - 1
            worst = np.maximum(worst, runs.distance[at] / self.order(j).denominator)
        return worst


class Runs(NamedTuple):
    """Where each run of cells begins, and its distance; a run may be empty."""

    start: Ints
    distance: Ints
    cells: int

    @staticmethod
    def of(points: Points, q: Fraction, *, whole: bool) -> Runs:
        """Return the atoms and the gaps between them, with their len in units of 1/denominator."""
        atoms = points.windows[0]
        size = len(atoms.ticks)
        start = np.zeros(2 * size + 1, np.int64)
        start[1::2], start[2::2] = atoms.ticks, atoms.ticks + 1
        up_to = np.zeros(2 * size + 1, np.int64)
        up_to[1::2], up_to[2::2] = atoms.ends, atoms.ends
        below = up_to.copy()
        below[1::2] -= atoms.counts
        if whole:
            k = ceil(q * points.n)
            high, low = below - (k - 1), k - up_to
        else:
            high = q.denominator * below - q.numerator * points.n
            low = q.numerator * points.n - q.denominator * up_to
        distance = np.maximum(np.maximum(high, low), 0)
        return Runs(start, distance, points.cells)

    def smoothed(self, rho: int) -> Runs:
        """Return each cell's least distance within ``rho`` ticks.

        Distances fall up to the best cells and rise after them, so what lies before the first of
        the best moves down by rho, what lies after the last of them moves up.
        """
        end = np.append(self.start[1:], self.cells)
        best = np.flatnonzero(self.distance == self.distance[end > self.start].min())
        best = best[end[best] > self.start[best]]
        first, last = int(best[0]), int(best[-1])
        start = self.start.copy()
        start[: first + 1] -= rho
        start[last + 1 :] += rho
        return Runs(np.clip(start, 0, self.cells), self.distance, self.cells)
