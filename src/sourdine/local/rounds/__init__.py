"""Surveys of several rounds: a person who is asked again and again keeps one total."""

from sourdine.local.rounds.hashing import MemoisedHashing
from sourdine.local.rounds.histories import Histories
from sourdine.local.rounds.response import PermanentResponse

__all__ = ["Histories", "MemoisedHashing", "PermanentResponse"]
