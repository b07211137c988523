"""Looks at the sample: is its average near the guess, exactly or through noise."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isqrt, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sourdine import noise
from sourdine.adaptive.information import largest, likely_loss
from sourdine.adaptive.query_server.evidence import Cells
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, number
from sourdine.mechanisms import AboveThreshold, Laplace
from sourdine.mechanisms.laplace import laplace_error
from sourdine.privacy import SUBSTITUTE, Concentrated, Guarantee

if TYPE_CHECKING:
    from sourdine.adaptive.query_server.evidence import Evidence
    from sourdine.adaptive.query_server.guesses import Tilt, Weights
    from sourdine.exact import Number
    from sourdine.noise import Source

    Ends = tuple[float, float]


# ---- The code of an answer that surprised: how far from the guess, in steps, on which side -------
#
# A guess :math:`g` was off by more than :math:`\alpha`. Cell :math:`j` above it holds the averages
# from :math:`g + \alpha + (j - 1) 2\alpha` to :math:`g + \alpha + j\,2\alpha`, cell :math:`-j`
# below it likewise; what is told is the middle of a cell, within :math:`\alpha` of the average.
# Which cells there are depends on the guess and on the query's range, both public. Small gaps are
# common, so each cell is charged by how often it came before, after Krichevsky and Trofimov: with a
# share :math:`p` of the counts, an answer of :math:`\lceil 1/p \rceil` levels. Those shares sum to
# one, so the lengths are a code. *Checked by* ``test_levels_of_the_cells_are_a_code``.


ONE = 32
"""What an answer counts in the shares; half of it is there beforehand, for a rare one little."""


LEAST_ERROR = 1e-6
"""The smallest error of a server: the cells around a guess are listed."""


def read_error(error: Number) -> float:
    """Return how near is near."""
    near = float(number(error, "error", above=0, most=1))
    if near < LEAST_ERROR:
        must = f"be at least {LEAST_ERROR:g}"
        raise ParameterError("error", must, given(error), "Use {error}.", error=0.05)
    return near


class Cell(NamedTuple):
    """A cell ``steps`` above the guess, below it if negative, and whether the step is short."""

    steps: int
    short: bool = False


@dataclass(frozen=True, slots=True)
class Gaps:
    r"""The cells beyond a threshold :math:`\alpha` around a guess, within the query's range."""

    guess: float
    threshold: float
    low: float = 0.0
    high: float = 1.0

    def cell(self, average: float) -> int:
        """Return the steps of the cell of an average that is beyond the threshold."""
        return self._count(average - self.guess) or -self._count(self.guess - average)

    def steps(self) -> list[int]:
        above = self._count(self.high - self.guess)
        below = self._count(self.guess - self.low)
        return [*range(1, above + 1), *range(-1, -below - 1, -1)]

    def ends(self, steps: int) -> tuple[float, float]:
        """Return the ends of a cell, the lower one first."""
        near, far = (2 * abs(steps) - 1) * self.threshold, (2 * abs(steps) + 1) * self.threshold
        if steps > 0:
            return self.guess + near, min(self.guess + far, self.high)
        return max(self.guess - far, self.low), self.guess - near

    def _count(self, gap: float) -> int:
        return max(0, ceil((gap - self.threshold) / (2 * self.threshold)))


