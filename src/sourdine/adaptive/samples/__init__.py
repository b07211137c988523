"""Samples to play with: independent rows, dependent rows, and those that no answer suits."""

from sourdine.adaptive.samples.chains import (
    lazy_matrix,
    lazy_walk,
    markov_chain,
    second_eigenvalue,
    stationary,
)
from sourdine.adaptive.samples.growing import even_octave, growing_mean
from sourdine.adaptive.samples.impossible import P0, P1, Coin, failures, least_failure
from sourdine.adaptive.samples.independent import blocks, iid
from sourdine.adaptive.samples.unsplittable import decode, encoded, repeated

__all__ = [
    "P0",
    "P1",
    "Coin",
    "blocks",
    "decode",
    "encoded",
    "even_octave",
    "failures",
    "growing_mean",
    "iid",
    "lazy_matrix",
    "lazy_walk",
    "least_failure",
    "markov_chain",
    "repeated",
    "second_eigenvalue",
    "stationary",
]
