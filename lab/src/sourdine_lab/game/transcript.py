"""What an analyst has asked and heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from sourdine_lab.game.truth import truth

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.queries import Query

__all__ = ["Exchange", "Transcript"]


class Exchange(NamedTuple):
    """A query and its answer."""

    query: Query
    answer: float


class Transcript(Sequence[Exchange]):
    """The queries and answers of a game, the first one first.

    Examples
    --------
    >>> talk = Transcript([Exchange(np.array([0, 1]), 0.75), Exchange(np.array([1, 1]), 1.0)])
    >>> len(talk), talk[-1].answer
    (2, 1.0)
    >>> talk.errors([0.5, 0.5]).tolist()
    [0.25, 0.0]
    """

    __slots__ = ("_exchanges",)

    def __init__(self, exchanges: Sequence[Exchange] = ()) -> None:
        self._exchanges = exchanges

    def __len__(self) -> int:
        return len(self._exchanges)

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> Transcript: ...
    def __getitem__(self, index: int | slice) -> Exchange | Transcript:
        if isinstance(index, slice):
            return Transcript(self._exchanges[index])
        return self._exchanges[index]

    def __repr__(self) -> str:
        return f"<Transcript of {len(self)} exchanges>"

    @property
    def answers(self) -> NDArray[np.float64]:
        """The answers alone."""
        return np.array([exchange.answer for exchange in self], np.float64)

    def errors(
        self, law: ArrayLike | None = None, *, population: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Return answer minus truth for every exchange; of the truth see :func:`truth`."""
        truths = [truth(query, law, population=population) for query, _ in self]
        return self.answers - np.array(truths, np.float64)
