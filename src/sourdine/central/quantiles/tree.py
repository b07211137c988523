"""A tree of noisy counts, made consistent: any number of quantiles at one price."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.histogram import bin_edges, counts_below
from sourdine.central.quantiles.independent import rank_errors
from sourdine.central.quantiles.tree_reach import reach
from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine.laws import Product
from sourdine.mechanisms.inputs import add
from sourdine.mechanisms.laplace import laplace_law
from sourdine.mechanisms.mechanism import read_beta, read_scale
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["Tree", "consistent"]

MOST_LEAVES = 1 << 23
SAMPLED, FEW, SAMPLES = 1 << 10, 40, 2000
"""In a tree of so few leaves, errors at so few orders are sampled so often."""


def _branching(x: int) -> int:
    return integer(x, "branching", least=2)


def _height(x: int) -> int:
    return integer(x, "height", least=1)


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

    branching: int = field(default=16, converter=_branching)
    height: int = field(default=3, converter=_height)

    def check(self) -> None:
        """Refuse too many leaves, and noise too wide for 64 bits."""
        b, h = self.branching, self.height
        if h > MOST_LEAVES.bit_length() or b**h > MOST_LEAVES:
            raise ParameterError(
                "height",
                f"leave at most {MOST_LEAVES} leaves",
                f"{h} levels of {b}",
                "Type {branching} and {height}.",
                branching=16,
                height=3,
            )
        read_scale(self.scale)

    @cached_property
    def scale(self) -> Fraction:
        """The scale of each count's noise."""
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
        """The number of leaves."""
        return int(self.branching**self.height)

    def counts(self, x: Points) -> NDArray[np.int64]:
        """Return the counts of all nodes, the top level first."""
        below = counts_below(x.complete(), bin_edges(self.cells, self.leaves))
        levels = [self.branching ** (self.height - k) for k in range(1, self.height + 1)]
        return np.concatenate([np.diff(below[::width]) for width in levels])

    def one(self, x: Points, source: Source) -> NDArray[np.int64]:
        """Draw the noisy counts."""
        true = self.counts(x)
        drawn = noise.discrete_laplace(self.scale, len(true), source=source)
        return np.asarray(add(true, drawn))

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the ticks at which the estimated running sum passes each target."""
        sums = self.running_sums(np.asarray(drawn, np.float64))
        targets = np.array([float(q) for q in self.orders]) * sums[-1]
        level = sums.searchsorted(targets) + sums.searchsorted(targets, side="right")
        leaf = np.clip(level // 2 - 1, 0, self.leaves - 1)
        rise = sums[leaf + 1] - sums[leaf]
        inside = np.where(rise > 0, (targets - sums[leaf]) / np.maximum(rise, 1e-300), 0.5)
        edges = bin_edges(self.cells, self.leaves)
        width = edges[leaf + 1] - edges[leaf]
        steps = np.floor(np.clip(inside, 0.0, 1.0) * width).astype(np.int64)
        ticks = edges[leaf] + np.clip(steps, 0, np.maximum(width - 1, 0))
        return np.sort(np.minimum(ticks, self.cells - 1))

    def running_sums(self, counts: Floats) -> Floats:
        """Return the estimated records below each edge, rising: the mean of two envelopes."""
        sums = np.concatenate(([0.0], np.cumsum(consistent(counts, self.branching, self.height))))
        sums = np.clip(sums, 0.0, max(float(sums[-1]), 0.0))
        upper = np.maximum.accumulate(sums)
        lower = np.minimum.accumulate(sums[::-1])[::-1]
        return np.asarray((upper + lower) / 2)

    def law(self, x: Points) -> Product:
        """Return the law of the noisy counts, one for each node: they are independent."""
        return Product(tuple(laplace_law(count, self.scale) for count in self.counts(x).tolist()))

    def outcome(self, release: Release) -> NDArray[np.int64]:
        """Return the noisy counts."""
        return np.asarray(release.drawn["drawn"], np.int64)

    def indices(self, drawn: Sequence[Drawn]) -> NDArray[np.int64]:
        """Return the noisy counts themselves, a row each: the law is over all of them."""
        return np.asarray(drawn, np.int64)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return `reached` where each leaf is one tick, infinity elsewhere."""
        del n
        return self.reached(beta) if self.leaves >= self.cells else inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return the error at the orders asked for, records being even; `reached` of large trees.

        Records that share a leaf do not count.
        """
        del n
        if self.leaves > SAMPLED or len(self.orders) > FEW:
            return self.reached(beta)
        far = _at_orders(self.branching, self.height, self.orders, float(read_beta(beta)))
        return min(float(self.scale) * far, self.reached(beta))

    def reached(self, beta: Number = 0.05) -> float:
        """Return what no rank error of a leaf passes, by the law of the noise of such trees.

        It is `sourdine.central.quantiles.tree_reach`'s, or `bin_error` where that is less.
        """
        far = reach(self.branching, self.height, float(read_beta(beta)))
        return min(float(self.scale) * far, self.bin_error(beta))

    def bin_error(self, beta: Number = 0.05) -> float:
        """Return a bound on the worst rank error of a quantile's leaf."""
        s, k = float(self.scale), self.height * (self.branching - 1) + 1
        logs = log(2 * self.leaves / read_beta(beta))
        rate = min(sqrt(logs / (1.4 * k)), 1 / sqrt(2 * k)) / s
        x = logs / rate + 1.4 * rate * s * s * k
        return (1 + float(self.orders[-1])) * x

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the worst rank error of the leaves published for noisy counts, a row each."""
        edges = bin_edges(self.cells, self.leaves)
        below = counts_below(x.complete(), edges)
        ticks = np.array([self.published(row) for row in np.atleast_2d(y)])
        leaf = edges.searchsorted(ticks, side="right") - 1
        return rank_errors([float(q * x.n) for q in self.orders], below[leaf], below[leaf + 1])


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
    ends = np.cumsum([b**k for k in range(1, h + 1)])
    levels = [counts[end - b**k : end] for k, end in enumerate(ends.tolist(), 1)]
    z = [levels[-1]]
    for k in range(h - 1, 0, -1):
        power = float(b ** (h - k + 1))
        own = (power - power / b) / (power - 1)
        z.append(own * levels[k - 1] + (1 - own) * z[-1].reshape(-1, b).sum(axis=1))
    estimate = z.pop()
    while z:
        below = z.pop()
        over = estimate - below.reshape(-1, b).sum(axis=1)
        estimate = below + np.repeat(over / b, b)
    return estimate
