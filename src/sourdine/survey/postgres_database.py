"""`PostgresDatabase`: a survey's tables in PostgreSQL.

PostgreSQL writes each row with the number of its transaction, keeps deleted rows for a while, and
writes everything to a log before it writes it to a table. What is done about it:

* Rows that are written together are written in the order of random keys. So within a commit nothing
  says which ticket was spent for which record.
* After each count the deleted rows are vacuumed away: records, spent tickets, older tallies. The
  files of the tables then hold no record (*checked by* ``test_nothing_in_the_tables_links``); bytes
  of spent tickets stay in their pages until PostgreSQL needs the room.
* The ids of counted records are written anew, in their own order and by one transaction, each time
  their number passes a power of two and when the survey is closed (*checked by*
  ``test_a_closed_survey_does_not_say_who_came_first``).

What remains: whoever reads the write-ahead log, an archive or a replica of it sees records one by
one as they were sent, and with each commit the tickets spent in it. That is the database's owner,
and what they see was randomised before it was sent. Until they are written anew, ids also tell in
which second they were counted.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sourdine.errors import MissingExtraError, ParameterError, SourdineError
from sourdine.survey.database import APPLICATION, PATIENCE, VERSION

try:
    import psycopg
    from psycopg import sql
except ModuleNotFoundError:
    raise MissingExtraError(
        "postgres",
        "be installed",
        "",
        "In the checkout, run pip install '.[postgres]'.",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


MARK = f"sourdine survey {VERSION}"
"""What marks a table as that of a survey: its comment."""
TYPES = (("BLOB", "BYTEA"), ("INTEGER", "BIGINT"))
LOCK = f"({APPLICATION}, hashtext(coalesce(current_schema(), '')))"
"""What whoever writes to this survey holds."""
SURE = (
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)
SECRETS = re.compile(r"(?<=//)([^/@:]*):[^/@]*(?=@)|(?<=[?&])password=[^&]*&?")


class PostgresDatabase:
    """A database, and the connection to it; one that broke is made again.

    Tables stand in the first schema of the search path: ``?options=-csearch_path%3Dcommute`` at the
    end of an address keeps several surveys in one database.

    Parameters
    ----------
    place
        Its address.
    new
        Whether it must have no survey yet.
    """

    failures: type[Exception] = psycopg.Error

    def __init__(self, place: str, *, new: bool = False) -> None:
        self.place, self.shown = place, SECRETS.sub(lambda found: found[1] or "", place)
        try:
            self._connection = self._connected()
        except psycopg.ProgrammingError:
            raise ParameterError(
                "store",
                "be a valid PostgreSQL address",
                repr(self.shown),
                "Use {store}.",
                store="postgresql://localhost/commute",
            ) from None
        except psycopg.OperationalError as error:
            said = " ".join(str(error).split()).rstrip(".")
            raise SourdineError(f"{self.shown} could not be reached: {said}.") from None
        if new and self.rows("SELECT to_regclass('survey')") != [(None,)]:
            self.close()
            raise ParameterError(
                "store",
                "be a database without a survey",
                repr(self.shown),
                "Use another database.",
            )

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        found = psycopg.connect(self.place, autocommit=True, connect_timeout=10)
        for limit in ("lock_timeout", "idle_in_transaction_session_timeout"):
            found.execute(f"SET {limit} = '{PATIENCE:g}s'")
        found.execute(SURE)
        return found

    @property
    def _db(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection.broken:
            self._connection = self._connected()
        return self._connection

    def make(self, tables: Sequence[str]) -> None:
        """Make the tables, inside a transaction, and mark them; the schema too if it is missing."""
        [[schema, path]] = self.rows("SELECT current_schema(), current_setting('search_path')")
        if schema is None:
            name = path.split(",")[0].strip().strip('"')
            self._db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        for table in tables:
            statement = f"CREATE TABLE {table}"
            for known, here in TYPES:
                statement = statement.replace(known, here)
            self.run(statement)
        self.run(f"COMMENT ON TABLE survey IS '{MARK}'")

    def made(self) -> bool:
        """Return whether `make` made it."""
        return self.rows("SELECT obj_description(to_regclass('survey'), 'pg_class')") == [(MARK,)]

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return self._db.execute(_placed(query), values).fetchall()

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Run a statement; return how many rows it touched."""
        return self._db.execute(_placed(query), values).rowcount

    def each(self, query: str, many: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of many values."""
        with self._db.cursor() as cursor:
            cursor.executemany(_placed(query), many)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write alone: all of it happens, or nothing."""
        with self._db.transaction():
            self.rows(f"SELECT pg_advisory_xact_lock{LOCK}")
            yield

    def mix(self, table: str) -> None:
        """Write a table of one column anew, in the order of its values."""
        self.run(
            f"WITH gone AS (DELETE FROM {table} RETURNING *) "  # noqa: S608 - our own names
            f"INSERT INTO {table} SELECT * FROM gone ORDER BY 1"
        )

    def settle(self) -> None:
        """Vacuum away what was deleted, while nobody writes: else it waits for them in vain."""
        self.rows(f"SELECT pg_advisory_lock{LOCK}")
        try:
            self.run("VACUUM (INDEX_CLEANUP ON) inbox, tickets, tallies, survey, ids")
        finally:
            self.rows(f"SELECT pg_advisory_unlock{LOCK}")

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


def _placed(query: str) -> str:
    """Return a query as psycopg reads it: they are our own, and have no other question mark."""
    return query.replace("?", "%s")
