"""The functions that a person types, made from what each statistic declares."""

from __future__ import annotations

from sourdine.central.cdf import Cdf
from sourdine.central.count import Count
from sourdine.central.describe import Describe
from sourdine.central.histogram import Histogram
from sourdine.central.mean import Mean
from sourdine.central.mode import Mode
from sourdine.central.proportion import Proportion
from sourdine.central.quantiles.statistic import Median, Quantile, Quantiles
from sourdine.central.sum import Sum
from sourdine.central.table import Table
from sourdine.central.variance import Variance
from sourdine.parameters.question import function

count = function(Count)
describe = function(Describe)
sum = function(Sum)  # noqa: A001 - the statistic; Python's own is not used here
mean = function(Mean)
variance = function(Variance)
proportion = function(Proportion)
histogram = function(Histogram)
quantiles = function(Quantiles)
quantile = function(Quantile)
median = function(Median)
cdf = function(Cdf)
mode = function(Mode)
table = function(Table)
