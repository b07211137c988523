"""Statistics by a central curator: one party holds the data and publishes noisy answers.

`count`, `sum`, `mean`, `variance`, `proportion`, `histogram` and `quantiles` are what a person
types; each builds a `Statistic`, a frozen record of public parameters that plans, releases and
explains.
"""

from sourdine.central.bernoulli import BernoulliMean
from sourdine.central.call import (
    ask,
    build,
    count,
    histogram,
    mean,
    proportion,
    sum,  # noqa: A004 - the statistic; Python's own is not used here
    variance,
)
from sourdine.central.count import Count
from sourdine.central.grid_mean import GridMean
from sourdine.central.groups import ByGroup, by_group
from sourdine.central.histogram import Histogram
from sourdine.central.keys import NamedCounts
from sourdine.central.mean import Mean
from sourdine.central.proportion import Proportion
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.central.statistic import Statistic, charged
from sourdine.central.sum import Sum
from sourdine.central.target import epsilon_for
from sourdine.central.together import Together
from sourdine.central.variance import Variance

__all__ = [
    "BernoulliMean",
    "ByGroup",
    "Count",
    "GridMean",
    "Histogram",
    "Mean",
    "NamedCounts",
    "Proportion",
    "Quantiles",
    "Statistic",
    "Sum",
    "Together",
    "Variance",
    "ask",
    "build",
    "by_group",
    "charged",
    "count",
    "epsilon_for",
    "histogram",
    "mean",
    "proportion",
    "sum",
    "variance",
]
