"""The public lattice on which everything numeric lives.

Values are clamped to public bounds and snapped to the nearest point of a lattice; from there on all
arithmetic on private data is on whole numbers, the *ticks*. The lattice is fixed before any data is
read, so neither the ticks nor what is released on them betrays more than the mechanism does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import positive, rational

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number

__all__ = ["MISSING", "Grid"]

MISSING = -1
"""The tick of a value that is no number: NaN, or what cannot be read as one."""

FINEST = 1 << 20
"""Without a step the lattice has about a million points: half a millionth of the range."""


@dataclass(frozen=True, slots=True)
class Grid:
    r"""The points ``lower, lower + step, ...`` up to ``upper``, numbered by ticks 0, 1, 2, ...

    Parameters
    ----------
    lower, upper
        Public bounds. They are promises of the analyst, never read off the data: values outside
        are moved to the nearest bound.
    step
        Distance of neighbouring points; ``upper - lower`` must be a multiple of it. ``step=1``
        suits counts, ages and whole euros. Without it the step is the power of two that leaves
        at least a million points, and the lattice ends at the last point that is at most
        ``upper``.

    Examples
    --------
    >>> ages = Grid(0, 120, step=1)
    >>> ages.size
    121
    >>> ages.ticks([17.6, -3, 500, float("nan")]).tolist()
    [18, 0, 120, -1]
    >>> ages.values([18, 120]).tolist()
    [18, 120]
    >>> Grid(0, 1).step
    Fraction(1, 1048576)
    """

    lower: Number
    upper: Number
    step: Number | None = None

    def __post_init__(self) -> None:
        lower, upper = rational(self.lower, "lower"), rational(self.upper, "upper")
        if lower >= upper:
            raise ParameterError(
                f"lower must be below upper, got lower={self.lower} and upper={self.upper}. "
                f"Type the public bounds in order, as Grid(0, 100)."
            )
        step = _default_step(upper - lower) if self.step is None else positive(self.step, "step")
        if self.step is not None and (upper - lower) % step:
            raise ParameterError(
                f"step must divide upper - lower, got step={self.step} for the range "
                f"{self.lower} to {self.upper}. "
                f"Type a step that fits, as step={_fitting(upper, lower, step)}, or move a bound."
            )
        if (upper - lower) / step >= 1 << 62:
            raise ParameterError(
                f"step must leave fewer than 2**62 points, got step={self.step}. "
                f"Type a larger step, or none for about a million points."
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "step", step)

    @property
    def origin(self) -> Fraction:
        """The lower bound, exactly."""
        return Fraction(self.lower)

    @property
    def spacing(self) -> Fraction:
        """The step, exactly."""
        return Fraction(self.step or 0)

    @property
    def last(self) -> int:
        """The highest tick."""
        return floor((Fraction(self.upper) - self.origin) / self.spacing)

    @property
    def size(self) -> int:
        """How many points the lattice has."""
        return self.last + 1

    @property
    def integral(self) -> bool:
        """Whether all its points are whole numbers."""
        return self.origin.denominator == 1 and self.spacing.denominator == 1

    def ticks(self, values: ArrayLike) -> NDArray[np.int64]:
        """Clamp and snap: the tick nearest to each value (halves go up), `MISSING` for NaN.

        What happens to one value depends on that value alone, so a changed record changes one
        tick; no value raises.
        """
        x = np.asarray(values)
        if x.dtype.kind in "iu" and self.integral:
            return self._ticks_of_integers(x)
        if x.dtype.kind not in "iufb":
            x = _read(x)
        lower, step = float(self.origin), float(self.spacing)
        t = np.clip(x.astype(np.float64), lower, float(Fraction(self.upper)))
        missing = np.isnan(t)
        t = np.floor((np.where(missing, lower, t) - lower) / step + 0.5)
        return np.where(missing, MISSING, np.minimum(t.astype(np.int64), self.last))

    def _ticks_of_integers(self, x: NDArray[Any]) -> NDArray[np.int64]:
        lower, step, info = int(self.origin), int(self.spacing), np.iinfo(x.dtype)
        top = lower + self.last * step
        x = np.clip(x, max(lower, info.min), max(min(top, info.max), info.min))
        if lower > -(1 << 62) and top < 1 << 62:
            x = np.maximum(x.astype(np.int64), lower)
            return np.asarray((x - lower + step // 2) // step, dtype=np.int64)
        exact = [(max(int(v), lower) - lower + step // 2) // step for v in x.ravel()]
        return np.array(exact, dtype=np.int64).reshape(x.shape)

    def values(self, ticks: ArrayLike) -> NDArray[Any]:
        """Return the lattice points of ticks: whole numbers if the lattice has only those."""
        t = np.asarray(ticks)
        if self.integral:
            return np.asarray(int(self.origin) + t.astype(np.int64) * int(self.spacing))
        return np.asarray(float(self.origin) + t.astype(np.float64) * float(self.spacing))

    def value(self, tick: int | Fraction) -> Fraction:
        """Return the point of a tick, exactly; of a fraction of a tick too, as a mean may be."""
        return self.origin + tick * self.spacing


def _default_step(width: Fraction) -> Fraction:
    """Return the largest power of two that leaves at least `FINEST` steps."""
    cells = width / FINEST
    e = cells.numerator.bit_length() - cells.denominator.bit_length()
    step = Fraction(2) ** e
    return step if step <= cells else step / 2


def _fitting(upper: Fraction, lower: Fraction, step: Fraction) -> Fraction:
    """Return the step nearest to what was asked that divides the range."""
    return (upper - lower) / max(1, round((upper - lower) / step))


def _read(x: NDArray[Any]) -> NDArray[np.float64]:
    """Read anything as numbers; what is none becomes NaN, which becomes `MISSING`."""

    def one(v: object) -> float:
        try:
            return float(v)  # type: ignore[arg-type]
        except OverflowError:
            return float("inf") if v > 0 else float("-inf")  # type: ignore[operator]
        except (TypeError, ValueError):
            return float("nan")

    return np.array([one(v) for v in x.ravel()], dtype=np.float64).reshape(x.shape)
