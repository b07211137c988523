r"""Answers that may be absent, randomised so that nobody sees that they were.

An answer is absent if the cell is empty, unreadable or not listed. Both mechanisms take the codes
of another one, 0 to :math:`m`, and :math:`m + 1` for an absent answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.exact import rational
from sourdine.laws import Law, alone
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse
from sourdine.mechanisms.mechanism import RAREST, Report, read_beta, settle
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["FLAG_SHARE", "AnyAnswer", "PaidFlag", "paid_flag"]

FLAG_SHARE = Fraction(1, 4)
r"""What a paid flag takes of its column's epsilon.

With a quarter, the error of the share of absent answers (:math:`\approx 4/(\varepsilon\sqrt n)`)
and that of the mean of the others, in units of half their range
(:math:`\approx 2 \cdot 2/(\tfrac34\varepsilon\sqrt n)` by a one-bit report of which about half are
blank), are alike.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyAnswer(Report):
    r"""Randomise by ``value``, an absent answer as if it were any one, all alike.

    .. math:: P(y \mid \text{absent}) = \frac{1}{m+1} \sum_{x=0}^{m} P(y \mid x)

    Parameters
    ----------
    value
        The mechanism of a present answer.

    Notes
    -----
    *Claim*: no more than the :math:`\varepsilon` of ``value``, and it is reached: an average of
    numbers lies between the least and the largest of them, so every ratio with
    :math:`P(y \mid \text{absent})` is at most the largest ratio between two present answers.
    *Checked by* ``test_exact_worst_case[absent.any]``. The report of an absent answer is one
    that a present answer could give: nothing in it is blank.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> vote = AnyAnswer(answer=RandomizedResponse(epsilon=1, categories=4))
    >>> vote.law(4).pmf(range(4)).round(12).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    answer: Report
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        settle(self, guarantee=self.answer.guarantee)

    @property
    def top(self) -> int:
        """The code of an absent answer."""
        return self.answer.top + 1

    @property
    def codes(self) -> int:
        """As many as ``value`` has."""
        return self.answer.codes

    @property
    def block(self) -> int:
        """As in the tally of ``value``."""
        return self.answer.block

    @property
    def cells(self) -> int:
        """As in the tally of ``value``."""
        return self.answer.cells

    @property
    def bits(self) -> int:
        """As large as a report of ``value``."""
        return self.answer.bits

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count reports as ``value`` does."""
        return self.answer.tally(reports)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which reports ``value`` could have drawn."""
        return self.answer.valid(reports)

    def outcomes(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Return where reports stand in `law`."""
        return self.answer.outcomes(reports)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Put any answer where there is none, then randomise all."""
        return self.answer.reports(filled(codes, self.answer.top, source), source)

    def law(self, x: int) -> Law:
        """Return the law of ``value``, or their average."""
        if x <= self.answer.top:
            return alone(self.answer.law(x))
        every = [alone(self.answer.law(code)) for code in range(self.top)]
        return Law.mixture([1.0] * len(every), every)

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of ``value``; for an absent answer no report is wrong."""
        return self.answer.loss(x, y) if x <= self.answer.top else np.zeros(np.shape(y))

    def error(self, beta: Number = 0.05) -> float:
        """Return the bound of ``value``."""
        return self.answer.error(beta)

    def __str__(self) -> str:
        return str(self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidFlag(Report):
    r"""Randomise whether there is an answer, and the answer; report none, or the answer.

    The flag says the truth with probability :math:`p` and lies with :math:`q`. The report is
    *none* if the randomised flag says absent, and else a report of ``value``, which takes an
    absent answer for any one:

    .. math:: P(y \mid x) = p\,V(y \mid x), \quad P(\text{none} \mid x) = q, \quad
              P(y \mid \text{absent}) = \frac{q}{m+1} \sum_x V(y \mid x), \quad
              P(\text{none} \mid \text{absent}) = p

    Reports are those of ``value``, which must be whole numbers, and one more, the last: none.

    Parameters
    ----------
    value
        The mechanism of a present answer.
    flag
        Randomised response with two categories: 0 present, 1 absent.

    Notes
    -----
    *Claim*: no more than the sum of the two epsilons, :math:`\varepsilon_f + \varepsilon_v`. Two
    present answers differ by :math:`\varepsilon_v` in :math:`y` and not at all in *none*. A
    present one and an absent one differ in :math:`y` by :math:`p/q = e^{\varepsilon_f}` times the
    ratio of :math:`V(y \mid x)` to an average of such, and in *none* by :math:`e^{\varepsilon_f}`.
    *Checked by* ``test_exact_worst_case[absent.flag]``. So the pattern of blanks is paid for, and
    where a report is no blank nothing else tells an absent answer from a present one. The
    bound is not quite reached, for an average is above the least of its terms.

    Examples
    --------
    >>> ages = paid_flag(BoundedLaplace, epsilon=1, last=120)
    >>> print(ages.guarantee)
    epsilon 1, any two inputs of one person
    >>> ages.flag.epsilon, ages.answer.epsilon
    (Fraction(1, 4), Fraction(3, 4))
    """

    answer: Report
    flag: RandomizedResponse
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spent = self.answer.guarantee.exact_epsilon() + self.flag.guarantee.exact_epsilon()
        settle(self, guarantee=Guarantee(spent, 0, LOCAL))

    @property
    def top(self) -> int:
        """The code of an absent answer."""
        return self.answer.top + 1

    @property
    def codes(self) -> int:
        """Those of ``value``, and none."""
        return self.answer.codes + 1

    @property
    def none(self) -> int:
        """The report that says that there is no answer."""
        return self.answer.codes

    @property
    def cells(self) -> int:
        """Those of ``value``, and one for none."""
        return self.answer.cells + 1

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count reports as ``value`` does, and those that say none in the last cell."""
        there = reports < self.none
        counts = self.answer.tally(reports[there])
        return np.append(counts, len(reports) - int(np.count_nonzero(there)))

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Randomise the flag of everybody and the answer of everybody."""
        absent = self.flag.reports((codes > self.answer.top).astype(np.int64), source)
        answers = self.answer.reports(filled(codes, self.answer.top, source), source)
        return np.where(absent == 1, self.none, answers)

    def law(self, x: int) -> Law:
        """Return the law of ``value``, weighed by the flag's, and that of none."""
        p, q = self.flag.channel
        there = AnyAnswer(answer=self.answer).law(x)
        none = Law.of([self.none], [1], [0.0], [0.0])
        chance = q if x <= self.answer.top else p
        return Law.mixture([1 - chance, chance], [there, none])

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of ``value``; where the flag is wrong, the largest one."""
        wrong = (np.asarray(y) == self.none) != (x > self.answer.top)
        inner = np.zeros(np.shape(y))
        if x <= self.answer.top:
            inner = self.answer.loss(x, np.minimum(y, self.none - 1))
        return np.where(wrong, self._worst, np.where(np.asarray(y) == self.none, 0.0, inner))

    def error(self, beta: Number = 0.05) -> float:
        """Return the bound of ``value`` for the chance left by a wrong flag."""
        left = rational(read_beta(beta), "beta") - self.flag.lie.above()
        return self._worst if left < RAREST else self.answer.error(left)

    @property
    def _worst(self) -> float:
        return max(float(self.answer.top), self.answer.error(RAREST))

    def __str__(self) -> str:
        return f"{self.answer}, flag {self.flag}"


def filled(codes: NDArray[np.int64], top: int, source: Source) -> NDArray[np.int64]:
    """Return the codes with any answer, all alike, where they say that there is none."""
    absent = codes > top
    gone = int(np.count_nonzero(absent))
    if gone == 0:
        return codes
    answers = codes.copy()
    answers[absent] = noise.uniform_below(top + 1, gone, source=source)
    return answers


def paid_flag(make: Any, *, epsilon: Number, **parameters: object) -> PaidFlag:  # noqa: ANN401
    """Return a mechanism with a paid flag that costs ``epsilon`` as a whole.

    Parameters
    ----------
    make
        Builds the mechanism of the answers from its ``epsilon`` and the other parameters.
    """
    whole = RandomizedResponse(epsilon=epsilon, categories=2).guarantee.exact_epsilon()
    flag = RandomizedResponse(epsilon=FLAG_SHARE * whole, categories=2)
    return PaidFlag(answer=make(epsilon=(1 - FLAG_SHARE) * whole, **parameters), flag=flag)


register(
    Specimen(
        name="absent.any",
        make=lambda epsilon: AnyAnswer(answer=BoundedLaplace(epsilon=epsilon, last=6)),
        inputs=tuple(range(7, -1, -1)),
        tight=True,
    )
)
register(
    Specimen(
        name="absent.flag",
        make=lambda epsilon: paid_flag(RandomizedResponse, epsilon=epsilon, categories=60),
        inputs=(60, 59, 0),
        tight=False,
        epsilon=3,
    )
)
