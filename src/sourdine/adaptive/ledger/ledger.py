r"""The transcript ledger: what was told, and how far the next answer can be from the truth.

*Theorem* (after Stemmer's lecture 9, theorem 4). An analyst asks queries one after the other, each
of its choice given all answers so far. Let :math:`L` be the bits of the answers before query
:math:`i`, and :math:`\beta_i = \beta / i(i + 1)`. With probability :math:`1 - \beta`, for all
:math:`i` at once,

.. math:: |q_i(S) - q_i(P)| \le w\bigl(n,\ \ln\tfrac{1}{\beta_i} + L \ln 2\bigr).

where a query has, for each row, a value in [0, 1] that depends on that row and its place alone.

*Proof*. Fix the analyst's coins. A transcript :math:`\pi` of :math:`i - 1` answers determines query
:math:`i`, so the query is one of a list written down before the sample was drawn; a given entry
fails with probability :math:`\beta_i 2^{-L(\pi)}` at most. Sum over all :math:`\pi` (Kraft: at most
:math:`\beta_i`), then over :math:`i`. Only what was told *before* a query counts for it, every
query that *might* have been asked must concentrate, and nothing may depend on the sample but the
answers charged here: no log line, no exception, no running time. *Checked by*
``test_ledger_covers_adversaries``; rows declared independent that are not are not covered:
``test_copies_declared_independent_miss``.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isnan, log, nextafter
from typing import TYPE_CHECKING, Any, NamedTuple

from sourdine.adaptive.ledger.codes import Spent
from sourdine.adaptive.ledger.dependence import Dependence, Iid, dependence_of
from sourdine.adaptive.ledger.transaction import FileLines, Line, Lines, MemoryLines, Turn, add_up
from sourdine.adaptive.thresholds import largest
from sourdine.append_only import Alone, Book, FileKind, new_identity, now, only_grows, only_one
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import integer, kind, positive
from sourdine.release import History, beta_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from sqlite3 import Connection

    from sourdine.exact.parameters import Number

__all__ = ["LEDGER_TABLES", "Line", "Remaining", "TranscriptLedger", "Turn"]

LEDGER_TABLES = f"""
CREATE TABLE terms (
    identity TEXT NOT NULL, opened TEXT NOT NULL, n INTEGER NOT NULL, beta TEXT NOT NULL,
    dependence TEXT NOT NULL, error TEXT, name TEXT
);
CREATE TABLE answers (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, what TEXT NOT NULL, told BLOB NOT NULL
);
{only_grows("answers")}{only_one("terms")}"""

HEADS = {"number": "", "when": "time", "what": "question", "bits": "bits in all"}
"""What a ledger's history shows of an answer."""

LEDGER = FileKind(noun="ledger", mark=b"SouT", version=1, schema=LEDGER_TABLES)


@dataclass(frozen=True, slots=True)
class Remaining:
    """What can still be told before the next half-width passes the error allowed.

    Parameters
    ----------
    bits
        Bits that may still be told, in one more answer.
    answers
        How many more yes-or-no answers there may be, whatever they are.
    noes
        How many there may be if all are no but perhaps the last.
    """

    bits: float
    answers: int
    noes: int


