"""An analyst who tries small changes and keeps what scores better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query
    from sourdine_lab.game.transcript import Transcript

__all__ = ["HillClimbing"]


class HillClimbing:
    r"""Improve a predictor by its score alone: flip a few predictions, keep what scores better.

    Rows are codes :math:`2x + y` of an item :math:`x` and its label :math:`y \in \{0, 1\}`. The
    query is whether the predictor is right about a row, its answer the accuracy. Where labels are
    fair coins every predictor's true accuracy is one half, and whatever is gained is an illusion.
    *Checked by* ``test_hill_climbing_gains_what_is_not_there``.

    Parameters
    ----------
    items
        How many items there are; the universe has twice as many codes.
    rounds
        How many queries; the last one is about the best predictor.
    flips
        How many predictions a proposal changes.
    rng
        Where chance comes from.

    Attributes
    ----------
    predictor
        The best predictor so far.

    Examples
    --------
    >>> from sourdine_lab.game import Transcript
    >>> analyst = HillClimbing(3, rounds=9, rng=np.random.default_rng(1))
    >>> right = analyst.ask(Transcript())
    >>> (right[0::2] != right[1::2]).all()
    np.True_
    """

    __slots__ = ("_best", "_proposal", "flips", "items", "predictor", "rng", "rounds")

    def __init__(
        self, items: int, rounds: int, *, rng: np.random.Generator, flips: int = 1
    ) -> None:
        self.items = integer(items, "items", least=1)
        self.rounds = integer(rounds, "rounds", least=2)
        self.flips = min(integer(flips, "flips", least=1), self.items)
        self.rng = rng
        self.predictor: NDArray[np.bool_] = rng.integers(0, 2, self.items, dtype=np.bool_)
        self._proposal = self.predictor
        self._best = -np.inf

    def ask(self, transcript: Transcript) -> Query | None:
        """Return whether a proposal is right about each code; at last whether the best one is."""
        if transcript and transcript[-1].answer > self._best:
            self.predictor, self._best = self._proposal, transcript[-1].answer
        asked = len(transcript) + 1
        if asked > self.rounds:
            return None
        self._proposal = self.predictor.copy()
        if 1 < asked < self.rounds:
            some = self.rng.choice(self.items, self.flips, replace=False)
            self._proposal[some] ^= True
        return np.stack([~self._proposal, self._proposal], axis=1).ravel()
