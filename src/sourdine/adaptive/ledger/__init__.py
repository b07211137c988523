"""Every answer about a sample costs bits, and bits cost width."""

from sourdine.adaptive.ledger.chains import second_eigenvalue, stationary
from sourdine.adaptive.ledger.codes import Spent, kt_bits
from sourdine.adaptive.ledger.dependence import Blocks, Custom, Dependence, Iid, Markov
from sourdine.adaptive.ledger.ledger import Remaining, TranscriptLedger
from sourdine.adaptive.ledger.transaction import Growth, Line, Turn

__all__ = [
    "Blocks",
    "Custom",
    "Dependence",
    "Growth",
    "Iid",
    "Line",
    "Markov",
    "Remaining",
    "Spent",
    "TranscriptLedger",
    "Turn",
    "kt_bits",
    "second_eigenvalue",
    "stationary",
]
