r"""Where charges are kept: in memory, or in a file that outlives the process.

A charge is written before the mechanism runs. If the process dies in between, the charge stays: a
ledger may say too much, never too little.

The file is a `sourdine.append_only.Book` of ``terms`` (one row) and ``charges``. Every row holds
the sum so far, so a charge costs the same work however many came before it.

*Claim*: no charge is lost or doubled when the process is killed, and the total is never passed.
*Checked by* ``test_killed_processes_lose_no_charge``. *Claim*: of many processes that race for the
last part of a budget as many succeed as fit. *Checked by* ``test_writers_share_exactly_the_total``.
"""

from __future__ import annotations

import os
import sqlite3
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from sourdine.append_only import Book, FileKind, new_identity, now, only_grows, only_one
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import Guarantee, afterwards
from sourdine.session.charges import Charge, Terms

if TYPE_CHECKING:
    from pathlib import Path
    from sqlite3 import Connection

__all__ = ["FileLedger", "Ledger", "MemoryLedger"]

LEDGER = FileKind(
    noun="ledger",
    mark=b"Sour",
    version=1,
    schema=f"""
CREATE TABLE terms (
    identity TEXT NOT NULL, opened TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    relation TEXT NOT NULL, unit TEXT, rows INTEGER NOT NULL, name TEXT
);
CREATE TABLE charges (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, what TEXT NOT NULL, mechanism TEXT NOT NULL,
    parameters TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    spent_epsilon TEXT NOT NULL, spent_delta TEXT NOT NULL
);
{only_grows("charges")}{only_one("terms")}""",
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
                "a session without a ledger",
                "stay in the process that made it",
                "a forked one",
                "Type {ledger} to share one budget among processes.",
                ledger="data.ledger",
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

    __slots__ = ("book", "terms")

    def __init__(self, path: str | os.PathLike[str], terms: Terms | None) -> None:
        if terms is None and not os.path.exists(path):  # noqa: PTH110 - bytes are paths too
            raise ParameterError(
                "epsilon",
                "be given to open a new ledger",
                f"none for {os.fsdecode(path)}",
                "Type {epsilon}, the total that all releases may cost together.",
                epsilon=1,
            )
        begin = None if terms is None else lambda connection: _write_terms(connection, terms)
        self.book = Book(path, LEDGER, begin)
        with self.book.turn() as connection:
            self.terms = _read_terms(connection)
            self._require_sound(connection)
        if terms is not None:
            self.terms.require(terms, f"the ledger {self.path.name}")

    @property
    def path(self) -> Path:
        """The file."""
        return self.book.path

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        with self.book.turn() as connection:
            return _read(connection, self.terms.total, "ORDER BY number")

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        with self.book.turn() as connection:
            last = _last(connection, self.terms.total)
        return last[0].spent if last else Guarantee(0, 0, self.terms.total.relation)

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down and wait for the disk, or raise and write nothing."""
        with self.book.turn() as connection:
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

    def _require_sound(self, connection: Connection) -> None:
        """Refuse a file whose sums do not agree."""
        spent = Guarantee(0, 0, self.terms.total.relation)
        for i, charge in enumerate(_read(connection, self.terms.total, "ORDER BY number"), 1):
            try:
                spent = afterwards(self.terms.total, spent, charge.cost)
            except BudgetExceededError:
                raise self.book.refusal("charges above the total") from None
            if charge.spent != spent or charge.number != i:
                raise self.book.refusal(f"line {charge.number} does not add up")


def _next(total: Guarantee, last: list[Charge], cost: Guarantee, asked: dict[str, str]) -> Charge:
    """Return the line that follows the last one, or refuse it."""
    spent = last[0].spent if last else Guarantee(0, 0, total.relation)
    return Charge(
        number=last[0].number + 1 if last else 1,
        when=now(),
        cost=Guarantee.from_dict(cost.under(total.relation).to_dict()),
        spent=afterwards(total, spent, cost),
        **asked,
    )


def _write_terms(connection: Connection, terms: Terms) -> None:
    total = terms.total.to_dict()
    numbers = (total["epsilon"], total["delta"], total["relation"])
    connection.execute(
        "INSERT INTO terms VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (new_identity(), now(), *numbers, terms.unit, terms.rows, terms.name),
    )


def _read_terms(connection: Connection) -> Terms:
    fields = "epsilon, delta, relation, unit, rows, name"
    row = connection.execute(f"SELECT {fields} FROM terms").fetchone()  # noqa: S608 - a constant
    if row is None:
        raise sqlite3.DatabaseError("no terms")
    epsilon, delta, relation, unit, rows, name = row
    total = _guarantee(epsilon, delta, relation)
    return Terms(total=total, unit=unit, rows=rows, name=name)


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
