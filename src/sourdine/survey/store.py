"""`SurveyStore`: what a collector keeps of a survey, in one SQLite file.

==============  ================================================================================
``survey``      the frozen document, its fingerprint, whether it is open, how many people counted
``inbox``       records that are accepted and not yet counted, for a second or so
``tallies``     for each column the tally of its reports: an aggregator's state
``ids``         the ids of the records counted, so that each counts once
``tickets``     the SHA-256 of the one-time codes that are not spent yet
==============  ================================================================================

No table has row numbers, and none has a time or an address: `inbox` and `ids` stand in the order
of random ids, so the file does not say who came first. A spent ticket is deleted, in the
transaction that accepts its record; the two are never in one row. What is deleted is overwritten
with zeros, and the journal is cut to nothing after each commit. *Checked by*
``test_nothing_in_the_file_links``. The file system below may keep old blocks, and who copies the
file twice a second can compare the copies: no file prevents that.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import integer
from sourdine.local import Aggregator
from sourdine.local.reports import form_of, read_each, to_lines
from sourdine.local.reports.records import ID
from sourdine.local.table.estimating.estimates import Estimates
from sourdine.survey.document import Survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

__all__ = ["Outcome", "Posted", "SurveyStore"]

APPLICATION = 0x536F7576
"""What marks a file as a survey's store."""
VERSION = 1
MOST_TICKETS = 1_000_000
CODE = 15
"""Bytes of a ticket: 120 bits, 20 letters."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
CELLS = np.dtype("<i8")

TABLES = """
CREATE TABLE survey (name TEXT PRIMARY KEY, document TEXT NOT NULL, fingerprint TEXT NOT NULL,
  state TEXT NOT NULL, tickets INTEGER NOT NULL, people INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE inbox (id BLOB PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tallies (name TEXT PRIMARY KEY, reports INTEGER NOT NULL, cells BLOB NOT NULL)
  WITHOUT ROWID;
CREATE TABLE ids (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE tickets (code BLOB PRIMARY KEY) WITHOUT ROWID;
"""
KEEP = (
    "INSERT OR IGNORE INTO inbox SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ids WHERE id = ?1)"
)
KNOWN = "SELECT 1 FROM inbox WHERE id = ?1 UNION ALL SELECT 1 FROM ids WHERE id = ?1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """What somebody sent: lines, and the ticket if there is one."""

    lines: Sequence[bytes]
    ticket: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it.

    Parameters
    ----------
    accepted
        How many records are kept, those among them that were kept before.
    refused
        How many lines are not, by the reason, which is public.
    """

    accepted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)


class SurveyStore:
    """The file of one survey.

    Whatever changes it is one transaction, on the disk when the call returns. Several processes
    may use one file.

    Parameters
    ----------
    path
        A file that `create` made.

    Notes
    -----
    *Claim*: an accepted record counts, once, whenever the process is killed. *Checked by*
    ``test_killed_again_and_again_every_record_counts_once``.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ParameterError(
                "store", "name a file that exists", repr(str(path)), "Type: sourdine survey open."
            )
        self._db = _connected(self.path)
        try:
            version = self._one("PRAGMA user_version")[0]
            if self._one("PRAGMA application_id")[0] != APPLICATION or version != VERSION:
                raise sqlite3.DatabaseError  # noqa: TRY301 - one way to refuse a file
            document = self._one("SELECT document FROM survey")[0]
        except (sqlite3.DatabaseError, TypeError):
            self.close()
            raise ParameterError(
                "store",
                "be a file that sourdine survey open made",
                repr(str(path)),
                "Check the name, or restore it from a copy.",
            ) from None
        self.survey = Survey.from_facts(json.loads(document))
        self.form = form_of(self.survey.schema)

    @classmethod
    def create(
        cls, path: str | PathLike[str], survey: Survey, *, tickets: int = 0
    ) -> tuple[SurveyStore, list[str]]:
        """Freeze a survey into a new file; return its store, and the tickets.

        The tickets stand nowhere else: the file holds their SHA-256.

        Parameters
        ----------
        path
            The new file.
        survey
            What is asked; it cannot be changed any more.
        tickets
            How many one-time codes to make; 0 for a survey that whoever has the address can answer.
        """
        count = integer(tickets, "tickets", least=0)
        if count > MOST_TICKETS:
            raise ParameterError(
                "tickets", f"be at most {MOST_TICKETS}", str(count), "Type {tickets}.", tickets=500
            )
        file = Path(path)
        try:
            file.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise ParameterError(
                "store", "be a new file", f"{str(path)!r}, which exists", "Type another name."
            ) from None
        except OSError as error:
            raise SourdineError(f"{file} could not be written: {error.strerror}.") from None
        codes = [secrets.token_urlsafe(CODE) for _ in range(count)]
        _fill(file, survey, codes)
        return cls(file), codes

    def _one(self, query: str) -> Any:  # noqa: ANN401 - SQLite's own
        return self._db.execute(query).fetchone()

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
        return tuple(self._one("SELECT tickets, (SELECT count(*) FROM tickets) FROM survey"))

    def accept(self, posts: Sequence[Posted]) -> list[Outcome]:
        """Keep the records among what was sent, in one transaction.

        A record that is known is accepted again and counts once; it needs no ticket again.
        """
        lines = [line for post in posts for line in post.lines]
        records, reasons = read_each(self.form, lines)
        ids = [row.tobytes() for row in records.id_bytes()]
        kept, reason = iter(zip(ids, to_lines(records), strict=True)), iter(reasons)
        outcomes = []
        with _transaction(self._db):
            state, tickets = self._one("SELECT state, tickets FROM survey")
            for post in posts:
                why = Counter(r.value for r in (next(reason) for _ in post.lines) if r)
                mine = [next(kept) for _ in range(len(post.lines) - why.total())]
                if state != "open":
                    outcomes.append(Outcome(refused={"closed": len(post.lines)}))
                elif tickets:
                    outcomes.append(self._ticketed(post, mine, why))
                else:
                    self._db.executemany(KEEP, mine)
                    outcomes.append(Outcome(accepted=len(mine), refused=why))
        return outcomes

    def _ticketed(self, post: Posted, mine: list[tuple[bytes, str]], why: Counter[str]) -> Outcome:
        """Keep one record for one ticket."""
        if len(mine) != 1 or why:
            return Outcome(refused=why or {"one record for each ticket": len(mine)})
        if self._db.execute(KNOWN, mine[0][:1]).fetchone() is None:
            code = _hash(post.ticket or "")
            if self._db.execute("DELETE FROM tickets WHERE code = ?", (code,)).rowcount != 1:
                return Outcome(refused={"no ticket, or a spent one": 1})
            self._db.execute(KEEP, mine[0])
        return Outcome(accepted=1)

    def fold(self) -> int:
        """Count what was accepted and forget it; return how many people are counted in all."""
        if self._one("SELECT 1 FROM inbox LIMIT 1") is None:
            return self.people
        with _transaction(self._db):
            self._fold()
        return self.people

    def _fold(self) -> None:
        lines = [line for (line,) in self._db.execute("SELECT line FROM inbox")]
        part = Aggregator(self.survey.schema, remember="none")
        counted = part.add(lines).accepted
        tallies, _ = self.tallies()
        for name, cells in tallies.items():
            total = (cells + part.tally(name)).astype(CELLS).tobytes()
            new = (part.reports(name), total, name)
            self._db.execute(
                "UPDATE tallies SET reports = reports + ?, cells = ? WHERE name = ?", new
            )
        self._db.execute("INSERT INTO ids SELECT id FROM inbox")
        self._db.execute("DELETE FROM inbox")
        self._db.execute("UPDATE survey SET people = people + ?", (counted,))

    def end(self) -> None:
        """Close the survey for good: what was accepted is counted, nothing more is."""
        with _transaction(self._db):
            self._fold()
            self._db.execute("UPDATE survey SET state = 'closed'")
            self._db.execute("DELETE FROM tickets")

    def tallies(self) -> tuple[dict[str, NDArray[np.int64]], dict[str, int]]:
        """Return for each column the tally of the reports counted, and how many there are."""
        rows = self._db.execute("SELECT name, reports, cells FROM tallies").fetchall()
        cells = {name: np.frombuffer(blob, CELLS).astype(np.int64) for name, _, blob in rows}
        return cells, {name: reports for name, reports, _ in rows}

    def estimates(self) -> Estimates:
        """Return what the records counted say; see `sourdine.local.Estimates`."""
        tallies, counts = self.tallies()
        return Estimates(schema=self.survey.schema, use="report", tallies=tallies, counts=counts)

    def aggregator(self) -> Aggregator:
        """Return everything counted as an aggregator, which can be saved and added to others."""
        with _transaction(self._db):
            tallies, counts = self.tallies()
            ids = b"".join(one for (one,) in self._db.execute("SELECT id FROM ids"))
        found = np.frombuffer(ids, ID)
        return Aggregator.of_tallies(self.survey.schema, tallies, counts, found)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _hash(code: str) -> bytes:
    return sha256(code.encode()).digest()


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    for setting in (
        *("secure_delete = ON", "synchronous = FULL", "temp_store = MEMORY"),
        "journal_mode = TRUNCATE",
    ):
        with suppress(sqlite3.DatabaseError):  # another kind of file, which is refused later
            db.execute(f"PRAGMA {setting}")
    return db


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _fill(path: Path, survey: Survey, codes: list[str]) -> None:
    """Make the tables of a survey that nobody has answered."""
    document = json.dumps(survey.facts(), sort_keys=True)
    frozen = (survey.name, document, survey.fingerprint, "open", len(codes), 0)
    with closing(_connected(path)) as db, _transaction(db):
        for statement in TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("INSERT INTO survey VALUES (?, ?, ?, ?, ?, ?)", frozen)
        db.executemany("INSERT INTO tickets VALUES (?)", [(_hash(code),) for code in codes])
        for name, mechanism in form_of(survey.schema).randomisers.items():
            empty = np.zeros(mechanism.cells, CELLS).tobytes()
            db.execute("INSERT INTO tallies VALUES (?, 0, ?)", (name, empty))
