"""The histogram method: for each quantile, the first edge that enough records lie below."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.independent import Independent, rank_errors
from sourdine.exact import integer
from sourdine.mechanisms.above_threshold import first_above_law
from sourdine.mechanisms.inputs import add
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import read_beta, read_scale

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.laws import Law
    from sourdine.noise import Source

__all__ = ["HistogramMethod", "bin_edges", "counts_below"]

FINEST_ORDER = 1 << 24


def _steps(x: int) -> int:
    return integer(x, "steps", least=1)


@frozen(kw_only=True)
class HistogramMethod(Independent):
    r"""Search the bins of a public histogram for the one that holds the quantile.

    The grid is cut into ``steps`` bins. With :math:`F_i` the number of records below the upper edge
    of bin :math:`i`, the first :math:`i` with

    .. math:: F_i - qn + \nu_i \ge \rho, \qquad
              \rho, \nu_i \sim \mathrm{Lap}\!\left(\frac{1+q}{\varepsilon}\right)
              \text{ (add/remove)}, \quad
              \mathrm{Lap}\!\left(\frac{2}{\varepsilon}\right) \text{ (substitution)}

    is drawn, and the last tick of that bin published; where there is none, the last of the grid.
    Each quantile gets :math:`\varepsilon/m`. All is multiplied by the denominator of :math:`q`, so
    the noise is whole. One pass counts; the rest depends on ``steps`` alone.

    Parameters
    ----------
    steps
        How many bins; public. Rows that fix :math:`n` may take :math:`1.5\,n/\ln n`.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Let the scales be :math:`T` of :math:`\rho`
    and :math:`Q` of :math:`\nu_i`, and let :math:`i` be drawn from the data. The neighbour draws
    it too if :math:`\rho` moves by :math:`\delta`, at least what the answers passed over grow by,
    and :math:`\nu_i` by :math:`\delta` less what answer :math:`i` grows by: at a cost of
    :math:`|\delta|/T + |\delta - \Delta_i|/Q`.

    *A record added* at :math:`x`: answers at edges above :math:`x` grow by :math:`1-q`, the others
    by :math:`-q`. If :math:`x` is below edge :math:`i`, :math:`\delta = 1-q` moves :math:`\nu_i`
    by nothing; if not, :math:`\delta = -q` does. *Removed*: if an edge passed over is not above
    :math:`x` but edge :math:`i` is, :math:`\delta = q` and :math:`\nu_i` moves by 1; otherwise all
    of them move alike, by :math:`q` or :math:`-(1-q)`. In all at most
    :math:`\max\{\max(q,1-q)/T,\; q/T + 1/Q\}`, which is :math:`\varepsilon` at
    :math:`T = Q = (1+q)/\varepsilon`. *Replaced*: all answers move in one direction, by at most 1,
    so :math:`\delta \in \{0, \pm 1\}` and the cost is at most :math:`1/T + 1/Q`, and a value that
    goes missing costs less. *Checked by* ``test_histogram_worst_case`` and
    ``test_histogram_ten_percent_too_weak_is_rejected``.

    *Claim*: the bin's rank error passes `bin_error` with probability :math:`\beta` at most.
    *Checked by* ``test_histogram_error_bound``. Within a bin there may be any number of records.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014,
       section 3.6.
    .. [2] M. Lyu, D. Su, N. Li, "Understanding the sparse vector technique for differential
       privacy", VLDB 2017.

    Examples
    --------
    >>> search = HistogramMethod(epsilon=1, q=[0.5], cells=1000, steps=100)
    >>> search.bin_error(0.05)
    18.0
    """

    steps: int = field(converter=_steps)

    def check(self) -> None:
        """Refuse noise too wide for 64 bits."""
        read_scale(max(self.scale(j) for j in range(len(self.orders))))

    @property
    def outcomes(self) -> int:
        """The bins, and none of them."""
        return self.steps + 1

    def order(self, j: int) -> Fraction:
        """Return an order as near as its multiples by counts fit 64 bits."""
        return self.orders[j].limit_denominator(FINEST_ORDER)

    def scale(self, j: int) -> Fraction:
        """Return the scale of both noises, in units of one record over the denominator of q."""
        q = self.order(j)
        return q.denominator * self.rows * (2 if self.substitutes else 1 + q) / self.share

    def heights(self, x: Points, j: int) -> NDArray[np.int64]:
        """Return how far the count below each edge lies above the target, in those units."""
        q = self.order(j)
        below = counts_below(x.complete(), bin_edges(self.cells, self.steps)[1:])
        return np.asarray(q.denominator * below - q.numerator * x.n)

    def single(self, x: Points, j: int, source: Source) -> int:
        """Disturb everything, whatever the counts, then look."""
        drawn = noise.discrete_laplace(self.scale(j), self.steps + 1, source=source)
        over = add(self.heights(x, j), drawn[1:]) >= drawn[0]
        return int(np.argmax(over)) if np.any(over) else self.steps

    def single_law(self, x: Points, j: int) -> Law:
        """Return the law over the bins, the last outcome meaning none."""
        return first_above_law(self.heights(x, j), self.scale(j), self.scale(j))

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the last ticks of the bins, sorted."""
        edges = bin_edges(self.cells, self.steps)
        bins = np.minimum(np.asarray(drawn, np.int64), self.steps - 1)
        return np.sort(np.maximum(edges[bins + 1] - 1, 0))

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `bin_error` where each bin is one tick, infinity elsewhere."""
        del n
        return self.bin_error(beta) if self.steps >= self.cells else inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `bin_error`: records that share a bin do not count."""
        del n
        return self.bin_error(beta)

    def bin_error(self, beta: Number = 0.05) -> float:
        """Return a bound on the rank error of the worst quantile's bin."""
        half = read_beta(beta) / len(self.orders) / 2
        bounds = []
        for j in range(len(self.orders)):
            t = self.scale(j)
            both = laplace_error(t, half) + laplace_error(t, half / self.steps)
            bounds.append(both / self.order(j).denominator)
        return max(bounds)

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of the bins drawn."""
        bins = np.minimum(np.sort(self.support()[y], axis=-1), self.steps - 1)
        below = counts_below(x, bin_edges(self.cells, self.steps))
        targets = [float(q * x.n) for q in self.orders]
        return rank_errors(targets, below[bins], below[bins + 1])


def bin_edges(cells: int, bins: int) -> NDArray[np.int64]:
    r"""Return the first ticks :math:`\lfloor iB/k \rfloor` of the bins, and the grid's end."""
    if cells * bins < 1 << 62:
        return np.arange(bins + 1, dtype=np.int64) * cells // bins
    return np.array([i * cells // bins for i in range(bins + 1)], np.int64)


def counts_below(x: Points, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many records lie below each edge (only where all were read)."""
    atoms = x.windows[0]
    ends = np.concatenate((np.zeros(1, np.int64), atoms.ends))
    return ends[atoms.ticks.searchsorted(edges)]
