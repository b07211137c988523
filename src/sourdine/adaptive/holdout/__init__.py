"""A guard for evaluation data that people, leaderboards and agents use again and again."""

from sourdine.adaptive.holdout.adapters import GuardCallback, GuardedScorer, guarded_scorer
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard, Standing
from sourdine.adaptive.holdout.verdict import Told, Verdict

__all__ = [
    "GuardCallback",
    "GuardedHoldout",
    "GuardedScorer",
    "Leaderboard",
    "Standing",
    "Told",
    "Verdict",
    "guarded_scorer",
]
