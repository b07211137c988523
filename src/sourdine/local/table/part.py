"""One column with its share of epsilon: absence, reports, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine import noise
from sourdine.exact import rational
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.reading import read_text
from sourdine.grid import MISSING, Grid
from sourdine.laws import Law, alone
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse
from sourdine.mechanisms.mechanism import RAREST, Report, Specimen, read_beta, register, settle
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.frames.cells import Cell
    from sourdine.local.rounds.memoised import Memoised
    from sourdine.local.table.columns import Attribute, Use
    from sourdine.noise import Source


# ---- Answers that may be absent, randomised so that nobody sees that they were -------------------
#
# An answer is absent if the cell is empty, unreadable or not listed. Both mechanisms take the codes
# of another one, 0 to :math:`m`, and :math:`m + 1` for an absent answer.


FLAG_SHARE = Fraction(1, 4)
r"""What a paid flag takes of its column's epsilon.

With a quarter, the error of the share of absent answers (:math:`\approx 4/(\varepsilon\sqrt n)`)
and that of the mean of the others, in units of half their range
(:math:`\approx 2 \cdot 2/(\tfrac34\varepsilon\sqrt n)` by a one-bit report of which about half are
blank), are alike.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyAnswer(Report):
    r"""Randomise by ``answer``, an absent answer as if it were any one, all alike.

    .. math:: P(y \mid \text{absent}) = \frac{1}{m+1} \sum_{x=0}^{m} P(y \mid x)

    Parameters
    ----------
    answer
        The mechanism of a present answer.

    Notes
    -----
    *Claim*: no more than the :math:`\varepsilon` of ``answer``, and it is reached: an average of
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
        return self.answer.top + 1

    @property
    def codes(self) -> int:
        return self.answer.codes

    @property
    def block(self) -> int:
        return self.answer.block

    @property
    def cells(self) -> int:
        return self.answer.cells

    @property
    def bits(self) -> int:
        return self.answer.bits

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return self.answer.tally(reports)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        return self.answer.valid(reports)

    def outcomes(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return self.answer.outcomes(reports)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        return self.answer.reports(filled(codes, self.answer.top, source), source)

    def law(self, x: int) -> Law:
        if x <= self.answer.top:
            return alone(self.answer.law(x))
        every = [alone(self.answer.law(code)) for code in range(self.top)]
        return Law.mixture([1.0] * len(every), every)

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of ``answer``; for an absent answer no report is wrong."""
        return self.answer.loss(x, y) if x <= self.answer.top else np.zeros(np.shape(y))

    def error(self, beta: Number = 0.05) -> float:
        return self.answer.error(beta)

    def __str__(self) -> str:
        return str(self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidFlag(Report):
    r"""Randomise whether there is an answer, and the answer; report none, or the answer.

    The flag says the truth with probability :math:`p` and lies with :math:`q`. The report is
    *none* if the randomised flag says absent, and else a report of ``answer``, which takes an
    absent answer for any one:

    .. math:: P(y \mid x) = p\,V(y \mid x), \quad P(\text{none} \mid x) = q, \quad
              P(y \mid \text{absent}) = \frac{q}{m+1} \sum_x V(y \mid x), \quad
              P(\text{none} \mid \text{absent}) = p

    Reports are those of ``answer``, which must be whole numbers, and one more, the last: none.

    Parameters
    ----------
    answer
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
        return self.answer.top + 1

    @property
    def codes(self) -> int:
        return self.answer.codes + 1

    @property
    def none(self) -> int:
        """The report that says that there is no answer."""
        return self.answer.codes

    @property
    def cells(self) -> int:
        return self.answer.cells + 1

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        there = reports < self.none
        counts = self.answer.tally(reports[there])
        return np.append(counts, len(reports) - int(np.count_nonzero(there)))

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        absent = self.flag.reports((codes > self.answer.top).astype(np.int64), source)
        answers = self.answer.reports(filled(codes, self.answer.top, source), source)
        return np.where(absent == 1, self.none, answers)

    def law(self, x: int) -> Law:
        p, q = self.flag.channel
        there = AnyAnswer(answer=self.answer).law(x)
        none = Law.of([self.none], [1], [0.0], [0.0])
        chance = q if x <= self.answer.top else p
        return Law.mixture([1 - chance, chance], [there, none])

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of ``answer``; where the flag is wrong, the largest one."""
        none = np.asarray(y) == self.none
        inner = np.zeros(np.shape(y))
        if x <= self.answer.top:
            inner = self.answer.loss(x, np.minimum(y, self.none - 1))
        right = np.where(none, 0.0, inner)
        return np.where(none != (x > self.answer.top), self._worst, right)

    def error(self, beta: Number = 0.05) -> float:
        """Return the bound of ``answer`` for the chance left by a wrong flag."""
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


def paid_flag(make: Any, *, epsilon: Number, **parameters: object) -> PaidFlag:
    """Return a mechanism with a paid flag that costs ``epsilon`` as a whole.

    ``make`` builds the mechanism of the answers from its ``epsilon`` and the other parameters.
    """
    whole = RandomizedResponse(epsilon=epsilon, categories=2).guarantee.exact_epsilon()
    flag = RandomizedResponse(epsilon=FLAG_SHARE * whole, categories=2)
    return PaidFlag(answer=make(epsilon=(1 - FLAG_SHARE) * whole, **parameters), flag=flag)


register(Specimen(
    name="absent.any", inputs=tuple(range(7, -1, -1)), tight=True,
    make=lambda epsilon: AnyAnswer(answer=BoundedLaplace(epsilon=epsilon, last=6)),
))  # fmt: skip
register(Specimen(
    name="absent.flag", inputs=(60, 59, 0), tight=False, epsilon=3,
    make=lambda epsilon: paid_flag(RandomizedResponse, epsilon=epsilon, categories=60),
))  # fmt: skip


# ---- How reports stand in a table: as numbers of a lattice, or as listed values; and back --------
#
# What can stand in a column, its type and the digits of its numbers follow from the schema alone.


Kind = Literal["whole", "float", "text", "flag"]

_TABLE = 1 << 16
"""Up to this many codes have their texts written down in advance."""
DIGITS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Lattice:
    """Reports as points of the column's lattice, continued beyond its bounds where need be.

    A report is a number of its own; the higher it is, the higher is its tick.
    """

    grid: Grid
    ticks: NDArray[np.int64] | range

    @property
    def kind(self) -> Kind:
        """Whole numbers if the lattice has only those."""
        return "whole" if self.grid.integral else "float"

    def values(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the numbers; at a blank, any."""
        return self._points(codes) if self._numbers is None else self._numbers[codes]

    @cached_property
    def _numbers(self) -> NDArray[Any] | None:
        few = len(self.ticks) <= _TABLE
        return self._points(np.arange(len(self.ticks))) if few else None

    def _points(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the points of the lattice, as the floats that print with its decimals."""
        ticks = codes if isinstance(self.ticks, range) else np.take(self.ticks, codes, mode="clip")
        points, places = self.grid.values(ticks), decimals(self.grid)
        return points if self.grid.integral or places is None else points.round(places)

    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """Return the numbers as texts, with as many decimals as the lattice needs."""
        if self._written is not None:
            found: list[str] = self._written[codes].tolist()
            return found
        return ["" if c < 0 else t for c, t in zip(codes, self._format(codes), strict=True)]

    @cached_property
    def _written(self) -> NDArray[Any] | None:
        if len(self.ticks) > _TABLE:
            return None
        return np.array([*self._format(np.arange(len(self.ticks))), ""], object)

    def _format(self, codes: NDArray[np.int64]) -> list[str]:
        values = self.values(codes).tolist()
        places = decimals(self.grid)
        if places is None:
            return [repr(v) for v in values]
        return [f"{v:.{places}f}" for v in values] if places else list(map(str, values))

    def cell(self, name: str) -> Cell:
        """Return how the numbers are read back: one tick further out is no report."""
        first, last = int(self.ticks[0]), int(self.ticks[-1])
        lower, upper = self.grid.value(first - 1), self.grid.value(last + 1)
        return Ticks(name, Grid(lower, upper, self.grid.step))

    def codes(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports, `MISSING` for what is none."""
        t = slots + (int(self.ticks[0]) - 1)
        if isinstance(self.ticks, range):
            inside = (slots > 0) & (t < len(self.ticks))
            return np.where(inside, t, MISSING)
        place = np.minimum(np.searchsorted(self.ticks, t), len(self.ticks) - 1)
        return np.where((slots > 0) & (self.ticks[place] == t), place, MISSING)


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """Reports as listed values: categories, true and false, or estimates."""

    listed: Sequence[Any]
    kind: Kind

    @cached_property
    def _array(self) -> NDArray[Any]:
        types = {"whole": np.int64, "float": np.float64, "flag": np.bool_, "text": object}
        return np.array([*self.listed, self.listed[0]], types[self.kind])

    def values(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values; at a blank, any."""
        return self._array[codes]

    @cached_property
    def _written(self) -> NDArray[Any]:
        return np.array([*(quoted(read_text(v) or "") for v in self.listed), ""], object)

    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """Return the values as texts, quoted where a CSV file needs it."""
        found: list[str] = self._written[codes].tolist()
        return found

    def cell(self, name: str) -> Cell:
        return Codes(name, self.listed)

    def codes(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports, `MISSING` for what is none."""
        return slots


Written = Lattice | Listed


def quoted(text: str) -> str:
    """Return a text as a field of a CSV file, in quotes if it needs them."""
    plain = text and text == text.strip() and not any(mark in text for mark in ',;\t|"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'


def decimals(grid: Grid) -> int | None:
    """Return how many decimals all points of a lattice need; None if more than a dozen."""
    ends, places = (grid.lower, grid.step), range(DIGITS + 1)
    return next((n for n in places if all((x * 10**n).denominator == 1 for x in ends)), None)


# ---- One column of a schema with its share of epsilon: from cells to reports and back ------------


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnPart:
    """A column, what one report of it may cost, and what for.

    In a survey of several rounds ``memoised`` answers.
    """

    name: str
    column: Attribute
    epsilon: Fraction
    use: Use
    memoised: Memoised | None = None

    @cached_property
    def mechanism(self) -> Report:
        """What randomises a cell, absent answers included; it costs `epsilon`."""
        if self.memoised is None:
            return self.column.mechanism(self.epsilon, self.use)
        return self.memoised if self.column.missing else AnyAnswer(answer=self.memoised)

    @cached_property
    def answer(self) -> Any:
        """The part of `mechanism` that estimators know: it randomises answers that are there."""
        whole = self.mechanism
        return whole.answer if isinstance(whole, (AnyAnswer, PaidFlag)) else whole

    @cached_property
    def none(self) -> int | None:
        """The report that says that there is no answer, if it can be said."""
        return self.column.none(self.mechanism)

    @cached_property
    def written(self) -> Written:
        return self.column.written(self.mechanism)

    @property
    def cell(self) -> Cell:
        return self.column.cell(self.name)

    def reports(self, slots: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Draw the report of each person from the slot of the cell, absent or not."""
        absent = slots < 0
        if absent.any():
            slots = np.where(absent, self.mechanism.top, slots)
        return self.mechanism.randomise(slots, source=source)

    def shown(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports with `MISSING` where a table has a blank."""
        return reports if self.none is None else np.where(reports == self.none, MISSING, reports)

    @property
    def written_cell(self) -> Cell:
        """How what `written` wrote is read."""
        return self.written.cell(self.name)

    def read_back(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the reports that a table shows, `MISSING` for what none could be."""
        codes = self.written.codes(slots)
        return codes if self.none is None else np.where(slots < 0, self.none, codes)
