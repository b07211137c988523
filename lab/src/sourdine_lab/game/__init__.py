"""The game of adaptive questions, and analysts who play it."""

from sourdine_lab.game.agent import MIXED, NO_GAINS, AgentRun, agent_loop
from sourdine_lab.game.analysts import (
    Decoding,
    Freedman,
    FreedmanResult,
    HillClimbing,
    Honest,
    Overfitting,
    freedman,
)
from sourdine_lab.game.game import AdaptiveGame, Analyst, Mechanism
from sourdine_lab.game.judges import Direct, Guarded, Judge, Ladder, Posted, Scored
from sourdine_lab.game.splitting import Mistake, splitting_on_encoded, splitting_on_repeated
from sourdine_lab.game.transcript import Exchange, Transcript
from sourdine_lab.game.truth import (
    Chance,
    all_samples,
    miss_chance,
    simulated_miss_chance,
    truth,
)

__all__ = [
    "MIXED",
    "NO_GAINS",
    "AdaptiveGame",
    "AgentRun",
    "Analyst",
    "Chance",
    "Decoding",
    "Direct",
    "Exchange",
    "Freedman",
    "FreedmanResult",
    "Guarded",
    "HillClimbing",
    "Honest",
    "Judge",
    "Ladder",
    "Mechanism",
    "Mistake",
    "Overfitting",
    "Posted",
    "Scored",
    "Transcript",
    "agent_loop",
    "all_samples",
    "freedman",
    "miss_chance",
    "simulated_miss_chance",
    "splitting_on_encoded",
    "splitting_on_repeated",
    "truth",
]
