"""AboveThreshold: find the first of many questions with a large answer."""

from __future__ import annotations

from functools import cached_property
from math import ceil, exp, log
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import given, integer
from sourdine.laws import Law
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import (
    Mechanism,
    Specimen,
    add,
    may_move,
    moved,
    read_beta,
    read_scale,
    read_vector,
    register,
)
from sourdine.privacy import ADD_REMOVE, Guarantee, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source

    Answers = NDArray[np.int64]


MOST_CELLS = 10**7
FAR = 80  # the law sums the threshold's noise this many scales beyond the answers


def _queries(x: int) -> int:
    return integer(x, "queries", least=1)


def _threshold(x: int) -> int:
    """Validate a threshold: its distance to any answer must fit 64 bits."""
    value = integer(x, "threshold")
    if not -(1 << 61) < value < 1 << 61:
        hint = "Use the ticks of a coarser grid, such as {threshold}."
        raise ParameterError("threshold", "be within 2**61 of 0", given(value), hint, threshold=0)
    return value


@frozen(kw_only=True)
class AboveThreshold(Mechanism["Answers"]):
    r"""Return the first question whose noisy answer reaches a noisy threshold, or none.

    One draw :math:`\rho \sim \text{Lap}(2\Delta/\varepsilon)` is added to the threshold :math:`T`,
    one draw :math:`\nu_i \sim \text{Lap}(4\Delta/\varepsilon)` to each answer :math:`f_i`; the
    output is the least :math:`i` with :math:`f_i + \nu_i \ge T + \rho`, or the number of questions
    if there is none. For monotone answers :math:`\nu_i \sim \text{Lap}(2\Delta/\varepsilon)`
    suffices. The cost does not depend on the number of questions.

    Parameters
    ----------
    epsilon
        The privacy loss of the whole search, above 0.
    queries
        The maximum number of questions.
    threshold
        :math:`T`, public, in ticks.
    sensitivity
        :math:`\Delta`, the most by which one answer can change between neighbours.
    monotone
        Whether all answers change in one direction between neighbours, as counts do.
    relation
        Which data sets are neighbours.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy in both forms. *Checked by*
    ``test_exact_worst_case[choice.above_threshold]`` and ``[choice.above_threshold.monotone]``; two
    questions would hide a wrong constant, so the audit uses six. *Claim*: `error` and `lemma`
    hold. *Checked by* ``test_error_bound_holds[above-threshold]`` and
    ``test_above_threshold_lemma``.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014,
       section 3.6.
    .. [2] M. Lyu, D. Su, N. Li, "Understanding the sparse vector technique for differential
       privacy", VLDB 2017 (which of the published variants are wrong).

    Examples
    --------
    >>> search = AboveThreshold(epsilon=1, queries=100, threshold=500)
    >>> round(search.lemma(0.05), 1), search.error(0.05)
    (66.4, 40.0)
    """

    epsilon: Fraction = field(converter=read.epsilon)
    queries: int = field(converter=_queries)
    threshold: int = field(default=0, converter=_threshold)
    sensitivity: int = field(default=1, converter=read.whole_sensitivity)
    monotone: bool = field(default=False, converter=read.monotone)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)

    def __attrs_post_init__(self) -> None:
        read_scale(2 * self.threshold_scale)

    @cached_property
    def threshold_scale(self) -> Fraction:
        return 2 * self.sensitivity / self.epsilon

    @cached_property
    def query_scale(self) -> Fraction:
        return (2 if self.monotone else 4) * self.sensitivity / self.epsilon

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    def read(self, x: object) -> Answers:
        return read_vector(x, self.queries, "answers")

    def draw(self, x: Answers, size: int | None, source: Source) -> Value:
        runs = 1 if size is None else size
        rho = noise.discrete_laplace(self.threshold_scale, (runs, 1), source=source)
        nu = noise.discrete_laplace(self.query_scale, (runs, self.queries), source=source)
        over = add(x - self.threshold, nu) >= rho
        first = np.where(over.any(axis=1), over.argmax(axis=1), self.queries)
        return int(first[0]) if size is None else first.astype(np.int64)

    def law(self, x: Answers) -> Law:
        return first_above_law(x - self.threshold, self.threshold_scale, self.query_scale)

    def loss(self, x: Answers, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how far a skipped answer lies above, or the returned one below, the threshold."""
        height = (x - self.threshold).astype(np.float64)
        passed_over = np.concatenate(([0.0], np.maximum.accumulate(np.maximum(height, 0.0))))
        too_low = np.append(np.maximum(-height, 0.0), 0.0)
        return np.asarray(np.maximum(passed_over[y], too_low[y]))

    def error(self, beta: Number = 0.05) -> float:
        r"""Return :math:`a + b`, where :math:`P(|\rho| > a) \le \beta/2` and
        :math:`P(|\nu_i| > b) \le \beta/(2m)`: the lemma with the noise's own tails.
        """  # noqa: D205 - the formula does not fit one line
        half = read_beta(beta) / 2
        nu = laplace_error(self.query_scale, half / self.queries)
        return laplace_error(self.threshold_scale, half) + nu

    def lemma(self, beta: Number = 0.05) -> float:
        r"""Return :math:`\alpha = 8\Delta(\ln m + \ln(2/\beta))/\varepsilon`, the textbook's bound.

        :math:`m` is the number of questions and the event is about the true answers (the report
        prints the random index for :math:`m` and bounds the noisy ones, row C3). For monotone
        answers the same proof gives 4 instead of 8.
        """
        scale = float(self.threshold_scale) * (2 if self.monotone else 4)
        return scale * log(2 * self.queries / read_beta(beta))

    def neighbours(self, x: Answers) -> Iterator[Answers]:
        yield from moved(x, self.sensitivity, monotone=self.monotone)

    def adjacent(self, x: Answers, y: Answers) -> bool:
        return may_move(x, y, self.sensitivity, monotone=self.monotone)


def first_above_law(
    height: NDArray[np.int64], threshold_scale: Fraction, query_scale: Fraction
) -> Law:
    r"""Return the law of the first index whose noisy height reaches the noisy threshold at 0.

    .. math:: P(i) = \sum_\rho P(\rho) \prod_{j<i} P(\nu < \rho - h_j)\; P(\nu \ge \rho - h_i)

    The sum runs far enough that the rest is below :math:`2^m e^{-80/2}` of the least term.
    """
    reach = int(np.abs(height).max()) + ceil(FAR * max(threshold_scale, query_scale))
    if reach > MOST_CELLS:
        must = "law() is available for answers within some millions of the threshold only."
        hint = "It goes through all values of the threshold's noise: use a small input."
        raise ParameterError("law", must, "", hint)
    rho = np.arange(-reach, reach + 1)
    log_rho = -np.abs(rho) * float(1 / threshold_scale)
    # ln P(nu < m) and ln P(nu >= m), where P(k) is proportional to e^(-r|k|)
    m, r = rho - height[:, None], float(1 / query_scale)
    far = -r * np.where(m > 0, m, 1 - m) - log(1 + exp(-r))  # the smaller one, in closed form
    near = np.log1p(-np.exp(far))
    log_below, log_at_least = np.where(m > 0, near, far), np.where(m > 0, far, near)
    passed = np.vstack((np.zeros(len(rho)), np.cumsum(log_below, axis=0)))
    named = np.vstack((log_at_least, np.zeros(len(rho))))
    terms = log_rho + passed + named
    peak = terms.max(axis=1)
    total = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
    outer = np.maximum(terms[:, 0], terms[:, -1]) - total
    rest = exp(float(outer.max())) * 2.0 ** (len(height) + 1) * float(threshold_scale + 1)
    return Law.finite(total, slack=rest + 2.0**-50 * (len(rho) + float(np.abs(total).max())))


_SIX = ([40, 40, 40, 40, 40, 0], [0, 0, 0, 0, 0, 0], [40, 40, 40, 0, 0, 0], [-3, 2, 0, 1, -1, 0])


register(
    Specimen("choice.above_threshold", lambda e: AboveThreshold(epsilon=e, queries=6), _SIX),
    Specimen(
        "choice.above_threshold.monotone",
        lambda e: AboveThreshold(epsilon=e, queries=6, monotone=True), _SIX,
    ),
)  # fmt: skip
