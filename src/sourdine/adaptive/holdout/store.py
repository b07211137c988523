"""Where a guard keeps its labels, the predictions that hold, and the leaderboard."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.losses import loss_of
from sourdine.adaptive.ledger import LEDGER_TABLES
from sourdine.append_only import Book, FileKind, only_grows, only_one
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from sqlite3 import Connection

    from sourdine.adaptive.holdout.losses import Loss
    from sourdine.adaptive.ledger import TranscriptLedger, Turn

__all__ = [
    "FINAL",
    "Entry",
    "FileStore",
    "MemoryStore",
    "Store",
    "labels_in",
    "new_file",
    "old_file",
]

FINAL = "final"
"""What the last answer of a guard is called in its ledger."""

GUARD = FileKind(
    noun="guard",
    mark=b"SouG",
    version=1,
    schema=f"""{LEDGER_TABLES}
CREATE TABLE labels (loss TEXT NOT NULL, packed BLOB NOT NULL);
CREATE TABLE confirmed (
    number INTEGER PRIMARY KEY, answer INTEGER NOT NULL, predictions BLOB NOT NULL
);
CREATE TABLE submissions (
    number INTEGER PRIMARY KEY, answer INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    lower REAL, upper REAL, bits REAL NOT NULL, predictions BLOB
);
{only_one("labels")}{only_grows("confirmed")}{only_grows("submissions")}""",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission to the leaderboard: its name, its score if it was shown, and its bits."""

    name: str
    score: AdaptiveAnswer | None
    bits: float


class Store(Protocol):
    """What a guard remembers besides its labels; all of it is known to the analyst."""

    def closed(self, turn: Turn) -> bool:
        """Return whether the final answer was given."""

    def confirmed(self, turn: Turn) -> Labels | None:
        """Return the predictions confirmed last, or the baseline."""

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        """Keep predictions that were confirmed by an answer charged before."""

    def entries(self, turn: Turn) -> list[Entry]:
        """Return all submissions to the leaderboard."""

    def leader(self, turn: Turn) -> Labels | None:
        """Return the predictions whose score was shown last."""

    def enter(self, turn: Turn, charge: int, entry: Entry, predictions: Labels) -> None:
        """Keep a submission that was charged before, with its predictions if it leads."""


@dataclass(slots=True)
class MemoryStore:
    """It ends with the process."""

    held: Labels | None = None
    best: Labels | None = field(default=None, init=False)
    board: list[Entry] = field(default_factory=list, init=False)
    looked: int = field(default=0, init=False)
    over: bool = field(default=False, init=False)

    def closed(self, turn: Turn) -> bool:
        """Look for a final answer among the lines that were not looked at before."""
        lines = turn.history()[self.looked :]
        self.looked += len(lines)
        self.over |= any(line.what == FINAL for line in lines)
        return self.over

    def confirmed(self, turn: Turn) -> Labels | None:
        """Return the predictions that hold."""
        del turn
        return self.held

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        """Keep them."""
        del turn, charge
        self.held = predictions

    def entries(self, turn: Turn) -> list[Entry]:
        """Return all submissions."""
        del turn
        return list(self.board)

    def leader(self, turn: Turn) -> Labels | None:
        """Return the leader's predictions."""
        del turn
        return self.best

    def enter(self, turn: Turn, charge: int, entry: Entry, predictions: Labels) -> None:
        """Keep a submission."""
        del turn, charge
        self.board.append(entry)
        if entry.score is not None:
            self.best = predictions


class FileStore:
    """In the file of the ledger, but never in the transaction of a charge.

    What is written, and whether there is room for it, depends on the answer: were both to fail
    together, a full disk would tell the answer for nothing.
    """

    __slots__ = ()

    def closed(self, turn: Turn) -> bool:
        """Look for a final answer."""
        asked = "SELECT EXISTS (SELECT 1 FROM answers WHERE what = ?)"
        return bool(turn.connection.execute(asked, (FINAL,)).fetchone()[0])

    def confirmed(self, turn: Turn) -> Labels | None:
        """Return the predictions that hold."""
        return _last(turn.connection, "confirmed")

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        """Write them."""
        write_confirmed(turn.connection, charge, predictions)

    def entries(self, turn: Turn) -> list[Entry]:
        """Read all submissions."""
        rows = turn.connection.execute(
            "SELECT name, value, lower, upper, bits FROM submissions ORDER BY number"
        )
        return [
            Entry(name, None if value is None else AdaptiveAnswer(value, lower, upper, bits), bits)
            for name, value, lower, upper, bits in rows
        ]

    def leader(self, turn: Turn) -> Labels | None:
        """Read the leader's predictions."""
        return _last(turn.connection, "submissions")

    def enter(self, turn: Turn, charge: int, entry: Entry, predictions: Labels) -> None:
        """Write a submission."""
        score = entry.score
        shown = (None,) * 3 if score is None else (score.value, score.lower, score.upper)
        turn.connection.execute(
            "INSERT INTO submissions SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ? "
            "FROM submissions",
            (
                charge,
                entry.name,
                *shown,
                entry.bits,
                None if score is None else predictions.packed(),
            ),
        )


def new_file(
    path: str | os.PathLike[str],
    ledger: TranscriptLedger,
    labels: Labels,
    loss: Loss,
    baseline: Labels | None,
) -> Book:
    """Make the file, for its owner's eyes only, and refuse one that is there."""
    facts = json.dumps(loss.facts(), sort_keys=True)

    def begin(connection: Connection) -> None:
        ledger.write_terms(connection)
        connection.execute("INSERT INTO labels VALUES (?, ?)", (facts, labels.packed()))
        if baseline is not None:
            write_confirmed(connection, 0, baseline)

    place = Path(os.fsdecode(path))
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise ParameterError(
            "path",
            "be that of a new file",
            f"{place}, which exists",
            "Open that one, or type another path.",
        ) from None
    except OSError as error:
        raise ParameterError(
            "path",
            "be a place where a file can be made",
            f"{place} ({error.strerror})",
            "Type the path of a new file, such as 'eval.guard'.",
        ) from None
    try:
        return Book(place, GUARD, begin)
    except BaseException:
        place.unlink(missing_ok=True)
        raise


def old_file(path: str | os.PathLike[str]) -> Book:
    """Open a file that is there."""
    if not (place := Path(os.fsdecode(path))).exists():
        raise ParameterError(
            "guard",
            "be the path of a guard's file",
            f"{place} (no such file)",
            f"Make one with 'sourdine guard init labels.csv --out {place.name}' or "
            f"GuardedHoldout.create({place.name!r}, labels).",
        )
    return Book(path, GUARD)


def labels_in(book: Book) -> tuple[Labels, Loss]:
    """Return the labels of a file and their loss."""
    with book.turn() as connection:
        row = connection.execute("SELECT loss, packed FROM labels").fetchone()
    try:
        facts, packed = row
        return Labels.unpacked(packed), loss_of(json.loads(facts))
    except Exception:  # noqa: BLE001 - what is wrong with labels is not told
        raise book.refusal("its labels cannot be read") from None


def write_confirmed(connection: Connection, answer: int, predictions: Labels) -> None:
    """Write predictions that hold from now on."""
    connection.execute(
        "INSERT INTO confirmed SELECT coalesce(max(number), 0) + 1, ?, ? FROM confirmed",
        (answer, predictions.packed()),
    )


def _last(connection: Connection, table: str) -> Labels | None:
    row = connection.execute(
        f"SELECT predictions FROM {table} WHERE predictions IS NOT NULL "  # noqa: S608 - ours
        "ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return None if row is None else Labels.unpacked(row[0])
