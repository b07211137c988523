"""Estimators: what the reports of many people tell, and how surely."""

from sourdine.local.estimators.bayes import em
from sourdine.local.estimators.distribution import (
    DistributionEstimate,
    QuantileEstimate,
    distribution,
    quantiles,
)
from sourdine.local.estimators.frequencies import Frequencies, frequencies
from sourdine.local.estimators.means import MeanEstimate, mean
from sourdine.local.estimators.simplex import base_cut, norm_sub

__all__ = [
    "DistributionEstimate",
    "Frequencies",
    "MeanEstimate",
    "QuantileEstimate",
    "base_cut",
    "distribution",
    "em",
    "frequencies",
    "mean",
    "norm_sub",
    "quantiles",
]
