"""What every mechanism is: four faces over one private input.

=============  ===================================================================
``release``    draws, exactly, and says what it cost
``law``        the whole output distribution, exactly: the oracle of ``release``
``guarantee``  epsilon, delta and the neighbouring relation, fixed at construction
``error``      a bound on ``loss`` before anything is spent
=============  ===================================================================

Two definitions say what the claims mean: ``neighbours(x)`` are the inputs that the guarantee
compares with ``x``, and ``loss(x, y)`` is how wrong the output ``y`` is for ``x``. So every claim
can be checked by machine: `sourdine.audit` does, for each mechanism in
`sourdine.mechanisms.registry`.

Inputs are whole numbers on public grids, or vectors of them. A wrong *kind* of input is refused;
a value never is: what lies outside a public domain is moved to its nearest end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import number
from sourdine.mechanisms.transcript import CURRENT
from sourdine.noise import SYSTEM
from sourdine.privacy import Guarantee, Relation
from sourdine.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact.parameters import Number
    from sourdine.laws import Law
    from sourdine.noise import Source

    Value = int | NDArray[np.int64]

__all__ = ["Additive", "Mechanism", "add", "read_code", "read_ticks", "read_vector", "settle"]

X = TypeVar("X")

ENDS = np.iinfo(np.int64)
REACH = 1 << 61


class Mechanism(ABC, Generic[X]):
    """The contract; a mechanism is a frozen dataclass of its public parameters on top of it."""

    __slots__ = ()

    guarantee: Guarantee

    @abstractmethod
    def read(self, x: object) -> X:
        """Return the input in its standard form, refusing a wrong kind but never a value."""

    @abstractmethod
    def law(self, x: X) -> Law:
        """Return the distribution of the output for ``x``. It holds private data."""

    @abstractmethod
    def error(self, beta: Number = 0.05) -> float:
        """Return a bound that ``loss`` passes with probability ``beta`` at most, whatever ``x``."""

    @abstractmethod
    def loss(self, x: X, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how wrong each output ``y`` is for the input ``x``."""

    @abstractmethod
    def neighbours(self, x: X) -> Iterator[X]:
        """Yield every input that the guarantee compares with ``x``."""

    @abstractmethod
    def draw(self, x: X, size: int | None, source: Source) -> Value:
        """Draw ``size`` independent outputs for ``x``; with None, one, as an int or a vector."""

    def adjacent(self, x: X, y: X) -> bool:
        """Return whether the guarantee compares ``x`` with ``y``."""
        return any(np.array_equal(np.asarray(y), np.asarray(z)) for z in self.neighbours(x))

    def release(self, x: object, *, source: Source = SYSTEM) -> Release:
        """Draw one output and spend the guarantee."""
        tape, value = CURRENT.get(), self.read(x)
        if tape is None:
            drawn = self.draw(value, None, source)
        else:
            drawn = tape.answer(self, value, lambda: self.draw(value, None, source))
        cost = self.guarantee if source.private else Guarantee.none(self.guarantee.relation)
        return Release(value=drawn, cost=cost, mechanism=self)

    def simulate(self, x: object, size: int, *, source: Source = SYSTEM) -> NDArray[np.int64]:
        """Draw many times for one public input, to look at or to test: no release."""
        return np.asarray(self.draw(self.read(x), size, source))

    def __str__(self) -> str:
        public = {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]
        shown = ", ".join(
            f"{k}={_plain(v)}" for k, v in public.items() if not isinstance(v, Relation)
        )
        return f"{type(self).__name__}({shown})"

    def interval(self, value: Value, level: Number) -> tuple[Value, Value]:  # noqa: ARG002
        """Return the ends between which the truth lies with probability ``level``."""
        raise ParameterTypeError(
            f"an interval must be of a number, got the choice of {type(self).__name__}. "
            f"Look at its error(beta) instead."
        )


class Additive(Mechanism[X]):
    """A mechanism that adds symmetric noise: its error is the interval's half-width."""

    __slots__ = ()

    def loss(self, x: X, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance from the truth."""
        return np.asarray(np.abs(y - np.asarray(x)), np.float64)

    def interval(self, value: Value, level: Number) -> tuple[Value, Value]:
        """Return value plus and minus the error at ``1 - level``."""
        half = int(self.error(1 - number(level, "level", above=0, most=1)))
        return value - half, value + half


def add(x: Value, k: Value) -> Value:
    """Return x + k; arrays stop at the ends of int64 instead of wrapping round."""
    if isinstance(x, int) and isinstance(k, int):
        return x + k
    if isinstance(x, int) and not -(1 << 62) < x < 1 << 62:
        x = np.full(np.shape(k), min(max(x, -(1 << 63)), (1 << 63) - 1))
    x, k = np.asarray(x, np.int64), np.asarray(k, np.int64)
    with np.errstate(over="ignore"):
        total = x + k
    wrapped = ((x ^ total) & (k ^ total)) < 0
    return np.where(wrapped, np.where(k < 0, ENDS.min, ENDS.max), total)


def settle(mechanism: object, **fields: object) -> None:
    """Set fields of a frozen dataclass, once, from ``__post_init__``."""
    for name, value in fields.items():
        object.__setattr__(mechanism, name, value)


def read_ticks(x: object) -> Value:
    """Return a whole number, or an array of them, as ticks."""
    if isinstance(x, int) and not isinstance(x, bool):
        return x
    ticks = _clipped(x) if isinstance(x, (list, tuple)) else np.asarray(x)
    if ticks.dtype.kind not in "iu":
        raise ParameterTypeError(
            f"the input must be whole numbers (ticks of a grid), got {_kind(x)}. "
            f"Snap values first, as Grid(0, 100, step=1).ticks(values)."
        )
    return int(ticks) if ticks.ndim == 0 else np.minimum(ticks, ENDS.max).astype(np.int64)


def _clipped(x: list[object] | tuple[object, ...]) -> NDArray[np.generic]:
    """Return a list of whole numbers as an array; those beyond int64 become its nearest end."""
    if x and all(isinstance(v, int) and not isinstance(v, bool) for v in x):
        return np.array([min(max(cast("int", v), ENDS.min), ENDS.max) for v in x], np.int64)
    return np.asarray(x)


def read_code(x: object, last: int) -> int:
    """Return a code from 0 to ``last``; what lies outside is moved to the nearest end."""
    code = read_ticks(x)
    if not isinstance(code, int):
        raise ParameterTypeError(
            f"the input must be one code, got {_kind(x)}. Release the codes one by one."
        )
    return min(max(code, 0), last)


def read_vector(x: ArrayLike | object, length: int, name: str) -> NDArray[np.int64]:
    """Return a vector of whole numbers of a public length, each within 2**61 of zero."""
    vector = np.atleast_1d(np.asarray(read_ticks(x)))
    if vector.shape != (length,):
        raise ParameterTypeError(
            f"{name} must be a vector of {length} whole numbers, got shape {vector.shape}. "
            f"Its length is public: construct the mechanism with it."
        )
    return np.asarray(np.clip(vector, -REACH, REACH), np.int64)


def _plain(value: object) -> str:
    """Return a parameter as a person would type it."""
    if isinstance(value, Fraction):
        decimal = repr(float(value)) if value.denominator > 1 else str(value)
        return decimal if Fraction(decimal) == value else str(value)
    return str(value)


def _kind(x: object) -> str:
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else type(x).__name__
