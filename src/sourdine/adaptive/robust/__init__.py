"""Algorithms that stay right when updates depend on their answers."""

from sourdine.adaptive.robust.advice import Advice, advise
from sourdine.adaptive.robust.choices import Candidate
from sourdine.adaptive.robust.lazy import Lazy
from sourdine.adaptive.robust.planning import (
    Copies,
    copies_needed,
    cost,
    crossover,
    plan_copies,
)
from sourdine.adaptive.robust.proof import ENDLESS, Proof, certified_steps
from sourdine.adaptive.robust.wrapper import Robust

__all__ = [
    "ENDLESS",
    "Advice",
    "Candidate",
    "Copies",
    "Lazy",
    "Proof",
    "Robust",
    "advise",
    "certified_steps",
    "copies_needed",
    "cost",
    "crossover",
    "plan_copies",
]
