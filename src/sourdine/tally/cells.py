"""Cells: how a column's values fall into public slots.

A cell is fixed before any data is read. It has `size` slots, numbered from 0, and one more, the
last, for what is missing. `slots` says where each value goes, with `MISSING` (-1, which indexes the
last slot) for a value that is missing; the engines' own expressions for it are in
`sourdine.tally.sql` and `sourdine.tally.lazy`, and must agree with it to the last value
(``test_engines_agree_on_hostile_values``).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, isnan, nextafter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.calendar import NOWHERE, read_date, read_instant
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, kind, rational
from sourdine.grid import MISSING, Grid
from sourdine.tally.number_or_text import float_text, read_text
from sourdine.tally.present import Present
from sourdine.tally.ticked import Ticked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.tally.column import Column

__all__ = ["Cell", "Codes", "Edges", "Present", "Ticked", "Ticks"]


_NEAR = 16
"""Listed numbers are near if they leave fewer than this many gaps for each."""
_HALF = 31
"""Sums of numbers below 2**62 are exact as those of their upper and lower halves."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The points of a lattice: values clamped to its bounds and snapped to the nearest point.

    Parameters
    ----------
    column
        The column; None for data that has one.
    grid
        The lattice.
    block
        How many neighbouring points share a slot of a tally; totals and ranges are of single ones.

    Examples
    --------
    >>> Ticks("age", Grid(0, 120, step=1)).size
    121
    >>> Ticks("age", Grid(0, 120, step=1), block=10).size
    13
    """

    column: str | None
    grid: Grid
    block: int = 1
    numeric: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """How many slots there are, without the one for missing values."""
        return -(-self.grid.size // self.block)

    def slots(self, column: Column) -> NDArray[np.int64]:
        """Return the slot of each value."""
        ticks = self._ticks(column)
        return ticks if self.block == 1 else np.where(ticks < 0, ticks, ticks // self.block)

    @property
    def dated(self) -> bool:
        """Whether values are read as dates."""
        return self.grid.points is not None

    def _ticks(self, column: Column) -> NDArray[np.int64]:
        if self.dated:
            return self.grid.ticks_of_instants(column.instants, missing=MISSING)
        x = column.numbers
        if x.dtype == np.float64 and type(self.grid) is Grid:
            return self._snapped(x)
        t = self.grid.ticks(x, missing=MISSING)
        return t if column.gone is None else np.where(column.gone, MISSING, t)

    def _snapped(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return what `Grid.ticks` returns, in place (``test_ticks_snap_like_the_grid``)."""
        lower = float(self.grid.lower)
        with np.errstate(invalid="ignore"):  # a NaN may be signalling
            t = np.clip(x, lower, float(self.grid.upper))
            t -= lower
            t /= float(self.grid.step)
            t += 0.5
        none = np.isnan(t)
        some = bool(none.any())
        if some:
            t[none] = 0
        ticks = t.astype(np.int64)
        np.minimum(ticks, self.grid.last, out=ticks)
        if some:
            ticks[none] = MISSING
        return ticks

    def power_sum(
        self, ticks: NDArray[np.int64], counts: NDArray[np.int64] | None, power: int
    ) -> int:
        """Return the exact sum of powers of ticks that are not missing, however large."""
        present = ticks >= 0
        if not power:
            return int(np.count_nonzero(present) if counts is None else counts[present].sum())
        t = ticks[present]
        if self.grid.last**power < 1 << 62 and counts is None:
            p = t**power
            return (int((p >> _HALF).sum()) << _HALF) + int((p & ((1 << _HALF) - 1)).sum())
        n = [1] * len(t) if counts is None else counts[present].tolist()
        return sum(k * v**power for k, v in zip(n, t.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Codes:
    """Listed categories: a value is in the category that reads as the same text.

    So ``3`` stands for the number 3 and for the text ``"3"``, as a CSV file holds it, ``True`` for
    true and for the texts ``"true"`` and ``"True"``; upper and lower case differ. Anything not
    listed is counted with what is missing.

    Parameters
    ----------
    column
        The column; None for data that has one.
    categories
        Texts, whole numbers, floats, booleans or dates, all different.

    Examples
    --------
    >>> Codes("vote", ["yes", "no"]).size
    2
    >>> Codes("vote", [1, "1"])
    Traceback (most recent call last):
    sourdine.errors.ParameterError: categories must differ as texts, got '1' twice. List each once.
    """

    column: str | None
    categories: Sequence[Any]
    codes: dict[str, int] = field(init=False, repr=False, compare=False)
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.categories, str) or not hasattr(self.categories, "__iter__"):
            raise ParameterTypeError(
                "categories",
                "be a list",
                kind(self.categories),
                "Type a list, such as {categories}.",
                categories=["yes", "no"],
            )
        codes: dict[str, int] = {}
        categories = tuple(self.categories)
        for code, category in enumerate(categories):
            text = read_text(category)
            if text is None:
                raise ParameterError(
                    "categories",
                    "be texts, numbers or dates",
                    given(category),
                    "Leave out what is missing: it is counted anyway.",
                )
            if text in codes:
                raise ParameterError(
                    "categories", "differ as texts", f"{text!r} twice", "List each once."
                )
            codes[text] = code
        for code, category in enumerate(categories):
            if isinstance(category, (bool, np.bool_)):
                codes.setdefault(str(bool(category)), code)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "codes", codes)

    @property
    def size(self) -> int:
        """How many slots there are, without the one for missing values."""
        return len(self.categories)

    def whole(self) -> dict[int, int]:
        """Return the whole numbers that are listed, with their codes."""
        return {int(t): c for t, c in self.codes.items() if _is_digits(t)}

    def floats(self) -> dict[float, int]:
        """Return the floats that are listed, with their codes: NaN never is, for it is missing."""
        read = {t: _float_or_none(t) for t in self.codes}
        return {
            x: self.codes[t]
            for t, x in read.items()
            if x is not None and not isnan(x) and float_text(x) == t
        }

    def slots(self, column: Column) -> NDArray[np.int64]:
        """Return the code of each value."""
        kind = column.data.dtype.kind
        if kind not in "iufb":
            texts = column.texts
            return np.fromiter((self.codes.get(t, MISSING) for t in texts), np.int64, len(texts))
        if kind == "b":
            both = np.array([self.codes.get(t, MISSING) for t in ("false", "true")])
            slots = both[column.data.astype(np.int8)]
            return slots if column.gone is None else np.where(column.gone, MISSING, slots)
        listed: dict[Any, int] = dict(self.floats() if kind == "f" else self.whole())
        slots = np.full(len(column), MISSING)
        data: NDArray[Any] = column.data.astype(np.float64) if kind == "f" else column.data
        if kind != "f":
            info = np.iinfo(column.data.dtype)
            listed = {v: c for v, c in listed.items() if info.min <= v <= info.max}
        if listed:
            values = np.array(sorted(listed), data.dtype)
            codes = np.array([listed[v] for v in sorted(listed)], np.int64)
            if kind != "f" and int(values[-1]) - int(values[0]) <= _NEAR * len(values):
                slots = _looked_up(data, values, codes)
            else:
                place = np.minimum(np.searchsorted(values, data), len(values) - 1)
                slots = np.where(values[place] == data, codes[place], MISSING)
        return slots if column.gone is None else np.where(column.gone, MISSING, slots)


