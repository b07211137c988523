"""Ways to answer adaptive queries, to compare with, and the half-widths that are proved of each."""

from sourdine_lab.answering import widths
from sourdine_lab.answering.compression import (
    ConcentratedAccuracy,
    MedianPlan,
    compressed_chance,
    concentrated_accuracy,
    median_mechanism_n,
)
from sourdine_lab.answering.gaussian_noise import GaussianNoise
from sourdine_lab.answering.median_mechanism import MedianMechanism
from sourdine_lab.answering.plain import Empirical, Rounding, Splitting
from sourdine_lab.answering.thresholdout import Thresholdout

__all__ = [
    "ConcentratedAccuracy",
    "Empirical",
    "GaussianNoise",
    "MedianMechanism",
    "MedianPlan",
    "Rounding",
    "Splitting",
    "Thresholdout",
    "compressed_chance",
    "concentrated_accuracy",
    "median_mechanism_n",
    "widths",
]
