"""One total for many releases, kept in a ledger."""

from sourdine.session.charges import Charge, Terms
from sourdine.session.could import Could
from sourdine.session.ledger import Call, FileLedger, Ledger, MemoryLedger
from sourdine.session.room import Charged, Room
from sourdine.session.session import Session

__all__ = [
    "Call",
    "Charge",
    "Charged",
    "Could",
    "FileLedger",
    "Ledger",
    "MemoryLedger",
    "Room",
    "Session",
    "Terms",
]