class ToldCells:
    """How often each cell was told, and the levels that the next one is charged for."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Counter[Cell] = Counter()

    def levels(self, cell: Cell, cells: list[Cell]) -> int:
        """Return among how many levels a cell counts, given those there are."""
        return -(-sum(map(self._share, cells)) // self._share(cell))

    def dearest(self, cells: list[Cell]) -> int:
        """Return the most that any of the cells counts for."""
        total, least = sum(map(self._share, cells)), min(map(self._share, cells))
        return -(-total // least)

    def bound(self, cells: list[Cell], more: int) -> int:
        """Return the most that a cell can count for as the last of ``more`` surprises.

        The cells are those of a query from 0 to 1 with the guess 0; another guess has at most 4
        more.
        """
        fresh = [_fresh(cell) for cell in cells]
        told = self._counts.total() + more - 1
        return -(-(ONE * (told + 2) + sum(fresh)) // min(fresh))

    def add(self, cell: Cell) -> None:
        """Count a cell that was told."""
        self._counts[cell] += 1

    def _share(self, cell: Cell) -> int:
        return ONE * self._counts[cell] + _fresh(cell)


def _fresh(cell: Cell) -> int:
    """Return the share of a cell that was never told."""
    return 1 if cell.short else ONE // 2


# ---- A look at the sample: whether its average is near the guess, and if not, in which cell it is


ROUNDING = 1e-9
"""Nats left to the rounding of divergences."""


@dataclass(frozen=True, slots=True)
class LookQuestion:
    """A query, the guess, and the least and the largest value a row may have: all public."""

    query: Any
    guess: float
    low: float = 0.0
    high: float = 1.0


class PlainLook:
    """A look without noise.

    Of the sample, only the cell is ever told; all else follows from it and the question.

    Surprises teach the hypothesis, if there is one. A long step ends at the share ``pace`` of the
    cell beyond its near end, a half for its middle.
    """

    __slots__ = ("_divergence", "_most", "evidence", "hypothesis", "pace", "threshold")

    def __init__(
        self, evidence: Evidence, threshold: float, hypothesis: Weights | None, pace: float = 0.5
    ) -> None:
        self.evidence, self.threshold, self.hypothesis = evidence, threshold, hypothesis
        self.pace = pace
        self._divergence = self._most = 0.0
        if hypothesis is not None and isinstance(evidence, Cells):
            there = evidence.counts > 0
            law = evidence.law[there]
            self._divergence = float(law @ (np.log(law) - hypothesis.logs[there]))
            self._most = hypothesis.stock

    def demand(self) -> None:
        """Raise if there may be no more looks; here they are counted by the ledger alone."""

    def nats(self, answer: int) -> float:
        """Return what the sample may have told by another account; inf if there is none."""
        return inf

    def cells(self, question: LookQuestion) -> list[Cell]:
        """Return the cells beyond the threshold, each with a long and a short step."""
        steps = self._gaps(question).steps()
        short = steps if self.hypothesis else []
        return [*map(Cell, steps), *(Cell(step, short=True) for step in short)]

    def surprises(self, question: LookQuestion) -> bool:
        """Return whether the average is not near the guess; takes as long for yes as for no."""
        return abs(self._average(question) - question.guess) > self.threshold

    def cell(self, question: LookQuestion) -> Cell:
        """Return the cell of the average, with a short step where a long one might overshoot."""
        average = self._average(question)
        cell = Cell(self._gaps(question).cell(average))
        tilt = self._tilt(question, cell)
        if tilt is None or self._divergence - tilt.gain(average) <= self._allowed() - ROUNDING:
            return cell
        return Cell(cell.steps, short=True)

    def known(self, question: LookQuestion, cell: Cell | None) -> Ends:
        """Return the ends between which the answer says the sample's average is."""
        if cell is not None:
            return self._gaps(question).ends(cell.steps)
        low, high = question.guess - self.threshold, question.guess + self.threshold
        return max(low, question.low), min(high, question.high)

    def value(self, question: LookQuestion, cell: Cell | None) -> float:
        """Return the middle of the cell, or the guess."""
        return question.guess if cell is None else sum(self.known(question, cell)) / 2

    def learn(self, question: LookQuestion, cell: Cell) -> None:
        """Move the hypothesis into the cell told, or by a short step to its near end."""
        tilt = self._tilt(question, cell)
        if tilt is not None and self.hypothesis is not None:
            self._divergence -= tilt.gain(self.evidence.average(question.query))
            self._most = self._allowed()
            self.hypothesis.move(tilt)

    def _tilt(self, question: LookQuestion, cell: Cell) -> Tilt | None:
        if self.hypothesis is None:
            return None
        ends = self.known(question, cell)
        near, far = sorted(ends, key=lambda end: abs(end - question.guess))
        target = near if cell.short else (1 - self.pace) * near + self.pace * far
        return self.hypothesis.tilt(question.query, target)

    def _average(self, question: LookQuestion) -> float:
        return min(max(self.evidence.average(question.query), question.low), question.high)

    def _allowed(self) -> float:
        """Return the most that the divergence may be after one more surprise."""
        return self._most - 2 * self.threshold**2

    def _gaps(self, question: LookQuestion) -> Gaps:
        return Gaps(question.guess, self.threshold, question.low, question.high)


