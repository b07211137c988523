"""The interface of a quantile algorithm: totals, targets and expected rank errors."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import combinations_with_replacement, islice, pairwise
from math import ceil, expm1, floor, log
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.points import NotReadError, Points, Reader
from sourdine.errors import ParameterError
from sourdine.exact import given as got
from sourdine.exact import integer, rational
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import CURRENT, Mechanism
from sourdine.noise import SYSTEM
from sourdine.noise.source import for_one_draw, remembered
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation
from sourdine.results.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints

    Drawn = Sequence[int] | Ints


M = TypeVar("M", bound="QuantileMechanism")


# ---- The totals that quantile targets are set by -------------------------------------------------
#
# Targets :math:`T_j = q_j N` need a total :math:`N`. The number of records is private, so either
# :math:`N` is *free*, a coordinate of the draw with values :math:`0, h, 2h, \ldots`, or it is
# given: the number of records itself, or a total known from elsewhere.


FEW = 3
"""So few quantiles err hardly more where totals lie twice as far apart, and draw faster."""


class Totals:
    """Totals by number: here there is one, and its number is 0."""

    __slots__ = ()

    orders: tuple[Fraction, ...]

    @property
    def m(self) -> int:
        return len(self.orders)

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        """Return the targets of some totals, in order, a row each."""
        raise NotImplementedError

    def inside(self, n: int, distance: float) -> tuple[int, int]:
        """Return the first and the last total within a distance of the number of records."""
        return 0, 0

    def log_rows(self, distance: Floats, c: float) -> Floats:
        r"""Bound :math:`\ln \sum_k e^{-c(|n - N_k| - D)^+}`: how many totals a shell has."""
        return np.zeros_like(distance)

    def away(self, n: int) -> int:
        """Return about how far the nearest total is from the number of records."""
        return 0

    @property
    def stray(self) -> int:
        """How far, rounding apart, a target can be from its part of the total."""
        return 0

    def beyond(self, n: int, last: int) -> int:
        r"""Return the total from which on each weighs :math:`e^{-ch}` times the one before."""
        return last + 1

    def log_tail(self, c: float) -> float:
        r"""Return :math:`\ln \sum_{i \ge 0} e^{-chi}`, for the totals from `beyond` on."""
        return -np.inf

    def further(self, c: float, source: Source) -> int:
        r"""Draw :math:`i \ge 0` with a probability proportional to :math:`e^{-chi}`."""
        return 0


def rounded_goals(orders: Sequence[Fraction], total: int) -> list[int]:
    r"""Return :math:`\lfloor q_j N + \tfrac12 \rfloor`."""
    return [(2 * q.numerator * total + q.denominator) // (2 * q.denominator) for q in orders]


def spacing(m: int) -> int:
    """Return how far apart the totals of m quantiles are, in units of 1/c."""
    return (2 if m <= FEW else 1) * (m + 1)


def narrow_spacing(m: int) -> float:
    """Return the same where the nearest total is sought: closer totals err less."""
    return 0.75 * (m + 1)


@dataclass(frozen=True, slots=True)
class FreeTotal(Totals):
    r"""Totals :math:`N = hk`, :math:`k = 0, 1, 2, \ldots`; targets are rounded to whole ranks."""

    orders: tuple[Fraction, ...]
    h: int
    offsets: tuple[int, ...] = ()
    _parts: tuple[NDArray[Any], NDArray[Any]] = dataclasses.field(
        init=False, repr=False, compare=False
    )
    """Numerators and denominators of the orders."""

    def __post_init__(self) -> None:
        above, below = [q.numerator for q in self.orders], [q.denominator for q in self.orders]
        dtype = np.int64 if max(below) < 1 << 61 else object
        object.__setattr__(self, "_parts", (np.array(above, dtype), np.array(below, dtype)))

    def goals(self, k: int) -> list[int]:
        r"""Return :math:`\lfloor q_j hk + \tfrac12\rfloor`, moved by the offsets in 0 to hk."""
        goals: list[int] = self._goals(np.array([self.h * k]))[0].tolist()
        return goals

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        totals = self.h * np.array(ks, np.int64)
        goals = self._goals(totals)
        if self.offsets:
            goals.sort(axis=1)
        return Targets(n, np.concatenate((goals, totals[:, None]), axis=1))

    def _goals(self, totals: Ints) -> Ints:
        above, below = self._parts
        # Beyond 64 bits in Python's integers, which are exact at any size.
        most = 2 * int(above.max()) * int(totals.max(initial=0)) + int(below.max())
        each: NDArray[Any] = totals[:, None].astype(object if most >= 1 << 63 else np.int64)
        goals: Ints = ((2 * above * each + below) // (2 * below)).astype(np.int64)
        if self.offsets:
            goals = np.clip(goals + np.array(self.offsets), 0, totals[:, None])
        return goals

    def is_nearest(self, k: int, n: int, ranks: Sequence[int]) -> bool:
        """Return whether a total is the first of those nearest to n records cut at these ranks.

        No total is nearer than its distance from n, so few have to be looked at. Whole numbers of
        any size are compared.
        """
        gaps = [b - a for a, b in pairwise((0, *ranks, n))]

        def distance(k: int) -> int:
            aims = (0, *rounded_goals(self.orders, self.h * k), self.h * k)
            return sum(abs(gap - (b - a)) for gap, (a, b) in zip(gaps, pairwise(aims), strict=True))

        own = distance(k)
        first, last = max(0, -((own - n) // self.h)), (n + own) // self.h
        reach = max(k - first, last - k)
        nearby = (j for i in range(1, reach + 1) for j in (k - i, k + i) if first <= j <= last)
        return all(distance(j) > own or (j > k and distance(j) == own) for j in nearby)

    def inside(self, n: int, distance: float) -> tuple[int, int]:
        first = max(0, ceil((n - distance) / self.h))
        return first, max(first, floor((n + distance) / self.h))

    def log_rows(self, distance: Floats, c: float) -> Floats:
        return np.asarray(np.log(2 * distance / self.h + 1 + 2 / -np.expm1(-c * self.h)))

    @property
    def stray(self) -> int:
        return max(map(abs, self.offsets), default=0)

    def beyond(self, n: int, last: int) -> int:
        # From there on every gap's target either is at least all records or no longer grows.
        ends = sorted({Fraction(0), *self.orders, Fraction(1)})
        least = min(b - a for a, b in pairwise(ends))
        return max(last + 1, ceil((n + 1 + 2 * self.stray) / (self.h * least)))

    def log_tail(self, c: float) -> float:
        return -log(-expm1(-c * self.h))

    def further(self, c: float, source: Source) -> int:
        logs, i = np.array([-c * self.h, log(-expm1(-c * self.h))]), 0
        while noise.by_log_weight(logs, source=source) == 0:
            i += 1
        return i


@dataclass(frozen=True, slots=True)
class OfRecords(Totals):
    """One total, the number of records: targets are not rounded, for that would cost privacy."""

    orders: tuple[Fraction, ...]

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        """Return the only row, with what rounding left of each gap's target."""
        exact = [Fraction(0), *(q * n for q in self.orders), Fraction(n)]
        whole = [floor(t + Fraction(1, 2)) for t in exact]
        left = [t - goal for t, goal in zip(exact, whole, strict=True)]
        shift = [float(b - a) for a, b in pairwise(left)]
        return Targets(n, np.array([whole[1:]], np.int64), np.array(shift))


