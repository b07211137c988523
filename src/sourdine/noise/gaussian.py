r"""Discrete Gaussian noise: :math:`P(x) \propto e^{-x^2/(2\sigma^2)}` on the integers."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isqrt
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.noise.coins import SLACK, below_exp
from sourdine.noise.laplace import FEW, LARGEST, BlockLaw, BlockTable, LaplaceBits, block_shift
from sourdine.noise.source import (
    SYSTEM,
    LazyUniform,
    Shape,
    Size,
    Source,
    draw_words,
    lanes,
    python_int,
    remembered,
    saturated,
    saturated_array,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise.source import Bools, Ints


_NARROWEST = Fraction(1, 1 << 60)
"""For the filter: below this, 0 is practically certain."""

_WIDEST = 10**300
"""The greatest variance, so that it fits into a float."""


class _GaussianLaw(BlockLaw):
    r"""Blocks of the law: :math:`\phi(x) = x^2 / (2\sigma^2)`, the scale being the variance.

    Block :math:`k \ge 0` weighs :math:`e^{-\phi(kM)}` and block :math:`-1-k` weighs
    :math:`e^{-\phi(kM + 1)}`. Both sequences are :math:`w_{k+1} = w_k r_k`,
    :math:`r_{k+1} = r_k \rho` with :math:`\rho = e^{-M^2/\sigma^2}`, so what follows a weight
    :math:`w_k` is at most :math:`w_{k+1} / (1 - r_{k+1})`.
    """

    __slots__ = ()

    def ladder(self, bits: int) -> tuple[list[int], list[int]]:
        precision = bits + 96
        above, below = (_Weights(self, first, precision) for first in (0, 1))
        low_sums, high_sums = [0], [0]
        while (above.high + below.high) >> (precision - bits - 32) or len(low_sums) == 1:
            for weights in (above, below):
                low_sums.append(low_sums[-1] + weights.low)
                high_sums.append(high_sums[-1] + weights.high)
                weights.step()
        least, most = low_sums[-1], high_sums[-1] + above.tail() + below.tail()
        low = [(partial << bits) // most for partial in low_sums[1:]]
        high = [-((-partial << bits) // least) for partial in high_sums[1:]]
        return low, high

    def loss_of(self, nearest: Any, further: Any, scale: Any) -> Any:
        return (2 * nearest + further) * further / (2 * scale)


class _Weights:
    """One of the two sequences of block weights, as integers around them times ``2**precision``."""

    __slots__ = ("_precision", "_ratio_high", "_ratio_low", "_rho", "high", "low")

    def __init__(self, law: _GaussianLaw, first: int, precision: int) -> None:
        length = 1 << law.shift
        self._precision = precision
        self.low, self.high = exp_neg(law.loss(0, first)).enclosure(precision)
        self._ratio_low, self._ratio_high = exp_neg(law.loss(first, length)).enclosure(precision)
        self._rho = exp_neg(2 * law.loss(0, length)).enclosure(precision)

    def step(self) -> None:
        precision = self._precision
        self.low = self.low * self._ratio_low >> precision
        self.high = -(-self.high * self._ratio_high >> precision)
        self._ratio_low = self._ratio_low * self._rho[0] >> precision
        self._ratio_high = -(-self._ratio_high * self._rho[1] >> precision)

    def tail(self) -> int:
        """Return a bound of the sum of this weight and all that follow."""
        return -((-self.high << self._precision) // ((1 << self._precision) - self._ratio_high))


class _GaussianBits:
    r"""Draws by rejection from discrete Laplace noise whose work does not depend on its value.

    Canonne, Kamath and Steinke's proposal [1]_: with :math:`t = \lfloor\sigma\rfloor + 1`, a value
    :math:`y` of weight :math:`e^{-|y|/t}` is kept with probability
    :math:`e^{-(|y| - \sigma^2/t)^2 / (2\sigma^2)}`; the product is :math:`e^{-y^2/(2\sigma^2)}`
    up to a constant. The number of proposals says nothing about the value kept.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
       NeurIPS 2020.
    """

    __slots__ = ("_centre", "_proposals", "_scale", "_sigma", "_variance")

    def __init__(self, variance: Fraction) -> None:
        scale = isqrt(int(variance)) + 1
        self._variance = variance
        self._centre = variance / scale
        self._proposals = LaplaceBits(Fraction(scale))
        self._sigma = float(max(variance, _NARROWEST)) ** 0.5
        self._scale = float(scale)

    def one(self, source: Source, centre: int = 0) -> int:
        """Draw one value and add ``centre``; beyond 64 bits it is clamped."""
        value = self.word(source)
        return centre + saturated(value) if isinstance(value, int) else python_int(value, centre)

    def word(self, source: Source) -> Ints | int:
        """Draw one value: a 64-bit integer as an array, or a Python int of any size."""
        while True:
            value = self._proposals.word(source)
            if self._keeps(value, source):
                return value

    def _keeps(self, value: Ints | int, source: Source) -> bool:
        word = int.from_bytes(source.bytes(8), "little")
        magnitude = abs(float(value if isinstance(value, int) else value[0]))
        score = magnitude / self._sigma - self._sigma / self._scale
        margin = exp(-score * score / 2) - word * 2.0**-64
        if abs(margin) > SLACK:
            return margin > 0
        exact = value if isinstance(value, int) else int(value[0])
        return LazyUniform(source, word, 64).below(exp_neg(self._loss(exact)))

    def _loss(self, value: int) -> Fraction:
        return (abs(value) - self._centre) ** 2 / (2 * self._variance)

    def many(self, count: int, source: Source) -> NDArray[Any]:
        parts, missing = [], count
        while missing > 0:
            proposed = self._proposals.many(missing + missing // 2 + 8, source)
            kept = proposed[self._kept(proposed, source)]
            parts.append(kept[:missing])
            missing -= kept.size
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _kept(self, values: NDArray[Any], source: Source) -> Bools:
        magnitudes = np.abs(values).astype(np.float64)
        scores = magnitudes / self._sigma - self._sigma / self._scale
        return below_exp(
            draw_words(source, values.size), scores * scores / 2,
            lambda lane: self._loss(int(values[lane])), source,
        )  # fmt: skip


def _checked(variance: Number) -> Fraction:
    exact = positive(variance, "variance")
    if exact > _WIDEST:
        raise ParameterError(
            "variance", "be at most 1e300", given(variance),
            "Use a smaller value, such as {variance}.", variance=1,
        )  # fmt: skip
    return exact


@remembered(1024)
def _gaussian_bits(variance: Number) -> _GaussianBits:
    return _GaussianBits(_checked(variance))


@remembered(32)
def _blocks(variance: Fraction) -> BlockTable:
    return BlockTable(_GaussianLaw(variance, block_shift(isqrt(int(variance)))))


@overload
def discrete_gaussian(variance: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def discrete_gaussian(variance: Number, size: Shape, *, source: Source = ...) -> Ints: ...
def discrete_gaussian(
    variance: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw whole numbers with probability exactly proportional to :math:`e^{-x^2/(2\sigma^2)}`.

    Parameters
    ----------
    variance
        The positive :math:`\sigma^2`; a float means the decimal it prints.
    size, source
        As in `discrete_laplace`.

    Notes
    -----
    The law is exact (``tests/noise/test_gaussian.py``) up to one final step: a value beyond the
    64-bit integers is clamped to the nearest of them. Fewer than 20,000 draws take a time that does
    not depend on their values; more are drawn by table.

    Examples
    --------
    >>> discrete_gaussian(0.001, 4).tolist()
    [0, 0, 0, 0]
    """
    bits = _gaussian_bits(variance)
    if size is None:
        return bits.one(source)
    count, shape = lanes(size)
    exact = _checked(variance)
    if count >= FEW and exact < LARGEST**2:
        out = np.empty(count, np.int64)
        _blocks(exact).fill(out, source)
        return out.reshape(shape)
    return saturated_array(bits.many(count, source)).reshape(shape)


def gaussian_around(centre: int, variance: Number, *, source: Source = SYSTEM) -> int:
    r"""Draw one whole number with probability exactly :math:`\propto e^{-(x - c)^2/(2\sigma^2)}`.

    The same as ``centre + discrete_gaussian(variance)``, by work that does not depend on the sum
    (see `laplace_around`).

    Parameters
    ----------
    centre
        The integer :math:`c`, of any size.
    variance, source
        As in `discrete_gaussian`.

    Examples
    --------
    >>> gaussian_around(7, 0.001)
    7
    """
    return _gaussian_bits(variance).one(source, integer(centre, "centre"))
