"""`GuardedHoldout`: evaluation labels that can be asked again and again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sourdine.adaptive.answers import AdaptiveAnswer, Certificate, counted
from sourdine.adaptive.holdout.labels import NUMBER, TEXT, Labels
from sourdine.adaptive.holdout.losses import proves_progress, read_loss, stands_out
from sourdine.adaptive.holdout.store import FINAL, Store, labels_in, new_file, old_file
from sourdine.adaptive.ledger.ledger import Remaining, TranscriptLedger
from sourdine.adaptive.ledger.transaction import MemoryTransaction, Spent
from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import at_least, flag, given, kind, number, positive
from sourdine.results.answer import History
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sourdine.adaptive.holdout.losses import Loss
    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.adaptive.ledger.transaction import Growth, Turn
    from sourdine.exact import Number

    Losses = NDArray[np.float64]


# ---- What `confirm` says, and what a guard remembers of all that it said -------------------------


HEADS = {"number": "", "when": "time", "what": "question", "bits": "bits"}


@dataclass(frozen=True, slots=True)
class Verdict(Displayable):
    """Whether new predictions were confirmed; true if so.

    Parameters
    ----------
    confirmed
        The answer.
    bits
        What it cost.
    remaining
        What can still be told; None if the ledger has no limit.
    """

    confirmed: bool
    bits: float
    remaining: Remaining | None

    def __bool__(self) -> bool:
        return self.confirmed

    def sheet(self) -> Sheet:
        notes = [("verdict", "confirmed" if self.confirmed else "not confirmed")]
        notes.append(("cost", counted(f"{self.bits:.3g}", "bit")))
        if (left := self.remaining) is not None:
            said = "no more yes-or-no answers, but a final answer"
            if left.answers:
                rare = "" if left.answers == left.noes else f", {left.noes} if all are no"
                said = f"{counted(left.answers, 'more answer')}{rare}"
            notes.append(("remaining", said))
        return Sheet(notes=notes)


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a guard's history: what was answered, but not how.

    Parameters
    ----------
    number
        1 for the first answer.
    when
        The time in UTC, as ISO 8601.
    what
        The question.
    bits
        What the answer cost.
    """

    number: int
    when: str
    what: str
    bits: float


# ---- The ledger of a guard: a new one, or one that others charge too -----------------------------


def read_ledger(n: int, ledger: TranscriptLedger | None, terms: dict[str, Any]) -> TranscriptLedger:
    """Return the ledger over n rows; terms are those of a new one, None for what was left out."""
    kept = {name: value for name, value in terms.items() if value is not None}
    if ledger is None:
        if "error" in kept and positive(kept["error"], "error", example=0.05) > Fraction(1, 2):
            must = "be at most 0.5, because averages lie between 0 and 1"
            raise ParameterError("error", must, given(kept["error"]), error=0.05)
        ledger = TranscriptLedger(n, **kept)
    elif kept:
        name = next(iter(kept))
        hint, got = f"The ledger sets it: omit {{{name}}}.", given(kept[name])
        must = "be omitted when a ledger is given"
        raise ParameterError(name, must, got, hint, **{name: LEFT_OUT})
    hint = f"Use TranscriptLedger({n})."
    if not isinstance(ledger, TranscriptLedger):
        raise ParameterTypeError("ledger", "be a TranscriptLedger", kind(ledger), hint)
    if ledger.n != n:
        raise ParameterError("ledger", f"have {n} rows, one for each label", f"{ledger.n}", hint)
    first = ledger.halfwidth()
    if first > ledger.limit and ledger.spent.answers == 0:
        must = f"be at least {first:.4g}, the half-width of the first answer from {n} rows"
        hint, wider = "Use {error}, or more rows.", float(f"{1.5 * first:.2g}")
        raise ParameterError("error", must, f"{ledger.limit:g}", hint, error=wider)
    return ledger


# ---- Averages on a public grid: what they cost, and the interval that allows for the rounding ----


SCORE = "score to "
EXACT = "score, exact"
HALF = Fraction(1, 2)


