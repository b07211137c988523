"""Discrete Laplace and geometric noise."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakSet

import numpy as np

from sourdine.exact import Real, exp_neg, integer, positive
from sourdine.noise.coins import below_exp
from sourdine.noise.source import (
    CHUNK,
    HIGHEST,
    LOWEST,
    SYSTEM,
    LazyUniform,
    Shape,
    Size,
    Source,
    draw,
    draw_words,
    lanes,
    python_int,
    python_ints,
    remembered,
    repeated,
    saturated,
    saturated_array,
)
from sourdine.noise.steps import HEAD, Steps, alternating

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise.source import Bools, Floats, Ints


# ---- Draws from independent coins, by work that does not depend on the value ---------------------
#
# With :math:`q = e^{-1/t}` and :math:`G = \sum_j b_j 2^j`,
#
# .. math:: P(G = g) \propto q^g = \prod_j (q^{2^j})^{b_j},
#
# so :math:`G` is geometric exactly when its binary digits are independent coins of probability
# :math:`q^{2^j} / (1 + q^{2^j})`. The digits from :math:`J` on are one coin: they are not all 0
# with probability :math:`q^{2^J}`, and then their number is geometric again, of that ratio, plus
# one. With a sign that is - with probability :math:`q / (1 + q)`, take :math:`X = G` or
# :math:`X = -1 - G`:
#
# .. math:: P(X = k) = \frac{(1 - q) q^k}{1 + q}, \qquad
#           P(X = -1 - k) = \frac{q (1 - q) q^k}{1 + q}, \qquad k \ge 0,
#
# which is :math:`\frac{1 - q}{1 + q} q^{|x|}` throughout. In two's complement :math:`-1 - G` is
# :math:`G` with every digit flipped, so value and sign are combined without a branch.
#
# Every draw compares the same 32-bit words with the same thresholds; a word that equals the leading
# 32 bits of its threshold (one draw in 10^8) is extended by more bits. No step depends on the
# value, so neither does the time (``benchmarks/noise.py``), unlike methods that count up to it
# [1]_.
#
# References
# ----------
# .. [1] J. Jin, E. McMurtry, B. Rubinstein, O. Ohrimenko, "Are we there yet? Timing and
#    floating-point attacks on differential privacy systems", IEEE S&P 2022.


_WORD = np.dtype("<u4")
_INTEGER = np.dtype("<i8")
_ROWS = 1 << 12
_MOST_AHEAD = 256
"""Single values are drawn ahead, twice as many each time up to this: one by one they cost more."""
_DRAW_AHEAD: WeakSet[LaplaceBits] = WeakSet()


def _forget() -> None:
    """Drop all values drawn ahead: two processes must not use the same ones."""
    for bits in _DRAW_AHEAD:
        bits.forget()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_forget)


class LaplaceBits:
    """Draws discrete Laplace noise of one scale, coin by coin.

    With ``clip`` a value beyond the 64-bit integers becomes the nearest of them. ``digits`` is the
    J of the law: the number of binary digits with a coin of their own.
    """

    __slots__ = (
        *("__weakref__", "_ahead", "_chances", "_clip", "_columns", "_count", "_floors", "_scale"),
        "digits",
    )

    def __init__(self, scale: Fraction, *, clip: bool = False) -> None:
        self._scale = scale
        self._clip = saturated if clip else int
        self.digits = (45 * scale.numerator // scale.denominator).bit_length()
        powers = [exp_neg((1 << j) / scale) for j in range(self.digits + 1)]
        coins = [power / (1 + power) for power in powers]
        width = max(64, self.digits + 8 - self.digits % 8)
        never = [Real.of(0)] * (width - self.digits - 1)  # these digits all equal the sign
        self._chances = [coins[0], *coins[:-1], powers[-1], *never]
        self._floors = np.array(_floors(powers[0], self._chances, self.digits), _WORD)
        self._columns = 1 + (width if self.digits > 62 else self.digits + 8 - self.digits % 8)
        self._ahead: list[Ints | int] = []
        self._count = 1
        _DRAW_AHEAD.add(self)

    def one(self, source: Source, centre: int = 0) -> int:
        """Draw one value and add ``centre``, in 64-bit arithmetic where both fit."""
        value = self._next() if source is SYSTEM else self.word(source)
        if isinstance(value, int):
            return centre + self._clip(value)
        return python_int(value, centre)

    def _next(self) -> Ints | int:
        """Return a value of `SYSTEM` that was drawn ahead; `list.pop` gives each to one thread."""
        try:
            return self._ahead.pop()
        except IndexError:
            values = self.many(self._count, SYSTEM)
            self._count = min(2 * self._count, _MOST_AHEAD)
            fit = self.digits < 62 and values.dtype != object
            drawn: list[Ints | int] = [*repeated(values)] if fit else [*map(int, values)]
            self._ahead.extend(drawn[1:])
            return drawn[0]

    def forget(self) -> None:
        self._ahead.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(LaplaceBits, clip=self._clip is saturated), (self._scale,)

    def around(self, centres: Sequence[int], source: Source) -> list[int]:
        """Draw a value for each centre and add it: `one` for each, from one block of bits."""
        values = self.many(len(centres), source)
        if self.digits < 62 and values.dtype != object:
            return python_ints(values, centres)
        return [centre + self._clip(int(x)) for centre, x in zip(centres, values, strict=True)]

    def word(self, source: Source) -> Ints | int:
        """Draw one value: a 64-bit integer as an array, or a Python int where it may not fit."""
        words = np.frombuffer(source.bytes(4 * len(self._chances)), _WORD)
        coins = words < self._floors
        if b"\1" in (words == self._floors).tobytes():
            self._refine(words, coins, source)
        if coins[self.digits + 1]:
            return self._with_tail(coins, source)
        octets = np.packbits(coins[1:] ^ coins[0], None, "little")
        if self.digits < 62:
            return octets.view(_INTEGER)
        return int.from_bytes(octets.tobytes(), "little", signed=True)

    def many(self, count: int, source: Source) -> NDArray[Any]:
        """Draw ``count`` values: 64-bit integers, or Python integers where they may not fit."""
        parts = [self._rows(min(_ROWS, count - i), source) for i in range(0, count, _ROWS)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _rows(self, count: int, source: Source) -> NDArray[Any]:
        columns, floors = self._columns, self._floors[: self._columns]
        words = np.frombuffer(source.bytes(4 * columns * count), _WORD).reshape(count, columns)
        coins = words < floors
        near = words == floors
        if near.any():
            for row in np.flatnonzero(near.any(axis=1)).tolist():
                self._refine(words[row], coins[row], source)
        octets = np.packbits(coins[:, 1:] ^ coins[:, :1], axis=1, bitorder="little")
        if octets.shape[1] <= 8 and not coins[:, self.digits + 1].any():
            values = np.repeat(coins[:, :1] * np.uint8(255), 8, axis=1)
            values[:, : octets.shape[1]] = octets
            return values.view(_INTEGER)[:, 0]
        exact = [int.from_bytes(row.tobytes(), "little", signed=True) for row in octets]
        for row in np.flatnonzero(coins[:, self.digits + 1]).tolist():
            exact[row] = self._with_tail(coins[row], source)
        return np.array(exact, object)

    def _refine(self, words: NDArray[np.uint32], coins: Bools, source: Source) -> None:
        """Decide by more bits the coins whose words equal their thresholds."""
        for i in np.flatnonzero(words == self._floors[: words.size]).tolist():
            coins[i] = LazyUniform(source, int(words[i]), 32).below(self._chances[i])

    def _with_tail(self, coins: Bools, source: Source) -> int:
        """Return the value whose digits from J on are not all 0."""
        digits = np.packbits(coins[1 : self.digits + 1], bitorder="little")
        magnitude = int.from_bytes(digits.tobytes(), "little")
        uniform, rate, count = LazyUniform(source), (1 << self.digits) / self._scale, 1
        while not uniform.below(1 - exp_neg(rate * count)):
            count += 1
        magnitude += count << self.digits
        return ~magnitude if coins[0] else magnitude


def _floors(first: Real, chances: Sequence[Real], digits: int) -> list[int]:
    """Return the leading 32 bits of each chance.

    The powers are the squares of one another: an enclosure of the first gives the others, and where
    both of its ends have the same 32 bits, the chance has them too.
    """
    precision = 128 + digits
    one = 1 << precision
    low, high = first.enclosure(precision)
    floors = []
    for j in range(digits + 1):
        ends = [(x << 32) // (one + x if j < digits else one) for x in (low, high)]
        floors.append(ends[0] if ends[0] == ends[1] else _floor(chances[j + 1]))
        low, high = low * low >> precision, -(-high * high >> precision)
    sign = floors[0] if digits else _floor(chances[0])
    return [sign, *floors, *[0] * (len(chances) - digits - 2)]


def _floor(chance: Real) -> int:
    """Return the leading 32 bits: a word below is below the chance, a word above is above it."""
    more = 64
    while True:
        low, high = chance.bounds(32 + more)
        if low >> more == max(low, high - 1) >> more:
            return low >> more
        more *= 2


# ---- Symmetric laws of large scale by table and rejection ----------------------------------------
#
# The integers are cut into blocks of :math:`M = 2^m`: :math:`x = vM + u`, :math:`0 \le u < M`. Let
# :math:`b_v` be the least :math:`|x|` in block :math:`v`. For weights :math:`e^{-\phi(|x|)}` with
# :math:`\phi` increasing,
#
# 1. draw :math:`v` with probability proportional to :math:`e^{-\phi(b_v)}` (`Steps`),
# 2. draw :math:`u` from :math:`m` raw bits,
# 3. keep :math:`x` with probability :math:`e^{-(\phi(b_v + d) - \phi(b_v))}`, where
#    :math:`|x| = b_v + d`; else start again with fresh bits.
#
# A kept :math:`x` has probability proportional to
# :math:`e^{-\phi(b_v)} M^{-1} e^{-\phi(|x|) + \phi(b_v)} \propto e^{-\phi(|x|)}`: the law is exact.
# With 64 to 128 blocks to the scale more than 98% are kept, and the leading 16 bits of the coin
# decide that for nearly all of them.


DIRECT_BELOW = 128
"""Scales below this need no blocks: the table holds the values themselves."""

LARGEST = 1 << 53
"""Scales below this keep place and coin in one 64-bit word."""


def block_shift(scale: int) -> int:
    """Return the m that leaves 64 to 128 blocks to a scale, given rounded down."""
    return 0 if scale < DIRECT_BELOW else scale.bit_length() - 7


@dataclass(frozen=True, slots=True)
class BlockLaw(ABC):
    r"""A symmetric law by its scale, whose blocks have the length ``2**shift``."""

    scale: Fraction
    shift: int

    @abstractmethod
    def ladder(self, bits: int) -> tuple[list[int], list[int]]:
        """Return the bounds of the cumulative law of the blocks 0, -1, 1, -2, ..."""

    @abstractmethod
    def loss_of(self, nearest: Any, further: Any, scale: Any) -> Any:
        r"""Return :math:`\phi(b + d) - \phi(b)`, of rationals or of floats."""

    def loss(self, nearest: int, further: int) -> Fraction:
        exact: Fraction = self.loss_of(nearest, further, self.scale)
        return exact


class BlockTable:
    """Draws from a symmetric law by table, for many lanes."""

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
        chance = np.exp(-self._law.loss_of(self._nearest(blocks), last, float(self._law.scale)))
        heads = np.maximum(np.floor(chance * 65536) - 1, 0).astype(self._word)
        if heads.min() == heads.max():
            heads = heads[:1].reshape(())
        bounds: NDArray[Any] = heads << self._word.type(8 * self._word.itemsize - 16)
        return bounds

    def _nearest(self, blocks: Ints) -> Floats:
        length = float(1 << self._law.shift)
        return np.where(blocks >= 0, blocks * length, (-1 - blocks) * length + 1.0)

    def fill(self, out: Ints, source: Source) -> None:
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
        self, out: Ints, source: Source
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
    ) -> tuple[Ints, Bools]:
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

        losses = self._law.loss_of(nearest, further.astype(np.float64), float(self._law.scale))
        kept = below_exp(coins, losses, exact_loss, source)
        return self._values(blocks, places), kept

    def _values(self, blocks: Ints, places: Ints) -> Ints:
        """Combine blocks and places; values beyond 64 bits are clamped."""
        shift = self._law.shift
        lowest, highest = LOWEST >> shift, HIGHEST >> shift
        values = np.clip(blocks, lowest, highest) << np.int64(shift) | places
        values[blocks > highest] = HIGHEST
        values[blocks < lowest] = LOWEST
        return values


# ---- Discrete Laplace noise: :math:`P(x) \propto e^{-|x|/t}` on the integers ---------------------


FEW = 20_000
"""Fewer draws than this take the path whose time does not depend on the noise."""


class _LaplaceLaw(BlockLaw):
    r"""Blocks of the law: block v weighs :math:`Q^v` from 0 up and :math:`qQ^{-1-v}` below.

    Here :math:`q = e^{-1/t}` and :math:`Q = e^{-2^m/t}`. In the order 0, -1, 1, -2, ... the
    cumulative law is

    .. math:: T_{2k} = 1 - Q^k \frac{q + Q}{1 + q}, \qquad T_{2k+1} = 1 - Q^{k+1}.
    """

    __slots__ = ()

    def ladder(self, bits: int) -> tuple[list[int], list[int]]:
        precision = bits + 64
        one, spare = 1 << precision, precision - bits
        q_low, q_high = exp_neg(1 / self.scale).enclosure(precision)
        b_low, b_high = exp_neg((1 << self.shift) / self.scale).enclosure(precision)
        rest_low = (q_low + b_low << precision) // (one + q_low)
        rest_high = -(-(q_high + b_high << precision) // (one + q_high))
        low: list[int] = []
        high: list[int] = []
        power_low = power_high = one
        while power_high >> spare:
            low.append(one - (-(-power_high * rest_high >> precision)) >> spare)
            high.append(-((power_low * rest_low >> precision) - one >> spare))
            power_low = power_low * b_low >> precision
            power_high = -(-power_high * b_high >> precision)
            low.append(one - power_high >> spare)
            high.append(-(power_low - one >> spare))
        return low, high

    def loss_of(self, nearest: Any, further: Any, scale: Any) -> Any:
        return further / scale


@remembered(1024)
def laplace_bits(scale: Number) -> LaplaceBits:
    return LaplaceBits(positive(scale, "scale"), clip=True)


@remembered(32)
def _blocks(scale: Fraction) -> BlockTable:
    return BlockTable(_LaplaceLaw(scale, block_shift(int(scale))))


@overload
def discrete_laplace(scale: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def discrete_laplace(scale: Number, size: Shape, *, source: Source = ...) -> Ints: ...
def discrete_laplace(scale: Number, size: Size = None, *, source: Source = SYSTEM) -> int | Ints:
    r"""Draw whole numbers with probability exactly proportional to :math:`e^{-|x|/t}`.

    Parameters
    ----------
    scale
        The positive :math:`t`; a float means the decimal it prints.
    size
        ``None`` for one Python int, a length or a shape for an array of 64-bit integers.
    source
        The source of random bits.

    Notes
    -----
    The law is exact (``tests/noise/test_laplace.py``) up to one final step: a value beyond the
    64-bit integers is clamped to the nearest of them. Fewer than 20,000 draws take a time that does
    not depend on their values (`LaplaceBits`); more are drawn by table (`BlockTable`).

    Examples
    --------
    >>> discrete_laplace(0.001, 4).tolist()
    [0, 0, 0, 0]
    """
    coins = laplace_bits(scale)
    if size is None:
        return coins.one(source)
    count, shape = lanes(size)
    if count >= FEW and (exact := positive(scale, "scale")) < LARGEST:
        out = np.empty(count, np.int64)
        _blocks(exact).fill(out, source)
        return out.reshape(shape)
    return saturated_array(coins.many(count, source)).reshape(shape)


def laplace_around(centre: int, scale: Number, *, source: Source = SYSTEM) -> int:
    r"""Draw one whole number with probability exactly proportional to :math:`e^{-|x - c|/t}`.

    The same as ``centre + discrete_laplace(scale)``, but the sum is formed in 64-bit arithmetic and
    converted to a Python int by work that does not depend on it
    (`sourdine.noise.source.python_int`). Python's own sums take some nanoseconds less for the small
    integers that it caches, which would tell small noise from large (``benchmarks/noise.py``).

    Parameters
    ----------
    centre
        The integer :math:`c`, of any size.
    scale, source
        As in `discrete_laplace`.

    Examples
    --------
    >>> laplace_around(7, 0.001)
    7
    """
    return laplace_bits(scale).one(source, integer(centre, "centre"))


# ---- Geometric draws, from folded discrete Laplace noise -----------------------------------------


_scale = remembered(1024)(lambda r: 1 / positive(r, "r"))


@overload
def geometric(r: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def geometric(r: Number, size: Shape, *, source: Source = ...) -> Ints: ...
def geometric(r: Number, size: Size = None, *, source: Source = SYSTEM) -> int | Ints:
    r"""Draw :math:`k \ge 0` with probability exactly :math:`(1 - e^{-r}) e^{-rk}`.

    Parameters
    ----------
    r
        A positive number; a float means the decimal it prints.
    size, source
        As in `discrete_laplace`.

    Notes
    -----
    A discrete Laplace :math:`X` of scale :math:`1/r` has :math:`P(X = k) \propto e^{-rk}` on
    :math:`k \ge 0`, and :math:`P(X = -1 - k) \propto e^{-rk}` too: given either sign, the folded
    value is geometric, hence it is. Values beyond the 64-bit integers become the greatest of them.

    Examples
    --------
    >>> geometric(1000, 3).tolist()
    [0, 0, 0]
    """
    scale = _scale(r)
    if size is None:
        value = discrete_laplace(scale, source=source)
        return value ^ (value >> 63)
    values = discrete_laplace(scale, size, source=source)
    values ^= values >> np.int64(63)
    return values
