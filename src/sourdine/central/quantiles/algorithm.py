r"""What every quantile algorithm is: a mechanism from records on a grid to ticks.

The orders :math:`q_1 < \ldots < q_m` are public rationals; the input is a `Points`, the output
:math:`m` ticks. Under ``SUBSTITUTE`` a value may also become missing, so a neighbour over the
present values replaces one record, or adds one, or removes one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement, islice, pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.order_statistics import read_together
from sourdine.central.quantiles.points import NotReadError, Points
from sourdine.errors import ParameterError
from sourdine.exact import given as got
from sourdine.exact import integer, rational
from sourdine.mechanisms import parameters as read
from sourdine.mechanisms.mechanism import Mechanism
from sourdine.mechanisms.transcript import CURRENT
from sourdine.noise import SYSTEM
from sourdine.noise.lazy import remembered
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation
from sourdine.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.order_statistics import Reader
    from sourdine.exact.parameters import Number
    from sourdine.mechanisms.inputs import Value
    from sourdine.noise import Source

    Drawn = Sequence[int] | NDArray[np.int64]

__all__ = [
    "FLOATS", "QuantileMechanism", "demand_floats", "is_one", "read_orders", "read_windows",
    "release_from",
]  # fmt: skip

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
                name,
                f"be from {float(least):g} to {LARGEST:.0e} for quantiles",
                got(value),
                f"Type {{{name}}}.",
                **{name: 1},
            )


def is_one(q: object) -> bool:
    """Return whether this is one order, not a list of them."""
    return isinstance(q, (int, float, str, Fraction)) or not hasattr(q, "__iter__")


@remembered(64)
def _orders(given: tuple[object, ...]) -> tuple[Fraction, ...]:
    orders = tuple(rational(order, "q", example=0.5) for order in given)
    inside = all(0 < order < 1 for order in orders)
    if not orders or not inside or any(a >= b for a, b in pairwise(orders)):
        raise ParameterError(
            "q",
            "be ascending orders above 0 and below 1",
            ", ".join(map(got, given[:5])) or "none",
            "Type {q}; 50 % is 0.5.",
            q=[0.25, 0.5, 0.75],
        )
    return orders


def _cells(x: int) -> int:
    return integer(x, "cells", least=1)


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
    cells: int = field(converter=_cells)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    rows: int = field(default=1, converter=read.rows)

    def __attrs_post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not go together."""

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one draw."""
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def orders(self) -> tuple[Fraction, ...]:
        """The orders, exactly."""
        return self.q

    @property
    def substitutes(self) -> bool:
        """Whether neighbours replace a record."""
        return self.relation is SUBSTITUTE

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

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the m ticks to publish, a function of what was drawn alone."""
        return np.sort(np.asarray(drawn, np.int64))

    def total(self, drawn: Drawn) -> int | None:
        """Return about how many records there are, where that was drawn too."""
        del drawn
        return None

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks to read for n records: all, unless an algorithm knows better."""
        return [(0, n)]

    def release(self, x: object, *, source: Source = SYSTEM) -> Release:
        """Draw once and spend the guarantee; ``drawn`` holds everything drawn."""
        tape, points = CURRENT.get(), self.read(x)
        if tape is None:
            drawn = self.one(points, source)
        else:
            drawn = tape.answer(self, points, lambda: self.one(points, source))
        cost = self.guarantee if source.private else Guarantee.none(self.guarantee.relation)
        return Release(
            value=self.published(drawn), cost=cost, mechanism=self, drawn={"drawn": drawn}
        )

    def draw(self, x: Points, size: int | None, source: Source) -> Value:
        """Draw quantiles: m ticks, or ``size`` rows of them."""
        if size is None:
            return self.published(self.one(x, source))
        return np.array([self.published(drawn) for drawn in self.many(x, size, source)])

    def outcome(self, release: Release) -> Any:  # noqa: ANN401
        """Return the row of `support` at which what was drawn stands."""
        return int(self.outcomes_of([release])[0])

    def outcomes_of(self, releases: Sequence[Release]) -> NDArray[np.int64]:
        """Return the rows of `support` at which what was drawn stands."""
        return self.indices([release.drawn["drawn"] for release in releases])

    def simulate(self, x: object, size: int, *, source: Source = SYSTEM) -> NDArray[np.int64]:
        """Draw many times for one public input, as indices of `support`: what `law` is over."""
        return self.indices(self.many(self.read(x), size, source))

    def support(self) -> NDArray[np.int64]:
        """Return everything that can be drawn, a row each: here all ascending m-tuples of ticks."""
        return self._all(combinations_with_replacement(range(self.cells), len(self.orders)))

    def unordered(self) -> NDArray[np.int64]:
        """Return all m-tuples of ticks, for algorithms that draw each quantile on its own."""
        return self._all(product(range(self.cells), repeat=len(self.orders)))

    def _all(self, tuples: Iterator[tuple[int, ...]]) -> NDArray[np.int64]:
        found = list(islice(tuples, MOST_OUTPUTS + 1))
        if len(found) > MOST_OUTPUTS:
            raise ParameterError(
                "a law",
                "be asked of a small grid",
                f"{self.cells} cells and {len(self.orders)} quantiles",
                "Audit a grid of 6.",
            )
        return np.array(found, np.int64)

    def indices(self, drawn: Sequence[Drawn]) -> NDArray[np.int64]:
        """Return the rows of `support` at which these draws stand."""
        support = self.support()
        base = np.ones(support.shape[1], np.int64)
        spans = support.max(axis=0) + 1
        base[:-1] = np.cumprod(spans[::-1])[::-1][1:]
        codes = support @ base
        order = np.argsort(codes)
        return order[codes[order].searchsorted(np.asarray(drawn, np.int64) @ base)]

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of each output, given as rows of `support`."""
        return self.rank_errors(x, np.sort(self.support()[y][:, -len(self.orders) :], axis=-1))

    def rank_errors(self, x: Points, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of each row of m ticks."""
        ranks = np.concatenate(([0], np.cumsum(np.bincount(list(x), minlength=self.cells))))
        errors = np.zeros(len(ticks))
        for j, q in enumerate(self.orders):
            below, up_to, target = ranks[ticks[:, j]], ranks[ticks[:, j] + 1], float(q * x.n)
            errors = np.maximum(errors, np.maximum(below - target, target - up_to))
        return np.maximum(errors, 0.0)

    def neighbours(self, x: Points) -> Iterator[Points]:
        """Yield all data sets that differ by one record."""
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
        """Return whether the points differ by the records of one person."""
        a, b = (Counter(x), Counter(y))
        more, fewer = (b - a).total(), (a - b).total()
        return max(more, fewer) <= self.rows and (self.substitutes or not (more and fewer))


def foresee(
    readers: Sequence[Reader], mechanisms: Sequence[QuantileMechanism] | None = None
) -> None:
    """Say what will be read: the outline, or what mechanisms need first."""
    for i, reader in enumerate(readers):
        reader.foresee(None if mechanisms is None else partial(_windows, mechanisms[i], 0))


def read_windows(readers: Sequence[Reader], mechanisms: Sequence[QuantileMechanism]) -> None:
    """Read what each mechanism needs of its own group: all in one pass over data in an engine."""
    read_together(readers, [partial(_windows, mechanism, 0) for mechanism in mechanisms])


def release_from(reader: Reader, mechanism: QuantileMechanism, source: Source) -> Release:
    """Read what the mechanism needs, more where that is not enough, and release.

    A mechanism that meets ranks that were not read says so before it draws anything.
    """
    for reach in (0, 1):
        points = reader.points(partial(_windows, mechanism, reach))
        try:
            return mechanism.release(points, source=source)
        except NotReadError:
            continue
    return mechanism.release(reader.points(None), source=source)


def _windows(mechanism: QuantileMechanism, reach: int, n: int) -> list[tuple[int, int]]:
    """Return windows with some room, ``reach`` times their own width more on each side."""
    windows = mechanism.windows(n)
    return [(a - ROOM - reach * (b - a), b + ROOM + reach * (b - a)) for a, b in windows]
