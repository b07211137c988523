r"""An agent that improves a model by what an evaluation says of it.

Labels are fair coins, and a model is right about a row with chance :math:`p`: its true accuracy,
which the simulation knows and the agent does not. A proposal changes a share of the predictions and
moves the truth by its gain :math:`g`: a right one is lost with chance :math:`\frac{c - g}{2p}`, a
wrong one mended with chance :math:`\frac{c + g}{2(1 - p)}`, for a churn :math:`c`. Where all gains
are 0 nothing can be improved, and all progress is an illusion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.exact import integer, number, rational
from sourdine.noise import SeededSource
from sourdine_lab.game.judges import judge_named
from sourdine_lab.samples.independent import read_law

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine_lab.game.judges import Judge

__all__ = ["MIXED", "NO_GAINS", "AgentRun", "Model", "agent_loop"]

NO_GAINS = ((1.0, 0.0),)
"""Chances and gains of proposals that cannot improve anything."""

MIXED = ((0.1, 0.005), (0.2, 0.0), (0.7, -0.003))
"""One proposal in ten is good, most are bad."""

CEILING = 0.97
"""No model gets better than this, nor so good or bad that its predictions cannot churn."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Predictions, and the true accuracy behind them."""

    predictions: NDArray[np.bool_]
    accuracy: float

    def proposed(
        self, labels: NDArray[np.bool_], gain: float, churn: float, rng: np.random.Generator
    ) -> Model:
        """Return a model a little different, whose truth is higher by ``gain``."""
        p = self.accuracy
        if not churn / 2 <= p + gain <= min(CEILING, 1 - churn / 2):
            gain = 0.0
        lost, mended = (churn - gain) / (2 * p), (churn + gain) / (2 * (1 - p))
        u = rng.random(len(labels))
        right = np.where(self.predictions == labels, u >= lost, u < mended)
        return Model(right == labels, p + gain)


@dataclass(frozen=True, slots=True, eq=False)
class AgentRun:
    """What an agent reports, and what is true.

    Parameters
    ----------
    reported
        The accuracy that the evaluation says the last model has.
    interval
        The ends that it certifies; None if it certifies nothing.
    true
        The accuracy of that model on fresh data.
    accepted
        How many proposals the agent kept, if only for a while.
    confirmed
        How many of its checkpoints were confirmed.
    proposals
        How many there were; fewer than asked for if nothing was left to tell.
    heard, truth
        After each proposal, what the agent has heard of its model's accuracy, and the truth of it.
    """

    reported: float
    interval: tuple[float, float] | None
    true: float
    accepted: int
    confirmed: int
    proposals: int
    heard: NDArray[np.float64]
    truth: NDArray[np.float64]

    @property
    def gap(self) -> float:
        """Reported minus true."""
        return self.reported - self.true

    @property
    def covers(self) -> bool:
        """Whether the truth is within the certified interval; False if there is none."""
        return self.interval is not None and self.interval[0] <= self.true <= self.interval[1]


def agent_loop(
    judge: str | Callable[[NDArray[np.bool_]], Judge],
    *,
    n: int,
    proposals: int,
    rng: np.random.Generator,
    every: int = 25,
    gains: Sequence[tuple[float, float]] = NO_GAINS,
    accuracy: Number = 0.7,
    churn: Number = 0.04,
    progress: Callable[[], object] | None = None,
) -> AgentRun:
    """Let an agent improve a model against an evaluation, and say what came of it.

    The agent keeps each proposal that the judge finds better; every so often the judge confirms
    what was kept, or the agent goes back to what was confirmed last.

    Parameters
    ----------
    judge
        ``"naive"``, ``"ladder"``, ``"thresholdout"``, ``"confirm"``, or a function of the labels
        that returns a :class:`~sourdine_lab.game.judges.Judge`.
    n
        How many labelled rows there are for all purposes.
    proposals
        How many changes the agent tries.
    rng
        Where chance comes from.
    every
        How many proposals to a checkpoint.
    gains
        Chances and gains of proposals: :data:`NO_GAINS` or :data:`MIXED`, or your own.
    accuracy
        The truth of the first model.
    churn
        The share of rows that a proposal changes on average.
    progress
        Called after each proposal.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> run = agent_loop("naive", n=2000, proposals=100, rng=rng)
    >>> run.true, run.gap > 0.01
    (0.7, True)
    """
    n, every = integer(n, "n", least=2), integer(every, "every", least=1)
    total = integer(proposals, "proposals", least=1)
    c = float(number(churn, "churn", above=0, most=Fraction(1, 2)))
    p = _read_accuracy(accuracy, c)
    chances, steps = _read_gains(gains, c)
    labels = rng.integers(0, 2, n, dtype=np.bool_)
    if isinstance(judge, str):
        judge = judge_named(judge, source=SeededSource(int(rng.integers(1 << 62))))
    first = Model((rng.random(n) < p) == labels, p)
    climber = _Climber(judge(labels), first, first)
    try:
        for t in range(1, total + 1):
            gain = float(rng.choice(steps, p=chances))
            climber.consider(climber.kept.proposed(labels, gain, c, rng))
            if t % every == 0 or t == total:
                climber.checkpoint()
            climber.note()
            if progress is not None:
                progress()
    except BudgetExceededError:
        climber.stop()
    return climber.run()


@dataclass(slots=True)
class _Climber:
    """What an agent keeps in mind."""

    judge: Judge
    kept: Model
    safe: Model
    accepted: int = 0
    confirmed: int = 0
    heard: list[float] = field(default_factory=list)
    truth: list[float] = field(default_factory=list)

    def consider(self, new: Model) -> None:
        if self.judge.better(new.predictions, self.kept.predictions):
            self.kept = new
            self.accepted += 1

    def checkpoint(self) -> None:
        if self.judge.confirm(self.kept.predictions, self.safe.predictions):
            self.safe = self.kept
            self.confirmed += 1
        self.kept = self.safe

    def stop(self) -> None:
        """Stop where the judge says no more: with what it confirmed."""
        try:
            self.checkpoint()
        except BudgetExceededError:
            self.kept = self.safe

    def note(self) -> None:
        self.heard.append(self.judge.heard)
        self.truth.append(self.kept.accuracy)

    def run(self) -> AgentRun:
        said = self.judge.report(self.kept.predictions)
        return AgentRun(
            reported=said.value if isinstance(said, AdaptiveAnswer) else said,
            interval=(said.lower, said.upper) if isinstance(said, AdaptiveAnswer) else None,
            true=self.kept.accuracy,
            accepted=self.accepted,
            confirmed=self.confirmed,
            proposals=len(self.truth),
            heard=np.array(self.heard, np.float64),
            truth=np.array(self.truth, np.float64),
        )


def _read_accuracy(accuracy: Number, churn: float) -> float:
    value = float(rational(accuracy, "accuracy"))
    if not churn / 2 <= value <= min(CEILING, 1 - churn / 2):
        raise ParameterError(
            f"accuracy must be at most {CEILING} and half of churn = {churn:g} from 0 and from 1, "
            f"got {accuracy}. Use accuracy=0.7."
        )
    return value


def _read_gains(
    gains: Sequence[tuple[float, float]], churn: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = np.asarray(gains, np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not (np.abs(pairs[:, 1]) <= churn).all():
        raise ParameterError(
            f"gains must be pairs of a chance and a gain of at most churn = {churn:g}, got others. "
            "Use gains=[(0.1, 0.005), (0.9, 0)]."
        )
    return read_law(pairs[:, 0]), pairs[:, 1]
