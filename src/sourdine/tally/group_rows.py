"""One group of a partition: it takes its own counts of what was counted for all groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sourdine.tally.engine import Engine
from sourdine.tally.present import Present

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sourdine.tally.asked import Asked
    from sourdine.tally.cells import Cell, Ticks
    from sourdine.tally.grouped import Counted, Partition, Ranges
    from sourdine.tally.types import Declared

__all__ = ["GroupRows", "between_each"]


class GroupRows(Engine):
    """One group: it counts, and nothing else.

    Parameters
    ----------
    whole
        All groups.
    i
        The number of this one.
    """

    def __init__(self, whole: Partition, i: int) -> None:
        self.whole, self.place = whole, i
        self.parsed, self.reading = whole.engine.parsed, whole.engine.reading

    @property
    def columns(self) -> tuple[str, ...]:
        """The names."""
        return self.whole.engine.columns

    def kind(self, name: str) -> str | None:
        """Return the type that the data itself states."""
        return self.whole.engine.kind(name)

    def declared(self, name: str) -> Declared | None:
        """Return what the type of a column says."""
        return self.whole.engine.declared(name)

    def rows(self) -> int:
        """Return how many there are."""
        return int(self.whole.rows()[self.place])

    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterator[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        """Yield the slots that occur, and how often."""
        yield self.whole.cells(cells)[self.place]

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        """Return the exact sums of powers of ticks."""
        return self.whole.moments(name, cell, most)[self.place]

    def total(self, name: str, cell: Ticks, power: int) -> int:
        """Return the exact sum of a power of ticks."""
        return self.moments(name, cell, power)[power]

    def present(self, name: str) -> int:
        """Return how many values of a column are not missing."""
        (slots,), counts = self.whole.cells([(name, Present(name))])[self.place]
        return int(counts[slots >= 0].sum())

    def between(
        self, name: str, cell: Ticks, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ticks within ranges, and their counts; see `between_each` for all groups."""
        wanted: list[Ranges] = [[] for _ in range(self.whole.size)]
        wanted[self.place] = list(ranges)
        return self.whole.between(name, cell, wanted)[self.place]

    def foresee(self, asked: Asked) -> None:
        """Hear what will be asked; windows of single groups are not foreseen."""
        if asked.within is None:
            self.whole.foresee(asked)

    def array(self, name: str) -> NDArray[Any] | None:
        """Return the numbers of a column, if they are in memory."""
        return self.whole.array(name, self.place)

    def _refuse(self, *asked: Any, **options: Any) -> NoReturn:  # noqa: ANN401
        """Refuse: a group counts."""
        del asked, options
        raise TypeError("a group counts its rows and gives out none; cut the frame with split")

    slots = column = only = combinations = split = bound = _refuse


def between_each(
    parts: Sequence[Engine], name: str, cell: Ticks, ranges: Sequence[Ranges]
) -> list[Counted]:
    """Return the ticks of each part within its own ranges, and their counts.

    Groups of one partition are read in one pass, however many they are.
    """
    groups = [part for part in parts if isinstance(part, GroupRows)]
    if len(groups) < len(parts) or len({id(part.whole) for part in groups}) != 1:
        both = zip(parts, ranges, strict=True)
        return [part.between(name, cell, own) for part, own in both]
    whole = groups[0].whole
    wanted: list[Ranges] = [[] for _ in range(whole.size)]
    for part, own in zip(groups, ranges, strict=True):
        wanted[part.place] = own
    found = whole.between(name, cell, wanted)
    return [found[part.place] for part in groups]
