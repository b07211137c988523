"""Ways to answer adaptive queries, to compare with, and the half-widths that are proved of each."""

from sourdine.adaptive.answering import widths
from sourdine.adaptive.answering.compression import (
    ConcentratedAccuracy,
    MedianPlan,
    compressed_chance,
    concentrated_accuracy,
    median_mechanism_n,
)
from sourdine.adaptive.answering.gaussian_noise import GaussianNoise
from sourdine.adaptive.answering.median_mechanism import MedianMechanism
from sourdine.adaptive.answering.plain import Empirical, Rounding, Splitting
from sourdine.adaptive.answering.thresholdout import Thresholdout
from sourdine.adaptive.information import informed_width, privacy_to_validity

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
    "informed_width",
    "median_mechanism_n",
    "privacy_to_validity",
    "widths",
]
