"""What an engine does: count exactly, and nothing else.

An engine holds the rows and gives out whole numbers over public cells. Noise never runs in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.tally.counts import merge
from sourdine.tally.ranges import inside
from sourdine.tally.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.asked import Asked
    from sourdine.tally.cells import Cell, Codes, Ticks
    from sourdine.tally.column import Column
    from sourdine.tally.reading import Reading
    from sourdine.tally.types import Declared

__all__ = ["Engine", "name_twice", "require_different"]


def require_different(names: Sequence[str]) -> None:
    """Refuse no columns at all, and a name that stands twice: which is meant cannot be known.

    Examples
    --------
    >>> require_different(["age", "sex", "age"])
    Traceback (most recent call last):
    sourdine.errors.ParameterError: data must have columns with different names, got 'age' twice. Rename one of them.
    """  # noqa: E501
    if not names:
        raise ParameterError(
            "data", "have a column", "a table without any", "Pass data of one column or more."
        )
    if len(set(names)) < len(names):
        raise name_twice(next(name for i, name in enumerate(names) if name in names[:i]))


def name_twice(name: str | None = None) -> ParameterError:
    """Return the refusal of columns of one name."""
    return ParameterError(
        "data",
        "have columns with different names",
        "a name twice" if name is None else f"{name!r} twice",
        "Rename one of them.",
    )


class Engine(ABC):
    """Rows of named columns, wherever they are."""

    parsed = False
    """Whether the rows were read from text, so that what a cell holds can decide if it is a row."""
    reading: Reading = STANDARD
    """How numbers are written in texts."""
    away = False
    """Whether single rows stay where they are: `slots` and `column` refuse."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def kind(self, name: str) -> str | None:  # noqa: ARG002
        """Return the type that the data itself states, in a word; None if it states none."""
        return None

    def declared(self, name: str) -> Declared | None:  # noqa: ARG002
        """Return what the type of a column says; None if it has none, or one that says nothing.

        Values are not looked at: a type is refused regardless of the rows.
        """
        return None

    @abstractmethod
    def rows(self) -> int:
        """Return how many rows there are."""

    @abstractmethod
    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield slots along each cell and how many rows have them (None: one each)."""

    @abstractmethod
    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of at most ``rows`` rows at a time, in the order of the rows."""

    @abstractmethod
    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return all values of a column, in the order of the rows; see `Frame.column`."""

    @abstractmethod
    def only(self, *names: str) -> Engine:
        """Return some columns alone; the others are not read."""

    def values(self, name: str) -> Iterator[tuple[Column, NDArray[np.int64] | None]]:
        """Yield values of a column and how many rows have them (None: one each)."""
        for (column,), counts in self.combinations([name]):
            yield column, counts

    def present(self, name: str) -> int:
        """Return how many values of a column are not missing."""
        return sum(
            int(np.count_nonzero(values.present) if n is None else n[values.present].sum())
            for values, n in self.values(name)
        )

    def owned(self, unit: str, most: int) -> dict[int, int]:
        """Return how many people own each number of rows; ``most`` stands for all larger ones."""
        found: dict[str | None, int] = {}
        for column, counts in self.values(unit):
            n = [1] * len(column) if counts is None else counts.tolist()
            for text, k in zip(column.texts, n, strict=True):
                found[text] = found.get(text, 0) + k
        return dict(Counter(min(own, most) for own in found.values()))

    @abstractmethod
    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key."""

    @abstractmethod
    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each value of ``unit``.

        Rows are put in order by all columns that the engine has: `only` comes before. Which stay
        is defined in `sourdine.tally.keyed`.
        """

    def array(self, name: str) -> NDArray[Any] | None:  # noqa: ARG002
        """Return the numbers of a column, if they are in memory."""
        return None

    def total(self, name: str, cell: Ticks, power: int) -> int:
        """Return the exact sum of powers of ticks."""
        return sum(
            cell.power_sum(slots[0], counts, power) for slots, counts in self.groups([(name, cell)])
        )

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the exact sums of powers of ticks, from 0 to the highest, in one pass."""
        sums = [0] * (most + 1)
        for (ticks,), counts in self.groups([(name, cell)]):
            for power in range(most + 1):
                sums[power] += cell.power_sum(ticks, counts, power)
        return sums

    def sums(
        self,
        axes: Sequence[tuple[str, Codes]],  # noqa: ARG002
        of: tuple[str, Ticks] | None,  # noqa: ARG002
        most: int,  # noqa: ARG002
    ) -> tuple[list[NDArray[np.int64]], list[list[int]]] | None:
        """Return codes along axes, and for each how many rows there are and the powers' sums.

        None where the engine has no better way than to count the ticks of each group.
        """
        return None

    def afresh(self) -> Engine:
        """Return the same rows without what was foreseen of them."""
        return self

    def foresee(self, asked: Asked) -> None:  # noqa: B027 - most engines answer one by one
        """Hear what will be asked: what is foreseen together may be answered by one pass."""

    @abstractmethod
    def combinations(
        self, names: Sequence[str]
    ) -> Iterator[tuple[list[Column], NDArray[np.int64] | None]]:
        """Yield values of several columns and how many rows have them (None: one each)."""

    def within(
        self, cells: Sequence[tuple[str, Cell]], ranges: Sequence[tuple[int, int]]
    ) -> Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield what `groups` yields of the rows whose last slot lies in ranges, and no others.

        Parameters
        ----------
        cells
            As in `groups`; the last is a `Ticks`.
        ranges
            Sorted, disjoint and half-open. How they follow from raw values, which an engine can
            compare without snapping them, is in `sourdine.tally.intervals`.
        """
        for slots, counts in self.groups(cells):
            there = inside(slots[-1], ranges)
            yield [slot[there] for slot in slots], None if counts is None else counts[there]

    def between(
        self, name: str, cell: Ticks, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ticks within sorted, disjoint, half-open ranges, and their counts."""
        found = self.within([(name, cell)], ranges) if ranges else ()
        return merge((slots[0], counts) for slots, counts in found)
