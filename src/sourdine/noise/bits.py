r"""Discrete Laplace noise from independent coins: the same work whatever the value.

With :math:`q = e^{-1/t}` and :math:`G = \sum_j b_j 2^j`,

.. math:: P(G = g) \propto q^g = \prod_j (q^{2^j})^{b_j},

so :math:`G` is geometric exactly when its binary digits are independent coins of probability
:math:`q^{2^j} / (1 + q^{2^j})`. The digits from :math:`J` on are one coin: they are not all 0 with
probability :math:`q^{2^J}`, and then their number is geometric again, of that ratio, plus one.
With a sign that is - with probability :math:`q / (1 + q)`, take :math:`X = G` or
:math:`X = -1 - G`:

.. math:: P(X = k) = \frac{(1 - q) q^k}{1 + q}, \qquad
          P(X = -1 - k) = \frac{q (1 - q) q^k}{1 + q}, \qquad k \ge 0,

which is :math:`\frac{1 - q}{1 + q} q^{|x|}` throughout. In two's complement :math:`-1 - G` is
:math:`G` with every digit flipped, so value and sign are put together without a branch.

Every draw compares the same words of 32 bits with the same thresholds; a word that is its
threshold's leading 32 bits (one draw in 10^8) is drawn on to more bits. No step depends on the
value, so neither does the time (``benchmarks/noise.py``), unlike methods that count up to it
[1]_.

References
----------
.. [1] J. Jin, E. McMurtry, B. Rubinstein, O. Ohrimenko, "Are we there yet? Timing and
   floating-point attacks on differential privacy systems", IEEE S&P 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.exact import Real, exp_neg
from sourdine.noise.arrays import saturated
from sourdine.noise.equal_work import python_int, python_ints
from sourdine.noise.lazy import LazyUniform

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.noise.source import Source

__all__ = ["LaplaceBits"]

_WORD = np.dtype("<u4")
_INTEGER = np.dtype("<i8")
_ROWS = 1 << 12


class LaplaceBits:
    """Draws discrete Laplace noise of one scale, coin by coin.

    Parameters
    ----------
    scale
        The positive t of the law.
    clip
        Whether a value beyond the 64-bit integers becomes the nearest of them.

    Attributes
    ----------
    digits
        The J of the law: how many binary digits have a coin of their own.
    """

    __slots__ = ("_chances", "_clip", "_columns", "_floors", "_scale", "digits")

    def __init__(self, scale: Fraction, *, clip: bool = False) -> None:
        self._scale = scale
        self._clip = saturated if clip else int
        self.digits = (45 * scale.numerator // scale.denominator).bit_length()
        powers = [exp_neg((1 << j) / scale) for j in range(self.digits + 1)]
        coins = [power / (1 + power) for power in powers]
        width = max(64, self.digits + 8 - self.digits % 8)
        never = [Real.of(0)] * (width - self.digits - 1)  # these digits are all like the sign
        self._chances = [coins[0], *coins[:-1], powers[-1], *never]
        self._floors = np.array([_floor(chance) for chance in self._chances], _WORD)
        self._columns = 1 + (width if self.digits > 62 else self.digits + 8 - self.digits % 8)

    def one(self, source: Source, centre: int = 0) -> int:
        """Draw one value and add ``centre``, in 64-bit arithmetic where that holds both."""
        value = self.word(source)
        if isinstance(value, int):
            return centre + self._clip(value)
        return python_int(value, centre)

    def around(self, centres: Sequence[int], source: Source) -> list[int]:
        """Draw a value for each centre and add them: `one` of each, from one block of bits."""
        values = self.many(len(centres), source)
        if self.digits < 62 and values.dtype != object:
            return python_ints(values, centres)
        return [centre + self._clip(int(x)) for centre, x in zip(centres, values, strict=True)]

    def word(self, source: Source) -> NDArray[np.int64] | int:
        """Draw one value: a 64-bit integer as an array, or a Python int where that may not do."""
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
        """Draw ``count`` values: 64-bit integers, or Python integers where these would not do."""
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

    def _refine(self, words: NDArray[np.uint32], coins: NDArray[np.bool_], source: Source) -> None:
        """Decide by more bits the coins whose words are those of their thresholds."""
        for i in np.flatnonzero(words == self._floors[: words.size]).tolist():
            coins[i] = LazyUniform(source, int(words[i]), 32).below(self._chances[i])

    def _with_tail(self, coins: NDArray[np.bool_], source: Source) -> int:
        """Return the value whose digits from J on are not all 0."""
        digits = np.packbits(coins[1 : self.digits + 1], bitorder="little")
        magnitude = int.from_bytes(digits.tobytes(), "little")
        uniform, rate, count = LazyUniform(source), (1 << self.digits) / self._scale, 1
        while not uniform.below(1 - exp_neg(rate * count)):
            count += 1
        magnitude += count << self.digits
        return ~magnitude if coins[0] else magnitude


def _floor(chance: Real) -> int:
    """Return the leading 32 bits: a word below is below the chance, a word above is above it."""
    more = 64
    while True:
        low, high = chance.bounds(32 + more)
        if low >> more == max(low, high - 1) >> more:
            return low >> more
        more *= 2