# ---- A look through noise: one budget buys privacy and validity ----------------------------------
#
# Private multiplicative weights [1]_. Query values are snapped to multiples of 1/1024, so the sum
# of a query over the rows is a whole number that one row moves by 1024 at most. A search in the
# manner of `sourdine.mechanisms.AboveThreshold` waits for a query whose gap to the guess reaches
# the threshold; Laplace noise is added to that query's sum, what comes out is told to the nearest
# cell, the hypothesis learns from it, and a new search begins, ``hard`` times at most.
#
# *Claim*: the whole conversation costs what was asked for, however long it is and whatever the
# analyst does: a search costs :math:`\varepsilon_1` and a value :math:`\varepsilon_2`, all else is
# computed from what they told, so :math:`h(\varepsilon_1 + \varepsilon_2)` in all, or
# :math:`h(\varepsilon_1^2 + \varepsilon_2^2)/2` of concentrated privacy. After the last surprise
# the rows are not touched again. *Checked by* ``test_exact_laws_of_all_neighbours``,
# ``test_replay_on_neighbours``, ``test_draws_follow_the_law_of_the_conversation`` and
# ``test_search_and_noise_follow_their_laws``.
#
# *Claim*: the ends hold. The ledger's theorem is true given the noise, which does not depend on the
# rows, and `sourdine.adaptive.information` has another account; each has a third of beta, so the
# better one may be taken for each answer. The last third is for noise beyond its bounds: for the
# threshold and the values each of ``hard`` draws, for look :math:`i` a share :math:`1/i(i + 1)`.
# *Checked by* ``test_private_answers_hold_their_ends``.
#
# References
# ----------
# .. [1] M. Hardt, G. Rothblum, "A multiplicative weights mechanism for privacy-preserving data
#    analysis", FOCS 2010.


TICKS = 1024
"""Query values are multiples of 1/1024."""
HORIZON = 10_000
"""The number of looks for which surprises are planned; there may be more."""
HALF_TICK = 1 / (2 * TICKS)


