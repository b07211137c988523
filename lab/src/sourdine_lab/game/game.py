r"""The game between an analyst who adapts and a mechanism that holds the sample.

| ``AdaptiveGame(A, S, M)``:
| :math:`M` gets the sample :math:`S`; :math:`A` does not.
| For :math:`i = 1, \dots, k`: :math:`A` chooses a query :math:`q_i` by all it has heard so far;
  :math:`M` returns an answer :math:`a_i`; :math:`A` sees it.
| The outcome is the transcript :math:`(q_1, a_1, \dots, q_k, a_k)`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.errors import ParameterTypeError
from sourdine.exact import flag, integer
from sourdine_lab.game.transcript import Exchange, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query

__all__ = ["AdaptiveGame", "Analyst", "Mechanism"]


class Analyst(Protocol):
    """Whoever asks."""

    def ask(self, transcript: Transcript) -> Query | None:
        """Return the next query; None to stop."""


class Mechanism(Protocol):
    """Whatever answers; it was made from the sample."""

    def answer(self, query: Query) -> float:
        """Return an answer."""


@dataclass(frozen=True, slots=True)
class AdaptiveGame:
    """One game.

    Parameters
    ----------
    analyst
        Has ``ask(transcript)``, which returns a query or None. An analyst remembers; take a new one
        for each game.
    sample
        The rows, which the mechanism gets and the analyst does not.
    mechanism
        A function of the sample that returns something with ``answer(query)``.
    rounds
        How many queries at most; until the analyst stops if left out.

    Examples
    --------
    >>> import numpy as np
    >>> from sourdine_lab.game import Honest
    >>> from sourdine_lab.averages import average
    >>> class Plain:
    ...     def __init__(self, sample): self.sample = sample
    ...     def answer(self, query): return average(query, self.sample)
    >>> game = AdaptiveGame(Honest([np.array([0, 1, 1])]), np.array([0, 1, 2, 2]), Plain)
    >>> game.play().answers.tolist()
    [0.75]
    """

    analyst: Analyst
    sample: NDArray[Any]
    mechanism: Callable[[NDArray[Any]], Mechanism]
    _: KW_ONLY
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None:
            object.__setattr__(self, "rounds", integer(self.rounds, "rounds", least=1))
        if not callable(self.mechanism):
            raise ParameterTypeError(
                "mechanism must be a function of the sample, got "
                f"{type(self.mechanism).__name__}. Type AdaptiveGame(analyst, sample, Empirical)."
            )

    def play(self, *, progress: bool = False) -> Transcript:
        """Play all rounds and return the transcript; with a bar on the terminal if asked for."""
        if not flag(progress, "progress"):
            return self._play(lambda: None)
        from rich.progress import Progress

        with Progress() as bar:
            task = bar.add_task("queries", total=self.rounds)
            return self._play(lambda: bar.advance(task))

    def _play(self, advance: Callable[[], None]) -> Transcript:
        holder = self.mechanism(self.sample)
        exchanges: list[Exchange] = []
        transcript = Transcript(exchanges)
        for _ in count() if self.rounds is None else range(self.rounds):
            query = self.analyst.ask(transcript)
            if query is None:
                break
            exchanges.append(Exchange(query, float(holder.answer(query))))
            advance()
        return transcript
