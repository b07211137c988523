"""The search for bounds: a rough centre, then outwards until few records are beyond."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.independent import Runs
from sourdine.central.quantiles.points import Points, Window
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind
from sourdine.frames.cells import Octaves
from sourdine.laws import Law, Product
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import (
    Mechanism,
    Specimen,
    add,
    read_beta,
    read_scale,
    read_vector,
    register,
)
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints
    from sourdine.results.release import Release


# ---- All records of a column in memory, in order -------------------------------------------------


EXACT = 1 << 53
"""Whole numbers up to this one are the same as floats."""


class Ordered(Points):  # noqa: PLW1641 - as `Points`
    """The order statistics of sorted floats: single ticks are computed where they are needed."""

    __slots__ = ("grid", "values")

    def __init__(self, values: Floats, grid: Octaves) -> None:
        super().__init__(len(values), grid.size, [], reload=self._snap)
        self.values, self.grid = values, grid

    @classmethod
    def of_array(cls, values: NDArray[Any] | None, grid: Octaves) -> Ordered | None:
        """Sort an array, NaN being missing; None if floats cannot hold its numbers."""
        if values is None:
            return None
        with np.errstate(invalid="ignore"):  # a NaN may be signalling
            ordered = np.sort(values)
        whole = ordered.dtype.kind != "f" and len(ordered)
        if whole and max(-int(ordered[0]), int(ordered[-1])) > EXACT:
            return None
        floats = ordered.astype(np.float64, copy=False)
        return cls(floats[: floats.searchsorted(np.nan)], grid)

    def _snap(self) -> Points:
        ticks, counts = np.unique(self.grid.ticks(self.values), return_counts=True)
        return Points(self.n, self.cells, [Window(ticks, counts.astype(np.int64), 0)])

    def __iter__(self) -> Iterator[int]:
        return iter(self.complete())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Points) and self.complete() == other.complete()

    def between(self, edges: Iterable[float]) -> Ints:
        """Return how many values lie below the first edge, from each to the next, and above."""
        below = self.values.searchsorted(np.asarray(edges, np.float64))
        return np.diff(below, prepend=0, append=self.n)

    def at(self, ranks: Ints) -> Ints:
        return self.grid.ticks(self.values[ranks])

    def below(self, ticks: ArrayLike) -> Ints:
        # Snapping is towards 0: the values below the tick of a point above 0 are those below the
        # point; of any other, those up to the point before.
        ticks = np.asarray(ticks, np.int64)
        number = ticks + self.grid.first
        above = self.values.searchsorted(self.grid.points_of(number), side="left")
        others = self.values.searchsorted(self.grid.points_of(number - 1), side="right")
        below = np.where(number > 0, above, others)
        return np.where(ticks <= 0, 0, np.where(ticks > self.grid.last, self.n, below))


# ---- Where the data lie: a rough median on the lattice of octaves, round numbers first -----------


HALF = Fraction(1, 2)
BLOCK, REACH = Fraction(1, 4), 45
"""Records of a block differ in their logarithmic weight by so much at most; all beyond the blocks
weigh at most so much less than the median, in logarithms."""


def _grid(x: Octaves) -> Octaves:
    if not isinstance(x, Octaves):
        raise ParameterTypeError("grid", "be a lattice of octaves", kind(x), "Use Octaves().")
    return x


@frozen(kw_only=True)
class Centre(QuantileMechanism):
    r"""Draw a point near the median, by inverse sensitivity with a public prior.

    With :math:`L` of n records below a point and :math:`f` on it, its weight is

    .. math:: \pi(v)\, e^{-c\,\mathrm{len}(v)}, \qquad
        \mathrm{len}(v) = \max(0,\; L - \tfrac n2,\; \tfrac n2 - L - f),

    with :math:`c = \varepsilon` if records are added or removed, and :math:`\varepsilon/2` under
    substitution; a k-th of it for a person of k records. The prior :math:`\pi` puts one half on
    the point nearest to 0 and shares the other half among the nested lattices of 0, 1, 2, ... bits
    of the mantissa, evenly within each: few bits are cheap, so few records still find a rough
    centre. In whole numbers, a point whose mantissa needs k of b bits weighs
    :math:`2^{b-k} + \ldots + 2 + 1`, and the point nearest to 0 as much as all octaves together.

    Parameters
    ----------
    grid
        The lattice.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. The prior is public, and a record added or
    removed moves :math:`L - n/2` and :math:`n/2 - L - f` by one half each, up or down; a record
    replaced, or gone missing, by 1 at most. So weights and their sum move by a factor
    :math:`e^{\pm\varepsilon/2}` at most. *Checked by*
    ``test_exact_worst_case[choice.centre.add_remove]``.

    *Claim*: the draw has this law, though it weighs few points. The points are divided into blocks
    b, and :math:`m_b \le \mathrm{len}(v)` for all v in b. A trial draws a block with probability
    proportional to :math:`\pi(b) e^{-c m_b}` (a whole number times :math:`e^{-cd/2}` with whole d,
    which `sourdine.noise.choose_run` draws exactly), a point v of it with probability
    :math:`\pi(v)/\pi(b)`, and keeps it with probability :math:`e^{-c(\mathrm{len}(v) - m_b)}`, else
    starts again: v is kept with probability proportional to the product,
    :math:`\pi(v) e^{-c\,\mathrm{len}(v)}`, for any division into blocks. The blocks end every
    :math:`1/(4c)` ranks, so most trials are kept. *Checked by*
    ``test_draws_from_blocks_follow_the_law``.

    *Claim*: the rank is wrong by more than `error` with probability :math:`\beta` at most: some
    point of weight 1 or more has len 0, and all points with len above e weigh
    :math:`W e^{-ce}` at most, W the sum of the prior. *Checked by* the same audit.

    References
    ----------
    .. [1] H. Asi, J. Duchi, "Near instance-optimality in differential privacy", 2020.

    Examples
    --------
    >>> centre = Centre(epsilon=1, grid=Octaves())
    >>> ticks = centre.grid.ticks([1e6] * 200)
    >>> centre.grid.values(centre.release(ticks).value).tolist()
    [1000000.0]
    """

    grid: Octaves = field(converter=_grid)
    q: tuple[Fraction, ...] = field(init=False, default=(HALF,))
    cells: int = field(init=False)

    @cells.default
    def _size(self) -> int:
        return self.grid.size

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of one range. *Checked by* ``test_whole_curve[choice.centre.add_remove]``."""
        return (Part.range(self.epsilon),)

    @property
    def decay(self) -> Fraction:
        """Return c over 2: distances are counted in halves of a rank."""
        return self.epsilon / (4 if self.substitutes else 2) / self.rows

    @cached_property
    def home(self) -> int:
        return min(max(-self.grid.first, 0), self.grid.last)

    @cached_property
    def octaves(self) -> int:
        """What all points of all octaves weigh together, and what `home` does."""
        ends = self._up_to(np.array([self.grid.first - 1, self.grid.first + self.grid.last]))
        return max(int(ends[1] - ends[0]), 1)

    def _up_to(self, number: Ints) -> Ints:
        """Return what the points from 0 to a signed number weigh, less than 0 below it; 0 weighs 0.

        Of the points above 0 with numbers up to i, every s-th weighs s, for every power s of two up
        to :math:`2^b`.
        """
        above = np.where(number < 0, -number - 1, number)
        before = np.maximum(above - 1, 0)
        total = np.full(number.shape, (2 << self.grid.bits) - 1, np.int64)
        for k in range(self.grid.bits + 1):
            total += before >> k << k
        total[above == 0] = 0
        return np.where(number < 0, -total, total)

    def prior(self, start: Ints) -> Ints:
        """Return what the points of runs of ticks weigh, each from one start to the next."""
        ends = np.append(start, self.cells)
        weights = np.diff(self._up_to(ends + (self.grid.first - 1)))
        weights[np.searchsorted(ends, self.home, side="right") - 1] += self.octaves
        return weights

    def blocks(self, x: Points) -> tuple[Ints, Ints]:
        """Return where blocks of ticks start, and a lower bound of the distances in each.

        At regular ranks the tick of a record is a block of its own, what lies between two such
        ticks another.
        """
        step = min(max(int(BLOCK / (2 * self.decay)), 1), max(x.n, 1))
        far = int((REACH + ceil(log(2 * self.octaves))) / (2 * self.decay))
        middle = x.n // 2
        ticks = x.at(np.arange(max(middle - far, 0), min(middle + far + 1, x.n), step))
        start = np.unique(np.concatenate(([0], ticks, np.minimum(ticks + 1, self.cells - 1))))
        ends = np.append(x.below(start), x.n)
        return start, self._distance(x, ends[:-1], ends[1:])

    def _distance(self, x: Points, below: Ints, up_to: Ints) -> Ints:
        """Return len, in halves of a rank, by the records below and up to a point or a block."""
        return np.maximum(np.maximum(2 * below - x.n, x.n - 2 * up_to), 0)

    def one(self, x: Points, source: Source) -> Drawn:
        return self.many(x, 1, source)[0]

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        start, least = self.blocks(x)
        weights = self.prior(start)
        return [[self._tick(x, start, least, weights, source)] for _ in range(size)]

    def _tick(self, x: Points, start: Ints, least: Ints, weights: Ints, source: Source) -> int:
        while True:
            i = noise.choose_run(weights, least, self.decay, source=source)
            stop = int(start[i + 1]) if i + 1 < len(start) else self.cells
            tick = self._point(int(start[i]), stop - 1, source)
            more = self._distance(x, *x.below(np.array([tick, tick + 1]))) - least[i]
            if not more or noise.bernoulli_exp(more, self.decay, source=source):
                return tick

    def _point(self, start: int, stop: int, source: Source) -> int:
        """Draw a point between two ticks by the prior."""
        if start == stop:
            return start
        low, high = start + self.grid.first, stop + self.grid.first
        spaced = [1 << k for k in range(self.grid.bits, -1, -1)]
        levels = [s * (_multiples(low, high, s) + _multiples(-high, -low, s)) for s in spaced]
        levels.append(self.octaves if start <= self.home <= stop else 0)
        ends = list(accumulate(levels))
        drawn = noise.uniform_below(ends[-1], source=source)
        level = next(k for k, end in enumerate(ends) if drawn < end)
        if level == len(spaced):
            return self.home
        nth = (drawn - (ends[level] - levels[level])) // spaced[level]
        return _nth(low, high, spaced[level], nth) - self.grid.first

    def law(self, x: Points) -> Law:
        runs = Runs.of(x.complete(), HALF, whole=False)
        ticks = np.arange(self.cells)
        at = np.searchsorted(runs.start, ticks, side="right") - 1
        logs = np.log(self.prior(ticks)) - float(self.decay) * runs.distance[at]
        return Law.finite(logs)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return :math:`\ln(W/\beta)/c`, in ranks."""
        return (log(2 * self.octaves) - log(read_beta(beta))) / float(2 * self.decay)


def _multiples(low: int, high: int, s: int) -> int:
    """Return how many of the points above 0 numbered from low to high have a mantissa s divides."""
    low = max(low, 1)
    return (high - 1) // s - (low - 2) // s if high >= low else 0


def _nth(low: int, high: int, s: int, nth: int) -> int:
    """Return the n-th of all such points, above 0 first and then below."""
    above = _multiples(low, high, s)
    if nth < above:
        return (-(-(max(low, 1) - 1) // s) + nth) * s + 1
    return -((-(-(max(-high, 1) - 1) // s) + nth - above) * s + 1)


def _centre(relation: str, spent: Any) -> Centre:
    return Centre(epsilon=spent, relation=relation, grid=Octaves(-8, 2000, step=1, bits=2))


FOUND = ("mean.find", "sum.find", "variance.find", "histogram.find")
for neighbours, own in (
    ("add_remove", ([1], [2, 5, 17, 30], [20] * 8)),
    ("substitute", ([1, 3], [2, 5, 17, 30], [20] * 16)),
):
    also = tuple(f"{name}.centre" for name in FOUND if name != "sum.find")
    make = partial(_centre, neighbours)
    name = f"choice.centre.{neighbours}"
    register(Specimen(name=name, make=make, inputs=own, tight=False, draws=4_000, also=also))


# ---- How far out the data reach: the first candidate that few records pass, on one side or on two


LEFT_OUTSIDE = 6
"""The number of records that the search leaves beyond a bound, in units of 1/epsilon."""
THRESHOLD = Fraction(2, 3)
"""The part of the rate that disturbs the threshold; the rest disturbs each count."""
CROSSING = Fraction(3, 4)
"""Under substitution a record may leave one side and enter the other, which costs 4/3."""
FAR = 80
"""The law sums the threshold's noise this many scales beyond the counts."""