@dataclass(frozen=True, slots=True)
class Costs:
    r"""What a search and a value cost where ``hard`` of each share a budget.

    Three quarters of epsilon go to the search, whose noise is the larger.
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
        if isinstance(privacy, Concentrated):
            rho = privacy.rho
        else:
            rho = Concentrated.rho_for(privacy.exact_epsilon(), privacy.delta)
        square = rho / (5 * hard)  # its root is rounded down to 64 bits after the point
        each = Fraction(isqrt((square.numerator << 128) // square.denominator), 1 << 64)
        return cls(3 * each, each, hard)

    @property
    def pure(self) -> Fraction:
        """Epsilon of the whole, without delta."""
        return self.hard * (self.search + self.value)


class PrivateLook:
    """A look through noise.

    ``privacy`` is the budget of the whole conversation, under ``SUBSTITUTE``. It is divided by
    ``hard`` surprises; if left out, by as many as leave the noise of the search below half the
    threshold. A third of ``beta`` is for noise beyond its bounds, a third for the account of
    privacy; the server's ledger has the last third.
    """

    __slots__ = (
        "_beta", "_evidence", "_hypothesis", "_information", "_looks", "_rho", "_search",
        "_source", "_threshold", "_value", "costs", "guarantee", "left",
    )  # fmt: skip

    def __init__(
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
        budget = _budget(privacy)
        self._evidence, self._threshold, self._hypothesis = evidence, threshold, hypothesis
        self._beta, self._source = float(beta / 3), source
        most = _planned(budget, evidence.n, threshold, self._beta) if hard is None else hard
        self.costs = Costs.share(budget, integer(most, "hard", least=1))
        self.guarantee = budget if source.private else Guarantee.none(SUBSTITUTE)
        reach = round(Fraction(str(threshold)) * evidence.n * TICKS)
        self._search = AboveThreshold(
            epsilon=self.costs.search, queries=1, threshold=reach, sensitivity=TICKS,
            relation=SUBSTITUTE,
        )  # fmt: skip
        self._value = Laplace(epsilon=self.costs.value, sensitivity=TICKS, relation=SUBSTITUTE)
        self._information = likely_loss(float(self.costs.pure), evidence.n, self._beta / 2)
        self._rho: int | None = None
        self.left, self._looks = self.costs.hard, 0

    def demand(self) -> None:
        """Raise if all surprises are used up."""
        if not self.left:
            raise BudgetExceededError(
                "surprises",
                f"Budget exceeded: all surprises that the privacy budget pays for "
                f"({self.costs.hard}) are used.", "",
                "Nothing was answered. guess(query) still answers from the hypothesis, without an "
                "interval.",
            )  # fmt: skip

    def nats(self, answer: int) -> float:
        r"""Return :math:`I + \ln(i(i + 1) / \beta)` of the account of privacy."""
        return self._information + log(answer) + log(answer + 1) - log(self._beta / 2)

    def cells(self, question: LookQuestion) -> list[Cell]:
        """Return the cells of half a threshold around the guess."""
        below, above = self._reach(question)
        return [Cell(step) for step in range(-below, above + 1)]

    def surprises(self, question: LookQuestion) -> bool:
        self._looks += 1
        guess = round(question.guess * self._evidence.n * TICKS)
        found = self.fires(abs(self._total(question) - guess))
        self.left -= found
        return found

    def cell(self, question: LookQuestion) -> Cell:
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
        return noise.laplace_around(total, self._value.scale, source=self._source)

    def known(self, question: LookQuestion, cell: Cell | None) -> Ends:
        """Return the ends, which hold but for a chance of the noise."""
        n, beta = self._evidence.n, self._beta / 3
        if cell is None:
            i = self._looks
            rho = laplace_error(self._search.threshold_scale, beta / self.costs.hard)
            nu = laplace_error(self._search.query_scale, beta / (i * (i + 1)))
            off = self._threshold + ((rho + nu + 2) / (n * TICKS) + HALF_TICK)
        else:
            noisy = laplace_error(self._value.scale, beta / self.costs.hard)
            off = noisy / (n * TICKS) + HALF_TICK + self._threshold / 4
        middle = self.value(question, cell)
        return max(middle - off, question.low), min(middle + off, question.high)

    def value(self, question: LookQuestion, cell: Cell | None) -> float:
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
        gaps = question.guess - question.low, question.high - question.guess
        below, above = (max(0, round(2 * gap / self._threshold)) for gap in gaps)
        return below, above


def _planned(privacy: Guarantee | Concentrated, n: int, threshold: float, beta: float) -> int:
    """Return the most surprises for which the search errs by half the threshold at most."""

    def error(hard: int) -> float:
        costs = Costs.share(privacy, hard)
        search = AboveThreshold(epsilon=costs.search, queries=1, relation=SUBSTITUTE)
        nu = laplace_error(search.query_scale, beta / 3 / (HORIZON * (HORIZON + 1)))
        return (laplace_error(search.threshold_scale, beta / 3 / hard) + nu) / n

    most = largest(lambda hard: error(hard) <= threshold / 2)
    if not most:
        must = f"be at least {2 * error(1):.3g} for this privacy and {n} rows"
        hint = (
            "The noise of a single surprise would hide it. Use a larger error or a larger epsilon, "
            "or {hard} to accept this."
        )
        raise ParameterError("error", must, f"{threshold:g}", hint, hard=1)
    return most


ONE_GUARANTEE = Guarantee(1, relation=SUBSTITUTE)


def _budget(privacy: object) -> Guarantee | Concentrated:
    hint, tries = "Use {privacy}.", {"privacy": ONE_GUARANTEE}
    if not isinstance(privacy, (Guarantee, Concentrated)):
        must = "be a Guarantee or Concentrated"
        raise ParameterTypeError("privacy", must, kind(privacy), hint, **tries)
    if privacy.relation is not SUBSTITUTE:
        must = "be under SUBSTITUTE, since the number of rows is public"
        raise ParameterError("privacy", must, privacy.relation.name, hint, **tries)
    nothing = privacy.rho == 0 if isinstance(privacy, Concentrated) else privacy.epsilon == 0
    if nothing or (isinstance(privacy, Guarantee) and not privacy.is_private):
        raise ParameterError("privacy", "be finite and above 0", str(privacy), hint, **tries)
    return privacy
