"""Several draws in step, so that what they read can be read in one pass.

A draw in stages is a generator: it says what it will read (`sourdine.tally.Frame.foresee`) and
yields, then reads and draws. Its value is what was drawn.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Stages", "finished", "in_step"]

T = TypeVar("T")
Stages = Generator[None, None, T]
"""A draw in stages."""


def in_step(drawings: Sequence[Stages[T]]) -> Stages[list[T]]:
    """Let draws go on together, a stage of each at a time.

    Examples
    --------
    >>> said = []
    >>> def drawing(name, stages):
    ...     for i in range(stages):
    ...         said.append(f"{name}{i}")
    ...         yield
    ...     return name
    >>> finished(in_step([drawing("a", 2), drawing("b", 1)]))
    ['a', 'b']
    >>> said
    ['a0', 'b0', 'a1']
    """
    drawn: dict[int, T] = {}
    while len(drawn) < len(drawings):
        for i, drawing in enumerate(drawings):
            if i not in drawn:
                try:
                    next(drawing)
                except StopIteration as end:
                    drawn[i] = end.value
        if len(drawn) < len(drawings):
            yield
    return [drawn[i] for i in range(len(drawings))]


def finished(drawing: Stages[T]) -> T:
    """Go through all stages."""
    while True:
        try:
            next(drawing)
        except StopIteration as end:
            found: T = end.value
            return found
