r"""Coins of probability :math:`e^{-r}`, one exponent for each lane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sourdine.exact import at_least
from sourdine.exact.parameters import Number
from sourdine.noise.arrays import int64_array
from sourdine.noise.filters import below_exp, float_rate
from sourdine.noise.sizes import CHUNK
from sourdine.noise.source import SYSTEM, Source, draw_words

__all__ = ["bernoulli_exp", "toss_exp"]


def bernoulli_exp(multiples: object, rate: Number, *, source: Source = SYSTEM) -> NDArray[np.bool_]:
    r"""Draw for each lane True with probability :math:`e^{-\mathtt{multiples}_i \cdot \mathtt{rate}}`.

    Parameters
    ----------
    multiples
        Whole numbers, zero or more; any shape.
    rate
        A number, zero or more; a float means the decimal it prints.
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


def toss_exp(
    multiples: NDArray[np.int64] | NDArray[np.uint64], rate: Number, source: Source
) -> NDArray[np.bool_]:
    """Draw as `bernoulli_exp` for clean, flat multiples."""
    exact_rate = at_least(rate, "rate", 0)
    slope = float_rate(exact_rate)
    out = np.empty(multiples.size, np.bool_)
    for start in range(0, out.size, CHUNK):
        part = multiples[start : start + CHUNK]
        out[start : start + CHUNK] = below_exp(
            draw_words(source, part.size),
            part * slope,
            lambda lane, part=part: int(part[lane]) * exact_rate,
            source,
        )
    return out
