"""Several whole numbers that move together, each with Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.laws import Product
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.laplace import laplace_law
from sourdine.mechanisms.moves import within
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.noise import Source

    Whole = tuple[int, ...]

__all__ = ["Together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Together(Laplace):
    r"""Add discrete Laplace noise to each of several whole numbers of any size.

    The Laplace mechanism for a vector whose L1 norm moves by at most :math:`\Delta`: the loss
    between two vectors is their L1 distance over :math:`t = \Delta/\varepsilon`, and no less
    (``test_exact_worst_case[noise.laplace.together]``).
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

    def draw(self, x: Whole, size: int | None, source: Source) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Add the noises, one by one."""
        if size is not None:
            return np.array([self.draw(x, None, source) for _ in range(size)])
        return tuple(noise.laplace_around(v, self.scale, source=source) for v in x)

    def law(self, x: Whole) -> Product:  # type: ignore[override]
        """Return the law of each number; they are independent."""
        return Product(tuple(laplace_law(v, self.scale) for v in x))

    def neighbours(self, x: Whole) -> Iterator[Whole]:  # type: ignore[override]
        """Yield the vectors at most the sensitivity away in the L1 norm."""
        for moved in within(np.array(x, object), int(self.sensitivity), norm=1):
            yield tuple(moved.tolist())


register(
    Specimen(
        name="noise.laplace.together",
        make=lambda epsilon: Together(epsilon=epsilon, sensitivity=2),
        inputs=((0, 0), (5, -3)),
        tight=True,
        draws=20_000,
        also=("mean.laplace", "variance.laplace", "proportion.laplace"),
    )
)
