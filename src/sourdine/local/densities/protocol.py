"""The two halves of every density: what a person does, and what the server does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, positive, rational
from sourdine.grid import MISSING, Grid
from sourdine.local.densities.result import Density
from sourdine.local.estimators.simplex import norm_sub
from sourdine.mechanisms.mechanism import settle
from sourdine.noise import SYSTEM
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number
    from sourdine.mechanisms.mechanism import Report
    from sourdine.noise import Source

__all__ = ["BITS", "DensityProtocol"]

BITS = 12
"""Values are snapped to the middles of 2**BITS equal cells."""


class DensityProtocol(ABC):
    r"""A way to learn a density from people who each randomise their own value.

    A person calls `randomise` and sends the report; the server adds up `tally`\ s and calls
    `estimate`. All parameters are public and the same for both. What a person does is on whole
    numbers and the law of the report is exact; what the server does is free post-processing. The
    report is drawn by an audited mechanism, ``report``: ``test_every_protocol_draws_by_a_report``.
    """

    __slots__ = ()

    bits: ClassVar[int] = BITS
    bounds: tuple[Number, Number]
    epsilon: Number
    grid: Grid
    guarantee: Guarantee
    report: Report

    def _settle(self) -> None:
        """Read bounds and epsilon; the grid's points are the middles of the cells."""
        low, high = read_bounds(self.bounds)
        epsilon = positive(self.epsilon, "epsilon")
        step = (high - low) / (1 << self.bits)
        settle(
            self,
            bounds=(low, high),
            epsilon=epsilon,
            grid=Grid(low + step / 2, high - step / 2, step),
            guarantee=Guarantee(epsilon, 0, LOCAL),
        )

    def randomise(self, values: ArrayLike, *, source: Source = SYSTEM) -> NDArray[Any]:
        """Draw one report for each value, from that value alone; a missing one counts as any."""
        ticks = np.ravel(self.grid.ticks(values, missing=MISSING))
        return self.reports(anywhere(ticks, self.grid, source), source)

    @abstractmethod
    def reports(self, ticks: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Draw one report for each person, from ticks of the grid."""

    @abstractmethod
    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Add up reports; tallies may be added."""

    @abstractmethod
    def read(self, tally: NDArray[np.int64], n: int) -> tuple[NDArray[np.float64], ...]:
        """Return heights on equal cells of [0, 1] and their standard deviations."""

    @property
    @abstractmethod
    def method(self) -> str:
        """What a reader is told of it."""

    def estimate(
        self, tally: NDArray[np.int64], n: int, *, cost: Guarantee | None = None
    ) -> Density:
        """Return the density that a tally of ``n`` reports tells of."""
        people = integer(n, "n", least=0)
        raw, spread = self.read(np.asarray(tally), people) if people else (np.ones(1), np.ones(1))
        low, high = (rational(b, "bounds") for b in self.bounds)
        width = float(high - low)
        return Density(
            bounds=(low, high),
            mass=norm_sub(raw / raw.size),
            raw=raw / width,
            spread=spread / width,
            cost=self.guarantee if cost is None else cost,
            method=self.method,
            reports=people,
        )

    def density(self, ticks: Iterable[NDArray[np.int64]], *, source: Source = SYSTEM) -> Density:
        """Randomise everybody here, in parts, and estimate: each person is on their own."""
        total, people = self.tallied(ticks, source)
        cost = self.guarantee if source.private else Guarantee.none(LOCAL)
        return self.estimate(total, people, cost=cost)

    def tallied(
        self, ticks: Iterable[NDArray[np.int64]], source: Source
    ) -> tuple[NDArray[np.int64], int]:
        """Randomise everybody here, in parts, and add up: the tally, and how many they are."""
        total = self.tally(self.reports(np.zeros(0, np.int64), source))
        people = 0
        for block in ticks:
            part = anywhere(block, self.grid, source)
            for start in range(0, part.size, self.chunk):
                some = part[start : start + self.chunk]
                total = total + self.tally(self.reports(some, source))
                people += some.size
        return total, people

    @property
    def chunk(self) -> int:
        """How many people are answered for at once."""
        return 1 << 17


def anywhere(ticks: NDArray[np.int64], grid: Grid, source: Source) -> NDArray[np.int64]:
    """Return ticks with any, all alike, where a value is missing."""
    (gone,) = np.nonzero(ticks < 0)
    if gone.size:
        ticks = ticks.copy()
        ticks[gone] = noise.uniform_below(grid.size, gone.size, source=source)
    return ticks


def read_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Return two numbers in order."""
    if not isinstance(bounds, (tuple, list, np.ndarray)) or len(bounds) != 2:
        raise ParameterTypeError(
            "bounds",
            "be two numbers",
            given(bounds),
            "Type the public bounds, such as {bounds}.",
            bounds=(0, 100),
        )
    low, high = rational(bounds[0], "bounds[0]"), rational(bounds[1], "bounds[1]")
    if low >= high:
        raise ParameterError(
            "bounds",
            "be in order",
            f"{given(bounds[0])} and {given(bounds[1])}",
            "Type the public bounds, such as {bounds}.",
            bounds=(0, 100),
        )
    return low, high
