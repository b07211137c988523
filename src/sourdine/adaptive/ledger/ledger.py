"""`TranscriptLedger`: bits told about a sample, and the interval they leave."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isnan, log, nextafter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sourdine.adaptive.information import largest
from sourdine.adaptive.ledger.dependence import Dependence, Iid, dependence_of
from sourdine.adaptive.ledger.transaction import (
    GROWTH,
    Growth,
    Line,
    MemoryTransaction,
    Spent,
    Turn,
    UnreadableLineError,
    add_up,
    grows,
    rows_at,
)
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import integer, kind, positive
from sourdine.results.answer import History
from sourdine.results.release import beta_of
from sourdine.storage.journal import FileKind, Journal
from sourdine.storage.locks import InterruptSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sourdine.exact import Number
    from sourdine.storage.journal import AnyJournal, AnyTransaction, Row


# ---- What a transcript ledger was opened for, as its file says -----------------------------------


TERMS = "terms"
MOST_ROWS = 1 << 60
"""More rows than anybody has."""


class LedgerTerms(NamedTuple):
    """Rows at first and now, beta, how rows depend on each other, the error allowed, a name."""

    first: int
    n: int
    beta: Fraction
    dependence: dict[str, Any]
    error: Fraction | None
    name: str | None


def read_terms(journal: AnyJournal) -> LedgerTerms:
    """Return the terms that a file holds."""
    row, grown = journal.turn(
        lambda transaction: (transaction.last(TERMS) or {}, transaction.last(GROWTH))
    )
    try:
        first = int(row["n"])
        n = int(grown["n"]) if grown else first
        error = None if row["error"] is None else Fraction(row["error"])
        kept = dict(row["dependence"])
        return LedgerTerms(first, n, Fraction(row["beta"]), kept, error, row["name"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise journal.refusal("its terms cannot be read") from None


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


# ---- The transcript ledger: what was told, and how far the next answer can be from the truth -----
#
# *Theorem* (after Stemmer's lecture 9, theorem 4). An analyst asks queries one after the other,
# each of its choice given all answers so far. Some answers come with a *claim* about the truth,
# such as an interval; others are a mere yes or no. Let :math:`q_j` be the query of the :math:`j`-th
# claim, :math:`L` the bits of all answers before it, and :math:`\beta_j = \beta / j(j + 1)`. With
# probability :math:`1 - \beta`, for all :math:`j` at once,
#
# .. math:: |q_j(S) - q_j(P)| \le w\bigl(n,\ \ln\tfrac{1}{\beta_j} + L \ln 2\bigr).
#
# where a query has, for each row, a value in [0, 1] that depends on that row and its place alone,
# or is a statistic of the whole sample whose concentration is that of `mcdiarmid`.
#
# *Proof*. Fix the analyst's coins. The transcript :math:`\pi` before claim :math:`j` determines
# :math:`q_j`, so it is one of a list written down before the sample was drawn; a given entry fails
# with probability :math:`\beta_j 2^{-L(\pi)}` at most. None of these transcripts begins another,
# which would have claim :math:`j` already; so Kraft's inequality holds for them, and the list fails
# with probability :math:`\beta_j` at most. Sum over :math:`j`. Only what was told *before* a query
# counts for it, every query that *might* have been asked must concentrate, and nothing may depend
# on the sample but the answers charged here: no log line, no exception, no running time. *Checked
# by* ``test_ledger_covers_adversaries`` and ``test_all_intervals_that_are_given_hold``; rows
# declared independent that are not are not covered: ``test_copies_declared_independent_miss``.
#
# *Rows may be added.* Let the transcript also determine how many rows :math:`n_j` there are at
# claim :math:`j`, the first ones of a sequence that goes on as declared. Then :math:`\pi`
# determines both :math:`q_j` and :math:`n_j`, the entry of the list is about its own number of
# rows, and the proof stands with :math:`w(n_j, \cdot)`. *Checked by*
# ``test_intervals_hold_while_the_rows_grow``.


T = TypeVar("T")

GREW = {"when": "time", "answers": "after answers", "added": "rows added", "n": "rows"}
"""What is shown of rows that were added."""

HEADS = {"number": "", "when": "time", "what": "question", "bits": "bits in all"}
"""What a ledger's history shows of an answer."""

