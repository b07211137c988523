"""What says of an agent's proposals whether they are better: plain scores, and guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.errors import ParameterError
from sourdine_lab.answering import Empirical, Thresholdout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.answers import AdaptiveAnswer
    from sourdine.noise import Source
    from sourdine_lab.game.game import Mechanism

    Bits = NDArray[np.bool_]

__all__ = ["Direct", "Guarded", "Judge", "Ladder", "Posted", "Scored", "judge_named"]


class Judge(Protocol):
    """An evaluation as an agent meets it; it was made from the labels."""

    @property
    def heard(self) -> float:
        """The accuracy of what the agent keeps, as far as it was told; NaN if it was not."""

    def better(self, new: Bits, old: Bits) -> bool:
        """Return whether to keep the new predictions; asked of every proposal."""

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return whether what was kept holds; asked every so often."""

    def report(self, predictions: Bits) -> float | AdaptiveAnswer:
        """Return the accuracy to report at the end."""


class Scored:
    """A score for every proposal, by any mechanism: what scores higher is better.

    Parameters
    ----------
    labels
        The labels.
    mechanism
        A function of the numbers of the rows that returns something with ``answer(query)``; the
        query says of each row whether the prediction is right. Plain averages if left out.

    Examples
    --------
    >>> judge = Scored(np.array([True, False, True]))
    >>> judge.better(np.array([True, False, False]), np.array([True, True, False]))
    True
    >>> round(judge.heard, 3)
    0.667
    """

    __slots__ = ("_held", "_labels", "_mechanism", "heard")

    def __init__(
        self, labels: Bits, mechanism: Callable[[NDArray[np.intp]], Mechanism] = Empirical
    ) -> None:
        self._labels = labels
        self._mechanism = mechanism(np.arange(len(labels)))
        self._held: Bits | None = None
        self.heard = np.nan

    def better(self, new: Bits, old: Bits) -> bool:
        """Return whether the new score is above what was heard of the old one."""
        self.report(old)
        value = self._score(new)
        if value > self.heard:
            self._held, self.heard = new, value
        return self._held is new

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return True: nobody asks twice."""
        return True

    def report(self, predictions: Bits) -> float:
        """Return what was heard of the predictions."""
        if self._held is not predictions:
            self._held, self.heard = predictions, self._score(predictions)
        return self.heard

    def _score(self, predictions: Bits) -> float:
        return self._mechanism.answer((predictions == self._labels).astype(np.float64))


class Ladder:
    """Better is what is better by a standard error of the paired difference [1]_.

    References
    ----------
    .. [1] A. Blum, M. Hardt, "The Ladder: a reliable leaderboard for machine learning
       competitions", ICML 2015.

    Examples
    --------
    >>> judge = Ladder(np.ones(100, bool))
    >>> old = np.arange(100) > 50
    >>> judge.better(np.arange(100) < 50, old), judge.better(np.arange(100) > 40, old)
    (False, True)
    """

    __slots__ = ("_labels", "heard")

    def __init__(self, labels: Bits) -> None:
        self._labels = labels
        self.heard = np.nan

    def better(self, new: Bits, old: Bits) -> bool:
        """Return whether the new predictions are better by a standard error."""
        right = new == self._labels
        d = right.astype(np.float64) - (old == self._labels)
        if d.mean() <= d.std() / len(d) ** 0.5:
            return False
        self.heard = float(right.mean())
        return True

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return True: nobody asks twice."""
        return True

    def report(self, predictions: Bits) -> float:
        """Return the plain average."""
        return float((predictions == self._labels).mean())


class Guarded:
    """Half of the rows to climb on, the other half behind a guard that confirms or not.

    Parameters
    ----------
    labels
        The labels.
    guard
        A function of the labels of the second half that returns a guard: something with
        ``confirm(new, old)`` and ``final(predictions)``.

    Examples
    --------
    >>> labels = np.ones(400, bool)
    >>> judge = Guarded(labels)
    >>> judge.confirm(labels, np.arange(400) % 2 > 0), judge.report(labels).value
    (True, 1.0)
    """

    __slots__ = ("_climb", "_half", "guard")

    def __init__(
        self, labels: Bits, guard: Callable[[Bits], GuardedHoldout] = GuardedHoldout
    ) -> None:
        self._half = len(labels) // 2
        self._climb = Scored(labels[: self._half])
        self.guard = guard(labels[self._half :])

    @property
    def heard(self) -> float:
        """The score on the first half."""
        return self._climb.heard

    def better(self, new: Bits, old: Bits) -> bool:
        """Return whether the score on the first half is higher."""
        return self._climb.better(new[: self._half], old[: self._half])

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return the guard's verdict."""
        return bool(self.guard.confirm(new[self._half :], old[self._half :]))

    def report(self, predictions: Bits) -> AdaptiveAnswer:
        """Return the guard's final answer."""
        return self.guard.final(predictions[self._half :])