def _sides(x: Iterable[int]) -> tuple[int, ...]:
    if isinstance(x, str) or not isinstance(x, Iterable):
        raise ParameterTypeError(
            "sides", "list the number of candidates on each side", given(x), "Use {sides}.",
            sides=[9],
        )  # fmt: skip
    try:
        return tuple(integer(k, "sides", least=1) for k in x)
    except (ParameterError, ParameterTypeError) as error:
        raise type(error)(
            "sides", "be whole numbers, at least 1", error.got, "Use {sides}.", sides=[9]
        ) from None


@frozen(kw_only=True)
class OutwardSearch(Mechanism["Ints"]):
    r"""On each side, name the first candidate that about :math:`6/\varepsilon` records pass.

    Candidates :math:`r_0 < r_1 < \ldots` lie outward from a public centre. With :math:`N_i` records
    beyond :math:`r_i`, a side's output is the first :math:`i` with

    .. math:: N_i \le T + \nu_i - \rho, \qquad \rho \sim \mathrm{Geo}(\varepsilon_1),\quad
        \nu_i \sim \mathrm{Geo}(\varepsilon_2), \qquad P(k) \propto e^{-\varepsilon k},\ k \ge 0,

    or the number of candidates if there is none: :math:`\varepsilon_1 = \frac23\varepsilon'`,
    :math:`\varepsilon_2 = \frac13\varepsilon'`, :math:`T = \lceil 6/\varepsilon' \rceil`. Here
    :math:`\varepsilon'` is :math:`\varepsilon`, but :math:`\frac34\varepsilon` for two sides under
    substitution. For a person of k records the rates are a k-th and T is k times as large.

    Parameters
    ----------
    epsilon
        The privacy loss of both sides together.
    sides
        How many candidates each side has: one number, or two.
    relation
        Which data sets are neighbours.
    rows
        How many records one person may own.

    Notes
    -----
    The input is how many records lie between neighbouring candidates, side after side; those at
    the centre or missing are in no cell.

    *Claim*: :math:`\varepsilon`-differential privacy. Let a neighbour have :math:`N'_i` with
    :math:`-a \le N'_i - N_i \le b` on a side. Fix :math:`\nu_j` for :math:`j < i` and send
    :math:`\rho` to :math:`\rho + a` and :math:`\nu_i` to :math:`\nu_i + a + N'_i - N_i`. Both
    stay whole and at least 0, the map is one to one, and whatever led to :math:`i` before leads to
    :math:`i` now: :math:`\nu_j < N_j - T + \rho \le N'_j - T + \rho + a` for :math:`j < i`, and
    :math:`\nu_i \ge N_i - T + \rho` becomes the same of :math:`N'_i`. So
    :math:`P(i) \le e^{a\varepsilon_1 + (a + b)\varepsilon_2} P'(i)`, and no candidate at all costs
    :math:`a\varepsilon_1`. One-sided noise suffices as every shift is upward. A record removed has
    a = 1, b = 0 on its side and changes nothing on the other, one added a = 0, b = 1: at most
    :math:`\varepsilon_1 + \varepsilon_2`, on both sides together. A record that stays on its side
    moves all its counts one way: the same. One that crosses is removed here and added there:
    :math:`\varepsilon_1 + 2\varepsilon_2 = \frac43\varepsilon'`. *Checked by*
    ``test_exact_worst_case[choice.outward.substitute]``: both are reached exactly.

    *Claim*: beyond the last record K candidates in a row are passed over with probability
    :math:`e^{-\varepsilon_1 T} \frac{2}{(K+1)(K+2)}` at most, and about that for small
    :math:`\varepsilon`. *Checked by* ``test_how_far_a_search_overshoots``.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014, section
       3.6 (the sparse vector technique, with two-sided noise).

    Examples
    --------
    >>> search = OutwardSearch(epsilon=1, sides=[4, 4])
    >>> search.target
    6
    >>> search.release([900, 80, 0, 0, 500, 0, 0, 0]).value.tolist()[0] > 0
    True
    """

    epsilon: Fraction = field(converter=read.epsilon)
    sides: tuple[int, ...] = field(converter=_sides)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    rows: int = field(default=1, converter=read.rows)

    def __attrs_post_init__(self) -> None:
        read_scale(1 / self.count_rate)

    @cached_property
    def rate(self) -> Fraction:
        r"""What one record may cost on its side, :math:`\varepsilon'/k`."""
        crosses = self.relation is SUBSTITUTE and len(self.sides) > 1
        return self.epsilon * (CROSSING if crosses else 1) / self.rows

    @property
    def threshold_rate(self) -> Fraction:
        return self.rate * THRESHOLD

    @property
    def count_rate(self) -> Fraction:
        return self.rate * (1 - THRESHOLD)

    @cached_property
    def target(self) -> int:
        """T: about how many records are left outside."""
        return ceil(LEFT_OUTSIDE / self.rate)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    def read(self, x: object) -> Ints:
        return np.maximum(read_vector(x, sum(self.sides), "cells"), 0)

    def beyond(self, x: Ints) -> list[Ints]:
        """Return, for each side, how many records are beyond each candidate."""
        ends = list(accumulate(self.sides))
        return [np.cumsum(part[::-1])[::-1] for part in np.split(x, ends[:-1])]

    def draw(self, x: Ints, size: int | None, source: Source) -> Value:
        runs = 1 if size is None else size
        named = [self._first(counts, runs, source) for counts in self.beyond(x)]
        rows = np.stack(named, axis=-1)
        return rows[0] if size is None else rows

    def _first(self, counts: Ints, runs: int, source: Source) -> Ints:
        rho = noise.geometric(self.threshold_rate, (runs, 1), source=source)
        nu = noise.geometric(self.count_rate, (runs, len(counts)), source=source)
        few = add(np.broadcast_to(counts - self.target, nu.shape), rho) <= nu
        return np.where(few.any(axis=1), few.argmax(axis=1), len(counts))

    def outcome(self, release: Release) -> Any:
        return release.value

    def law(self, x: Ints) -> Product:
        return Product(tuple(self._law(counts) for counts in self.beyond(x)))

    def _law(self, counts: Ints) -> Law:
        r"""Return :math:`P(i) = \sum_\rho P(\rho) \prod_{j<i} P(\nu < m_j)\,P(\nu \ge m_i)`.

        Here :math:`m_j = (N_j - T + \rho)^+`. The sum ends where all factors but
        :math:`P(\rho)` are within :math:`e^{-80}` of their limits.
        """
        e1, e2 = float(self.threshold_rate), float(self.count_rate)
        height = counts - self.target
        rho = np.arange(int(np.abs(height).max()) + ceil(FAR / e2) + 1)
        need = np.maximum(height[:, None] + rho, 0)
        with np.errstate(divide="ignore"):
            below = np.log(-np.expm1(-e2 * need))
        passed = np.vstack((np.zeros(len(rho)), np.cumsum(below, axis=0)))
        named = np.vstack((-e2 * need, np.zeros(len(rho))))
        terms = passed + named - e1 * rho
        peak = terms.max(axis=1)
        total = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
        rest = exp(float((terms[:, -1] - total).max())) * 2 * (1 / e1 + 1)
        rounding = 2.0**-50 * (len(rho) + len(counts) + float(np.abs(total).max()))
        return Law.finite(total, slack=rest + rounding)

    def loss(self, x: Ints, y: Ints) -> Floats:
        """Return how far below T a count passed over lies, or above it that of the one named."""
        worst = np.zeros(len(y))
        for side, counts in enumerate(self.beyond(x)):
            short = np.maximum(self.target - counts, 0)
            passed = np.concatenate(([0], np.maximum.accumulate(short)))
            over = np.append(np.maximum(counts - self.target, 0), 0)
            at = y[:, side]
            worst = np.maximum(worst, np.maximum(passed[at], over[at]))
        return worst

    def error(self, beta: Number = 0.05) -> float:
        r"""Return the least a with :math:`\sum K e^{-\varepsilon_2 a} + e^{-\varepsilon_1 a}
        \le \beta`, summed over the sides: a count passed over needs :math:`\rho > T - N_i`, one
        named too early :math:`\nu_i \ge N_i - T`.
        """  # noqa: D205 - the formula does not fit one line
        half = read_beta(beta) / 2
        early = log(sum(self.sides) / half) / float(self.count_rate)
        late = log(len(self.sides) / half) / float(self.threshold_rate)
        return float(ceil(max(early, late)))

    def neighbours(self, x: Ints) -> Iterator[Ints]:
        """Yield what is left or becomes of the cells if one person's records change."""
        here = tuple(int(k) for k in x)
        fewer, more = _reached(here, self.rows, -1), _reached(here, self.rows, 1)
        found = fewer | more
        if self.relation is SUBSTITUTE:
            found = {z for y in fewer | {here} for z in _reached(y, self.rows, 1)} | found
        for cells in sorted(found - {here}):
            yield np.array(cells, np.int64)

    def adjacent(self, x: Ints, y: Ints) -> bool:
        more, fewer = int(np.maximum(y - x, 0).sum()), int(np.maximum(x - y, 0).sum())
        both = self.relation is SUBSTITUTE or not (more and fewer)
        return both and max(more, fewer) <= self.rows


