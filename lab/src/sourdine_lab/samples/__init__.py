"""Samples to play with: independent rows, dependent rows, and those that no answer suits."""

from sourdine_lab.samples.chains import (
    lazy_matrix,
    lazy_walk,
    markov_chain,
)
from sourdine_lab.samples.growing import even_octave, growing_mean
from sourdine_lab.samples.impossible import P0, P1, Coin, failures, least_failure
from sourdine_lab.samples.independent import blocks, iid
from sourdine_lab.samples.unsplittable import decode, encoded, repeated

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
]
