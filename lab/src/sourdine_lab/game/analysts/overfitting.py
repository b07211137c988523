r"""An analyst who finds out what is special about the sample, and asks about that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.exact import flag, integer
from sourdine_lab.samples.independent import read_law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.queries import Query
    from sourdine_lab.game.transcript import Transcript

__all__ = ["Overfitting"]


class Overfitting:
    r"""Ask random queries, add up how they deviate, and end with a query that fits the sample.

    .. math:: w = \sum_{j < k} (a_j - q_j(P))\,(q_j - \tfrac12), \qquad q_k = 1[w > 0]

    On average :math:`w_x` grows with :math:`S`'s surplus of rows :math:`x`, so :math:`q_k` asks
    about those codes of which the sample has too many. Against plain averages the last answer is
    wrong by order :math:`\sqrt{k/n}` until it has learned the sample. *Checked by*
    ``test_overfitting_misleads_plain_averages``.

    Parameters
    ----------
    law
        :math:`P`: the probabilities of the codes, which the analyst knows. Only the sample is
        unknown to it.
    rounds
        :math:`k`: how many queries, the last one included.
    one_bit
        Look only at whether an answer is above the truth.
    rng
        Where chance comes from.

    References
    ----------
    .. [1] M. Hardt, J. Ullman, "Preventing false discovery in interactive data analysis is hard",
       FOCS 2014.
    .. [2] C. Dwork, V. Feldman, M. Hardt, T. Pitassi, O. Reingold, A. Roth, "The reusable holdout:
       preserving validity in adaptive data analysis", Science 349, 2015.

    Examples
    --------
    >>> from sourdine_lab.game import Transcript
    >>> analyst = Overfitting(np.full(6, 1 / 6), rounds=9, rng=np.random.default_rng(1))
    >>> analyst.ask(Transcript()).shape
    (6,)
    """

    __slots__ = ("_weights", "law", "one_bit", "rng", "rounds")

    def __init__(
        self, law: ArrayLike, rounds: int, *, rng: np.random.Generator, one_bit: bool = False
    ) -> None:
        self.law = read_law(law)
        self.rounds = integer(rounds, "rounds", least=2)
        self.one_bit = flag(one_bit, "one_bit")
        self.rng = rng
        self._weights = np.zeros(len(self.law))

    def ask(self, transcript: Transcript) -> Query | None:
        """Return a random query; at last the one that fits."""
        if transcript:
            self._hear(*transcript[-1])
        asked = len(transcript) + 1
        if asked > self.rounds:
            return None
        fitted: NDArray[Any] = self._weights > 0
        half: NDArray[Any] = self.rng.integers(0, 2, len(self.law), dtype=np.bool_)
        return half if asked < self.rounds else fitted

    def _hear(self, query: Query, answer: float) -> None:
        halves = np.asarray(query, np.float64)
        surplus = answer - halves @ self.law
        self._weights += (np.sign(surplus) if self.one_bit else surplus) * (halves - 0.5)
