"""The functions that a person types, made from what each statistic declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.central.count import Count
from sourdine.central.histogram import Histogram
from sourdine.central.mean import Mean
from sourdine.central.proportion import Proportion
from sourdine.central.quantiles.statistic import Median, Quantile, Quantiles
from sourdine.central.sum import Sum
from sourdine.central.variance import Variance
from sourdine.question import function, read

if TYPE_CHECKING:
    from sourdine.central.statistic import Statistic
    from sourdine.release import Release

__all__ = [
    "ask", "count", "histogram", "mean", "median", "proportion", "quantile", "quantiles", "sum",
    "variance",
]  # fmt: skip


def ask(data: object, question: Statistic) -> Release:
    """Release the answer to a question about data.

    Examples
    --------
    >>> release = ask([20, 30, 40] * 1000, Mean(bounds=(0, 120), step=1, epsilon=1))
    >>> abs(release.value - 30) < 2
    True
    """
    return question.release(data)


def _asked(x: object, cls: type[Statistic], typed: dict[str, Any]) -> Release:
    return ask(x, read(cls, typed))


count = function(Count, _asked)
sum = function(Sum, _asked)  # noqa: A001 - the statistic; Python's own is not used here
mean = function(Mean, _asked)
variance = function(Variance, _asked)
proportion = function(Proportion, _asked)
histogram = function(Histogram, _asked)
quantiles = function(Quantiles, _asked)
quantile = function(Quantile, _asked)
median = function(Median, _asked)