@dataclass(frozen=True, slots=True)
class Fixed(Totals):
    """Whole targets that are known, not read: those of a slice between two published quantiles."""

    orders: tuple[Fraction, ...]
    goals: tuple[int, ...]

    def targets(self, n: int, ks: Sequence[int]) -> Targets:
        return Targets(n, np.array([self.goals], np.int64))

    def away(self, n: int) -> int:
        return abs(n - self.goals[-1])

    @classmethod
    def of(cls, goals: Sequence[int]) -> Fixed:
        """Take cumulative targets, the last of which is the total."""
        total = max(goals[-1], 1)
        return cls(tuple(Fraction(goal, total) for goal in goals[:-1]), tuple(goals))


# ---- What every quantile algorithm is: a mechanism from records on a grid to ticks ---------------
#
# The orders :math:`q_1 < \ldots < q_m` are public rationals; the input is a `Points`, the output
# :math:`m` ticks. Under ``SUBSTITUTE`` a value may also become missing, so a neighbour over the
# present values replaces one record, or adds one, or removes one.


FLOATS = Fraction(1, 1 << 12)
"""This part of epsilon pays for the rounding of float weights."""

LARGEST = 10**30
"""Losses beyond this, or below its inverse, are refused: floats end at ten times as many digits."""

MOST_OUTPUTS = 2_000_000

