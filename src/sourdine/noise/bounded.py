"""Bounded Laplace noise and staircase noise on the integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, positive
from sourdine.noise.coins import bernoulli, float_rate, unit_floats
from sourdine.noise.laplace import geometric
from sourdine.noise.source import (
    HIGHEST,
    SYSTEM,
    LazyUniform,
    Shape,
    Size,
    Source,
    draw_words,
    int64_array,
    lanes,
    same_shape,
    uniform_below,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.exact import Number
    from sourdine.noise.source import Bools, Floats, Ints, Words


# ---- Laplace noise within bounds, by its inverse law ---------------------------------------------
#
# For :math:`a = e^{-\lambda}` and :math:`x` in :math:`\{0, \ldots, m\}`, draw
# :math:`P(y) \propto a^{|y - x|}` on :math:`\{0, \ldots, m\}`. Noise drawn again until it falls
# inside would take a time that depends on :math:`x`; here every lane takes one uniform :math:`W`,
# and the value is the least :math:`y` with :math:`W < F(y)`,
#
# .. math::
#
#     F(y) = \frac{a^{x-y} - a^{x+1}}{N} \ (y \le x), \qquad
#     1 - F(y) = \frac{a^{y-x+1} - a^{m-x+1}}{N} \ (y \ge x), \qquad
#     N = 1 + a - a^{x+1} - a^{m-x+1}.
#
# *Filter.* Seen from :math:`x`, each side is the same problem: with :math:`D(k) = 1 - a^k`, find
# the distance :math:`j \le n` with :math:`G(j + 1) < s < G(j)`, where
# :math:`G(j) = a^j D(n - j + 1)`, so that :math:`G(j) - G(j + 1) = a^j D(1)`. To the left
# :math:`n = x` and :math:`s = NW`; to the right :math:`n = m - x - 1` and :math:`s = N(1 - W)/a`.
# :math:`N`, :math:`s` and :math:`G(j)` are sums and products of positive numbers, so their floats
# have a *relative* error below :math:`(j\lambda + \lambda + 2) 2^{-51}`
# (``tests/noise/test_filters.py``), and the error of :math:`G(j + 1)` is as small a part of
# :math:`G(j)`. The filter trusts them to :math:`(j\lambda + \lambda + 8) 2^{-49}`, plus
# :math:`2^{-60}` for the bits of :math:`W` not yet drawn, and accepts a :math:`j` only if both
# inequalities hold beyond that. The other lanes compare the same :math:`W` with :math:`F` exactly.


_HIGHEST_TOP = 1 << 52  # beyond, floats cannot hold the distance to both ends
_LANES = 1 << 14
_TABLED = 1 << 12  # up to this top the powers are looked up


@overload
def bounded_laplace(
    x: int, top: int, decay: Number, size: None = None, *, source: Source = ...
) -> int: ...
@overload
def bounded_laplace(
    x: int, top: int, decay: Number, size: Shape, *, source: Source = ...
) -> Ints: ...
@overload
def bounded_laplace(
    x: Ints, top: int, decay: Number, size: Size = None, *, source: Source = ...
) -> Ints: ...
def bounded_laplace(
    x: int | Ints, top: int, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw :math:`y` in ``0..top`` with :math:`P(y) \propto e^{-\lambda|y-x|}`, exactly.

    Parameters
    ----------
    x
        The centre, from 0 to ``top``: an int, or an array with one centre for each lane.
    top
        The greatest value, at most ``2**62``.
    decay
        The positive :math:`\lambda`; a float means the decimal it prints.
    size
        For an int ``x``: ``None`` for one Python int, a length or a shape for an array. For an
        array ``x`` leave it out.
    source
        The source of random bits.

    Notes
    -----
    Exact: ``tests/noise/test_bounded.py`` decides the same bits with rationals.

    Examples
    --------
    >>> bounded_laplace(3, 5, 1000, 4).tolist()
    [3, 3, 3, 3]
    """
    most = integer(top, "top", least=0)
    if most > _HIGHEST_TOP:
        hint = "Coarsen the grid, or use {top} or less."
        raise ParameterError("top", "be at most 2**52", given(most), hint, top=_HIGHEST_TOP)
    centres = int64_array(x, "x", least=0, most=most)
    law = _BoundedLaw(most, positive(decay, "decay"))
    if centres.ndim == 0:
        count, shape = lanes(1 if size is None else size)
        flat = np.full(count, centres)
    else:
        same_shape(size, centres, "x")
        flat, shape = centres.ravel(), centres.shape
    out = np.empty(flat.size, np.int64)
    for start in range(0, flat.size, _LANES):
        out[start : start + _LANES] = law.draw(flat[start : start + _LANES], source)
    return int(out[0]) if centres.ndim == 0 and size is None else out.reshape(shape)


