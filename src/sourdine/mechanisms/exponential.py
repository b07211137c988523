"""The exponential mechanism and permute-and-flip over a finite list of candidates."""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.exact import integer
from sourdine.laws import Law
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import (
    Mechanism,
    Specimen,
    may_move,
    moved,
    read_beta,
    read_vector,
    register,
)
from sourdine.privacy import ADD_REMOVE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source

    Scores = NDArray[np.int64]


# ---- The exponential mechanism -------------------------------------------------------------------


def _candidates(x: int) -> int:
    return integer(x, "candidates", least=1)


@frozen(kw_only=True)
class Selection(Mechanism["Scores"]):
    r"""Choose a candidate by private scores; the base class of two mechanisms.

    Parameters
    ----------
    epsilon
        The privacy loss of the choice, above 0.
    candidates
        The number of candidates, which is the length of the vector of scores.
    sensitivity
        :math:`\Delta`, the most by which one score can change between neighbours.
    monotone
        Whether all scores change in one direction, as counts do when a record is added or removed.
        Then half the noise suffices.
    relation
        Which data sets are neighbours.
    """

    epsilon: Fraction = field(converter=read.epsilon)
    candidates: int = field(converter=_candidates)
    sensitivity: int = field(default=1, converter=read.whole_sensitivity)
    monotone: bool = field(default=False, converter=read.monotone)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)

    @cached_property
    def decay(self) -> Fraction:
        """The factor c of the scores."""
        return self.epsilon / (self.sensitivity if self.monotone else 2 * self.sensitivity)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    def read(self, x: object) -> Scores:
        return read_vector(x, self.candidates, "scores")

    def error(self, beta: Number = 0.05) -> float:
        r"""Return :math:`\ln(m/\beta)/c`: how far below the best the chosen score may be."""
        return log(self.candidates / read_beta(beta)) / float(self.decay)

    def loss(self, x: Scores, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(x.max() - x[y], np.float64)

    def neighbours(self, x: Scores) -> Iterator[Scores]:
        yield from moved(x, self.sensitivity, monotone=self.monotone)

    def adjacent(self, x: Scores, y: Scores) -> bool:
        return may_move(x, y, self.sensitivity, monotone=self.monotone)


@frozen(kw_only=True)
class Exponential(Selection):
    r"""Choose candidate :math:`i` with probability proportional to :math:`e^{c\,u_i}`.

    .. math:: c = \frac{\varepsilon}{2\Delta}, \quad\text{or}\quad c = \frac{\varepsilon}{\Delta}
              \text{ for monotone scores.}

    The choice is exact for any number of candidates.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy: the weight moves by :math:`e^{c\Delta}`, the
    sum of all weights by as much again, or not at all in the same direction for monotone scores.
    *Checked by* ``test_exact_worst_case[choice.exponential]`` and
    ``[choice.exponential.monotone]``. *Claim*: the chosen score falls short of the best by more
    than :math:`\ln(m/\beta)/c` with probability :math:`\beta` at most. *Checked by*
    ``test_error_bound_holds[exponential]``.

    References
    ----------
    .. [1] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.

    Examples
    --------
    >>> vote = Exponential(epsilon=1, candidates=3)
    >>> vote.law(vote.read([10, 8, 0])).pmf([0, 1, 2]).round(3).tolist()
    [0.727, 0.268, 0.005]
    """

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon`: the sum of the weights cancels between two choices.

        *Checked by* ``test_whole_curve[choice.exponential]`` and ``[choice.exponential.monotone]``.
        """
        return (Part.range(self.epsilon),)

    def draw(self, x: Scores, size: int | None, source: Source) -> Value:
        return noise.choose(x, self.decay, size=size, source=source)

    def law(self, x: Scores) -> Law:
        return Law.finite(float(self.decay) * (x - x.max()).astype(np.float64))


# ---- Permute-and-flip, which is never worse than the exponential mechanism -----------------------


@frozen(kw_only=True)
class PermuteAndFlip(Selection):
    r"""Toss a coin of :math:`a_i = e^{c(u_i - \max u)}` each; choose among the heads.

    The best candidate's coin always shows heads. Visiting the candidates in random order until
    the first heads, as in the paper, is the same as a uniform choice among all heads.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy with the constants of the
    exponential mechanism. *Checked by* ``test_exact_worst_case[choice.permute_and_flip]``.
    *Claim*: its expected loss is never above that of the exponential mechanism. *Checked by*
    ``test_permute_and_flip_beats_exponential``.

    References
    ----------
    .. [1] R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private
       selection", NeurIPS 2020.

    Examples
    --------
    >>> vote = PermuteAndFlip(epsilon=1, candidates=3)
    >>> vote.law(vote.read([10, 8, 0])).pmf([0, 1, 2]).round(3).tolist()
    [0.814, 0.184, 0.003]
    """

    def draw(self, x: NDArray[np.int64], size: int | None, source: Source) -> Value:
        return noise.permute_and_flip(x, self.decay, size=size, source=source)

    def law(self, x: NDArray[np.int64]) -> Law:
        r"""Return :math:`P(i) = a_i\,E[1/(1 + N_i)]`, :math:`N_i` the other candidates' heads."""
        log_a = float(self.decay) * (x - x.max()).astype(np.float64)
        share = [np.log(_mean_share(np.delete(log_a, i))) for i in range(len(x))]
        return Law.finite(log_a + np.array(share), slack=2.0**-50 * len(x))


def _mean_share(log_a: NDArray[np.float64]) -> float:
    """Return the mean of 1/(1 + N), N the number of heads of these coins."""
    heads = np.ones(1)  # the law of N, coin by coin
    for a, tails in zip(np.exp(log_a), -np.expm1(log_a), strict=True):
        heads = np.append(heads * tails, 0.0) + np.append(0.0, heads * a)
    return float(heads @ (1 / np.arange(1, len(heads) + 1)))


_SCORES = ([0, 0, 0, 0], [0, 60, 60, 60], [5, 2, 0, 1])


def _maker(kind: type[Selection], *, monotone: bool = False) -> Callable[[Any], Selection]:
    return lambda e: kind(epsilon=e, candidates=4, monotone=monotone)


register(
    Specimen("choice.exponential", _maker(Exponential), _SCORES),
    Specimen("choice.exponential.monotone", _maker(Exponential, monotone=True), _SCORES),
    Specimen(
        "choice.permute_and_flip", _maker(PermuteAndFlip), _SCORES, also=("mode.permute_and_flip",)
    ),
    Specimen(
        "choice.permute_and_flip.monotone", _maker(PermuteAndFlip, monotone=True), _SCORES,
        also=("mode.permute_and_flip.monotone",),
    ),
)  # fmt: skip
