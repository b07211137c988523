"""JointExp in two or three levels, and anchors with published points between them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import chain, combinations_with_replacement, pairwise, product
from math import inf, sqrt
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from attrs import frozen

from sourdine.central.quantiles.algorithm import (
    Fixed,
    FreeTotal,
    QuantileMechanism,
    many_level_error,
    rounded_goals,
    two_level_error,
    whole,
)
from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.joint import (
    JointFree,
    JointSampler,
    by_ranks,
    first_reach,
    free_law,
    joint_log_weights,
    slice_samplers,
    with_totals,
)
from sourdine.central.quantiles.points import NotReadError, Points
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.exact import Number
    from sourdine.laws import Law
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints

    Key = tuple[tuple[int, int], tuple[int, int], tuple[int, ...]]


# ---- Slices between quantiles that are drawn: what is drawn inside them, and its law -------------
#
# Ticks and the ranks at which they cut the records make slices. What is drawn inside one depends on
# its own records and on public targets alone, so a record more changes one slice.


class Sampler(Protocol):
    """What draws the ticks of a slice, counted from its left end."""

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Return a total's number, the ticks and the ranks at which they cut the records."""


def sliced(goals: Sequence[int], stride: int) -> list[list[int]]:
    """Return the cumulative targets of each slice, less that of its left end.

    ``goals`` are those of all quantiles, every ``stride``-th ending a slice, and the total.

    Examples
    --------
    >>> sliced([10, 20, 30, 40, 50], 2)
    [[10, 20], [10, 20], [10]]
    """
    m, base = len(goals) - 1, [0, *goals]
    ends = [-1, *range(stride - 1, m, stride), m]
    return [[base[j + 1] - base[a + 1] for j in range(a + 1, b + 1)] for a, b in pairwise(ends)]


class Slices:
    """Draws inside slices; a slice that comes again is weighed once.

    ``make`` returns what draws inside slices, from their records and their cumulative targets.
    """

    __slots__ = ("_made", "_make", "_points")

    def __init__(
        self,
        points: Points,
        make: Callable[[list[Points], list[tuple[int, ...]]], Sequence[Sampler]],
    ) -> None:
        self._points, self._make = points, make
        self._made: dict[Key, Sampler] = {}

    def draw(
        self, ticks: list[int], ranks: list[int], goals: list[list[int]], source: Source
    ) -> list[int]:
        """Return the ticks inside all slices, one slice after the other."""
        x = self._points
        cuts, places = pairwise((0, *ranks, x.n)), pairwise((0, *ticks, x.cells - 1))
        every = zip(cuts, places, map(tuple, goals), strict=True)
        keys: list[Key] = [key for key in every if len(key[2]) > 1]
        new = [key for key in dict.fromkeys(keys) if key not in self._made]
        if new:
            inner = [own for *_, own in new]
            try:
                made = self._make([x.cut(*key[:2]) for key in new], inner)
            except NotReadError:
                x = x.complete()
                made = self._make([x.cut(*key[:2]) for key in new], inner)
            self._made |= zip(new, made, strict=True)
        return [key[1][0] + tick for key in keys for tick in self._made[key].draw(source)[1]]


def cut_logs(logs: Floats, inside: Callable[[int, int], Floats]) -> Floats:
    """Return log weights of a level's ticks together with what is drawn inside their slices.

    ``logs`` are the level's, by rows of targets, ticks and ranks; ``inside`` gives the log
    probabilities of all that the slices of these ticks and ranks can give.
    """
    parts = []
    for i in range(logs.shape[1]):
        cuts = np.flatnonzero(logs[0, i] > -np.inf).tolist()
        every = np.array([inside(i, r) + logs[:, i, r, None] for r in cuts])
        parts.append(np.logaddexp.reduce(every, axis=0))
    return np.concatenate(parts, axis=1)


