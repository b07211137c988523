"""Mechanisms: the primitives, each with a release, a law, a guarantee and an error bound.

Additive noise: `Laplace`, `Gaussian`, `Staircase`. Choice: `Exponential`, `PermuteAndFlip`,
`AboveThreshold`, and `Gridded` and `InverseLength` for a user's density or function. One
person's answer: `Warner`, `RandomizedResponse`, `BoundedLaplace`, `BoundedStaircase`. Around any
of them: `Subsample`.

=======================  ===========================================================================
``above_threshold``      aboveThreshold: find the first of many questions with a large answer
``bounded``              bounded Laplace and bounded staircase: noise that stays in an interval
``densities``            mechanisms given by a density on a grid, and inverse sensitivity for any
                         function
``exponential``          the exponential mechanism and permute-and-flip over a finite list of
                         candidates
``gaussian``             the Gaussian mechanism on integers, with three calibrations
``laplace``              the Laplace mechanism on integers
``mechanism``            `Mechanism`: release, law, guarantee and error; transcripts and the audit's
                         registry
``randomized_response``  randomised response: for k categories, and for two with Warner's coins
``staircase``            the staircase mechanism on integers: less noise than Laplace at large
                         epsilon
``subsample``            subsampling: run any mechanism on a random part of the records, at a lower
                         cost
=======================  ===========================================================================
"""

from sourdine.mechanisms.above_threshold import AboveThreshold
from sourdine.mechanisms.bounded import BoundedLaplace, BoundedStaircase
from sourdine.mechanisms.densities import Gridded, InverseLength
from sourdine.mechanisms.exponential import Exponential, PermuteAndFlip
from sourdine.mechanisms.gaussian import Gaussian
from sourdine.mechanisms.laplace import Laplace
from sourdine.mechanisms.mechanism import Mechanism, Specimen, register
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
    "register",
]
