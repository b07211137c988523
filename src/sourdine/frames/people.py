r"""One value for each person: their rows are reduced to one, exactly and in any order.

A row's number :math:`x` is read as the whole number :math:`r = \lfloor x/u + 1/2 \rfloor` of a
public unit :math:`u = 10^e`, at most a thousandth of the statistic's step, after it was moved to
within :math:`\pm 2^{61} u`. So what is written with a few decimals is read exactly, and a row that
is absurd counts as the largest number there is. The rows of a person that have a number become one
whole number :math:`k`:

===========  =====================================================================================
``sum``      :math:`\sum r`, moved to within :math:`\pm 2^{61}`
``mean``     :math:`\sum r / n`, rounded to the nearest whole number, halves up
``min``      the least :math:`r`
``max``      the largest :math:`r`
``last``     the :math:`r` of the row that is last by another column; of rows that are equally
             late, the largest
``count``    how many rows have a value, or how many rows there are if no column is named
===========  =====================================================================================

and the value :math:`k u` as a float. All of this is arithmetic of integers, so it depends neither
on the order of the rows nor on how an engine divides them among threads; the two operations on
floats, from :math:`x` to :math:`r` and from :math:`k` to :math:`k u`, are of one value each. So all
engines return the same bits (``test_engines_reduce_people_alike``).

Rows without a number are ignored; a person who has none is a record whose value is missing, except
for ``count``, where it is 0. Rows without a name belong to one person, as in
`sourdine.frames.units`. Dates have ``min``, ``max``, ``last`` and ``count``; :math:`r` is then in
microseconds from 1970.

What ``last`` goes by is a column of dates, times or numbers; a row where it is missing is the
earliest of all. In a column without a declared type every value is read on its own: dates are later
than numbers.

**The group of a person** is a function of their rows, too: the value that all their rows have which
have one. A person whose rows name two groups is in neither.

**A person is one record of what is returned**, whatever rows they own: the value and the groups of
a person are a function of the rows of that person, and there is one record for each. So a person
added or removed adds or removes one record, and one whose rows are replaced replaces one
(``test_a_person_is_one_record``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import NOWHERE
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Whole
    from sourdine.frames.expressions import BackEnd
    from sourdine.frames.memory import Column


REDUCTIONS = ("sum", "mean", "min", "max", "count", "last")
MOST = 1 << 61
"""The largest sum of a person, in units."""
SHIFT = 1 << 62
"""Makes any row a number above 0, so that sums can be divided without a sign."""
HALF = 31
"""Sums are computed as those of the upper and the lower bits: 2**31 rows do not overflow."""
LOW = (1 << HALF) - 1
FINE = 1000
"""Rows are read to this part of the step, or finer."""
PLAIN = -6
"""The exponent of the unit where no step is known: a millionth."""
VALUE = "value"


@dataclass(frozen=True)
class Reduction:
    """How the rows of a person become one.

    Examples
    --------
    >>> from sourdine.frames.frame import Frame
    >>> visits = Frame({"who": ["a", "b", "a", "b"], "cost": [0.1, 5, 0.2, None]})
    >>> visits.reduced(Reduction("who", "sum", "cost", -4)).distinct("cost")[0]
    ['0.3', '5']
    """

    unit: str
    """The column that names the person."""
    how: str
    """One of `REDUCTIONS`."""
    column: str | None = None
    """The column whose values are reduced; None to count rows."""
    exponent: int = PLAIN
    """That of the unit in which rows are read."""
    dated: bool = False
    """Whether the values are dates or times."""
    order: str | None = None
    """For ``last``: the column by which rows are early or late."""
    groups: tuple[str, ...] = ()
    """Columns of which a person keeps the value that all their rows share."""

    @property
    def name(self) -> str:
        """The name of the reduced column."""
        return VALUE if self.column is None else self.column

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of what is returned."""
        return (self.name, *self.groups)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read."""
        read = [self.unit, self.column, self.order, *self.groups]
        return tuple(dict.fromkeys(name for name in read if name is not None))

    @property
    def counts(self) -> bool:
        """Whether rows are counted, whatever their values."""
        return self.how == "count"

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that may hold dates."""
        dated = self.dated and not self.counts and self.column is not None
        read = [self.column if dated else None, self.order]
        return tuple(name for name in read if name is not None)

    @property
    def scale(self) -> float:
        """The power of ten by which numbers are multiplied or divided; a float."""
        return 10.0 ** abs(self.exponent)

    @property
    def limit(self) -> float:
        """What rows are moved to within."""
        return float(MOST * Fraction(10) ** self.exponent)

    def row(self, x: Any, to: BackEnd) -> Any:
        """Write the whole number of a row's float (`sourdine.frames.expressions`)."""
        near = to.clamp(x, -self.limit, self.limit)
        units = to.arithmetic(near, "*" if self.exponent <= 0 else "/", self.scale)
        return to.floor(to.arithmetic(units, "+", 0.5))

    def value(self, k: Any, to: BackEnd) -> Any:
        """Write the float of a person's whole number, given as a float."""
        return to.arithmetic(k, "/" if self.exponent <= 0 else "*", self.scale)


