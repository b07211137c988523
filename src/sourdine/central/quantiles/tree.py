"""Trees of noisy counts and whole distribution functions."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism, draw_from, whole
from sourdine.central.quantiles.intervals import OF_NUMBER, band_reach
from sourdine.central.quantiles.joint import JointExp, JointFree
from sourdine.central.quantiles.levels import Hybrid
from sourdine.central.quantiles.naive import bin_edges, counts_below
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.laws import Product
from sourdine.mechanisms.laplace import laplace_law
from sourdine.mechanisms.mechanism import read_beta, read_scale
from sourdine.privacy import SUBSTITUTE, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Reader
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints
    from sourdine.results.release import Release


# ---- The shape of a tree with one leaf a tick, and how far its noise reaches ---------------------
#
# Let :math:`S_1, \ldots, S_B` be the running sums of the noise of a consistent tree's leaves
# (`sourdine.central.quantiles.tree`), for noise of scale 1 on each node. Their law depends on the
# shape alone. Everything that is read off the tree is as far from the truth as
#
# .. math:: R = \max_i \max(|S_i|, |S_i - S_B|)
#
# at most, in units of the scale: with :math:`C_i` the records in the first :math:`i` leaves, of
# :math:`N` in all, :math:`\hat C_i - q\hat N - (C_i - qN) = S_i - qS_B` is convex in :math:`q`, so
# the worst order is 0 or 1.
#
# *The law of R* is sampled as if the noise were continuous (``benchmarks/tree_reach.py``), down to
# a risk of 0.01. Below, :math:`R` is a norm of a vector whose law is log-concave, so by C. Borell,
# "Convex set functions in d-space", 1975, with :math:`\theta = P(R \le t) > 1/2` and
# :math:`r \ge 1`,
#
# .. math:: P(R > rt) \le \theta\Bigl(\frac{1 - \theta}{\theta}\Bigr)^{(r+1)/2}.
#
# *Checked by* ``test_reach_of_a_tree_is_that_of_its_noise`` and
# ``test_rare_noise_of_a_tree_stays_within_its_reach``.


MOST_TICKS = 1 << 22
"""The most ticks of a tree that has a leaf for each."""
SIXTEEN = log(16)
SAFETY = 1.02
"""What the sampling and the interpolation of the table may err by."""
LARGER = (0.5, 0.65, 0.8, 0.95, 1.0)
LOWER = (1.0, 0.98, 0.94, 0.88, 0.88)
"""What parts of its median R passes with larger risks, at most, in all shapes."""
RISKS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
TABLE = {
    (2, 2): (1.82, 2.81, 3.45, 4.04, 4.82, 5.39),
    (2, 3): (2.90, 4.10, 4.90, 5.63, 6.58, 7.28),
    (2, 4): (3.83, 5.24, 6.15, 7.00, 8.06, 8.82),
    (2, 6): (5.38, 7.13, 8.23, 9.24, 10.45, 11.39),
    (2, 8): (6.74, 8.76, 10.02, 11.16, 12.60, 13.71),
    (2, 11): (8.53, 10.85, 12.33, 13.73, 15.31, 16.52),
    (2, 16): (10.98, 13.82, 15.57, 17.17, 19.23, 20.58),
    (2, 23): (13.96, 17.33, 19.46, 21.37, 23.65, 25.36),
    (2, 32): (17.17, 21.14, 23.64, 25.92, 28.62, 30.67),
    (3, 3): (3.91, 5.12, 5.87, 6.56, 7.43, 8.06),
    (3, 8): (9.70, 11.71, 12.96, 14.13, 15.59, 16.64),
    (3, 11): (12.37, 14.73, 16.22, 17.58, 19.28, 20.54),
    (3, 16): (16.16, 19.02, 20.82, 22.38, 24.39, 25.83),
    (3, 21): (19.46, 22.72, 24.77, 26.59, 28.76, 30.34),
    (3, 26): (22.40, 26.04, 28.26, 30.28, 32.75, 34.37),
    (4, 3): (4.96, 6.16, 6.93, 7.62, 8.49, 9.05),
    (4, 8): (12.75, 14.80, 16.07, 17.27, 18.72, 19.75),
    (4, 12): (17.45, 19.98, 21.53, 22.90, 24.71, 25.93),
    (4, 16): (21.49, 24.35, 26.17, 27.87, 29.84, 31.24),
    (4, 20): (25.13, 28.40, 30.38, 32.28, 34.37, 35.99),
    (4, 23): (27.61, 31.02, 33.12, 35.15, 37.46, 39.08),
    (5, 3): (6.01, 7.24, 8.00, 8.69, 9.57, 10.18),
    (5, 8): (15.86, 17.96, 19.22, 20.41, 21.86, 22.86),
    (5, 13): (23.22, 25.92, 27.58, 29.18, 30.86, 31.85),
    (5, 17): (28.48, 31.51, 33.24, 34.96, 36.58, 38.09),
    (5, 22): (33.73, 36.88, 38.98, 40.76, 43.68, 44.84),
}
"""By height and branching: what R passes with each of the risks."""


def tick_shape(ticks: int) -> tuple[int, int]:
    r"""Return branching and height of a tree with a leaf for each tick.

    .. math:: h = \max\bigl(2, \operatorname{round}(\ln B/\ln 16)\bigr) \le 5, \qquad
              b = \lceil B^{1/h} \rceil

    Examples
    --------
    >>> tick_shape(200_001), tick_shape(121)
    ((22, 4), (11, 2))
    """
    h = min(max(2, round(log(max(ticks, 2)) / SIXTEEN)), 5)
    b = max(2, ceil(ticks ** (1 / h) - 1e-9))
    return (b if b**h >= ticks else b + 1), h


def reach(branching: int, height: int, beta: float) -> float:
    """Return what R passes with probability ``beta`` at most; infinity for shapes never sampled.

    Examples
    --------
    >>> 34 < reach(22, 4, 0.05) < 37
    True
    """
    known = sorted(b for h, b in TABLE if h == height)
    if not known or not known[0] <= branching <= known[-1]:
        return inf
    columns = np.array([TABLE[height, b] for b in known])
    place = np.log(branching), np.log(known)
    at = [float(np.exp(np.interp(*place, np.log(column)))) for column in columns.T]
    least = RISKS[-1]
    if beta > RISKS[0]:
        return SAFETY * at[0] * float(np.interp(beta, LARGER, LOWER))
    if beta >= least:
        return SAFETY * float(np.interp(-log(beta), [-log(risk) for risk in RISKS], at))
    theta = 1 - least
    return SAFETY * at[-1] * (2 * log(beta / theta) / log(least / theta) - 1)


# ---- A tree of noisy counts, made consistent: any number of quantiles at one price ---------------


MOST_LEAVES = 1 << 23
A_BLOCK = 1 << 15
"""So many counts are added at a time: in the processor's cache."""
SAMPLED, FEW, SAMPLES = 1 << 10, 40, 2000
"""The most leaves and the most orders for which errors are sampled, and the number of samples."""


