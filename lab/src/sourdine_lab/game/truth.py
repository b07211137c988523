r"""What a query is on the law behind a sample, and how close samples come to it.

For a law :math:`P` over samples, :math:`q(P) = E_{S \sim P}[q(S)]`. A query is
:math:`(\alpha, \beta)`-*concentrated* if :math:`\Pr_{S \sim P}[|q(S) - q(P)| > \alpha] < \beta`:
the answer read off a sample is good, when nobody looked at the sample before asking.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.ledger.dependence import chernoff, stationary
from sourdine.adaptive.queries import vector_of
from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, number
from sourdine_lab.averages import average
from sourdine_lab.samples.independent import read_law

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.queries import Query
    from sourdine.exact import Number

__all__ = ["Chance", "all_samples", "miss_chance", "simulated_miss_chance", "truth"]

TINY = 1e-12
"""What float arithmetic makes of zero."""

MOST = 1 << 20
"""Samples that are enumerated."""


def truth(
    query: Query, law: ArrayLike | None = None, *, population: NDArray[Any] | None = None
) -> float:
    r"""Return :math:`q(P)` for rows that each follow a law, or are drawn from a population.

    The rows may depend on each other: the expectation of an average does not ask.

    Parameters
    ----------
    query
        A statistical query.
    law
        The probabilities of the codes 0, ..., N - 1.
    population
        Or a population of rows, large enough to stand for the truth.

    Examples
    --------
    >>> truth(np.array([0.0, 1.0]), [0.25, 0.75])
    0.75
    >>> truth(lambda age: age > 40, population=np.array([38, 41, 65, 20]))
    0.5
    """
    if (law is None) == (population is None):
        raise ParameterError(
            "a truth must come from a law or from a population, got both or none. "
            "Use truth(query, law), or truth(query, population=rows)."
        )
    if population is not None:
        return average(query, population)
    chances = read_law(np.asarray(law))
    return float(vector_of(query, len(chances)) @ chances)


def all_samples(matrix: ArrayLike, n: int) -> Iterator[tuple[float, NDArray[np.int64]]]:
    """Yield all samples of ``n`` states of a stationary Markov chain with their probabilities.

    Independent rows are the chain whose rows are all the law.

    Examples
    --------
    >>> [(p, rows.tolist()) for p, rows in all_samples([[0.5, 0.5], [0.5, 0.5]], 1)]
    [(0.5, [0]), (0.5, [1])]
    """
    steps, n = np.asarray(matrix, np.float64), integer(n, "n", least=1)
    pi = stationary(steps)
    if len(pi) ** n > MOST:
        raise ParameterError(
            f"a chain must have at most {MOST} samples to enumerate, got {len(pi)} ** {n}. "
            "Use a smaller n, or simulated_miss_chance(...)."
        )
    for states in product(range(len(pi)), repeat=n):
        rows = np.array(states, np.int64)
        yield float(pi[rows[0]] * steps[rows[:-1], rows[1:]].prod()), rows


def miss_chance(
    query: Query, outcomes: Iterable[tuple[float | Fraction, NDArray[Any]]], alpha: Number
) -> float:
    r"""Return :math:`\Pr_{S \sim P}[|q(S) - q(P)| > \alpha]`, from all samples there are.

    The query is :math:`(\alpha, \beta)`-concentrated for every :math:`\beta` above it.
    *Checked by* ``test_miss_chance_is_the_binomial_tail``.

    Parameters
    ----------
    query
        A statistical query.
    outcomes
        All samples with their probabilities, as :func:`all_samples` yields them.
    alpha
        How far the sample may be off.

    Examples
    --------
    Two rows, one for each face of a coin, and one row twice:

    >>> coin = np.array([0.0, 1.0])
    >>> miss_chance(coin, all_samples([[0.5, 0.5], [0.5, 0.5]], 2), 0.25)
    0.5
    >>> from sourdine_lab.samples import P0
    >>> miss_chance(lambda rows: rows, P0.outcomes(10), 0.2)
    1.0
    """
    most = float(at_least(alpha, "alpha", 0))
    pairs = [(float(chance), average(query, rows)) for chance, rows in outcomes]
    chances, averages = np.array(pairs, np.float64).T
    off = np.abs(averages - chances @ averages) > most + TINY
    return float(chances[off].sum())


@dataclass(frozen=True, slots=True)
class Chance:
    """A chance that was measured: the share of draws, and ends that hold but for the level."""

    share: float
    lower: float
    upper: float


def simulated_miss_chance(
    query: Query,
    sampler: Callable[[np.random.Generator], NDArray[Any]],
    alpha: Number,
    *,
    centre: float,
    draws: int,
    rng: np.random.Generator,
    level: Number = 1e-3,
) -> Chance:
    r"""Return the chance that a sample is off by more than ``alpha``, from many samples.

    Parameters
    ----------
    query
        A statistical query.
    sampler
        A function of a generator that returns a sample.
    alpha
        How far the sample may be off.
    centre
        :math:`q(P)`, as :func:`truth` returns it.
    draws
        How many samples to draw.
    rng
        Where chance comes from.
    level
        The chance that the ends miss, by Chernoff's bound.

    Examples
    --------
    >>> from sourdine_lab.samples import iid
    >>> rng = np.random.default_rng(1)
    >>> fair = simulated_miss_chance(np.array([0, 1]), lambda rng: iid([0.5, 0.5], 100, rng=rng),
    ...                              0.1, centre=0.5, draws=1000, rng=rng)
    >>> fair.lower < 0.0352 < fair.upper
    True
    """
    most, draws = float(at_least(alpha, "alpha", 0)), integer(draws, "draws", least=1)
    off = sum(abs(average(query, sampler(rng)) - centre) > most + TINY for _ in range(draws))
    share = off / draws
    lower, upper = chernoff(share, log(2 / number(level, "level", above=0, most=1)) / draws)
    return Chance(share, lower, upper)
