r"""Draws from a law given by its cumulative steps: 16 random bits per lane, more where needed.

A law on the codes 0, 1, 2, ... is given by the reals :math:`T_0 \le T_1 \le \ldots` of its
cumulative distribution: the code is :math:`\#\{i : T_i \le W\}` for a uniform :math:`W`. A
`Ladder` gives for any number of bits :math:`k` integers :math:`l_i \le 2^k T_i \le h_i`, for all
the thresholds that :math:`k` bits can tell from 1 and one more.

Three stages, by one rule. From :math:`w = \lfloor 2^k W \rfloor` let
:math:`v = \#\{i : h_i \le w\}`; these thresholds are surely at most :math:`W`. If also
:math:`w < l_v`, the next one surely exceeds :math:`W`, and the code is :math:`v`.

0. :math:`k = 16`: a table of 65536 cells holds the value of each decided cell.
1. :math:`k = 64`: search in two arrays of 64-bit integers.
2. :math:`k = 128, 192, \ldots`: Python integers.

Bits are kept from stage to stage, so the code is that of the ideal real :math:`W` and its law is
exact. Stage 1 leaves a lane open with probability of about :math:`2^{-63}` for each threshold.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.noise.source import CHUNK, LazyUniform, Source, draw, draw_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise.source import Bools, Ints, Words


Ladder = Callable[[int], tuple[list[int], list[int]]]
"""Returns, for a number of bits, the lower and the upper bounds of the thresholds."""

HEAD = np.dtype("<u2")
_CELLS = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
_TOO_FEW = 2_000
"""For fewer draws a table is not worth building."""

_SIGNED = (np.int8, np.int16, np.int32, np.int64)


def identity(code: Any) -> Any:
    return code


def alternating(code: Any) -> Any:
    """Return 0, -1, 1, -2, 2, ... for the codes 0, 1, 2, 3, 4, ..., of an int or an array."""
    return (code >> 1) ^ -(code & 1)


def _fits(values: Ints, dtype: type[np.signedinteger[Any]]) -> bool:
    info = np.iinfo(dtype)
    return bool(np.all((values > info.min) & (values <= info.max)))


class Steps:
    """The three stages for one law: the thresholds at any precision, and the value of a code.

    ``value`` takes an int or an array; ``finite`` says whether the ladder holds all thresholds. The
    table holds ``value << shift`` as this type of integer, the narrowest if none is given.
    """

    __slots__ = (
        *("_closed", "_dtype", "_finite", "_high", "_ladder", "_low", "_shift", "_stored"),
        *("_table", "_value"),
    )

    def __init__(
        self,
        ladder: Ladder,
        value: Callable[[Any], Any],
        *,
        finite: bool = False,
        shift: int = 0,
        dtype: np.dtype[Any] | None = None,
    ) -> None:
        self._ladder, self._value, self._finite = ladder, value, finite
        self._stored: dict[int, tuple[list[int], list[int]]] = {}
        low, high = self._bounds(64)
        known = bisect_right(high, (1 << 64) - 1)
        self._high = np.array(high[:known], np.uint64)
        nearest = [min(bound, (1 << 64) - 1) for bound in low[: known + 1]]
        self._closed = finite and known == len(high)
        self._low = np.array(nearest + [0] * (known + 1 - len(nearest)), np.uint64)
        self._shift, self._dtype = shift, dtype
        self._table: NDArray[Any] | None = None

    @property
    def table(self) -> NDArray[Any]:
        """The value of each of the 65536 leading words, or `undecided`."""
        if self._table is None:
            codes, decided = self._search(_CELLS, _CELLS | np.uint64((1 << 48) - 1))
            values = self._value(codes) << self._shift
            dtype = self._dtype or np.dtype(next(d for d in _SIGNED if _fits(values[decided], d)))
            self._table = np.where(decided, values, np.iinfo(dtype).min).astype(dtype)
        return self._table

    @property
    def undecided(self) -> int:
        """Marks a table entry that 16 bits do not decide."""
        return int(np.iinfo(self.table.dtype).min)

    def _search(self, first: Words, last: Words) -> tuple[Ints, Bools]:
        """Return the code of each range of words, and whether it is the same throughout."""
        codes = self._high.searchsorted(first, side="right").astype(np.int64, copy=False)
        decided = last < self._low[codes]
        if self._closed:
            decided |= codes == self._high.size
        return codes, decided

    def fill(self, out: Ints, source: Source) -> None:
        """Draw a value into each place of a flat array, with an unshifted table."""
        if out.size < _TOO_FEW:  # with a table or without: a seeded draw repeats itself anywhere
            out[:] = self.resolve(draw(source, out.size, HEAD), source)
            return
        undecided = self.undecided
        values = np.empty(min(CHUNK, out.size), self.table.dtype)
        is_open = np.empty(values.size, np.bool_)
        open_lanes, open_heads = [], []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            heads = draw(source, part.size, HEAD)
            self.table.take(heads, mode="clip", out=values[: part.size])
            np.equal(values[: part.size], undecided, out=is_open[: part.size])
            part[:] = values[: part.size]
            (lane,) = is_open[: part.size].nonzero()
            open_heads.append(heads[lane])
            open_lanes.append(lane + start)
        if open_lanes:
            out[np.concatenate(open_lanes)] = self.resolve(np.concatenate(open_heads), source)

    def resolve(self, heads: NDArray[np.uint16], source: Source) -> Ints:
        """Return the unshifted values of lanes that 16 bits leave open."""
        words = heads.astype(np.uint64) << np.uint64(48)
        words |= draw_words(source, heads.size) >> np.uint64(16)
        codes, decided = self._search(words, words)
        for lane in np.flatnonzero(~decided).tolist():
            codes[lane] = self.exact(LazyUniform(source, int(words[lane]), 64))
        values: Ints = self._value(codes)
        return values

    def exact(self, uniform: LazyUniform) -> int:
        """Return the code of a uniform, drawing bits until it is decided."""
        while True:
            uniform.extend()
            word, bits = uniform.reading()
            low, high = self._bounds(bits)
            code = bisect_right(high, word)
            if word < low[code] if code < len(low) else self._finite:
                return code

    def _bounds(self, bits: int) -> tuple[list[int], list[int]]:
        """Return the ladder's bounds, sorted like the thresholds."""
        if bits not in self._stored:
            low, high = self._ladder(bits)
            descending = list(accumulate(reversed(high), min))
            self._stored[bits] = list(accumulate(low, max)), descending[::-1]
        return self._stored[bits]
