"""A database that many write, one at a time, and many jobs to a commit.

=============  ====================================================================================
``address``    what a person types: ``sqlite:///folder/store.db`` or ``postgresql://host/name``
``dialects``   what differs between SQLite and PostgreSQL
``turns``      `SharedDatabase`: whoever waits for the disk together shares a commit
``book``       `TableBook`: the lines of an append-only file as rows
=============  ====================================================================================
"""

from sourdine.database.address import Address, is_address
from sourdine.database.book import TableBook, TablePage
from sourdine.database.dialects import Dialect, Transaction
from sourdine.database.turns import SharedDatabase

__all__ = [
    "Address",
    "Dialect",
    "SharedDatabase",
    "TableBook",
    "TablePage",
    "Transaction",
    "is_address",
]
