"""An analyst whose questions were fixed beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.adaptive.queries import Query
    from sourdine_lab.game.transcript import Transcript

__all__ = ["Honest"]


class Honest:
    """Ask what was fixed beforehand, whatever the answers are.

    Parameters
    ----------
    queries
        The queries, the first one first.

    Examples
    --------
    >>> from sourdine_lab.game import Transcript
    >>> Honest([np.array([0, 1]), np.array([1, 0])]).ask(Transcript()).tolist()
    [0, 1]
    """

    __slots__ = ("queries",)

    def __init__(self, queries: Iterable[Query]) -> None:
        self.queries = tuple(queries)

    @classmethod
    def random(cls, size: int, rounds: int, *, rng: np.random.Generator) -> Honest:
        """Return one who asks about random halves of the codes 0, ..., size - 1."""
        shape = integer(rounds, "rounds", least=1), integer(size, "size", least=1)
        return cls(rng.integers(0, 2, shape, dtype=np.bool_))

    def ask(self, transcript: Transcript) -> Query | None:
        """Return the next query of the list."""
        asked = len(transcript)
        return self.queries[asked] if asked < len(self.queries) else None
