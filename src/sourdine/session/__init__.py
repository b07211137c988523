"""One total for many releases, kept in a ledger."""

from sourdine.session.charges import Charge, Terms
from sourdine.session.ledger import FileLedger, Ledger, MemoryLedger
from sourdine.session.session import Session

__all__ = ["Charge", "FileLedger", "Ledger", "MemoryLedger", "Session", "Terms"]
