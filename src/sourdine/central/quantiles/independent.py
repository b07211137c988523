"""Quantiles drawn one by one: IndExp, inverse sensitivity, and RecExp."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, inf, log
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism, whole
from sourdine.central.quantiles.exponential import (
    QExp,
    decay,
    near_law,
    rank_bound,
    read_share,
    tick_near,
)
from sourdine.central.quantiles.points import Points
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints


# ---- Quantiles drawn one by one at an equal share of epsilon; IndExp draws each by QExp ----------


FINEST_ORDER = 1 << 24


@frozen(kw_only=True)
class Independent(QuantileMechanism):
    r"""Draw each of the :math:`m` quantiles on its own; the losses add up.

    What is drawn for a quantile is a number below `outcomes`, a tick unless said otherwise. The
    draws may come in any order; they are published sorted, which passes no rank error that the
    worst of them had not.
    """

    @property
    def share(self) -> Fraction:
        return self.epsilon / len(self.orders)

    def order(self, j: int) -> Fraction:
        """Return an order as near as its multiples by counts fit 64 bits."""
        return self.orders[j].limit_denominator(FINEST_ORDER)

    @property
    def parts(self) -> tuple[Part, ...]:
        """So many draws of a pure share, unless more is known of one."""
        return (Part.pure(self.share, len(self.orders)),)

    @property
    def outcomes(self) -> int:
        """How many outcomes the draw of one quantile has."""
        return self.cells

    @abstractmethod
    def single(self, x: Points, j: int, source: Source) -> int:
        """Draw the j-th quantile."""

    @abstractmethod
    def single_law(self, x: Points, j: int) -> Law:
        """Return the law of the j-th quantile's draw."""

    def one(self, x: Points, source: Source) -> Sequence[int]:
        return [self.single(x, j, source) for j in range(len(self.orders))]

    def support(self) -> Ints:
        return self._all(product(range(self.outcomes), repeat=len(self.orders)))

    def law(self, x: Points) -> Law:
        laws = [self.single_law(x, j) for j in range(len(self.orders))]
        logs = np.zeros(1)
        for law in laws:
            logs = np.add.outer(logs, law.log_pmf(np.arange(self.outcomes))).ravel()
        return Law.finite(logs, slack=sum(law.slack for law in laws))


@frozen(kw_only=True)
class IndExp(Independent):
    r"""Draw each of :math:`m` quantiles by `QExp` at :math:`\varepsilon/m`.

    Simple, and :math:`m` times as wrong as one quantile alone; the yardstick of the others.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, by composition. *Checked by*
    ``test_indexp_worst_case`` and ``test_indexp_ten_percent_too_weak_is_rejected``. The draws are
    unsorted, the published ticks sorted: ``test_indexp_publishes_in_order``.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021
       (as the base line).
    .. [2] Audibert 2024, section 4: IndExp, against RecExp and JointExp.

    Examples
    --------
    >>> quartiles = IndExp(epsilon=1, q=[0.25, 0.5, 0.75], cells=101)
    >>> quartiles.windows(1_000_000)[1]
    (499852, 500148)
    """

    def check(self) -> None:
        _ = self.singles

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""So many draws of range :math:`\varepsilon/m`.

        *Checked by* ``test_whole_curve[quantiles.exponential.several.add_remove]``.
        """
        return (Part.range(self.share, len(self.orders)),)

    @cached_property
    def singles(self) -> tuple[QExp, ...]:
        return tuple(self.part(QExp, self.share, [q]) for q in self.orders)

    def windows(self, n: int) -> list[tuple[int, int]]:
        return [part.windows(n)[0] for part in self.singles]

    def single(self, x: Points, j: int, source: Source) -> int:
        return self.singles[j].one(x, source)[0]

    def single_law(self, x: Points, j: int) -> Law:
        return self.singles[j].law(x)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return the greatest of the quantiles' bounds at :math:`\beta/m`."""
        each = read_beta(beta) / len(self.singles)
        return max(rank_bound(self.cells, part.c, each, n) for part in self.singles)