def rounded(average: float, step: Fraction, finest: int, turn: Turn) -> AdaptiveAnswer:
    """Charge an average on the grid of multiples of a step, and return it with its interval.

    Where the grid has as many cells as there are averages at all, ``finest``, rounding would save
    nothing: the average itself is answered, and that many levels are charged.
    """
    if levels_of(step) >= finest:
        bits = turn.value(finest, EXACT)
        return AdaptiveAnswer(average, *turn.interval(average), bits)
    cell = floor(Fraction(average) / step + HALF)
    least, most = float((cell - HALF) * step), float((cell + HALF) * step)
    bits = turn.value(levels_of(step), f"{SCORE}{step}")
    lower, upper = turn.interval(max(least, 0.0))[0], turn.interval(min(most, 1.0))[1]
    return AdaptiveAnswer(min(float(cell * step), 1.0), lower, upper, bits)


def levels_of(step: Fraction) -> int:
    """Return how many cells of a step averages from 0 to 1 can be rounded to."""
    return floor(1 / step + HALF) + 1


# ---- Rows that are added to evaluation data: what they must be, before anything is written -------


EXACT_BELOW = 1 << 53
"""Whole numbers beyond this are not floats."""


def read_more(given: object, held: Labels) -> Labels:
    """Return the labels of new rows, of the same kind as those that are held."""
    column = Labels.read(given, "labels", TEXT if held.kind == TEXT else None)
    if len(column) == 0:
        hint = "Call extend([0, 1, 1]), for example."
        raise ParameterError("labels", "hold at least one new label", "", hint)
    if column.kind != held.kind:
        must = f"be {held.kind}s, like the labels of the guard"
        hint = "Convert them first: 1 and '1' are different labels."
        raise ParameterTypeError("labels", must, f"{column.kind}s", hint)
    if column.values.dtype != held.values.dtype and not (_as_floats(column) and _as_floats(held)):
        must = "be whole numbers without exception if some are too long for a float"
        raise ParameterError("labels", must, "", "Pass them as strings, to a new guard.")
    return column


def read_continued(given: object, labels: Labels, loss: Loss, held: Labels | None) -> Labels | None:
    """Return what the predictions that hold say on new rows; None if nothing is said."""
    if given is None:
        return None
    column = loss.read(given, "confirmed", labels)
    if held is None:
        must = "be omitted when no predictions are confirmed"
        hint = "Pass the predictions to beat to the next confirm(new, old)."
        raise ParameterError("confirmed", must, "", hint)
    if len(column) != len(labels) or column.values.shape[1:] != held.values.shape[1:]:
        must = f"hold a prediction for each of the {len(labels)} new rows"
        hint = "Predict the new rows with the model confirmed last, in the same order."
        raise ParameterError("confirmed", must, f"{len(column)}", hint)
    return complete(column, "confirmed")


def complete(column: Labels, name: str) -> Labels:
    """Refuse predictions that are not all there."""
    if not column.complete:
        raise ParameterError(
            name, "hold no missing or infinite values", "",
            "Fill them in: a wrong prediction counts as an error, a missing one cannot be scored.",
        )  # fmt: skip
    return column


def _as_floats(labels: Labels) -> bool:
    """Return whether no number changes if it becomes a float."""
    return labels.values.dtype.kind != "i" or bool((np.abs(labels.values) <= EXACT_BELOW).all())


# ---- A guard for evaluation data that is used again and again ------------------------------------
#
# Repeated improvement on a fixed set of labels ends above the truth: the best of many tries is the
# luckiest of them. The guard holds the labels and answers three questions, each charged to a
# transcript ledger (`sourdine.adaptive.ledger`), so that what it says stays true for all tries at
# once, for every caller: a person, a leaderboard, an automatic agent.
#
# ``confirm``   is the new one better than the old one? yes or no          a bit, less where no is
#                                                                          usual
# ``score``     the accuracy on a public grid, with an interval            log2 of the levels
# ``final``     the exact accuracy, with an interval; nothing after it     closes the guard
#
# ``extend`` adds rows, and later answers are as narrow as all rows allow.
#
# Nothing else about the labels is told: no error, no printed form, no file that others may read.


T = TypeVar("T")

STILL = (
    "A final answer is still given: final(predictions), or sourdine guard final. New rows make "
    "room: extend(labels), or sourdine guard extend."
)


