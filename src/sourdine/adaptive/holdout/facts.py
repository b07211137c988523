"""What may be known of a guard: public facts, and nothing of the labels themselves."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import Certificate
from sourdine.adaptive.holdout.labels import NUMBER
from sourdine.adaptive.holdout.rounding import step_of
from sourdine.adaptive.holdout.verdict import HEADS, Told
from sourdine.adaptive.ledger import Remaining, Spent
from sourdine.release import History, Sheet

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.adaptive.holdout.labels import Labels
    from sourdine.adaptive.holdout.losses import Loss
    from sourdine.adaptive.holdout.store import Store
    from sourdine.adaptive.ledger import Growth, TranscriptLedger
    from sourdine.exact.parameters import Number

__all__ = ["GuardFacts"]


class GuardFacts:
    """The rows, what was told of them, and what can still be told."""

    __slots__ = ("_labels", "_loss", "_store", "ledger")

    _labels: Labels
    _loss: Loss
    _store: Store
    ledger: TranscriptLedger

    @property
    def growth(self) -> History[Growth]:
        """When rows were added, how many, and after how many answers."""
        return self.ledger.growth

    @property
    def remaining(self) -> Remaining | None:
        """What can be told before the next half-width is above ``error``; None for no limit.

        Answers are counted that are not certified; certified ones take a little more.
        """
        return None if self.ledger.error is None else self.until(self.ledger.error)

    def until(self, error: Number) -> Remaining:
        """Return what can be told before the next half-width is above ``error``."""
        return Remaining(0.0, 0, 0) if self.closed else self.ledger.until(error, claims=False)

    def certificate(self) -> Certificate:
        """Return what is proved of all averages answered so far."""
        lines = self.ledger.history
        spent = lines[-1].spent if lines else Spent()
        width, answers, bits = self.ledger.widest(), spent.answers, spent.bits
        steps = [step_of(line.what) for line in lines]
        rows = self.ledger.dependence.facts()["name"]
        return Certificate(
            width + float(max(steps, default=Fraction(0))) / 2,
            float(self.ledger.beta),
            answers,
            f"{bits:.4g} bits told about {self.n} rows declared {rows}, theorem of the transcript "
            "ledger",
        )

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self._labels)

    @property
    def kind(self) -> str:
        """Whether labels are numbers or texts."""
        return self._labels.kind

    @property
    def whole(self) -> bool:
        """Whether labels are whole numbers, all of them."""
        return self.kind == NUMBER and not self._labels.fractional

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self._loss.name

    @property
    def bits(self) -> float:
        """The bits told so far."""
        return self.ledger.bits

    @property
    def history(self) -> History[Told]:
        """All answers, the first one first: when, to what, and their bits."""
        lines = self.ledger.history
        before = [0.0, *(line.spent.bits for line in lines)]
        told = [
            Told(line.number, line.when, line.what, line.spent.bits - bits)
            for line, bits in zip(lines, before, strict=False)
        ]
        return History(told, HEADS)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the rows, what was told, and what can still be told."""
        left = self.remaining
        told = f"{self.bits:.4g} bits in {len(self.ledger.history)} answers"
        notes = [("rows", f"{self.n}"), ("loss", self.loss), ("told", told)]
        if left is not None:
            notes.append(("left", f"{left.bits:.4g} bits, or {left.answers} answers of yes or no"))
        notes.append(("open", "no: the final answer was given" if self.closed else "yes"))
        return Sheet(title="GuardedHoldout", notes=notes).html()

    @property
    def path(self) -> Path | None:
        """The file; None in memory, and in a database."""
        return self.ledger.path

    @property
    def closed(self) -> bool:
        """Whether the final answer was given."""
        return self.ledger.turn(self._store.closed)

    @property
    def confirmed(self) -> list[Any] | None:
        """The predictions confirmed last, or the baseline; None if there are none."""
        held = self.ledger.turn(self._store.confirmed)
        return None if held is None else held.values.tolist()