class Direct:
    """A guard over all rows, whose verdict is asked of every proposal: an attack on the guard.

    Parameters
    ----------
    labels
        The labels.
    guard
        A function of the labels that returns a guard.
    """

    __slots__ = ("guard", "heard")

    def __init__(
        self, labels: Bits, guard: Callable[[Bits], GuardedHoldout] = GuardedHoldout
    ) -> None:
        self.guard = guard(labels)
        self.heard = np.nan

    def better(self, new: Bits, old: Bits) -> bool:
        """Return the guard's verdict."""
        return bool(self.guard.confirm(new, old))

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return True: the guard has said so before."""
        return True

    def report(self, predictions: Bits) -> AdaptiveAnswer:
        """Return the guard's final answer."""
        return self.guard.final(predictions)


class Posted:
    """A leaderboard over all rows, to which every proposal is submitted.

    Parameters
    ----------
    labels
        The labels.
    board
        A function of the labels that returns a leaderboard.
    """

    __slots__ = ("_best", "board", "heard")

    def __init__(
        self,
        labels: Bits,
        board: Callable[[Bits], Leaderboard] = lambda labels: Leaderboard(GuardedHoldout(labels)),
    ) -> None:
        self.board = board(labels)
        self._best: AdaptiveAnswer | None = None
        self.heard = np.nan

    def better(self, new: Bits, old: Bits) -> bool:
        """Return whether the submission leads."""
        if self._best is None:
            self._submit(old)
        return self._submit(new)

    def confirm(self, new: Bits, old: Bits) -> bool:
        """Return True: nobody asks twice."""
        return True

    def report(self, predictions: Bits) -> AdaptiveAnswer:
        """Return the leader's score."""
        if self._best is None:
            self._submit(predictions)
        if self._best is None:
            raise ParameterError(
                "the leaderboard must be new, got one that others lead. Use a new leaderboard."
            )
        return self._best

    def _submit(self, predictions: Bits) -> bool:
        score = self.board.submit("agent", predictions).score
        if score is None:
            return False
        self._best, self.heard = score, score.value
        return True


def judge_named(name: str, *, source: Source) -> Callable[[Bits], Judge]:
    r"""Return a judge by its name, as a function of the labels.

    Parameters
    ----------
    name
        ``"naive"``: the plain score; ``"ladder"``: the plain score, to be beaten by a standard
        error; ``"thresholdout"``: the score on one half, unless a noisy comparison says that the
        other half disagrees; ``"confirm"``: one half to climb on, a guard over the other.
    source
        Where the noise of Thresholdout comes from.
    """

    def thresholdout(labels: Bits) -> Judge:
        return Scored(labels, lambda rows: _thresholdout(rows, source))

    judges: dict[str, Callable[[Bits], Judge]] = {
        "naive": Scored,
        "ladder": Ladder,
        "thresholdout": thresholdout,
        "confirm": Guarded,
    }
    if name not in judges:
        raise ParameterError(
            f"judge must be one of {', '.join(judges)}, got {name!r}. Use judge='naive', or a "
            "function of the labels."
        )
    return judges[name]


def _thresholdout(rows: NDArray[np.intp], source: Source) -> Thresholdout:
    r"""Return Thresholdout with :math:`T = 4/\sqrt n`, :math:`\sigma = 1/2\sqrt n` and no end."""
    half = len(rows) // 2
    unit = len(rows[half:]) ** -0.5
    return Thresholdout(
        (rows[:half], rows[half:]),
        threshold=4 * unit,
        tolerance=unit / 2,
        budget=1 << 40,
        source=source,
    )