ROOM = 16
"""How many records wider windows are read, for atoms that their ends would cut."""


def read_orders(q: Iterable[Number] | Number) -> tuple[Fraction, ...]:
    """Return orders as rationals, ascending and distinct."""
    return _orders(tuple(q) if isinstance(q, Iterable) and not is_one(q) else (q,))


def demand_floats(epsilon: Fraction, rows: int) -> None:
    """Refuse what makes weights that floats cannot hold."""
    for name, value, least in (("epsilon", epsilon, Fraction(1, LARGEST)), ("rows", rows, 1)):
        if not least <= value <= LARGEST:
            raise ParameterError(
                name, f"be from {float(least):g} to {LARGEST:.0e} for quantiles", got(value),
                f"Use {{{name}}}.", **{name: 1},
            )  # fmt: skip


def is_one(q: object) -> bool:
    """Return whether this is one order, not a list of them."""
    return isinstance(q, (int, float, str, Fraction)) or not hasattr(q, "__iter__")


@remembered(64)
def _orders(given: tuple[object, ...]) -> tuple[Fraction, ...]:
    orders = tuple(rational(order, "q", example=0.5) for order in given)
    inside = all(0 < order < 1 for order in orders)
    if not orders or not inside or any(a >= b for a, b in pairwise(orders)):
        percent = orders and all(order.denominator == 1 and 1 < order < 100 for order in orders)
        meant = [float(order / 100) for order in orders] if percent else [0.25, 0.5, 0.75]
        raise ParameterError(
            "q",
            "be above 0 and below 1, and increasing if there are several"
            if orders
            else "hold at least one order",
            ", ".join(map(got, given[:5])),
            "Use {q}; 50% is 0.5.",
            q=meant[0] if len(orders) == 1 and percent else meant,
        )
    return orders


def whole(name: str, least: int, **default: Any) -> Any:
    """Return an attribute that holds a whole number; 0 where its default, None, was left."""

    def read_whole(x: int | None) -> int:
        left_out = x is None and default.get("default", 0) is None
        return 0 if left_out else integer(x, name, least=least)

    return field(converter=read_whole, **default)


