"""Errors of different statistics made comparable: each over what is large for it."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import attrs

from sourdine.central.count import Count
from sourdine.central.mean import Mean
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.central.sum import Sum
from sourdine.central.variance import Variance

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.central.statistic import Statistic

__all__ = ["relative_error", "unit"]

RISK = 0.05


def unit(part: Statistic, n: int) -> float:
    """Return what an error of 1 means, relative to which others are small."""
    if isinstance(part, Count):
        return float(n)
    if isinstance(part, Sum):
        return n * max(abs(part.lowest), abs(part.lowest + part.width))
    if isinstance(part, Variance):
        return part.width**2 / 4
    return part.width if isinstance(part, Mean) else 1.0


def relative_error(part: Statistic, n: int) -> Callable[[float], float]:
    """Return the relative error at a share; that of a count as if it were no whole number.

    Of a quantile, half of the ranks that its tick would hold if records lay evenly are no error.
    """

    def error(share: float) -> float:
        asked = attrs.evolve(part, epsilon=share, error=None)
        if isinstance(asked, (Count, Sum)):
            scale = float(asked.mechanism.scale) * float(getattr(asked, "tick", 1))
            return scale * log(1 / RISK) / unit(asked, n)
        planned = asked.planned(RISK, n) / unit(asked, n)
        if isinstance(asked, Quantiles):
            return max(planned - 1 / (2 * asked.grid.size), planned / 2)
        return planned

    return error
