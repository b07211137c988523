"""Mechanisms without noise: the average, fresh rows for each question, the average rounded."""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import Certificate
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.exact import integer, number
from sourdine.noise import SYSTEM
from sourdine_lab.answering import widths
from sourdine_lab.answering.ticks import GRID, SLACK, read_sample, shuffled, total
from sourdine_lab.averages import average

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.adaptive.queries import Query
    from sourdine.exact import Number
    from sourdine.noise import Source

__all__ = ["Empirical", "Rounding", "Splitting"]


class Empirical:
    """Answer with the average over the sample: best for one question, fooled by many.

    Examples
    --------
    >>> import numpy as np
    >>> Empirical(np.array([0, 1, 1, 3])).answer(lambda x: x > 0)
    0.75
    """

    __slots__ = ("_rows", "asked", "n")

    def __init__(self, sample: Any) -> None:
        self._rows = read_sample(sample)
        self.n, self.asked = len(self._rows), 0

    def answer(self, query: Query) -> float:
        """Return the average, of values to the nearest 2**-20."""
        self.asked += 1
        return total(query, self._rows) / (self.n * GRID)

    def certificate(self, beta: Number = 0.05) -> Certificate:
        """Return what is proved of a transcript of averages: they are among n 2**20 + 1."""
        width = _ever_told(self.n, self.asked, beta, log2(self.n * GRID + 1)) + SLACK
        return Certificate(width, float(beta), self.asked, "bits of the averages, rows independent")


class Splitting:
    """Answer each question from rows of its own, of which there are n/k.

    Nothing an answer says bears on later rows, if rows are independent; of dependent rows no part
    is fresh.

    Parameters
    ----------
    sample
        The rows; they are dealt out at random.
    rounds
        :math:`k`, how many questions there may be.
    source
        Where the random bits of the dealing come from.

    Examples
    --------
    >>> import numpy as np
    >>> parts = Splitting(np.ones(100), rounds=10)
    >>> parts.answer(lambda x: x > 0), parts.size
    (1.0, 10)
    """

    __slots__ = ("_rows", "asked", "rounds", "size")

    def __init__(self, sample: Any, rounds: int, *, source: Source = SYSTEM) -> None:
        rows = read_sample(sample)
        self.rounds, self.asked = integer(rounds, "rounds", least=1), 0
        self.size = len(rows) // self.rounds
        if not self.size:
            raise ParameterError(
                f"rounds must be at most the number of rows, {len(rows)}, got {self.rounds}. "
                f"Use rounds={len(rows)} or less."
            )
        self._rows = shuffled(rows, source)

    def answer(self, query: Query) -> float:
        """Return the average over the next part."""
        if self.asked == self.rounds:
            raise BudgetExceededError(
                f"questions must be at most rounds={self.rounds}, got one more. Take fresh data."
            )
        start = self.asked * self.size
        self.asked += 1
        return average(query, self._rows[start : start + self.size])

    def certificate(self, beta: Number = 0.05) -> Certificate:
        """Return Hoeffding's width of a part, for all parts at once."""
        width = widths.non_adaptive(self.size, self.rounds, beta)
        return Certificate(width, float(beta), self.asked, "fresh independent rows for each query")


class Rounding:
    r"""Answer with the average rounded to a step: few bits, no noise.

    .. math:: |a_i - q_i(P)| \le \tfrac{s}{2} + w\Bigl(n,\
              \ln\tfrac{i(i + 1)}{\beta} + (i - 1)\ln\lceil 1 + \tfrac{1}{s}\rceil\Bigr)

    by the theorem of `sourdine.adaptive.ledger`. *Checked by*
    ``test_certificates_cover_an_overfitting_analyst``.

    Parameters
    ----------
    sample
        The rows.
    step
        :math:`s`, above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> Rounding(np.arange(7), step=0.25).answer(lambda x: x < 3)  # 3/7
    0.5
    """

    __slots__ = ("_rows", "asked", "levels", "n", "step")

    def __init__(self, sample: Any, step: Number) -> None:
        self._rows = read_sample(sample)
        self.step: Fraction = number(step, "step", above=0, most=1)
        self.levels = ceil(1 / self.step) + 1
        self.n, self.asked = len(self._rows), 0

    def answer(self, query: Query) -> float:
        """Return the nearest multiple of the step."""
        self.asked += 1
        ticks = total(query, self._rows)
        unit = self.n * GRID * self.step
        return min(float(round(ticks / unit) * self.step), 1.0)

    def certificate(self, beta: Number = 0.05) -> Certificate:
        """Return what is proved of a transcript of so few bits."""
        told = _ever_told(self.n, self.asked, beta, log2(self.levels))
        width = float(self.step) / 2 + told + SLACK
        return Certificate(width, float(beta), self.asked, "bits of the answers, rows independent")


def _ever_told(n: int, asked: int, beta: Number, bits: float) -> float:
    """Return the width of so many answers, for whoever stops when the answers please."""
    chance = number(beta, "beta", above=0, most=1)
    return widths.told(n, asked, chance / (asked + 1), bits)
