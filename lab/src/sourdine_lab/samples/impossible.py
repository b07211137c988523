r"""Two laws over samples that no mechanism can answer for both.

:math:`P_0` gives :math:`(\frac12, \dots, \frac12)` or :math:`(0, \dots, 0)`, :math:`P_1` gives
:math:`(\frac12, \dots, \frac12)` or :math:`(1, \dots, 1)`, each with probability one half. For
:math:`q(x) = x` the truths are :math:`q(P_0) = \frac14` and :math:`q(P_1) = \frac34`.

*Claim*: whatever a mechanism does, for every :math:`\alpha < \frac14` the chances
:math:`\beta_0, \beta_1` that its answer is off by more than :math:`\alpha` on :math:`P_0` and on
:math:`P_1` sum to at least :math:`\frac12`. So none is within :math:`\alpha < \frac14` on both but
for a chance below :math:`\frac14`.

*Proof*: let :math:`a` be the answer to the sample that both may give. An
:math:`a` within :math:`\alpha < \frac14` of :math:`\frac14` is below :math:`\frac12`, one within
:math:`\alpha` of :math:`\frac34` above, so every :math:`a` is off for at least one of the two.
Hence :math:`\beta_0 + \beta_1 \ge \frac12 \Pr[a \text{ off for } P_0] +
\frac12 \Pr[a \text{ off for } P_1] \ge \frac12`. Both constants are tight: a coin between
:math:`\frac14` and :math:`\frac34` reaches :math:`\beta_0 = \beta_1 = \frac14`, and at
:math:`\alpha = \frac14` the answer :math:`\frac12` is good for both. *Checked by*
``test_no_mechanism_answers_both`` and ``test_constants_of_the_pair_are_tight``.

The way out is to ask of a mechanism no more than what holds without adaptivity: that it answers
queries which are concentrated. :math:`q` is not, on either law.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, probability, rational

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sourdine.exact import Number

__all__ = ["P0", "P1", "Coin", "failures", "least_failure"]

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Coin:
    """A law over samples: all rows are 1/2, or all are ``other``, each with probability 1/2.

    Examples
    --------
    >>> P0.value, P1.value
    (Fraction(1, 4), Fraction(3, 4))
    """

    other: int

    @property
    def value(self) -> Fraction:
        """Return the truth of the query q(x) = x."""
        return (HALF + self.other) / 2

    def outcomes(self, n: int) -> list[tuple[Fraction, NDArray[np.float64]]]:
        """Return the two samples of ``n`` rows with their probabilities."""
        return [(HALF, np.full(integer(n, "n", least=1), x)) for x in (0.5, float(self.other))]

    def draw(self, n: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a sample of ``n`` rows."""
        return self.outcomes(n)[int(rng.integers(2))][1]


P0, P1 = Coin(0), Coin(1)


def failures(answers: Mapping[Number, Number], alpha: Number) -> tuple[Fraction, Fraction]:
    r"""Return :math:`\beta_0` and :math:`\beta_1` of a mechanism, exactly.

    Parameters
    ----------
    answers
        The law of its answer to the sample of halves: answers with their probabilities. On the
        other two samples it may answer without error, for they tell which law it is.
    alpha
        How far an answer may be off.

    Examples
    --------
    A coin between the two truths, and the middle, which is good for neither:

    >>> failures({0.25: 0.5, 0.75: 0.5}, alpha=0.2)
    (Fraction(1, 4), Fraction(1, 4))
    >>> failures({0.5: 1}, alpha=0.2)
    (Fraction(1, 2), Fraction(1, 2))
    """
    most = at_least(alpha, "alpha", 0)
    law = [(rational(a, "answers"), probability(p, "answers")) for a, p in answers.items()]
    if sum(chance for _, chance in law) != 1:
        raise ParameterError(
            "answers must have probabilities that sum to 1, got others. "
            "Use answers={0.25: 0.5, 0.75: 0.5}."
        )

    def off(truth: Fraction) -> Fraction:
        return HALF * sum((chance for a, chance in law if abs(a - truth) > most), Fraction(0))

    return off(P0.value), off(P1.value)


def least_failure(alpha: Number) -> Fraction:
    r"""Return the least :math:`\max(\beta_0, \beta_1)` of all mechanisms: 1/4, or 0 from 1/4 on.

    An answer matters only by which of the two truths it is near to. The best answer for both is the
    middle of them, so either one serves both, or every answer serves one at most and a fair coin is
    best.

    Examples
    --------
    >>> least_failure(0.2), least_failure(0.25)
    (Fraction(1, 4), Fraction(0, 1))
    """
    middle = failures({(P0.value + P1.value) / 2: 1}, alpha)
    coin = failures({P0.value: HALF, P1.value: HALF}, alpha)
    return min(max(middle), max(coin))
