"""One total for many releases, kept in a ledger.

============  ======================================================================================
``charges``   charges: what a ledger holds, and how its lines are written and checked
``ledger``    ledgers: in memory, in a file, or in a database
``session``   `Session`: a data set with one total to spend on it
============  ======================================================================================
"""

from sourdine.session.charges import Charge, Terms
from sourdine.session.ledger import Call, Ledger
from sourdine.session.session import Session

__all__ = ["Call", "Charge", "Ledger", "Session", "Terms"]
