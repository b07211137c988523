"""Exact samplers on the integers over the operating system's cryptographic generator.

Every law here is exact: no float ever decides a draw it could decide wrongly. `sourdine.noise.lazy`
holds the idea and its proof, `sourdine.noise.steps` and `sourdine.noise.blocks` make it fast,
`sourdine.noise.bits` and `sourdine.noise.equal_work` make its time independent of the noise.
"""

from sourdine.noise.bounded import bounded_laplace, truncated_geometric
from sourdine.noise.coins import bernoulli, bernoulli_table
from sourdine.noise.exp_coins import bernoulli_exp
from sourdine.noise.folded import geometric
from sourdine.noise.gaussian import discrete_gaussian, gaussian_around
from sourdine.noise.laplace import discrete_laplace, laplace_around
from sourdine.noise.proportional import by_log_weight, by_weight
from sourdine.noise.selection import choose, choose_run, permute_and_flip
from sourdine.noise.source import SYSTEM, SeededSource, Source, SystemSource
from sourdine.noise.stairs import staircase
from sourdine.noise.uniform import uniform_below
from sourdine.noise.weighted import categorical

__all__ = [
    "SYSTEM",
    "SeededSource",
    "Source",
    "SystemSource",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_table",
    "bounded_laplace",
    "by_log_weight",
    "by_weight",
    "categorical",
    "choose",
    "choose_run",
    "discrete_gaussian",
    "discrete_laplace",
    "gaussian_around",
    "geometric",
    "laplace_around",
    "permute_and_flip",
    "staircase",
    "truncated_geometric",
    "uniform_below",
]
