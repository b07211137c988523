"""What comes out of an engine: whole numbers over public cells."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["DENSE", "Groups", "Tally", "gather", "merge"]

DENSE = 10**6
"""Up to this many public cells are counted in a full table."""

Groups = "tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]"
"""Slots along each axis, and how many rows each stands for (None: one)."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Exact counts; tallies of parts of the data add up to the tally of the whole.

    Parameters
    ----------
    sizes
        How many public slots each axis has.
    table
        The counts of all cells, `MISSING` last along each axis; None if there are too many.
    ticks, tallied, missing
        For a single axis of more than a million slots: the slots that hold anything, in order, how
        much they hold, and how many values are missing. Which slots hold anything is private.

    Examples
    --------
    >>> one = Tally((2,), np.array([3, 0, 1]))
    >>> (one + one).counts.tolist()
    [6, 0, 2]
    """

    sizes: tuple[int, ...]
    table: NDArray[np.int64] | None = None
    ticks: NDArray[np.int64] | None = None
    tallied: NDArray[np.int64] | None = None
    missing: int = 0

    def __post_init__(self) -> None:
        if self.table is not None and self.ticks is None and len(self.sizes) == 1:
            held = np.flatnonzero(self.table[:-1])
            object.__setattr__(self, "ticks", held)
            object.__setattr__(self, "tallied", self.table[held])
            object.__setattr__(self, "missing", int(self.table[-1]))

    @property
    def is_dense(self) -> bool:
        """Whether all cells are in `counts`, empty ones too."""
        return self.table is not None

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts of all cells, the missing values last along each axis."""
        if self.table is None:
            raise ParameterError(
                "cells",
                f"be at most {DENSE} for a full table",
                f"{self.sizes[0]}",
                "Read ticks and tallied instead, or use a coarser grid.",
            )
        return self.table

    @property
    def total(self) -> int:
        """The number of rows, missing ones included."""
        if self.table is not None:
            return int(self.table.sum())
        assert self.tallied is not None  # noqa: S101
        return int(self.tallied.sum()) + self.missing

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.sizes != other.sizes:
            raise ParameterError(
                "tallies",
                "have the same cells to be added",
                f"{self.sizes} and {other.sizes}",
                "Tally both with the same grid.",
            )
        if self.table is not None and other.table is not None:
            return Tally(self.sizes, self.table + other.table)
        parts = [(t.ticks, t.tallied) for t in (self, other) if t.ticks is not None]
        ticks, tallied = merge(parts)
        return Tally(self.sizes, None, ticks, tallied, self.missing + other.missing)


def merge(
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.int64] | None]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up (slot, count) pairs: the distinct slots in order, and their counts."""
    listed = list(parts)
    if not listed:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    slots = np.concatenate([slot for slot, _ in listed])
    if all(count is None for _, count in listed):
        slots.sort()
        first = _starts(slots)
        return slots[first], np.diff(first, append=len(slots))
    counts = np.concatenate([np.ones(len(s), np.int64) if c is None else c for s, c in listed])
    order = np.argsort(slots, kind="stable")
    slots, counts = slots[order], counts[order]
    first = _starts(slots)
    return slots[first], np.add.reduceat(counts, first) if len(slots) else counts


def _starts(rising: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each distinct value of a sorted array begins."""
    new = np.ones(len(rising), bool)
    new[1:] = rising[1:] != rising[:-1]
    return np.flatnonzero(new)


def gather(
    sizes: tuple[int, ...],
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> Tally:
    """Make a tally of what an engine counted."""
    if prod(sizes) <= DENSE:
        return _table(sizes, groups)
    if len(sizes) > 1:
        raise ParameterError(
            "cells",
            f"be at most {DENSE} in all for several columns",
            " x ".join(map(str, sizes)),
            "Use coarser grids or fewer categories.",
        )
    ticks, tallied = merge((slots[0], counts) for slots, counts in groups)
    missing = int(tallied[ticks < 0].sum())
    return Tally(sizes, None, ticks[ticks >= 0], tallied[ticks >= 0], missing)


def _table(
    sizes: tuple[int, ...],
    groups: Iterable[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]],
) -> Tally:
    shape = tuple(size + 1 for size in sizes)
    table = np.zeros(prod(shape), np.int64)
    for slots, counts in groups:
        flat = np.zeros(len(slots[0]), np.int64)
        for slot, length in zip(slots, shape, strict=True):
            flat = flat * length + np.where(slot < 0, length - 1, slot)
        if counts is None:
            table += np.bincount(flat, minlength=len(table))
        else:
            np.add.at(table, flat, counts)
    return Tally(sizes, table.reshape(shape))