class TranscriptLedger:
    r"""Bits told about one sample, and the half-width that they leave for the next answer.

    Parameters
    ----------
    n
        How many rows the sample has.
    confidence
        The probability with which all intervals that are ever given hold.
    dependence
        How the rows depend on each other; independent if left out.
    error
        Refuse an answer that would take the next half-width above this; None for no limit.
    path
        A file that keeps the ledger, made if it is not there; in memory if left out.
    name
        What the data are called.

    Examples
    --------
    >>> ledger = TranscriptLedger(n=10_000, confidence=0.95)
    >>> round(ledger.halfwidth(), 4)
    0.0148
    >>> for answer in 10 * [False] + [True]:
    ...     ledger.charge_bit(answer)
    >>> ledger.charge_value(levels=64)
    >>> round(ledger.bits, 1), round(ledger.halfwidth(), 4)
    (13.0, 0.0299)
    """

    __slots__ = (
        "_book",
        "_lines",
        "_lock",
        "_nats",
        "_process",
        "beta",
        "dependence",
        "error",
        "limit",
        "n",
        "name",
    )

    def __init__(  # noqa: PLR0913 - the terms of a ledger
        self,
        n: int,
        *,
        confidence: Number = 0.95,
        dependence: Dependence | None = None,
        error: Number | None = None,
        path: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.n = integer(n, "n", least=1)
        self.beta: Fraction = beta_of(confidence)
        self._nats = log(self.beta.denominator) - log(self.beta.numerator)
        self.dependence = _read_dependence(dependence)
        self.error = None if error is None else positive(error, "error")
        self.limit = inf if self.error is None else _float_below(self.error)
        self.name = name
        self._lines: list[Line] = []
        self._lock, self._process = Alone(), os.getpid()
        self._book: Book | None = None
        if path is not None:
            self._keep(Book(path, LEDGER, self.write_terms))

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | Book, *, dependence: Dependence | None = None
    ) -> TranscriptLedger:
        """Return the ledger that a file keeps, under the file's own terms."""
        book = path if isinstance(path, Book) else Book(path, LEDGER)
        terms = _terms(book)
        kind = dependence_of(terms.dependence, dependence)
        ledger = cls(terms.n, confidence=1 - terms.beta, dependence=kind, error=terms.error)
        ledger._keep(book)
        return ledger

    def write_terms(self, connection: Connection) -> None:
        """Write the terms into a new file."""
        error = None if self.error is None else str(self.error)
        rows = json.dumps(self.dependence.facts(), ensure_ascii=False, sort_keys=True)
        connection.execute(
            "INSERT INTO terms VALUES (?, ?, ?, ?, ?, ?, ?)",
            (new_identity(), now(), self.n, str(self.beta), rows, error, self.name),
        )

    def __repr__(self) -> str:
        where = "in memory" if self._book is None else f"in {self._book.path.name}"
        rows = " ".join(str(fact) for fact in self.dependence.facts().values())
        return f"<TranscriptLedger of {self.n} rows, {rows}, {where}: {self.bits:.4g} bits told>"

    @property
    def path(self) -> Path | None:
        """The file that keeps it; None in memory."""
        return self._book.path if self._book else None

    @property
    def history(self) -> History[Line]:
        """All answers, the first one first."""
        with self.turn() as turn:
            return History(turn.history(), HEADS)

    @property
    def spent(self) -> Spent:
        """What was told so far."""
        with self.turn() as turn:
            return turn.spent

    @property
    def bits(self) -> float:
        """The bits told so far."""
        return self.spent.bits

    def charge_bit(self, answer: bool, what: str = "bit") -> None:  # noqa: FBT001 - the answer
        """Charge a yes or a no: cheap for what is usual, dear for what is rare.

        Call it *before* the answer is shown to anyone.
        """
        with self.turn() as turn:
            turn.bit(answer, what)

    def charge_value(self, levels: int, what: str = "value") -> None:
        """Charge a value that is one of ``levels``, which do not depend on the data."""
        with self.turn() as turn:
            turn.value(levels, what)

    def halfwidth(self) -> float:
        """Return how far the sample's average may be from the truth for the next query."""
        return self.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the next query, given its average over the sample."""
        return self.interval_after(self.spent, average)

    @property
    def remaining(self) -> Remaining | None:
        """What can be told before the next half-width is above ``error``; None for no limit."""
        return None if self.error is None else self.until(self.error)

    def until(self, error: Number) -> Remaining:
        """Return what can be told before the next half-width is above ``error``.

        Examples
        --------
        >>> TranscriptLedger(n=10_000).until(0.05).answers
        52
        """
        return self._until(self.spent, _float_below(positive(error, "error")))

    def nats_after(self, spent: Spent) -> float:
        r"""Return :math:`\ln(1/\beta_i) + L\ln 2` for the query after those of ``spent``."""
        i = spent.answers + 1
        return log(i) + log(i + 1) + self._nats + spent.bits * log(2)

    def halfwidth_after(self, spent: Spent) -> float:
        """Return the half-width of the query after those of ``spent``."""
        return self.dependence.width(self.n, self.nats_after(spent))

    def interval_after(self, spent: Spent, average: float) -> tuple[float, float]:
        """Return ends for the truth of the query after those of ``spent``."""
        if isnan(average):
            return 0.0, 1.0
        inside = min(max(float(average), 0.0), 1.0)
        return self.dependence.interval(inside, self.n, self.nats_after(spent))

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Hold the ledger alone: read, decide, charge.

        What was charged stays, whatever raises afterwards: an answer may have been seen by then.
        So let nothing that depends on the answer come before its charge.
        """
        if self._book is not None:
            with self._book.turn() as connection:
                yield from self._one_turn(FileLines(connection))
            return
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "a ledger in memory",
                "stay in the process that made it",
                "a forked one",
                "Type {path} to share one among processes.",
                path="eval.ledger",
            )
        with self._lock:
            yield from self._one_turn(MemoryLines(self._lines))

    def _one_turn(self, lines: Lines) -> Iterator[Turn]:
        turn = Turn(self, lines)
        try:
            yield turn
        except BaseException:
            if turn.charged:
                lines.keep()
            raise
        finally:
            turn.end()

    def _until(self, spent: Spent, error: float) -> Remaining:
        allowed = self.dependence.nats(self.n, error)
        one_more = Spent(spent.answers + 1, spent.yes, spent.no, spent.value_bits)
        bits = max(0.0, (allowed - self.nats_after(one_more)) / log(2))

        def fits(more: int, yes: int) -> bool:
            told = Spent(
                spent.answers + more, spent.yes + yes, spent.no + more - yes, spent.value_bits
            )
            return self.halfwidth_after(told) <= error

        def worst(more: int) -> bool:
            return all(fits(more, yes) for yes in _dearest(spent, more))

        def rare(more: int) -> bool:
            return fits(more, 0) and fits(more, 1)

        return Remaining(bits, largest(worst), largest(rare))

    def _keep(self, book: Book) -> None:
        kept = _terms(book)
        words = {
            "n": (self.n, kept.n),
            "confidence": (1 - self.beta, 1 - kept.beta),
            "dependence": (self.dependence.facts(), kept.dependence),
            "error": (self.error, kept.error),
            "name": (self.name or kept.name, kept.name),
        }
        for word, (yours, files) in words.items():
            if yours != files:
                raise ParameterError(
                    word,
                    f"be {files}, as the ledger {book.path.name} says since it was opened",
                    f"{yours}",
                    f"Type TranscriptLedger.open({book.path.name!r}).",
                )
        self._book, self.name = book, kept.name
        if not add_up(self.history):
            raise book.refusal("its lines do not add up")


