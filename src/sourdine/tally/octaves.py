r"""The public lattice for numbers whose bounds nobody knows: round numbers of every size.

Its points are 0 and :math:`\pm 2^e (1 + f/2^b)` with :math:`0 \le f < 2^b`: in every octave
:math:`[2^e, 2^{e+1})` the same number of points, so that each number of the octaves has a point
within a part :math:`2^{-b}` of itself. A value goes to the nearest point towards 0; what is smaller
than all octaves goes to 0 and what is larger to the last point. That is monotone, exact (a float's
exponent and mantissa are read off it) and depends on that value alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import frexp, ldexp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.grid import Grid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Octaves"]

LOWEST, HIGHEST, BITS = -20, 64, 20


@dataclass(frozen=True, slots=True, init=False)
class Octaves(Grid):
    r"""The points of many octaves between two ends, numbered by ticks 0, 1, 2, ...

    Parameters
    ----------
    lower, upper
        Public ends; None where there is none, which means :math:`2^{64}` away.
    step
        What values are multiples of: no octave below it is needed, and what is published is
        rounded to it. None for octaves from :math:`2^{-20}`, about a millionth.
    bits
        How many bits of a mantissa are kept.

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
    """The exponent of the first octave."""
    bits: int = field(repr=False)
    first: int = field(repr=False)
    """The signed number of the first point: 0 is that of 0, 1 that of the least above it."""
    rounds: bool = field(repr=False)
    """Whether points are published as multiples of the step."""

    def __init__(
        self,
        lower: Fraction | int | None = None,
        upper: Fraction | int | None = None,
        step: Fraction | int | None = None,
        *,
        bits: int = BITS,
    ) -> None:
        lowest = LOWEST if step is None else frexp(step)[1] - 1
        settings: dict[str, Any] = {
            "step": Fraction(2) ** lowest if step is None else Fraction(step),
            "points": None, "rounds": step is not None, "lowest": lowest, "bits": bits,
        }  # fmt: skip
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        ends = [
            self.number(-ldexp(1.0, HIGHEST) if lower is None else float(lower)),
            self.number(ldexp(1.0, HIGHEST) if upper is None else float(upper)),
        ]
        object.__setattr__(self, "first", ends[0])
        object.__setattr__(self, "last", ends[1] - ends[0])
        object.__setattr__(self, "lower", Fraction(self.point(ends[0])))
        object.__setattr__(self, "upper", Fraction(self.point(ends[1])))

    def __str__(self) -> str:
        ends = f"{float(self.lower):g} to {float(self.upper):g}"
        least = f"{2.0**self.lowest:g}"
        return f"{ends}, 2**{self.bits} points to each doubling from {least} on"

    @property
    def integral(self) -> bool:
        """Not told by its points: whole numbers are read as floats."""
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
        """Return the signed number of the point that a value goes to."""
        return int(self._numbers(np.array([x]))[0])

    def _numbers(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        with np.errstate(invalid="ignore"):  # a NaN may be signalling
            size = np.minimum(np.abs(x), self.top)
        mantissa, exponent = np.frexp(size)
        within = np.floor((2 * mantissa - 1) * (1 << self.bits)).astype(np.int64)
        octave = np.maximum(exponent.astype(np.int64) - 1 - self.lowest, 0)
        small = size < ldexp(1.0, self.lowest)
        number = np.where(small, 0, (octave << self.bits) + within + 1)
        return np.where(x < 0, -number, number)

    def point(self, number: int) -> float:
        """Return the point of a signed number, which a float holds exactly."""
        octave, within = divmod(abs(number) - 1, 1 << self.bits)
        if number == 0:
            return 0.0
        size = ldexp((1 << self.bits) + within, octave + self.lowest - self.bits)
        return size if number > 0 else -size

    def spacing(self, number: int) -> Fraction:
        """Return how far the next point away from 0 is."""
        octave = max((abs(number) - 1) >> self.bits, 0)
        fine = Fraction(2) ** (octave + self.lowest - self.bits)
        return max(fine, Fraction(2) ** self.lowest)

    def _ticks(self, x: NDArray[Any], missing: int) -> NDArray[np.int64]:
        if x.dtype.kind not in "iufb":
            x = np.array([_as_float(v) for v in x.ravel()], np.float64).reshape(x.shape)
        with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, long doubles
            floats = x.astype(np.float64)
        none = np.isnan(floats)
        numbers = self._numbers(np.where(none, 0.0, floats))
        ticks = np.clip(numbers - self.first, 0, self.last)
        return np.where(none, missing, ticks)

    def values(self, ticks: ArrayLike) -> NDArray[Any]:
        """Return the points of ticks, rounded to the step if there is one."""
        number = np.asarray(ticks, np.int64) + self.first
        octave, within = np.divmod(np.abs(number) - 1, 1 << self.bits)
        exponent = (octave + self.lowest - self.bits).astype(np.int32)
        size = np.ldexp(((1 << self.bits) + within).astype(np.float64), exponent)
        points = np.where(number == 0, 0.0, np.where(number < 0, -size, size))
        if not self.rounds:
            return points
        if self.step.denominator > 1:
            step = float(self.step)
            return np.asarray(np.rint(points / step) * step)
        step = int(self.step)
        whole = [round(Fraction(p) / step) * step for p in points.ravel().tolist()]
        return np.array(whole, np.int64 if _narrow(whole) else np.float64).reshape(points.shape)

    def value(self, tick: int | Fraction) -> Fraction:
        """Return the point of a tick, exactly."""
        return Fraction(self.point(int(tick) + self.first))


def _narrow(whole: list[int]) -> bool:
    """Return whether whole numbers fit an array of 64 bits."""
    return all(-(1 << 63) <= v < 1 << 63 for v in whole)


def _as_float(v: Any) -> float:  # noqa: ANN401
    """Read anything as a number; what is none becomes NaN."""
    try:
        return float(v)
    except OverflowError:
        return float("inf") if v > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")
