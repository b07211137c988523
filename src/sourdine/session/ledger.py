r"""Where charges are kept: in memory, or in a file that outlives the process.

A charge is written before the mechanism runs. If the process dies in between, the charge stays: a
ledger may say too much, never too little.

The file is a SQLite database of two tables, ``terms`` (one row) and ``charges``. Triggers refuse
to change or delete a row, and every row holds the sum so far, so a charge costs the same work
however many came before it.

=========================  =======================================================================
``BEGIN IMMEDIATE``        one writer reads the sum, decides and writes, the others wait
``journal_mode=DELETE``    once a charge is written the one file holds it; with a write-ahead log
                           a copy of the file alone would have forgotten the latest charges
``synchronous=EXTRA``      file and folder reach the disk before the mechanism runs
a connection per charge    nothing is carried across a fork, and a ledger that was deleted or
                           replaced meanwhile is noticed
=========================  =======================================================================

*Claim*: no charge is lost or doubled when the process is killed, and the total is never passed.
*Checked by* ``test_killed_processes_lose_no_charge``. *Claim*: of many processes that race for the
last part of a budget as many succeed as fit. *Checked by* ``test_writers_share_exactly_the_total``.

Network file systems often break the locks that this relies on: keep a ledger on a local disk. And
whoever may write the file may delete it: it guards against mistakes and crashes, not against its
owner.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.privacy import Guarantee
from sourdine.session.charges import Charge, Terms, afterwards

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

__all__ = ["FileLedger", "Ledger", "MemoryLedger"]

APPLICATION = int.from_bytes(b"Sour", "big")
FORMAT = 1
PATIENCE = 60.0
"""Seconds to wait for other writers."""

SCHEMA = """
CREATE TABLE terms (
    identity TEXT NOT NULL, opened TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    relation TEXT NOT NULL, unit TEXT, rows INTEGER NOT NULL, name TEXT
);
CREATE TABLE charges (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, what TEXT NOT NULL, mechanism TEXT NOT NULL,
    parameters TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    spent_epsilon TEXT NOT NULL, spent_delta TEXT NOT NULL
);
CREATE TRIGGER charges_follow BEFORE INSERT ON charges
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM charges)
BEGIN SELECT RAISE(ABORT, 'a ledger is written line after line'); END;
CREATE TRIGGER charges_stay BEFORE UPDATE ON charges
BEGIN SELECT RAISE(ABORT, 'a charge stays as it is'); END;
CREATE TRIGGER charges_remain BEFORE DELETE ON charges
BEGIN SELECT RAISE(ABORT, 'a charge is never deleted'); END;
CREATE TRIGGER terms_are_one BEFORE INSERT ON terms WHEN (SELECT count(*) FROM terms) > 0
BEGIN SELECT RAISE(ABORT, 'a ledger has one set of terms'); END;
CREATE TRIGGER terms_stay BEFORE UPDATE ON terms
BEGIN SELECT RAISE(ABORT, 'the terms stay as they are'); END;
CREATE TRIGGER terms_remain BEFORE DELETE ON terms
BEGIN SELECT RAISE(ABORT, 'the terms are never deleted'); END;
"""

_QUIET = Lock()
"""Held while a file is in use, so that no fork can carry a half-written charge away."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_QUIET.acquire, after_in_parent=_QUIET.release, after_in_child=_QUIET.release
    )


class Ledger(Protocol):
    """A list of charges under fixed terms."""

    @property
    def terms(self) -> Terms:
        """What it is for."""

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down for good, or raise `BudgetExceededError` and write nothing."""


class MemoryLedger:
    """Charges that end with the process; safe under threads, refused in a forked process."""

    __slots__ = ("_charges", "_lock", "_process", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        return list(self._charges)

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        last = self._charges[-1:]
        return last[0].spent if last else Guarantee(0, 0, self.terms.total.relation)

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down, or raise and write nothing."""
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "a session without a ledger must stay in the process that made it, got a forked "
                "one. Type ledger='data.ledger' to share one budget among processes."
            )
        with self._lock:
            asked = {"what": what, "mechanism": mechanism, "parameters": parameters}
            charge = _next(self.terms.total, self._charges[-1:], cost, asked)
            self._charges.append(charge)
            return charge


