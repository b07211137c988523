"""Thresholdout: the training rows answer, unless the rows held out disagree."""

from __future__ import annotations

from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import Certificate
from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, number, positive
from sourdine.mechanisms.mechanism import read_scale
from sourdine.noise import SYSTEM, discrete_laplace
from sourdine.privacy import SUBSTITUTE, Guarantee
from sourdine_lab.answering import widths
from sourdine_lab.answering.ticks import GRID, SLACK, read_sample, shuffled, total

if TYPE_CHECKING:
    from sourdine.adaptive.queries import Query
    from sourdine.exact import Number
    from sourdine.noise import Source

__all__ = ["Thresholdout"]


class Thresholdout:
    r"""Answer from the training rows while they agree with those held out.

    With :math:`\hat T = T + \text{Lap}(2\sigma)`, a query whose two averages differ by more than
    :math:`\hat T + \text{Lap}(4\sigma)` is an *overflow*: it is answered with the holdout's average
    plus :math:`\text{Lap}(\sigma)`, :math:`\hat T` is drawn anew, and one unit of the budget
    :math:`B` is gone. When none is left every answer is NaN, as the paper demands.

    Parameters
    ----------
    sample
        The rows, of which a random half is held out; or a pair of training rows and held out rows.
    threshold
        :math:`T`, 0 or more.
    tolerance
        :math:`\sigma`, the scale of the noise, above 0.
    budget
        :math:`B`, how many overflows may be answered.
    source
        Where the random bits come from.

    Notes
    -----
    *Claim*: all answers together are :math:`2B/(\sigma n)`-differentially private for the
    :math:`n` rows held out: each overflow ends one AboveThreshold of :math:`1/(\sigma n)`, and its
    answer is a Laplace mechanism of as much. Noise is exact, on ticks of :math:`2^{-20}/n`.
    *Checked by* ``test_exact_worst_case[choice.above_threshold]`` and, that the threshold is drawn
    anew, ``test_thresholdout_draws_its_threshold_anew``. Against analysts who climb hills it
    may well be worse than nothing: it is here to be compared with.

    References
    ----------
    .. [1] C. Dwork, V. Feldman, M. Hardt, T. Pitassi, O. Reingold, A. Roth, "The reusable holdout:
       preserving validity in adaptive data analysis", Science 349(6248), 2015.

    Examples
    --------
    Training rows that have nothing to do with the truth are found out:

    >>> import numpy as np
    >>> train, holdout = np.ones(1000), np.zeros(1000)
    >>> guard = Thresholdout((train, holdout), threshold=0.05, tolerance=0.005, budget=1)
    >>> guard.answer(lambda x: x > 0) < 0.2, guard.answer(lambda x: x > 0)
    (True, nan)
    """

    __slots__ = (
        "_holdout", "_limit", "_source", "_train", "asked", "budget", "n", "overflows",
        "threshold", "tolerance",
    )  # fmt: skip

    def __init__(
        self,
        sample: Any,
        *,
        threshold: Number,
        tolerance: Number,
        budget: int,
        source: Source = SYSTEM,
    ) -> None:
        self._train, self._holdout = _halves(sample, source)
        self._source = source
        self.n, self.asked, self.overflows = len(self._holdout), 0, 0
        self.threshold = at_least(threshold, "threshold", 0)
        self.tolerance = positive(tolerance, "tolerance")
        self.budget = integer(budget, "budget", least=1)
        read_scale(4 * self._ticks(self.tolerance))
        self._limit = self._noisy_threshold()

    def answer(self, query: Query) -> float:
        """Return the training average, or the noisy one of the holdout, or NaN after the budget."""
        self.asked += 1
        if self.overflows >= self.budget:
            return nan
        held = total(query, self._holdout)
        trained = Fraction(total(query, self._train), len(self._train)) * self.n
        if abs(held - round(trained)) <= self._limit + self._laplace(4):
            return float(trained / (self.n * GRID))
        self.overflows += 1
        self._limit = self._noisy_threshold()
        return (held + self._laplace(1)) / (self.n * GRID)

    @property
    def guarantee(self) -> Guarantee:
        """What all answers together promise the rows held out; nothing if the source is seeded."""
        if not self._source.private:
            return Guarantee.none(SUBSTITUTE)
        return Guarantee(2 * self.budget / (self.tolerance * self.n), 0, SUBSTITUTE)

    def certificate(self, beta: Number = 0.05, *, rounds: int | None = None) -> Certificate:
        """Return what is proved of all answers that are numbers.

        Parameters
        ----------
        beta
            The chance that any of them fails.
        rounds
            How many questions there were to be. If left out, those asked: right only if nobody
            stopped because of the answers.
        """
        chance = number(beta, "beta", above=0, most=1)
        k = max(self.asked, integer(1 if rounds is None else rounds, "rounds", least=1))
        width = widths.thresholdout(
            self.n, k, chance,
            threshold=self.threshold, tolerance=self.tolerance, budget=self.budget,
        )  # fmt: skip
        grounds = "privacy of the rows held out, which are independent"
        return Certificate(width + SLACK, float(chance), self.asked, grounds)

    def _ticks(self, part: Fraction) -> Fraction:
        return part * self.n * GRID

    def _noisy_threshold(self) -> int:
        return round(self._ticks(self.threshold)) + self._laplace(2)

    def _laplace(self, times: int) -> int:
        return discrete_laplace(times * self._ticks(self.tolerance), source=self._source)


def _halves(sample: Any, source: Source) -> tuple[Any, Any]:
    if isinstance(sample, tuple):
        if len(sample) != 2:
            raise ParameterError(
                f"sample must be rows or a pair of training rows and held out rows, got "
                f"{len(sample)} parts. Type Thresholdout((train, holdout), ...)."
            )
        return read_sample(sample[0], "train"), read_sample(sample[1], "holdout")
    rows = shuffled(read_sample(sample), source)
    if len(rows) < 2:
        raise ParameterError("sample must have at least two rows, got 1. Take more data.")
    return rows[: len(rows) // 2], rows[len(rows) // 2 :]
