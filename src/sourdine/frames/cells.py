"""Cells: how the values of a column fall into public slots."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, frexp, isfinite, isnan, ldexp, nextafter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from sourdine.calendar import NOWHERE, read_date, read_instant
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, kind, rational
from sourdine.frames.reading import float_text, read_text
from sourdine.grid import MISSING, Grid, as_float

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.frames.memory import Column

    Whole = NDArray[np.int64]
    Ranges = Sequence[tuple[int, int]]
    Listed = tuple[NDArray[Any], Whole]

T = TypeVar("T")


# ---- Half-open ranges of integers ----------------------------------------------------------------


def joined(ranges: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return ranges clipped to 0..size, sorted; touching ones are joined and empty ones dropped."""
    out: list[tuple[int, int]] = []
    for a, b in sorted((max(int(a), 0), min(int(b), size)) for a, b in ranges):
        if a >= b:
            continue
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out


def inside(ticks: Whole, ranges: Ranges) -> NDArray[np.bool_]:
    """Return which ticks lie in sorted, disjoint ranges."""
    if not ranges:
        return np.zeros(len(ticks), np.bool_)
    starts = np.array([a for a, _ in ranges], np.int64)
    stops = np.array([b for _, b in ranges], np.int64)
    place = np.searchsorted(starts, ticks, side="right") - 1
    return np.asarray((place >= 0) & (ticks < stops[place]), np.bool_)


# ---- The public lattice for unknown bounds: octaves ----------------------------------------------
#
# Its points are 0 and :math:`\pm 2^e (1 + f/2^b)` with :math:`0 \le f < 2^b`: every octave
# :math:`[2^e, 2^{e+1})` has the same number of points, so that each number of the octaves has a
# point within a relative distance of :math:`2^{-b}`. A value goes to the nearest point towards 0;
# values smaller than all octaves go to 0 and larger ones to the last point. That is monotone, exact
# (it reads the float's exponent and mantissa) and depends on that value alone.


LOWEST, HIGHEST, BITS = -20, 64, 20