def exponent(step: Fraction, ends: Sequence[Fraction]) -> int:
    """Return the exponent of the unit in which rows are read.

    It follows from the step of the statistic's grid, or about the smallest difference that matters;
    the bounds must be within reach of the unit.

    Examples
    --------
    >>> exponent(Fraction(1), [Fraction(0), Fraction(100)]), exponent(Fraction(1, 4), [Fraction(9)])
    (-3, -4)
    """
    furthest = max(map(abs, ends), default=Fraction(0))
    e = _decade(step / FINE)
    while furthest > _reach(e) and Fraction(10) ** (e + 1) <= step:
        e += 1
    if furthest > _reach(e):
        raise ParameterError(
            "step",
            "leave fewer than 2**59 steps between 0 and the bounds for one value of each person",
            f"{float(step):g}", "Use a larger step, such as {step}.",
            step=2 ** max(int(furthest / 2**50).bit_length(), 0),
        )  # fmt: skip
    return e


def _reach(e: int) -> Fraction:
    return Fraction(10) ** e * (MOST >> 2)


def _decade(x: Fraction) -> int:
    """Return the exponent of the largest power of ten that is at most ``x``."""
    e = len(str(x.numerator)) - len(str(x.denominator)) + 1
    while Fraction(10) ** e > x:
        e -= 1
    return e


# ---- Sums of 128 bits in two parts of 64, written once for arrays and for columns of Polars ------
#
# A row is shifted to :math:`s = r + 2^{62}`, between 0 and :math:`2^{63}`, and cut in its upper
# bits and its lower 31. With :math:`H` and :math:`L` their sums over the :math:`n` rows of a
# person, :math:`\sum s = 2^{31}H + L`. Carrying the upper bits of L over to H leaves
# :math:`L < 2^{31}`, and no number here passes 63 bits while :math:`n < 2^{30}`.


def carried(high: Any, low: Any) -> tuple[Any, Any]:
    """Return the two parts of a sum, the lower one of 31 bits."""
    return high + low // (LOW + 1), low % (LOW + 1)


def upper_of_sum(high: Any, n: Any) -> Any:
    """Return the upper part of the sum without the shift: the sum itself is this by 2**31 and L."""
    return high - n * (SHIFT >> HALF)


def mean_of(high: Any, low: Any, n: Any) -> Any:
    r"""Return the mean :math:`\lfloor (2S + n)/2n \rfloor`, by long division."""
    whole, rest = high // n, high % n
    return whole * (LOW + 1) + (2 * (rest * (LOW + 1) + low) + n) // (2 * n) - SHIFT


