"""Statistics by a central curator: one party holds the data and publishes noisy answers.

Each `Statistic` is a question: a frozen record of public parameters that plans, draws and explains.
Its function, its method of a session, its plan and its command are made from it.

================  ==================================================================================
``cdf``           the whole distribution function of a column
``count``         how many records there are
``describe``      `describe` for private data: count, missing, bounds, mean, deciles of each column
``differences``   the difference between two groups, from what was released of them
``finding``       parameters that nobody knows, found privately: bounds, and how many rows of a
                  person to keep
``groups``        the same statistic for each of several groups
``histogram``     counts over bins or categories
``intervals``     confidence intervals from noise of a known law, for the records and the population
``keys``          which keys may be named: counts above a private threshold
``mean``          the mean of a column, of the records and of the population behind them
``mean_methods``  two further means: by the exponential mechanism on a grid, and of ones among n
``moments``       coefficients, covariances and correlations from noisy sums, with intervals
``parameters``    the parameters that statistics share, and the column types that they accept
``products``      noisy sums of products of several columns, drawn together
``proportion``    the share of records in a category
``quantiles``     private quantiles: one file an algorithm, and `Quantiles`, which chooses among
                  them
``ratio``         a noisy sum over a noisy count, drawn together
``regression``    covariance, correlation and linear regression
``sql``           a SELECT statement, answered by statistics under one total
``statistic``     `Statistic`: a question that plans, draws and explains; the base of every
                  statistic
``sum``           the sum of a column
``table``         several statistics of several columns in one call, under one epsilon
``variance``      the variance and the standard deviation of a column, from three noisy sums
``weights``       records that count with a weight, such as the weights of a survey
================  ==================================================================================
"""

from sourdine.central.cdf import Cdf, Distribution
from sourdine.central.count import Count
from sourdine.central.describe import Describe
from sourdine.central.differences import Difference
from sourdine.central.histogram import Histogram, Mode
from sourdine.central.keys import NamedCounts
from sourdine.central.mean import Mean
from sourdine.central.mean_methods import BernoulliMean, GridMean
from sourdine.central.proportion import Proportion
from sourdine.central.quantiles.statistic import Median, Quantile, Quantiles
from sourdine.central.ratio import Together
from sourdine.central.regression import Correlation, Covariance, Regression
from sourdine.central.sql import Sql
from sourdine.central.statistic import Statistic
from sourdine.central.sum import Sum
from sourdine.central.table import Table
from sourdine.central.variance import Std, Variance

__all__ = [
    "BernoulliMean",
    "Cdf",
    "Correlation",
    "Count",
    "Covariance",
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
    "Regression",
    "Sql",
    "Statistic",
    "Std",
    "Sum",
    "Table",
    "Together",
    "Variance",
]
