r"""Symmetric laws of large scale on the integers: a block from a table, a place in it, a coin.

The integers are cut into blocks of :math:`M = 2^m`: :math:`x = vM + u`, :math:`0 \le u < M`. Let
:math:`b_v` be the least :math:`|x|` in block :math:`v`. For weights :math:`e^{-\phi(|x|)}` with
:math:`\phi` increasing,

1. draw :math:`v` with probability proportional to :math:`e^{-\phi(b_v)}` (`Steps`),
2. draw :math:`u` from :math:`m` raw bits,
3. keep :math:`x` with probability :math:`e^{-(\phi(b_v + d) - \phi(b_v))}`, where
   :math:`|x| = b_v + d`; else start again with fresh bits.

A kept :math:`x` has probability proportional to
:math:`e^{-\phi(b_v)} M^{-1} e^{-\phi(|x|) + \phi(b_v)} \propto e^{-\phi(|x|)}`: the law is exact.
With 64 to 128 blocks to the scale more than 98 % are kept, and the leading 16 bits of the coin
say so for nearly all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.noise.arrays import HIGHEST, LOWEST
from sourdine.noise.filters import below_exp
from sourdine.noise.sizes import CHUNK
from sourdine.noise.source import Source, draw, draw_words
from sourdine.noise.steps import HEAD, Ladder, Steps, alternating

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["DIRECT_BELOW", "LARGEST", "BlockLaw", "BlockTable", "block_shift"]

DIRECT_BELOW = 128
"""Scales below need no blocks: the table holds the values themselves."""

LARGEST = 1 << 53
"""Scales below keep place and coin in one 64-bit word."""


def block_shift(scale: int) -> int:
    """Return the m that leaves 64 to 128 blocks to a scale, given rounded down."""
    return 0 if scale < DIRECT_BELOW else scale.bit_length() - 7


class BlockLaw(Protocol):
    r"""A symmetric law: its blocks and its :math:`\phi`."""

    @property
    def shift(self) -> int:
        """The m of the block length ``2**m``."""

    @property
    def ladder(self) -> Ladder:
        """The cumulative law of the blocks 0, -1, 1, -2, ..."""

    def loss(self, nearest: int, further: int) -> Fraction:
        r"""Return :math:`\phi(b + d) - \phi(b)`."""

    def float_loss(
        self, nearest: NDArray[np.float64], further: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        r"""Return :math:`\phi(b + d) - \phi(b)` in floating point."""


class BlockTable:
    """Draws from a symmetric law by table, for many lanes.

    Parameters
    ----------
    law
        What to draw from.
    """

    __slots__ = ("_law", "_mask", "_steps", "_sure", "_word")

    def __init__(self, law: BlockLaw) -> None:
        self._law = law
        self._word = np.dtype("<u4") if law.shift <= 15 else np.dtype("<u8")
        signed = np.dtype(f"<i{self._word.itemsize}") if law.shift else None
        self._steps = Steps(law.ladder, alternating, shift=law.shift, dtype=signed)
        self._mask = self._word.type((1 << law.shift) - 1)
        self._sure = self._surely_kept() if law.shift else np.zeros((), self._word)

    def _surely_kept(self) -> NDArray[Any]:
        """Return for each cell a bound: a word below it keeps every place of the cell's block.

        The 16 leading bits :math:`c` of the coin keep the whole block if
        :math:`(c + 1) / 2^{16}` is at most the chance of its last place; one more is
        taken off, far more than the error of the float.
        """
        table, shift = self._steps.table, self._law.shift
        blocks = np.where(table == self._steps.undecided, 0, table).astype(np.int64) >> shift
        last = np.full(blocks.shape, float((1 << shift) - 1))
        chance = np.exp(-self._law.float_loss(self._nearest(blocks), last))
        heads = np.maximum(np.floor(chance * 65536) - 1, 0).astype(self._word)
        if heads.min() == heads.max():
            heads = heads[:1].reshape(())
        bounds: NDArray[Any] = heads << self._word.type(8 * self._word.itemsize - 16)
        return bounds

    def _nearest(self, blocks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least absolute value in each block."""
        length = float(1 << self._law.shift)
        return np.where(blocks >= 0, blocks * length, (-1 - blocks) * length + 1.0)

    def fill(self, out: NDArray[np.int64], source: Source) -> None:
        """Draw a value into each place of a flat array."""
        if self._law.shift == 0:
            self._steps.fill(out, source)
            return
        lane, heads, words = self._propose(out, source)
        while lane.size:
            out[lane], kept = self._settle(heads, words, source)
            lane = lane[~kept]
            again = np.empty(lane.size, np.int64)
            still_open, heads, words = self._propose(again, source)
            out[lane] = again
            lane = lane[still_open]

    def _propose(
        self, out: NDArray[np.int64], source: Source
    ) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[Any]]:
        """Propose a value for each lane; return the lanes not yet kept, with their random bits."""
        size = min(CHUNK, out.size)
        values = np.empty(size, self._steps.table.dtype)
        places = np.empty(size, self._word)
        is_open, unknown = np.empty(size, np.bool_), np.empty(size, np.bool_)
        found = [(np.empty(0, np.intp), np.empty(0, HEAD), np.empty(0, self._word))]
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            k = part.size
            heads, words = draw(source, k, HEAD), draw(source, k, self._word)
            sure = self._sure if self._sure.ndim == 0 else self._sure.take(heads, mode="clip")
            self._steps.table.take(heads, mode="clip", out=values[:k])
            np.greater_equal(words, sure, out=is_open[:k])
            np.equal(values[:k], self._steps.undecided, out=unknown[:k])
            is_open[:k] |= unknown[:k]
            np.bitwise_and(words, self._mask, out=places[:k])
            values[:k] |= places[:k].view(values.dtype)
            part[:] = values[:k]
            (lane,) = is_open[:k].nonzero()
            found.append((lane + start, heads[lane], words[lane]))
        lanes, open_heads, open_words = zip(*found, strict=True)
        return np.concatenate(lanes), np.concatenate(open_heads), np.concatenate(open_words)

    def _settle(
        self, heads: NDArray[np.uint16], words: NDArray[Any], source: Source
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the values of open lanes, and whether their coins keep them."""
        shift, length = self._law.shift, 1 << self._law.shift
        table = self._steps.table[heads].astype(np.int64)
        blocks = table >> np.int64(shift)
        (unknown,) = (table == self._steps.undecided).nonzero()
        if unknown.size:
            blocks[unknown] = self._steps.resolve(heads[unknown], source)
        places = (words & self._mask).astype(np.int64)
        coins = (words >> self._word.type(8 * self._word.itemsize - 16)).astype(np.uint64)
        coins = coins << np.uint64(48) | draw_words(source, coins.size) >> np.uint64(16)
        further = np.where(blocks >= 0, places, length - 1 - places)
        nearest = self._nearest(blocks)

        def exact_loss(lane: int) -> Fraction:
            block = int(blocks[lane])
            closest = block * length if block >= 0 else (-1 - block) * length + 1
            return self._law.loss(closest, int(further[lane]))

        losses = self._law.float_loss(nearest, further.astype(np.float64))
        kept = below_exp(coins, losses, exact_loss, source)
        return self._values(blocks, places), kept

    def _values(self, blocks: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put blocks and places together; what exceeds 64 bits becomes the nearest of them."""
        shift = self._law.shift
        values = np.clip(blocks, LOWEST >> shift, HIGHEST >> shift) << np.int64(shift) | places
        values[blocks > HIGHEST >> shift] = HIGHEST
        values[blocks < LOWEST >> shift] = LOWEST
        return values
