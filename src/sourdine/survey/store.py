"""`SurveyStore`: what a collector keeps, written by one thread for all requests."""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import sqlite3
from collections import Counter
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np

from sourdine.errors import ExistingFileError, MissingFileError, ParameterError, SourdineError
from sourdine.exact import integer
from sourdine.local import Aggregator
from sourdine.local.reports.records import ID, read_each, to_lines
from sourdine.local.reports.sources import form_of
from sourdine.local.table.estimates import Estimates
from sourdine.storage.database import Address, Dialect, SharedDatabase, SqliteDialect
from sourdine.survey.document import STORE, STORE_VERSION, Survey
from sourdine.survey.form import form_for_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from sourdine.local.reports.records import Reason
    from sourdine.storage.database import Transaction


# ---- The tables of a survey in an SQLite file ----------------------------------------------------


class Tables(Dialect, Protocol):
    """A dialect that can also make the tables of a survey, and forget what was deleted."""

    settling: tuple[str, ...]
    """Statements after a transaction that let go of what was deleted, as far as possible."""

    def make(self, rows: Transaction, tables: Sequence[str]) -> None:
        """Make the tables of a store, and mark it as one."""

    def made(self, rows: Transaction) -> bool:
        """Return whether `make` made it."""

    def mix(self, rows: Transaction, table: str) -> None:
        """Let a table of one column forget in which order it came."""


class SqliteTables(SqliteDialect):
    """A survey's tables in one file.

    No table has row numbers: rows stand in the order of their keys. What is deleted is overwritten
    with zeros, and the journal is cut to nothing after each commit.
    """

    settings = (
        *("secure_delete = ON", "synchronous = FULL", "temp_store = MEMORY"),
        "journal_mode = TRUNCATE",
    )
    settling: tuple[str, ...] = ()

    def connect(self) -> sqlite3.Connection:
        """Return a connection to an existing file, or refuse one that is no database."""
        try:
            return super().connect()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            raise not_a_store(str(self.path)) from None

    def make(self, rows: Transaction, tables: Sequence[str]) -> None:
        """Make the tables, and mark the file."""
        for table in tables:
            rows.run(f"CREATE TABLE {table} WITHOUT ROWID")
        rows.run(f"PRAGMA application_id = {STORE}")
        rows.run(f"PRAGMA user_version = {STORE_VERSION}")

    def made(self, rows: Transaction) -> bool:
        """Return whether `make` made it."""
        marks = rows.one("PRAGMA application_id"), rows.one("PRAGMA user_version")
        return marks == ((STORE,), (STORE_VERSION,))

    def mix(self, rows: Transaction, table: str) -> None:
        """Do nothing: rows stand in the order of their keys."""


def not_a_store(shown: str) -> ParameterError:
    """Return what is said of a place that `Tables.make` did not make."""
    return ParameterError(
        "store", "be a store created by sourdine survey open", repr(shown),
        "Check the path, or restore it from a copy.",
    )  # fmt: skip


