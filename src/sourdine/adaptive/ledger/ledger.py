r"""The transcript ledger: what was told, and how far the next answer can be from the truth.

*Theorem* (after Stemmer's lecture 9, theorem 4). An analyst asks queries one after the other, each
of its choice given all answers so far. Let :math:`L` be the bits of the answers before query
:math:`i`, and :math:`\beta_i = \beta / i(i + 1)`. With probability :math:`1 - \beta`, for all
:math:`i` at once,

.. math:: |q_i(S) - q_i(P)| \le w\bigl(n,\ \ln\tfrac{1}{\beta_i} + L \ln 2\bigr).

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
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from threading import Lock
from typing import TYPE_CHECKING

from sourdine.adaptive.ledger.codes import Spent
from sourdine.adaptive.ledger.dependence import Dependence, Iid, dependence_of
from sourdine.book import Book, Kind, new_identity, now, only_grows, only_one
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import flag, integer, number, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from sqlite3 import Connection

    from sourdine.exact.parameters import Number

__all__ = ["LEDGER_TABLES", "Line", "Remaining", "TranscriptLedger", "Turn"]

LEDGER_TABLES = f"""
CREATE TABLE terms (
    identity TEXT NOT NULL, opened TEXT NOT NULL, n INTEGER NOT NULL, beta TEXT NOT NULL,
    dependence TEXT NOT NULL, target TEXT, name TEXT
);
CREATE TABLE answers (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, what TEXT NOT NULL, yes INTEGER NOT NULL,
    no INTEGER NOT NULL, value_bits REAL NOT NULL
);
{only_grows("answers")}{only_one("terms")}"""

ENDLESS = 1 << 40
"""More answers than anyone asks for."""

LEDGER = Kind(noun="ledger", mark=b"SouT", version=1, schema=LEDGER_TABLES)


@dataclass(frozen=True, slots=True)
class Line:
    """One answer of a ledger: when, to what, and all that was told until then, it included."""

    number: int
    when: str
    what: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class Remaining:
    """What can still be told before the next half-width passes a target.

    Parameters
    ----------
    bits
        Bits that may still be told, in one more answer.
    answers
        How many more yes-or-no answers there may be, whatever they are.
    noes
        How many there may be if all of them are no.
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
    beta
        The chance that any interval, of all that are ever given, misses.
    dependence
        How the rows depend on each other; independent if left out.
    target
        Refuse an answer that would take the next half-width above this; None for no limit.
    path
        A file that keeps the ledger, made if it is not there; in memory if left out.
    name
        What the data are called.

    Examples
    --------
    >>> ledger = TranscriptLedger(n=10_000, beta=0.05)
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
        "_process",
        "beta",
        "dependence",
        "n",
        "name",
        "target",
    )

    def __init__(  # noqa: PLR0913 - the terms of a ledger
        self,
        n: int,
        *,
        beta: Number = 0.05,
        dependence: Dependence | None = None,
        target: Number | None = None,
        path: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.n = integer(n, "n", least=1)
        self.beta: Fraction = number(beta, "beta", above=0, most=1)
        self.dependence = _read_dependence(dependence)
        self.target = None if target is None else positive(target, "target")
        self.name = name
        self._lines: list[Line] = []
        self._lock, self._process = Lock(), os.getpid()
        self._book: Book | None = None
        if path is not None:
            self._keep(Book(path, LEDGER, self.write_terms))

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | Book, *, dependence: Dependence | None = None
    ) -> TranscriptLedger:
        """Return the ledger that a file keeps, under the file's own terms."""
        book = path if isinstance(path, Book) else Book(path, LEDGER)
        with book.turn() as connection:
            n, beta, rows, target, name = _terms(connection)
        kind = dependence_of(json.loads(rows), dependence)
        goal = None if target is None else Fraction(target)
        ledger = cls(n, beta=Fraction(beta), dependence=kind, target=goal, name=name)
        ledger._keep(book)
        return ledger

    def write_terms(self, connection: Connection) -> None:
        """Write the terms into a new file."""
        target = None if self.target is None else str(self.target)
        rows = json.dumps(self.dependence.facts(), ensure_ascii=False, sort_keys=True)
        connection.execute(
            "INSERT INTO terms VALUES (?, ?, ?, ?, ?, ?, ?)",
            (new_identity(), now(), self.n, str(self.beta), rows, target, self.name),
        )

    @property
    def path(self) -> Path | None:
        """The file that keeps it; None in memory."""
        return self._book.path if self._book else None

    @property
    def history(self) -> list[Line]:
        """All answers, the first one first."""
        with self.turn() as turn:
            return turn.history()

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
        """Charge a value that is one of so many levels, which do not depend on the data."""
        with self.turn() as turn:
            turn.value(levels, what)

    def halfwidth(self) -> float:
        """Return how far the sample's average may be from the truth for the next query."""
        return self.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the next query, given its average over the sample."""
        return self.dependence.interval(average, self.n, self.nats_after(self.spent))

    def remaining(self, target: Number | None = None) -> Remaining:
        """Return what can be told before the next half-width is above the target.

        Parameters
        ----------
        target
            A half-width; the ledger's own if left out.

        Examples
        --------
        >>> TranscriptLedger(n=10_000).remaining(0.05).answers
        52
        """
        goal = self.target if target is None else positive(target, "target")
        if goal is None:
            raise ParameterError(
                "target must be given, since the ledger has none of its own. "
                "Type remaining(0.05), the half-width that is still of use."
            )
        return self._remaining(self.spent, float(goal))

    def nats_after(self, spent: Spent) -> float:
        r"""Return :math:`\ln(1/\beta_i) + L\ln 2` for the query after those of ``spent``."""
        i = spent.answers + 1
        return log(i) + log(i + 1) - log(self.beta) + spent.bits * log(2)

    def halfwidth_after(self, spent: Spent) -> float:
        """Return the half-width of the query after those of ``spent``."""
        return self.dependence.width(self.n, self.nats_after(spent))

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Hold the ledger alone: read, decide, charge; whatever raises inside undoes it."""
        if self._book is not None:
            with self._book.turn() as connection:
                yield Turn(self, _FileLines(connection))
            return
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "a ledger in memory must stay in the process that made it, got a forked one. "
                "Type path='eval.ledger' to share one among processes."
            )
        with self._lock:
            before = len(self._lines)
            try:
                yield Turn(self, _MemoryLines(self._lines))
            except BaseException:
                del self._lines[before:]
                raise

    def _remaining(self, spent: Spent, target: float) -> Remaining:
        allowed = self.dependence.nats(self.n, target)
        two = log(spent.answers + 2) + log(spent.answers + 3) - log(self.beta)
        bits = max(0.0, (allowed - two) / log(2) - spent.bits)

        def fits(more: int, yes: int) -> bool:
            told = Spent(
                spent.answers + more, spent.yes + yes, spent.no + more - yes, spent.value_bits
            )
            return self.nats_after(told) <= allowed

        def worst(more: int) -> bool:
            return all(fits(more, yes) for yes in _dearest(spent, more))

        return Remaining(bits, _most(worst), _most(lambda more: fits(more, 0)))

    def _keep(self, book: Book) -> None:
        self._book = book
        with book.turn() as connection:
            n, beta, rows, target, name = _terms(connection)
        mine = (self.n, str(self.beta), self.dependence.facts(), self.target and str(self.target))
        file = (n, beta, json.loads(rows), target)
        words = ("n", "beta", "dependence", "target")
        for word, yours, kept in zip(words, mine, file, strict=True):
            if yours != kept:
                raise ParameterError(
                    f"{word} must be {kept}, as the ledger {book.path.name} says since it was "
                    f"opened, got {yours}. Type TranscriptLedger.open({book.path.name!r})."
                )
        self.name = name
        if not _adds_up(self.history):
            raise book.refusal("its lines do not add up")