@overload
def truncated_geometric(r: Number, top: int, size: None = None, *, source: Source = ...) -> int: ...
@overload
def truncated_geometric(r: Number, top: int, size: Shape, *, source: Source = ...) -> Ints: ...
def truncated_geometric(
    r: Number, top: int, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw :math:`k` in ``0..top`` with probability exactly proportional to :math:`e^{-rk}`.

    Parameters
    ----------
    r, top, size, source
        As ``decay`` and the other parameters of `bounded_laplace`, with the centre 0.

    Examples
    --------
    >>> truncated_geometric(1, 0, 3).tolist()
    [0, 0, 0]
    """
    return bounded_laplace(0, top, positive(r, "r"), size, source=source)


class _BoundedLaw:
    """The law for one top and one decay, and any centre."""

    __slots__ = ("_decay", "_float_decay", "_gaps", "_powers", "_top")

    def __init__(self, top: int, decay: Fraction) -> None:
        self._top, self._decay = top, decay
        self._float_decay = float_rate(decay)
        self._powers: Floats | None = None
        self._gaps: Floats | None = None
        if top <= _TABLED:
            exponents = -self._float_decay * np.arange(top + 2)
            with np.errstate(under="ignore"):
                self._powers, self._gaps = np.exp(exponents), -np.expm1(exponents)

    def _power(self, k: Ints) -> Floats:
        """Return a**k, for k from 0 to top + 1."""
        return np.exp(-self._float_decay * k) if self._powers is None else self._powers[k]

    def _gap(self, k: Ints) -> Floats:
        return -np.expm1(-self._float_decay * k) if self._gaps is None else self._gaps[k]

    def draw(self, x: Ints, source: Source) -> Ints:
        words = draw_words(source, x.size)
        with np.errstate(all="ignore"):
            y, decided = self._guess(x, words)
        for lane in np.flatnonzero(~decided).tolist():
            uniform = LazyUniform(source, int(words[lane]), 64)
            y[lane] = self._exact(int(x[lane]), int(y[lane]), uniform)
        return y

    def _guess(self, x: Ints, words: Words) -> tuple[Ints, Bools]:
        """Return each lane's value in floating point, and whether it is certain."""
        decay, ratio = self._float_decay, np.exp(-self._float_decay)
        left_mass = self._gap(x + 1)
        total = left_mass + ratio * self._gap(self._top - x)
        right = (total * unit_floats(words) >= left_mass).astype(np.int64)  # 0 or 1: no branches
        unit = total / np.array([1.0, ratio])[right]
        target = unit * unit_floats(words ^ (-right).view(np.uint64))
        room = x + right * (self._top - 1 - 2 * x)
        missing = self._gap(room + 1) - target
        distance = np.floor(np.log1p(-missing) / -decay)
        distance = np.fmax(np.fmin(distance, room), 0)  # also where it is not a number
        steps = distance.astype(np.int64)
        near = self._power(steps)
        upper = near * self._gap(room - steps + 1)
        lower = upper + near * np.expm1(-decay)
        doubt = upper * ((decay * distance + (decay + 8)) * 2.0**-49) + unit * 2.0**-60
        decided = (target - doubt > lower) | (steps == room)
        decided &= target + doubt < upper
        return x - steps + right * (1 + 2 * steps), decided

    def _exact(self, x: int, guess: int, uniform: LazyUniform) -> int:
        """Return the least y with the uniform below F(y), searching near the guess first."""

        def reached(y: int) -> bool:
            return y >= self._top or (y >= 0 and uniform.below(self._cumulative(x, y)))

        low, high, step = guess - 1, guess, 1
        while not reached(high):
            low, high, step = high, min(high + step, self._top), 2 * step
        while low >= 0 and reached(low):
            low, high, step = max(low - step, -1), low, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    def _cumulative(self, x: int, y: int) -> Real:
        def power(k: int) -> Real:
            return exp_neg(k * self._decay)

        total = (1 - power(x + 1)) + (power(1) - power(self._top - x + 1))
        if y <= x:
            return (power(x - y) - power(x + 1)) / total
        return 1 - (power(y - x + 1) - power(self._top - x + 1)) / total


# ---- Staircase noise on the integers (Geng and Viswanath) ----------------------------------------


_LARGEST_SENSITIVITY = 1 << 62


@overload
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: None = None, *, source: Source = ...
) -> int: ...
@overload
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: Shape, *, source: Source = ...
) -> Ints: ...
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw whole numbers from the staircase law, exactly.

    .. math:: P(x) \propto
              \exp\bigl(-\varepsilon\,(\lfloor |x|/D \rfloor + [\,|x| \bmod D \ge r\,])\bigr)

    Parameters
    ----------
    epsilon
        The positive :math:`\varepsilon`: the drop from step to step.
    sensitivity
        The whole number :math:`D \ge 1`: the length of a stair.
    width
        The whole number :math:`r` in ``1 .. sensitivity``: how far a stair's upper part goes.
    size, source
        As in `discrete_laplace`.

    Notes
    -----
    :math:`|x| = gD + u`: :math:`g` is geometric of ratio :math:`e^{-\varepsilon}`; independently
    :math:`u` lies in the upper part, uniform below :math:`r`, with probability
    :math:`r / (r + (D - r)e^{-\varepsilon})`, else in the rest, uniform too; then a fair sign. The
    value 0 with the sign - is drawn again, since it would count 0 twice. A value beyond the 64-bit
    integers becomes 2**63 - 1 or its negative. Exact: ``tests/noise/test_stairs.py``.

    References
    ----------
    .. [1] Q. Geng, P. Viswanath, "The optimal mechanism in differential privacy", ISIT 2014.

    Examples
    --------
    >>> staircase(1000, 1, 1, 3).tolist()
    [0, 0, 0]
    """
    exact = positive(epsilon, "epsilon")
    stair = integer(sensitivity, "sensitivity", least=1)
    upper = integer(width, "width", least=1)
    if stair > _LARGEST_SENSITIVITY:
        hint, most = "Coarsen the grid, or use {sensitivity} or less.", _LARGEST_SENSITIVITY
        raise ParameterError(
            "sensitivity", "be at most 2**62", given(stair), hint, sensitivity=most
        )
    if upper > stair:
        must, hint = f"be from 1 to the sensitivity ({stair})", "Use {width} or less."
        raise ParameterError("width", must, given(upper), hint, width=stair)
    count, shape = lanes(1 if size is None else size)
    chance = upper / (upper + (stair - upper) * exp_neg(exact))
    out = np.empty(count, np.int64)
    lane = np.arange(count)
    while lane.size:
        is_upper = bernoulli(chance, lane.size, source=source)
        length = np.where(is_upper, upper, max(stair - upper, 1))
        within = np.where(is_upper, 0, upper) + uniform_below(length, source=source)
        stairs = geometric(exact, lane.size, source=source)
        beyond = stairs > (HIGHEST - within) // stair
        magnitude = np.where(beyond, HIGHEST, np.where(beyond, 0, stairs) * stair + within)
        negative = bernoulli(0.5, lane.size, source=source)
        out[lane] = np.where(negative, -magnitude, magnitude)
        lane = lane[negative & (magnitude == 0)]
    return int(out[0]) if size is None else out.reshape(shape)
