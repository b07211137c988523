r"""Discrete Laplace noise from independent coins: the same work whatever the value.

With :math:`q = e^{-1/t}` and :math:`G = \sum_j b_j 2^j`,

.. math:: P(G = g) \propto q^g = \prod_j (q^{2^j})^{b_j},

so :math:`G` is geometric exactly when its binary digits are independent coins of probability
:math:`q^{2^j} / (1 + q^{2^j})`. The digits from :math:`J` on are one coin: they are not all 0 with
probability :math:`q^{2^J}`, and then their number is geometric again, of that ratio, plus one.
With :math:`z = (1 - q)/(1 + q)`, the value 0 with probability :math:`z` and otherwise
:math:`\pm(1 + G)` with a fair sign has

.. math:: P(k) = \tfrac{1 - z}{2} (1 - q) q^{|k| - 1} = z\, q^{|k|}, \qquad k \ne 0.

Every draw compares the same :math:`J + 3` words of 32 bits with the same thresholds; a word equal
to its threshold's first 32 bits (one draw in 10^8) is drawn on to more bits. No step depends on the
value, so neither does the time (``tests/noise/test_timing.py``), unlike methods that count up to it
[1]_.

References
----------
.. [1] J. Jin, E. McMurtry, B. Rubinstein, O. Ohrimenko, "Are we there yet? Timing and
   floating-point attacks on differential privacy systems", IEEE S&P 2022.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.exact import Real, exp_neg
from sourdine.noise.lazy import LazyUniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise.source import Source

__all__ = ["LaplaceBits"]

_WORD = np.dtype("<u4")
_ROWS = 1 << 12


class LaplaceBits:
    """Draws discrete Laplace noise of one scale, coin by coin.

    Parameters
    ----------
    scale
        The positive t of the law.

    Attributes
    ----------
    digits
        The J of the law: how many binary digits have a coin of their own.
    """

    __slots__ = ("_chances", "_floors", "_scale", "digits")

    def __init__(self, scale: Fraction) -> None:
        self._scale = scale
        self.digits = max(0, (45 * scale.numerator // scale.denominator).bit_length())
        ratio = exp_neg(1 / scale)
        powers = [exp_neg((1 << j) / scale) for j in range(self.digits + 1)]
        coins = [power / (1 + power) for power in powers[:-1]]
        half = Real.of(Fraction(1, 2))
        self._chances = [*coins, (1 - ratio) / (1 + ratio), powers[-1], half]
        self._floors = np.array([chance.bounds(32)[0] for chance in self._chances], _WORD)

    def one(self, source: Source) -> int:
        """Draw one value, as large as it comes."""
        data = source.bytes(4 * len(self._chances))
        words = np.frombuffer(data, _WORD)
        coins = words < self._floors
        if b"\1" in (words - self._floors < 2).tobytes():
            self._refine(words, coins, source)
        packed = int.from_bytes(np.packbits(coins, bitorder="little").tobytes(), "little")
        return self._value(packed, source)

    def _value(self, packed: int, source: Source) -> int:
        """Put the coins together: digits, zero, tail, sign."""
        digits = self.digits
        magnitude = packed & ((1 << digits) - 1)
        if packed >> digits & 2:
            magnitude += self._tail(source)
        return (1 + magnitude) * (1 - (packed >> digits & 1)) * (1 - (packed >> digits + 1 & 2))

    def many(self, count: int, source: Source) -> NDArray[Any]:
        """Draw ``count`` values: 64-bit integers, or Python integers where these would not do."""
        parts = [self._rows(min(_ROWS, count - i), source) for i in range(0, count, _ROWS)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _rows(self, count: int, source: Source) -> NDArray[Any]:
        columns = len(self._chances)
        words = np.frombuffer(source.bytes(4 * columns * count), _WORD).reshape(count, columns)
        coins = words < self._floors
        near = words - self._floors < 2
        if near.any():
            for row in np.flatnonzero(near.any(axis=1)).tolist():
                self._refine(words[row], coins[row], source)
        if self.digits > 62 or coins[:, -2].any():
            packed = np.packbits(coins, axis=1, bitorder="little")
            values = [self._value(int.from_bytes(p.tobytes(), "little"), source) for p in packed]
            return np.array(values, object)
        octets = np.zeros((count, 8), np.uint8)
        octets[:, : (self.digits + 7) // 8] = np.packbits(
            coins[:, : self.digits], axis=1, bitorder="little"
        )
        magnitude = octets.view("<i8")[:, 0] + 1
        sign = 1 - 2 * coins[:, -1].astype(np.int64)
        return magnitude * sign * ~coins[:, -3]

    def _refine(self, words: NDArray[np.uint32], coins: NDArray[np.bool_], source: Source) -> None:
        """Decide by more bits the coins whose words are as near as 32 bits can tell."""
        for i in np.flatnonzero(words - self._floors < 2).tolist():
            coins[i] = LazyUniform(source, int(words[i]), 32).below(self._chances[i])

    def _tail(self, source: Source) -> int:
        r"""Draw the digits from J on, given that they are not all 0."""
        uniform, rate, count = LazyUniform(source), (1 << self.digits) / self._scale, 1
        while not uniform.below(1 - exp_neg(rate * count)):
            count += 1
        return count << self.digits
