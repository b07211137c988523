r"""Coins of probability :math:`e^{-r}`, one exponent for each lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sourdine.exact import at_least
from sourdine.noise.arrays import int64_array
from sourdine.noise.filters import below_exp, float_rate
from sourdine.noise.sizes import CHUNK
from sourdine.noise.source import SYSTEM, Source, draw_words

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.exact.parameters import Number

__all__ = ["bernoulli_exp", "toss_exp"]

Multiples = NDArray[np.int64] | NDArray[np.uint64]


def bernoulli_exp(multiples: object, rate: Number, *, source: Source = SYSTEM) -> NDArray[np.bool_]:
    r"""Draw for each lane True with probability :math:`e^{-r n_i}`, exactly.

    Parameters
    ----------
    multiples
        The whole numbers :math:`n_i`, zero or more; any shape.
    rate
        The number :math:`r`, zero or more; a float means the decimal it prints.
    source
        Where the bits come from.

    Notes
    -----
    Exact: a lane is decided in floating point only where :math:`2^{-30}` of doubt changes nothing,
    else with integers (``tests/noise/test_coins.py``).

    Examples
    --------
    >>> bernoulli_exp([0, 0, 10**6], 1).tolist()
    [True, True, False]
    """
    whole = int64_array(multiples, "multiples", least=0)
    return toss_exp(whole.ravel(), rate, source).reshape(whole.shape)


def toss_exp(multiples: Multiples, rate: Number, source: Source) -> NDArray[np.bool_]:
    """Draw as `bernoulli_exp` for clean, flat multiples."""
    exact_rate = at_least(rate, "rate", 0)
    slope = float_rate(exact_rate)
    out = np.empty(multiples.size, np.bool_)
    for start in range(0, out.size, CHUNK):
        part = multiples[start : start + CHUNK]

        def exact_loss(lane: int, part: Multiples = part) -> Fraction:
            return int(part[lane]) * exact_rate

        losses = part.astype(np.float64) * slope
        words = draw_words(source, part.size)
        out[start : start + CHUNK] = below_exp(words, losses, exact_loss, source)
    return out