class GuardedHoldout:
    r"""Labels that answer questions about predictions, and count what they tell.

    Parameters
    ----------
    labels
        One for each row of the evaluation data: numbers, booleans or texts, in any data of one
        column that `sourdine.Frame` takes, a path among them; ``Frame(data)["y"]`` is one column
        of several. What is missing counts as a mistake of every prediction. How many there are,
        whether they are numbers or texts, and whether numbers are all whole, is public.
    loss
        ``"zero-one"`` for mistakes; ``"absolute"`` for distances, with ``scale``; or a function
        of the arrays of predictions and labels to a loss in [0, 1] for each row.
    scale
        The distance that counts as wholly wrong, for ``"absolute"``.
    classes
        What labels can be, from public knowledge, for ``"zero-one"``. Predictions of anything else
        are refused, at no charge; without it they are mistakes, and charged, since which values
        occur among the labels is private.
    baseline
        Predictions that the first new ones must beat; else the first ``confirm`` names them.
    ledger
        A ledger over the same rows that others charge too; a new one if left out.
    confidence
        The probability with which all intervals that are ever given hold; 0.95 if left out.
    dependence
        How the rows depend on each other; independent if left out.
    error
        Refuse what would take the half-width of the next answer above this.

    Examples
    --------
    >>> labels = [0, 1] * 1000
    >>> guard = GuardedHoldout(labels, baseline=[0] * 2000, error=0.06)
    >>> better = [0, 1, 0, 0] * 500
    >>> verdict = guard.confirm(better)
    >>> bool(verdict), verdict.remaining.answers
    (True, 11)
    >>> bool(guard.confirm([0, 0, 0, 1] * 500))
    False
    >>> print(guard.score(better, step=0.05))
     value      interval
    0.7500  [0.68, 0.81]
    cost  4.39 bits
    >>> print(guard.final())
     value        interval
    0.7500  [0.703, 0.793]
    cost  11 bits
    """

    __slots__ = ("_labels", "_loss", "_store", "ledger")

    def __init__(
        self,
        labels: object,
        *,
        loss: object = "zero-one",
        scale: Number | None = None,
        classes: Sequence[Any] | None = None,
        baseline: object = None,
        ledger: TranscriptLedger | None = None,
        confidence: Number | None = None,
        dependence: Dependence | None = None,
        error: Number | None = None,
    ) -> None:
        self._labels = Labels.read(labels, "labels")
        if len(self._labels) == 0:
            must = "hold a label for each row of the evaluation data"
            raise ParameterError("labels", must, "", "Use GuardedHoldout([0, 1, 1]).")
        self._loss: Loss = read_loss(loss, scale, self._labels, classes)
        terms = {"confidence": confidence, "dependence": dependence, "error": error}
        self.ledger = read_ledger(len(self._labels), ledger, terms)
        self._store = Store(MemoryTransaction())
        if baseline is not None:
            first = self._of_all(self._read(baseline, "baseline"), "baseline")
            self.ledger.turn(lambda turn: self._store.confirm(turn, 0, first))

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        labels: object,
        *,
        loss: object = "zero-one",
        scale: Number | None = None,
        classes: Sequence[Any] | None = None,
        baseline: object = None,
        confidence: Number = 0.95,
        dependence: Dependence | None = None,
        error: Number | None = None,
        name: str | None = None,
    ) -> GuardedHoldout:
        """Make a file that holds the labels, the ledger and the predictions that hold.

        Only its owner may read it. All processes that name it share it; what was charged survives
        kills (``test_killed_processes_lose_no_charge``) and other writers
        (``test_writers_at_once``).
        """
        guard = cls(
            labels, loss=loss, scale=scale, classes=classes, confidence=confidence,
            dependence=dependence, error=error, baseline=baseline,
        )  # fmt: skip
        guard.ledger.name = name
        first = guard.ledger.turn(guard._store.confirmed)
        new_file(path, guard.ledger, guard._labels, guard._loss, first)
        return cls.open(path, dependence=dependence)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, dependence: Dependence | None = None
    ) -> GuardedHoldout:
        """Return the guard that a file keeps; a custom dependence must be given again."""
        journal = old_file(path)
        ledger = TranscriptLedger.open(journal, dependence=dependence)
        labels, loss = labels_in(journal, ledger.n)
        guard = cls(labels, loss=loss, ledger=ledger)
        guard._store = Store()
        return guard

    def confirm(
        self, new: object, old: object = None, *, margin: Number = 1.0, certified: bool = False
    ) -> Verdict:
        r"""Answer whether new predictions are better than old ones, and keep them if so.

        The answer is charged, and the charge is on the disk, before anything else follows from it:
        a process that is killed in between has paid for a yes and keeps the old predictions. Of
        two that were confirmed at once the one that was stored last is kept. So too where rows were
        added in between, for which the new predictions say nothing.

        Parameters
        ----------
        new
            The predictions, in the order of the labels.
        old
            What they must beat; those confirmed last, or the baseline, if left out.
        margin
            How many standard errors of the paired difference they must be better by.
        certified
            Confirm only what is proved to be better: all such confirmations that a ledger ever
            gives are true, but for its beta (``test_certified_confirmations_are_true``).

        Returns
        -------
        Verdict
            True if confirmed.
        """
        fresh, given = self._read(new, "new"), None if old is None else self._read(old, "old")
        least, proved = float(at_least(margin, "margin", 0)), flag(certified, "certified")

        def asked(turn: Turn) -> tuple[bool, float, int]:
            losses = self._losses(fresh, "new")
            before = self._store.confirmed(turn) if given is None else given
            if before is None:
                grown = ", or again, since rows were added" if turn.growth() else ""
                raise ParameterError(
                    "old", f"be given the first time{grown}", "",
                    "Use {old} with the predictions to beat, or give a baseline when creating the "
                    "guard.",
                )  # fmt: skip
            d = self._losses(before, "old") - losses
            nats = self.ledger.nats_after(turn.spent)
            answer = stands_out(d, least, self.ledger.dependence, nats)
            if proved:
                answer &= proves_progress(d, self.ledger.dependence, nats)
            what = "confirm, certified" if proved else "confirm"
            bits = turn.bit(answer, what, claim=proved)
            return answer, bits, turn.spent.answers

        answer, bits, charge = self._turn(asked)

        def keep(turn: Turn) -> None:
            if len(fresh) == turn.n:
                self._store.confirm(turn, charge, fresh)

        if answer:
            self.ledger.turn(keep)
        error = self.ledger.error
        left = None if error is None else self.ledger.until(error, claims=proved)
        return Verdict(answer, bits, left)

    def score(self, predictions: object, *, step: Number = 0.01) -> AdaptiveAnswer:
        r"""Answer one minus the average loss (the accuracy), on a public grid.

        The interval allows for the rounding: it goes from the lower end that the least average of
        the cell would have to the upper end of the largest (``test_scores_cover_the_truth``). A
        grid finer than the averages that can be, n + 1 for mistakes, is answered exactly and
        charged for those alone. The same question asked again is charged again.

        Parameters
        ----------
        predictions
            In the order of the labels.
        step
            The spacing of the grid; the coarser, the cheaper.
        """
        spacing = number(step, "step", above=0, most=1)
        given = self._read(predictions, "predictions")

        levels = self._loss.levels
        return self._turn(lambda turn: rounded(self._average(given), spacing, levels(self.n), turn))

    def final(self, predictions: object = None) -> AdaptiveAnswer:
        """Answer the exact average of the predictions that hold, or of others, and close.

        It costs nothing that anyone still needs, for nothing is answered after it.
        """
        given = None if predictions is None else self._read(predictions, "predictions")

        def asked(turn: Turn) -> AdaptiveAnswer:
            last = self._store.confirmed(turn) if given is None else given
            if last is None:
                must = "be given when no predictions are confirmed for all rows"
                raise ParameterError("predictions", must, "", "Pass the predictions to score.")
            average = self._average(last)
            bits = turn.last(self._loss.levels(self.n), FINAL)
            return AdaptiveAnswer(average, *turn.interval(average), bits)

        return self._turn(asked)

    def extend(self, labels: object, confirmed: object = None) -> None:
        """Add rows to the evaluation data: later answers are as narrow as all rows allow.

        The new rows must be drawn as the first ones were, independently of them, and not chosen by
        looking at answers; when they are added, and how many, may follow from the answers. Their
        labels are told to nobody. Then every interval ever given holds as before
        (``test_intervals_hold_while_the_rows_grow``). Predictions are of all rows from now on, the
        new ones last. A file keeps the rows for all processes; one that is killed has added all of
        them or none.

        Parameters
        ----------
        labels
            One for each new row, of the same kind as the others.
        confirmed
            What the predictions confirmed last, or the baseline, say on the new rows. Without it
            the next ``confirm`` must name what is to be beaten.

        Examples
        --------
        >>> guard = GuardedHoldout([0, 1] * 500, baseline=[0] * 1000, error=0.06)
        >>> guard.remaining.answers
        3
        >>> guard.extend([1, 0] * 1500, confirmed=[0] * 3000)
        >>> guard.n, guard.remaining.answers
        (4000, 32)
        """
        more = read_more(labels, self._labels)

        def added(turn: Turn) -> None:
            continued = read_continued(confirmed, more, self._loss, self._store.confirmed(turn))
            n = len(self._labels) + len(more)
            if turn.n != len(self._labels):
                turn.require(n)
            self._store.extend(turn, n, more, continued)
            self._labels, self.ledger.n = self._labels.joined(more), n

        self._turn(added, all_rows=False)

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
        scores = [line.what for line in lines if line.what.startswith(SCORE)]
        steps = [Fraction(what.removeprefix(SCORE)) for what in scores]
        width = self.ledger.widest() + float(max(steps, default=0)) / 2
        grounds = (
            f"{spent.bits:.4g} bits told about {self.n} rows declared "
            f"{self.ledger.dependence.facts()['name']}, theorem of the transcript ledger"
        )
        return Certificate(width, float(self.ledger.beta), spent.answers, grounds)

    @property
    def n(self) -> int:
        return len(self._labels)

    @property
    def kind(self) -> str:
        """Whether labels are numbers or texts."""
        return self._labels.kind

    @property
    def whole(self) -> bool:
        """Whether labels are whole numbers, all of them: the classes, where they are declared."""
        return self.kind == NUMBER and not self._loss.fractional(self._labels)

    @property
    def loss(self) -> str:
        return self._loss.name

    @property
    def bits(self) -> float:
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
        notes = [("rows", f"{self.n}"), ("loss", self.loss), ("spent", told)]
        if left is not None:
            said = f"{left.bits:.4g} bits, or {left.answers} answers of yes or no"
            notes.append(("remaining", said))
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

    def __repr__(self) -> str:
        place = "" if self.path is None else f", path={str(self.path)!r}"
        return f"GuardedHoldout(n={self.n}, loss={self.loss!r}, bits={self.bits:.4g}{place})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None or self._store.memory is not None:
            raise ParameterTypeError(
                "a guard in memory",
                "A guard in memory cannot be copied or sent to another process.", "",
                "The copies would not count each other's answers. Use "
                "GuardedHoldout.create('eval.guard', labels) to share one.",
            )  # fmt: skip
        return partial(type(self).open, dependence=self.ledger.dependence), (str(self.path),)

    def read(self, predictions: object) -> Labels:
        """Return predictions as the guard reads them, or say what is wrong; nothing is charged."""
        return self._of_all(self._read(predictions, "predictions"), "predictions")

    def _turn(self, work: Callable[[Turn], T], *, all_rows: bool = True) -> T:
        def open_to(turn: Turn) -> T:
            for more in self._store.added(turn, self.n):  # rows that other processes added
                self._labels = self._labels.joined(more)
                self.ledger.n = self.n
            if self._store.closed(turn):
                must = "The guard is closed: its final answer was given."
                hint = "Nothing was answered. Use fresh data."
                raise BudgetExceededError("the guard", must, "", hint)
            if all_rows:
                turn.require(self.n)
            try:
                return work(turn)
            except BudgetExceededError as error:
                raise error.also(STILL) from None

        return self.ledger.turn(open_to)

    def _read(self, given: object, name: str) -> Labels:
        return complete(self._loss.read(given, name, self._labels), name)

    def _of_all(self, column: Labels, name: str) -> Labels:
        """Refuse predictions of fewer or more rows than there are."""
        if len(column) != self.n:
            must = f"hold a prediction for each of the {self.n} labels"
            hint = "Predict all rows of the evaluation data, in the same order."
            raise ParameterError(name, must, f"{len(column)}", hint)
        return column

    def _losses(self, predictions: Labels, name: str) -> Losses:
        return self._loss.of(self._of_all(predictions, name), self._labels)

    def _average(self, predictions: Labels) -> float:
        return 1.0 - float(self._losses(predictions, "predictions").mean())


def read_guard(guard: object) -> GuardedHoldout:
    """Return a guard, or say how to make one."""
    if not isinstance(guard, GuardedHoldout):
        hint = "Use GuardedHoldout(labels)."
        raise ParameterTypeError("guard", "be a GuardedHoldout", kind(guard), hint)
    return guard
