r"""Draws from finitely many codes with given weights, exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import Real, at_least, listed
from sourdine.exact.parameters import Number
from sourdine.noise.sizes import Shape, Size, lanes
from sourdine.noise.source import SYSTEM, Source
from sourdine.noise.steps import Steps, identity
from sourdine.noise.uniform import uniform_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["categorical"]

Weights = Sequence[Real | Number]
_FINEST = 1 << 14


@overload
def categorical(weights: Weights, size: None = None, *, source: Source = ...) -> int: ...
@overload
def categorical(weights: Weights, size: Shape, *, source: Source = ...) -> NDArray[np.int64]: ...
def categorical(
    weights: Weights, size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
    r"""Draw the code :math:`i` with probability exactly :math:`w_i / \sum_j w_j`.

    Parameters
    ----------
    weights
        Numbers or `Real`\ s, zero or more, not all zero.
    size
        ``None`` for one Python int, a length or a shape for an array.
    source
        Where the bits come from.

    Notes
    -----
    Rational weights become integers over their common denominator: a uniform whole number below the
    total falls into one of them. Other weights go by `sourdine.noise.steps`. Exact:
    ``tests/noise/test_weighted.py``.

    Examples
    --------
    >>> categorical([0, 5, 0], 3).tolist()
    [1, 1, 1]
    """
    given = listed(weights, "weights", weights=[1, 1])
    if not given:
        raise ParameterError(
            "weights", "hold at least one number", "none", "Type {weights}.", weights=[1, 1]
        )
    count, shape = lanes(1 if size is None else size)
    rationals = [
        w if isinstance(w, Real) else at_least(w, f"weights[{i}]", 0) for i, w in enumerate(given)
    ]
    exact = [w for w in rationals if isinstance(w, Fraction)]
    if len(exact) == len(rationals):
        out = _from_integers(exact, count, source)
    else:
        out = np.empty(count, np.int64)
        ladder = _RealLadder([Real.of(w) for w in rationals])
        Steps(ladder, identity, finite=True).fill(out, source)
    return int(out[0]) if size is None else out.reshape(shape)


def _from_integers(weights: list[Fraction], count: int, source: Source) -> NDArray[np.int64]:
    denominator = lcm(*(w.denominator for w in weights))
    sums = list(accumulate(w.numerator * (denominator // w.denominator) for w in weights))
    if sums[-1] == 0:
        raise ParameterError(
            "weights", "hold one above 0", "only zeros", "Type {weights}.", weights=[1, 1]
        )
    if sums[-1] <= 1 << 63:
        steps = np.array(sums, np.uint64)
        drawn = uniform_below(sums[-1], count, source=source).astype(np.uint64)
        return steps.searchsorted(drawn, side="right").astype(np.int64, copy=False)
    codes = [bisect_right(sums, uniform_below(sums[-1], source=source)) for _ in range(count)]
    return np.array(codes, np.int64)


class _RealLadder:
    """The cumulative law of real weights, for `Steps`."""

    __slots__ = ("_weights",)

    def __init__(self, weights: list[Real]) -> None:
        self._weights = weights

    def __call__(self, bits: int) -> tuple[list[int], list[int]]:
        precision = bits + 64
        while True:
            bounds = [weight.enclosure(precision) for weight in self._weights]
            low_sums = list(accumulate(low for low, _ in bounds))
            high_sums = list(accumulate(high for _, high in bounds))
            least, most = low_sums.pop(), high_sums.pop()
            if 0 < most <= least + (least >> bits + 2):
                break
            if precision > _FINEST + bits:
                raise ParameterError(
                    "weights",
                    "hold one that can be told from 0",
                    "none",
                    "Type {weights}.",
                    weights=[1, 1],
                )
            precision *= 2
        low = [(partial << bits) // most for partial in low_sums]
        high = [-((-partial << bits) // least) for partial in high_sums]
        return low, high
