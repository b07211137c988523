"""Guards whose labels are kept elsewhere: the journal has a seal of them, and no label.

The seal is a keyed hash. Without its secret it reveals nothing about the labels, so an auditor may
see all lines of the journal; with it, labels that differ from those of the first day are refused.
*Checked by* ``test_labels_that_were_changed_are_refused`` and
``test_no_label_is_in_the_store``.
"""

# ruff: noqa: SLF001 - a guard is made with its own eyes

from __future__ import annotations

from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.holdout.losses import loss_of
from sourdine.adaptive.holdout.store import BOARD, GUARD, SUBMISSIONS, FileStore
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import ANSWERS

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.leaderboard import Standing
    from sourdine.storage.journal import AnyJournal, AnyTransaction, Row

__all__ = [
    "ANSWERS",
    "GUARD",
    "SUBMISSIONS",
    "is_sealed",
    "open_sealed",
    "reached",
    "sealed_facts",
    "sealed_lines",
    "submit_reached",
]

SEALED = "sealed"


def sealed_lines(board: Leaderboard, secret: bytes) -> list[tuple[str, Row]]:
    """Return the first lines of a journal for a leaderboard: its terms, a seal, its step.

    Parameters
    ----------
    board
        On a guard in memory that was asked nothing.
    secret
        The key of the seal, 16 bytes or more, which must not be in the journal.

    Examples
    --------
    >>> board = Leaderboard(GuardedHoldout([0, 1] * 500, error=0.1))
    >>> [table for table, _ in sealed_lines(board, bytes(16))]
    ['terms', 'sealed', 'board']
    """
    guard = board.guard
    facts = {
        "loss": guard._loss.facts(),
        "kind": guard.kind,
        "whole": guard.whole,
        "seal": _seal(guard._labels, secret),
    }
    return [guard.ledger.terms_line(), (SEALED, facts), (BOARD, {"step": str(board.step)})]


def sealed_facts(transaction: AnyTransaction) -> dict[str, Any]:
    """Return what a journal says of its labels: their kind, whether they are whole, the loss."""
    row = transaction.last(SEALED) or {}
    return {name: row[name] for name in ("kind", "whole", "loss")}


def is_sealed(transaction: AnyTransaction, labels: Labels, secret: bytes) -> bool:
    row = transaction.last(SEALED) or {}
    return compare_digest(str(row.get("seal", "")), _seal(labels, secret))


def open_sealed(journal: AnyJournal, labels: Labels | None = None) -> Leaderboard:
    """Return the leaderboard that a journal keeps.

    Parameters
    ----------
    journal
        One that began with `sealed_lines`.
    labels
        Those that were sealed; without them, what was told can be read, and nothing asked.
    """
    ledger = TranscriptLedger.open(journal)
    try:
        facts = journal.turn(sealed_facts)
        kept = Labels.hidden(facts["kind"], ledger.n) if labels is None else labels
        guard = GuardedHoldout(kept, loss=loss_of(facts["loss"]), ledger=ledger)
    except LookupError:
        raise journal.refusal("its seal cannot be read") from None
    guard._store = FileStore()
    return Leaderboard(guard)


def reached(board: Leaderboard, predictions: object) -> int:
    """Return the step of the ladder that predictions reach; nothing is told or charged.

    It is all that a submission reads of the labels. A server does that first, so that how long the
    turn of `submit_reached` takes depends on what is told, and not on the labels.
    """
    return board._rung(board.guard._read(predictions, "predictions"))


def submit_reached(board: Leaderboard, name: str, rung: int) -> Standing:
    """Submit what reaches a step of the ladder, as `reached` returned it for the same labels."""
    return board._entered(name, lambda: rung)


def _seal(labels: Labels, secret: bytes) -> str:
    return blake2b(labels.spelled(), key=secret, digest_size=32).hexdigest()
