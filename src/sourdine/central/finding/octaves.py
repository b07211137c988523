"""A mean without bounds from one table of octave sums, all of whose cells are released at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, frexp, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.central.finding.bounds import COUNTING, BoundsFirst
from sourdine.central.finding.search import Ordered
from sourdine.central.finding.two_stage import spent, told
from sourdine.frames.cells import HIGHEST, LOWEST, Octaves, Ticks
from sourdine.laws.law import gaussian_quantile
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.mechanism import Specimen, register
from sourdine.parameters.question import plain_parameter
from sourdine.privacy import SUBSTITUTE, Relation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.mean import Mean
    from sourdine.frames.frame import Frame
    from sourdine.noise.source import Floats, Ints


# ---- The table: every record adds one unit to one cell -------------------------------------------
#
# Around a centre m, record x lies on one side of it and in one octave of its distance:
# :math:`|x-m|` is in :math:`[C/2, C)` for one power of two C, or below the first octave. With
# :math:`u = |x-m|/C`, rounded down to a multiple of 1/F, it adds :math:`(Fu, F(1-u))` to the two
# numbers of its cell; below the first octave it adds F to one more number, the count of such
# records. All other numbers stay as they are.
#
# *One record added or removed* moves the table by exactly F in the L1 norm, in whichever cell it
# lies: so discrete Laplace noise of scale :math:`F/\varepsilon` on every number of every cell costs
# :math:`\varepsilon` in all, and nothing is spent on finding which cells hold records. *One record
# replaced* moves it by 2F at most, one that becomes missing by F, and the k records of a person by
# k times as much. Which cells are believed is decided from the noisy table alone.


BITS = 24
"""The number of bits of a distance's mantissa that count."""
UNIT = 1 << (BITS + 1)
"""F, what one record adds to the table."""
FINE_BITS = 20
"""The number of doublings between the first octave and the centre."""


@frozen(kw_only=True)
class OctaveTable:
    r"""The sums of all octaves around a centre, public or paid for, with noise.

    *Claim*: one record moves the table by one unit in the L1 norm if it is added or removed, by two
    at most if it is replaced. *Checked by* ``test_a_record_moves_the_table_by_one_unit``.

    Examples
    --------
    >>> table = OctaveTable(centre=10.0, epsilon=Fraction(1))
    >>> table.lowest, table.octaves
    (-17, 81)
    >>> sums = table.of_sorted(np.array([4.0, 7.0, 10.0, 12.0]))
    >>> int(sums.sum()) == 4 * UNIT
    True
    """

    centre: float
    epsilon: Fraction
    relation: Relation = field(default=SUBSTITUTE)
    rows: int = 1

    @cached_property
    def lowest(self) -> int:
        """The exponent of the first octave: far below the centre's own, as floats are no finer."""
        return max(LOWEST, frexp(self.centre)[1] - 1 - FINE_BITS) if self.centre else LOWEST

    @property
    def octaves(self) -> int:
        return HIGHEST - self.lowest

    @cached_property
    def grid(self) -> Octaves:
        return Octaves(step=Fraction(2) ** self.lowest, bits=BITS, centre=self.centre)

    @cached_property
    def tops(self) -> Floats:
        return np.ldexp(1.0, np.arange(self.lowest + 1, HIGHEST + 1))

    @cached_property
    def mechanism(self) -> Laplace:
        moved = self.rows * (2 if self.relation is SUBSTITUTE else 1)
        return Laplace(epsilon=self.epsilon, sensitivity=moved * UNIT, relation=self.relation)

    @cached_property
    def scale(self) -> float:
        """The scale of the noise of each number, in records."""
        return float(self.mechanism.scale) / UNIT

    def sums(self, numbers: Ints, counts: Ints) -> Ints:
        """Return the table: the count at the centre, then U and V of each cell, upward first."""
        size = np.abs(numbers)
        octave = np.maximum(size - 1, 0) >> BITS
        cell = np.where(numbers < 0, octave + self.octaves, octave)
        there = size > 0
        cell, counts, at = cell[there], counts[there], counts[~there]
        within = (1 << BITS) + ((size[there] - 1) & ((1 << BITS) - 1))
        found = np.zeros((2, 2 * self.octaves), np.int64)
        np.add.at(found[0], cell, within * counts)
        np.add.at(found[1], cell, (UNIT - within) * counts)
        return np.concatenate(([int(at.sum()) * UNIT], found.ravel()))

    def read(self, data: Frame, column: str, ordered: Ordered | None) -> Ints:
        """Return the exact table of a column: of sorted values, or by one pass over it."""
        if ordered is not None:
            return self.of_sorted(ordered.values)
        cell = Ticks(column, self.grid)
        ticks, counts = data.between(cell, [(0, cell.size)])
        return self.sums(ticks + self.grid.first, counts)

    def of_sorted(self, values: Floats) -> Ints:
        """Return the table of sorted floats, of which each cell holds a stretch.

        The bits of the mantissa that count are read from the floats themselves.
        """
        away = np.clip(values - self.centre, -self.grid.top, self.grid.top)
        within = (away.view(np.int64) >> (52 - BITS)) & ((1 << BITS) - 1)
        added = np.concatenate(([0], np.cumsum(within)))
        edges = np.append(self.tops / 2, np.inf)
        up, down = away.searchsorted(edges), away.searchsorted(-edges, side="right")
        n = np.concatenate((np.diff(up), -np.diff(down)))
        u = np.concatenate((np.diff(added[up]), -np.diff(added[down]))) + (n << BITS)
        return np.concatenate(([int(up[0] - down[0]) * UNIT], u, n * UNIT - u))


