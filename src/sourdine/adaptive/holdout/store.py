"""Where a guard keeps its labels, the predictions that hold, and the leaderboard."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.losses import loss_of
from sourdine.adaptive.ledger.transaction import ANSWERS, GROWTH
from sourdine.errors import ExistingFileError, MissingFileError
from sourdine.storage.journal import FileKind, Journal

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.losses import Loss
    from sourdine.adaptive.ledger.ledger import TranscriptLedger
    from sourdine.adaptive.ledger.transaction import MemoryTransaction, Turn
    from sourdine.storage.journal import AnyTransaction, Row


FINAL = "final"
"""What the last answer of a guard is called in its ledger."""

GUARD = FileKind(noun="guard", mark="guard", version=2, rights=0o600)
LABELS, CONFIRMED, BOARD, SUBMISSIONS = "labels", "confirmed", "board", "submissions"


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission to the leaderboard.

    The rung of the ladder that it reached, and the score that was shown, are None if it does not
    lead.
    """

    name: str
    rung: int | None
    score: AdaptiveAnswer | None
    bits: float


class Store:
    """What a guard remembers besides its labels; all of it is known to the analyst.

    In the file of the ledger it is written after the charge. What is written, and whether there is
    room for it, depends on the answer: were it written first, a full disk would tell the answer for
    nothing. In memory it ends with the process, and labels are kept as they are.
    """

    __slots__ = ("_closed", "_looked", "memory")

    def __init__(self, memory: MemoryTransaction | None = None) -> None:
        self.memory = memory
        self._looked, self._closed = 0, False

    def _kept(self, turn: Turn) -> AnyTransaction:
        return turn.transaction if self.memory is None else self.memory

    def _as_kept(self, labels: Labels | None) -> Any:
        return _packed(labels) if labels is not None and self.memory is None else labels

    def closed(self, turn: Turn) -> bool:
        """Look for a final answer among the lines that were not looked at before."""
        rows = turn.transaction.rows(ANSWERS)
        self._closed |= any(row["what"] == FINAL for row in rows[self._looked :])
        self._looked = len(rows)
        return self._closed

    def confirmed(self, turn: Turn) -> Labels | None:
        """Return the predictions confirmed last, or the baseline, if known for all rows."""
        kept = self._kept(turn)
        row = kept.last(CONFIRMED)
        held = None if row is None else _unpacked(row["predictions"])
        for added in kept.rows(GROWTH):
            if held is not None and len(held) == added["n"] - added["added"]:
                more = added["predictions"]
                held = None if more is None else held.joined(_unpacked(more))
        return held

    def confirm(self, turn: Turn, charge: int, predictions: Labels) -> None:
        """Keep predictions that were confirmed by an answer charged before."""
        row = {"answer": charge, "predictions": self._as_kept(predictions)}
        if self.memory is None:
            turn.transaction.write(CONFIRMED, row)
        else:  # those before are not asked for again; an interrupt leaves them, or the new ones
            self.memory.tables[CONFIRMED] = [row]

    def added(self, turn: Turn, n: int) -> list[Labels]:
        """Return labels that others added after the first ``n``."""
        return [_unpacked(row["labels"]) for row in self._kept(turn).rows(GROWTH) if row["n"] > n]

    def extend(self, turn: Turn, n: int, labels: Labels, continued: Labels | None) -> None:
        """Keep labels of new rows, ``n`` rows in all, and what the predictions that hold say.

        A file has them in one line: a crash leaves all of it, or nothing. In memory others who
        share the ledger may have counted the rows.
        """
        facts = {"labels": self._as_kept(labels), "predictions": self._as_kept(continued)}
        if self.memory is None:
            turn.grow(n, **facts)
            return
        if n != turn.n:
            turn.grow(n)
        self.memory.write(GROWTH, {"added": len(labels), "n": n, **facts})

    def step(self, turn: Turn) -> Fraction | None:
        """Return the step of the leaderboard; None before it was begun."""
        row = self._kept(turn).last(BOARD)
        return None if row is None else Fraction(row["step"])

    def begin_board(self, turn: Turn, step: Fraction) -> None:
        self._kept(turn).write(BOARD, {"step": str(step)})

    def entries(self, turn: Turn) -> list[Entry]:
        """Return all submissions to the leaderboard."""
        return [entry_of(row) for row in self._kept(turn).rows(SUBMISSIONS)]

    def leads(self, turn: Turn) -> list[int]:
        """Return the rungs of all leaders, the first one first."""
        rungs = (row["rung"] for row in self._kept(turn).rows(SUBMISSIONS))
        return [rung for rung in rungs if rung is not None]

    def enter(self, turn: Turn, entry: Entry) -> None:
        """Keep a submission that was charged before."""
        row = {"name": entry.name, "rung": entry.rung, "bits": entry.bits}
        if entry.score is not None:
            row |= {name: getattr(entry.score, name) for name in ("value", "lower", "upper")}
        self._kept(turn).write(SUBMISSIONS, row)


def new_file(
    path: str | os.PathLike[str],
    ledger: TranscriptLedger,
    labels: Labels,
    loss: Loss,
    baseline: Labels | None,
) -> Journal:
    """Make the file, for its owner's eyes only, and refuse one that is there."""
    lines = [ledger.terms_line(), (LABELS, {"loss": loss.facts(), "packed": _packed(labels)})]
    if baseline is not None:
        lines.append((CONFIRMED, {"answer": 0, "predictions": _packed(baseline)}))
    place = Path(os.fsdecode(path))
    try:
        return Journal(place, GUARD, lines, fresh=True)
    except FileExistsError:
        hint = "Open it, or choose another path."
        raise ExistingFileError("path", "be a new file", str(place), hint) from None


def old_file(path: str | os.PathLike[str]) -> Journal:
    if not (place := Path(os.fsdecode(path))).exists():
        create = f"sourdine guard init labels.csv --out {place.name}"
        hint = f"Create it with '{create}' or GuardedHoldout.create({place.name!r}, labels)."
        raise MissingFileError("guard", "exist", str(place), hint)
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


def _packed(labels: Labels) -> str:
    return b64encode(labels.packed()).decode()


def _unpacked(kept: Labels | str) -> Labels:
    return kept if isinstance(kept, Labels) else Labels.unpacked(b64decode(kept))


def entry_of(row: Row) -> Entry:
    """Return the submission that a line says."""
    bits, rung = row["bits"], row["rung"]
    led = rung is not None
    score = AdaptiveAnswer(row["value"], row["lower"], row["upper"], bits) if led else None
    return Entry(row["name"], rung, score, bits)