@dataclass(frozen=True, slots=True, init=False)
class Octaves(Grid):
    r"""The points of many octaves between two ends, numbered by ticks 0, 1, 2, ...

    Parameters
    ----------
    lower, upper
        Public ends; None for no end, which means :math:`2^{64}` away.
    step
        Values are multiples of this: octaves below it are not needed, and what is published is
        rounded to it. None for octaves from :math:`2^{-20}`, about a millionth.
    bits
        The number of mantissa bits that are kept.
    centre
        Numbers are read as their differences to this float.

    Notes
    -----
    *Claim*: all engines agree on the ticks. *Checked by* ``test_engines_agree_on_hostile_values``.

    Examples
    --------
    >>> every = Octaves()
    >>> every.size
    176160769
    >>> every.values(every.ticks([0.1, -37.5, 1e-9, 51234, float("inf")])).tolist()
    [0.09999996423721313, -37.5, 0.0, 51234.0, 1.844673527761653e+19]
    >>> whole = Octaves(0, 1000, step=1, bits=2)
    >>> whole.values(range(whole.size)).tolist()[:10]
    [0, 1, 1, 2, 2, 2, 2, 3, 4, 4]
    """

    lowest: int = field(repr=False)
    bits: int = field(repr=False)
    first: int = field(repr=False)
    """The signed number of the first point: 0 stands for 0, 1 for the least point above it."""
    rounds: bool = field(repr=False)
    """Whether points are published as multiples of the step."""
    centre: float = field(repr=False)

    def __init__(
        self,
        lower: Fraction | int | None = None,
        upper: Fraction | int | None = None,
        step: Fraction | int | None = None,
        *,
        bits: int = BITS,
        centre: float = 0.0,
    ) -> None:
        lowest = LOWEST if step is None else frexp(step)[1] - 1

        def assign(**settings: Any) -> None:
            for name, value in settings.items():
                object.__setattr__(self, name, value)

        assign(
            step=Fraction(2) ** lowest if step is None else Fraction(step), points=None, _floats=(),
            rounds=step is not None, lowest=lowest, bits=bits, centre=centre,
        )  # fmt: skip
        first = self.number(-ldexp(1.0, HIGHEST) if lower is None else float(lower))
        last = self.number(ldexp(1.0, HIGHEST) if upper is None else float(upper))
        ends = Fraction(self.point(first)), Fraction(self.point(last))
        assign(first=first, last=last - first, lower=ends[0], upper=ends[1])

    def __str__(self) -> str:
        return (
            f"{float(self.lower):g} to {float(self.upper):g}, "
            f"2**{self.bits} points to each doubling from {2.0**self.lowest:g} on"
        )

    @property
    def integral(self) -> bool:
        """False: the points do not say so, and integers are read as floats."""
        return False

    @property
    def most(self) -> int:
        """The number of the last point of the last octave."""
        return (HIGHEST - self.lowest) << self.bits

    @property
    def top(self) -> float:
        """The last point of the last octave."""
        return self.point(self.most)

    def number(self, x: float) -> int:
        """Return the signed number of the point to which a value is snapped."""
        return int(self._numbers(np.array([x]))[0])

    def _numbers(self, x: NDArray[np.float64]) -> Whole:
        with np.errstate(invalid="ignore"):  # a NaN may be signalling
            size = np.minimum(np.abs(x), self.top)
        mantissa, exponent = np.frexp(size)
        within = np.floor((2 * mantissa - 1) * (1 << self.bits)).astype(np.int64)
        octave = np.maximum(exponent.astype(np.int64) - 1 - self.lowest, 0)
        small = size < ldexp(1.0, self.lowest)
        number = np.where(small, 0, (octave << self.bits) + within + 1)
        return np.where(x < 0, -number, number)

    def point(self, number: int) -> float:
        """Return the point of a signed number, exactly, as a float."""
        octave, within = divmod(abs(number) - 1, 1 << self.bits)
        if number == 0:
            return 0.0
        size = ldexp((1 << self.bits) + within, octave + self.lowest - self.bits)
        return size if number > 0 else -size

    def spacing(self, number: int) -> Fraction:
        """Return the distance to the next point away from 0."""
        octave = max((abs(number) - 1) >> self.bits, 0)
        fine = Fraction(2) ** (octave + self.lowest - self.bits)
        return max(fine, Fraction(2) ** self.lowest)

    def _ticks(self, x: NDArray[Any], missing: int) -> Whole:
        if x.dtype.kind not in "iufb":
            x = np.array([as_float(v) for v in x.ravel()], np.float64).reshape(x.shape)
        with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, long doubles
            floats = x.astype(np.float64)
            if self.centre:
                floats = floats - self.centre
        none = np.isnan(floats)
        numbers = self._numbers(np.where(none, 0.0, floats))
        ticks = np.clip(numbers - self.first, 0, self.last)
        return np.where(none, missing, ticks)

    def points_of(self, number: Whole) -> NDArray[np.float64]:
        """Return the points of signed numbers, exactly."""
        octave, within = np.divmod(np.abs(number) - 1, 1 << self.bits)
        exponent = (octave + self.lowest - self.bits).astype(np.int32)
        size = np.ldexp(((1 << self.bits) + within).astype(np.float64), exponent)
        return np.where(number == 0, 0.0, np.where(number < 0, -size, size))

    def values(self, ticks: ArrayLike) -> NDArray[Any]:
        """Return the points of ticks, rounded to the step if there is one."""
        points = self.points_of(np.asarray(ticks, np.int64) + self.first)
        if not self.rounds:
            return points
        if self.step.denominator > 1:
            step = float(self.step)
            return np.asarray(np.rint(points / step) * step)
        step = int(self.step)
        whole = [round(Fraction(p) / step) * step for p in points.ravel().tolist()]
        narrow = all(-(1 << 63) <= v < 1 << 63 for v in whole)
        return np.array(whole, np.int64 if narrow else np.float64).reshape(points.shape)

    def value(self, tick: int | Fraction) -> Fraction:
        return Fraction(self.point(int(tick) + self.first))


