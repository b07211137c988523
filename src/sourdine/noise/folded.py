r"""Geometric draws, from discrete Laplace noise folded in half."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.exact import positive
from sourdine.noise.laplace import discrete_laplace
from sourdine.noise.lazy import remembered
from sourdine.noise.source import SYSTEM, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise.sizes import Shape, Size

__all__ = ["geometric"]

_scale = remembered(1024)(lambda r: 1 / positive(r, "r"))


@overload
def geometric(r: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def geometric(r: Number, size: Shape, *, source: Source = ...) -> NDArray[np.int64]: ...
def geometric(r: Number, size: Size = None, *, source: Source = SYSTEM) -> int | NDArray[np.int64]:
    r"""Draw :math:`k \ge 0` with probability exactly :math:`(1 - e^{-r}) e^{-rk}`.

    Parameters
    ----------
    r
        A positive number; a float means the decimal it prints.
    size
        ``None`` for one Python int, a length or a shape for an array.
    source
        Where the bits come from.

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
