"""One total for many releases, kept in a ledger."""

from sourdine.session.accounts import Charged, RemainingBudget
from sourdine.session.charges import Charge, Terms
from sourdine.session.ledger import (
    Call,
    DatabaseLedger,
    FileLedger,
    Ledger,
    MemoryLedger,
    StoredLedger,
)
from sourdine.session.session import Admission, Prepared, Session

__all__ = [
    "Admission",
    "Call",
    "Charge",
    "Charged",
    "DatabaseLedger",
    "FileLedger",
    "Ledger",
    "MemoryLedger",
    "Prepared",
    "RemainingBudget",
    "Session",
    "StoredLedger",
    "Terms",
]
