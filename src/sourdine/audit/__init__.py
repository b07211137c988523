"""Audits: claims of privacy and accuracy, checked by machine.

`registered` finds a specimen of every mechanism of the library. `worst_case` compares the exact
laws of all neighbours, `range` and `curve` hold them against the parts of the loss, `replay` runs a
whole call on two data sets, `p_value` holds draws against their law, the attacks look for what is
not in the mathematics, and `checks` is the suite that every mechanism passes.
"""

from sourdine.audit.attacks import (
    precision_attack,
    rank_correlation,
    repeats_after_fork,
    timing_leak,
)
from sourdine.audit.checks import Row, audit_row
from sourdine.audit.curves import Passed, Spread, curve
from sourdine.audit.curves import range_of_losses as range  # noqa: A004 - as mechanisms speak of it
from sourdine.audit.discovery import chosen, every_mechanism, registered, unaudited
from sourdine.audit.exhaustive import ALPHA, Replay, Worst, p_value, replay, worst_case

__all__ = [
    "ALPHA",
    "Passed",
    "Replay",
    "Row",
    "Spread",
    "Worst",
    "audit_row",
    "chosen",
    "curve",
    "every_mechanism",
    "p_value",
    "precision_attack",
    "range",
    "rank_correlation",
    "registered",
    "repeats_after_fork",
    "replay",
    "timing_leak",
    "unaudited",
    "worst_case",
]
