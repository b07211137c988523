"""The tables of guards, of who may submit to them, and of what was told under which key."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourdine.database import Transaction

__all__ = ["guards_anew", "make_guard_tables"]

TABLES = (
    (
        "guards (name TEXT PRIMARY KEY, source TEXT NOT NULL, label TEXT, secret TEXT NOT NULL, "
        "text TEXT NOT NULL, state TEXT NOT NULL, opened TEXT NOT NULL)"
    ),
    (
        "team_grants (guard TEXT NOT NULL REFERENCES guards (name), "
        "team TEXT NOT NULL REFERENCES people (name), submissions BIGINT NOT NULL, "
        "PRIMARY KEY (guard, team))"
    ),
    (
        "submissions (guard TEXT NOT NULL REFERENCES guards (name), team TEXT NOT NULL, "
        "key TEXT NOT NULL, asked TEXT NOT NULL, number BIGINT NOT NULL, line BIGINT NOT NULL, "
        "told TEXT NOT NULL, PRIMARY KEY (guard, team, key))"
    ),
)


def make_guard_tables(transaction: Transaction) -> None:
    """Make the tables of guards, in a store that has none of them."""
    dialect = transaction.dialect
    statements = [
        *(f"CREATE TABLE {table}" for table in TABLES),
        "CREATE UNIQUE INDEX submissions_by_number ON submissions (guard, number)",
        *dialect.forbidding("submissions", "UPDATE"),
        *dialect.forbidding("submissions", "DELETE"),
        *dialect.forbidding("guards", "UPDATE", "OLD.state <> 'open'"),
        *dialect.forbidding("guards", "DELETE"),
    ]
    for statement in statements:
        transaction.run(statement)


def guards_anew(transaction: Transaction) -> None:
    """Make them in a store of version 1, which had two of another shape that nothing filled."""
    for table in ("submissions", "team_grants", "guards"):
        transaction.run(f"DROP TABLE IF EXISTS {table}")
    make_guard_tables(transaction)
