r"""The law of a sum of losses by one tilted FFT, with a bound on every error.

Masses are multiplied by :math:`e^{\theta l}` and normalised before they are transformed, with
:math:`\theta` at the saddle point of :math:`\varepsilon`, so what matters is in the middle of the
law and not in its tail: the error is relative to delta, however small delta is.

* Transforms of size :math:`N` have an error of at most :math:`8u\log_2 N` relative to their
  2-norm [1]_. The transforms of laws are at most 1, so the errors of factors add up.
* Relative errors of masses stay relative: all masses are positive.
* What is wrapped around the end of the window is bounded by Chernoff's inequality.

References
----------
.. [1] N. Higham, "Accuracy and stability of numerical algorithms", SIAM 2002, theorem 24.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.pairs import ULP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.privacy.accounting.lattice import Laid

    Floats = NDArray[np.float64]

__all__ = ["Cumulants", "Tilted", "combined_beyond", "tilted"]

NEGLIGIBLE = log(1e-16)


class Cumulants:
    """The cumulant generating function of a sum, in lattice steps."""

    def __init__(self, draws: Sequence[Laid]) -> None:
        self.draws = draws
        sizes = np.array([len(d.mass) for d in draws])
        self._start = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        self._part = np.repeat(np.arange(len(draws)), sizes)
        self._x = np.concatenate([d.first + np.arange(len(d.mass)) for d in draws]).astype(float)
        self._mass = np.concatenate([d.mass for d in draws])
        self._times = np.array([d.times for d in draws], float)

    @cached_property
    def least(self) -> int:
        """The least sum."""
        return sum(d.times * d.first for d in self.draws)

    @cached_property
    def most(self) -> int:
        """The largest sum."""
        return sum(d.times * (d.first + len(d.mass) - 1) for d in self.draws)

    def at(self, theta: float) -> tuple[float, float, float]:
        """Return the function and its first two derivatives."""
        exponent = theta * self._x
        top = np.maximum.reduceat(exponent, self._start)
        e = self._mass * np.exp(exponent - top[self._part])
        total = np.add.reduceat(e, self._start)
        mean = np.add.reduceat(e * self._x, self._start) / total
        spread = np.add.reduceat(e * (self._x - mean[self._part]) ** 2, self._start) / total
        n = self._times
        sums = (n * (np.log(total) + top), n * mean, n * spread)
        k0, k1, k2 = (float(x.sum()) for x in sums)
        return k0, k1, k2

    def saddle(self, where: float) -> float:
        """Return about the tilt at which the mean is ``where``; 0 if it is above without one."""
        where = min(where, self.most - 1e-3)
        if self.at(0.0)[1] >= where:
            return 0.0
        low, high = 0.0, 1e-3
        while self.at(high)[1] < where and high < 600:
            low, high = high, 2 * high
        theta = (low + high) / 2
        for _ in range(40):
            _, mean, variance = self.at(theta)
            low, high = (theta, high) if mean < where else (low, theta)
            better = theta + (where - mean) / max(variance, 1e-300)
            better = better if low < better < high else (low + high) / 2
            if abs(better - theta) <= 1e-6 * theta:
                break
            theta = better
        return theta

    def tail(self, theta: float, where: float) -> float:
        """Bound the logarithm of the tilted mass beyond ``where``, on its side of the mean."""
        k0, k1, k2 = self.at(theta)
        lean = (where - k1) / max(k2, 1e-300)
        best = 0.0
        for part in 2.0 ** np.arange(1, -40, -1):
            found = self.at(theta + part * lean)[0] - k0 - part * lean * where
            if found > best and best < 0:
                break
            best = min(best, found)
        return best + 1e-6


@dataclass(frozen=True, eq=False)
class Tilted:
    r"""The law of a sum: its mass at :math:`j` is :math:`y_j e^{c - \theta j}`.

    Parameters
    ----------
    theta, scale
        :math:`\theta` and :math:`c`, for a lattice point ``origin`` in place of 0.
    origin, first
        Lattice points: where the tilt is 1, and where ``y`` begins.
    y
        The tilted masses.
    error
        A bound on the 2-norm of their error.
    relative
        A bound on the relative error of everything else.
    wrapped
        A bound on the tilted mass outside the window.
    """

    theta: float
    scale: float
    origin: int
    first: int
    y: Floats
    error: float
    relative: float
    wrapped: float

    @cached_property
    def _size(self) -> float:
        return _norm(self.y)

    def ends(
        self, weight: Floats, offset: int, position: Fraction, most: float
    ) -> tuple[float, float]:
        r"""Return two ends of :math:`\sum_j w_j P_j`, for weights that hold the tilt.

        Parameters
        ----------
        weight
            :math:`w_j e^{-\theta(j - x)}` for consecutive points j.
        offset
            Where the weights begin in ``y``.
        position
            :math:`x`, in steps.
        most
            A bound on all weights, in the window or not.
        """
        y = self.y[offset : offset + len(weight)]
        value, norm = float((weight * y).sum()), _norm(weight)
        dot = 32 * ULP * norm * self._size
        away = float(self.origin - position)
        exponent = self.scale + self.theta * away
        slack = self.error * norm + dot + self.wrapped * most
        loose = self.relative + 8 * ULP * (abs(self.scale) + self.theta * abs(away) + 1000)
        factor = exp(exponent) if exponent < 700 else inf
        upper = factor * (value + slack) * exp(loose)
        return max(factor * (value - slack) * exp(-loose), 0.0), upper


def tilted(sums: Cumulants, theta: float) -> Tilted:
    """Return the law of a sum under a tilt of ``theta`` a step."""
    draws = sums.draws
    first, last, wrapped = _window(sums, theta)
    size = 1 << max(int(last - first).bit_length(), 4)
    tau = 8 * ULP * log2(size)
    z: NDArray[np.complex128] | None = None
    scale = error = relative = 0.0
    origin = lows = 0
    for draw in draws:
        n, length = draw.times, len(draw.mass)
        back = np.arange(1 - length, 1) if theta >= 0 else np.arange(length)
        e = draw.mass * np.exp(theta * back)
        total = float(e.sum())
        b = np.zeros(size)
        np.add.at(b, np.arange(length) % size, e / total)
        power = _power(np.fft.rfft(b), n)
        z = power if z is None else z * power
        scale += n * log(total)
        origin += n * (draw.first + length - 1)
        lows += n * draw.first
        error += n * (tau + 8 * ULP) * _norm(b)
        rounding = 2 * abs(theta) * length + 2 * log2(length + 1) + 32 + 2 * abs(log(total))
        relative += n * (draw.slack + ULP * rounding)
    y = np.fft.irfft(np.ones(size // 2 + 1, complex) if z is None else z, size)
    error = 1.01 * error + tau * _norm(y)
    y = np.roll(y, (lows - first) % size)
    return Tilted(theta, scale, origin, first, y, error, relative, wrapped)


def _norm(x: Floats) -> float:
    """Return the 2-norm, by sums in pairs: threads of a BLAS cost more than they save."""
    return sqrt(float(np.square(x).sum()))


def _power(z: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """Return a power by squaring, with an error of a few units in the last place each time."""
    result, square = None, z
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        square = square * square if n else square
    return z if result is None else result


def _window(sums: Cumulants, theta: float) -> tuple[int, int, float]:
    """Return where the tilted law begins and ends, and a bound on the mass elsewhere."""
    _, mean, variance = sums.at(theta)
    half = 9.5 * sqrt(max(variance, 1.0)) + 2
    for _ in range(12):
        first, last = max(sums.least, floor(mean - half)), min(sums.most, ceil(mean + half))
        above = -inf if last == sums.most else sums.tail(theta, last + 1)
        below = -inf if first == sums.least else sums.tail(theta, first - 1)
        if max(above, below) < NEGLIGIBLE:
            break
        half *= 1.4
    return first, last, exp(above) + exp(below)


def combined_beyond(draws: Sequence[Laid]) -> float:
    """Return the mass of infinite loss of all draws together, rounded up."""
    if any(d.beyond > 0.99 for d in draws):
        return 1.0
    logs = sum(d.times * log1p(-d.beyond) for d in draws)
    return -expm1(logs) * (1 + 1e-12) if logs else 0.0
