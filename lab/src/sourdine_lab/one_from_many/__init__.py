"""OneFromMany: to name an element of a changing set takes memory that grows with the universe."""

from sourdine_lab.one_from_many.game import Contest, Outcome, contests, one_from_many, plot
from sourdine_lab.one_from_many.lower_bound import (
    code_size_bits,
    decode,
    gilbert_varshamov_bits,
    greedy_code,
    memory_lower_bound,
)
from sourdine_lab.one_from_many.samplers import Bitset, CoordinateSampler, L0Sampler, Sampler

__all__ = [
    "Bitset",
    "Contest",
    "CoordinateSampler",
    "L0Sampler",
    "Outcome",
    "Sampler",
    "code_size_bits",
    "contests",
    "decode",
    "gilbert_varshamov_bits",
    "greedy_code",
    "memory_lower_bound",
    "one_from_many",
    "plot",
]
