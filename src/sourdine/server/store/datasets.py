"""Data sets: what may be asked, and the ledger of each."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sourdine.append_only import now
from sourdine.database import TableBook
from sourdine.errors import ParameterError
from sourdine.server.store.base import Dataset
from sourdine.session import BookLedger
from sourdine.session.kept_ledgers import LEDGER, beginning

if TYPE_CHECKING:
    from sourdine.append_only.chain import Row
    from sourdine.database import SharedDatabase, Transaction

__all__ = ["Datasets", "named"]

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
CHARGE_LINES = (
    "SELECT number, line FROM lines WHERE book = ? AND number >= ? "
    """AND substr(line, 34, 10) = '["charges"' ORDER BY number"""
)
FIELDS = "name, source, columns, n_about, state, opened, read, title, description"
DATASET = f"SELECT {FIELDS} FROM datasets"  # noqa: S608 - names of columns


def named(name: str) -> str:
    """Return a name that may stand in an address, or refuse it."""
    if NAME.fullmatch(name) is None:
        raise ParameterError(
            "name",
            "be of small letters, digits, - and _, at most 64",
            repr(name[:80]),
            "Type another name, such as wages.",
        )
    return name


def _taken(name: str) -> ParameterError:
    return ParameterError("name", "be new", repr(name), "Type another name.")


class Datasets:
    """The data sets of a store."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database
        self._ledgers: dict[str, BookLedger] = {}

    def add(self, dataset: Dataset) -> Dataset:
        """Register a data set, and open its ledger; a ledger that is there must say the same."""
        if self.get(named(dataset.name)) is not None:
            raise _taken(dataset.name)
        book = TableBook(self._database, dataset.name, LEDGER, beginning(dataset.terms))
        self._ledgers[dataset.name] = BookLedger(book, dataset.terms)
        public = (dataset.columns, dataset.n_about, "open", now(), dataset.read)
        values = (dataset.name, dataset.source, *public, dataset.title, dataset.description)

        def job(transaction: Transaction) -> None:
            if transaction.one(f"{DATASET} WHERE name = ?", dataset.name) is not None:
                raise _taken(dataset.name)
            places = ", ".join("?" * len(values))
            transaction.run(f"INSERT INTO datasets ({FIELDS}) VALUES ({places})", *values)  # noqa: S608

        self._database.write(job)
        return self._dataset(values)

    def get(self, name: str) -> Dataset | None:
        """Return a data set; None if there is no such name."""
        found = self._database.read(lambda t: t.one(f"{DATASET} WHERE name = ?", name))
        return None if found is None else self._dataset(found)

    def names(self) -> list[str]:
        """Return the names of all data sets; their ledgers are not read."""
        return [
            name for (name,) in self._database.read(lambda t: t.all("SELECT name FROM datasets"))
        ]

    def all(self) -> list[Dataset]:
        """Return all data sets, by name."""
        found = self._database.read(lambda t: t.all(f"{DATASET} ORDER BY name"))
        return [self._dataset(row) for row in found]

    def close(self, name: str) -> None:
        """Close a data set for good: it answers nothing more, and can still be read and checked."""
        self._database.write(
            lambda t: t.run(
                "UPDATE datasets SET state = 'closed' WHERE name = ? AND state = 'open'", name
            )
        )

    def ledger(self, name: str) -> BookLedger:
        """Return the ledger of a data set, for ``Session(data, ledger=...)``."""
        found = self._ledgers.get(name)
        if found is None:
            found = BookLedger(self.book(name))
            self._ledgers[name] = found
        return found

    def book(self, name: str) -> TableBook:
        """Return the lines of a data set's ledger."""
        found = self._ledgers.get(name)
        if found is not None and isinstance(found.book, TableBook):
            return found.book
        return TableBook(self._database, name, LEDGER)

    def charges(self, name: str, after: int, most: int) -> list[Row]:
        """Return the charges of a ledger after a number, as its lines say them.

        Numbers rise with the lines, so the first of them is found by halving: no other part of the
        ledger is read. *Checked by* ``test_a_part_of_the_history_reads_that_part_alone``.
        """

        def job(transaction: Transaction) -> list[Row]:
            last = transaction.one("SELECT MAX(number) FROM lines WHERE book = ?", name)
            low, high = 1, ((last and last[0]) or 0) + 1
            while low < high:
                middle = (low + high) // 2
                found = transaction.one(f"{CHARGE_LINES} LIMIT 1", name, middle)
                if found is None or _row(found[1])["number"] > after:
                    high = middle
                else:
                    low = middle + 1
            rows = transaction.all(f"{CHARGE_LINES} LIMIT ?", name, low, most)
            if rows:
                transaction.note(name, rows[-1][0], rows[-1][1][:32])
            return [_row(text) for _, text in rows]

        return self._database.read(job)

    def head(self, name: str, line: int | None = None) -> tuple[int, str] | None:
        """Return how far a ledger has got: its last line and that line's check.

        Parameters
        ----------
        name
            The data set.
        line
            Another line than the last, which somebody remembers; None comes back if there is none.
        """
        find = "SELECT number, substr(line, 1, 32) FROM lines WHERE book = ? "
        if line is None:
            found = self._database.read(
                lambda t: t.one(f"{find} ORDER BY number DESC LIMIT 1", name)
            )
        else:
            found = self._database.read(lambda t: t.one(f"{find} AND number = ?", name, line))
        return None if found is None else (found[0], found[1])

    def _dataset(self, row: tuple[Any, ...]) -> Dataset:
        name, source, columns, n_about, state, opened, read, title, description = row
        return Dataset(
            name=name,
            terms=self.ledger(name).terms,
            source=source,
            columns=columns,
            n_about=n_about,
            state=state,
            opened=opened,
            read=read,
            title=title,
            description=description,
        )


def _row(line: str) -> Row:
    """Return what a line says, behind its check."""
    row: Row = json.loads(line[33:])[1]
    return row
