r"""Freedman's paradox: choose the variables that seem to matter, then report how well they do.

No column has anything to do with the label. An analyst with training rows of their own asks a
holdout how often each column agrees with the label, keeps those that agree on both, and lets them
vote. On the holdout the vote looks good; on fresh rows it is a coin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine_lab.averages import average
from sourdine_lab.game.game import AdaptiveGame

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query
    from sourdine_lab.game.game import Mechanism
    from sourdine_lab.game.transcript import Transcript

    Rows = NDArray[np.bool_]

__all__ = ["Freedman", "FreedmanResult", "Vote", "freedman"]


@dataclass(frozen=True, slots=True, eq=False)
class Vote:
    """Is a majority of columns right about the last column, the label? The first if they tie.

    Parameters
    ----------
    columns
        Which columns vote.
    against
        Which of them vote for the opposite of what they say.
    """

    columns: NDArray[np.intp]
    against: NDArray[np.bool_]

    def __call__(self, rows: Rows) -> Rows:
        """Return for each row whether the vote is right."""
        votes = np.count_nonzero(rows[:, self.columns] ^ self.against, axis=1)
        return np.asarray((2 * votes >= len(self.columns)) == rows[:, -1])


class Freedman:
    r"""Ask about each column how often it agrees with the label, then about the vote of the best.

    A column is kept if it deviates from one half by more than :math:`1/2\sqrt n` in the training
    rows and in the answer, to the same side; of those, the ``top`` that deviate most in training
    vote.

    Parameters
    ----------
    train
        Rows of the analyst's own: columns of True and False, the label last.
    top
        How many columns vote at most.

    Attributes
    ----------
    vote
        The query that was asked last; None before.

    References
    ----------
    .. [1] D. Freedman, "A note on screening regression equations", American Statistician 37(2),
       1983.
    .. [2] C. Dwork, V. Feldman, M. Hardt, T. Pitassi, O. Reingold, A. Roth, "The reusable holdout:
       preserving validity in adaptive data analysis", Science 349, 2015.
    """

    __slots__ = ("top", "train", "vote")

    def __init__(self, train: Rows, *, top: int) -> None:
        self.train = train
        self.top = integer(top, "top", least=1)
        self.vote: Vote | None = None

    def ask(self, transcript: Transcript) -> Query | None:
        """Return the query of the next column, then that of the vote."""
        column, columns = len(transcript), self.train.shape[1] - 1
        if column < columns:
            return _agreement(column)
        if self.vote is not None:
            return None
        self.vote = self._chosen(transcript.answers - 0.5)
        return self.vote

    def _chosen(self, told: NDArray[np.float64]) -> Vote:
        agree = (self.train[:, :-1] == self.train[:, -1:]).mean(axis=0) - 0.5
        least = 1 / (2 * len(self.train) ** 0.5)
        kept = (agree * told > 0) & (np.abs(agree) > least) & (np.abs(told) > least)
        found = np.flatnonzero(kept)
        best = found[np.argsort(-np.abs(agree[found]), kind="stable")][: self.top]
        return Vote(best, agree[best] < 0)


@dataclass(frozen=True, slots=True)
class FreedmanResult:
    """How often the vote is right.

    Parameters
    ----------
    train
        On the analyst's own rows.
    reported
        On the holdout, as the mechanism says.
    fresh
        On rows that nobody has seen.
    chosen
        How many columns vote.
    """

    train: float
    reported: float
    fresh: float
    chosen: int

    @property
    def gap(self) -> float:
        """Reported minus fresh."""
        return self.reported - self.fresh


def freedman(
    n: int,
    d: int,
    *,
    top: int,
    answer: Callable[[Rows, Rows], Mechanism],
    rng: np.random.Generator,
    signal: int = 0,
) -> FreedmanResult:
    r"""Play Freedman's paradox once.

    Parameters
    ----------
    n
        Rows for training, in the holdout and of fresh data, each.
    d
        Columns.
    top
        How many columns vote at most.
    answer
        A function of the training rows and the holdout that returns a mechanism: of the holdout
        alone for plain averages, of both for Thresholdout.
    rng
        Where chance comes from.
    signal
        How many columns agree with the label a little more often than not, by
        :math:`6/\sqrt{2\pi n}`.

    Examples
    --------
    >>> class Plain:
    ...     def __init__(self, train, holdout): self.holdout = holdout
    ...     def answer(self, query): return average(query, self.holdout)
    >>> found = freedman(500, 500, top=100, answer=Plain, rng=np.random.default_rng(1))
    >>> found.reported > 0.6 > 0.55 > found.fresh
    True
    """
    n, d = integer(n, "n", least=1), integer(d, "d", least=1)
    if not 0 <= integer(signal, "signal") <= d:
        raise ParameterError(f"signal must be from 0 to d = {d}, got {signal}. Use signal=20.")
    train, holdout, fresh = (_rows(n, d, signal, rng) for _ in range(3))
    analyst = Freedman(train, top=top)
    game = AdaptiveGame(analyst, holdout, lambda rows: answer(train, rows), rounds=d + 1)
    transcript = game.play()
    vote = transcript[-1].query
    chosen = 0 if analyst.vote is None else len(analyst.vote.columns)
    return FreedmanResult(average(vote, train), transcript[-1].answer, average(vote, fresh), chosen)


def _agreement(column: int) -> Callable[[Rows], Rows]:
    """Return the query of whether a column agrees with the label."""
    return lambda rows: np.asarray(rows[:, column] == rows[:, -1])


def _rows(n: int, d: int, signal: int, rng: np.random.Generator) -> Rows:
    """Return columns of fair coins, the label last; the first ``signal`` lean to the label."""
    rows = np.asfortranarray(rng.integers(0, 2, (n, d + 1), dtype=np.bool_))
    lean = min(1.0, 0.5 + 6 / (2 * np.pi * n) ** 0.5)
    rows[:, :signal] = (rng.random((n, signal)) < lean) == rows[:, -1:]
    return rows
