"""Answers that stay true when the next question, or the next update, depends on the last answer.

Begin with `GuardedHoldout` for evaluation data that is used again and again, `QueryServer` for many
questions to one sample, `advise` for sketches and counters that outsiders can steer.

==================  ===============================================================================
``ledger``          every answer costs bits, and bits cost width: the theorem as an accountant
``holdout``         a guard for evaluation data: people, leaderboards, agents
``server``          thousands of questions to one sample, with intervals that hold for all of them
``robust``          many copies, a private median, switching, laziness: algorithms made robust
``sketches``        second moments and distinct counts that outsiders cannot steer
``graphs``          the min-cut of a changing graph
``attacks``         what breaks the plain versions of all these
==================  ===============================================================================
"""

from sourdine.adaptive import attacks
from sourdine.adaptive.answers import AdaptiveAnswer, Certificate
from sourdine.adaptive.graphs import ExactMinCut, RobustMinCut, SkeletonMinCut, lazy_mincut
from sourdine.adaptive.holdout.adapters import GuardCallback, guarded_scorer
from sourdine.adaptive.holdout.guard import GuardedHoldout, Verdict
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.information import privacy_to_validity
from sourdine.adaptive.ledger.dependence import Blocks, Custom, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server.server import QueryServer
from sourdine.adaptive.robust.advice import advise
from sourdine.adaptive.robust.lazy import Lazy
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.ams import AmsSketch
from sourdine.adaptive.sketches.f2 import RobustF2
from sourdine.adaptive.sketches.keyed import Keyed

__all__ = [
    "AdaptiveAnswer",
    "AmsSketch",
    "Blocks",
    "Certificate",
    "Custom",
    "ExactMinCut",
    "GuardCallback",
    "GuardedHoldout",
    "Iid",
    "Keyed",
    "Lazy",
    "Leaderboard",
    "Markov",
    "QueryServer",
    "Robust",
    "RobustF2",
    "RobustMinCut",
    "SkeletonMinCut",
    "TranscriptLedger",
    "Verdict",
    "advise",
    "attacks",
    "guarded_scorer",
    "lazy_mincut",
    "privacy_to_validity",
]