class _Terms(NamedTuple):
    n: int
    beta: Fraction
    dependence: dict[str, Any]
    error: Fraction | None
    name: str | None


def _terms(book: Book) -> _Terms:
    """Return the terms that a file holds."""
    with book.turn() as connection:
        row = connection.execute("SELECT n, beta, dependence, error, name FROM terms").fetchone()
    try:
        n, beta, rows, error, name = row
        goal = None if error is None else Fraction(error)
        return _Terms(int(n), Fraction(beta), dict(json.loads(rows)), goal, name)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise book.refusal("its terms cannot be read") from None


def _float_below(x: Fraction) -> float:
    """Return the largest float that is at most ``x``: a quick comparison is then an exact one."""
    return float(x) if float(x) <= x else nextafter(float(x), 0.0)


def _read_dependence(dependence: Dependence | None) -> Dependence:
    if dependence is None:
        return Iid()
    if not isinstance(dependence, Dependence):
        raise ParameterTypeError(
            "dependence",
            "be Iid(), Markov(0.5), Blocks(10) or Custom(...)",
            kind(dependence),
            "Type {dependence}.",
            dependence=Iid(),
        )
    return dependence


def _dearest(spent: Spent, more: int) -> list[int]:
    """Return the numbers of yes among ``more`` answers that may cost most: as even as can be."""
    even = (spent.no - spent.yes + more) / 2
    low = min(max(int(even), 0), more)
    return [low, min(low + 1, more)]