@frozen(kw_only=True)
class QuantileMechanism(Mechanism[Points]):
    """The common part of all quantile algorithms.

    Parameters
    ----------
    epsilon
        The privacy loss of all quantiles together.
    q
        The orders, ascending, each above 0 and below 1.
    cells
        How many ticks the grid has.
    relation
        Which data sets are neighbours.
    rows
        How many records one person may own.
    """

    epsilon: Fraction = field(converter=read.epsilon)
    q: tuple[Fraction, ...] = field(converter=read_orders)
    cells: int = whole("cells", 1)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    rows: int = field(default=1, converter=read.rows)

    def __attrs_post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not go together."""

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def orders(self) -> tuple[Fraction, ...]:
        return self.q

    @property
    def substitutes(self) -> bool:
        return self.relation is SUBSTITUTE

    def part(self, kind: type[M], epsilon: Fraction, q: Sequence[Fraction], **more: Any) -> M:
        """Return another algorithm for some orders, with the same cells, relation and rows."""
        same: dict[str, Any] = {"relation": self.relation, "rows": self.rows, **more}
        return kind(epsilon=epsilon, q=tuple(q), cells=self.cells, **same)

    def read(self, x: object) -> Points:
        """Return the points; a list of ticks is read whole, what is below 0 being missing."""
        if isinstance(x, Points):
            return x
        ticks = np.asarray(x, np.int64).ravel()
        return Points.of(np.minimum(ticks, self.cells - 1), self.cells)

    @abstractmethod
    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return what no rank error passes with probability beta, for n records or any number."""

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return the rank error to expect where data lies densely: here what none passes.

        An algorithm that knows its typical error better says it here; `error` holds for all data.
        """
        return self.error(beta, n)

    @abstractmethod
    def one(self, x: Points, source: Source) -> Drawn:
        """Draw everything once: what `law` is the law of."""

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        """Draw everything many times for one input, to look at or to test."""
        return [self.one(x, source) for _ in range(size)]

    def published(self, drawn: Drawn) -> Ints:
        """Return the m ticks to publish, a function of what was drawn alone."""
        return np.sort(np.asarray(drawn, np.int64))

    def total(self, drawn: Drawn) -> int | None:
        """Return about how many records there are, where that was drawn too."""
        return None

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks to read for n records: all, unless an algorithm knows better."""
        return [(0, n)]

    def release(self, x: object, *, source: Source = SYSTEM) -> Release:
        """Draw once and spend the guarantee; ``drawn`` holds everything drawn."""
        drawn = self.draw_once(self.read(x), source)
        cost = self.guarantee if source.private else Guarantee.none(self.guarantee.relation)
        return Release(
            value=self.published(drawn), cost=cost, mechanism=self, drawn={"drawn": drawn}
        )

    def draw_once(self, x: Points, source: Source) -> Drawn:
        """Draw everything once, or replay it, where what is published is not needed."""
        tape, source = CURRENT.get(), for_one_draw(source)
        if tape is None:
            return self.one(x, source)
        drawn: Drawn = tape.answer(self, x, lambda: self.one(x, source))
        return drawn

    def draw(self, x: Points, size: int | None, source: Source) -> Value:
        if size is None:
            return self.published(self.one(x, source))
        return np.array([self.published(drawn) for drawn in self.many(x, size, source)])

    def outcome(self, release: Release) -> Any:
        return int(self.outcomes_of([release])[0])

    def outcomes_of(self, releases: Sequence[Release]) -> Ints:
        return self.indices([release.drawn["drawn"] for release in releases])

    def simulate(self, x: object, size: int, *, source: Source = SYSTEM) -> Ints:
        """Draw many times for one public input, as indices of `support`: what `law` is over."""
        return self.indices(self.many(self.read(x), size, source))

    def support(self) -> Ints:
        """Return everything that can be drawn, a row each: here all ascending m-tuples of ticks."""
        return self._all(combinations_with_replacement(range(self.cells), len(self.orders)))

    def _all(self, tuples: Iterator[tuple[int, ...]]) -> Ints:
        found = list(islice(tuples, MOST_OUTPUTS + 1))
        if len(found) > MOST_OUTPUTS:
            raise ParameterError(
                "law", "law() is available for small grids only.",
                f"{self.cells} cells and {len(self.orders)} quantiles", "Audit a grid of 6 cells.",
            )  # fmt: skip
        return np.array(found, np.int64)

    def indices(self, drawn: Sequence[Drawn]) -> Ints:
        """Return the rows of `support` at which these draws stand."""
        place = {tuple(row): i for i, row in enumerate(self.support().tolist())}
        rows = np.asarray(drawn, np.int64).tolist()
        return np.array([place[tuple(row)] for row in rows], np.int64)

    def loss(self, x: Points, y: Ints) -> Floats:
        """Return the largest rank error of each output, given as rows of `support`."""
        ticks = [self.published(row) for row in self.support()[y]]
        return self.rank_errors(x, np.array(ticks))

    def rank_errors(self, x: Points, ticks: Ints) -> Floats:
        """Return the largest rank error of each row of m ticks."""
        ranks = np.concatenate(([0], np.cumsum(np.bincount(list(x), minlength=self.cells))))
        return self.errors_between(x, ranks[ticks], ranks[ticks + 1])

    def errors_between(self, x: Points, below: Ints, up_to: Ints) -> Floats:
        """Return each row's largest distance from a target to the ranks below and up to a tick."""
        t = np.array([float(q * x.n) for q in self.orders])
        return np.asarray(np.maximum(np.maximum(below - t, t - up_to), 0.0).max(axis=1))

    def neighbours(self, x: Points) -> Iterator[Points]:
        ticks = np.array(list(x), np.int64)
        removed = [np.delete(ticks, i) for i in np.unique(ticks, return_index=True)[1]]
        for fewer in removed:
            yield Points.of(fewer, self.cells)
        for tick in range(self.cells):
            yield Points.of(np.append(ticks, tick), self.cells)
            if self.substitutes:
                for fewer in removed:
                    yield Points.of(np.append(fewer, tick), self.cells)

    def adjacent(self, x: Points, y: Points) -> bool:
        a, b = Counter(x), Counter(y)
        more, fewer = (b - a).total(), (a - b).total()
        return max(more, fewer) <= self.rows and (self.substitutes or not (more and fewer))