# ---- `Present`: whether a value is present -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Present:
    """One slot, for values that are present: not None, not NaN, not the empty text.

    Examples
    --------
    >>> from sourdine.frames.frame import Frame
    >>> Frame([3, None, "", "none", 0]).tally(Present(None)).counts.tolist()
    [3, 2]
    """

    column: str | None
    size: ClassVar[int] = 1
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    def slots(self, column: Column) -> Whole:
        return np.where(column.present, 0, MISSING)


# ---- `Ticked`: cells that hold several listed words ----------------------------------------------


BLANK = " \t"


@dataclass(frozen=True, slots=True)
class Ticked:
    r"""Sets of listed words: the slot of a set is :math:`\sum 2^v` over the words that it holds.

    Words that are not listed are ignored, and a missing cell holds none: so no cell is missing.

    Parameters
    ----------
    column
        The column; None if the data has only one.
    words
        The listed words.
    separator
        The separator of words; blanks and tabs around them are ignored.

    Examples
    --------
    >>> Ticked("media", ("tv", "web", "radio"), ";").codes_of(["tv;radio", None, "radio ; radio"])
    [5, 0, 4]
    """

    column: str | None
    words: tuple[str, ...]
    separator: str
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return 1 << len(self.words)

    def slots(self, column: Column) -> Whole:
        return column.by_text(self._coder())

    def codes_of(self, texts: Iterable[str | None]) -> list[int]:
        """Return the set that each text spells."""
        return list(map(self._coder(), texts))

    def _coder(self) -> Callable[[str | None], int]:
        places = {word: 1 << i for i, word in enumerate(self.words)}

        def code(text: str | None) -> int:
            words = {word.strip(BLANK) for word in (text or "").split(self.separator)}
            return sum(places.get(word, 0) for word in words)

        return code


# ---- Cells: how the values of a column fall into public slots ------------------------------------
#
# A cell is fixed before any data is read. It has `size` slots, numbered from 0, and one more, the
# last, for missing values. `slots` returns the slot of each value, with `MISSING` (-1, which
# indexes the last slot) for a missing one; engines write the operations of
# `sourdine.frames.expressions`, which must agree with it on every value
# (``test_engines_agree_on_hostile_values``).


