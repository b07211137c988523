r"""A whole distribution function: counts below knots, with the reach of their noise.

============  =====================================================================================
*ticks*       a tree with a leaf for each tick at all of epsilon: every tick is a knot
*edges*       quantiles at half of epsilon, both sides of each being knots; a tree over the
              stretches between them at the other half
============  =====================================================================================

The tree of ticks has noise of a reach that the records do not change; edges follow the records, and
fewer counts have less noise, but what lies between two edges is known to one of them only. Ticks
are better from :math:`n\varepsilon \approx 15\,000` on.

*Band.* With :math:`R` the reach of the noise (`sourdine.central.quantiles.tree_reach`),
:math:`\hat C` the estimated counts below knots made to rise, :math:`\hat N` the last and
:math:`F = C/N` the records' own distribution function, :math:`|\hat C_i - F_i\hat N| \le R` for all
knots at once. *Proof*. For the sums before they were made to rise it is :math:`|S_i - F_iS_B|`, at
most :math:`R`. For fixed :math:`q = F_i` let :math:`\hat C_j \le C_j + qS_B + R` for all
:math:`j`; then :math:`\max_{j \le i}\hat C_j \le C_i + qS_B + R`, as :math:`C` rises, and it is no
less than :math:`\hat C_i \ge C_i + qS_B - R`. The same holds for the least of those above, and for
the mean of both. Cutting off what is below 0 or above :math:`\hat N` is safe too: :math:`qS_B + R
\ge 0` and :math:`(1-q)S_B + R \ge 0`, as :math:`|S_B| \le R`. :math:`\square`

*Between knots* the lower end is that of the knot before, the upper end that of the knot after.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sourdine.central.quantiles.algorithm import release_from
from sourdine.central.quantiles.histogram import bin_edges
from sourdine.central.quantiles.hybrid import Hybrid
from sourdine.central.quantiles.joint import JointExp, JointFree
from sourdine.central.quantiles.points import Points
from sourdine.central.quantiles.sampling_error import OF_NUMBER, band_reach
from sourdine.central.quantiles.tree import Tree
from sourdine.central.quantiles.tree_reach import MOST_TICKS, reach, tick_shape
from sourdine.privacy import SUBSTITUTE, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.central.quantiles.order_statistics import Reader
    from sourdine.noise import Source

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["Curve", "Knots"]

ENOUGH = 15_000
"""From so many records times epsilon on all ticks are counted."""
FEW_TICKS = 400
"""So few ticks are counted in any case."""
EDGES = {40_000: 999, 13_000: 323}
"""How many edges, from so many records times epsilon on; 99 below."""
FEWEST, USUAL, A_PIECE = 9, 99, 16
MOST_JOINT = 40
HALF = Fraction(1, 2)
FINE = 2000
"""Knots are kept so that no more than this part of all records lies between two."""
ROUNDED = 0.01
"""What is added to the reach for the rounding of estimated counts."""


@frozen(kw_only=True)
class Curve:
    """How counts below knots are drawn, for about so many records.

    Parameters
    ----------
    epsilon, relation, rows
        The promise.
    cells
        How many ticks the grid has.
    records
        About how many records there are: known publicly, or paid for.
    """

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
        """Whether all ticks are counted."""
        return self.cells <= FEW_TICKS or (self.weight >= ENOUGH and self.cells <= MOST_TICKS)

    def tree(self, cells: int, epsilon: Fraction) -> Tree:
        """Return the tree that counts so many cells."""
        branching, height = tick_shape(cells)
        return Tree(
            epsilon=epsilon, q=HALF, cells=cells, relation=self.relation, rows=self.rows,
            branching=branching, height=height,
        )  # fmt: skip

    @cached_property
    def edges(self) -> QuantileMechanism:
        """What draws the edges."""
        usual = max(FEWEST, min(USUAL, int(self.weight / A_PIECE)))
        m = next((m for least, m in EDGES.items() if self.weight >= least), usual)
        few = JointExp if self.relation is SUBSTITUTE else JointFree
        kind: type[QuantileMechanism] = few if m <= MOST_JOINT else Hybrid
        return kind(
            epsilon=self.epsilon * HALF, q=[Fraction(j, m + 1) for j in range(1, m + 1)],
            cells=self.cells, relation=self.relation, rows=self.rows,
        )  # fmt: skip

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
            counts = release_from(reader, tree, source).drawn["drawn"]
            at = bin_edges(self.cells, tree.leaves)
            sums = tree.running_sums(np.asarray(counts, np.float64))
            return {"counted": self.cells, **_thinned(at, sums, self.cells)}
        ticks = release_from(reader, self.edges, source).value
        at = np.unique(np.concatenate((ticks, ticks + 1)))
        at = at[(at > 0) & (at < self.cells)]
        between = reader.between(at.tolist())
        tree = self.tree(len(between), self.epsilon * HALF)
        points = Points.counted(np.arange(len(between)), between, len(between))
        counts = tree.release(points, source=source).drawn["drawn"]
        sums = tree.running_sums(np.asarray(counts, np.float64))
        inner = bin_edges(tree.cells, tree.leaves)
        first = np.unique(inner, return_index=True)[1]
        ends = np.concatenate(([0], at, [self.cells]))
        return {"counted": len(between), **_thinned(ends, sums[first], self.cells)}

    def knots(self, drawn: Mapping[str, Any]) -> Knots:
        """Return what was drawn, with the noise that it has."""
        counted = int(drawn["counted"])
        epsilon = self.epsilon if self.by_ticks else self.epsilon * HALF
        return Knots(
            at=np.asarray(drawn["knots"], np.int64),
            below=np.asarray(drawn["below"], np.float64),
            cells=self.cells,
            tree=self.tree(counted, epsilon),
        )

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


def _thinned(at: Ints, sums: Floats, cells: int) -> dict[str, Any]:
    """Return knots between which little lies, with both sides of every jump."""
    total = max(float(sums[-1]), 0.0)
    level = np.floor(sums * (FINE / total)) if total > 0 else np.zeros(len(sums))
    moved = np.flatnonzero(np.diff(level))
    kept = np.unique(np.concatenate(([0], moved, moved + 1, [len(sums) - 1])))
    ends, first = np.unique(at[kept], return_index=True)
    below = np.round(sums[kept][first], 2)
    below[-1] = round(total, 2)
    assert ends[0] == 0  # noqa: S101 - the first leaf begins there
    assert ends[-1] == cells  # noqa: S101 - the last one ends there
    return {"knots": ends, "below": below}


@frozen(kw_only=True)
class Knots:
    """Counts below knots, and what follows from them.

    Parameters
    ----------
    at
        The knots: ticks below which records were counted, from 0 to the number of ticks.
    below
        The estimated counts, rising from 0 to all records.
    cells
        How many ticks there are.
    tree
        What counted them.
    """

    at: Ints
    below: Floats
    cells: int
    tree: Tree

    @property
    def total(self) -> float:
        """The estimated number of records."""
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
        """The share below each knot."""
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
        targets = np.array([float(q) for q in orders])
        shares = self.shares
        i = np.clip(shares.searchsorted(targets, side="left"), 1, len(shares) - 1)
        rise = shares[i] - shares[i - 1]
        inside = np.where(rise > 0, (targets - shares[i - 1]) / np.where(rise > 0, rise, 1), 0.5)
        width = self.at[i] - self.at[i - 1]
        steps = np.floor(np.clip(inside, 0.0, 1.0) * width).astype(np.int64)
        return np.asarray(self.at[i - 1] + np.minimum(steps, width - 1), np.int64)

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