class Turn:
    """One writer's time alone with a ledger."""

    __slots__ = ("_lines", "ledger", "spent")

    def __init__(self, ledger: TranscriptLedger, lines: _FileLines | _MemoryLines) -> None:
        self.ledger = ledger
        self._lines = lines
        self.spent = lines.spent()

    @property
    def connection(self) -> Connection:
        """The open transaction of a ledger that is kept in a file."""
        if not isinstance(self._lines, _FileLines):
            raise ParameterTypeError("a ledger in memory has no file. Type path='eval.ledger'.")
        return self._lines.connection

    def history(self) -> list[Line]:
        """Return all answers so far."""
        return self._lines.read()

    def halfwidth(self) -> float:
        """Return the half-width of the next query."""
        return self.ledger.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the next query."""
        ledger = self.ledger
        return ledger.dependence.interval(average, ledger.n, ledger.nats_after(self.spent))

    def bit(self, answer: bool, what: str = "bit") -> float:  # noqa: FBT001 - the answer
        """Charge a yes or a no and return its bits; whether it fits never depends on which."""
        told = self.spent.bit(flag(answer, "answer"))
        dearest = max((self.spent.bit(True), self.spent.bit(False)), key=lambda s: s.bits)  # noqa: FBT003
        return self._charge(told, dearest, what)

    def value(self, levels: int, what: str = "value") -> float:
        """Charge a value of so many levels and return its bits."""
        told = self.spent.value(integer(levels, "levels", least=1))
        return self._charge(told, told, what)

    def _charge(self, told: Spent, dearest: Spent, what: str) -> float:
        target, after = self.ledger.target, self.ledger.halfwidth_after(dearest)
        if target is not None and after > target:
            raise BudgetExceededError(
                f"the next half-width must stay at most {float(target):g}, got {after:.4g} after "
                f"this answer. Nothing was answered: take fresh data, or begin a ledger with a "
                f"wider target."
            )
        bits = told.bits - self.spent.bits
        self._lines.add(Line(told.answers, now(), what, told))
        self.spent = told
        return bits


class _MemoryLines:
    """Lines that end with the process."""

    __slots__ = ("lines",)

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    def spent(self) -> Spent:
        return self.lines[-1].spent if self.lines else Spent()

    def read(self) -> list[Line]:
        return list(self.lines)

    def add(self, line: Line) -> None:
        self.lines.append(line)


class _FileLines:
    """Lines of an open file."""

    __slots__ = ("connection",)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def spent(self) -> Spent:
        last = self.read("ORDER BY number DESC LIMIT 1")
        return last[0].spent if last else Spent()

    def read(self, order: str = "ORDER BY number") -> list[Line]:
        fields = "number, time, what, yes, no, value_bits"
        rows = self.connection.execute(f"SELECT {fields} FROM answers {order}")  # noqa: S608 - ours
        return [Line(row[0], row[1], row[2], Spent(row[0], *row[3:])) for row in rows]

    def add(self, line: Line) -> None:
        told = line.spent
        self.connection.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            (line.number, line.when, line.what, told.yes, told.no, told.value_bits),
        )


def _terms(connection: Connection) -> tuple[int, str, str, str | None, str | None]:
    row = connection.execute("SELECT n, beta, dependence, target, name FROM terms").fetchone()
    if row is None:
        raise sqlite3.DatabaseError("no terms")
    return row  # type: ignore[no-any-return]


def _read_dependence(given: Dependence | None) -> Dependence:
    if given is None:
        return Iid()
    if not isinstance(given, Dependence):
        raise ParameterTypeError(
            f"dependence must be Iid(), Markov(0.5), Blocks(10) or Custom(...), got "
            f"{type(given).__name__}. Type dependence=Iid()."
        )
    return given


def _dearest(spent: Spent, more: int) -> list[int]:
    """Return the numbers of yes among ``more`` answers that may cost most: as even as can be."""
    even = (spent.no - spent.yes + more) / 2
    low = min(max(int(even), 0), more)
    return [low, min(low + 1, more)]


def _most(fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, where all smaller ones do too."""
    low, high = 0, 1
    while high < ENDLESS and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _adds_up(lines: list[Line]) -> bool:
    """Return whether every line is the one before it and one more answer."""
    before = Spent()
    for line in lines:
        told = line.spent
        a_bit = told in (before.bit(True), before.bit(False))  # noqa: FBT003
        a_value = (told.yes, told.no) == (before.yes, before.no)
        if told.answers != before.answers + 1 or not (
            a_bit or (a_value and before.value_bits <= told.value_bits < inf)
        ):
            return False
        before = told
    return True