def new_file(path: Path) -> None:
    """Make an empty file that only its owner reads."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise ExistingFileError(
            "store", "be a new file", str(path), "Choose another name."
        ) from None
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


# ---- `SurveyStore`: what a collector keeps of a survey, in an SQLite file or in PostgreSQL -------
#
# ``survey``      the frozen document, its fingerprint, whether it is open, how many people counted
# ``inbox``       records that are accepted and not yet counted, for a second or so
# ``tallies``     for each column the tally of its reports: an aggregator's state
# ``ids``         the ids of the records counted, so that each counts once
# ``tickets``     the SHA-256 of the one-time codes that are not spent yet
#
# No table has row numbers, and none has a time or an address: ``inbox`` and ``ids`` stand in order
# of random ids, so a file does not say who came first. A spent ticket is deleted, in the
# transaction that accepts its record; the two are never in one row, and those of one commit are
# written in the order of their random keys. How well the database forgets is its own matter: see
# `SqliteTables` and `sourdine.survey.postgres_database`. *Checked by*
# ``test_nothing_in_the_tables_links``. The file system below may keep old blocks, and who copies a
# file twice a second can compare the copies: no database prevents that.


POSTGRES = ("postgresql://", "postgres://")
PASSWORD = re.compile(r"(?<=//)([^/@:]*):[^/@]*(?=@)|(?<=[?&])password=[^&]*&?")
MOST_TICKETS = 1_000_000
CODE = 15
"""Bytes of a ticket: 120 bits, 20 letters."""
CELLS = np.dtype("<i8")

TABLES = (
    (
        "survey (name TEXT PRIMARY KEY, document TEXT NOT NULL, fingerprint TEXT NOT NULL, "
        "state TEXT NOT NULL, tickets INTEGER NOT NULL, people INTEGER NOT NULL)"
    ),
    "inbox (id BLOB PRIMARY KEY, line TEXT NOT NULL)",
    "tallies (name TEXT PRIMARY KEY, reports INTEGER NOT NULL, cells BLOB NOT NULL)",
    "ids (id BLOB PRIMARY KEY)",
    "tickets (code BLOB PRIMARY KEY)",
)
KEEP = (
    "INSERT INTO inbox SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM ids WHERE id = ?) "
    "ON CONFLICT DO NOTHING"
)
KNOWN = "SELECT 1 FROM inbox WHERE id = ? UNION ALL SELECT 1 FROM ids WHERE id = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """What somebody sent: lines, and the ticket if there is one."""

    lines: Sequence[bytes]
    ticket: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it."""

    accepted: int = 0
    """How many records are kept, those among them that were kept before."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """How many lines are not, by the reason, which is public."""


class SurveyStore:
    """The tables of one survey.

    Whatever changes them is one transaction, on the disk when the call returns. Several processes
    may use one store.

    Parameters
    ----------
    place
        A file, or the address of a database in PostgreSQL, that `create` filled.

    Notes
    -----
    *Claim*: an accepted record counts, once, whenever the process is killed. *Checked by*
    ``test_killed_again_and_again_every_record_counts_once``.
    """

    def __init__(self, place: str | PathLike[str]) -> None:
        self.place = os.fspath(place)
        address, kind = _kept(self.place)
        self._tables = kind(address)
        if address.is_file and not address.path.is_file():
            raise MissingFileError(
                "store", "exist", self.place, "Create it with sourdine survey open."
            )
        self._db = SharedDatabase(address, dialect=kind)
        if not self._db.read(self._tables.made):
            self.close()
            raise not_a_store(self.shown)
        document = self._one("SELECT document FROM survey")[0]
        self.survey = Survey.from_facts(json.loads(document), frozen=True)
        self.form = form_of(self.survey.schema)

    @classmethod
    def create(
        cls, place: str | PathLike[str], survey: Survey, *, tickets: int = 0
    ) -> tuple[SurveyStore, list[str]]:
        """Freeze a survey into a new store; return it, and the tickets.

        The tickets stand nowhere else: the store holds their SHA-256.

        Parameters
        ----------
        place
            A new file, or ``postgresql://...`` of a database without a survey.
        survey
            What is asked; it cannot be changed any more.
        tickets
            How many one-time codes to make; 0 for a survey open to all who have the address.
        """
        count = integer(tickets, "tickets", least=0)
        if count > MOST_TICKETS:
            raise ParameterError("tickets", f"be at most {MOST_TICKETS}", str(count), tickets=500)
        form_for_device(survey.schema)  # of several rounds it is one
        codes = [secrets.token_urlsafe(CODE) for _ in range(count)]
        address, kind = _kept(os.fspath(place))
        if address.is_file:
            new_file(Path(place))
        with closing(SharedDatabase(address, dialect=kind)) as db:
            db.write(lambda rows: _fill(rows, kind(address), survey, codes))
        return cls(place), codes

    @property
    def shown(self) -> str:
        """The place without a password."""
        if not self.place.startswith(POSTGRES):
            return self.place
        return PASSWORD.sub(lambda found: found[1] or "", self.place)

    def _one(self, query: str) -> tuple[Any, ...]:
        [found] = self._db.read(lambda rows: rows.all(query))
        return found

    @property
    def state(self) -> str:
        """``"open"`` or ``"closed"``."""
        return str(self._one("SELECT state FROM survey")[0])

    @property
    def people(self) -> int:
        """How many records were counted."""
        return int(self._one("SELECT people FROM survey")[0])

    @property
    def tickets(self) -> tuple[int, int]:
        """How many tickets there were, and how many are left."""
        made, left = self._one("SELECT tickets, (SELECT count(*) FROM tickets) FROM survey")
        return made, left

    def accept(self, posts: Sequence[Posted]) -> list[Outcome]:
        """Keep the records among what was sent, in one transaction.

        A record that is known is accepted again and counts once; it needs no ticket again.
        """
        lines = [line for post in posts for line in post.lines]
        records, reasons = read_each(self.form, lines)
        ids = [row.tobytes() for row in records.id_bytes()]
        read = list(zip(ids, to_lines(records), strict=True))
        return self._db.write(lambda rows: self._keep(rows, posts, iter(read), iter(reasons)))

    def _keep(
        self,
        rows: Transaction,
        posts: Sequence[Posted],
        read: Iterator[tuple[bytes, str]],
        reasons: Iterator[Reason | None],
    ) -> list[Outcome]:
        [[state, tickets]] = rows.all("SELECT state, tickets FROM survey")
        outcomes, new = [], dict[bytes, str]()
        for post in posts:
            why = Counter(r.value for r in (next(reasons) for _ in post.lines) if r)
            mine = [next(read) for _ in range(len(post.lines) - why.total())]
            if state != "open":
                outcomes.append(Outcome(refused={"closed": len(post.lines)}))
            elif tickets:
                outcomes.append(_ticketed(rows, post, mine, why, new))
            else:
                for one, line in mine:
                    new.setdefault(one, line)
                outcomes.append(Outcome(accepted=len(mine), refused=why))
        rows.each(KEEP, [(one, new[one], one) for one in sorted(new)])
        return outcomes

    def fold(self) -> int:
        """Count what was accepted and forget it; return how many people are counted in all."""
        if self._db.read(lambda rows: rows.one("SELECT 1 FROM inbox LIMIT 1")):
            self._db.write(self._fold)
            self._settle()
        return self.people

    def _fold(self, rows: Transaction) -> None:
        lines = [line for (line,) in rows.all("SELECT line FROM inbox ORDER BY id")]
        part = Aggregator(self.survey.schema, remember="none")
        counted = part.add(lines).accepted
        [[before]] = rows.all("SELECT people FROM survey")
        for name, cells in _tallies(rows)[0].items():
            total = (cells + part.tally(name)).astype(CELLS).tobytes()
            rows.run(
                "UPDATE tallies SET reports = reports + ?, cells = ? WHERE name = ?",
                *(part.reports(name), total, name),
            )
        rows.run("INSERT INTO ids SELECT id FROM inbox ORDER BY id")
        rows.run("DELETE FROM inbox")
        rows.run("UPDATE survey SET people = people + ?", counted)
        if before.bit_length() < (before + counted).bit_length():
            self._tables.mix(rows, "ids")

    def end(self) -> None:
        """Close the survey for good: what was accepted is counted, nothing more is."""

        def job(rows: Transaction) -> None:
            self._fold(rows)
            self._tables.mix(rows, "ids")
            rows.run("UPDATE survey SET state = 'closed'")
            rows.run("DELETE FROM tickets")

        self._db.write(job)
        self._settle()

    def _settle(self) -> None:
        if self._tables.settling:
            self._db.outside(*self._tables.settling)

    def estimates(self) -> Estimates:
        """Return what the records counted say; see `sourdine.local.Estimates`."""
        tallies, counts = self._db.read(_tallies)
        return Estimates(schema=self.survey.schema, use="report", tallies=tallies, counts=counts)

    def aggregator(self) -> Aggregator:
        """Return everything counted as an aggregator, which can be saved and added to others."""
        (tallies, counts), ids = self._db.read(
            lambda rows: (_tallies(rows), rows.all("SELECT id FROM ids ORDER BY id"))
        )
        found = np.frombuffer(b"".join(one for (one,) in ids), ID)
        return Aggregator.of_tallies(self.survey.schema, tallies, counts, found)

    def backup(self, path: Path) -> None:
        """Write a copy of what is committed to a new file, while others go on."""
        self._db.backup(path)

    def close(self) -> None:
        """Let go of the database."""
        self._db.close()


def _kept(place: str) -> tuple[Address, Callable[[Address], Tables]]:
    """Return the address of a store, and the dialect of its database."""
    if not place.startswith(POSTGRES):
        return Address(f"sqlite:///{quote(place)}"), SqliteTables
    from sourdine.survey.postgres_database import PostgresTables

    return Address(place), PostgresTables


def _tallies(rows: Transaction) -> tuple[dict[str, NDArray[np.int64]], dict[str, int]]:
    """Return for each column the tally of the reports counted, and how many there are."""
    found = rows.all("SELECT name, reports, cells FROM tallies")
    cells = {name: np.frombuffer(blob, CELLS).astype(np.int64) for name, _, blob in found}
    return cells, {name: reports for name, reports, _ in found}


def _ticketed(
    rows: Transaction,
    post: Posted,
    mine: list[tuple[bytes, str]],
    why: Counter[str],
    new: dict[bytes, str],
) -> Outcome:
    """Take one record for one ticket."""
    if len(mine) != 1 or why:
        return Outcome(refused=why or {"one record for each ticket": len(mine)})
    [(one, line)] = mine
    if one not in new and not rows.one(KNOWN, one, one):
        if rows.run("DELETE FROM tickets WHERE code = ?", _hash(post.ticket or "")) != 1:
            return Outcome(refused={"no ticket, or a spent one": 1})
        new[one] = line
    return Outcome(accepted=1)


def _hash(code: str) -> bytes:
    return sha256(code.encode()).digest()


def _fill(rows: Transaction, tables: Tables, survey: Survey, codes: list[str]) -> None:
    """Make the tables of a survey that nobody has answered."""
    document = json.dumps(survey.facts(), sort_keys=True)
    frozen = (survey.name, document, survey.fingerprint, "open", len(codes), 0)
    tables.make(rows, TABLES)
    rows.run("INSERT INTO survey VALUES (?, ?, ?, ?, ?, ?)", *frozen)
    rows.each("INSERT INTO tickets VALUES (?)", sorted((_hash(code),) for code in codes))
    for name, mechanism in form_of(survey.schema).randomisers.items():
        empty = np.zeros(mechanism.cells, CELLS).tobytes()
        rows.run("INSERT INTO tallies VALUES (?, 0, ?)", name, empty)


# ---- One thread writes for everybody: what waits for the disk together shares a commit -----------
#
# The database commits several jobs together by itself, but one after the other. Here posts are read
# as one block, and their records are written in the order of random keys, as one job: else the
# order of rows would tell which ticket was spent for which record.


TOGETHER = 1024
"""Posts in one transaction, and lines after which it takes no more."""
LAST = 1 << 62
"""More lines than any post has: what is asked to stop comes after all that waits."""

Waiting = tuple[Posted, Future[Outcome]]


class PostQueue:
    """Keeps what is posted, many posts to a commit, and counts it each ``every`` seconds.

    Short posts come first: one person's record does not wait for the batches that others sent.
    `stop` does not close the store.
    """

    def __init__(self, store: SurveyStore, *, every: float = 1.0) -> None:
        self.every = every
        self._waiting: queue.PriorityQueue[tuple[int, int, Waiting | None]] = queue.PriorityQueue()
        self._order = count()
        self._store = store
        self.people = store.fold()
        self._thread = Thread(target=self._run, name="survey store")
        self._thread.start()

    def post(self, posted: Posted) -> Future[Outcome]:
        """Return what will become of a post; it is there when the disk has it."""
        waits: Future[Outcome] = Future()
        self._waiting.put((len(posted.lines), next(self._order), (posted, waits)))
        return waits

    def stop(self) -> None:
        """Write and count what is left."""
        self._waiting.put((LAST, next(self._order), None))
        self._thread.join()

    def _run(self) -> None:
        due, going = monotonic() + self.every, True
        while going:
            posts, going = self._next(max(0.0, due - monotonic()))
            if posts:
                self._commit(posts)
            if not going or monotonic() >= due:
                self._count()
                due = monotonic() + self.every

    def _next(self, timeout: float) -> tuple[list[Waiting], bool]:
        """Return all that waits, and whether more may come."""
        posts: list[Waiting] = []
        lines = 0
        while len(posts) < TOGETHER and lines < TOGETHER:
            try:
                size, _, one = self._waiting.get(block=not posts, timeout=timeout)
            except queue.Empty:
                break
            if one is None:
                return posts, False
            lines += size
            if one[1].set_running_or_notify_cancel():
                posts.append(one)
        return posts, True

    def _commit(self, posts: list[Waiting]) -> None:
        try:
            outcomes = self._store.accept([posted for posted, _ in posts])
        except Exception as error:  # noqa: BLE001 - the waiting requests must hear of it
            for _, waits in posts:
                waits.set_exception(error)
            return
        for (_, waits), outcome in zip(posts, outcomes, strict=True):
            waits.set_result(outcome)

    def _count(self) -> None:
        try:
            self.people = self._store.fold()
        except SourdineError:
            return  # the inbox stays as it is, and is counted next time
