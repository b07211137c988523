"""Several whole numbers in one, so that rows pass between Spark and Python in few columns.

Spark hands rows to Python, and takes them back, value by value: of nine columns that takes several
times as long as everything else. Slots and reports are small numbers, of which a word of 63 bits
holds many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.tally.spark.cells import Expressions

    Whole = NDArray[np.int64]

__all__ = ["AT_ONCE", "WORD", "Packing"]

WORD = 63
"""How many bits of a word are used: its sign is not."""
AT_ONCE = 16
"""Expressions of so many columns make a method that Java compiles; of many more, one that it never
does, which is slower than to hand over what the columns hold."""


@dataclass(frozen=True)
class Packing:
    """Where each of some numbers stands, as the number after it, in as many bits as it needs.

    Parameters
    ----------
    sizes
        Each number is -1, for what is missing, or one below its size, which is below 2**63.

    Examples
    --------
    >>> packing = Packing((1000, 2**60, 2))
    >>> packing.fields
    [(0, 0, 10), (1, 0, 61), (1, 61, 2)]
    >>> packing.unpacked(packing.packed([np.array([-1, 999]), np.array([5, -1]), np.array([0, 1])]))
    [array([ -1, 999]), array([ 5, -1]), array([0, 1])]
    """

    sizes: tuple[int, ...]

    @cached_property
    def fields(self) -> list[tuple[int, int, int]]:
        """The word of each number, where it begins there, and how many bits it has."""
        found, word, start = [], 0, 0
        for size in self.sizes:
            bits = size.bit_length()
            if start + bits > WORD:
                word, start = word + 1, 0
            found.append((word, start, bits))
            start += bits
        return found

    @property
    def words(self) -> list[str]:
        """The names of the words."""
        return [f"w{i}" for i in range(1 + self.fields[-1][0])] if self.fields else []

    def packed(self, numbers: Sequence[Whole]) -> list[Whole]:
        """Return the words."""
        words = [np.zeros(len(numbers[0]), np.int64) for _ in self.words]
        for (word, start, _), own in zip(self.fields, numbers, strict=True):
            words[word] |= (own + 1) << start
        return words

    def unpacked(self, words: Sequence[Whole]) -> list[Whole]:
        """Return the numbers."""
        return [((words[w] >> start) & ((1 << bits) - 1)) - 1 for w, start, bits in self.fields]

    def packed_there(self, e: Expressions, numbers: Sequence[Any]) -> list[Any]:
        """Return the words as expressions."""
        parts: list[list[Any]] = [[] for _ in self.words]
        for (word, start, _), own in zip(self.fields, numbers, strict=True):
            parts[word].append(e.functions.shiftleft(own + e.whole(1), start))
        return [reduce(lambda a, b: a.bitwiseOR(b), own) for own in parts]

    def unpacked_there(self, e: Expressions) -> list[Any]:
        """Return the numbers as expressions of the words."""
        f = e.functions
        return [
            f.shiftright(f.col(f"w{word}"), start).bitwiseAND(e.whole((1 << bits) - 1)) - e.whole(1)
            for word, start, bits in self.fields
        ]