# ---- In memory -----------------------------------------------------------------------------------


def numbered(unit: Column) -> tuple[Whole, int]:
    """Give each person a number from 0; rows without a name belong to one person."""
    if unit.kind in "biu" and unit.gone is None:
        people = np.unique(unit.data, return_inverse=True)[1]
    else:
        numbers: dict[str | None, int] = {}
        own = unit.by_text(lambda text: numbers.setdefault(text, len(numbers)))
        people = np.unique(own, return_inverse=True)[1]  # some of the texts may not occur
    return people, int(people.max()) + 1 if len(people) else 0


def whole_numbers(how: Reduction, people: Whole, size: int, columns: dict[str, Column]) -> Any:
    """Return the whole number of each person, and which have one."""
    value = None if how.column is None else columns[how.column]
    if how.counts:
        there = np.ones(len(people), bool) if value is None else value.present
        return np.bincount(people[there], minlength=size), np.ones(size, bool)
    assert value is not None  # noqa: S101 - only a count has no column
    r, there = rows_of(how, value)
    who, r = people[there], r[there]
    n = np.bincount(who, minlength=size)
    if how.how in {"sum", "mean"}:
        return _added(how.how, who, r, n), n > 0
    last: list[NDArray[Any]] = []
    if how.order is not None:
        moment, number = lateness(columns[how.order])
        last = [number[there], moment[there]]
    order = np.lexsort([r if how.how != "min" else -r, *last, who])
    k = np.zeros(size, np.int64)
    k[who[order]] = r[order]  # of several rows of a person, the last in this order stays
    return k, n > 0


def lateness(column: Column) -> tuple[Whole, NDArray[np.float64]]:
    """Return what tells how late rows are: the time and, where there is none, the number."""
    number = column.floats
    return column.instants, np.where(np.isnan(number), -np.inf, number)


def rows_of(how: Reduction, column: Column) -> tuple[Whole, NDArray[np.bool_]]:
    """Return the whole number of each row, and which rows have one."""
    if how.counts:
        return np.ones(len(column), np.int64), column.present
    if how.dated:
        return column.instants, column.instants != NOWHERE
    x = column.floats
    there = ~np.isnan(x)
    near = np.where(there, x, 0.0).clip(-how.limit, how.limit)
    units = near * how.scale if how.exponent <= 0 else near / how.scale
    return np.floor(units + 0.5).astype(np.int64), there


def _added(how: str, who: Whole, r: Whole, n: Whole) -> Whole:
    shifted = r + SHIFT
    high, low = np.zeros((2, len(n)), np.int64)
    np.add.at(high, who, shifted >> HALF)
    np.add.at(low, who, shifted & LOW)
    high, low = carried(high, low)
    if how == "mean":
        return np.asarray(mean_of(high, low, np.maximum(n, 1)))
    upper = upper_of_sum(high, n)
    near = upper.clip(-(MOST >> HALF), (MOST >> HALF) - 1)
    k = np.where(upper > near, MOST, near * (LOW + 1) + low)
    return np.where(upper < near, -MOST, k)


def values_of(how: Reduction, k: Whole, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the floats of whole numbers, NaN where there is none."""
    x = k.astype(np.float64)
    if not how.counts:
        x = x / how.scale if how.exponent <= 0 else x * how.scale
    return np.where(there, x, np.nan)


def shared(people: Whole, size: int, column: Column) -> list[str | None]:
    """Return for each person the text that all their rows have which have one; None if none is."""
    ids: dict[str, int] = {}
    own = column.by_text(lambda text: -1 if text is None else ids.setdefault(text, len(ids)))
    there = own >= 0
    low, high = np.full(size, len(ids)), np.full(size, -1)
    np.minimum.at(low, people[there], own[there])
    np.maximum.at(high, people[there], own[there])
    texts = [*ids, None]
    return [texts[i] for i in np.where(low == high, high, -1).tolist()]