LEDGER = FileKind(noun="ledger", mark="transcript", version=2)


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
        "_journal", "_lock", "_memory", "_process", "beta", "dependence", "error", "first", "limit",
        "n", "name",
    )  # fmt: skip

    def __init__(
        self,
        n: int,
        *,
        confidence: Number = 0.95,
        dependence: Dependence | None = None,
        error: Number | None = None,
        path: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.first = self.n = integer(n, "n", least=1)
        self.beta: Fraction = beta_of(confidence)
        self.dependence = read_dependence(dependence)
        self.error = None if error is None else positive(error, "error", example=0.05)
        self.limit = inf if self.error is None else _float_below(self.error)
        self.name = name
        self._memory, self._lock = MemoryTransaction(), InterruptSafeLock()
        self._process = os.getpid()
        self._journal: AnyJournal | None = None
        if path is not None:
            journal = Journal(path, LEDGER, [self.terms_line()])
            self._keep(journal, read_terms(journal))

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | AnyJournal, *, dependence: Dependence | None = None
    ) -> TranscriptLedger:
        """Return the ledger that a file or another journal keeps, under its own terms."""
        journal = Journal(path, LEDGER) if isinstance(path, (str, os.PathLike)) else path
        terms = read_terms(journal)
        kind = dependence_of(terms.dependence, dependence)
        ledger = cls(terms.n, confidence=1 - terms.beta, dependence=kind, error=terms.error)
        ledger._keep(journal, terms)
        return ledger

    def terms_line(self) -> tuple[str, Row]:
        """Return the terms as the first line of a file."""
        return TERMS, {
            "n": self.first,
            "beta": str(self.beta),
            "dependence": self.dependence.facts(),
            "error": None if self.error is None else str(self.error),
            "name": self.name,
        }

    def __repr__(self) -> str:
        where = "in memory" if self._journal is None else f"in {self._journal.name}"
        rows = " ".join(str(fact) for fact in self.dependence.facts().values())
        return f"<TranscriptLedger of {self.n} rows, {rows}, {where}: {self.bits:.4g} bits told>"

    @property
    def path(self) -> Path | None:
        """The file that keeps it; None in memory, and in a database."""
        return self._journal.path if isinstance(self._journal, Journal) else None

    @property
    def history(self) -> History[Line]:
        """All answers, the first one first."""
        return History(self.turn(Turn.history), HEADS)

    @property
    def spent(self) -> Spent:
        """What was told so far."""
        return self.turn(lambda turn: turn.spent)

    @property
    def bits(self) -> float:
        """The bits told so far."""
        return self.spent.bits

    def charge_bit(self, answer: bool, what: str = "bit") -> None:  # noqa: FBT001 - the answer
        """Charge a yes or a no: cheap for what is usual, dear for what is rare.

        Call it *before* the answer is shown to anyone.
        """
        self.turn(lambda turn: turn.bit(answer, what))

    def charge_value(self, levels: int, what: str = "value") -> None:
        """Charge a value that is one of ``levels``, which do not depend on the data."""
        self.turn(lambda turn: turn.value(levels, what))

    def charge_statistic(
        self, levels: int, *, sensitivity: Number, what: str = "statistic"
    ) -> float:
        r"""Charge a statistic of the whole sample that no single row moves by much.

        A largest gap between two distribution functions, a median of averages, the error of a
        stable fit: any function :math:`q` of the rows that changes by :math:`\Delta` at most when
        one row is replaced by another. The answer is one of ``levels``, and the half-width is about
        :math:`E[q(S)]` over samples of this size, which may differ from the value of the
        population. For a :math:`\Delta` of :math:`1/n` it is the half-width of an average:

        .. math:: |q(S) - E[q(S)]| \le \Delta\sqrt{\frac{n (t + \ln 2)}{2}}, \qquad
                  t = \ln\tfrac{1}{\beta_j} + L\ln 2

        with all others of this ledger at once. *Proof*: the theorem of the ledger asks nothing of a
        query but that it is concentrated, and `mcdiarmid` says that it is.

        Parameters
        ----------
        levels
            How many values the answer may have, which do not depend on the data.
        sensitivity
            :math:`\Delta`, for the number of rows that there are.
        what
            The question.

        Returns
        -------
        float
            The half-width of this statistic. `interval` is for averages alone.

        Raises
        ------
        ParameterError
            The rows are neither independent nor in independent blocks.

        Examples
        --------
        >>> ledger = TranscriptLedger(n=10_000)
        >>> round(ledger.charge_statistic(levels=101, sensitivity=2 / 10_000), 4)
        0.0296
        >>> round(ledger.bits, 2)
        6.66
        """
        exact = positive(sensitivity, "sensitivity")
        moved = float(exact) if float(exact) >= exact else nextafter(float(exact), inf)
        self.dependence.statistic_width(self.n, 0.0, moved)  # refused before anything is charged

        def charged(turn: Turn) -> tuple[Spent, int]:
            before = turn.spent
            turn.value(levels, what)
            return before, turn.n

        before, n = self.turn(charged)
        return self.dependence.statistic_width(n, self.nats_after(before), moved)

    def extend(self, n: int) -> None:
        """Count rows that were added to the sample: the widths of later answers follow them.

        They must go on as the first ones were declared: drawn from the same law, independent of
        them (in blocks of their own; as later states of the chain), and not chosen by looking at
        answers. *When* and how many may follow from the answers. Others who charge the ledger
        is refused until they have taken up the rows too.

        Parameters
        ----------
        n
            How many rows there are now, in all.

        Examples
        --------
        >>> ledger = TranscriptLedger(n=10_000)
        >>> ledger.charge_value(levels=64)
        >>> ledger.extend(n=40_000)
        >>> round(ledger.halfwidth(), 4)
        0.011
        """
        many = integer(n, "n", least=1)

        def grown(turn: Turn) -> None:
            if many < turn.n:
                must = f"be at least {turn.n}, the current number of rows"
                raise ParameterError("n", must, f"{many}", "Use {n}.", n=turn.n)
            if many > turn.n:
                turn.grow(many)
            self.n = many

        self.turn(grown)

    @property
    def growth(self) -> History[Growth]:
        """When rows were added, how many, and after how many answers."""
        return History(self.turn(Turn.growth), GREW)

    def halfwidth(self) -> float:
        """Return how far the sample's average may be from the truth for the next query."""
        return self.halfwidth_after(self.spent)

    def interval(self, average: float, answer: int) -> tuple[float, float]:
        """Return ends for the truth of a query that was answered.

        Every query for which an interval is asked must be one that was charged: what was looked at
        and not charged is in no count, and the best of many looks is far from the truth.

        Parameters
        ----------
        average
            The query's average over the sample.
        answer
            The number of its answer, 1 for the first.

        Examples
        --------
        >>> ledger = TranscriptLedger(n=10_000)
        >>> ledger.charge_value(levels=101)
        >>> [round(end, 3) for end in ledger.interval(0.92, answer=1)]
        [0.912, 0.928]
        """
        lines, growth = self.turn(lambda turn: (turn.history(), turn.growth()))
        number = integer(answer, "answer", least=1)
        if number > len(lines):
            must = "be the number of an answer that was charged"
            hint = "Charge it first, such as charge_value(levels=101)."
            raise ParameterError("answer", must, f"{number} of {len(lines)}", hint)
        before = lines[number - 2].spent if number > 1 else Spent()
        if lines[number - 1].spent.claims == before.claims:
            got = f"answer {number}, a yes or no"
            hint = "Charge a value, such as charge_value(levels=101), and ask for its interval."
            raise ParameterError("answer", "have an interval", got, hint)
        return self.interval_after(before, average, n=rows_at(number, self.first, growth))

    @property
    def remaining(self) -> Remaining | None:
        """What can be told before the next half-width is above ``error``; None for no limit."""
        return None if self.error is None else self.until(self.error)

    def until(self, error: Number, *, claims: bool = True) -> Remaining:
        """Return what can be told before the next half-width is above ``error``.

        Parameters
        ----------
        error
            The largest half-width.
        claims
            Whether yes and no come with claims about the truth.

        Examples
        --------
        >>> TranscriptLedger(n=10_000).until(0.05).answers
        52
        """
        spent, goal = self.spent, _float_below(positive(error, "error"))
        allowed = self.dependence.nats(self.n, goal)
        bits = max(0.0, (allowed - self.nats_after(spent.value(1))) / log(2))

        def fits(more: int, yes: int) -> bool:
            told = replace(
                spent, answers=spent.answers + more, yes=spent.yes + yes,
                no=spent.no + more - yes, claims=spent.claims + claims * more,
            )  # fmt: skip
            return self.halfwidth_after(told) <= goal

        def worst(more: int) -> bool:
            """Return whether as many yes and no as can be, which cost most, fit."""
            low = min(max(int((spent.no - spent.yes + more) / 2), 0), more)
            return fits(more, low) and fits(more, min(low + 1, more))

        return Remaining(bits, largest(worst), largest(lambda n: fits(n, 0) and fits(n, 1)))

    def nats_after(self, spent: Spent) -> float:
        r"""Return :math:`\ln(1/\beta_j) + L\ln 2` for the claim after those of ``spent``."""
        j = spent.claims + 1
        sure = log(self.beta.denominator) - log(self.beta.numerator)
        return log(j) + log(j + 1) + sure + spent.bits * log(2)

    def halfwidth_after(self, spent: Spent, *, n: int | None = None) -> float:
        """Return the half-width of the query after those of ``spent``, of ``n`` rows if given."""
        return self.dependence.width(n or self.n, self.nats_after(spent))

    def widest(self) -> float:
        """Return the largest half-width of any answer so far and of the next one.

        Without new rows it is the next one's; an answer from fewer rows may have been wider.
        """
        lines, growth = self.turn(lambda turn: (turn.history(), turn.growth()))
        until = [(lines[g.answers - 1].spent, g.n - g.added) for g in growth if g.answers]
        until.append((lines[-1].spent if lines else Spent(), self.n))
        return max(self.halfwidth_after(spent, n=n) for spent, n in until)

    def rows_for(self, error: Number, spent: Spent) -> int:
        """Return how many rows the answer after those of ``spent`` needs to be within ``error``."""
        goal = _float_below(positive(error, "error"))
        rows = 1 + largest(lambda n: self.halfwidth_after(spent, n=n) > goal, MOST_ROWS)
        if rows > MOST_ROWS:
            hint = "Use a larger {error}."
            raise ParameterError("error", "be reachable with more rows", f"{goal:g}", hint)
        return rows

    def interval_after(
        self, spent: Spent, average: float, *, n: int | None = None
    ) -> tuple[float, float]:
        """Return ends for the truth of the query after those of ``spent``, of ``n`` rows."""
        if isnan(average):
            return 0.0, 1.0
        inside = min(max(float(average), 0.0), 1.0)
        return self.dependence.interval(inside, n or self.n, self.nats_after(spent))

    def turn(self, work: Callable[[Turn], T]) -> T:
        """Hold the ledger alone while a function reads, decides and charges.

        What was charged stays, whatever raises afterwards: an answer may have been seen by then.
        So let nothing that depends on the answer come before its charge.

        Examples
        --------
        >>> ledger = TranscriptLedger(n=2000)
        >>> round(ledger.turn(lambda turn: turn.bit(turn.halfwidth() < 0.04)), 9)
        1.0
        """
        journal = self._journal
        if journal is not None:
            try:
                return journal.turn(lambda transaction: self._one_turn(transaction, work))
            except UnreadableLineError:
                raise journal.refusal("a line cannot be read") from None
        if os.getpid() != self._process:
            must = "A ledger in memory cannot be used in a forked process."
            hint = "Use {path} to share a ledger between processes."
            raise BudgetExceededError("a ledger in memory", must, "", hint, path="eval.ledger")
        return self._lock(lambda: self._one_turn(self._memory, work))

    def _one_turn(self, transaction: AnyTransaction, work: Callable[[Turn], T]) -> T:
        turn = Turn(self, transaction)
        try:
            return work(turn)
        finally:
            turn.end()

    def _keep(self, journal: AnyJournal, kept: LedgerTerms) -> None:
        words = {
            "n": (self.n, kept.n),
            "confidence": (1 - self.beta, 1 - kept.beta),
            "dependence": (self.dependence.facts(), kept.dependence),
            "error": (self.error, kept.error),
            "name": (self.name or kept.name, kept.name),
        }
        for word, (yours, files) in words.items():
            if yours != files:
                must = f"be {files}, which the ledger {journal.name} was opened with"
                hint = f"Use TranscriptLedger.open({journal.name!r})."
                raise ParameterError(word, must, f"{yours}", hint)
        self._journal, self.name, self.first = journal, kept.name, kept.first
        history, growth = self.turn(lambda turn: (turn.history(), turn.growth()))
        if not add_up(history) or not grows(self.first, growth, len(history)):
            raise journal.refusal("its lines do not add up")


def _float_below(x: Fraction) -> float:
    """Return the largest float that is at most ``x``: a quick comparison is then an exact one."""
    return float(x) if float(x) <= x else nextafter(float(x), 0.0)


def read_dependence(dependence: Dependence | None) -> Dependence:
    if dependence is None:
        return Iid()
    if not isinstance(dependence, Dependence):
        must = "be Iid(), Markov(0.5), Blocks(10), DependencyGraph(2) or Custom(...)"
        got, hint = kind(dependence), "Use {dependence}."
        raise ParameterTypeError("dependence", must, got, hint, dependence=Iid())
    return dependence
