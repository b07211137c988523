"""Mechanisms: the primitives, each with four faces, one file each.

Additive noise: `Laplace`, `Gaussian`, `Staircase`. Choice: `Exponential`, `PermuteAndFlip`,
`AboveThreshold`, and `Gridded` and `InverseLength` for a density or a function of yours. One
person's answer: `Warner`, `RandomizedResponse`, `BoundedLaplace`, `BoundedStaircase`. Around any
of them: `Subsample`.
"""

from sourdine.mechanisms.above_threshold import AboveThreshold
from sourdine.mechanisms.bounded_laplace import BoundedLaplace
from sourdine.mechanisms.bounded_staircase import BoundedStaircase
from sourdine.mechanisms.exponential import Exponential
from sourdine.mechanisms.gaussian import Gaussian
from sourdine.mechanisms.gridded import Gridded
from sourdine.mechanisms.inverse_length import InverseLength
from sourdine.mechanisms.laplace import Laplace
from sourdine.mechanisms.mechanism import Mechanism
from sourdine.mechanisms.permute_and_flip import PermuteAndFlip
from sourdine.mechanisms.randomized_response import RandomizedResponse
from sourdine.mechanisms.registry import Specimen, register
from sourdine.mechanisms.staircase import Staircase
from sourdine.mechanisms.subsample import Subsample
from sourdine.mechanisms.transcript import recording
from sourdine.mechanisms.warner import Warner

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