@frozen(kw_only=True)
class Tree(QuantileMechanism):
    r"""Count the records of all nodes of a :math:`b`-ary tree with noise; read quantiles off it.

    The grid is cut into :math:`b^h` leaves; the nodes of the :math:`h` levels below the root are
    counted and get discrete Laplace noise of scale

    .. math:: s = \frac{h}{\varepsilon} \text{ (add/remove)}, \qquad
              s = \frac{2h}{\varepsilon} \text{ (substitution)}.

    The noisy counts are all that is drawn. The rest is a function of them: the least squares
    estimate of the leaves, its running sums made to rise, and a straight line through each leaf.

    Parameters
    ----------
    branching
        :math:`b`, how many children a node has.
    height
        :math:`h`, how many levels there are below the root.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, and no less. A record is counted once on each
    level, so the L1 distance of the counts is :math:`h` if one is added or removed, and at most
    :math:`2h` if one is replaced. *Checked by* ``test_tree_worst_case`` and
    ``test_tree_ten_percent_too_weak_is_rejected``. *Claim*: what is drawn are these counts with
    this noise. *Checked by* ``test_tree_draws_follow_the_law``. *Claim*: the leaves are the least
    squares estimate. *Checked by* ``test_consistent_is_least_squares``.

    *Claim*: the rank error of the leaf passes `bin_error` with probability :math:`\beta` at most.
    The estimate of a running sum is :math:`\sum_i a_i X_i` off, :math:`X_i` the noise, and since
    least squares has the least variance, :math:`\sum_i a_i^2 \le K = h(b-1) + 1`, the number of
    nodes that make up the sum at most. A discrete Laplace variable has
    :math:`E e^{\lambda X} \le 1/(1 - \lambda^2 s^2)`, so for :math:`\lambda s \le 1/\sqrt{2K}` the
    sum passes :math:`x` with probability :math:`2 e^{-\lambda x + 1.4 \lambda^2 s^2 K}` at most.
    All running sums within :math:`x` keep the leaf of order :math:`q` within :math:`(1 + q) x`.
    *Checked by* ``test_tree_error_bound``. The error that is seen is several times smaller; it is
    `reached`, with the law of the noise sampled.

    References
    ----------
    .. [1] M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the accuracy of differentially
       private histograms through consistency", VLDB 2010.

    Examples
    --------
    >>> centiles = Tree(epsilon=1, q=[j / 100 for j in range(1, 100)], cells=1 << 20)
    >>> centiles.scale, centiles.leaves
    (Fraction(3, 1), 4096)
    """

    branching: int = whole("branching", 2, default=16)
    height: int = whole("height", 1, default=3)

    @classmethod
    def of_ticks(cls, *, cells: int, **common: Any) -> Tree:
        """Build a tree with a leaf for each tick: wider ones mix records that lie apart."""
        branching, height = tick_shape(cells)
        return cls(cells=cells, branching=branching, height=height, **common)

    def check(self) -> None:
        b, h = self.branching, self.height
        if h > MOST_LEAVES.bit_length() or b**h > MOST_LEAVES:
            raise ParameterError(
                "height", f"leave at most {MOST_LEAVES} leaves", f"{h} levels of {b}",
                "Use {branching} and {height}.", branching=16, height=3,
            )  # fmt: skip
        read_scale(self.scale)

    @cached_property
    def scale(self) -> Fraction:
        return self.height * self._moved / self.epsilon

    @property
    def _moved(self) -> int:
        """How far one person moves the counts of a level."""
        return (2 if self.substitutes else 1) * self.rows

    @property
    def parts(self) -> tuple[Part, ...]:
        """A shift of the counts of each level: their noises are independent.

        *Checked by* ``test_whole_curve[quantiles.tree.add_remove]`` and
        ``[quantiles.tree.substitute]``.
        """
        return (Part.laplace(self._moved, self.scale, self.height),)

    @property
    def leaves(self) -> int:
        return int(self.branching**self.height)

    @property
    def nodes(self) -> int:
        """How many nodes are counted: those of all levels below the root."""
        return sum(self.branching**k for k in range(1, self.height + 1))

    def counts(self, x: Points) -> Ints:
        """Return the counts of all nodes, the top level first."""
        return self._with_counts(np.zeros(self.nodes, np.int64), x)

    def one(self, x: Points, source: Source) -> Ints:
        return self._with_counts(noise.discrete_laplace(self.scale, self.nodes, source=source), x)

    def _with_counts(self, nodes: Ints, x: Points) -> Ints:
        """Add the counts of all nodes in place. Most leaves of a large tree are empty.

        Two blocks may share a leaf or its parent: each adds its own records.
        """
        b = self.branching
        *inner, below = levels_of(nodes, b, self.height)
        found = np.zeros(b ** (self.height - 1), np.int64)
        for ticks, counts in x.complete().windows[0].blocks(A_BLOCK):
            leaves, records = self._leaves_of(ticks), counts
            if self.leaves < self.cells:  # several atoms may share one
                new = np.flatnonzero(np.diff(leaves, prepend=-1))
                leaves, records = leaves[new], np.add.reduceat(records, new)
            below[leaves] = _added(below[leaves], records)
            first = int(leaves[0]) // b
            above = np.bincount(leaves // b - first, records).astype(np.int64)
            found[first : first + len(above)] += above
        for level in reversed(inner):
            level[:] = _added(level, found)
            found = found.reshape(-1, b).sum(axis=1)
        return nodes

    def _leaves_of(self, ticks: Ints) -> Ints:
        r"""Return the last leaf :math:`i` with :math:`\lfloor iB/k \rfloor \le v` for each tick."""
        if self.cells * self.leaves < 1 << 62:
            leaves = ticks * self.leaves
            leaves += self.leaves - 1
            leaves //= self.cells
            return leaves
        return bin_edges(self.cells, self.leaves).searchsorted(ticks, side="right") - 1

    def published(self, drawn: Drawn) -> Ints:
        """Return the ticks at which the estimated running sum passes each target."""
        sums = self.running_sums(np.asarray(drawn, np.float64))
        targets = np.array([float(q) for q in self.orders]) * sums[-1]
        level = sums.searchsorted(targets) + sums.searchsorted(targets, side="right")
        leaf = np.clip(level // 2 - 1, 0, self.leaves - 1)
        ticks = _on_lines(targets, sums, bin_edges(self.cells, self.leaves), leaf)
        return np.sort(np.minimum(ticks, self.cells - 1))

    def running_sums(self, counts: Floats) -> Floats:
        """Return the estimated records below each edge, rising: the mean of two envelopes."""
        sums = np.concatenate(([0.0], np.cumsum(consistent(counts, self.branching, self.height))))
        return _between(*_envelopes(sums, sums), float(sums[-1]))

    def law(self, x: Points) -> Product:
        return Product(tuple(laplace_law(count, self.scale) for count in self.counts(x).tolist()))

    def outcome(self, release: Release) -> Ints:
        return np.asarray(release.drawn["drawn"], np.int64)

    def indices(self, drawn: Sequence[Drawn]) -> Ints:
        """Return the noisy counts themselves, a row each: the law is over all of them."""
        return np.asarray(drawn, np.int64)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `reached` where each leaf is one tick, infinity elsewhere."""
        return self.reached(beta) if self.leaves >= self.cells else inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return the error at the orders asked for, records being even; `reached` of large trees.

        Records that share a leaf do not count.
        """
        if self.leaves > SAMPLED or len(self.orders) > FEW:
            return self.reached(beta)
        far = _at_orders(self.branching, self.height, self.orders, float(read_beta(beta)))
        return min(float(self.scale) * far, self.reached(beta))

    def reached(self, beta: Number = 0.05) -> float:
        """Return what no rank error of a leaf passes: `reach`, or `bin_error` if that is less."""
        far = reach(self.branching, self.height, float(read_beta(beta)))
        return min(float(self.scale) * far, self.bin_error(beta))

    def bin_error(self, beta: Number = 0.05) -> float:
        """Return a bound on the worst rank error of a quantile's leaf."""
        s, k = float(self.scale), self.height * (self.branching - 1) + 1
        logs = log(2 * self.leaves / read_beta(beta))
        rate = min(sqrt(logs / (1.4 * k)), 1 / sqrt(2 * k)) / s
        x = logs / rate + 1.4 * rate * s * s * k
        return (1 + float(self.orders[-1])) * x

    def loss(self, x: Points, y: Ints) -> Floats:
        """Return the worst rank error of the leaves published for noisy counts, a row each."""
        edges = bin_edges(self.cells, self.leaves)
        below = counts_below(x.complete(), edges)
        ticks = np.array([self.published(row) for row in np.atleast_2d(y)])
        leaf = edges.searchsorted(ticks, side="right") - 1
        return self.errors_between(x, below[leaf], below[leaf + 1])


def _on_lines(targets: Floats, sums: Floats, at: Ints, i: Ints) -> Ints:
    """Return the ticks at which straight lines from the i-th place to the next pass targets."""
    rise, width = sums[i + 1] - sums[i], at[i + 1] - at[i]
    inside = np.where(rise > 0, (targets - sums[i]) / np.where(rise > 0, rise, 1), 0.5)
    steps = np.floor(np.clip(inside, 0.0, 1.0) * width).astype(np.int64)
    return np.asarray(at[i] + np.clip(steps, 0, np.maximum(width - 1, 0)), np.int64)


def _added(drawn: Ints, counts: Ints) -> Ints:
    """Return noise with counts, which are not negative: at most the greatest 64-bit integer."""
    total = drawn + counts
    wrapped = total < drawn
    if wrapped.any():
        total[wrapped] = np.iinfo(np.int64).max
    return total


@lru_cache(256)
def _at_orders(b: int, h: int, orders: tuple[Fraction, ...], beta: float) -> float:
    """Return what no error at the orders passes, for noise of scale 1 and even records."""
    rng, leaves = np.random.default_rng(0), b**h
    q = np.array([float(order) for order in orders])
    at, nodes = np.rint(q * leaves).astype(int), sum(b**k for k in range(1, h + 1))
    worst = []
    for noises in rng.laplace(size=(SAMPLES, nodes)):
        sums = np.concatenate(([0.0], np.cumsum(consistent(noises, b, h))))
        worst.append(np.abs(sums[at] - q * sums[-1]).max())
    return float(np.quantile(worst, 1 - beta))


def consistent(counts: Floats, b: int, h: int) -> Floats:
    r"""Return the least squares estimate of the leaves from noisy counts of all levels.

    Upwards, a node's own count is weighed against the sum of its children's estimates, as the
    inverse of their variances:

    .. math:: z = \frac{b^l - b^{l-1}}{b^l - 1}\, y
              + \frac{b^{l-1} - 1}{b^l - 1} \sum z_\text{child}

    with :math:`l = 1` for leaves. Downwards, what a parent is over the sum of its children is
    shared among them. The root has no count of its own.
    """
    *inner, leaves = levels_of(counts, b, h)
    if not inner:
        return counts
    sums = leaves.reshape(-1, b).sum(axis=1)
    over = parents(inner, sums, b) - sums
    return np.asarray(leaves + np.repeat(over / b, b))


def parents(levels: Sequence[Floats], sums: Floats, b: int) -> Floats:
    """Return the same estimate of the leaves' parents, from the sums of their leaves' counts.

    The levels are those above the leaves, of the whole tree or of what lies below some top nodes.
    """
    z: list[Floats] = []
    below = [sums]
    for above, level in enumerate(reversed(levels), 2):
        power = float(b**above)
        own = (power - power / b) / (power - 1)
        if z:
            below.append(z[-1].reshape(-1, b).sum(axis=1))
        z.append(own * level + (1 - own) * below[-1])
    estimate = z.pop()
    while z:
        over = estimate - below.pop()
        estimate = z.pop() + np.repeat(over / b, b)
    return np.asarray(estimate)


def levels_of(counts: Any, b: int, h: int) -> list[Any]:
    """Return the counts of each level, the top level first."""
    return np.split(counts, np.cumsum([b**k for k in range(1, h)]))


def _envelopes(highest: Floats, lowest: Floats) -> tuple[Floats, Floats]:
    """Return the greatest up to each place and the least from it on, along the last axis."""
    upper = np.maximum.accumulate(highest, axis=-1)
    return upper, np.minimum.accumulate(lowest[..., ::-1], axis=-1)[..., ::-1]


def _between(upper: Floats, lower: Floats, total: float) -> Floats:
    """Return the mean of two envelopes, both cut off at 0 and at the total."""
    ends = 0.0, max(total, 0.0)
    return np.asarray((np.clip(upper, *ends) + np.clip(lower, *ends)) / 2)


# ---- A whole distribution function: counts below knots, with the reach of their noise ------------
#
# *ticks*       a tree with a leaf for each tick at all of epsilon: every tick is a knot
# *edges*       quantiles at half of epsilon, both sides of each being knots; a tree over the
#               stretches between them at the other half
#
# The tree of ticks has noise of a reach that the records do not change; edges follow the records,
# and fewer counts have less noise, but what lies between two edges is known to one of them only.
# Ticks are better from :math:`n\varepsilon \approx 15\,000` on.
#
# *Band.* With :math:`R` the reach of the noise (`sourdine.central.quantiles.tree`), :math:`\hat C`
# the estimated counts below knots made to rise, :math:`\hat N` the last and :math:`F = C/N` the
# records' own distribution function, :math:`|\hat C_i - F_i\hat N| \le R` for all knots at once.
# *Proof*. For the sums before they were made to rise it is :math:`|S_i - F_iS_B|`, at most
# :math:`R`. For fixed :math:`q = F_i` let :math:`\hat C_j \le C_j + qS_B + R` for all :math:`j`;
# then :math:`\max_{j \le i}\hat C_j \le C_i + qS_B + R`, as :math:`C` rises, and it is no less than
# :math:`\hat C_i \ge C_i + qS_B - R`. The same holds for the least of those above, and for the mean
# of both. Cutting off what is below 0 or above :math:`\hat N` is safe too: :math:`qS_B + R \ge 0`
# and :math:`(1-q)S_B + R \ge 0`, as :math:`|S_B| \le R`. :math:`\square`
#
# *Between knots* the lower end is that of the knot before, the upper end that of the knot after.


ENOUGH = 15_000
"""The least number of records times epsilon for which all ticks are counted."""
FEW_TICKS = 400
"""So few ticks are counted in any case."""
EDGES = {40_000: 999, 13_000: 323}
"""The number of edges from a number of records times epsilon on; 99 below the first."""
FEWEST, USUAL, A_PIECE = 9, 99, 16
MOST_JOINT = 40
HALF = Fraction(1, 2)
FINE = 2000
"""Knots are kept so that no more than this part of all records lies between two."""
FEW_LEAVES = 1 << 14
"""So few leaves have all their running sums computed."""
AT_ONCE = 1 << 12
"""So many blocks of leaves, or one top node's, are summed at a time."""
ROUNDED = 0.01
"""What is added to the reach for the rounding of estimated counts."""


@frozen(kw_only=True)
class Curve:
    """How counts below knots are drawn, for about ``n`` records."""

    epsilon: Fraction
    cells: int
    relation: Relation
    rows: int
    records: float

    @property
    def weight(self) -> float:
        """The records times epsilon, by which the way is chosen."""
        halves = 2 if self.relation is SUBSTITUTE else 1
        return max(self.records, 0.0) * float(self.epsilon) / self.rows / halves

    @property
    def by_ticks(self) -> bool:
        return self.cells <= FEW_TICKS or (self.weight >= ENOUGH and self.cells <= MOST_TICKS)

    def tree(self, cells: int, epsilon: Fraction) -> Tree:
        shared: dict[str, Any] = {"relation": self.relation, "rows": self.rows}
        return Tree.of_ticks(epsilon=epsilon, q=HALF, cells=cells, **shared)

    @property
    def edges(self) -> QuantileMechanism:
        usual = max(FEWEST, min(USUAL, int(self.weight / A_PIECE)))
        m = next((m for least, m in EDGES.items() if self.weight >= least), usual)
        return _edges(m, self.epsilon * HALF, self.cells, self.relation, self.rows)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of the tree; or of the edges, and a promise: the next tree follows from them."""
        if self.by_ticks:
            return self.tree(self.cells, self.epsilon).parts
        return (*self.edges.parts, Part.pure(self.epsilon * HALF))

    @property
    def reads(self) -> QuantileMechanism:
        """What is drawn from the records first."""
        return self.tree(self.cells, self.epsilon) if self.by_ticks else self.edges

    def draw(self, reader: Reader, source: Source) -> dict[str, Any]:
        """Draw the knots and the counts below them."""
        if self.by_ticks:
            tree = self.tree(self.cells, self.epsilon)
            counts = np.asarray(draw_from(reader, tree, source), np.int64)
            if tree.leaves > FEW_LEAVES:
                leaf, sums = around_steps(counts, tree.branching, tree.height)
            else:
                leaf, sums = np.arange(tree.leaves + 1), tree.running_sums(counts.astype(float))
            at = leaf * self.cells // tree.leaves
            return {"counted": self.cells, **_thinned(at, sums, self.cells)}
        ticks = self.edges.published(draw_from(reader, self.edges, source))
        at = np.unique(np.concatenate((ticks, ticks + 1)))
        at = at[(at > 0) & (at < self.cells)]
        between = reader.between(at.tolist())
        tree = self.tree(len(between), self.epsilon * HALF)
        points = Points.counted(np.arange(len(between)), between, len(between))
        sums = tree.running_sums(np.asarray(tree.draw_once(points, source), np.float64))
        inner = bin_edges(tree.cells, tree.leaves)
        first = np.unique(inner, return_index=True)[1]
        ends = np.concatenate(([0], at, [self.cells]))
        return {"counted": len(between), **_thinned(ends, sums[first], self.cells)}

    def knots(self, drawn: Mapping[str, Any]) -> Knots:
        """Return what was drawn, with the noise that it has."""
        counted = int(drawn["counted"])
        epsilon = self.epsilon if self.by_ticks else self.epsilon * HALF
        return Knots(
            at=np.asarray(drawn["knots"], np.int64), below=np.asarray(drawn["below"], np.float64),
            cells=self.cells, tree=self.tree(counted, epsilon),
        )  # fmt: skip

    def expected(self, beta: float, of: str = "sample") -> float:
        """Return the half height of the band to expect, in records."""
        tree, between = self.tree(self.cells, self.epsilon), 0.0
        if not self.by_ticks:
            m = len(self.edges.orders)
            tree = self.tree(2 * m + 1, self.epsilon * HALF)
            between = max(self.records, 1.0) / (m + 1) / 2
        far = tree.reached(beta)
        if of == "population":
            far = band_reach(lambda risk: tree.reached(min(risk, 0.99)), max(self.records, 1), beta)
        return far + between


@lru_cache(64)
def _edges(
    m: int, epsilon: Fraction, cells: int, relation: Relation, rows: int
) -> QuantileMechanism:
    """Return what draws m quantiles that are evenly spaced."""
    few = JointExp if relation is SUBSTITUTE else JointFree
    kind: type[QuantileMechanism] = few if m <= MOST_JOINT else Hybrid
    orders = [Fraction(j, m + 1) for j in range(1, m + 1)]
    return kind(epsilon=epsilon, q=orders, cells=cells, relation=relation, rows=rows)


def around_steps(counts: Ints, b: int, h: int) -> tuple[Ints, Floats]:
    """Return the edges of the leaves around which `_levels` rise, and the running sums there.

    The sums are those of `Tree.running_sums`, added in another order, and `_thinned` keeps the same
    knots of these edges as of all. As levels rise, the edges inside a block of siblings are left
    out where both ends of the block are on one level; the greatest and the least sum inside each
    block tell these levels.
    """
    levels, blocks = levels_of(np.asarray(counts), b, h), b ** (h - 1)
    ends, over = np.zeros(blocks + 1), np.empty(blocks)
    highest, lowest = np.zeros(blocks + 1), np.empty(blocks + 1)
    # Top nodes are estimated apart from each other. A few of them fit into the processor's cache.
    some = max(1, AT_ONCE * b // blocks)
    room = np.empty((b, some * blocks // b))
    for top in range(0, b, some):
        *inner, leaves = (level[top * b**k : (top + some) * b**k] for k, level in enumerate(levels))
        sums = room[:, : len(leaves) // b]
        sums[:] = leaves.reshape(-1, b).T
        for j in range(1, b):
            sums[j] += sums[j - 1]
        estimate = parents(inner, sums[-1], b)
        first, last = top * blocks // b, top * blocks // b + len(estimate)
        np.cumsum(estimate, out=ends[first + 1 : last + 1])
        ends[first + 1 : last + 1] += ends[first]
        over[first:last] = (estimate - sums[-1]) / b
        line = ends[first:last].copy()
        for j in range(b - 1):
            line += over[first:last]
            sums[j] += line
        sums[:-1].max(axis=0, out=highest[first + 1 : last + 1])
        sums[:-1].min(axis=0, out=lowest[first:last])
    total = max(float(ends[-1]), 0.0)
    lowest[-1] = ends[-1]
    upper, lower = _envelopes(np.maximum(highest, ends), np.minimum(lowest, ends))

    block = np.flatnonzero(np.diff(_levels(_between(upper, lower, total), total)))
    inside = np.cumsum(levels[-1].reshape(-1, b)[block, :-1], axis=1, dtype=np.float64)
    inside += np.cumsum(np.column_stack((ends[block], *[over[block]] * (b - 1))), axis=1)[:, 1:]
    found = _between(
        *_envelopes(
            np.column_stack((upper[block], inside, upper[block + 1])),
            np.column_stack((lower[block], inside, lower[block + 1])),
        ),
        total,
    )
    edges = block[:, None] * b + np.arange(b + 1)
    return (
        np.concatenate(([0], edges.ravel(), [b**h])),
        np.concatenate((_between(upper[:1], lower[:1], total), found.ravel(), [total])),
    )


def _levels(sums: Floats, total: float) -> Floats:
    """Return in which of equal parts of all records running sums lie."""
    return np.floor(sums * (FINE / total)) if total > 0 else np.zeros_like(sums)


def _thinned(at: Ints, sums: Floats, cells: int) -> dict[str, Any]:
    """Return knots between which little lies, with both sides of every jump."""
    total = max(float(sums[-1]), 0.0)
    moved = np.flatnonzero(np.diff(_levels(sums, total)))
    kept = np.unique(np.concatenate(([0], moved, moved + 1, [len(sums) - 1])))
    ends, first = np.unique(at[kept], return_index=True)
    below = np.round(sums[kept][first], 2)
    below[-1] = round(total, 2)
    assert ends[0] == 0  # noqa: S101 - the first leaf begins there
    assert ends[-1] == cells  # noqa: S101 - the last one ends there
    return {"knots": ends, "below": below}


@frozen(kw_only=True)
class Knots:
    """Counts below knots, rising from 0 to all records, and what follows from them."""

    at: Ints
    below: Floats
    cells: int
    tree: Tree

    @property
    def total(self) -> float:
        return float(self.below[-1])

    def reach(self, beta: float, of: str) -> float:
        """Return the half height of the band, in records."""
        if of == "sample":
            return self._far(beta)
        most = max(self.total + self._far(OF_NUMBER * beta), 1.0)
        return band_reach(self._far, most, (1 - OF_NUMBER) * beta)

    def _far(self, beta: float) -> float:
        tree = self.tree
        return float(tree.scale) * reach(tree.branching, tree.height, beta) + ROUNDED

    @property
    def shares(self) -> Floats:
        """The estimated share of records below each knot."""
        if self.total <= 0:
            return np.asarray(self.at / self.cells, np.float64)
        return np.asarray(np.minimum(self.below / self.total, 1.0))

    def band(self, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of the share below each knot, for all of them together."""
        t = self.reach(beta, of) / self.total if self.total > 0 else 1.0
        low, high = np.clip(self.shares - t, 0.0, 1.0), np.clip(self.shares + t, 0.0, 1.0)
        low[-1], high[0] = 1.0, 0.0
        return low, high

    def share(self, tick: int) -> float:
        """Return the estimated share of records below a tick, on a straight line between knots."""
        return float(np.interp(tick, self.at, self.shares))

    def share_ends(self, tick: int, beta: float, of: str) -> tuple[float, float]:
        """Return the ends of the share of records below a tick."""
        low, high = self.band(beta, of)
        tick = min(max(tick, 0), self.cells)
        before = int(self.at.searchsorted(tick, side="right")) - 1
        after = int(self.at.searchsorted(tick, side="left"))
        return float(low[before]), float(high[after])

    def quantiles(self, orders: Sequence[Fraction]) -> Ints:
        """Return the tick in which each share is reached, on a straight line between knots."""
        targets, shares = np.array([float(q) for q in orders]), self.shares
        i = np.clip(shares.searchsorted(targets, side="left"), 1, len(shares) - 1)
        return _on_lines(targets, shares, self.at, i - 1)

    def quantile_ends(self, orders: Sequence[Fraction], beta: float, of: str) -> tuple[Ints, Ints]:
        r"""Return the ends of quantiles, as ticks, for all orders together.

        A quantile is at least the last knot with :math:`\hat C_i - q\hat N \le -t`, and below the
        first with :math:`\hat C_i - q\hat N \ge t`.
        """
        t = self.reach(beta, of)
        targets = np.array([float(q) for q in orders]) * self.total
        inner = self.below[1:-1]
        low = np.concatenate(([0], self.at[1:-1]))[inner.searchsorted(targets - t, side="right")]
        above = np.concatenate((self.at[1:-1], [self.cells]))
        high = above[inner.searchsorted(targets + t, side="left")] - 1
        return np.asarray(low, np.int64), np.asarray(np.maximum(high, low), np.int64)
