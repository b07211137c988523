r"""Draws from float weights, taken as the binary numbers they are.

Where weights must be floats (sums over ranks), the draw itself is still exact: the law is the one
the floats state, to the last bit, and what the floats err is bounded where they are computed.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from sourdine.noise.lazy import LazyUniform
from sourdine.noise.source import SYSTEM, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["by_log_weight", "by_weight"]

DEEP = 600.0
"""Log weights this far below the largest are held back until the draw falls among them."""


def by_weight(weights: NDArray[np.float64], *, source: Source = SYSTEM) -> int:
    r"""Draw the index :math:`i` with probability exactly :math:`w_i / \sum_j w_j`.

    Parameters
    ----------
    weights
        Floats, zero or more, not all zero, whose sum is finite.
    source
        Where the bits come from.

    Notes
    -----
    64 bits of a uniform :math:`W` are compared with the floats' running sums. The :math:`k`-th sum
    of non-negative floats errs by at most :math:`k 2^{-53}` of the total, so unless :math:`W` lies
    within a band of that size around a boundary the index is decided; else the same bits, and more
    if needed, are compared with the exact sums as integers. *Checked by*
    ``test_by_weight_is_the_exact_law`` and ``test_by_weight_decides_like_integers``.

    Examples
    --------
    >>> by_weight(np.array([0.0, 2.5, 0.0]))
    1
    """
    sums = np.add.accumulate(weights)
    total = float(sums[-1])
    word = int.from_bytes(source.bytes(8), "little")
    at = word * 2.0**-64 * total
    band = (len(sums) + 8) * 2.0**-52 * total
    i = int(sums.searchsorted(at, side="right"))
    above = i < len(sums) and float(sums[i]) - at > band
    if above and (i == 0 or at - float(sums[i - 1]) > band):
        return i
    return _exactly(weights, LazyUniform(source, word, 64))


def _exactly(weights: NDArray[np.float64], uniform: LazyUniform) -> int:
    mantissas, exponents = np.frexp(weights)
    whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    lowest = int(exponents[weights > 0].min())
    shifts = np.maximum(exponents - lowest, 0).tolist()
    sums = list(accumulate(w << shift for w, shift in zip(whole, shifts, strict=True)))
    while True:
        word, bits = uniform.reading()
        first = bisect_right(sums, word * sums[-1] >> bits)
        last = bisect_right(sums, ((word + 1) * sums[-1] - 1) >> bits)
        if first == last:
            return first
        uniform.extend()


def by_log_weight(logs: NDArray[np.float64], *, source: Source = SYSTEM) -> int:
    r"""Draw the index :math:`i` with probability proportional to :math:`e^{l_i}`.

    However far apart the logarithms lie, none gets probability 0: those more than `DEEP` below the
    largest stand back together, under a bound of their total, and are looked at, one layer after
    the other, only when the draw falls there. A draw in the part of the bound that they do not
    fill starts again, so the law is the stated one.

    Parameters
    ----------
    logs
        Natural logarithms of the weights; minus infinity for weight 0, not all.
    source
        Where the bits come from.

    Notes
    -----
    *Checked by* ``test_by_log_weight_is_the_law`` and ``test_by_log_weight_reaches_every_layer``.

    Examples
    --------
    >>> by_log_weight(np.array([-np.inf, -5000.0]))
    1
    """
    possible = np.flatnonzero(logs > -np.inf)
    depth = (float(logs[possible].max()) - logs[possible]) / DEEP
    layers = np.floor(depth)
    while True:
        layer, held = 0.0, 0.0
        while True:
            here = layers == layer
            weights = np.exp(-DEEP * (depth[here] - layer))
            below = np.count_nonzero(layers > layer) * np.exp(-DEEP)
            drawn = by_weight(_filled(weights, below, held), source=source)
            if drawn < len(weights):
                return int(possible[np.flatnonzero(here)[drawn]])
            if drawn > len(weights):
                break
            layer, held = layer + 1, float(np.count_nonzero(layers > layer))


def _filled(weights: NDArray[np.float64], below: float, held: float) -> NDArray[np.float64]:
    """Add the bound of what lies below, and what is missing to the bound of all held back."""
    rest = max(held - float(weights.sum()) - below, 0.0)
    return np.concatenate((weights, (below, rest)))
