"""Coins of any probability, rational or not, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import Real, at_least, exp_neg, probability
from sourdine.noise.source import (
    CHUNK,
    SYSTEM,
    LazyUniform,
    Shape,
    Size,
    Source,
    draw,
    draw_words,
    int64_array,
    lanes,
    remembered,
)
from sourdine.noise.steps import Steps, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise.source import Bools, Floats, Ints, Words


# ---- Deciding :math:`W < e^{-r}` in floating point where that is safe ----------------------------
#
# The float of :math:`e^{-r}` differs from it by less than :math:`2^{-48}`: its argument is a
# product of a few factors, each within :math:`2^{-52}` of the exact one relatively, so the error of
# the argument is at most a small multiple of :math:`2^{-52} r`, and :math:`r e^{-r} < 1/2`; the
# exponential itself is within a few units in the last place. The filter trusts it only to
# :math:`2^{-30}` (``tests/noise/test_filters.py`` measures it on each platform). Lanes within that
# slack are decided exactly.


SLACK = 2.0**-30
_STEEPEST = 1 << 20


def float_rate(rate: Fraction) -> float:
    r"""Return a float to multiply whole numbers with before :math:`e^{-nr}` is taken.

    A rate above :math:`2^{20}` may be cut to it: for :math:`n \ge 1` both exponentials are below
    :math:`2^{-50}`, and for :math:`n = 0` both are 1.
    """
    return float(min(rate, Fraction(_STEEPEST)))


def unit_floats(words: Words) -> Floats:
    """Return the words as floats on [0, 1], within ``2**-53`` of every uniform they begin."""
    return words.astype(np.float64) * 2.0**-64


def below_exp(
    words: Words, losses: Floats, exact_loss: Callable[[int], Fraction], source: Source
) -> Bools:
    r"""Decide for each lane whether its uniform, begun by 64 bits, is below :math:`e^{-r}`.

    Each lane's :math:`r \ge 0` is given as a float, and by ``exact_loss`` as a rational.
    """
    with np.errstate(under="ignore"):
        margin = np.exp(-losses) - unit_floats(words)
    out = margin > 0
    for lane in np.flatnonzero(np.abs(margin) <= SLACK).tolist():
        uniform = LazyUniform(source, int(words[lane]), 64)
        out[lane] = uniform.below(exp_neg(exact_loss(lane)))
    return out


# ---- Rare events among many lanes ----------------------------------------------------------------
#
# Where every lane is marked independently with probability :math:`1/128`, the numbers of unmarked
# lanes before each mark are independent with
#
# .. math:: P(k) = \tfrac{1}{128} \left(\tfrac{127}{128}\right)^k, \qquad
#           T_k = 1 - \left(\tfrac{127}{128}\right)^{k+1},
#
# and the other way round: marks that leave such gaps are independent. So only the marks are drawn,
# one lane in 128, from the cumulative law :math:`T_k` (`sourdine.noise.steps`), which is rational.


RARITY = 128


def rare_lanes(count: int, source: Source) -> Ints:
    """Mark each of ``count`` lanes with probability 1/128; return the marked ones, ascending."""
    expected = count // RARITY
    found = np.empty(0, np.int64)
    last = -1
    while last < count:
        gaps = np.empty(expected + 6 * isqrt(expected) + 16, np.int64)
        _gaps().fill(gaps, source)
        lanes = last + np.cumsum(gaps + 1)
        last = int(lanes[-1])
        found = np.concatenate((found, lanes))
    return found[: np.searchsorted(found, count)]


@lru_cache(1)
def _gaps() -> Steps:
    return Steps(_ladder, identity)


def _ladder(bits: int) -> tuple[list[int], list[int]]:
    spare = 64
    one = 1 << (bits + spare)
    low: list[int] = []
    high: list[int] = []
    power_low = power_high = one
    while power_high >> spare:
        power_low = power_low * (RARITY - 1) // RARITY
        power_high = -(-power_high * (RARITY - 1) // RARITY)
        low.append(one - power_high >> spare)
        high.append(-(power_low - one >> spare))
    return low, high


# ---- Coins of any probability --------------------------------------------------------------------
#
# A lane's uniform :math:`W` starts with one random byte. With :math:`l \le 256 p \le h` (integers),
# a byte below :math:`l` means :math:`W < p`, a byte of :math:`h` or more means :math:`W \ge p`, and
# one byte in 256 is open: that lane gets the next 56 bits of its own :math:`W`, and in one case of
# about :math:`2^{64}` as many more as it takes (`sourdine.noise.source`).
#
# Many lanes at once are faster without the open bytes. Let :math:`a = \lfloor 256p \rfloor/256`
# and :math:`p \le 1/2` (else the other side is tossed). A byte shows heads with probability
# :math:`a`; in addition, each lane is marked with probability 1/128 (`rare_lanes`) and a mark
# kept with probability :math:`128 (p - a)/(1 - a) \le 1`. One or the other happens with probability
# :math:`a + (1 - a)\frac{p - a}{1 - a} = p`.
#
# For coins as packed bits (`bernoulli_bits`), eight lanes are tossed in one byte.
# With :math:`a = 0.a_1 \ldots a_8` in binary and fair bits :math:`r_i`, let :math:`x_9 = 0` and
# :math:`x_i = x_{i+1} \lor r_i` if :math:`a_i = 1`, else :math:`x_i = x_{i+1} \land r_i`. Then
# :math:`P(x_i) = (a_i + P(x_{i+1}))/2`, so :math:`P(x_1) = a`, in every bit of the byte at once.


_BYTE = np.dtype("u1")
_COIN_CHUNK = 1 << 18
_MANY = 1 << 16
_LAST_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class _Coin:
    """A probability with its integer bounds at 8 and at 64 bits."""

    chance: Real
    low8: int
    high8: int
    low64: int
    high64: int

    @staticmethod
    def of(p: Real | Number) -> _Coin:
        chance = p if isinstance(p, Real) else Real.of(probability(p, "p"))
        low, high = chance.bounds(64)
        if low > 1 << 64:
            raise ParameterError("p", "be from 0 to 1", "a real above 1", "Divide by its total.")
        return _Coin(chance, low >> 56, -(-high >> 56), low, high)

    def decide(self, word: int, source: Source) -> bool:
        """Decide from the first 64 bits, and from more if they leave it open."""
        if word < self.low64:
            return True
        return word < self.high64 and LazyUniform(source, word, 64).below(self.chance)


_coin = remembered(256)(_Coin.of)


@overload
def bernoulli(p: Real | Number, size: None = None, *, source: Source = ...) -> bool: ...
@overload
def bernoulli(p: Real | Number, size: Shape, *, source: Source = ...) -> Bools: ...
def bernoulli(p: Real | Number, size: Size = None, *, source: Source = SYSTEM) -> bool | Bools:
    r"""Draw True with probability exactly ``p``.

    Parameters
    ----------
    p
        A number from 0 to 1 (a float means the decimal it prints), or a `Real` such as
        :math:`e^{-r}` or :math:`1/(1+e^\varepsilon)`.
    size, source
        As in `discrete_laplace`.

    Notes
    -----
    Exact: ``tests/noise/test_coins.py`` feeds chosen bits and compares with rationals.

    Examples
    --------
    >>> bernoulli(1, 3).tolist()
    [True, True, True]
    """
    coin = _coin(p)
    if size is None:
        return coin.decide(int.from_bytes(source.bytes(8), "little"), source)
    count, shape = lanes(size)
    if coin.high8 > coin.low8 + 1:  # so near a multiple of 1/256 that two bytes are open
        return _toss_each([coin], np.zeros(count, np.int64), source).reshape(shape)
    toss = _toss if count < _MANY else _toss_many
    return toss(coin, count, source).reshape(shape)


@dataclass(frozen=True, slots=True)
class _Split:
    """A coin of at most 1/2, or its other side, as a byte's threshold and a rare addition."""

    byte: int
    rare: _Coin
    inverted: bool

    @staticmethod
    def of(coin: _Coin) -> _Split | None:
        """Return the parts, or None if the coin is so near k/256 that two bytes are open."""
        inverted = coin.low8 >= 128
        side = _Coin.of(1 - coin.chance) if inverted else coin
        if side.high8 > side.low8 + 1:
            return None
        a = Fraction(side.low8, 256)
        return _Split(side.low8, _Coin.of((side.chance - a) * (RARITY / (1 - a))), inverted)


