"""A Python int of a 64-bit integer, by work that does not depend on it.

Python keeps the whole numbers from -5 to 256 ready made and makes all others anew, of one, two or
three digits of 30 bits, so that a small number costs some 20 ns less than a large one: enough to
tell small noise from large (``benchmarks/noise.py``). Here one of each kind is made, always in the
same order, and the number wanted takes the place of its kind. The ready-made ones are all named
first, since one that was named long ago has left the processor's cache. What is left over is let go
at the next call, for the same reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["python_int", "python_ints"]

_HALF = 1 << 62
_UNSIGNED = np.dtype(np.uint64)
_ONE_DIGIT, _TWO_DIGITS = (1 << 30) - 1, (1 << 60) - 1
_WIDTHS = np.array([0, 262, 2 * _ONE_DIGIT + 1, 2 * _TWO_DIGITS + 1], _UNSIGNED)
_LIKE = 99
"""A ready-made number that is not in use everywhere, as 0 is."""
_ONE_OF_EACH = np.array([_LIKE, _LIKE, 1 << 20, 1 << 40, 1 << 61], np.int64)
_SHIFTS = np.array([0, 5, _ONE_DIGIT, _TWO_DIGITS], np.int64)
_READY = list(range(-5, 257))
_left: list[list[int]] = [[]]


def python_int(x: NDArray[np.int64], centre: int) -> int:
    """Return ``x[0] + centre``, where ``x[0]`` is below ``2**62`` in magnitude.

    Examples
    --------
    >>> [python_int(np.array([x]), 2) for x in (-9, 5, 1 << 35, -(1 << 61))]
    [-7, 7, 34359738370, -2305843009213693950]
    """
    if not -_HALF <= centre < _HALF:
        return centre + int(x[0])
    # A kind goes from -shift to width - shift: beyond it, the shifted number reaches the width.
    shifted = x + np.array((centre, centre + 5, centre + _ONE_DIGIT, centre + _TWO_DIGITS))
    kind = np.count_nonzero(shifted.view(_UNSIGNED) >= _WIDTHS)
    each = _ONE_OF_EACH.copy()
    each[kind] = shifted[0]
    _READY.copy()  # names them all
    made: list[int] = each.tolist()
    value, made[kind] = made[kind], _LIKE
    _left[0] = made
    return value


def python_ints(x: NDArray[np.int64], centres: Sequence[int]) -> list[int]:
    """Return ``x[i] + centres[i]``, where each ``x[i]`` is below ``2**62`` in magnitude.

    Examples
    --------
    >>> python_ints(np.array([-9, 1 << 35]), [2, 3])
    [-7, 34359738371]
    """
    if not all(-_HALF <= centre < _HALF for centre in centres):
        return [centre + noise for centre, noise in zip(centres, x.tolist(), strict=True)]
    sums = x + np.array(centres, np.int64)
    shifted = sums[:, None] + _SHIFTS
    kinds = np.count_nonzero(shifted.view(_UNSIGNED) >= _WIDTHS, axis=1)
    each = np.tile(_ONE_OF_EACH, (len(sums), 1))
    each[np.arange(len(sums)), kinds] = sums
    made: list[list[int]] = each.tolist()
    return [row[kind] for row, kind in zip(made, kinds.tolist(), strict=True)]