def prefetch(
    readers: Sequence[Reader], mechanisms: Sequence[QuantileMechanism] | None = None
) -> None:
    """Say what will be read: the outline, or what mechanisms need first."""
    for i, reader in enumerate(readers):
        reader.prefetch(None if mechanisms is None else partial(_windows, mechanisms[i], 0))


def read_windows(readers: Sequence[Reader], mechanisms: Sequence[QuantileMechanism]) -> None:
    """Read what each mechanism needs of its own group: all in one pass over data in an engine."""
    Reader.read_together(readers, [partial(_windows, mechanism, 0) for mechanism in mechanisms])


def draw_from(reader: Reader, mechanism: QuantileMechanism, source: Source) -> Drawn:
    """Draw from what the mechanism needs, and from more where that is not enough.

    A mechanism that meets ranks that were not read says so before it draws anything.
    """
    for reach in (0, 1):
        points = reader.points(partial(_windows, mechanism, reach))
        try:
            return mechanism.draw_once(points, source)
        except NotReadError:
            continue
    return mechanism.draw_once(reader.points(None), source)


def _windows(mechanism: QuantileMechanism, reach: int, n: int) -> list[tuple[int, int]]:
    """Return windows with some room, ``reach`` times their own width more on each side."""
    windows = mechanism.windows(n)
    return [(a - ROOM - reach * (b - a), b + ROOM + reach * (b - a)) for a, b in windows]


# ---- What rank errors to expect of an algorithm, before anything is paid -------------------------
#
# Where records lie densely around the quantiles, the gaps' errors of a joint draw are independent
# Laplace variables of scale :math:`1/c`, and a quantile's rank errs by
#
# .. math:: b_j = \sum_{l \le j} d_l - q_j \sum_{l=1}^{m+1} d_l .
#
# A free total is one of :math:`0, h, 2h, \ldots`, so :math:`\sum_l d_l` is the number of records
# modulo :math:`h`: a number between two totals errs more than one at a total. Where the nearest
# total counts, variables with a nearer one are left out. The law of :math:`\max_j |b_j|` has no
# simple form; it is sampled once, with a fixed seed, in units of :math:`1/c`, and the worst
# remainder is planned for. Two levels add up, the second tied to the ends of its slice.
# *Checked by* ``test_planned_errors_are_those_of_draws``.


SAMPLES = 60_000
OF_MANY = 600
"""How often many levels are sampled: thousands of quantiles each time."""
REMAINDERS = 12
SAFETY = 1.05
"""Planned errors are a twentieth above the sampled ones: data is never quite even."""
USUAL = 0.05


def one_error(beta: float) -> float:
    r"""Return the :math:`1-\beta` quantile of a Laplace variable's size, in units of 1/c."""
    return log(1 / beta)


@lru_cache(64)
def joint_error(orders: tuple[Fraction, ...], beta: float, *, nearest: bool = False) -> float:
    r"""Return the :math:`1 - \beta` quantile of :math:`\max_j |b_j|`, in units of 1/c.

    With ``nearest`` where a tuple is weighed by the total that it is nearest to.

    Examples
    --------
    >>> from fractions import Fraction
    >>> deciles = tuple(Fraction(i, 10) for i in range(1, 10))
    >>> joint_error(deciles, 0.05, nearest=True) < joint_error(deciles, 0.05) < 6.5
    True
    """
    errors, rest = _bridge(orders, np.random.default_rng(0), SAMPLES, nearest=nearest)
    return SAFETY * _worst(np.abs(errors).max(axis=1), rest, beta)


@lru_cache(64)
def two_level_error(orders: tuple[Fraction, ...], stride: int, beta: float) -> float:
    r"""Return the same for two levels, every ``stride``-th quantile being drawn first."""
    rng, samples = np.random.default_rng(0), SAMPLES // 4
    first = orders[stride - 1 :: stride]
    places = (Fraction(0), *first, Fraction(1))
    inner, rest = _bridge(first, rng, samples)
    ends = np.concatenate((np.zeros((samples, 1)), inner, np.zeros((samples, 1))), axis=1)
    worst = np.abs(ends).max(axis=1)
    for i in range(len(first) + 1):
        within = orders[i * stride : (i + 1) * stride - 1]
        if not within:
            continue
        left, right = places[i], places[i + 1]
        at = tuple((q - left) / (right - left) for q in within)
        share = np.array([float(q) for q in at])
        line = ends[:, [i]] * (1 - share) + ends[:, [i + 1]] * share
        worst = np.maximum(worst, np.abs(line + _bridge(at, rng, samples)[0]).max(axis=1))
    return SAFETY * _worst(worst, rest, beta)


