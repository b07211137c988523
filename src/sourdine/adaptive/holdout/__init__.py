"""A guard for evaluation data that people, leaderboards and agents use again and again."""

from sourdine.adaptive.holdout.adapters import GuardCallback, GuardedScorer, guarded_scorer
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard, Standing, Team
from sourdine.adaptive.holdout.planning import WidthPlan, plan_guard, plan_leaderboard
from sourdine.adaptive.holdout.verdict import Told, Verdict

__all__ = [
    "GuardCallback",
    "GuardedHoldout",
    "GuardedScorer",
    "Leaderboard",
    "Standing",
    "Team",
    "Told",
    "Verdict",
    "WidthPlan",
    "guarded_scorer",
    "plan_guard",
    "plan_leaderboard",
]
