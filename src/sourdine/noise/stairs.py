r"""Staircase noise on the integers (Geng and Viswanath)."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.noise.arrays import HIGHEST
from sourdine.noise.coins import bernoulli
from sourdine.noise.folded import geometric
from sourdine.noise.sizes import Shape, Size, lanes
from sourdine.noise.source import SYSTEM, Source
from sourdine.noise.uniform import uniform_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

__all__ = ["staircase"]

_LARGEST_SENSITIVITY = 1 << 62


@overload
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: None = None, *, source: Source = ...
) -> int: ...
@overload
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: Shape, *, source: Source = ...
) -> NDArray[np.int64]: ...
def staircase(
    epsilon: Number, sensitivity: int, width: int, size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
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
    size
        ``None`` for one Python int, a length or a shape for an array.
    source
        Where the bits come from.

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
        hint = "Coarsen the grid, or type {sensitivity} or less."
        most = _LARGEST_SENSITIVITY
        raise ParameterError(
            "sensitivity", "be at most 2**62", given(stair), hint, sensitivity=most
        )
    if upper > stair:
        raise ParameterError(
            "width",
            f"be from 1 to the sensitivity ({stair})",
            given(upper),
            "Type {width} or less.",
            width=stair,
        )
    count, shape = lanes(1 if size is None else size)
    chance = upper / (upper + (stair - upper) * exp_neg(exact))
    out = np.empty(count, np.int64)
    lane = np.arange(count)
    while lane.size:
        within = _within_a_stair(stair, upper, bernoulli(chance, lane.size, source=source), source)
        stairs = geometric(exact, lane.size, source=source)
        beyond = stairs > (HIGHEST - within) // stair
        magnitude = np.where(beyond, HIGHEST, np.where(beyond, 0, stairs) * stair + within)
        negative = bernoulli(0.5, lane.size, source=source)
        out[lane] = np.where(negative, -magnitude, magnitude)
        lane = lane[negative & (magnitude == 0)]
    return int(out[0]) if size is None else out.reshape(shape)


def _within_a_stair(
    stair: int, upper: int, is_upper: NDArray[np.bool_], source: Source
) -> NDArray[np.int64]:
    first = np.where(is_upper, 0, upper)
    length = np.where(is_upper, upper, max(stair - upper, 1))
    return first + uniform_below(length, source=source)
