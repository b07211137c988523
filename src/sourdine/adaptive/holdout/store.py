"""Where a guard keeps its labels, the predictions that hold, and the leaderboard."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.losses import loss_of
from sourdine.adaptive.ledger.transaction import GROWTH
from sourdine.errors import ExistingFileError, MissingFileError
from sourdine.storage.journal import FileKind, Journal

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.losses import Loss
    from sourdine.adaptive.ledger.ledger import TranscriptLedger
    from sourdine.adaptive.ledger.transaction import Turn
    from sourdine.storage.journal import Row


FINAL = "final"
"""What the last answer of a guard is called in its ledger."""

GUARD = FileKind(noun="guard", mark="guard", version=2, rights=0o600)
LABELS, CONFIRMED, BOARD, SUBMISSIONS = "labels", "confirmed", "board", "submissions"


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission to the leaderboard.

    Parameters
    ----------
    name
        Whose it is.
    rung
        The step of the ladder that it reached; None if it does not lead.
    score
        What was shown; None if it does not lead.
    bits
        What the answer cost.
    """

    name: str
    rung: int | None
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

    def added(self, turn: Turn, n: int) -> list[Labels]:
        """Return labels that others added after the first ``n``."""

    def extend(self, turn: Turn, n: int, labels: Labels, continued: Labels | None) -> None:
        """Keep labels of new rows, ``n`` rows in all, and what the predictions that hold say."""

    def step(self, turn: Turn) -> Fraction | None:
        """Return the step of the leaderboard; None before it was begun."""

    def begin_board(self, turn: Turn, step: Fraction) -> None:
        """Begin the leaderboard."""

    def entries(self, turn: Turn) -> list[Entry]:
        """Return all submissions to the leaderboard."""

    def enter(self, turn: Turn, entry: Entry) -> None:
        """Keep a submission that was charged before."""


@dataclass(slots=True)
class MemoryStore:
    """It ends with the process."""

    held: Labels | None = None
    steps: Fraction | None = field(default=None, init=False)
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
        del turn
        return self.held

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        del turn, charge
        self.held = predictions

    def added(self, turn: Turn, n: int) -> list[Labels]:
        """Return none: nobody else has them."""
        del turn, n
        return []

    def extend(self, turn: Turn, n: int, labels: Labels, continued: Labels | None) -> None:
        """Count the rows, unless others who share the ledger have counted them."""
        del labels
        if n != turn.n:
            turn.grow(n)
        self.held = self.held and continued and self.held.joined(continued)

    def step(self, turn: Turn) -> Fraction | None:
        del turn
        return self.steps

    def begin_board(self, turn: Turn, step: Fraction) -> None:
        del turn
        self.steps = step

    def entries(self, turn: Turn) -> list[Entry]:
        del turn
        return list(self.board)

    def enter(self, turn: Turn, entry: Entry) -> None:
        del turn
        self.board.append(entry)


class FileStore:
    """In the file of the ledger, after the charge.

    What is written, and whether there is room for it, depends on the answer: were it written
    first, a full disk would tell the answer for nothing.
    """

    __slots__ = ()

    def closed(self, turn: Turn) -> bool:
        """Look for a final answer."""
        return any(row["what"] == FINAL for row in turn.transaction.rows("answers"))

    def confirmed(self, turn: Turn) -> Labels | None:
        """Return the predictions that hold, as far as they are known for all rows."""
        row = turn.transaction.last(CONFIRMED)
        held = None if row is None else _unpacked(row["predictions"])
        for added in turn.transaction.rows(GROWTH):
            if held is not None and len(held) == added["n"] - added["added"]:
                more = added["predictions"]
                held = None if more is None else held.joined(_unpacked(more))
        return held

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        turn.transaction.write(*_confirmed_line(charge, predictions))

    def added(self, turn: Turn, n: int) -> list[Labels]:
        return [_unpacked(row["labels"]) for row in turn.transaction.rows(GROWTH) if row["n"] > n]

    def extend(self, turn: Turn, n: int, labels: Labels, continued: Labels | None) -> None:
        """Write labels and predictions in one line: a crash leaves all of it, or nothing."""
        more = None if continued is None else _packed(continued)
        turn.grow(n, labels=_packed(labels), predictions=more)

    def step(self, turn: Turn) -> Fraction | None:
        row = turn.transaction.last(BOARD)
        return None if row is None else Fraction(row["step"])

    def begin_board(self, turn: Turn, step: Fraction) -> None:
        turn.transaction.write(BOARD, {"step": str(step)})

    def entries(self, turn: Turn) -> list[Entry]:
        return [entry_of(row) for row in turn.transaction.rows(SUBMISSIONS)]

    def enter(self, turn: Turn, entry: Entry) -> None:
        row = {"name": entry.name, "rung": entry.rung, "bits": entry.bits}
        if entry.score is not None:
            row |= {name: getattr(entry.score, name) for name in ("value", "lower", "upper")}
        turn.transaction.write(SUBMISSIONS, row)


def new_file(
    path: str | os.PathLike[str],
    ledger: TranscriptLedger,
    labels: Labels,
    loss: Loss,
    baseline: Labels | None,
) -> Journal:
    """Make the file, for its owner's eyes only, and refuse one that is there."""
    lines = [
        ledger.terms_line(),
        (LABELS, {"loss": loss.facts(), "packed": _packed(labels)}),
        *([] if baseline is None else [_confirmed_line(0, baseline)]),
    ]
    place = Path(os.fsdecode(path))
    try:
        return Journal(place, GUARD, lines, fresh=True)
    except FileExistsError:
        raise ExistingFileError(
            "path",
            "be a new file",
            str(place),
            "Open it, or choose another path.",
        ) from None


def old_file(path: str | os.PathLike[str]) -> Journal:
    if not (place := Path(os.fsdecode(path))).exists():
        raise MissingFileError(
            "guard",
            "exist",
            str(place),
            f"Create it with 'sourdine guard init labels.csv --out {place.name}' or "
            f"GuardedHoldout.create({place.name!r}, labels).",
        )
    return Journal(path, GUARD)


def labels_in(journal: Journal, n: int) -> tuple[Labels, Loss]:
    """Return the first ``n`` labels of a file and their loss."""
    row, more = journal.turn(
        lambda transaction: (transaction.last(LABELS) or {}, transaction.rows(GROWTH))
    )
    try:
        labels = _unpacked(row["packed"])
        for added in more:
            if added["n"] <= n:
                labels = labels.joined(_unpacked(added["labels"]))
        return labels, loss_of(row["loss"])
    except Exception:  # noqa: BLE001 - what is wrong with labels is not told
        raise journal.refusal("its labels cannot be read") from None


def _confirmed_line(answer: int, predictions: Labels) -> tuple[str, Row]:
    return CONFIRMED, {"answer": answer, "predictions": _packed(predictions)}


def _packed(labels: Labels) -> str:
    return b64encode(labels.packed()).decode()


def _unpacked(text: str) -> Labels:
    return Labels.unpacked(b64decode(text))


def entry_of(row: Row) -> Entry:
    """Return the submission that a line says."""
    bits, rung = row["bits"], row["rung"]
    if rung is None:
        return Entry(row["name"], None, None, bits)
    score = AdaptiveAnswer(row["value"], row["lower"], row["upper"], bits)
    return Entry(row["name"], rung, score, bits)