def slices_logs(
    x: Points,
    cut: tuple[Sequence[int], Sequence[int]],
    goals: list[list[list[int]]],
    logs_inside: Callable[[Points, Targets], Floats],
) -> Floats:
    """Return the log probabilities of the slices' ticks for a cut; a row for each row of goals.

    ``cut`` holds the ticks and the ranks at which they cut; each row of ``goals`` the cumulative
    targets of each slice.
    """
    logs, (o, r) = np.zeros((len(goals), 1)), cut
    parts = zip(pairwise((0, *r, x.n)), pairwise((0, *o, x.cells - 1)), strict=True)
    for i, (ranks, ticks) in enumerate(parts):
        if len(goals[0][i]) == 1:
            continue
        part = x.cut(ranks, ticks)
        inner = logs_inside(part, Targets(part.n, np.array([row[i] for row in goals], np.int64)))
        logs = (logs[:, :, None] + inner[:, None, :]).reshape(len(goals), -1)
    return logs


# ---- Two levels of JointExp, for many quantiles --------------------------------------------------
#
# One draw of :math:`m` quantiles errs like a bridge of :math:`m + 1` Laplace steps, so by
# :math:`\sqrt m`; two levels of about :math:`\sqrt m` each err by :math:`\sqrt[4]{m}` at half the
# budget.


