r"""Exact samplers on the integers over the operating system's cryptographic generator.

Every law here is exact: a float decides a draw only where its error cannot matter.
`sourdine.noise.source` holds the main idea and its proof, `sourdine.noise.steps` and
`sourdine.noise.laplace` make it fast, `sourdine.noise.laplace` and `sourdine.noise.source` make
its time independent of the noise.

=============  =====================================================================================
``bounded``    bounded Laplace noise and staircase noise on the integers
``coins``      coins of any probability, rational or not, exactly
``gaussian``   discrete Gaussian noise: :math:`P(x) \propto e^{-x^2/(2\sigma^2)}` on the integers
``laplace``    discrete Laplace and geometric noise
``selection``  weighted draws, and one of many candidates
``source``     random bytes, integers from them, and uniform reals whose bits are drawn when needed
``steps``      draws from a law given by its cumulative steps: 16 random bits per lane, more where
               needed
=============  =====================================================================================
"""

from sourdine.noise.bounded import bounded_laplace, staircase, truncated_geometric
from sourdine.noise.coins import bernoulli, bernoulli_exp, bernoulli_table
from sourdine.noise.gaussian import discrete_gaussian, gaussian_around
from sourdine.noise.laplace import discrete_laplace, geometric, laplace_around
from sourdine.noise.selection import (
    by_log_weight,
    by_weight,
    categorical,
    choose,
    choose_run,
    permute_and_flip,
)
from sourdine.noise.source import SYSTEM, SeededSource, Source, uniform_below

__all__ = [
    "SYSTEM", "SeededSource", "Source", "bernoulli", "bernoulli_exp", "bernoulli_table",
    "bounded_laplace", "by_log_weight", "by_weight", "categorical", "choose", "choose_run",
    "discrete_gaussian", "discrete_laplace", "gaussian_around", "geometric", "laplace_around",
    "permute_and_flip", "staircase", "truncated_geometric", "uniform_below",
]  # fmt: skip
