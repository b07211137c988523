"""Inverse sensitivity for any function: answers by how many records must change for them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, integer
from sourdine.mechanisms.exponential import Exponential
from sourdine.mechanisms.gridded import Weighed
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import SUBSTITUTE, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from sourdine.mechanisms.exponential import Scores

__all__ = ["InverseLength"]

MOST = 1_000_000
"""Data sets that are gone through, at most."""


def _listed(x: Iterable[Hashable], name: str) -> tuple[Hashable, ...]:
    if isinstance(x, str) or not isinstance(x, Iterable) or not (values := tuple(x)):
        raise ParameterTypeError(
            name, "be a list of values", given(x), f"Type {{{name}}}.", **{name: [0, 1]}
        )
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
    r"""Choose an answer by how many records would have to change for it to be true.

    .. math:: P(t) \propto e^{-\mathrm{len}_f(x, t)\,\varepsilon/2}

    :math:`\mathrm{len}_f(x, t)` is the least number of records to replace so that
    :math:`f(x') = t`; smoothed, the least over all answers within :math:`\rho` of :math:`t`
    [1]_. It is found by going through all data sets of n values of the universe, so it is for few
    records of few kinds; quantiles and proportions have formulas of their own (`sd.quantiles` with
    ``method="inverse_sensitivity"``, `sd.proportion`).

    Parameters
    ----------
    epsilon
        The privacy loss of the choice.
    f
        Any function of a data set, the order of whose records does not matter.
    n
        How many records there are, a public number.
    universe
        All that a record can be; what is not in it counts as the first.
    answers
        All that is published.
    rho
        How far a smoothed answer reaches; answers must be numbers then.

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
            raise ParameterError(
                "universe",
                f"make at most {MOST} data sets of n values",
                f"{len(self.universe)} values and n = {self.n}",
                "Type {universe} and {n}.",
                universe=[0, 1],
                n=2,
            )

    @cached_property
    def _sets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each data set has each value, and the number of its answer, or -1."""
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
        return self._smoothed(out) if self.rho > 0 else out

    def _smoothed(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        at = np.array(self.answers, np.float64)
        near = np.abs(at[:, None] - at[None, :]) <= self.rho
        return np.asarray(np.where(near, lengths[None, :], self.n + 1).min(axis=1))

    def read(self, x: object) -> Scores:
        """Return the lengths, negative; records beyond n are left out, missing ones filled up."""
        if isinstance(x, Weighed):
            return x
        records = list(x)[: self.n]  # type: ignore[call-overload]
        records += [self.universe[0]] * (self.n - len(records))
        return (-self.lengths(records)).view(Weighed)


register(
    Specimen(
        name="choice.inverse_length",
        make=lambda epsilon: InverseLength(
            epsilon=epsilon, f=lambda x: max(x) - min(x), n=3, universe=range(4), answers=range(4)
        ),
        inputs=([0, 0, 0], [0, 3, 3], [1, 2, 3]),
        tight=False,
        epsilon=8,
    )
)
