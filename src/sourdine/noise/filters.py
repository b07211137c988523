r"""Deciding :math:`W < e^{-r}` in floating point, where the answer is beyond doubt.

The float of :math:`e^{-r}` differs from it by less than :math:`2^{-48}`: its argument is a product
of a few factors, each within :math:`2^{-52}` of the exact one relatively, so the error of the
argument is at most a small multiple of :math:`2^{-52} r`, and :math:`r e^{-r} < 1/2`; the
exponential itself is within a few units in the last place. The filter trusts it only to
:math:`2^{-30}` (``tests/noise/test_filters.py`` measures it on each platform). Lanes within that
slack are decided exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import exp_neg
from sourdine.noise.lazy import LazyUniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.noise.source import Source

__all__ = ["SLACK", "below_exp", "float_rate", "unit_floats"]

SLACK = 2.0**-30
_STEEPEST = 1 << 20


def float_rate(rate: Fraction) -> float:
    r"""Return a float to multiply whole numbers with before :math:`e^{-nr}` is taken.

    A rate above :math:`2^{20}` may be cut to it: for :math:`n \ge 1` both exponentials are below
    :math:`2^{-50}`, and for :math:`n = 0` both are 1.
    """
    return float(min(rate, Fraction(_STEEPEST)))


def unit_floats(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the words as floats on [0, 1], within ``2**-53`` of every uniform they begin."""
    return words.astype(np.float64) * 2.0**-64


def below_exp(
    words: NDArray[np.uint64],
    losses: NDArray[np.float64],
    exact_loss: Callable[[int], Fraction],
    source: Source,
) -> NDArray[np.bool_]:
    r"""Decide for each lane whether its uniform is below :math:`e^{-r}`.

    Parameters
    ----------
    words
        The first 64 bits of each lane's uniform.
    losses
        Each lane's :math:`r \ge 0` as a float.
    exact_loss
        Gives a lane's :math:`r` as a rational.
    source
        Gives the bits beyond 64.
    """
    with np.errstate(under="ignore"):
        margin = np.exp(-losses) - unit_floats(words)
    out = margin > 0
    for lane in np.flatnonzero(np.abs(margin) <= SLACK).tolist():
        uniform = LazyUniform(source, int(words[lane]), 64)
        out[lane] = uniform.below(exp_neg(exact_loss(lane)))
    return out
