"""Mechanisms given by a density on a grid, and inverse sensitivity for any function."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, integer
from sourdine.mechanisms.exponential import Exponential
from sourdine.mechanisms.mechanism import Specimen, register
from sourdine.privacy import SUBSTITUTE, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.mechanisms.exponential import Scores


# ---- Mechanisms given by a density, drawn on a grid of answers -----------------------------------


UNIT = 1 << 20  # logarithms of densities are integer multiples of 1/UNIT
WIDEST = float(1 << 20)


class Weighed(np.ndarray[Any, np.dtype[np.int64]]):
    """Scores computed for a data set: they are not read as a data set again."""


@frozen(kw_only=True)
class Gridded(Exponential):
    r"""Choose among :math:`N` answers with probability proportional to a density at each.

    A mechanism on the line is given by its density, :math:`f(x, y)`, for which the caller claims

    .. math:: |\ln f(x, y) - \ln f(x', y)| \le \varepsilon/2

    for all neighbours and answers. On a grid of answers it is the exponential mechanism with the
    score :math:`\ln f`: the weights move by :math:`e^{\varepsilon/2}`, their sum by as much again.
    As the grid becomes finer, its law tends to the one with density :math:`f` [1]_.

    Parameters
    ----------
    epsilon
        The privacy loss of the choice: twice that of the density.
    candidates
        :math:`N`, the number of answers.
    log_density
        From a data set to :math:`\ln f` at the N answers, accurate to :math:`2^{-22}`; a constant
        of the data set, such as a normaliser, may be left out only if the claim holds without it.
    relation
        Which data sets are neighbours.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, if the caller's claim holds. Logarithms are
    kept within :math:`\pm 2^{20}`, which moves no two of them apart, an answer that is no number
    counts as impossible, and all are rounded to multiples of :math:`2^{-20}`: the rounding, and as
    much for the caller's floats, are part of the sensitivity. *Checked by*
    ``test_exact_worst_case[choice.gridded]``. *Claim*: the law tends to the density's. *Checked by*
    ``test_a_finer_grid_comes_nearer_to_the_density``.

    References
    ----------
    .. [1] Audibert 2024, section 5.2.

    Examples
    --------
    The mean of 100 numbers of [0, 1], by Laplace noise that is cut off at the ends:

    >>> y = (np.arange(50) + 0.5) / 50
    >>> def laplace(x):
    ...     return -100 * 0.5 * np.abs(y - np.mean(x))
    >>> mean = Gridded(epsilon=1, candidates=50, log_density=laplace, relation="substitute")
    >>> print(mean.guarantee)
    epsilon 1, one record replaced
    >>> law = mean.law(mean.read([0.31] * 100))
    >>> float(y[law.pmf(np.arange(50)).argmax()])
    0.31
    """

    log_density: Callable[[Any], ArrayLike] = field(repr=False)
    sensitivity: int = field(init=False)
    monotone: bool = field(init=False, default=False)

    @sensitivity.default
    def _ticks(self) -> int:
        return int(self.epsilon * UNIT / 2) + 2

    def read(self, x: object) -> Scores:
        if isinstance(x, Weighed):
            return x
        logs = np.asarray(self.log_density(x), np.float64)
        if logs.shape != (self.candidates,):
            must = f"return {self.candidates} numbers, one for each answer"
            got, use = f"an array of shape {logs.shape}", logs.size or 1
            raise ParameterError("log_density", must, got, "Use {candidates}.", candidates=use)
        return ticks_of(logs).view(Weighed)

    def neighbours(self, x: Scores) -> Iterator[Scores]:
        """Yield all score vectors whose entries stay or move as far as possible: the extremes."""
        for step in product((-self.sensitivity, 0, self.sensitivity), repeat=len(x)):
            yield x + np.array(step)


def ticks_of(logs: NDArray[np.float64]) -> Scores:
    """Return logarithms as integer multiples of 1/`UNIT`; NaN counts as impossible."""
    known = np.where(np.isnan(logs), -np.inf, logs)
    return np.asarray(np.rint(np.clip(known, -WIDEST, WIDEST) * UNIT), np.int64)


def _specimen(epsilon: Any) -> Gridded:
    """Return a mean of four numbers between 0 and 1 on a grid of five answers up to 6."""
    answers = 1.5 * np.arange(5)

    def log_density(x: Any) -> NDArray[np.float64]:
        return np.asarray(-4 * float(epsilon) / 2 * np.abs(answers - np.mean(x)))

    return Gridded(epsilon=epsilon, candidates=5, log_density=log_density, relation="substitute")


# ---- Inverse sensitivity for any function --------------------------------------------------------


MOST = 1_000_000  # data sets that are enumerated


def _listed(x: Iterable[Hashable], name: str) -> tuple[Hashable, ...]:
    if isinstance(x, str) or not isinstance(x, Iterable) or not (values := tuple(x)):
        must, tries = "be a list of values", {name: [0, 1]}
        raise ParameterTypeError(name, must, given(x), f"Use {{{name}}}.", **tries)
    return values


def _universe(x: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return _listed(x, "universe")


def _answers(x: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return _listed(x, "answers")


def _n(x: int) -> int:
    return integer(x, "n", least=1)


def _rho(x: float) -> float:
    return float(at_least(x, "rho", 0))


@frozen(kw_only=True)
class InverseLength(Exponential):
    r"""Choose an answer by how many records would have to change to make it true.

    .. math:: P(t) \propto e^{-\mathrm{len}_f(x, t)\,\varepsilon/2}

    :math:`\mathrm{len}_f(x, t)` is the least number of records to replace so that
    :math:`f(x') = t`; smoothed, the least over all answers within :math:`\rho` of :math:`t`
    [1]_. It is found by enumerating all data sets of n values of the universe, so it is for few
    records of few kinds; quantiles and proportions have formulas of their own (`sd.quantiles` with
    ``method="inverse_sensitivity"``, `sd.proportion`).

    Parameters
    ----------
    epsilon
        The privacy loss of the choice.
    f
        Any function of a data set that does not depend on the order of its records.
    n
        The number of records, which is public.
    universe
        All possible values of a record; other values count as the first.
    answers
        All possible outputs.
    rho
        The reach of a smoothed answer; answers must then be numbers.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy for one record replaced: that moves every
    length by at most 1, smoothed or not, and an answer that no data set has is as far as n + 1 from
    all. *Checked by* ``test_exact_worst_case[choice.inverse_length]`` and
    ``test_one_record_moves_every_length_by_one``.

    References
    ----------
    .. [1] H. Asi, J. C. Duchi, "Near instance-optimality in differential privacy",
       arXiv:2005.10630, 2020.

    Examples
    --------
    >>> spread = InverseLength(
    ...     epsilon=2, f=lambda x: max(x) - min(x), n=5, universe=range(4), answers=range(4)
    ... )
    >>> spread.lengths([0, 0, 1, 1, 1]).tolist()
    [2, 0, 1, 1]
    """

    f: Callable[[Sequence[Any]], Any] = field(repr=False)
    n: int = field(converter=_n)
    universe: tuple[Hashable, ...] = field(converter=_universe, repr=False)
    answers: tuple[Hashable, ...] = field(converter=_answers, repr=False)
    rho: float = field(default=0.0, converter=_rho)
    candidates: int = field(init=False)
    sensitivity: int = field(init=False, default=1)
    monotone: bool = field(init=False, default=False)
    relation: Relation = field(init=False, default=SUBSTITUTE)

    @candidates.default
    def _count(self) -> int:
        return len(self.answers)

    def __attrs_post_init__(self) -> None:
        if comb(self.n + len(self.universe) - 1, self.n) > MOST:
            must = f"give at most {MOST} data sets of n values"
            got, hint = f"{len(self.universe)} values and n = {self.n}", "Use {universe} and {n}."
            raise ParameterError("universe", must, got, hint, universe=[0, 1], n=2)

    @cached_property
    def _sets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        place = {answer: i for i, answer in enumerate(self.answers)}
        counts, found = [], []
        for chosen in combinations_with_replacement(range(len(self.universe)), self.n):
            counts.append(np.bincount(chosen, minlength=len(self.universe)))
            found.append(place.get(self.f([self.universe[i] for i in chosen]), -1))
        return np.array(counts), np.array(found)

    def lengths(self, x: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return how many records must be replaced for each answer."""
        place = {value: i for i, value in enumerate(self.universe)}
        own = np.bincount([place.get(v, 0) for v in x], minlength=len(self.universe))
        counts, found = self._sets
        changed = self.n - np.minimum(counts, own).sum(axis=1)
        out = np.full(self.candidates, self.n + 1)
        known = found >= 0
        np.minimum.at(out, found[known], changed[known])
        if not self.rho:
            return out
        at = np.array(self.answers, np.float64)
        near = np.abs(at[:, None] - at[None, :]) <= self.rho
        return np.asarray(np.where(near, out[None, :], self.n + 1).min(axis=1))

    def read(self, x: object) -> Scores:
        """Return the negative lengths; records beyond n are dropped, missing ones filled up."""
        if isinstance(x, Weighed):
            return x
        records = list(x)[: self.n]  # type: ignore[call-overload]
        records += [self.universe[0]] * (self.n - len(records))
        return (-self.lengths(records)).view(Weighed)


def _spread(epsilon: Any) -> InverseLength:
    values: dict[str, Any] = {"universe": range(4), "answers": range(4)}
    return InverseLength(epsilon=epsilon, f=lambda x: max(x) - min(x), n=3, **values)


_THREE = ([0, 0, 0], [0, 3, 3], [1, 2, 3])
register(
    Specimen(
        "choice.gridded", _specimen, ([0, 0, 0, 0], [0, 1, 1, 1], [1, 0, 0.5, 0.25]), tight=False
    ),
    Specimen("choice.inverse_length", _spread, _THREE, tight=False, epsilon=8),
)