_HALF = 31
"""Sums of numbers below 2**62 are exact as those of their upper and lower halves."""
_NEAR = 16
"""Listed numbers are looked up in a table if it has fewer than this many gaps per number."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The points of a lattice: values clamped to its bounds and snapped to the nearest point.

    Parameters
    ----------
    column
        The column; None if the data has only one.
    grid
        The lattice.
    block
        The number of neighbouring points that share a slot of a tally; totals and ranges refer
        to single points.

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
        """The number of slots, without the one for missing values."""
        return -(-self.grid.size // self.block)

    @property
    def dated(self) -> bool:
        """Whether values are read as dates."""
        return self.grid.points is not None

    def slots(self, column: Column) -> Whole:
        """Return the slot of each value."""
        if self.dated:
            ticks = self.grid.ticks_of_instants(column.instants, missing=MISSING)
        else:
            ticks = self.grid.ticks(column.numbers, missing=MISSING)
            ticks = ticks if column.gone is None else np.where(column.gone, MISSING, ticks)
        return ticks if self.block == 1 else np.where(ticks < 0, ticks, ticks // self.block)

    def moments_of(self, column: Column, most: int) -> list[int]:
        """Return the moments of a block of values."""
        if most == 1 and type(self.grid) is Grid and not self.dated and self.block == 1:
            x = column.numbers
            total = self.grid.sum_of_floats(x) if x.dtype.kind == "f" else None
            if total is not None:
                return [len(x), total]
        return self.moments(self.slots(column), None, most)

    def moments(self, ticks: Whole, counts: Whole | None, most: int) -> list[int]:
        """Return the number of non-missing ticks and the exact sums of their powers, of any size.

        ``counts`` are the numbers of rows that have each tick; None for one each.
        """
        if counts is None and self.grid.last**most < 1 << 62:
            gone = int(np.count_nonzero(ticks < 0))
            sums = [len(ticks) - gone]
            for power in range(1, most + 1):
                p = ticks if power == 1 else ticks**power
                whole = (
                    int(p.sum())
                    if self.grid.last**power * len(ticks) < 1 << 63
                    else (int((p >> _HALF).sum()) << _HALF) + int((p & ((1 << _HALF) - 1)).sum())
                )
                sums.append(whole - (-1) ** power * gone)  # a missing value is -1
            return sums
        present = ticks >= 0
        t = ticks[present].tolist()
        n = [1] * len(t) if counts is None else counts[present].tolist()
        return [sum(k * v**power for k, v in zip(n, t, strict=True)) for power in range(most + 1)]


@dataclass(frozen=True, slots=True)
class Codes:
    """Listed categories: a value is in the category with the same text.

    So ``3`` matches the number 3 and the text ``"3"``, as in a CSV file, and ``True`` matches true
    and the texts ``"true"`` and ``"True"``; matching is case-sensitive. Values that are not listed
    count as missing.

    Parameters
    ----------
    column
        The column; None if the data has only one.
    categories
        Texts, integers, floats, booleans or dates, all different.

    Examples
    --------
    >>> Codes("vote", ["yes", "no"]).size
    2
    >>> Codes("vote", [1, "1"])
    Traceback (most recent call last):
    sourdine.errors.ParameterError: categories must differ as strings, got '1' twice. List each category once.
    """  # noqa: E501

    column: str | None
    categories: Sequence[Any]
    codes: dict[str, int] = field(init=False, repr=False, compare=False)
    _listed: dict[np.dtype[Any], Listed] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.categories, str) or not hasattr(self.categories, "__iter__"):
            raise ParameterTypeError(
                "categories", "be a list", kind(self.categories),
                "Use a list, such as {categories}.", categories=["yes", "no"],
            )  # fmt: skip
        codes: dict[str, int] = {}
        categories = tuple(self.categories)
        for code, category in enumerate(categories):
            text = read_text(category)
            if text is None:
                raise ParameterError(
                    "categories", "be strings, numbers or dates", given(category),
                    "Omit missing values: they are counted anyway.",
                )  # fmt: skip
            if text in codes:
                raise ParameterError(
                    "categories", "differ as strings", f"{text!r} twice", "List each category once."
                )
            codes[text] = code
        for code, category in enumerate(categories):
            if isinstance(category, (bool, np.bool_)):
                codes.setdefault(str(bool(category)), code)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "codes", codes)

    @property
    def size(self) -> int:
        """The number of slots, without the one for missing values."""
        return len(self.categories)

    def _read(self, read: Callable[[str], T], write: Callable[[T], str]) -> dict[T, int]:
        """Return the numbers that are listed in the form in which they are written."""
        found = {}
        for text, code in self.codes.items():
            with suppress(ValueError):
                value = read(text)
                if write(value) == text and value == value:  # noqa: PLR0124 - NaN is missing
                    found[value] = code
        return found

    def listed(self, kind: str, end: int = 1 << 63) -> dict[Any, int]:
        """Return the listed values that a column of a kind can hold, with their codes.

        A kind that is none of boolean, integer and float is read as text. Integers go from -2**63
        up to, but not including, ``end``.

        Examples
        --------
        >>> [Codes("x", [True, 3, "2.5"]).listed(kind) for kind in ("boolean", "integer")]
        [{True: 0}, {3: 1}]
        """
        if kind == "boolean":
            both = {True: "true", False: "false"}
            return {value: self.codes[text] for value, text in both.items() if text in self.codes}
        if kind == "integer":
            whole = self._read(int, str)
            return {v: code for v, code in whole.items() if -(1 << 63) <= v < end}
        return self._read(float, float_text) if kind == "float" else self.codes

    def slots(self, column: Column) -> Whole:
        """Return the code of each value."""
        kind = column.kind
        if kind not in "iufb":
            return column.by_text(lambda text: self.codes.get(text, MISSING))  # type: ignore[arg-type]
        if kind == "b":
            both = np.array([self.codes.get(t, MISSING) for t in ("false", "true")])
            slots = both[column.data.astype(np.int8)]
            return slots if column.gone is None else np.where(column.gone, MISSING, slots)
        slots = np.full(len(column), MISSING)
        data: NDArray[Any] = column.data.astype(np.float64) if kind == "f" else column.data
        values, codes = self._listed_in(data.dtype)
        if len(values):
            if kind != "f" and int(values[-1]) - int(values[0]) <= _NEAR * len(values):
                slots = _looked_up(data, values, codes)
            else:
                place = np.minimum(np.searchsorted(values, data), len(values) - 1)
                slots = np.where(values[place] == data, codes[place], MISSING)
        return slots if column.gone is None else np.where(column.gone, MISSING, slots)

    def _listed_in(self, dtype: np.dtype[Any]) -> Listed:
        """Return the listed numbers that an array can hold, in order, and their codes."""
        if dtype not in self._listed:
            kind = "float" if dtype.kind == "f" else "integer"
            listed = self.listed(kind, 1 << 64)
            if dtype.kind != "f":
                low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
                listed = {v: c for v, c in listed.items() if low <= v <= high}
            values = sorted(listed)
            codes = np.array([listed[v] for v in values], np.int64)
            self._listed[dtype] = np.array(values, dtype), codes
        return self._listed[dtype]


class FloatBins:
    r"""The bins of floats between increasing inner edges :math:`e_1 < ... < e_{k-1}`.

    A value :math:`x` is in bin :math:`b` if :math:`e_b \le x < e_{b+1}`. Where the edges are about
    evenly spaced, a bin is guessed by :math:`g(x) = \lfloor (x - a)c \rfloor` and corrected by
    one comparison. Rounding keeps :math:`g` increasing, so if :math:`g(e_b) \ge b - 1` and
    :math:`g(x) \le b - 1` for the float :math:`x` just below :math:`e_b`, for all edges, then every
    guess is right or one too low. Whether that holds is computed for the edges at hand; otherwise
    bins are found by bisection.
    """

    __slots__ = ("_inner", "_next", "line")

    def __init__(self, inner: Sequence[float]) -> None:
        self._inner = np.array(inner, np.float64)
        self._next = np.append(self._inner, np.nan)  # nothing is above the last bin
        self.line: tuple[float, float] | None = None
        if len(inner) < 2 or not np.isfinite(self._inner).all():
            return
        width = (inner[-1] - inner[0]) / (len(inner) - 1)
        self.line = inner[0] - width * (1 - 1e-9), 1 / width
        bins = np.arange(len(inner))
        at, before = self._guess(self._inner), self._guess(np.nextafter(self._inner, -np.inf))
        if not (isfinite(1 / width) and (at >= bins).all() and (before <= bins).all()):
            self.line = None

    def _guess(self, x: NDArray[Any]) -> Whole:
        assert self.line is not None  # noqa: S101
        start, scale = self.line
        with np.errstate(invalid="ignore", over="ignore"):
            t = np.subtract(x, start, dtype=np.float64)
            t *= scale
            bins: Whole = t.clip(0, len(self._inner)).astype(np.int64)
        return bins

    def slots(self, x: NDArray[Any]) -> Whole:
        """Return the bin of each value; `MISSING` for NaN."""
        x = x.astype(np.float64, copy=False)
        bins: Whole
        with np.errstate(invalid="ignore"):  # a NaN may be signalling
            if self.line is None:
                bins = self._inner.searchsorted(x, side="right")
            else:
                bins = self._guess(x)  # of NaN: anything, so the look-up is clipped to its range
                bins[np.flatnonzero(x >= self._next.take(bins, mode="clip"))] += 1
            some = bool(len(x)) and isnan(x.min())
        return np.where(np.isnan(x), MISSING, bins) if some else bins


@dataclass(frozen=True, slots=True)
class Edges:
    """Bins between edges: each includes its left edge, the last one its right edge too.

    Values below the first edge are counted in the first bin and values above the last edge in the
    last one, as if moved to the nearest bound. Comparisons are exact for integers of any size.

    Parameters
    ----------
    column
        The column; None if the data has only one.
    edges
        At least two increasing numbers. One that is not an integer means the nearest float. Or at
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
    bins: FloatBins = field(init=False, repr=False, compare=False)
    numeric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.edges, str) or not hasattr(self.edges, "__iter__"):
            raise ParameterTypeError(
                "edges", "be a list of numbers", kind(self.edges), "Use a list, such as {edges}.",
                edges=[0, 10, 20],
            )  # fmt: skip
        dates = [read_date(e) for e in self.edges]
        dated = bool(dates) and all(date is not None for date in dates)
        if dated:
            edges = [Fraction(read_instant(date) or 0) for date in dates]
        else:
            edges = [rational(e, f"edges[{i}]") for i, e in enumerate(self.edges)]
            edges = [e if e.denominator == 1 else Fraction(float(e)) for e in edges]
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise ParameterError(
                "edges", "be at least two increasing numbers", f"{len(edges)} values",
                "Use {edges}, for example.", edges=[0, 10, 20],
            )  # fmt: skip
        object.__setattr__(self, "edges", tuple(edges))
        object.__setattr__(self, "inner", tuple(edges[1:-1]))
        object.__setattr__(self, "dated", dated)
        object.__setattr__(self, "bins", FloatBins(self.floats()))

    @property
    def size(self) -> int:
        """The number of slots, without the one for missing values."""
        return len(self.edges) - 1

    def whole(self) -> list[int]:
        """Return the inner edges for integers: the least integer of each next bin."""
        return [ceil(e) for e in self.inner]

    def floats(self) -> list[float]:
        """Return the inner edges for floats: the least float of each next bin."""
        return [_float_from(e) for e in self.inner]

    def slots(self, column: Column) -> Whole:
        """Return the bin of each value."""
        if self.dated:
            instants = column.instants
            bins = np.searchsorted(np.array(self.whole(), np.int64), instants, side="right")
            return np.where(instants == NOWHERE, MISSING, bins)
        x = column.numbers
        if x.dtype.kind == "O":
            whole, floats = self.whole(), self.floats()
            slots = [
                MISSING if v is None else bisect_right(whole if type(v) is int else floats, v)
                for v in x
            ]
            return np.array(slots, np.int64)
        if x.dtype.kind == "f":
            return self.bins.slots(x)
        info = np.iinfo(x.dtype)
        low = sum(e <= info.min for e in self.whole())
        within = [e for e in self.whole() if info.min < e <= info.max]
        bins = low + np.searchsorted(np.array(within, x.dtype), x, side="right")
        return bins if column.gone is None else np.where(column.gone, MISSING, bins)


Cell = Ticks | Codes | Edges | Ticked | Present


def _looked_up(data: NDArray[Any], values: NDArray[Any], codes: Whole) -> Whole:
    """Return the codes of integers that lie close together, from a table."""
    first, last = values[0], values[-1]
    table = np.full(int(last) - int(first) + 1, MISSING)
    table[(values - first).astype(np.int64)] = codes
    near = np.clip(data, first, last)
    return np.where(near == data, table[(near - first).astype(np.int64)], MISSING)


def _float_from(e: Fraction) -> float:
    """Return the least float that is ``e`` or more."""
    try:
        x = float(e)
    except OverflowError:
        return float("inf") if e > 0 else float("-inf")
    return x if Fraction(x) >= e else nextafter(x, float("inf"))