# ---- The inverse sensitivity mechanism: how many records must change to make a cell the quantile -


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
    most. Smoothing takes the least over the cells within :math:`\rho` ticks [1]_, [2]_. Each
    quantile gets :math:`\varepsilon/m`. No tie needs care: a cell of many records is a good answer
    as a whole.

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
    .. [2] Canesse 2022, section 4: the mechanism for deciles, with bounds on its error.

    Examples
    --------
    >>> median = InverseSensitivity(epsilon=1, q=[0.5], cells=101, rho=2)
    >>> round(median.smooth_error(0.05), 1)
    7.6
    """

    rho: int = whole("rho", 0, default=0)

    def check(self) -> None:
        settle(self, rho=min(self.rho, self.cells))

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""So many draws of range :math:`\varepsilon/m`.

        *Checked by* ``test_whole_curve[quantiles.inverse_sensitivity.add_remove]`` and
        ``[quantiles.inverse_sensitivity.substitute]``.
        """
        return (Part.range(self.share, len(self.orders)),)

    def decay(self, j: int) -> Fraction:
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
        runs, decay = self.runs(x, j), self.decay(j) / self.unit(j)
        length = runs.length
        i = noise.choose_run(length, runs.distance, decay, source=source)
        return int(runs.start[i]) + noise.uniform_below(int(length[i]), source=source)

    def single_law(self, x: Points, j: int) -> Law:
        """Return the law over the ticks, a piece for each run."""
        runs = self.runs(x, j)
        some = runs.length > 0
        logs = -float(self.decay(j) / self.unit(j)) * runs.distance[some]
        return Law.of(runs.start[some], runs.length[some], logs, np.zeros(len(logs)))

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `smooth_error` without smoothing, infinity with it: it may pass any records."""
        return inf if self.rho else self.smooth_error(beta)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return `smooth_error` with smoothing: records within :math:`\rho` do not count."""
        return self.smooth_error(beta) if self.rho else super().expected(beta, n)

    def smooth_error(self, beta: Number = 0.05) -> float:
        r"""Return :math:`\ln(mB/\beta)/c`, in ranks, up to :math:`\rho` ticks."""
        slowest = min(self.decay(j) for j in range(len(self.orders)))
        return log(len(self.orders) * self.cells / read_beta(beta)) / float(slowest)

    def loss(self, x: Points, y: Ints) -> Floats:
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

    @property
    def length(self) -> Ints:
        return np.diff(self.start, append=self.cells)

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


# ---- RecExp: the middle quantile first, then each side on its own records ------------------------


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
    .. [2] Audibert 2024, section 4: RecExp, against IndExp and JointExp.

    Examples
    --------
    >>> deciles = RecExp(epsilon=1, q=[j / 10 for j in range(1, 10)], cells=1000)
    >>> deciles.depth, deciles.dither == 2**40
    (4, True)
    """

    dither: int = whole("dither", 1, default=None)

    def check(self) -> None:
        """Choose the sub-ticks, or refuse too many; refuse an epsilon too small for floats."""
        fit = 1 << max(FINEST - (self.cells - 1).bit_length(), 0)
        if self.dither > fit:
            raise ParameterError(
                "dither", f"be at most {fit} for {self.cells} cells", str(self.dither),
                "Omit {dither}.", dither=LEFT_OUT,
            )  # fmt: skip
        if not self.dither:
            settle(self, dither=fit)
        _ = self.nodes

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(self._nodes(0, len(self.orders), Fraction(0), Fraction(1)))

    @property
    def depth(self) -> int:
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
                "law", "law() is available for few records and sub-ticks only.", f"{cut} sub-ticks",
                "Use {dither}.", dither=1,
            )  # fmt: skip
        if cut == 1:
            logs = self._logs(Points.of(ticks, self.cells), self.support())
            return Law.finite(logs, slack=self._slack(x.n))
        fine = attrs.evolve(self, cells=self.cells * cut, dither=1).support()
        rows = self.indices((fine // cut).tolist())
        mass = np.zeros(len(self.support()))
        for dither in product(range(cut), repeat=len(ticks)):
            logs = self._logs(Points.of(ticks + dither, self.cells * cut), fine)
            np.add.at(mass, rows, np.exp(logs))
        return Law.finite(np.log(mass), slack=self._slack(x.n))

    def _slack(self, n: int) -> float:
        return len(self.nodes) * (2.0**-43 + max(node.c for node in self.nodes) * n * 2.0**-48)

    def _logs(self, points: Points, support: Ints) -> Floats:
        """Return the log probability of each ascending tuple: a product over the nodes."""
        logs = np.zeros(len(support))
        ends = np.pad(support, ((0, 0), (1, 1)))
        ends[:, -1] = points.cells - 1
        for node in self.nodes:
            low, high, drawn = ends[:, node.first], ends[:, node.end + 1], support[:, node.middle]
            last = node.end == len(self.orders)
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