@frozen(kw_only=True)
class Hybrid(QuantileMechanism):
    r"""Draw every :math:`s`-th quantile jointly with a free total, then the rest slice by slice.

    Level one is `JointFree` at :math:`\varepsilon/2` for :math:`q_s, q_{2s}, \ldots`; it gives
    ticks, a total :math:`N`, and the ranks at which the ticks cut the records. Level two is
    JointExp at :math:`\varepsilon/2` in each slice, on the cells from its left to its right tick,
    with the targets :math:`\lfloor q_jN + \tfrac12\rfloor` less that of the slice's left end. The
    ranks are used, not published.

    Parameters
    ----------
    stride
        :math:`s`, about :math:`\sqrt{m+1}` if left out: then both levels have as many quantiles.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, ties or not. *Proof*. Let :math:`z` be
    independent uniform positions of all records inside their cells, and :math:`p` of the level-one
    quantiles inside theirs; given the ticks :math:`o`, they decide which tied records lie in
    which slice. The pair :math:`(z, p)` and :math:`(k, o)` are drawn together with weight
    :math:`e^{-c\sum_j|n_j - t_j|}`; only the cut matters. So, with
    :math:`M_2(o' \mid z, p, k, o)` the law of level two for that cut and total,

    .. math::

        P_D(k, o, o') = \frac{1}{Z_D}\,
        E_{z,p}\left[e^{-c\sum|n_j - t_j|} M_2(o' \mid z, p, k, o)\right].

    Let :math:`D'` have one more record, with its own position, the common records keeping theirs.
    For all positions the first factor moves by at most :math:`e^{\pm c}`; the slices of :math:`D'`
    are those of :math:`D` with one record added to one of them, so the second moves by at most
    :math:`e^{\pm 2c}` (`JointExp` with given targets); :math:`Z_D` moves by at most
    :math:`e^{\pm c}`. In all :math:`2c + 2c = \varepsilon`. Under substitution everything happens
    twice, at half the decay. *Checked by* ``test_hybrid_law_keeps_the_claim``.
    """

    levels: ClassVar[int] = 2
    """How many levels share epsilon."""

    stride: int = whole("stride", 2, default=None)

    def check(self) -> None:
        """Choose the stride, or refuse one that leaves nothing to draw first."""
        m = len(self.orders)
        stride = self.stride or max(2, round(sqrt(m + 1)))
        if not 2 <= stride <= m:
            raise ParameterError(
                "stride", "be from 2 to the number of quantiles", f"{stride} for {m}",
                "Omit {stride}, or use JointFree for few quantiles.", stride=LEFT_OUT,
            )  # fmt: skip
        settle(self, stride=stride)
        _ = self.first

    @cached_property
    def first(self) -> JointFree:
        orders = self.orders[self.stride - 1 :: self.stride]
        return self.part(JointFree, self.epsilon / self.levels, orders)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon/l` for each of :math:`l` levels.

        All positions in cells may be told too: then each level is a draw of its own, with weights
        on a space that is the same for both data sets. *Checked by*
        ``test_whole_curve[quantiles.hybrid.add_remove]`` and ``[quantiles.levels.add_remove]``.
        """
        return (Part.range(self.epsilon / self.levels, self.levels),)

    def windows(self, n: int) -> list[tuple[int, int]]:
        half = int(first_reach(self.stride) / (2 * self.first.c) + 25 / self.first.c) + 8
        inner = [(middle - half, middle + half) for middle in rounded_goals(self.orders, n)]
        return self.first.windows(n) + inner

    def one(self, x: Points, source: Source) -> Drawn:
        return self.many(x, 1, source)[0]

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        """Draw the total's number, the first level's ticks, then those of each slice."""
        first, slices = self.first.sampler(x), Slices(x, self.inside)
        drawn: list[Drawn] = []
        for _ in range(size):
            k, ticks, ranks = first.draw(source)
            drawn.append([k, *ticks, *slices.draw(ticks, ranks, self.goals(k), source)])
        return drawn

    def goals(self, k: int) -> list[list[int]]:
        """Return the cumulative targets inside each slice for the total's number k."""
        total = self.first.lattice.h * k
        return sliced([*rounded_goals(self.orders, total), total], self.stride)

    def inside(self, parts: list[Points], goals: list[tuple[int, ...]]) -> Sequence[Sampler]:
        return slice_samplers(parts, goals, self.first.c)

    def published(self, drawn: Drawn) -> Ints:
        return np.sort(np.asarray(drawn[1:], np.int64))

    def law(self, x: Points) -> Law:
        """Return the law of all levels, as rows of `support`."""
        ks = range(self.totals)
        ranks, logs = by_ranks(x, self.first.lattice.targets(x.n, ks), self.first.c)
        goals, outer = [self.goals(k) for k in ks], self._first_level()

        def inside(i: int, r: int) -> Floats:
            return slices_logs(x, (outer[i], ranks[r]), goals, self.slice_logs)

        every = FreeTotal(self.orders, self.first.lattice.h)
        return free_law(cut_logs(logs, inside), x.n, every, self.first.c, self.first.log_volume)

    def support(self) -> Ints:
        """Return every total's number, first level's ticks, and ticks of the slices."""
        found, sizes = [], [len(goals) - 1 for goals in self.goals(0)]
        for o in self._first_level():
            slices = zip(pairwise((0, *o, self.cells - 1)), sizes, strict=True)
            inner = [list(self.ticks_inside(a, b, m)) for (a, b), m in slices]
            found += [(*o, *chain.from_iterable(ticks)) for ticks in product(*inner)]
        return with_totals(self._all(iter(found)), self.totals)

    @property
    def totals(self) -> int:
        return self.first.totals

    def _first_level(self) -> list[tuple[int, ...]]:
        return list(combinations_with_replacement(range(self.cells), len(self.first.orders)))

    def slice_logs(self, points: Points, targets: Targets) -> Floats:
        """Return what `logs_inside` does: neighbours differ in one slice and share the others."""
        rows = tuple(map(tuple, targets.T.tolist()))
        return _slice_logs(self, tuple(points), points.cells, rows)

    def ticks_inside(self, low: int, high: int, m: int) -> Iterator[tuple[int, ...]]:
        """Yield all that m quantiles of a slice between two ticks can be."""
        return combinations_with_replacement(range(low, high + 1), m)

    def logs_inside(self, points: Points, targets: Targets) -> Floats:
        """Return the log probabilities of a slice's ticks; a row for each row of targets."""
        logs = joint_log_weights(points, targets, self.first.c)
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))

    def total(self, drawn: Drawn) -> int:
        return self.first.total(drawn)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return a bound that all rank errors keep: both levels' together."""
        half = read_beta(beta) / 2
        slices = len(self.first.orders) + 1
        return self.first.error(half, n) + self.first.error(half / slices, n)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        return two_level_error(self.orders, self.stride, read_beta(beta)) / self.first.c


# ---- Three levels of JointExp, for thousands of quantiles on a grid too wide for a tree of its
# ticks
#
# Two levels of about :math:`\sqrt m` quantiles err like a bridge of so many steps; three levels of
# about :math:`\sqrt[3]m` have bridges of fewer steps at a third of the budget.


@frozen(kw_only=True)
class ThreeLevels(Hybrid):
    r"""`Hybrid` with slices that are drawn in two levels themselves.

    Level one is `JointFree` at :math:`\varepsilon/3` for every :math:`s`-th quantile. In each of
    its slices level two draws every :math:`t`-th of those inside, and level three, in each slice of
    level two, the rest; both are JointExp at :math:`\varepsilon/3` with targets that follow from
    the total of level one. Ranks are used, not published.

    Parameters
    ----------
    stride
        :math:`s`, about :math:`(m+1)^{2/3}` if left out.
    inner
        :math:`t`, about :math:`(m+1)^{1/3}` if left out.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, ties or not, with
    :math:`c = \varepsilon/6`, or :math:`\varepsilon/12` under substitution. *Proof*. As for
    `Hybrid`, with :math:`M_2` itself a two-level draw. Let :math:`z, p` be the positions of the
    records and of level one's quantiles inside their cells, and for each slice :math:`i` let
    :math:`z_i, p_i` be fresh positions of its records and of its level-two quantiles:

    .. math::

        P_D(k, o, o', o'') = \frac{1}{Z_D}\, E_{z,p}\Bigl[e^{-c\sum|n_j - t_j|} \prod_i
        \frac{1}{Z_i} E_{z_i, p_i}\bigl[e^{-c\sum|n'_j - t'_j|} M_3(o''_i \mid z_i, p_i, o'_i)
        \bigr]\Bigr].

    Let :math:`D'` have one record more, the common records keeping all their positions. Whatever
    :math:`z` and :math:`p`, the record lies in one slice of level one, and the records of the other
    slices are the same; whatever :math:`z_i` and :math:`p_i`, it lies in one slice of level two.
    So the first factor moves by at most :math:`e^{\pm c}` and :math:`Z_D` by :math:`e^{\pm c}`; in
    one slice the second factor and :math:`Z_i` move by :math:`e^{\pm c}` each, and in one slice of
    that :math:`M_3` moves by :math:`e^{\pm 2c}` (`JointExp` with given targets). In all
    :math:`6c = \varepsilon`. Under substitution everything happens twice, at half the decay.
    *Checked by* ``test_three_levels_law_keeps_the_claim`` and
    ``test_exact_worst_case[quantiles.levels.add_remove]``.

    Examples
    --------
    >>> many = ThreeLevels(epsilon=1, q=[j / 1000 for j in range(1, 1000)], cells=1 << 40)
    >>> many.stride, many.inner, len(many.first.orders)
    (100, 10, 9)
    """

    levels: ClassVar[int] = 3

    inner: int = whole("inner", 2, default=None)

    def check(self) -> None:
        """Choose both strides, or refuse some that leave a level with nothing to draw."""
        m = len(self.orders)
        root = (m + 1) ** (1 / 3)
        inner = self.inner or max(2, round(root))
        stride = self.stride or max(inner + 1, round(root * root))
        if not 2 <= inner < stride <= m:
            raise ParameterError(
                "stride",
                "be above inner and at most the number of quantiles",
                f"{stride} and {inner} for {m}",
                "Omit {stride} and {inner}, or use Hybrid for few quantiles.",
                stride=LEFT_OUT, inner=LEFT_OUT,
            )  # fmt: skip
        settle(self, stride=stride, inner=inner)
        _ = self.first

    def inside(self, parts: list[Points], goals: list[tuple[int, ...]]) -> Sequence[Sampler]:
        """Return what draws the quantiles of slices, in two levels if there are many."""
        pairs = zip(parts, goals, strict=True)
        return [
            _Nested(part, own, self.inner, self.first.c)
            if len(own) > self.inner
            else JointSampler(part, Fixed.of(own), self.first.c)
            for part, own in pairs
        ]

    def ticks_inside(self, low: int, high: int, m: int) -> Iterator[tuple[int, ...]]:
        if m < self.inner:
            yield from super().ticks_inside(low, high, m)
            return
        sizes = [len(part) - 1 for part in sliced([0] * (m + 1), self.inner)]
        for o in super().ticks_inside(low, high, m // self.inner):
            ends = zip(pairwise((low, *o, high)), sizes, strict=True)
            slices = [list(super(ThreeLevels, self).ticks_inside(a, b, k)) for (a, b), k in ends]
            for ticks in product(*slices):
                yield (*o, *chain.from_iterable(ticks))

    def logs_inside(self, points: Points, targets: Targets) -> Floats:
        if targets.m < self.inner:
            return super().logs_inside(points, targets)
        m = targets.m // self.inner
        own = [*range(self.inner - 1, targets.m, self.inner), targets.m]
        ranks, logs = by_ranks(points, Targets(points.n, targets.T[:, own]), self.first.c)
        outer = list(combinations_with_replacement(range(points.cells), m))
        goals = [sliced(row, self.inner) for row in targets.T.tolist()]

        def inside(i: int, r: int) -> Floats:
            return slices_logs(points, (outer[i], ranks[r]), goals, self.slice_logs)

        both = cut_logs(logs, inside)
        return np.asarray(both - np.logaddexp.reduce(both, axis=1, keepdims=True))

    @property
    def totals(self) -> int:
        """How many totals the law tells apart: enough for a dozen records, close orders or not."""
        return max(super().totals, FreeTotal(self.orders, self.first.lattice.h).beyond(12, 0) + 1)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return a bound that all rank errors keep: the three levels' together."""
        third, m = read_beta(beta) / 3, len(self.orders)
        largest = max((self.stride - 1) // self.inner, self.inner - 1, 1)
        more = max(1.0, largest / len(self.first.orders))
        slices = m // self.inner + 1
        return self.first.error(third, n) + 2 * more * self.first.error(third / slices, n)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        strides = (self.stride, self.inner)
        return many_level_error(self.orders, strides, read_beta(beta)) / self.first.c


@lru_cache(2048)
def _slice_logs(
    method: Hybrid, ticks: tuple[int, ...], cells: int, rows: tuple[tuple[int, ...], ...]
) -> Floats:
    return method.logs_inside(Points.of(ticks, cells), Targets(len(ticks), np.array(rows)))


class _Nested:
    """A slice drawn in two levels, both with given targets."""

    __slots__ = ("_first", "_goals", "_slices")

    def __init__(self, points: Points, goals: tuple[int, ...], stride: int, c: float) -> None:
        aims = [*goals[stride - 1 : -1 : stride], goals[-1]]
        self._first = JointSampler(points, Fixed.of(aims), c)
        self._goals = sliced(goals, stride)
        self._slices = Slices(points, lambda parts, goals: slice_samplers(parts, goals, c))

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        k, ticks, ranks = self._first.draw(source)
        return k, [*ticks, *self._slices.draw(ticks, ranks, self._goals, source)], ranks


# ---- Few quantiles drawn, many published: for data too small for all of them ---------------------
#
# A joint draw wants some :math:`16/\varepsilon` records and more between neighbouring quantiles.
# Where there are fewer, drawing fewer quantiles (*anchors*) with the whole budget and interpolating
# the others errs less than drawing all. Interpolation is a function of what was drawn and of public
# bounds, so it costs nothing.


KAPPA = 16
LEAST = 3
MOST_JOINT = 40
"""How many quantiles one joint draw takes."""


def anchors_for(m: int, records: float, epsilon: float) -> int:
    r"""Return how many of m quantiles to draw for about ``n`` records.

    .. math:: m_0 = n\varepsilon/2\kappa - 1, \qquad \kappa = 16,

    within 3 and 40: :math:`\kappa` from 12 to 24 err about the same, less fails on wide bounds.
    """
    return max(LEAST, min(m, MOST_JOINT, round(records * epsilon / (2 * KAPPA)) - 1))


@frozen(kw_only=True)
class Anchors(QuantileMechanism):
    r"""`JointFree` on some of the quantiles, linear interpolation for the others.

    Beyond the outermost anchors the milder of two continuations is taken: the straight line to the
    bound, and the exponential tail through the last two anchors.

    Parameters
    ----------
    anchors
        How many quantiles are drawn, at least 2.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, that of the joint draw: all else is a
    function of it. *Checked by* ``test_anchors_law_keeps_the_claim`` and
    ``test_anchors_constant_cannot_be_raised``.

    Examples
    --------
    >>> percentiles = Anchors(epsilon=1, q=[i / 100 for i in range(1, 100)], cells=1000, anchors=3)
    >>> [float(q) for q in percentiles.drawn.orders]
    [0.25, 0.5, 0.75]
    """

    anchors: int = whole("anchors", 1)

    def check(self) -> None:
        m, count = len(self.orders), self.anchors
        if not 2 <= count <= m:
            raise ParameterError(
                "anchors", "be from 2 to the number of quantiles", f"{count} for {m}",
                "Use {anchors}.", anchors=min(max(count, 2), m),
            )  # fmt: skip
        _ = self.drawn

    @cached_property
    def drawn(self) -> JointFree:
        m, count = len(self.orders), self.anchors
        places = np.rint(np.arange(1, count + 1) / (count + 1) * (m + 1) - 1).astype(int)
        chosen = [self.orders[i] for i in np.unique(np.clip(places, 0, m - 1))]
        return self.part(JointFree, self.epsilon, chosen)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those of the joint draw.

        *Checked by* ``test_whole_curve[quantiles.anchors.add_remove]``.
        """
        return self.drawn.parts

    def windows(self, n: int) -> list[tuple[int, int]]:
        return self.drawn.windows(n)

    def one(self, x: Points, source: Source) -> list[int]:
        return self.drawn.one(x, source)

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        return self.drawn.many(x, size, source)

    def published(self, drawn: Drawn) -> Ints:
        q = np.array([float(order) for order in self.orders])
        known = np.array([float(order) for order in self.drawn.orders])
        ticks = np.asarray(drawn[1:], np.float64)
        last = self.cells - 1
        out = np.interp(q, [0.0, *known, 1.0], [0.0, *ticks, float(last)])
        below, above = q < known[0], q > known[-1]
        slope = (ticks[1] - ticks[0]) / np.log(known[1] / known[0])
        out[below] = np.maximum(out[below], ticks[0] - slope * np.log(known[0] / q[below]))
        slope = (ticks[-1] - ticks[-2]) / np.log((1 - known[-2]) / (1 - known[-1]))
        tail = ticks[-1] + slope * np.log((1 - known[-1]) / (1 - q[above]))
        out[above] = np.minimum(out[above], tail)
        return np.asarray(np.clip(np.rint(out), 0, last), np.int64)

    def support(self) -> Ints:
        return self.drawn.support()

    def law(self, x: Points) -> Law:
        return self.drawn.law(x)

    def total(self, drawn: Drawn) -> int:
        return self.drawn.total(drawn)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        return inf

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        return self.drawn.expected(beta, n)