_split = remembered(256)(_Split.of)


def _toss_many(coin: _Coin, count: int, source: Source) -> Bools:
    """Toss one coin for all lanes, by a byte each and rare additions."""
    split = _split(coin)
    if split is None:
        return _toss(coin, count, source)
    out = np.empty(count, np.bool_)
    compare = np.greater_equal if split.inverted else np.less
    for start in range(0, count, _COIN_CHUNK):
        part = out[start : start + _COIN_CHUNK]
        compare(draw(source, part.size, _BYTE), split.byte, out=part)
    marked = rare_lanes(count, source)
    out[marked[_toss(split.rare, marked.size, source)]] = not split.inverted
    return out


def _toss(coin: _Coin, count: int, source: Source) -> Bools:
    """Toss one coin for all lanes; the open byte, if there is one, is ``low8``."""
    out = np.empty(count, np.bool_)
    is_open = np.zeros(min(_COIN_CHUNK, count + -count % 8), np.bool_)
    eights = is_open.view(np.uint64)  # open lanes are rare: test eight at once
    found = [(np.empty(0, np.intp), np.empty(0, np.uint64))]
    for start in range(0, count, _COIN_CHUNK):
        part = out[start : start + _COIN_CHUNK]
        heads = draw(source, part.size, _BYTE)
        np.less(heads, coin.low8, out=part)
        if coin.high8 > coin.low8:
            np.equal(heads, coin.low8, out=is_open[: part.size])
            is_open[part.size :] = False
            (hit,) = (eights != 0).nonzero()
            found.append((hit * 8 + start, eights[hit]))
    firsts, flags = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    (place,) = flags.view(np.bool_).nonzero()
    lane = firsts[place >> 3] + (place & 7)
    words = _lengthened(np.full(lane.size, min(coin.low8, 255), np.uint8), source)
    out[lane] = words < coin.low64
    for i in np.flatnonzero((words >= coin.low64) & (words < coin.high64)):
        out[lane[i]] = coin.decide(int(words[i]), source)
    return out


