"""The address of a database, and of one thing in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from sourdine.errors import ParameterError

__all__ = ["Address", "is_address"]

SCHEME = re.compile(r"(sqlite|postgres(?:ql)?)://", re.IGNORECASE)
SECRET = re.compile(r"(//[^/@:]*):[^/@]*@|([?&]password=)[^&]*", re.IGNORECASE)


def is_address(text: object) -> bool:
    """Whether something is the address of a database, and not a path.

    Examples
    --------
    >>> is_address("sqlite:///wages.db"), is_address("wages.ledger")
    (True, False)
    """
    return isinstance(text, str) and SCHEME.match(text) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is.

    Parameters
    ----------
    url
        The address without what stands behind ``#``.
    part
        What stands behind ``#``: a name within the database; empty if there is none.

    Examples
    --------
    >>> address = Address.read("sqlite:////srv/store.db#wages")
    >>> str(address.path), address.part
    ('/srv/store.db', 'wages')
    >>> print(Address.read("postgresql://anna:secret@db.example/wages"))
    postgresql://anna:***@db.example/wages
    """

    url: str
    part: str = ""

    @classmethod
    def read(cls, text: str) -> Address:
        """Return the address that a person typed, or refuse it."""
        url, _, part = str(text).partition("#")
        if not is_address(url) or (url.lower().startswith("sqlite") and not url[10:].strip("/")):
            raise ParameterError(
                "store",
                "be the address of a database",
                repr(str(cls(url))),
                "Type sqlite:///store.db for a file of this folder, sqlite:////srv/store.db for "
                "one of another, or postgresql://user@host/database.",
            )
        return cls(url, unquote(part))

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.url.lower().startswith("sqlite")

    @property
    def path(self) -> Path:
        """The file of SQLite."""
        return Path(unquote(self.url[10:])).absolute()

    def __str__(self) -> str:
        hidden = SECRET.sub(lambda m: f"{m[1]}:***@" if m[1] else f"{m[2]}***", self.url)
        return str(self.path) if self.is_file else hidden