# ---- Which cells to believe ----------------------------------------------------------------------
#
# The noise of a cell's sum is C times that of a count, so a believed empty octave far out would
# spoil the mean. A cell holds about :math:`N = U + V` records. From the fullest octave outward a
# cell is believed if N is at least :math:`(5 + 1.4g)/\varepsilon` with g empty octaves between it
# and the last one believed on either side: the probability that noise makes one of them pass falls
# by 4 with each octave, faster than its error grows. On each side all cells up to the last believed
# one count, but those that are small and seem empty. Records in the next cell, if there seem to be
# any, count as if they were at its inner end.


BELIEVED, SLOPE, SEEN, SMALL = 5.0, 1.4, 3.0, 6
"""Thresholds in scales of the noise, and how many octaves below the largest are small."""
NEXT, FULL, WIDE, FULL_WIDE = 3.0, 16.0, 4, 23.0


@dataclass(frozen=True)
class Believed:
    """A noisy table, and the weights with which its numbers are believed."""

    table: OctaveTable
    drawn: tuple[int, ...]

    @cached_property
    def parts(self) -> tuple[float, Floats, Floats]:
        """The count at the centre, and U and V by side and octave, in records."""
        x = np.array([v / UNIT for v in self.drawn])
        u, v = x[1:].reshape(2, 2, -1)
        return float(x[0]), u, v

    @cached_property
    def last(self) -> tuple[int, int]:
        """The last octave believed of each side; -1 for none."""
        at, u, v = self.parts
        n = (u + v) / self.table.scale
        wide = max(np.convolve(side, np.ones(WIDE)).max() for side in n)
        hidden = n.max() < min(at / self.table.scale, FULL) and wide < FULL_WIDE
        furthest, last = -1 if hidden else int(n.max(0).argmax()), [-1, -1]
        for octave, side in np.argwhere(n.T >= BELIEVED).tolist():
            if n[side, octave] >= BELIEVED + SLOPE * max(octave - furthest - 1, 0):
                last[side], furthest = octave, max(furthest, octave)
        return last[0], last[1]

    @cached_property
    def reach(self) -> float:
        """The largest distance from the centre that is believed."""
        return float(self.table.tops[max(*self.last, 0)])

    @cached_property
    def weights(self) -> tuple[Floats, Floats, Floats]:
        """What each U and each V weigh in the sum of distances, and their cells in the count."""
        _, u, v = self.parts
        n, tops = (u + v) / self.table.scale, self.table.tops
        octave = np.arange(len(tops))
        of_u, of_v, counted = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
        for side, (last, sign) in enumerate(zip(self.last, (1, -1), strict=True)):
            if last < 0:
                continue
            small = octave < max(self.last) - SMALL
            kept = (octave <= last) & ~(small & (n[side] < SEEN))
            of_u[side, kept], counted[side, kept] = sign * tops[kept], 1.0
            if last + 1 < len(tops) and n[side, last + 1] > NEXT:
                of_u[side, last + 1] = of_v[side, last + 1] = sign * tops[last]
                counted[side, last + 1] = 1.0
        return of_u, of_v, counted

    @cached_property
    def count(self) -> float:
        """About how many records there are in the cells that count."""
        at, u, v = self.parts
        return max(float((self.weights[2] * (u + v)).sum()) + max(at, 0.0), self.table.scale, 1.0)

    @cached_property
    def distance(self) -> float:
        """The mean of the signed distances from the centre."""
        _, u, v = self.parts
        of_u, of_v, _ = self.weights
        mean = float((of_u * u + of_v * v).sum()) / self.count
        return min(max(mean, -self.reach), self.reach)

    @property
    def value(self) -> float:
        return self.table.centre + self.distance

    def noise(self, beta: float) -> float:
        r"""Return what the noise moves the mean by, with probability ``beta`` at most.

        Where no octave is believed the records are taken to be at the centre, below the first.
        At the true distance d the line :math:`\sum \pm CU - dN` is noise with weights a; by
        Chernoff it passes t with probability :math:`2 e^{-\lambda t} / \prod(1 - \lambda^2 a^2)`.
        """
        of_u, of_v, counted = self.weights
        d = self.distance
        a = np.concatenate([(of_u - d * counted).ravel(), (of_v - d * counted).ravel(), [d]])
        a = np.abs(a[a != 0])
        if not len(a):
            return float(self.table.tops[0]) / 2
        return _passed(a, beta) * self.table.scale / self.count

    @cached_property
    def variance(self) -> float:
        r"""An estimate of the variance, from above: :math:`u^2 \le u - \frac12(1-u)`.

        On :math:`[\frac12, 1]` the chord is above the square by a ninth of it at most.
        """
        _, u, v = self.parts
        squares = self.table.tops**2 * (u - v / 2) * self.weights[2]
        return max(float(squares.sum()) / self.count - self.distance**2, 0.0)

    def chance(self, beta: float, *, normal: bool) -> float:
        """Return what chance moves the mean by: by Bernstein, or as if sums were normal."""
        if normal:
            return float(gaussian_quantile(beta)) * sqrt(self.variance / self.count)
        far = log(2 / beta) / self.count
        return sqrt(2 * self.variance * far) + 2 * self.reach * far / 3


