"""Randomisers of a category: each answer protects its own person."""

from sourdine.local.categorical.choosing import best_oracle, oracles
from sourdine.local.categorical.flipped import FlippedSet
from sourdine.local.categorical.hadamard import HadamardResponse
from sourdine.local.categorical.hashing import LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.mechanisms.randomized_response import RandomizedResponse
from sourdine.mechanisms.warner import Warner

__all__ = [
    "FlippedSet",
    "HadamardResponse",
    "LocalHashing",
    "RandomizedResponse",
    "SubsetSelection",
    "UnaryEncoding",
    "Warner",
    "best_oracle",
    "oracles",
]
