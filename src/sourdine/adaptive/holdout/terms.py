"""The ledger of a guard: a new one, or one that others charge too."""

from __future__ import annotations

from typing import Any

from sourdine.adaptive.ledger import TranscriptLedger
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, kind

__all__ = ["read_ledger"]


def read_ledger(n: int, ledger: TranscriptLedger | None, terms: dict[str, Any]) -> TranscriptLedger:
    """Return the ledger over n rows; terms are those of a new one, None for what was left out."""
    kept = {name: value for name, value in terms.items() if value is not None}
    if ledger is None:
        ledger = TranscriptLedger(n, **kept)
    elif kept:
        name = next(iter(kept))
        raise ParameterError(
            name,
            "be left out where a ledger is given",
            given(kept[name]),
            f"The ledger has its own: leave {{{name}}} out.",
            **{name: LEFT_OUT},
        )
    elif not isinstance(ledger, TranscriptLedger):
        raise ParameterTypeError(
            "ledger", "be a TranscriptLedger", kind(ledger), f"Type TranscriptLedger({n})."
        )
    elif ledger.n != n:
        raise ParameterError(
            "ledger",
            f"be of {n} rows, one for each label",
            f"one of {ledger.n}",
            f"Type TranscriptLedger({n}).",
        )
    first = ledger.halfwidth()
    if first > ledger.limit and ledger.spent.answers == 0:
        raise ParameterError(
            "error",
            f"be at least {first:.4g}, the half-width of the first answer from {n} rows",
            f"{ledger.limit:g}",
            "Type {error}, or take more rows.",
            error=float(f"{1.5 * first:.2g}"),
        )
    return ledger
