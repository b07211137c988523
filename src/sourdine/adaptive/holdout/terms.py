"""The ledger of a guard: a new one, or one that others charge too."""

from __future__ import annotations

from typing import Any

from sourdine.adaptive.ledger import TranscriptLedger
from sourdine.errors import ParameterError, ParameterTypeError

__all__ = ["read_ledger"]


def read_ledger(n: int, given: TranscriptLedger | None, terms: dict[str, Any]) -> TranscriptLedger:
    """Return the ledger over n rows; terms are those of a new one, None for what was left out."""
    kept = {name: value for name, value in terms.items() if value is not None}
    if given is None:
        ledger = TranscriptLedger(n, **kept)
    elif kept:
        raise ParameterError(
            f"{next(iter(kept))} must be left out where a ledger is given, for the ledger has its "
            "own. Type TranscriptLedger(n, beta=0.05, target=0.05)."
        )
    elif not isinstance(given, TranscriptLedger):
        raise ParameterTypeError(
            f"ledger must be a TranscriptLedger, got {type(given).__name__}. "
            f"Type TranscriptLedger({n})."
        )
    elif given.n != n:
        raise ParameterError(
            f"ledger must be of {n} rows, one for each label, got {given.n}. "
            f"Type TranscriptLedger({n})."
        )
    else:
        ledger = given
    first = ledger.halfwidth()
    if first > ledger.limit and ledger.spent.answers == 0:
        raise ParameterError(
            f"target must be at least {first:.4g}, the half-width of the first answer from {n} "
            f"rows, got {ledger.limit:g}. Type target={1.5 * first:.2g} or take more rows."
        )
    return ledger
