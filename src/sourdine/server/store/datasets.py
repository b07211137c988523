"""Data sets, their ledgers, and surveys."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.server.store.base import Dataset, SurveyEntry
from sourdine.session.ledger import LEDGER, StoredLedger, beginning
from sourdine.storage.journal import now
from sourdine.storage.table_journal import TableJournal

if TYPE_CHECKING:
    from sourdine.storage.database import SharedDatabase, Transaction
    from sourdine.storage.journal import Row


# ---- Data sets: what may be asked, and the ledger of each ----------------------------------------


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
            "be at most 64 lowercase letters, digits, - and _",
            repr(name[:80]),
            "Choose another name, such as wages.",
        )
    return name


def _taken(name: str) -> ParameterError:
    return ParameterError("name", "be new", repr(name), "Choose another name.")


class Datasets:
    """The data sets of a store."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database
        self._ledgers: dict[str, StoredLedger] = {}

    def add(self, dataset: Dataset) -> Dataset:
        """Register a data set, and open its ledger; a ledger that is there must say the same."""
        if self.get(named(dataset.name)) is not None:
            raise _taken(dataset.name)
        journal = TableJournal(self._database, dataset.name, LEDGER, beginning(dataset.terms))
        self._ledgers[dataset.name] = StoredLedger(journal, dataset.terms)
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

    def ledger(self, name: str) -> StoredLedger:
        """Return the ledger of a data set, for ``Session(data, ledger=...)``."""
        found = self._ledgers.get(name)
        if found is None:
            found = StoredLedger(self.journal(name))
            self._ledgers[name] = found
        return found

    def journal(self, name: str) -> TableJournal:
        """Return the lines of a data set's ledger."""
        found = self._ledgers.get(name)
        if found is not None and isinstance(found.journal, TableJournal):
            return found.journal
        return TableJournal(self._database, name, LEDGER)

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


# ---- Surveys: what is asked, and whether it is open ----------------------------------------------


SURVEY = "SELECT name, document, store, public, state, page FROM surveys"


class Surveys:
    """The surveys of a server; a document changes only while it is a draft."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def add(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a survey down, or refuse a name that is taken."""
        _insert(self._database, "surveys", (named(survey.name), *_survey_values(survey)))
        return survey

    def change(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a draft anew, open it, or close what is open; nothing else can change."""

        def job(transaction: Transaction) -> None:
            found = transaction.one(f"{SURVEY} WHERE name = ?", survey.name)
            was = None if found is None else _survey(found)
            allowed = {
                "draft": ("draft", "open"),
                "open": ("open", "closed"),
                "closed": ("closed",),
            }
            if (
                was is None
                or survey.state not in allowed[was.state]
                or (was.state != "draft" and _frozen(was) != _frozen(survey))
            ):
                raise ParameterError(
                    "survey",
                    "be a draft, or unchanged since it was opened",
                    f"{survey.name!r}, {'unknown' if was is None else was.state}",
                    "Create another survey.",
                )
            transaction.run(
                "UPDATE surveys SET document = ?, store = ?, public = ?, state = ?, page = ? "
                "WHERE name = ?",
                *(*_survey_values(survey), survey.name),
            )

        self._database.write(job)
        return survey

    def discard(self, name: str) -> None:
        """Throw a draft away, or refuse what people may have answered."""

        def job(transaction: Transaction) -> None:
            gone = transaction.run("DELETE FROM surveys WHERE name = ? AND state = 'draft'", name)
            if gone != 1:
                raise ParameterError("survey", "be a draft", "", "Close open surveys instead.")

        self._database.write(job)

    def get(self, name: str) -> SurveyEntry | None:
        """Return a survey; None if there is no such name."""
        found = self._database.read(lambda t: t.one(f"{SURVEY} WHERE name = ?", name))
        return None if found is None else _survey(found)

    def all(self) -> list[SurveyEntry]:
        found = self._database.read(lambda t: t.all(f"{SURVEY} ORDER BY name"))
        return [_survey(row) for row in found]


def _insert(database: SharedDatabase, table: str, values: tuple[object, ...]) -> None:
    def job(transaction: Transaction) -> None:
        if transaction.one(f"SELECT 1 FROM {table} WHERE name = ?", values[0]) is not None:  # noqa: S608
            raise ParameterError("name", "be new", repr(values[0]), "Choose another name.")
        places = ", ".join("?" for _ in values)
        transaction.run(f"INSERT INTO {table} VALUES ({places})", *values)  # noqa: S608

    database.write(job)


def _survey(row: tuple[Any, ...]) -> SurveyEntry:
    name, document, store, public, state, page = row
    return SurveyEntry(
        name=name, document=document, store=store, public=bool(public), state=state, page=page
    )


def _frozen(one: SurveyEntry) -> tuple[str, ...]:
    """Return what an open survey keeps."""
    return one.document, one.store, one.page


def _survey_values(one: SurveyEntry) -> tuple[object, ...]:
    return one.document, one.store, int(one.public), one.state, one.page
