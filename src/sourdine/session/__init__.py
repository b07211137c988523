"""One total for many releases, kept in a ledger."""

from sourdine.session.charges import Charge, Terms
from sourdine.session.could import Could
from sourdine.session.kept_ledgers import BookLedger, DatabaseLedger, FileLedger
from sourdine.session.ledger import Call, Ledger, MemoryLedger
from sourdine.session.prepared import Prepared
from sourdine.session.room import Charged, Room
from sourdine.session.session import Session

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
