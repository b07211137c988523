"""The public lattice on which all numbers are counted and released.

Values are clamped to public bounds and snapped to the nearest point of a lattice; from there on all
arithmetic on private data is on integers, the *ticks*. The lattice is fixed before any data is
read, so neither the ticks nor what is released on them reveal more than the mechanism does.

Dates and times are lattice points in whole microseconds (`sourdine.calendar`); a released point of
such a lattice is a date or a time again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, frexp, isfinite, isnan
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import (
    DATES,
    DAY,
    NOWHERE,
    Duration,
    instants_of,
    moment,
    read_duration,
    read_instant,
    read_lattice,
    spelled,
    written,
)
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, positive, rational

if TYPE_CHECKING:
    import datetime as dt

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number


MISSING = -1
"""Marks a value that is not a number where it must differ from all ticks."""

_NUMBERS = (int, float, Fraction)
"""Bounds and steps of these types are neither dates nor durations."""
FINEST = 1 << 20
"""Number of steps of a lattice without a given step: about a million points."""


WIDEST = 10**300

SEARCHED = 1 << 12
"""Number of candidate cell counts tried to find a step that fits."""

BLOCK = 1 << 16
"""Number of values snapped at once: what is computed of them stays in the processor's cache."""


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    r"""The points ``lower, lower + step, ...`` up to ``upper``, numbered by ticks 0, 1, 2, ...

    Parameters
    ----------
    lower, upper
        Public bounds, declared by the analyst and never read off the data: values outside are
        moved to the nearest bound. Two numbers, or two dates or times as ISO 8601 texts or
        objects of Python, NumPy or pandas.
    step
        Distance of neighbouring points; ``upper - lower`` must be a multiple of it. ``step=1``
        suits counts, ages and whole euros. It defaults to the power of two that leaves at least a
        million points, and the lattice then ends at the last point that is at most ``upper``.
        Between dates it is a duration, such as ``"7 days"`` or ``"15 min"``; it defaults to a day
        between dates, and between times to the longest of a day, an hour, a minute, a second, a
        millisecond and a microsecond that leaves at least a million points.

    Notes
    -----
    On a lattice of dates (both bounds are dates and the step is of whole days) a time counts as its
    date: 15:00 does not go up to the next day.

    Examples
    --------
    >>> ages = Grid(0, 120, step=1)
    >>> ages.size
    121
    >>> ages.ticks([17.6, -3, 500, float("nan")]).tolist()
    [18, 0, 120, 0]
    >>> ages.ticks([17.6, float("nan")], missing=MISSING).tolist()
    [18, -1]
    >>> ages.values([18, 120]).tolist()
    [18, 120]
    >>> Grid(0, 1).step
    Fraction(1, 1048576)
    >>> days = Grid("2024-01-01", "2024-12-31")
    >>> days.ticks(["2024-01-02", "2024-01-02T15:00", "1999-01-01", "soon"], missing=-1).tolist()
    [1, 1, 0, -1]
    >>> days.value(1)
    datetime.date(2024, 1, 2)
    """

    lower: Fraction
    upper: Fraction
    step: Fraction
    points: str | None
    """The type of its points: ``"dates"``, ``"times"``, or None for numbers. Bounds and step of
    dates and times are in microseconds."""
    last: int = field(repr=False, compare=False)
    """The highest tick: the most by which replacing one record can change a sum of ticks."""
    _floats: tuple[float, float, float, float, bool] = field(repr=False, compare=False)
    """Bounds and step as floats, the step's inverse or 0, and whether ticks may pass the last."""

    def __init__(
        self,
        lower: Number | dt.date | str,
        upper: Number | dt.date | str,
        step: Number | Duration | None = None,
    ) -> None:
        numbers = isinstance(lower, _NUMBERS) and isinstance(upper, _NUMBERS)
        dated = None if numbers else read_lattice(lower, upper, step)
        if dated is not None:
            first, final, each, points = dated
            self._fix(Fraction(first), Fraction(final), Fraction(each), points)
            return
        low, high = _bounds(lower, upper)
        if step is None:
            fits = _default_step(high - low)
            if fits * WIDEST < 1:
                raise ParameterError(
                    "upper", "be larger, compared with lower", given(upper),
                    "Use a public bound, such as {upper}.", upper=low + 1,
                )  # fmt: skip
        else:
            fits = _step(step, high - low, f"{given(lower)} to {given(upper)}")
        self._fix(low, high, fits, None)

    def _fix(self, lower: Fraction, upper: Fraction, step: Fraction, points: str | None) -> None:
        last = (upper - lower) // step
        low, high, each = float(lower), float(upper), float(step)
        # Dividing by a power of two is multiplying by its inverse, which is exact.
        inverse = 1 / each if frexp(each)[0] == 0.5 and isfinite(1 / each) else 0.0
        floats = (low, high, each, inverse, floor((high - low) / each + 0.5) > last)
        whole = {"lower": lower, "upper": upper, "step": step, "points": points, "last": last}
        for name, value in {**whole, "_floats": floats}.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        if self.points is not None:
            ends = (self._moment(int(end)) for end in (self.lower, self.upper))
            return f"{' to '.join(map(written, ends))} in steps of {spelled(int(self.step))}"
        lower, upper, step = float(self.lower), float(self.upper), float(self.step)
        return f"{lower:g} to {upper:g} in steps of {step:g}"

    @property
    def size(self) -> int:
        """The number of points of the lattice."""
        return self.last + 1

    @property
    def integral(self) -> bool:
        """Whether all points are integers."""
        return self.lower.denominator == 1 and self.step.denominator == 1

    def ticks(self, values: ArrayLike, *, missing: int = 0) -> NDArray[np.int64]:
        """Clamp and snap: return the tick nearest to each value, rounding halves up.

        The tick of a value depends on that value alone, so a changed record changes one tick; no
        value raises.

        Parameters
        ----------
        values
            Numbers, in any shape; anything else (NaN, None, text) is missing. On a lattice of dates
            or times: dates, times and their texts in ISO 8601; anything else is missing.
        missing
            The tick of a missing value. As 0 it counts as the lower bound, so sums over ticks
            change by `last` at most; `MISSING` tells it apart from all ticks, for counting.
        """
        gone = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
        x = values if isinstance(values, np.ndarray) else np.asarray(values, object)
        ticks = (
            self._ticks(np.asarray(x), missing)
            if self.points is None
            else self.ticks_of_instants(_instants(x), missing=missing)
        )
        return ticks if gone is None else np.where(gone, missing, ticks)

    def ticks_of_instants(
        self, instants: NDArray[np.int64], *, missing: int = 0
    ) -> NDArray[np.int64]:
        """Clamp and snap instants in microseconds (`sourdine.calendar`)."""
        x = instants
        if self.points == DATES:
            x = np.where(x == NOWHERE, 0, x) // DAY * DAY
        return np.where(instants == NOWHERE, missing, self._ticks_of_integers(x))

    def _moment(self, instant: int) -> Any:
        return moment(instant, date=self.points == DATES)

    def _ticks(self, x: NDArray[Any], missing: int) -> NDArray[np.int64]:
        if x.dtype.kind in "iu" and self.integral:
            return self._ticks_of_integers(x)
        if x.dtype.kind not in "iufb":
            return self._ticks_of_objects(x, missing)
        flat = x.reshape(-1)
        if x.size <= BLOCK:
            return self._ticks_of_floats(flat, missing).reshape(x.shape)
        ticks = np.empty(x.size, np.int64)
        for start in range(0, x.size, BLOCK):
            block = slice(start, start + BLOCK)
            ticks[block] = self._ticks_of_floats(flat[block], missing)
        return ticks.reshape(x.shape)

    def _ticks_of_floats(self, x: NDArray[Any], missing: int) -> NDArray[np.int64]:
        with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, long doubles
            t = self._scaled(x)
            some = bool(t.size) and isnan(t.min())  # the least of values is NaN if one of them is
        if some:
            none = np.isnan(t)
            t[none] = 0
        ticks = t.astype(np.int64)  # towards zero, which is down: none is negative
        if self._floats[-1]:
            np.minimum(ticks, self.last, out=ticks)
        if some:
            ticks[none] = missing
        return ticks

    def _scaled(self, x: NDArray[Any]) -> NDArray[np.float64]:
        r"""Return :math:`(x - a)/s + 1/2` for values clamped to [a, b]; its floor is the tick."""
        lower, upper, step, inverse, _ = self._floats
        t = x.astype(np.float64, copy=False).clip(lower, upper)
        if lower:
            t -= lower
        if not inverse:
            t /= step
        elif inverse != 1:
            t *= inverse
        t += 0.5
        return t

    def sum_of_floats(self, x: NDArray[Any]) -> int | None:
        """Return the sum of the ticks of floats; None if one is missing, or the sum is too large.

        Sums of whole numbers below 2**53 are exact as floats, in any order.

        Examples
        --------
        >>> Grid(0, 120, step=1).sum_of_floats(np.array([17.6, -3, 500]))
        138
        """
        if self.last * len(x) >= 1 << 53:
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            t = self._scaled(x)
            np.floor(t, out=t)
            if self._floats[-1]:
                np.minimum(t, self.last, out=t)
            total = float(t.sum())
        return None if isnan(total) else int(total)

    def _ticks_of_integers(self, x: NDArray[Any]) -> NDArray[np.int64]:
        lower, step = int(self.lower), int(self.step)
        top = lower + self.last * step
        if x.dtype.kind in "iu" and x.dtype != np.uint64 and lower > -(1 << 62) and top < 1 << 62:
            t = x.astype(np.int64, copy=False).clip(lower, top)
            if lower:
                t -= lower
            if step > 1:
                t += step // 2
                t //= step
            return t
        exact = [(min(max(int(v), lower), top) - lower + step // 2) // step for v in x.flat]
        return np.array(exact, dtype=np.int64).reshape(x.shape)

    def _ticks_of_objects(self, x: NDArray[Any], missing: int) -> NDArray[np.int64]:
        """Convert each value on its own: integers exactly, the rest as floats."""
        flat = x.ravel()
        whole = np.array([_is_whole(v) for v in flat], bool) & self.integral
        ticks = np.empty(flat.size, np.int64)
        ticks[whole] = self._ticks_of_integers(flat[whole])
        floats = np.array([as_float(v) for v in flat[~whole]], np.float64)
        ticks[~whole] = self._ticks(floats, missing)
        return ticks.reshape(x.shape)

    def values(self, ticks: ArrayLike) -> NDArray[Any]:
        """Return the lattice points of ticks, as integers if all points are integers.

        Integer points beyond 64 bits are returned as floats, since NumPy has no larger integers.
        Those of dates and times are of NumPy's type ``datetime64``.
        """
        t = np.asarray(ticks)
        if self.points is not None:
            micros = np.asarray(int(self.lower) + t.astype(np.int64) * int(self.step))
            times = micros.astype("datetime64[us]")
            return times.astype("datetime64[D]") if self.points == DATES else times
        ends = self.lower, self.lower + self.last * self.step
        if self.integral and ends[0] >= -(1 << 63) and ends[1] < 1 << 63:
            return np.asarray(int(self.lower) + t.astype(np.int64) * int(self.step))
        return np.asarray(float(self.lower) + t.astype(np.float64) * float(self.step))

    def value(self, tick: int | Fraction) -> Any:
        """Return the exact point of a tick, or of a fraction of a tick, as a mean may be.

        A whole tick of a lattice of dates is a date; a fraction of one is a time, rounded down to
        the microsecond.
        """
        point = self.lower + tick * self.step
        if self.points is None:
            return point
        whole = isinstance(tick, Integral) or Fraction(tick).denominator == 1
        return moment(floor(point), date=whole and self.points == DATES)


def _bounds(lower: object, upper: object) -> tuple[Fraction, Fraction]:
    """Validate public bounds: in order and not too large."""
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low >= high:
        raise ParameterError(
            "lower", "be below upper", f"{given(lower)} and {given(upper)}",
            "Use the public bounds in order, such as {lower} and {upper}.", lower=0, upper=100,
        )  # fmt: skip
    for bound, typed, name in ((low, lower, "lower"), (high, upper, "upper")):
        if abs(bound) > WIDEST:
            raise ParameterError(
                name, "be within 1e300 of 0", given(typed),
                f"Use a public bound, such as {{{name}}}.", **{name: -100 if bound < 0 else 100},
            )  # fmt: skip
    return low, high


def _step(typed: object, width: Fraction, bounds: str) -> Fraction:
    """Return a step that divides the range and leaves ticks of 62 bits."""
    if not isinstance(typed, _NUMBERS) and read_duration(typed) is not None:
        raise ParameterError(
            "step", "be a number if bounds are numbers", "a duration", "Use {step}, or omit it.",
            step=_fitting(width, Fraction(1)),
        )  # fmt: skip
    step = positive(typed, "step")
    if width % step:
        hint = "Use a step that divides the range, such as {step}, or move a bound."
        got, fits = f"{given(typed)} for {bounds}", _fitting(width, step)
        raise ParameterError("step", "divide upper - lower", got, hint, step=fits)
    if width / step >= 1 << 62 or step * WIDEST < 1:
        raise ParameterError(
            "step", "leave fewer than 2**62 points", given(typed),
            "Use a larger step, or omit {step} for about a million points.", step=LEFT_OUT,
        )  # fmt: skip
    return step


def _default_step(width: Fraction) -> Fraction:
    """Return the largest power of two that leaves at least `FINEST` steps."""
    cells = width / FINEST
    e = cells.numerator.bit_length() - cells.denominator.bit_length()
    step = Fraction(2) ** e
    return step if step <= cells else step / 2


def _fitting(width: Fraction, step: Fraction) -> Fraction:
    """Return a step near the requested one that divides the range, whole if both are."""
    asked = max(1, round(width / step))
    whole = width.denominator == step.denominator == 1
    for cells in range(asked, max(0, asked - SEARCHED), -1):
        fits = width / cells
        if fits.denominator == 1 or (not whole and rational(float(fits), "step") == fits):
            return fits
    return width


def _instants(x: NDArray[Any]) -> NDArray[np.int64]:
    """Return the instants of values, each converted on its own."""
    if x.dtype.kind == "M":
        return instants_of(x)
    read = (read_instant(v) for v in x.astype(object).ravel())
    return np.array([NOWHERE if v is None else v for v in read], np.int64).reshape(x.shape)


def _is_whole(v: object) -> bool:
    return isinstance(v, Integral) and not isinstance(v, bool)


def as_float(v: Any) -> float:
    """Convert any value to a float, NaN if it is not a number."""
    try:
        return float(v)
    except OverflowError:
        return float("inf") if v > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")
