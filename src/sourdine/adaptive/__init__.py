"""Answers that stay true when the next question, or the next update, depends on the last answer.

Begin with `GuardedHoldout` for evaluation data that is used again and again, `QueryServer` for many
questions to one sample, `advise` for sketches and counters that outsiders can steer.

================  ==================================================================================
``answers``       what a person gets: a value, the ends between which the truth lies, and what it
                  cost
``attacks``       attacks on sketches, distinct counts and min-cuts, for tests and demonstrations
``graphs``        the min-cut of a changing graph: exact, sampled, kept up to date, and robust
``holdout``       a guard for evaluation data that people, leaderboards and agents use again and
                  again
``information``   from what is told about a sample to how far a chosen query can be off
``ledger``        every answer about a sample costs bits, and bits cost width
``queries``       statistical queries: the average over the rows of something between 0 and 1
``query_server``  one sample, ten thousand questions, each of which may follow from the answers
                  before it
``robust``        algorithms that stay right when updates depend on their answers
``sketches``      sketches that keep their promise when the stream reacts to their answers
================  ==================================================================================
"""

from sourdine.adaptive import attacks
from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.graphs import (
    DynamicMinCut,
    ExactMinCut,
    RobustMinCut,
    SkeletonMinCut,
    lazy_mincut,
)
from sourdine.adaptive.holdout.adapters import GuardCallback, guarded_scorer
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.information import privacy_to_validity
from sourdine.adaptive.ledger.dependence import Blocks, Custom, DependencyGraph, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server.server import QueryServer
from sourdine.adaptive.robust.advice import advise
from sourdine.adaptive.robust.proof import Lazy
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.f2 import AmsSketch, RobustF2
from sourdine.adaptive.sketches.keyed import Keyed

__all__ = [
    "AdaptiveAnswer", "AmsSketch", "Blocks", "Custom", "DependencyGraph", "DynamicMinCut",
    "ExactMinCut", "GuardCallback", "GuardedHoldout", "Iid", "Keyed", "Lazy", "Leaderboard",
    "Markov", "QueryServer", "Robust", "RobustF2", "RobustMinCut", "SkeletonMinCut",
    "TranscriptLedger", "advise", "attacks", "guarded_scorer", "lazy_mincut", "privacy_to_validity",
]  # fmt: skip