def _reached(cells: tuple[int, ...], records: int, move: int) -> set[tuple[int, ...]]:
    """Return what cells can become by a limited number of records, all added or all removed."""
    found = {cells}
    for _ in range(records):
        near = [(*y[:i], k + move, *y[i + 1 :]) for y in found for i, k in enumerate(y)]
        found.update(y for y in near if min(y) >= 0)
    return found


def _enter_search(
    name: str, sides: tuple[int, ...], inputs: list[list[int]], *, tight: bool = True, **public: Any
) -> None:
    specimen = Specimen(
        name=f"choice.outward.{name}", inputs=inputs, tight=tight, draws=50_000, also=FOUND,
        make=lambda epsilon: OutwardSearch(epsilon=epsilon, sides=sides, **public),
    )  # fmt: skip
    register(specimen)


_enter_search("add_remove", (3, 2), [[1, 0, 0, 0, 0], [40, 3, 1, 12, 2], [9, 2, 0, 7, 1]])
_enter_search("one_side", (4,), [[1, 0, 0, 0], [9, 2, 0, 1]], relation="substitute")
_enter_search(
    "substitute", (3, 2), [[1, 0, 0, 8, 0], [1, 0, 0, 0, 8], [9, 2, 1, 9, 0]], relation="substitute"
)
_enter_search("rows", (2, 2), [[2, 0, 20, 0], [1, 1, 14, 1]], tight=False, rows=2)
