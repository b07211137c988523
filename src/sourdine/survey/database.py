"""What a store asks of its database, and which one an address names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sourdine.survey.sqlite_file import SqliteFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

__all__ = ["Database", "database"]

POSTGRES = ("postgresql://", "postgres://")


class Database(Protocol):
    """Tables, and transactions that are on the disk when they end.

    Queries are written with ``?`` where a value stands, and mean the same in SQLite and PostgreSQL.
    """

    place: str
    shown: str
    """The place as messages name it: without a password."""
    failures: type[Exception]
    """What it raises when it cannot answer now."""

    def make(self, tables: Sequence[str]) -> None:
        """Make the tables of a store, inside a transaction, and mark it as one."""

    def made(self) -> bool:
        """Return whether `make` made it."""

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Run a statement; return how many rows it touched."""

    def each(self, query: str, many: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of many values."""

    def transaction(self) -> AbstractContextManager[None]:
        """Return a transaction of the only one who writes: all of it happens, or nothing."""

    def mix(self, table: str) -> None:
        """Let a table of one column forget in which order it came, inside a transaction."""

    def settle(self) -> None:
        """Let go of what was deleted, as far as the database can, after a transaction."""

    def close(self) -> None:
        """Let go of it."""


def database(place: str, *, new: bool = False) -> Database:
    """Return the database that an address names.

    Parameters
    ----------
    place
        ``postgresql://...``, or the path of an SQLite file.
    new
        Whether it must have no survey yet.
    """
    if place.startswith(POSTGRES):
        from sourdine.survey.postgres_database import (  # noqa: PLC0415 - psycopg, if it is asked for
            PostgresDatabase,
        )

        return PostgresDatabase(place, new=new)
    return SqliteFile(place, new=new)
