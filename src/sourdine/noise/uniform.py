r"""Uniform whole numbers, exactly.

From a word :math:`w` uniform on :math:`\{0, \ldots, 2^b - 1\}`, the :math:`2^b \bmod k` smallest
are refused; those left fall evenly into the :math:`k` residues. The choice of :math:`b` keeps
refusals rare, and a refused lane draws a fresh word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, integer
from sourdine.noise.arrays import int64_array
from sourdine.noise.sizes import Shape, Size, lanes
from sourdine.noise.source import SYSTEM, Source, draw, draw_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["uniform_below", "uniform_codes"]

_HALVES: tuple[np.dtype[Any], ...] = (np.dtype("<u2"), np.dtype("<u4"))
_PRODUCTS: tuple[np.dtype[Any], ...] = (np.dtype("<u4"), np.dtype("<u8"))


@overload
def uniform_below(k: int, size: None = None, *, source: Source = ...) -> int: ...
@overload
def uniform_below(k: int, size: Shape, *, source: Source = ...) -> NDArray[np.int64]: ...
@overload
def uniform_below(
    k: NDArray[np.int64], size: Size = None, *, source: Source = ...
) -> NDArray[np.int64]: ...
def uniform_below(
    k: int | NDArray[np.int64], size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
    """Draw from ``0..k-1``, each with probability exactly ``1 / k``.

    Parameters
    ----------
    k
        How many values: any positive int for one draw, at most ``2**63`` for an array of draws; or
        an array with one ``k`` for each lane.
    size
        ``None`` for one Python int (or, when ``k`` is an array, its shape), else a length or a
        shape.
    source
        Where the bits come from.

    Examples
    --------
    >>> uniform_below(1, 3).tolist()
    [0, 0, 0]
    """
    if isinstance(k, np.ndarray):
        return _below_each(int64_array(k, "k", least=1), size, source)
    most = integer(k, "k", least=1)
    if size is None:
        return _below_one(most, source)
    if most > 1 << 63:
        raise ParameterError(
            "k",
            "be at most 2**63 for an array of draws",
            given(most),
            "Leave {size} out, and draw one by one.",
            size=LEFT_OUT,
        )
    count, shape = lanes(size)
    drawn = uniform_codes(most, count, source)
    return drawn.astype(np.int64, copy=False).reshape(shape)


def uniform_codes(k: int, count: int, source: Source) -> NDArray[Any]:
    """Draw as `uniform_below`, into 16, 32 or 64 bits: integers as narrow as the words drawn."""
    if k & (k - 1) == 0:
        return _power_of_two(k, count, source)
    for dtype, wide in zip(_HALVES, _PRODUCTS, strict=True):
        if k.bit_length() <= 8 * dtype.itemsize - 5:
            return _multiplied(k, count, dtype, wide, source)
    return _below_each(np.full(count, k, np.int64), None, source)


def _below_one(k: int, source: Source) -> int:
    bits = (k - 1).bit_length()
    count = (bits + 7) // 8
    while True:
        value = int.from_bytes(source.bytes(count), "little") >> (8 * count - bits)
        if value < k:
            return value


def _power_of_two(k: int, count: int, source: Source) -> NDArray[Any]:
    dtype = next((d for d in _HALVES if k <= 1 << 8 * d.itemsize), np.dtype("<u8"))
    masked: NDArray[Any] = draw(source, count, dtype) & dtype.type(k - 1)
    return masked


def _multiplied(
    k: int, count: int, dtype: np.dtype[Any], wide: np.dtype[Any], source: Source
) -> NDArray[Any]:
    r"""Draw by Lemire's method: :math:`\lfloor wk/2^b \rfloor`.

    A word is refused if :math:`wk \bmod 2^b < 2^b \bmod k`. For each value there are as many
    products :math:`wk` in its stretch of length :math:`2^b` above the refused start: exactly
    :math:`\lfloor 2^b / k \rfloor`.
    """
    bits = 8 * dtype.itemsize
    product = draw(source, count, dtype).astype(wide)
    product *= wide.type(k)
    (refused,) = (product.astype(dtype) < (1 << bits) % k).nonzero()
    product >>= wide.type(bits)
    out = product.astype(dtype)
    if refused.size:
        out[refused] = _multiplied(k, refused.size, dtype, wide, source)
    return out


def _below_each(k: NDArray[np.int64], size: Size, source: Source) -> NDArray[np.int64]:
    if size is not None and lanes(size)[1] != k.shape:
        raise ParameterError(
            "size", "be the shape of k", str(size), "Leave {size} out.", size=LEFT_OUT
        )
    bound = k.ravel().astype(np.uint64)
    refused_below = (np.uint64(0) - bound) % bound
    out = np.empty(bound.size, np.int64)
    lane = np.arange(bound.size)
    while lane.size:
        words = draw_words(source, lane.size)
        out[lane] = (words % bound[lane]).astype(np.int64)
        lane = lane[words < refused_below[lane]]
    return out.reshape(k.shape)
