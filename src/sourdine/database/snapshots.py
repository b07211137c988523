"""Looking at a table of PostgreSQL that somebody else writes: texts and counts, read only."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

from sourdine.database.dialects import PATIENCE
from sourdine.errors import ParameterError

try:
    import psycopg
    from psycopg.adapt import Loader
except ImportError:
    raise ParameterError(
        "data",
        "be in a file where psycopg is not installed",
        "an address of PostgreSQL",
        "In the checkout, type pip install '.[postgres]'.",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ColumnType", "Snapshot"]

SETTINGS = (
    "TimeZone=UTC",
    "DateStyle=ISO",
    "IntervalStyle=iso_8601",
    "extra_float_digits=1",
    "bytea_output=hex",
    "client_encoding=UTF8",
    f"lock_timeout={int(PATIENCE * 1000)}",
)
"""How values are written, whatever the database would do."""
REACHED = 10
"""Seconds for a connection."""
FETCHED = 1 << 15
TYPES = """
    SELECT oid::text, format_type(oid, NULL)::text, typcategory::text
    FROM pg_catalog.pg_type WHERE oid = ANY(%s::oid[])
"""


class ColumnType(NamedTuple):
    """The type of a column: its number, its name, and the letter of its category."""

    number: int
    name: str
    category: str


class Snapshot:
    """A database as it was when it was first looked at; what is written since is not seen.

    It is one transaction, which reads only, and ends with the object.

    Parameters
    ----------
    url
        The address, which no error repeats.
    """

    def __init__(self, url: str) -> None:
        self._url, self._names = url, count()
        self._connection: psycopg.Connection[Any] | None = None

    def types(self, table: str) -> dict[str, ColumnType]:
        """Return the type of each column of a table, whose name is quoted."""

        def look() -> dict[str, ColumnType]:
            found = self._open().execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 - quoted
            numbers = {one.name: one.type_code for one in found.description or ()}
            named = self._open().execute(TYPES, [list(numbers.values())])
            known = {int(number): (name, category) for number, name, category in named}
            return {c: ColumnType(number, *known[number]) for c, number in numbers.items()}

        return dict(_guarded(look))

    def rows(self, query: str) -> Iterator[list[tuple[str | None, ...]]]:
        """Yield the rows of a query, all of whose columns are texts, some at a time."""
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
                connect_timeout=REACHED,
                application_name="sourdine",
            )
            opened.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            opened.read_only = True
            opened.adapters.register_loader("text", _AnyText)
            finalize(self, opened.close)
            self._connection = opened
        return self._connection


class _AnyText(Loader):
    """Bytes as text; what is not UTF-8 raises nothing."""

    def load(self, data: Any) -> str:  # noqa: ANN401 - a buffer of any kind
        """Return the text."""
        return bytes(data).decode("utf-8", "replace")


def _guarded(work: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Look; if that fails, say so without what the database says, which may hold data."""
    try:
        return work()
    except psycopg.Error:
        raise ParameterError(
            "data",
            "be a table of PostgreSQL that can be read to the end",
            "none",
            "Check the address and the table, and that the user may SELECT from it.",
        ) from None
