"""`PostgresTables`: a survey's tables in PostgreSQL.

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

What remains: a reader of the write-ahead log, an archive or a replica of it sees records one by
one as they were sent, and with each commit the tickets spent in it. That is the database's owner,
and what they see was randomised before it was sent. Until they are written anew, ids also tell in
which second they were counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from sourdine.errors import ParameterError
from sourdine.storage.locks import PATIENCE
from sourdine.storage.postgres import CONNECT_TIMEOUT, PostgresDialect
from sourdine.survey.document import STORE, STORE_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.storage.database import Address, Transaction


MARK = f"sourdine survey {STORE_VERSION}"
"""What marks a table as that of a survey: its comment."""
TYPES = (("BLOB", "BYTEA"), ("INTEGER", "BIGINT"))


class PostgresTables(PostgresDialect):
    """A survey's tables in the first schema of the search path.

    ``?options=-csearch_path%3Dcommute`` at the end of an address keeps several surveys in one
    database; each has its own lock for writers.
    """

    lock = f"{STORE}, hashtext(coalesce(current_schema(), ''))"
    timeout = CONNECT_TIMEOUT
    settling: tuple[str, ...] = (  # while nobody writes: else VACUUM waits for them in vain
        f"SELECT pg_advisory_lock({lock})",
        "VACUUM (INDEX_CLEANUP ON) inbox, tickets, tallies, survey, ids",
        f"SELECT pg_advisory_unlock({lock})",
    )

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.shown = str(address)
        try:
            own = conninfo_to_dict(address.url).get("options") or ""
        except ProgrammingError:
            raise ParameterError(
                "store", "be a valid PostgreSQL address", repr(self.shown),
                store="postgresql://localhost/commute",
            ) from None  # fmt: skip
        limit = f"-c idle_in_transaction_session_timeout={int(PATIENCE * 1000)}"
        self.options = f"{own} {self.options} {limit}"

    def make(self, rows: Transaction, tables: Sequence[str]) -> None:
        """Make the tables, and mark them; the schema too if it is missing."""
        if rows.one("SELECT to_regclass('survey')") != (None,):
            raise ParameterError(
                "store", "be a database without a survey", repr(self.shown), "Use another database."
            )
        [[schema, path]] = rows.all("SELECT current_schema(), current_setting('search_path')")
        if schema is None:
            name = path.split(",")[0].strip().strip('"').replace('"', '""')
            rows.run(f'CREATE SCHEMA "{name}"')
        for table in tables:
            statement = f"CREATE TABLE {table}"
            for known, here in TYPES:
                statement = statement.replace(known, here)
            rows.run(statement)
        rows.run(f"COMMENT ON TABLE survey IS '{MARK}'")

    def made(self, rows: Transaction) -> bool:
        """Return whether `make` made it."""
        return rows.one("SELECT obj_description(to_regclass('survey'), 'pg_class')") == (MARK,)

    def mix(self, rows: Transaction, table: str) -> None:
        """Write a table of one column anew, in the order of its values."""
        rows.run(
            f"WITH gone AS (DELETE FROM {table} RETURNING *) "  # noqa: S608 - our own names
            f"INSERT INTO {table} SELECT * FROM gone ORDER BY 1"
        )
