"""Several whole numbers that move together, each with Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine import noise
from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.laplace import laplace_law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.laws import Law
    from sourdine.noise import Source

    Whole = tuple[int, ...]

__all__ = ["Together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Together(Laplace):
    r"""Add discrete Laplace noise to each of several whole numbers of any size.

    The Laplace mechanism for a vector whose L1 norm moves by at most :math:`\Delta`: the loss
    between two vectors is their L1 distance over :math:`t = \Delta/\varepsilon`, and no less.
    Sums of squares of ticks pass 64 bits, so the numbers are Python's.

    Examples
    --------
    >>> both = Together(epsilon=1, sensitivity=10)
    >>> len(both.release((2**70, -5)).value)
    2
    """

    def read(self, x: object) -> Whole:  # type: ignore[override]
        """Return a tuple of whole numbers."""
        if not isinstance(x, tuple) or not all(type(v) is int for v in x):
            raise ParameterTypeError(
                "the input", "be a tuple of whole numbers", kind(x), "Type one, as (3, 4)."
            )
        return x

    def draw(self, x: Whole, size: int | None, source: Source) -> Whole:  # type: ignore[override]
        """Add the noises, one by one."""
        if size is not None:
            raise ParameterTypeError("size", "be None", "another", "Draw one vector at a time.")
        return tuple(noise.laplace_around(v, self.scale, source=source) for v in x)

    def law(self, x: Whole) -> Law:  # type: ignore[override]
        """Return the law of a vector of one number; those of more are products of such."""
        (only,) = x
        return laplace_law(only, self.scale)

    def neighbours(self, x: Whole) -> Iterator[Whole]:  # type: ignore[override]
        """Yield the vectors that differ in one number, by at most the sensitivity."""
        reach = int(self.sensitivity)
        for i, v in enumerate(x):
            for moved in range(v - reach, v + reach + 1):
                yield (*x[:i], moved, *x[i + 1 :])