def _passed(a: Floats, beta: float) -> float:
    """Return what noise of scale 1 with these weights passes, by Chernoff."""
    rates = np.linspace(0.02, 0.98, 49)[:, None] / a.max()
    ends = (log(2 / beta) - np.log1p(-((rates * a) ** 2)).sum(1)) / rates[:, 0]
    return float(ends.min())


# ---- The mean ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OctaveMean:
    """A mean without bounds: a count and a centre as for found bounds, then the table.

    *Claim*: the whole costs what the question says. *Checked by*
    ``test_the_whole_call_holds_on_neighbours``.

    Examples
    --------
    >>> from sourdine.central import Mean
    >>> release = Mean(bounds="find", method="octaves", epsilon=1).release([20, 30, 40] * 1000)
    >>> abs(release.value - 30) < 1
    True
    """

    question: Mean

    @cached_property
    def first(self) -> BoundsFirst:
        return BoundsFirst(question=self.question)

    def table(self, centre: float, epsilon: Fraction) -> OctaveTable:
        asked = self.question
        return OctaveTable(centre=centre, epsilon=epsilon, relation=asked.relation, rows=asked.rows)

    def draw(self, data: Frame) -> dict[str, Any]:
        drawn: dict[str, Any] = {"spent": {}}
        column = data.resolve(self.question.column)
        ordered = Ordered.of_array(data.array(column), self.first.lattice)
        records = self.first.records(data, column, ordered, drawn)
        number = self.first.centre(data, column, ordered, records, drawn)
        centre = self.first.lattice.point(number)
        drawn["centre"] = centre
        table = self.table(centre, self._left(drawn))
        drawn["spent"]["table"] = plain_parameter(table.epsilon)
        exact = table.read(data, column, ordered)
        released = table.mechanism.release(exact, source=self.question.source)
        drawn["table"] = released.value.tolist()
        return drawn

    def _left(self, drawn: Mapping[str, Any]) -> Fraction:
        parts = spent(drawn).items()
        return self.question.epsilon - sum(x for name, x in parts if name != "table")

    def believed(self, drawn: Mapping[str, Any]) -> Believed:
        table = self.table(float(drawn["centre"]), self._left(drawn))
        return Believed(table, tuple(drawn["table"]))

    def limits(self, drawn: Mapping[str, Any], beta: float, of: str) -> tuple[float, float]:
        """Return the ends of the mean of the records, or of the law that they were drawn from."""
        seen = self.believed(drawn)
        half = seen.noise(beta if of == "sample" else beta / 5)
        if of != "sample":
            half += seen.chance(4 * beta / 5, normal=of == "normal")
        return seen.value - half, seen.value + half

    def error(self, beta: float, n: int) -> float:
        """Return the error to expect, in the distance of the last octave believed on both sides."""
        left = 1 - COUNTING - Fraction(self.first.centring(n)) / self.question.epsilon
        table = self.table(0.0, self.question.epsilon * left)
        a = np.repeat(np.ldexp(1.0, -np.arange(SMALL + 1)), 2)
        return _passed(a, beta) * table.scale / n

    def found(self, drawn: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return what was believed and what each part cost, as lines of a table."""
        seen = self.believed(drawn)
        tops = seen.table.tops
        down, up = (float(tops[i]) if i >= 0 else 0.0 for i in seen.last[::-1])
        least = floor(BELIEVED * seen.table.scale)
        reach = (
            f"values from {drawn['centre'] - down:g} to {drawn['centre'] + up:g} count; "
            f"about {least} records in an octave further out may have been left out"
        )
        return [("octaves", reach), ("spent", f"epsilon: {told(spent(drawn))}")]


CAVEAT = (
    "Bounds are not needed: sums of all octaves around a private centre were released. Intervals "
    "do not cover records further out than the last octave that holds enough of them."
)


TABLE = Specimen(
    name="mean.octaves.table", make=lambda epsilon: Laplace(epsilon=epsilon, sensitivity=2),
    inputs=([0, 2, 0], [2, 1, 3]), tight=True, draws=20_000, also=("mean.octaves",),
)  # fmt: skip
register(TABLE)
