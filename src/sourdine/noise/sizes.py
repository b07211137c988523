"""How many draws a caller asks for, and in what shape."""

from __future__ import annotations

from math import prod

from sourdine.exact import integer

__all__ = ["CHUNK", "Shape", "Size", "lanes"]

Shape = int | tuple[int, ...]
"""A length or a shape: the draws come as an array."""

Size = Shape | None
"""``None`` asks for one draw as a Python number."""

CHUNK = 1 << 15
"""Lanes worked on at once, so that the arrays in use stay in the processor's cache."""


def lanes(size: Shape) -> tuple[int, tuple[int, ...]]:
    """Return the number of draws and the shape of the answer.

    Examples
    --------
    >>> lanes((2, 3))
    (6, (2, 3))
    """
    sides = size if isinstance(size, tuple) else (size,)
    shape = tuple(integer(side, "size", least=0) for side in sides)
    return prod(shape), shape
