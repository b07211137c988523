"""PostgreSQL: the dialect of the shared database, and read-only snapshots of tables."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

from sourdine.errors import MissingExtraError, ParameterError
from sourdine.storage.locks import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sourdine.storage.database import Address


# ---- The dialect ---------------------------------------------------------------------------------


try:
    import psycopg
    from psycopg.adapt import Loader
except ImportError:
    raise MissingExtraError.of("postgres") from None


WRITERS = 7_305_011
"""The advisory lock that a writer holds."""
RAISE = "RAISE EXCEPTION 'what is written stays'"
Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresDialect:
    """A PostgreSQL database; needs psycopg (``pip install '.[postgres]'``)."""

    broken: tuple[type[Exception], ...] = (psycopg.OperationalError, psycopg.InterfaceError)
    refused: tuple[type[Exception], ...] = (psycopg.DatabaseError,)

    lock = str(WRITERS)
    """The arguments of the advisory lock that a writer holds."""
    timeout: int | None = None
    """Seconds to wait for a connection; None for what the address or PostgreSQL says."""

    def __init__(self, address: Address) -> None:
        self.url = address.url
        self.options = f"-c synchronous_commit=on -c lock_timeout={int(PATIENCE * 1000)}"

    def connect(self) -> Connection:
        """Return a connection whose commits wait for the disk."""
        return psycopg.connect(
            self.url, autocommit=True, options=self.options, connect_timeout=self.timeout,
            application_name="sourdine",
        )  # fmt: skip

    def begin(self, connection: Connection) -> None:
        """Begin a transaction that writes, alone: the lock ends with the transaction."""
        connection.execute("BEGIN")
        connection.execute(f"SELECT pg_advisory_xact_lock({self.lock})")

    def end(self) -> None:
        """Do nothing: the lock ended with the transaction."""

    def look(self, connection: Connection) -> None:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def backup(self, path: Path) -> None:
        """Raise an error that names PostgreSQL's own program for backups."""
        got, hint = f"a PostgreSQL database, to {path.name}", "Run pg_dump -Fc -f store.dump"
        what = "be a SQLite file to be copied here"
        raise ParameterError("store", what, got, f"{hint} with the address.")

    def spelled(self, statement: str) -> str:
        return statement.replace("?", "%s")

    def forbidding(self, table: str, event: str, when: str = "") -> list[str]:
        """Return the triggers that refuse; where DELETE is refused, TRUNCATE is refused too."""
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


# ---- Read-only snapshots of tables ---------------------------------------------------------------


SETTINGS = (
    "TimeZone=UTC",
    "DateStyle=ISO",
    "IntervalStyle=iso_8601",
    "extra_float_digits=1",
    "bytea_output=hex",
    "client_encoding=UTF8",
    f"lock_timeout={int(PATIENCE * 1000)}",
)
"""Settings that fix how values are written, independently of the database's defaults."""
CONNECT_TIMEOUT = 10
"""Seconds to wait for a connection."""
FETCHED = 1 << 15
TYPES = """
    SELECT oid::text, format_type(oid, NULL)::text, typcategory::text
    FROM pg_catalog.pg_type WHERE oid = ANY(%s::oid[])
"""


class ColumnType(NamedTuple):
    """The type of a column: its OID, its name, and the letter of its category."""

    number: int
    name: str
    category: str


class Snapshot:
    """A consistent view of a database as of its first query; later writes are not seen.

    It is one read-only transaction, which ends with the object. No error repeats the address.
    """

    def __init__(self, url: str) -> None:
        self._url, self._names = url, count()
        self._connection: psycopg.Connection[Any] | None = None

    def types(self, table: str) -> dict[str, ColumnType]:
        """Return the type of each column of a table, whose name is already quoted."""

        def look() -> dict[str, ColumnType]:
            found = self._open().execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 - quoted
            numbers = {one.name: one.type_code for one in found.description or ()}
            named = self._open().execute(TYPES, [list(numbers.values())])
            known = {int(number): (name, category) for number, name, category in named}
            return {c: ColumnType(number, *known[number]) for c, number in numbers.items()}

        return dict(_guarded(look))

    def rows(self, query: str) -> Iterator[list[tuple[str | None, ...]]]:
        """Yield the rows of a query in batches; all of its columns must be texts."""
        cursor = _guarded(lambda: self._open().cursor(f"rows{next(self._names)}"))
        with cursor:
            _guarded(lambda: cursor.execute(query))
            while found := _guarded(lambda: cursor.fetchmany(FETCHED)):
                yield found

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            opened = psycopg.connect(
                self._url,
                options=" ".join(f"-c {one}" for one in SETTINGS),
                connect_timeout=CONNECT_TIMEOUT,
                application_name="sourdine",
            )
            opened.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            opened.read_only = True
            opened.adapters.register_loader("text", _AnyText)
            finalize(self, opened.close)
            self._connection = opened
        return self._connection


class _AnyText(Loader):
    """Decodes bytes as text; invalid UTF-8 does not raise."""

    def load(self, data: Any) -> str:
        return bytes(data).decode("utf-8", "replace")


def _guarded(work: Callable[[], Any]) -> Any:
    """Run a query; on failure, raise an error without the server's message, which may hold data."""
    try:
        return work()
    except psycopg.Error:
        hint = "Check the address and the table, and that the user may SELECT from it."
        raise ParameterError("data", "be a readable PostgreSQL table", "", hint) from None
