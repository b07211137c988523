"""Ranges of ticks that will be asked for, and what was counted in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sourdine.tally.asked import Asked
from sourdine.tally.counts import merge
from sourdine.tally.ranges import inside, joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourdine.tally.cells import Ticks

    Whole = NDArray[np.int64]
    Ranges = tuple[tuple[int, int], ...]
    Named = tuple[str, Ticks]

__all__ = ["Planned"]


class Planned:
    """Ranges that several statistics will ask for; one pass then reads all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sourdine.grid import Grid
    >>> from sourdine.tally import Ticks
    >>> age = ("age", Ticks("age", Grid(0, 120, step=1)))
    >>> planned = Planned()
    >>> planned.add(age, ((3, 5),))
    >>> planned.add(age, ((4, 9),))
    >>> [asked] = planned.unread()
    >>> asked.within
    ((3, 9),)
    >>> planned.read(asked, np.array([3, 8]), np.array([10, 20]))
    >>> [part.tolist() for part in planned.between(age, ((4, 9),))]
    [[8], [20]]
    """

    def __init__(self) -> None:
        self._wanted: dict[Named, list[tuple[int, int]]] = {}
        self._known: dict[Named, tuple[Ranges, Whole, Whole]] = {}

    def add(self, of: Named, ranges: Ranges) -> None:
        """Hear what will be asked, unless it is known."""
        known = self._known[of][0] if of in self._known else ()
        if not all(any(a <= low and high <= b for a, b in known) for low, high in ranges):
            self._wanted.setdefault(of, []).extend(ranges)

    def unread(self) -> list[Asked]:
        """Return the questions for what was not read yet."""
        return [
            Asked((of,), within=tuple(joined(own, of[1].size))) for of, own in self._wanted.items()
        ]

    def read(self, asked: Asked, ticks: Whole, counts: Whole) -> None:
        """Take what was counted."""
        of = cast("Named", asked.cells[0])
        del self._wanted[of]
        self._known[of] = (asked.within or (), *merge([(ticks, counts)]))

    def between(self, of: Named, ranges: Ranges) -> tuple[Whole, Whole]:
        """Return the ticks within ranges, which were read."""
        _, ticks, counts = self._known[of]
        there = inside(ticks, ranges)
        return ticks[there], counts[there]
