"""Attacks on data that answers again and again: overfitting, hill climbing, and an agent's loop.

None of them sees the data: all they know is what they are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine_lab.averages import average
from sourdine_lab.game.agent import MIXED, NO_GAINS, AgentRun, agent_loop
from sourdine_lab.game.analysts import Overfitting
from sourdine_lab.game.game import AdaptiveGame
from sourdine_lab.game.truth import truth
from sourdine_lab.samples import iid

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine_lab.game.game import Mechanism
    from sourdine_lab.game.judges import Judge

__all__ = [
    "MIXED",
    "NO_GAINS",
    "AgentRun",
    "OverfitResult",
    "agent_loop",
    "hill_climb",
    "overfit",
]


@dataclass(frozen=True, slots=True)
class OverfitResult:
    """The last query of an overfitting analyst.

    Parameters
    ----------
    reported
        What the mechanism answers.
    sample
        Its average over the sample.
    truth
        Its value on the law.
    mechanism
        The mechanism, for its certificate.
    """

    reported: float
    sample: float
    truth: float
    mechanism: Any

    @property
    def error(self) -> float:
        """Reported minus true: how far the mechanism was misled."""
        return self.reported - self.truth

    @property
    def bias(self) -> float:
        """The sample's average minus the truth: how far the query was fitted to the sample."""
        return self.sample - self.truth


def overfit(
    mechanism: Callable[[NDArray[Any]], Mechanism],
    law: ArrayLike,
    n: int,
    rounds: int,
    *,
    rng: np.random.Generator,
    one_bit: bool = False,
    sampler: Callable[..., NDArray[Any]] = iid,
    progress: bool = False,
) -> OverfitResult:
    """Fit a query to a sample by the answers to random ones; see :class:`Overfitting`.

    Parameters
    ----------
    mechanism
        A function of the sample that returns something with ``answer(query)``.
    law
        The probabilities of the codes.
    n
        How many rows the sample has.
    rounds
        How many queries, the last one included.
    rng
        Where chance comes from.
    one_bit
        Look only at whether an answer is above the truth.
    sampler
        ``sampler(law, n, rng=rng)`` draws the sample, as those of `sourdine_lab.samples`.
    progress
        Show a bar on the terminal.

    Examples
    --------
    >>> import numpy as np
    >>> from sourdine_lab.answering import Empirical
    >>> law = np.full(1000, 0.001)
    >>> fooled = overfit(Empirical, law, 1000, 300, rng=np.random.default_rng(1))
    >>> fooled.error == fooled.bias > 0.1
    True
    """
    sample = sampler(law, n, rng=rng)
    made: list[Mechanism] = []

    def make(rows: NDArray[Any]) -> Mechanism:
        made.append(mechanism(rows))
        return made[0]

    analyst = Overfitting(law, rounds, rng=rng, one_bit=one_bit)
    last = AdaptiveGame(analyst, sample, make, rounds=rounds).play(progress=progress)[-1]
    return OverfitResult(last.answer, average(last.query, sample), truth(last.query, law), made[0])


def hill_climb(
    judge: str | Callable[[NDArray[np.bool_]], Judge],
    *,
    n: int,
    proposals: int,
    rng: np.random.Generator,
    churn: Number = 0.04,
    progress: Callable[[], object] | None = None,
) -> AgentRun:
    """Climb from a coin's accuracy by a judge's word alone; the truth stays one half.

    Parameters
    ----------
    judge
        As :func:`agent_loop` takes it. `sourdine_lab.game` has judges for a plain score or any
        mechanism (``Scored``), a guard asked about every proposal (``Direct``) and a leaderboard
        (``Posted``).
    n
        How many labelled rows there are.
    proposals
        How many changes to try.
    rng
        Where chance comes from.
    churn
        The share of rows that a proposal changes on average.
    progress
        Called after each proposal.

    Examples
    --------
    >>> import numpy as np
    >>> run = hill_climb("naive", n=1000, proposals=300, rng=np.random.default_rng(1))
    >>> run.true, run.reported > 0.55
    (0.5, True)
    """
    return agent_loop(
        judge,
        n=n,
        proposals=proposals,
        rng=rng,
        every=1,
        accuracy=0.5,
        churn=churn,
        progress=progress,
    )
