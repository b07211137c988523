"""What a transcript ledger was opened for, as its file says."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from sourdine.adaptive.ledger.transaction import GROWTH

if TYPE_CHECKING:
    from sourdine.append_only.kept import KeptBook

__all__ = ["TERMS", "LedgerTerms", "read_terms"]

TERMS = "terms"
"""The table of the terms."""


class LedgerTerms(NamedTuple):
    """Rows at first and now, beta, how rows depend on each other, the error allowed, a name."""

    first: int
    n: int
    beta: Fraction
    dependence: dict[str, Any]
    error: Fraction | None
    name: str | None


def read_terms(book: KeptBook) -> LedgerTerms:
    """Return the terms that a file holds."""
    row, grown = book.turn(lambda page: (page.last(TERMS) or {}, page.last(GROWTH)))
    try:
        first = int(row["n"])
        n = int(grown["n"]) if grown else first
        error = None if row["error"] is None else Fraction(row["error"])
        kept = dict(row["dependence"])
        return LedgerTerms(first, n, Fraction(row["beta"]), kept, error, row["name"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise book.refusal("its terms cannot be read") from None
