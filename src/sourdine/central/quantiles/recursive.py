"""RecExp: the middle quantile first, then each side on its own records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.exponential import (
    decay,
    near_law,
    rank_bound,
    read_share,
    tick_near,
)
from sourdine.central.quantiles.points import Points
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import integer
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["Node", "RecExp"]

FINEST = 50
MOST_DITHERS = 20_000


@dataclass(frozen=True, slots=True)
class Node:
    """One draw of the recursion: the quantile, which others lie left and right, order and decay."""

    middle: int
    first: int
    end: int
    order: Fraction
    c: float


def _dither(x: int | None) -> int:
    """Return the number of sub-ticks; 0 where it was left out."""
    return 0 if x is None else integer(x, "dither", least=1)


@frozen(kw_only=True)
class RecExp(QuantileMechanism):
    r"""Draw the middle quantile by `QExp`, split the records there, and go on in both slices.

    A slice between the orders :math:`q_a` and :math:`q_b` looks for its middle quantile :math:`q_j`
    at the rank :math:`q' n'`, with :math:`n'` its own records and
    :math:`q' = (q_j - q_a)/(q_b - q_a)`. The :math:`D = \lfloor \log_2 m \rfloor + 1` levels get
    :math:`\varepsilon/D` each, and a draw the decay

    .. math:: c = \frac{\varepsilon/D}{2\max(q', 1-q')} \text{ (add/remove)}, \qquad
              c = \frac{\varepsilon/D}{4\max(q', 1-q')} \text{ (substitution)},

    and :math:`(\varepsilon/D)/2` for the first draw under substitution.

    Records equal to a drawn tick go right, all of them, and both slices keep the tick as a
    possible answer. So that a large tie does not go right as one, every record first gets a place
    of its own in its cell: one of ``dither`` sub-ticks, uniformly and independently. Sub-ticks are
    never published.

    Parameters
    ----------
    dither
        Into how many sub-ticks a cell is cut; as many as fit :math:`2^{50}` for the grid if left
        out, 1 for none.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Fix the sub-ticks of the common records.
    Given the draws of the levels above, the slices of a level are disjoint sets of sub-ticks, so
    one record added changes one slice by one record, at :math:`2 c \max(q', 1-q') = \varepsilon/D`
    (see `QExp`). A record replaced changes two slices by one record each, at
    :math:`\varepsilon/2D` each, or one slice by a replacement, at
    :math:`2c \le \varepsilon/D` since :math:`\max(q', 1-q') \ge 1/2`; the first level has one slice
    alone. The levels add up, and averaging over sub-ticks, then forgetting them, keeps the bound.
    *Checked by* ``test_recexp_worst_case``, ``test_recexp_dithered_worst_case`` and
    ``test_recexp_ten_percent_too_weak_is_rejected``. *Claim*: `error` holds. *Checked by*
    ``test_recexp_error_bound``.

    References
    ----------
    .. [1] H. Kaplan, S. Schnapp, U. Stemmer, "Differentially private approximate quantiles",
       ICML 2022.

    Examples
    --------
    >>> deciles = RecExp(epsilon=1, q=[j / 10 for j in range(1, 10)], cells=1000)
    >>> deciles.depth, deciles.dither == 2**40
    (4, True)
    """

    dither: int = field(default=None, converter=_dither)

    def check(self) -> None:
        """Choose the sub-ticks, or refuse too many; refuse an epsilon too small for floats."""
        fit = 1 << max(FINEST - (self.cells - 1).bit_length(), 0)
        if self.dither > fit:
            raise ParameterError(
                "dither",
                f"be at most {fit} for {self.cells} cells",
                str(self.dither),
                "Leave {dither} out.",
                dither=LEFT_OUT,
            )
        if not self.dither:
            settle(self, dither=fit)
        _ = self.nodes

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The draws, parents before children."""
        return tuple(self._nodes(0, len(self.orders), Fraction(0), Fraction(1)))

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.orders).bit_length()

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon/D` for each level, the sub-ticks being told first.

        *Checked by* ``test_whole_curve[quantiles.recursive.add_remove]`` and
        ``[quantiles.recursive.dithered.add_remove]``.
        """
        return (Part.range(self.epsilon / self.depth, self.depth),)

    def _nodes(self, first: int, end: int, low: Fraction, high: Fraction) -> Iterator[Node]:
        if first >= end:
            return
        middle = (first + end) // 2
        q = self.orders[middle]
        order = (q - low) / (high - low)
        share = read_share(self.epsilon / self.depth)
        moves = max(order, 1 - order)
        if self.substitutes:
            moves = Fraction(1) if end - first == len(self.orders) else 2 * moves
        yield Node(middle, first, end, order, decay(share, self.rows * moves))
        yield from self._nodes(first, middle, low, q)
        yield from self._nodes(middle + 1, end, q, high)

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw all quantiles, from the middle outwards."""
        atoms, cut = x.complete().windows[0], self.dither
        ticks = np.repeat(atoms.ticks * cut, atoms.counts)
        if cut > 1:
            ticks += noise.uniform_below(cut, len(ticks), source=source)
        slices = {(0, len(self.orders)): (0, Points.of(ticks, self.cells * cut))}
        out = [0] * len(self.orders)
        for node in self.nodes:
            offset, points = slices.pop((node.first, node.end))
            v = tick_near(points, node.order * points.n, node.c, source)
            out[node.middle] = (offset + v) // cut
            slices[node.first, node.middle] = (offset, _part(points, 0, v, v + 1))
            right = _part(points, v, points.cells, points.cells - v)
            slices[node.middle + 1, node.end] = (offset + v, right)
        return out

    def law(self, x: Points) -> Law:
        """Return the law over ascending ticks: the mean over all sub-ticks of the records."""
        ticks, cut = np.array(list(x), np.int64) * self.dither, self.dither
        if cut ** len(ticks) > MOST_DITHERS:
            raise ParameterError(
                "a law",
                "be asked of few records and sub-ticks",
                f"{cut} sub-ticks",
                "Type {dither}.",
                dither=1,
            )
        if cut == 1:
            logs = self._logs(Points.of(ticks, self.cells), self.support())
            return Law.finite(logs, slack=self._slack(x.n))
        fine = QuantileMechanism.support(_finer(self))
        rows = self.indices((fine // cut).tolist())
        mass = np.zeros(len(self.support()))
        for dither in product(range(cut), repeat=len(ticks)):
            logs = self._logs(Points.of(ticks + dither, self.cells * cut), fine)
            np.add.at(mass, rows, np.exp(logs))
        return Law.finite(np.log(mass), slack=self._slack(x.n))

    def _slack(self, n: int) -> float:
        return len(self.nodes) * (2.0**-43 + max(node.c for node in self.nodes) * n * 2.0**-48)

    def _logs(self, points: Points, support: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log probability of each ascending tuple: a product over the nodes."""
        logs = np.zeros(len(support))
        for node in self.nodes:
            low = support[:, node.first - 1] * 0 if node.first == 0 else support[:, node.first - 1]
            last = node.end == len(self.orders)
            high = low * 0 + points.cells - 1 if last else support[:, node.end]
            drawn = support[:, node.middle]
            for a, b in set(zip(low.tolist(), high.tolist(), strict=True)):
                here = (low == a) & (high == b)
                part = _part(points, a, points.cells if last else b, b - a + 1)
                law = near_law(part, node.order * part.n, node.c)
                logs[here] += law.log_pmf(drawn[here] - a)
        return logs

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return a bound on the worst rank error for ``n`` records; infinity without ``n``.

        A slice's target is off by the errors of the two draws that bound it, weighted by
        :math:`1-q'` and :math:`q'`, so by the greater at most; its own error comes on top, and the
        records that share a sub-tick with it: fewer than :math:`k` everywhere, with probability
        :math:`1 - \beta/2`, as soon as :math:`\binom nk T^{1-k} \le \beta/2`.
        """
        half = read_beta(beta) / 2
        if n is None or n >= self.dither:
            return inf
        k, log_chance = 1, log(max(n, 1))
        while log_chance > log(half):
            k += 1
            log_chance += log(max(n - k + 1, 1)) - log(k) - log(self.dither)
        bounds = [
            rank_bound(self.cells * self.dither, node.c, half / len(self.nodes), n)
            for node in self.nodes
        ]
        return self.depth * (max(bounds) + k)


def _part(points: Points, first: int, end: int, cells: int) -> Points:
    """Return the records at ticks from ``first`` up to ``end``, on that many cells of their own."""
    atoms = points.windows[0]
    i, j = atoms.ticks.searchsorted([first, end])
    return Points.counted(atoms.ticks[i:j] - first, atoms.counts[i:j], cells)


def _finer(mechanism: RecExp) -> RecExp:
    """Return the mechanism on the grid of sub-ticks."""
    return RecExp(
        epsilon=mechanism.epsilon,
        q=mechanism.q,
        cells=mechanism.cells * mechanism.dither,
        relation=mechanism.relation,
        rows=mechanism.rows,
        dither=1,
    )
