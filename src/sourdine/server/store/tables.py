"""The tables of a store, made in one place: by a command, never when a server starts."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

from sourdine.append_only import now
from sourdine.database.book import book_tables
from sourdine.server.store.guard_tables import guards_anew, make_guard_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.database import Transaction

__all__ = ["MIGRATIONS", "VERSION", "make_tables"]

VERSION = 3
"""Of the tables that this library reads and writes."""
READ = "read TEXT NOT NULL DEFAULT '{}'"
TITLE, DESCRIPTION = "title TEXT NOT NULL DEFAULT ''", "description TEXT NOT NULL DEFAULT ''"
ATTEMPTS = (
    "attempts (subject TEXT NOT NULL, since BIGINT NOT NULL, number INTEGER NOT NULL, "
    "PRIMARY KEY (subject, since))"
)


def _to_version_2(transaction: Transaction) -> None:
    """Say how a data set's texts are read, count attempts to log in, and keep guards."""
    transaction.run(f"ALTER TABLE datasets ADD COLUMN {READ}")
    transaction.run(f"CREATE TABLE {ATTEMPTS}")
    guards_anew(transaction)


def _to_version_3(transaction: Transaction) -> None:
    """Give data sets a title and a description."""
    for column in (TITLE, DESCRIPTION):
        transaction.run(f"ALTER TABLE datasets ADD COLUMN {column}")


MIGRATIONS: Mapping[int, Callable[[Transaction], None]] = {1: _to_version_2, 2: _to_version_3}
"""From each earlier version, what makes the next one of it."""

TABLES = (
    "meta (identity TEXT PRIMARY KEY, version INTEGER NOT NULL, opened TEXT NOT NULL)",
    (
        "people (name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, "
        "disabled INTEGER NOT NULL)"
    ),
    (
        "tokens (sha256 TEXT PRIMARY KEY, who TEXT NOT NULL REFERENCES people (name), "
        "kind TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, label TEXT NOT NULL, "
        "revoked INTEGER NOT NULL)"
    ),
    (
        "datasets (name TEXT PRIMARY KEY REFERENCES books (name), source TEXT NOT NULL, "
        "columns TEXT NOT NULL, n_about BIGINT, state TEXT NOT NULL, opened TEXT NOT NULL, "
        f"{READ}, {TITLE}, {DESCRIPTION})"
    ),
    ATTEMPTS,
    (
        "grants (dataset TEXT NOT NULL REFERENCES datasets (name), "
        "analyst TEXT NOT NULL REFERENCES people (name), epsilon TEXT NOT NULL, "
        "PRIMARY KEY (dataset, analyst))"
    ),
    (
        "releases (analyst TEXT NOT NULL, key TEXT NOT NULL, asked TEXT NOT NULL, "
        "dataset TEXT NOT NULL REFERENCES datasets (name), number BIGINT NOT NULL, "
        "count INTEGER NOT NULL, line BIGINT NOT NULL, spent TEXT NOT NULL, state TEXT NOT NULL, "
        "answer BIGINT, PRIMARY KEY (analyst, key))"
    ),
    (
        "surveys (name TEXT PRIMARY KEY, document TEXT NOT NULL, store TEXT NOT NULL, "
        "public INTEGER NOT NULL, state TEXT NOT NULL, page TEXT NOT NULL)"
    ),
)
INDEXES = (
    "UNIQUE INDEX releases_by_number ON releases (dataset, number)",
    "INDEX releases_by_analyst ON releases (dataset, analyst, number)",
    "INDEX tokens_by_person ON tokens (who)",
)


def make_tables(transaction: Transaction) -> None:
    """Make all tables, in a database that has none of them."""
    dialect = transaction.dialect
    done = "OLD.state <> 'charged'"
    statements = [
        *book_tables(dialect),
        *(f"CREATE TABLE {table}" for table in TABLES),
        *(f"CREATE {index}" for index in INDEXES),
        *dialect.forbidding("releases", "UPDATE", done),
        *dialect.forbidding("releases", "DELETE"),
        *dialect.forbidding("datasets", "UPDATE", "OLD.state <> 'open'"),
        *dialect.forbidding("datasets", "DELETE"),
    ]
    for statement in statements:
        transaction.run(statement)
    make_guard_tables(transaction)
    transaction.run("INSERT INTO meta VALUES (?, ?, ?)", token_hex(16), VERSION, now())
