r"""Discrete Laplace noise: :math:`P(x) \propto e^{-|x|/t}` on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.exact import exp_neg, integer, positive
from sourdine.noise.arrays import saturated_array
from sourdine.noise.bits import LaplaceBits
from sourdine.noise.blocks import LARGEST, BlockTable, block_shift
from sourdine.noise.lazy import remembered
from sourdine.noise.sizes import Shape, Size, lanes
from sourdine.noise.source import SYSTEM, Source

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

__all__ = ["FEW", "discrete_laplace", "laplace_around", "laplace_bits"]

FEW = 20_000
"""Fewer draws than this take the path whose time does not depend on the noise."""


@dataclass(frozen=True, slots=True)
class _LaplaceLaw:
    r"""Blocks of the law: block v weighs :math:`Q^v` from 0 up and :math:`qQ^{-1-v}` below.

    Here :math:`q = e^{-1/t}` and :math:`Q = e^{-2^m/t}`. In the order 0, -1, 1, -2, ... the
    cumulative law is

    .. math:: T_{2k} = 1 - Q^k \frac{q + Q}{1 + q}, \qquad T_{2k+1} = 1 - Q^{k+1}.
    """

    scale: Fraction
    shift: int

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

    def loss(self, nearest: int, further: int) -> Fraction:  # noqa: ARG002
        return further / self.scale

    def float_loss(
        self,
        nearest: NDArray[np.float64],  # noqa: ARG002
        further: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        return further / float(self.scale)


@remembered(1024)
def laplace_bits(scale: Number) -> LaplaceBits:
    """Return the coins of a scale."""
    return LaplaceBits(positive(scale, "scale"), clip=True)


@remembered(32)
def _blocks(scale: Fraction) -> BlockTable:
    return BlockTable(_LaplaceLaw(scale, block_shift(int(scale))))


@overload
def discrete_laplace(scale: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def discrete_laplace(scale: Number, size: Shape, *, source: Source = ...) -> NDArray[np.int64]: ...
def discrete_laplace(
    scale: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
    r"""Draw whole numbers with probability exactly proportional to :math:`e^{-|x|/t}`.

    Parameters
    ----------
    scale
        The positive :math:`t`; a float means the decimal it prints.
    size
        ``None`` for one Python int, a length or a shape for an array of 64-bit integers.
    source
        Where the bits come from.

    Notes
    -----
    The law is exact (``tests/noise/test_laplace.py``) up to one step taken after it: a value beyond
    the 64-bit integers becomes the nearest of them. Fewer than 20 000 draws take the same time
    whatever their values (`sourdine.noise.bits`); more are drawn by table
    (`sourdine.noise.blocks`).

    Examples
    --------
    >>> discrete_laplace(0.001, 4).tolist()
    [0, 0, 0, 0]
    """
    coins = laplace_bits(scale)
    if size is None:
        return coins.one(source)
    count, shape = lanes(size)
    exact = positive(scale, "scale")
    if count >= FEW and exact < LARGEST:
        out = np.empty(count, np.int64)
        _blocks(exact).fill(out, source)
        return out.reshape(shape)
    return saturated_array(coins.many(count, source)).reshape(shape)


def laplace_around(centre: int, scale: Number, *, source: Source = SYSTEM) -> int:
    r"""Draw one whole number with probability exactly proportional to :math:`e^{-|x - c|/t}`.

    The same as ``centre + discrete_laplace(scale)``, but the sum is formed in 64-bit arithmetic and
    made a Python int by work that does not depend on it (`sourdine.noise.equal_work`). Python's
    own sums take some nanoseconds less for the small numbers it keeps ready made, which would tell
    small noise from large (``benchmarks/noise.py``).

    Parameters
    ----------
    centre
        The whole number :math:`c`, of any size.
    scale, source
        As in `discrete_laplace`.

    Examples
    --------
    >>> laplace_around(7, 0.001)
    7
    """
    return laplace_bits(scale).one(source, integer(centre, "centre"))