@lru_cache(16)
def many_level_error(orders: tuple[Fraction, ...], strides: tuple[int, ...], beta: float) -> float:
    r"""Return the same for more levels, with the stride of each but the last."""
    rng, q = np.random.default_rng(0), np.array([float(order) for order in orders])
    ends = np.zeros((OF_MANY, 1))
    worst = _nested(q, (0.0, 1.0), (ends, ends), strides, rng)
    return SAFETY * float(np.quantile(worst, 1 - beta))


def _nested(
    q: Floats,
    ends: tuple[float, float],
    errors: tuple[Floats, Floats],
    strides: tuple[int, ...],
    rng: np.random.Generator,
) -> Floats:
    """Sample the greatest error of quantiles between two ends that err themselves."""
    (left, right), stride = ends, strides[0] if strides else 1
    drawn = q[stride - 1 :: stride]
    if not len(drawn):
        return _nested(q, ends, errors, strides[1:], rng) if len(q) else np.zeros(OF_MANY)
    share = (drawn - left) / (right - left)
    walk = np.cumsum(rng.laplace(size=(OF_MANY, len(drawn) + 1)), axis=1)
    bridge = walk[:, :-1] - share * walk[:, -1:]
    own = errors[0] * (1 - share) + errors[1] * share + bridge
    worst = np.abs(own).max(axis=1)
    if stride == 1:
        return np.asarray(worst)
    places = [left, *drawn.tolist(), right]
    off = np.concatenate((errors[0], own, errors[1]), axis=1)
    for i in range(len(drawn) + 1):
        inner = q[i * stride : (i + 1) * stride - 1]
        between = off[:, [i]], off[:, [i + 1]]
        found = _nested(inner, (places[i], places[i + 1]), between, strides[1:], rng)
        worst = np.maximum(worst, found)
    return np.asarray(worst)


@lru_cache(256)
def bracket_error(aims: tuple[Fraction, ...], own: tuple[int, ...], beta: float) -> float:
    r"""Return how far out brackets must aim so that all hold with probability 1 - beta.

    Of the aims beside an order, the one below may not err upward by more than the offset, the one
    above not downward. In units of 1/c. ``aims`` are the orders of everything drawn, in order;
    brackets have the order that they belong to; ``own`` says which of them are published.
    """
    errors, rest = _bridge(aims, np.random.default_rng(0), SAMPLES // 2)
    below, above = (np.clip(np.array(own) + side, 0, len(aims) - 1) for side in (-1, 1))
    worst = np.maximum(errors[:, below].max(axis=1), -errors[:, above].min(axis=1))
    return _worst(worst, rest, beta)


def _bridge(
    orders: tuple[Fraction, ...], rng: np.random.Generator, samples: int, *, nearest: bool = False
) -> tuple[Floats, Floats]:
    r"""Sample the :math:`b_j`, and the part of :math:`h` by which the records pass a total."""
    m = len(orders)
    d = rng.laplace(size=(samples, m + 1))
    q = np.array([float(order) for order in orders])
    h: float = spacing(m)
    if nearest:
        h = narrow_spacing(m)
        step = h * np.diff(q, prepend=0, append=1)
        far = ceil(2 * float(np.abs(d).sum(axis=1).max()) / h)
        own, kept = np.abs(d).sum(axis=1), np.ones(samples, bool)
        for k in range(1, far + 1):
            for moved in (d - k * step, d + k * step):
                kept &= own < np.abs(moved).sum(axis=1)
        d = d[kept]
    walk = np.cumsum(d, axis=1)
    return walk[:, :-1] - q * walk[:, -1:], walk[:, -1] / h % 1


def _worst(errors: Floats, rest: Floats, beta: float) -> float:
    """Return the quantile of errors for the worst remainder; its excess is that at 0.05."""
    group = np.minimum((REMAINDERS * rest).astype(int), REMAINDERS - 1)
    usual = [np.quantile(errors[group == i], 1 - USUAL) for i in range(REMAINDERS)]
    excess = float(max(usual)) / float(np.quantile(errors, 1 - USUAL))
    return max(excess, 1.0) * float(np.quantile(errors, 1 - beta))
