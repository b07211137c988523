"""Many sketches of the second moment as parts of one, and the private median of them.

A row of a tug-of-war sketch is independent of the others, so copies may be parts of one large
sketch, which is quicker to update than many small ones and has the same law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.f2 import AmsSketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise import Source

__all__ = ["ACCURACY", "private_median"]

ACCURACY = 0.25
ENDLESS = 10**9
"""Looks of a phase that does not end within an experiment."""


class Bank:
    """Many copies; the first one made takes the updates for all."""

    def __init__(self, copies: int, rows: int) -> None:
        self.copies, self.rows, self.made = copies, rows, 0
        self.sketch: AmsSketch
        self.values: NDArray[np.float64] | None = None

    def factory(self, seed: int) -> Copy:
        """Make the next copy."""
        if self.made % self.copies == 0:
            self.sketch = AmsSketch(self.copies * self.rows, seed)
        self.made += 1
        return Copy(self, (self.made - 1) % self.copies)

    def estimates(self) -> NDArray[np.float64]:
        """Return the estimate of every copy."""
        if self.values is None:
            z = self.sketch.counters().reshape(self.copies, self.rows)
            self.values = np.einsum("ij,ij->i", z, z) / self.rows
        return self.values


class Copy:
    """One copy of a bank."""

    def __init__(self, bank: Bank, place: int) -> None:
        self.bank, self.place = bank, place

    def update(self, item: int, weight: int = 1) -> None:
        """Take a change in, for all copies if this is the first."""
        if self.place == 0:
            self.bank.values = None
            self.bank.sketch.update(item, weight)

    def query(self) -> float:
        """Return the copy's estimate."""
        return float(self.bank.estimates()[self.place])


def private_median(
    copies: int,
    rows: int,
    *,
    sample: int,
    epsilon0: float,
    start: float,
    source: Source,
    error: float = ACCURACY,
) -> Robust:
    """Return the lecture's algorithm around so many sketches.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> robust = private_median(
    ...     200, 200, sample=25, epsilon0=2, start=100, source=SeededSource(1)
    ... )
    >>> robust.update(7, 10)
    >>> abs(robust.query() / 100 - 1) <= ACCURACY
    True
    """
    return Robust(
        Bank(copies, rows).factory,
        copies=copies,
        sample=sample,
        epsilon0=epsilon0,
        steps=ENDLESS,
        error=error,
        start=start,
        source=source,
    )
