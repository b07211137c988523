"""One total for many releases, kept in a ledger."""

from sourdine.session.accounts import Charged, Room
from sourdine.session.charges import Charge, Terms
from sourdine.session.ledger import (
    BookLedger,
    Call,
    DatabaseLedger,
    FileLedger,
    Ledger,
    MemoryLedger,
)
from sourdine.session.session import Could, Prepared, Session

__all__ = [
    "BookLedger",
    "Call",
    "Charge",
    "Charged",
    "Could",
    "DatabaseLedger",
    "FileLedger",
    "Ledger",
    "MemoryLedger",
    "Prepared",
    "Room",
    "Session",
    "Terms",
]
