"""A database that many write, one at a time, and many jobs to a commit.

=============  ====================================================================================
``address``    what a person types: ``sqlite:///folder/store.db`` or ``postgresql://host/name``
``dialects``   what differs between SQLite and PostgreSQL
``turns``      `SharedDatabase`: whoever waits for the disk together shares a commit
``book``       `TableBook`: the lines of an append-only file as rows
=============  ====================================================================================
"""

from sourdine.database.address import Address, is_address
from sourdine.database.book import PageBook, TableBook, TablePage, begin_book
from sourdine.database.dialects import Dialect, Transaction
from sourdine.database.turns import SharedDatabase

__all__ = [
    "Address",
    "Dialect",
    "PageBook",
    "SharedDatabase",
    "TableBook",
    "TablePage",
    "Transaction",
    "begin_book",
    "is_address",
]