def bernoulli_bits(
    p: Real | Number, rows: int, columns: int, *, source: Source = SYSTEM
) -> NDArray[np.uint8]:
    """Draw rows of coins of probability exactly ``p``, packed into bytes.

    Coin ``j`` of a row is bit ``j % 8`` of its byte ``j // 8``; the bits after the last are 0. The
    law is that of `bernoulli`: ``test_packed_coins_are_exact``.

    Examples
    --------
    >>> bernoulli_bits(1, 2, 10).tolist()
    [[255, 3], [255, 3]]
    """
    coin, width = _coin(p), -(-columns // 8)
    split = None if coin.high8 > coin.low8 + 1 else _split(coin)
    if split is None:
        coins = bernoulli(p, (rows, columns), source=source)
        return np.packbits(coins, axis=1, bitorder="little")
    flat = _dyadic_bits(split.byte, rows * width, source)
    marked = rare_lanes(8 * flat.size, source)
    kept = marked[_toss(split.rare, marked.size, source)]
    np.bitwise_or.at(flat, kept >> 3, np.left_shift(1, kept & 7).astype(np.uint8))
    if split.inverted:
        np.invert(flat, out=flat)
    drawn = flat.reshape(rows, width)
    if columns % 8:
        drawn[:, -1] &= (1 << columns % 8) - 1
    return drawn


def _dyadic_bits(byte: int, count: int, source: Source) -> NDArray[np.uint8]:
    """Return bytes whose bits are 1 with probability byte / 256."""
    out = np.zeros(count, np.uint8)
    least = (byte & -byte).bit_length() - 1  # below it x stays 0: nothing to draw
    for digit in range(least, 8) if byte else ():
        step = np.bitwise_or if byte >> digit & 1 else np.bitwise_and
        step(out, draw(source, count, _BYTE), out=out)
    return out


def bernoulli_table(
    probabilities: Sequence[Real | Number], codes: object, *, source: Source = SYSTEM
) -> Bools:
    r"""Draw for each lane :math:`i` True with probability ``probabilities[codes[i]]``, exactly.

    For mechanisms whose coin depends on the record. The work does not depend on the codes, except
    for one lane in 256 on average whose byte leaves its coin open.

    Parameters
    ----------
    probabilities
        The coins, as in `bernoulli`.
    codes
        Whole numbers, each an index of ``probabilities``; any shape.
    source
        The source of random bits.

    Examples
    --------
    >>> bernoulli_table([0, 1], [1, 0, 1]).tolist()
    [True, False, True]
    """
    coins = [_coin(p) for p in probabilities]
    lane_codes = int64_array(codes, "codes", least=0, most=len(coins) - 1)
    return _toss_each(coins, lane_codes.ravel(), source).reshape(lane_codes.shape)


def _toss_each(coins: list[_Coin], codes: Ints, source: Source) -> Bools:
    heads = draw(source, codes.size, _BYTE)
    out = heads < np.array([coin.low8 for coin in coins], np.uint16)[codes]
    still_open = ~out & (heads < np.array([coin.high8 for coin in coins], np.uint16)[codes])
    (lane,) = still_open.nonzero()
    words = _lengthened(heads[lane], source)
    open_codes = codes[lane]
    low = np.array([min(coin.low64, _LAST_WORD) for coin in coins], np.uint64)[open_codes]
    last = np.array([min(max(coin.high64 - 1, 0), _LAST_WORD) for coin in coins], np.uint64)
    out[lane] = words < low
    for i in np.flatnonzero((words >= low) & (words <= last[open_codes])):
        out[lane[i]] = coins[open_codes[i]].decide(int(words[i]), source)
    return out


def _lengthened(heads: NDArray[np.uint8], source: Source) -> Words:
    """Return 64-bit words that start with the bytes already drawn."""
    words = heads.astype(np.uint64) << np.uint64(56)
    words |= draw_words(source, heads.size) >> np.uint64(8)
    return words


# ---- Coins of probability :math:`e^{-r}`, one exponent for each lane -----------------------------


def bernoulli_exp(multiples: object, rate: Number, *, source: Source = SYSTEM) -> Bools:
    r"""Draw for each lane True with probability :math:`e^{-r n_i}`, exactly.

    Parameters
    ----------
    multiples
        The whole numbers :math:`n_i`, zero or more; any shape.
    rate
        The number :math:`r`, zero or more; a float means the decimal it prints.
    source
        The source of random bits.

    Notes
    -----
    Exact: a lane is decided in floating point only where :math:`2^{-30}` of doubt changes nothing,
    else with integers (``tests/noise/test_coins.py``).

    Examples
    --------
    >>> bernoulli_exp([0, 0, 10**6], 1).tolist()
    [True, True, False]
    """
    whole = int64_array(multiples, "multiples", least=0)
    return toss_exp(whole.ravel(), rate, source).reshape(whole.shape)


def toss_exp(multiples: Ints | Words, rate: Number, source: Source) -> Bools:
    """Draw as `bernoulli_exp` for clean, flat multiples."""
    exact_rate = at_least(rate, "rate", 0)
    slope = float_rate(exact_rate)
    out = np.empty(multiples.size, np.bool_)
    for start in range(0, out.size, CHUNK):
        part = multiples[start : start + CHUNK]

        def exact_loss(lane: int, part: Ints | Words = part) -> Fraction:
            return int(part[lane]) * exact_rate

        losses = part.astype(np.float64) * slope
        words = draw_words(source, part.size)
        out[start : start + CHUNK] = below_exp(words, losses, exact_loss, source)
    return out