@dataclass(frozen=True, slots=True)
class Edges:
    """Bins between edges: each holds its left edge, the last one its right edge too.

    Values below the first edge are counted in the first bin and values above the last edge in the
    last one, as if moved to the nearest bound. Comparisons are exact for whole numbers of any size.

    Parameters
    ----------
    column
        The column; None for data that has one.
    edges
        At least two numbers, rising. One that is no whole number means the nearest float. Or at
        least two dates or times, which are then in microseconds.

    Examples
    --------
    >>> Edges("wage", [0, 10, 20, 50]).size
    3
    """

    column: str | None
    edges: Sequence[Any]
    inner: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)
    dated: bool = field(init=False, repr=False, compare=False)
    numeric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.edges, str) or not hasattr(self.edges, "__iter__"):
            raise ParameterTypeError(
                "edges",
                "be a list of numbers",
                kind(self.edges),
                "Type a list, such as {edges}.",
                edges=[0, 10, 20],
            )
        dates = [read_date(e) for e in self.edges]
        dated = bool(dates) and all(date is not None for date in dates)
        edges = (
            tuple(Fraction(read_instant(date) or 0) for date in dates)
            if dated
            else tuple(_edge(e, f"edges[{i}]") for i, e in enumerate(self.edges))
        )
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise ParameterError(
                "edges",
                "be at least two rising numbers",
                f"{len(edges)} others",
                "Type them in order, such as {edges}.",
                edges=[0, 10, 20],
            )
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "inner", edges[1:-1])
        object.__setattr__(self, "dated", dated)

    @property
    def size(self) -> int:
        """How many slots there are, without the one for missing values."""
        return len(self.edges) - 1

    def whole(self) -> list[int]:
        """Return the inner edges for whole numbers: the least one in each next bin."""
        return [ceil(e) for e in self.inner]

    def floats(self) -> list[float]:
        """Return the inner edges for floats: the least float in each next bin."""
        return [_float_from(e) for e in self.inner]

    def slots(self, column: Column) -> NDArray[np.int64]:
        """Return the bin of each value."""
        if self.dated:
            instants = column.instants
            bins = np.searchsorted(np.array(self.whole(), np.int64), instants, side="right")
            return np.where(instants == NOWHERE, MISSING, bins)
        x = column.numbers
        if x.dtype.kind == "O":
            return self._slots_of_objects(x)
        if x.dtype.kind == "f":
            bins = np.searchsorted(np.array(self.floats()), x.astype(np.float64), side="right")
            return np.where(np.isnan(x), MISSING, bins)
        info = np.iinfo(x.dtype)
        low = sum(e <= info.min for e in self.whole())
        within = [e for e in self.whole() if info.min < e <= info.max]
        bins = low + np.searchsorted(np.array(within, x.dtype), x, side="right")
        return bins if column.gone is None else np.where(column.gone, MISSING, bins)

    def _slots_of_objects(self, x: NDArray[Any]) -> NDArray[np.int64]:
        whole, floats = self.whole(), self.floats()
        slots = [
            MISSING if v is None else bisect_right(whole if type(v) is int else floats, v)
            for v in x
        ]
        return np.array(slots, np.int64)


Cell = Ticks | Codes | Edges | Ticked | Present
"""Any of the five."""


def _looked_up(
    data: NDArray[Any], values: NDArray[Any], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the codes of whole numbers that lie near each other, from a table."""
    first, last = values[0], values[-1]
    table = np.full(int(last) - int(first) + 1, MISSING)
    table[(values - first).astype(np.int64)] = codes
    near = np.clip(data, first, last)
    return np.where(near == data, table[(near - first).astype(np.int64)], MISSING)


def _is_digits(text: str) -> bool:
    try:
        return str(int(text)) == text
    except ValueError:
        return False


def _float_or_none(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _edge(e: Number, name: str) -> Fraction:
    value = rational(e, name)
    return value if value.denominator == 1 else Fraction(float(value))


def _float_from(e: Fraction) -> float:
    """Return the least float that is ``e`` or more."""
    try:
        x = float(e)
    except OverflowError:
        return float("inf") if e > 0 else float("-inf")
    return x if Fraction(x) >= e else nextafter(x, float("inf"))
