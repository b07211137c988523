"""What PostgreSQL does in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.database.dialects import PATIENCE
from sourdine.errors import ParameterError

try:
    import psycopg
except ImportError:
    raise ParameterError(
        "store",
        "be a file of SQLite where psycopg is not installed",
        "an address of PostgreSQL",
        "In the checkout, type pip install '.[postgres]'.",
    ) from None

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.database.address import Address

__all__ = ["PostgresDialect"]

WRITERS = 7_305_011
"""The lock that whoever writes holds."""
RAISE = "RAISE EXCEPTION 'what is written stays'"
Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresDialect:
    """A database of PostgreSQL; needs psycopg (``pip install '.[postgres]'``)."""

    broken: tuple[type[Exception], ...] = (psycopg.OperationalError, psycopg.InterfaceError)
    refused: tuple[type[Exception], ...] = (psycopg.DatabaseError,)

    def __init__(self, address: Address) -> None:
        self.url = address.url

    def connect(self) -> Connection:
        """Return a connection whose commits wait for the disk."""
        settings = f"-c synchronous_commit=on -c lock_timeout={int(PATIENCE * 1000)}"
        return psycopg.connect(
            self.url, autocommit=True, options=settings, application_name="sourdine"
        )

    def begin(self, connection: Connection) -> None:
        """Begin to write, alone: the lock ends with the transaction."""
        connection.execute("BEGIN")
        connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS})")

    def end(self) -> None:
        """Do nothing: the lock ended with the transaction."""

    def look(self, connection: Connection) -> None:
        """Begin to read."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def backup(self, path: Path) -> None:
        """Refuse: PostgreSQL has a program for it."""
        raise ParameterError(
            "store",
            "be a file of SQLite to be copied here",
            f"a database of PostgreSQL, to {path.name}",
            "Type: pg_dump -Fc -f store.dump, and the address.",
        )

    def spelled(self, statement: str) -> str:
        """Return the statement with ``%s`` for values."""
        return statement.replace("?", "%s")

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return the triggers that refuse; a table that may not lose rows is not emptied either."""
        refuse = "EXECUTE FUNCTION what_is_written_stays()"
        function = "what_is_written_stays() RETURNS trigger LANGUAGE plpgsql"
        made = [
            f"CREATE OR REPLACE FUNCTION {function} AS $$ BEGIN {RAISE}; END $$",
            f"CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} FOR EACH ROW "
            + (f"WHEN ({when}) " if when else "")
            + refuse,
        ]
        if event == "DELETE":
            made.append(
                f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
                f"FOR EACH STATEMENT {refuse}"
            )
        return made
