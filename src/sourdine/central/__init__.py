"""Statistics by a central curator: one party holds the data and publishes noisy answers.

Each `Statistic` is a question: a frozen record of public parameters that plans, draws and explains.
Its function, its method of a session, its plan and its command are made from it.
"""

from sourdine.central.cdf import Cdf
from sourdine.central.count import Count
from sourdine.central.describe import Describe
from sourdine.central.differences import Difference
from sourdine.central.distribution import Distribution
from sourdine.central.functions import (
    cdf,
    count,
    describe,
    histogram,
    mean,
    median,
    mode,
    proportion,
    quantile,
    quantiles,
    sum,  # noqa: A004 - the statistic; Python's own is not used here
    table,
    variance,
)
from sourdine.central.groups import ByGroup
from sourdine.central.histogram import Histogram
from sourdine.central.keys import NamedCounts
from sourdine.central.mean import Mean
from sourdine.central.mean_methods import BernoulliMean, GridMean
from sourdine.central.mode import Mode
from sourdine.central.proportion import Proportion
from sourdine.central.quantiles.statistic import Median, Quantile, Quantiles
from sourdine.central.ratio import Together
from sourdine.central.statistic import Statistic
from sourdine.central.sum import Sum
from sourdine.central.table import Table
from sourdine.central.variance import Variance

__all__ = [
    "BernoulliMean",
    "ByGroup",
    "Cdf",
    "Count",
    "Describe",
    "Difference",
    "Distribution",
    "GridMean",
    "Histogram",
    "Mean",
    "Median",
    "Mode",
    "NamedCounts",
    "Proportion",
    "Quantile",
    "Quantiles",
    "Statistic",
    "Sum",
    "Table",
    "Together",
    "Variance",
    "cdf",
    "count",
    "describe",
    "histogram",
    "mean",
    "median",
    "mode",
    "proportion",
    "quantile",
    "quantiles",
    "sum",
    "table",
    "variance",
]
