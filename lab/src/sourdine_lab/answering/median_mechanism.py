"""The Median Mechanism itself, for universes so tiny that all small databases can be listed."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.answers import Certificate
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.queries import vector_of
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import integer, number
from sourdine_lab.answering.compression import MedianPlan
from sourdine_lab.answering.small_databases import SmallDatabases
from sourdine_lab.answering.ticks import GRID, SLACK, read_sample, snapped
from sourdine_lab.answering.widths import transcript_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.adaptive.queries import Query
    from sourdine.exact import Number

__all__ = ["MedianMechanism"]


class MedianMechanism:
    r"""Answer with the median over all small databases that earlier answers have left.

    Keep a set :math:`C`, at first all of :math:`X^m` with :math:`m = \lceil \ln(4k) / 2\alpha'^2
    \rceil`. For a query :math:`q` let :math:`r` be the median of :math:`q(D)` over :math:`D \in C`.
    If :math:`|r - q(S)| \le \alpha'`, answer :math:`r`: an *easy* query. Otherwise answer with the
    middle of the level that holds :math:`q(S)`, of :math:`\lceil 1/2\alpha' \rceil` equal levels,
    and drop from :math:`C` all :math:`D` that this rules out: those on the median's side, with
    :math:`q(D) \ge r` if :math:`r > q(S)`, and those more than :math:`\alpha'` outside the level.

    Parameters
    ----------
    sample
        Rows coded 0 to :math:`|X| - 1`; others count as the nearest.
    universe
        :math:`|X|`, how many codes there are.
    rounds
        :math:`k`, how many questions there may be.
    accuracy
        :math:`\alpha'`; the lecture's :math:`(\ln(4k)/2n)^{1/4}` if left out.
    beta, dependence
        The terms of the ledger: the chance that any answer fails, how rows depend on each other.

    Notes
    -----
    *Claim*: every answer is within :math:`\alpha'` of :math:`q(S)` (for queries with values on the
    grid of :math:`2^{-20}`; others, by as much more). An easy one is by definition; a level's
    middle is at most :math:`\alpha'` from what it stands for. *Checked by*
    ``test_median_mechanism_never_errs_above_its_accuracy``.

    *Claim*: :math:`C` never becomes empty. Of the databases made of :math:`m` independent rows of
    :math:`S`, a part of at most :math:`2ke^{-2m\alpha'^2} \le 1/2` is off by more than
    :math:`\alpha'` on any of the :math:`k` queries that are asked of this sample (Hoeffding), so
    some :math:`D^*` is off on none: it is never far from the level, lies on the sample's side,
    :math:`q(D^*) \le q(S) + \alpha' < r`, whenever a query is hard, and stays.
    *Claim*: at most :math:`m\log_2|X|` queries are hard, since each drops half of :math:`C` at
    least. *Checked by* ``test_hard_queries_halve_what_is_left``.

    *Claim*: the transcript is known from the places and levels of the hard answers: a level's
    middle tells on which side of :math:`r` the sample is. These bits are charged to a ledger.
    *Checked by* ``test_places_and_levels_tell_the_whole_transcript``.

    References
    ----------
    .. [1] A. Roth, T. Roughgarden, "Interactive privacy via the median mechanism", STOC 2010.

    Examples
    --------
    >>> rows = np.repeat([0, 1, 2], [700, 200, 100])
    >>> median = MedianMechanism(rows, universe=3, rounds=20, accuracy=0.2)
    >>> median.size, median.databases.left == 3**median.size
    (55, True)
    >>> abs(median.answer([1, 0, 0]) - 0.7) <= 0.2, median.hard, median.most_hard
    (True, 1, 87)
    """

    __slots__ = (
        "_counts",
        "_widest",
        "accuracy",
        "asked",
        "databases",
        "hard",
        "ledger",
        "levels",
        "most_hard",
        "n",
        "rounds",
        "size",
        "universe",
    )  # fmt: skip

    def __init__(
        self,
        sample: Any,
        *,
        universe: int,
        rounds: int,
        accuracy: Number | None = None,
        beta: Number = 0.05,
        dependence: Dependence | None = None,
    ) -> None:
        rows = read_sample(sample)
        self.n, self.universe = len(rows), integer(universe, "universe", least=2)
        self.rounds = integer(rounds, "rounds", least=1)
        plan = MedianPlan(self.n, self.rounds, self.universe)
        self.accuracy = number(
            min(plan.accuracy, 1) if accuracy is None else accuracy, "accuracy", above=0, most=1
        )
        self.size = ceil(log(4 * self.rounds) / (2 * float(self.accuracy) ** 2))
        self.levels = ceil(1 / (2 * self.accuracy))
        self.databases = SmallDatabases(self.universe, self.size)
        self.most_hard = (self.universe**self.size).bit_length() - 1
        self._counts = np.bincount(_codes(rows, self.universe), minlength=self.universe)
        self.ledger = TranscriptLedger(self.n, confidence=1 - beta, dependence=dependence)
        self.asked, self.hard, self._widest = 0, 0, self.ledger.halfwidth()

    def answer(self, query: Query) -> float:
        """Return the median's value, or the sample's to the nearest level."""
        if self.asked == self.rounds:
            raise BudgetExceededError(
                f"questions must be at most rounds={self.rounds}, got one more. Take fresh data."
            )
        ticks = snapped(vector_of(_vector(query), self.universe))
        totals = self.databases.totals(ticks)
        pivot = self.databases.median(totals)
        median = Fraction(pivot, self.size * GRID)
        truth = Fraction(int(self._counts @ ticks), self.n * GRID)
        hard = abs(median - truth) > self.accuracy
        self._charge(hard=hard)
        if not hard:
            return float(median)
        level = min(int(truth * self.levels), self.levels - 1)
        own_side = totals < pivot if median > truth else totals > pivot
        self.databases.keep(own_side & self._near(totals, level))
        return (level + 0.5) / self.levels

    def _near(self, totals: NDArray[np.int64], level: int) -> NDArray[np.bool_]:
        """Return which totals are within the accuracy of a level."""
        ends = Fraction(level, self.levels), Fraction(level + 1, self.levels)
        low, high = ((ends[i] + (-1, 1)[i] * self.accuracy) * self.size * GRID for i in (0, 1))
        return np.asarray((totals >= ceil(low)) & (totals <= floor(high)))

    @property
    def compression_bits(self) -> float:
        """The transcript so far, in bits: the places of hard answers and their levels."""
        return transcript_bits(self.asked, self.hard, self.levels)

    def certificate(self) -> Certificate:
        r"""Return :math:`\alpha'` plus the ledger's half-width for the transcript so far."""
        width = float(self.accuracy) + self._widest + SLACK
        grounds = f"bits of {self.hard} hard answers of {self.asked}, rows {self._rows()}"
        return Certificate(width, float(self.ledger.beta), self.asked, grounds)

    def _charge(self, *, hard: bool) -> None:
        self._widest = self.ledger.halfwidth()
        self.ledger.charge_bit(hard, "hard")
        if hard:
            self.ledger.charge_value(self.levels, "level")
        self.asked, self.hard = self.asked + 1, self.hard + hard

    def _rows(self) -> str:
        return str(self.ledger.dependence.facts()["name"])


def _codes(rows: NDArray[Any], universe: int) -> NDArray[np.int64]:
    """Return rows as codes; what is not a number counts as 0."""
    if rows.ndim != 1 or rows.dtype.kind not in "biuf":
        raise ParameterTypeError(
            f"sample must be one list of codes, got {rows.ndim} dimensions of {rows.dtype}. "
            f"Use whole numbers from 0 to {universe - 1}."
        )
    numbers = np.nan_to_num(rows) if rows.dtype.kind == "f" else rows
    return np.asarray(np.clip(numbers, 0, universe - 1), np.int64)


def _vector(query: Any) -> Any:
    if callable(query):
        return query
    values = np.asarray(query)
    if values.ndim != 1:
        raise ParameterError(
            f"a query must be a function or one value for each code, got the shape {values.shape}."
            " Use a list, as [1, 0, 0]."
        )
    return values
