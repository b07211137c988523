"""Several whole numbers that move together, each with Laplace noise."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.laws import Product
from sourdine.mechanisms.laplace import LaplaceNoise, laplace_law
from sourdine.mechanisms.moves import within
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.noise import Source

    Whole = tuple[int, ...]

__all__ = ["Together"]


@frozen(kw_only=True)
class Together(LaplaceNoise["Whole"]):
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

    def read(self, x: object) -> Whole:
        """Return a tuple of whole numbers."""
        if not isinstance(x, tuple) or not all(type(v) is int for v in x):
            raise ParameterTypeError(
                "the input", "be a tuple of whole numbers", kind(x), "Type one, as (3, 4)."
            )
        return x

    def draw(self, x: Whole, size: int | None, source: Source) -> Any:  # noqa: ANN401
        """Add the noises, one by one."""
        if size is not None:
            return np.array([self.draw(x, None, source) for _ in range(size)])
        return tuple(self.sampler.one(source, v) for v in x)

    def draw_all(self, xs: Sequence[Whole], source: Source) -> list[Whole]:
        """Add noise from one block of bits to all numbers of all vectors."""
        drawn = iter(self.sampler.around([v for x in xs for v in x], source))
        return [tuple(islice(drawn, len(x))) for x in xs]

    def law(self, x: Whole) -> Product:
        """Return the law of each number; they are independent."""
        return Product(tuple(laplace_law(v, self.scale) for v in x))

    def neighbours(self, x: Whole) -> Iterator[Whole]:
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
        also=("mean.laplace", "variance.laplace", "proportion.laplace", "table.laplace"),
    )
)