class FileLedger:
    """Charges in a file, shared by all processes that name it.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    terms
        What the ledger is for; None if the file is there and its own terms rule.

    Raises
    ------
    ParameterError
        The file is not a ledger, is damaged, or is for other terms.
    """

    __slots__ = ("_identity", "path", "terms")

    def __init__(self, path: str | os.PathLike[str], terms: Terms | None) -> None:
        self.path = Path(os.fsdecode(path)).absolute()
        if terms is None and not self.path.exists():
            raise ParameterError(
                f"epsilon must be given to open a new ledger, got none for {self.path}. "
                "Type epsilon=1, the total that all releases may cost together."
            )
        with self._open("rw" if terms is None else "rwc") as connection:
            if terms is not None and _is_empty(connection):
                _write_terms(connection, terms)
            self._require_ours(connection)
            self._identity, self.terms = _read_terms(connection)
            self._require_sound(connection)
        if terms is not None:
            self.terms.require(terms, f"the ledger {self.path.name}")

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        with self._open() as connection:
            return _read(connection, self.terms.total, "ORDER BY number")

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        with self._open() as connection:
            last = _last(connection, self.terms.total)
        return last[0].spent if last else Guarantee(0, 0, self.terms.total.relation)

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down and wait for the disk, or raise and write nothing."""
        with self._open() as connection:
            total = self.terms.total
            asked = {"what": what, "mechanism": mechanism, "parameters": parameters}
            charge = _next(total, _last(connection, total), cost, asked)
            cost_text, spent_text = charge.cost.to_dict(), charge.spent.to_dict()
            connection.execute(
                "INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(charge.number, charge.when, what, mechanism, parameters),
                    *(cost_text["epsilon"], cost_text["delta"]),
                    *(spent_text["epsilon"], spent_text["delta"]),
                ),
            )
        return charge

    @contextmanager
    def _open(self, mode: str = "rw") -> Iterator[Connection]:
        """Hold the file alone for one transaction; whatever raises inside undoes it."""
        with _QUIET, self._in_plain_words():
            uri = f"{self.path.as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
            with closing(connection):
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA fullfsync = ON")
                connection.execute("BEGIN IMMEDIATE")
                if hasattr(self, "_identity") and _identity(connection) != self._identity:
                    raise ParameterError(
                        f"the ledger must stay the file that was opened, got another one at "
                        f"{self.path}. Put the first one back, or open a new session."
                    )
                yield connection
                connection.execute("COMMIT")

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise SourdineError(self._trouble(str(error))) from None
        except sqlite3.DatabaseError as error:
            raise ParameterError(self._not_a_ledger(str(error))) from None

    def _trouble(self, reason: str) -> str:
        if "locked" in reason:
            reason = f"another process has held it for {PATIENCE:g} seconds"
        elif "unable to open" in reason:
            there = "no such file" if self.path.parent.is_dir() else "no such folder"
            reason = "it may not be read and written" if self.path.exists() else there
        return f"the ledger {self.path} could not be used: {reason}. Nothing was released."

    def _not_a_ledger(self, reason: str) -> str:
        return (
            f"ledger must be a file that Sourdine wrote, got {self.path} ({reason}). "
            f"Type the path of a new file, or restore the ledger from a copy."
        )

    def _require_ours(self, connection: Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise ParameterError(self._not_a_ledger("a database of something else"))
        if version != FORMAT:
            raise ParameterError(self._not_a_ledger(f"of format {version}, this reads {FORMAT}"))

    def _require_sound(self, connection: Connection) -> None:
        """Refuse a file whose pages or sums do not agree."""
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise ParameterError(self._not_a_ledger("damaged"))
        spent = Guarantee(0, 0, self.terms.total.relation)
        for i, charge in enumerate(_read(connection, self.terms.total, "ORDER BY number"), 1):
            try:
                spent = afterwards(self.terms.total, spent, charge.cost)
            except BudgetExceededError:
                raise ParameterError(self._not_a_ledger("charges above the total")) from None
            if charge.spent != spent or charge.number != i:
                raise ParameterError(self._not_a_ledger(f"line {charge.number} does not add up"))


def _next(total: Guarantee, last: list[Charge], cost: Guarantee, asked: dict[str, str]) -> Charge:
    """Return the line that follows the last one, or refuse it."""
    spent = last[0].spent if last else Guarantee(0, 0, total.relation)
    return Charge(
        number=last[0].number + 1 if last else 1,
        when=_now(),
        cost=Guarantee.from_dict(cost.under(total.relation).to_dict()),
        spent=afterwards(total, spent, cost),
        **asked,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _is_empty(connection: Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(objects == 0 and application == 0)


def _write_terms(connection: Connection, terms: Terms) -> None:
    for statement in _statements(SCHEMA):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    total = terms.total.to_dict()
    numbers = (total["epsilon"], total["delta"], total["relation"])
    connection.execute(
        "INSERT INTO terms VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (uuid.uuid4().hex, _now(), *numbers, terms.unit, terms.rows, terms.name),
    )


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script: ``executescript`` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _identity(connection: Connection) -> str:
    (identity,) = connection.execute("SELECT identity FROM terms").fetchone() or ("",)
    return str(identity)


def _read_terms(connection: Connection) -> tuple[str, Terms]:
    fields = "identity, epsilon, delta, relation, unit, rows, name"
    row = connection.execute(f"SELECT {fields} FROM terms").fetchone()  # noqa: S608 - a constant
    if row is None:
        raise sqlite3.DatabaseError("no terms")
    identity, epsilon, delta, relation, unit, rows, name = row
    total = _guarantee(epsilon, delta, relation)
    return identity, Terms(total=total, unit=unit, rows=rows, name=name)


def _last(connection: Connection, total: Guarantee) -> list[Charge]:
    return _read(connection, total, "ORDER BY number DESC LIMIT 1")


def _read(connection: Connection, total: Guarantee, order: str) -> list[Charge]:
    relation = total.relation.value
    fields = "epsilon, delta, spent_epsilon, spent_delta, number, time, what, mechanism, parameters"
    rows = connection.execute(f"SELECT {fields} FROM charges {order}")  # noqa: S608 - constants
    names = ("number", "when", "what", "mechanism", "parameters")
    return [
        Charge(
            cost=_guarantee(epsilon, delta, relation),
            spent=_guarantee(spent_epsilon, spent_delta, relation),
            **dict(zip(names, rest, strict=True)),
        )
        for epsilon, delta, spent_epsilon, spent_delta, *rest in rows
    ]


def _guarantee(epsilon: str, delta: str, relation: str) -> Guarantee:
    try:
        return Guarantee(Fraction(epsilon), Fraction(delta), relation)
    except (ValueError, TypeError, ZeroDivisionError):
        raise sqlite3.DatabaseError("a number cannot be read") from None
