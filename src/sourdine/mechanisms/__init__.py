"""Mechanisms: the primitives, each with a release, a law, a guarantee and an error bound.

Additive noise: `Laplace`, `Gaussian`, `Staircase`. Choice: `Exponential`, `PermuteAndFlip`,
`AboveThreshold`, and `Gridded` and `InverseLength` for a user's density or function. One
person's answer: `Warner`, `RandomizedResponse`, `BoundedLaplace`, `BoundedStaircase`. Around any
of them: `Subsample`.
"""

from sourdine.mechanisms.above_threshold import AboveThreshold
from sourdine.mechanisms.bounded import BoundedLaplace, BoundedStaircase
from sourdine.mechanisms.densities import Gridded, InverseLength
from sourdine.mechanisms.exponential import Exponential, PermuteAndFlip
from sourdine.mechanisms.gaussian import Gaussian
from sourdine.mechanisms.laplace import Laplace
from sourdine.mechanisms.mechanism import Mechanism, Specimen, recording, register
from sourdine.mechanisms.randomized_response import RandomizedResponse, Warner
from sourdine.mechanisms.staircase import Staircase
from sourdine.mechanisms.subsample import Subsample

__all__ = [
    "AboveThreshold",
    "BoundedLaplace",
    "BoundedStaircase",
    "Exponential",
    "Gaussian",
    "Gridded",
    "InverseLength",
    "Laplace",
    "Mechanism",
    "PermuteAndFlip",
    "RandomizedResponse",
    "Specimen",
    "Staircase",
    "Subsample",
    "Warner",
    "recording",
    "register",
]
