r"""A look through noise: one budget buys privacy and validity.

Private multiplicative weights [1]_. Query values are snapped to multiples of 1/1024, so the sum of
a query over the rows is a whole number that one row moves by 1024 at most. A search in the manner
of `sourdine.mechanisms.AboveThreshold` waits for a query whose gap to the guess reaches the
threshold; Laplace noise is added to that query's sum, what comes out is told to the nearest cell,
the hypothesis learns from it, and a new search begins, ``hard`` times at most.

*Claim*: the whole conversation costs what was asked for, however long it is and whatever the
analyst does: a search costs :math:`\varepsilon_1` and a value :math:`\varepsilon_2`, all else is
computed from what they told, so :math:`h(\varepsilon_1 + \varepsilon_2)` in all, or
:math:`h(\varepsilon_1^2 + \varepsilon_2^2)/2` of concentrated privacy. After the last surprise the
rows are not touched again. *Checked by* ``test_exact_laws_of_all_neighbours``,
``test_replay_on_neighbours``, ``test_draws_follow_the_law_of_the_conversation`` and
``test_search_and_noise_follow_their_laws``.

*Claim*: the ends hold. The ledger's theorem is true given the noise, which does not depend on the
rows, and `sourdine.adaptive.information` has another account; each has a third of beta, so
the better one may be taken for each answer. The last third is for noise beyond its bounds: for the
threshold and the values each of ``hard`` draws, for look :math:`i` a share :math:`1/i(i + 1)`.
*Checked by* ``test_private_answers_hold_their_ends``.

References
----------
.. [1] M. Hardt, G. Rothblum, "A multiplicative weights mechanism for privacy-preserving data
   analysis", FOCS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.adaptive.information import likely_loss
from sourdine.adaptive.server.gaps import Cell
from sourdine.adaptive.thresholds import largest
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import integer, kind
from sourdine.mechanisms import AboveThreshold, Laplace
from sourdine.mechanisms.laplace import laplace_error
from sourdine.privacy import SUBSTITUTE, Concentrated, Guarantee

if TYPE_CHECKING:
    from sourdine.adaptive.server.evidence import Cells
    from sourdine.adaptive.server.looks import Ends, LookQuestion
    from sourdine.adaptive.server.weights import Weights
    from sourdine.noise import Source

__all__ = ["TICKS", "Costs", "PrivateLook"]

TICKS = 1024
"""Query values are multiples of 1/1024."""
HORIZON = 10_000
"""The number of looks for which surprises are planned; there may be more."""
HALF_TICK = 1 / (2 * TICKS)


@dataclass(frozen=True, slots=True)
class Costs:
    r"""What a search and a value cost where ``hard`` of each share a budget.

    Three quarters of epsilon go to the search, whose noise is the larger.

    Examples
    --------
    >>> costs = Costs.share(ONE, hard=10)
    >>> costs.search, costs.value, costs.pure
    (Fraction(3, 40), Fraction(1, 40), Fraction(1, 1))
    >>> costs = Costs.share(Concentrated(0.125, SUBSTITUTE), hard=10)
    >>> round(float(costs.search), 6), round(float(costs.pure), 6)
    (0.15, 2.0)
    """

    search: Fraction
    value: Fraction
    hard: int

    @classmethod
    def share(cls, privacy: Guarantee | Concentrated, hard: int) -> Costs:
        """Return equal shares of a budget, rounded down."""
        if isinstance(privacy, Guarantee) and privacy.is_pure:
            each = privacy.exact_epsilon() / hard
            return cls(each * 3 / 4, each / 4, hard)
        rho = privacy.rho if isinstance(privacy, Concentrated) else _rho(privacy)
        each = _root(rho / (5 * hard))
        return cls(3 * each, each, hard)

    @property
    def pure(self) -> Fraction:
        """Epsilon of the whole, without delta."""
        return self.hard * (self.search + self.value)


class PrivateLook:
    """A look through noise.

    Parameters
    ----------
    evidence
        The rows, counted in the cells of a universe.
    hypothesis
        What learns from surprises.
    threshold
        How near is near.
    privacy
        The budget of the whole conversation, under ``SUBSTITUTE``.
    hard
        How many surprises it is divided by; planned from public numbers if left out, as many as
        leave the noise of the search below half the threshold.
    beta
        A third is for noise beyond its bounds, a third for the account of privacy; the server's
        ledger has the last third.
    source
        Where the noise comes from.
    """

    __slots__ = (
        "_beta", "_evidence", "_hypothesis", "_information", "_left", "_looks", "_rho", "_search",
        "_source", "_threshold", "_value", "costs", "guarantee",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - the terms of a budget
        self,
        evidence: Cells,
        hypothesis: Weights,
        *,
        threshold: float,
        privacy: Guarantee | Concentrated | None,
        hard: int | None,
        beta: Fraction,
        source: Source,
    ) -> None:
        budget = _read(privacy)
        self._evidence, self._threshold, self._hypothesis = evidence, threshold, hypothesis
        self._beta, self._source = float(beta / 3), source
        most = _planned(budget, evidence.n, threshold, self._beta) if hard is None else hard
        self.costs = Costs.share(budget, integer(most, "hard", least=1))
        self.guarantee = budget if source.private else Guarantee.none(SUBSTITUTE)
        reach = round(Fraction(str(threshold)) * evidence.n * TICKS)
        self._search = AboveThreshold(
            epsilon=self.costs.search,
            queries=1,
            threshold=reach,
            sensitivity=TICKS,
            relation=SUBSTITUTE,
        )
        self._value = Laplace(epsilon=self.costs.value, sensitivity=TICKS, relation=SUBSTITUTE)
        self._information = likely_loss(float(self.costs.pure), evidence.n, self._beta / 2)
        self._rho: int | None = None
        self._left, self._looks = self.costs.hard, 0

    @property
    def left(self) -> int:
        """How many surprises are left."""
        return self._left

    def demand(self) -> None:
        """Raise if all surprises are used up."""
        if not self._left:
            raise BudgetExceededError(
                "surprises",
                f"be at most {self.costs.hard}, which the privacy budget pays for",
                "one more question after the last",
                "Nothing was answered: guess(query) still answers from the hypothesis, without "
                "ends.",
            )

    def nats(self, answer: int) -> float:
        r"""Return :math:`I + \ln(i(i + 1) / \beta)` of the account of privacy."""
        return self._information + log(answer) + log(answer + 1) - log(self._beta / 2)

    def cells(self, question: LookQuestion) -> list[Cell]:
        """Return the cells of half a threshold around the guess."""
        below, above = self._reach(question)
        return [Cell(step) for step in range(-below, above + 1)]

    def surprises(self, question: LookQuestion) -> bool:
        """Return whether the search has found what it waits for."""
        self._looks += 1
        guess = round(question.guess * self._evidence.n * TICKS)
        found = self.fires(abs(self._total(question) - guess))
        self._left -= found
        return found

    def cell(self, question: LookQuestion) -> Cell:
        """Return the cell of the noisy average of a query that surprised."""
        ticks = self._evidence.n * TICKS
        average = self.disturbed(self._total(question)) / ticks
        inside = min(max(average, question.low), question.high)
        below, above = self._reach(question)
        steps = round(2 * (inside - question.guess) / self._threshold)
        return Cell(min(max(steps, -below), above))

    def _total(self, question: LookQuestion) -> int:
        """Return the sum of a query over the rows, in ticks."""
        return int(np.rint(question.query * TICKS).astype(np.int64) @ self._evidence.counts)

    def fires(self, gap: int) -> bool:
        """Return whether a noisy gap reaches the noisy threshold, which then is drawn anew."""
        if self._rho is None:
            self._rho = noise.laplace_around(0, self._search.threshold_scale, source=self._source)
        nu = noise.laplace_around(0, self._search.query_scale, source=self._source)
        over = gap + nu >= self._search.threshold + self._rho
        self._rho = None if over else self._rho
        return over

    def disturbed(self, total: int) -> int:
        """Return a sum with noise."""
        return noise.laplace_around(total, self._value.scale, source=self._source)

    def known(self, question: LookQuestion, cell: Cell | None) -> Ends:
        """Return the ends of the average behind the answer, but for a chance of the noise."""
        off = self._threshold + self._search_error() if cell is None else self._value_error()
        middle = self.value(question, cell)
        return max(middle - off, question.low), min(middle + off, question.high)

    def value(self, question: LookQuestion, cell: Cell | None) -> float:
        """Return the middle of the cell, or the guess."""
        if cell is None:
            return question.guess
        middle = question.guess + cell.steps * self._threshold / 2
        return min(max(middle, question.low), question.high)

    def learn(self, question: LookQuestion, cell: Cell) -> None:
        """Move the hypothesis to the near end of what is known, if that lies beyond it."""
        low, high = self.known(question, cell)
        if not low <= question.guess <= high:
            target = low if question.guess < low else high
            self._hypothesis.move(self._hypothesis.tilt(question.query, target))

    def _reach(self, question: LookQuestion) -> tuple[int, int]:
        below, above = question.guess - question.low, question.high - question.guess
        return max(0, round(2 * below / self._threshold)), max(
            0, round(2 * above / self._threshold)
        )

    def _search_error(self) -> float:
        i = self._looks
        rho = laplace_error(self._search.threshold_scale, self._beta / 3 / self.costs.hard)
        nu = laplace_error(self._search.query_scale, self._beta / 3 / (i * (i + 1)))
        return (rho + nu + 2) / (self._evidence.n * TICKS) + HALF_TICK

    def _value_error(self) -> float:
        off = laplace_error(self._value.scale, self._beta / 3 / self.costs.hard)
        return off / (self._evidence.n * TICKS) + HALF_TICK + self._threshold / 4


def _planned(privacy: Guarantee | Concentrated, n: int, threshold: float, beta: float) -> int:
    """Return the most surprises for which the search errs by half the threshold at most."""

    def error(hard: int) -> float:
        costs = Costs.share(privacy, hard)
        search = AboveThreshold(epsilon=costs.search, queries=1, relation=SUBSTITUTE)
        nu = laplace_error(search.query_scale, beta / 3 / (HORIZON * (HORIZON + 1)))
        return (laplace_error(search.threshold_scale, beta / 3 / hard) + nu) / n

    most = largest(lambda hard: error(hard) <= threshold / 2)
    if not most:
        raise ParameterError(
            "error",
            f"be at least {2 * error(1):.3g} for this privacy and {n} rows",
            f"{threshold:g}",
            "The noise of a single surprise would hide it. Type a larger error or a "
            "larger epsilon, or {hard} all the same.",
            hard=1,
        )
    return most


ONE = Guarantee(1, relation=SUBSTITUTE)


def _read(privacy: object) -> Guarantee | Concentrated:
    if not isinstance(privacy, (Guarantee, Concentrated)):
        raise ParameterTypeError(
            "privacy",
            "be a Guarantee or Concentrated",
            kind(privacy),
            "Type {privacy}.",
            privacy=ONE,
        )
    if privacy.relation is not SUBSTITUTE:
        raise ParameterError(
            "privacy",
            "be under SUBSTITUTE, since the number of rows is public",
            privacy.relation.name,
            "Type {privacy}.",
            privacy=ONE,
        )
    nothing = privacy.rho == 0 if isinstance(privacy, Concentrated) else privacy.epsilon == 0
    if nothing or (isinstance(privacy, Guarantee) and not privacy.is_private):
        raise ParameterError(
            "privacy", "be finite and above 0", str(privacy), "Type {privacy}.", privacy=ONE
        )
    return privacy


def _rho(privacy: Guarantee) -> Fraction:
    return Concentrated.rho_for(privacy.exact_epsilon(), privacy.delta)


def _root(x: Fraction) -> Fraction:
    """Return the square root, rounded down to 64 bits after the point."""
    return Fraction(isqrt((x.numerator << 128) // x.denominator), 1 << 64)
