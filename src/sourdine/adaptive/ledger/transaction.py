"""One writer's transaction on a ledger, and the code lengths it charges."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import inf, lgamma, log, log2, nextafter, pi
from struct import Struct, error
from typing import TYPE_CHECKING

from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.exact import flag, integer
from sourdine.storage.journal import now

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.adaptive.ledger.ledger import TranscriptLedger
    from sourdine.storage.journal import AnyTransaction, Row


# ---- Bits of an answer: how many answers there could have been, weighed by a code ----------------
#
# A code gives every sequence of answers :math:`\pi` a length :math:`L(\pi)` with :math:`\sum_\pi
# 2^{-L(\pi)} \le 1`: a short length for what happens often, a long one for surprises.
#
# References
# ----------
# .. [1] R. Krichevsky, V. Trofimov, "The performance of universal encoding", IEEE Transactions on
#    Information Theory 27(2), 1981.


_LN2, _LN_PI = log(2), log(pi)


def kt_bits(yes: int, no: int) -> float:
    r"""Return the length of a sequence of yes and no in the code of Krichevsky and Trofimov.

    .. math:: L = -\log_2 \frac{\Gamma(y + \frac12)\,\Gamma(n + \frac12)}{\pi\,\Gamma(y + n + 1)}

    which is what :math:`-\log_2 \frac{y + 1/2}{y + n + 1}` for each yes, and the like for each no,
    sum up to, in any order. *Checked by* ``test_lengths_of_all_sequences_are_a_code``.

    Examples
    --------
    Five hundred answers of which ten are yes:

    >>> round(kt_bits(10, 490), 1), round(kt_bits(1, 0), 9)
    (75.5, 1.0)
    """
    nats = _LN_PI + lgamma(yes + no + 1) - (lgamma(yes + 0.5) + lgamma(no + 0.5))
    return max(0.0, nats / _LN2)


@dataclass(frozen=True, slots=True)
class Spent:
    r"""What has been told so far: the number of answers and the bits of the whole transcript.

    Yes and no are counted in the code of Krichevsky and Trofimov, values by the logarithm of the
    number of levels: given what came before, these are chances that sum to one, so the lengths
    of all transcripts of any analyst satisfy Kraft's inequality.

    ``value_bits`` are the bits of all answers but yes and no, ``claims`` how many answers came with
    a claim about the truth, such as an interval.
    """

    answers: int = 0
    yes: int = 0
    no: int = 0
    value_bits: float = 0.0
    claims: int = 0

    @property
    def bits(self) -> float:
        """Return the length of the transcript, in bits."""
        return kt_bits(self.yes, self.no) + self.value_bits

    def bit(self, answer: bool, *, claim: bool = True) -> Spent:  # noqa: FBT001 - the answer
        """Return what is spent after one more yes or no."""
        yes, no = self.yes + bool(answer), self.no + (not answer)
        return Spent(self.answers + 1, yes, no, self.value_bits, self.claims + claim)

    def value(self, levels: int | Fraction) -> Spent:
        """Return what is spent after one more value, one of ``levels``; 1 if none is to be seen.

        Where values are not equally usual, it is one over the chance of the value.
        """
        total = self.value_bits + log2(levels)
        up = nextafter(total, inf) if levels > 1 else total
        return Spent(self.answers + 1, self.yes, self.no, up, self.claims + 1)


# ---- One writer's time alone with a ledger, and the lines it reads and writes --------------------


TOLD = Struct(">QQdQ")
"""How many yes, how many no, the bits of values, how many claims."""

ANSWERS, GROWTH = "answers", "growth"


@dataclass(frozen=True, slots=True)
class Line:
    """One answer of a ledger: when, to what, and all that was told until then, it included."""

    number: int
    when: str
    what: str
    spent: Spent

    @property
    def bits(self) -> float:
        """The bits told until then."""
        return self.spent.bits


@dataclass(frozen=True, slots=True)
class Growth:
    """Rows that were added to a sample.

    When, in UTC as ISO 8601; after how many answers; how many; and how many there are since then.
    """

    when: str
    answers: int
    added: int
    n: int


class Turn:
    """One writer's time alone with a ledger: read, decide, charge."""

    __slots__ = ("_before", "_over", "_process", "ledger", "n", "spent", "transaction")

    def __init__(self, ledger: TranscriptLedger, transaction: AnyTransaction) -> None:
        self.ledger, self.transaction = ledger, transaction
        self._over, self._process = False, os.getpid()
        self._before: Spent | None = None
        line, grown = transaction.last(ANSWERS), transaction.last(GROWTH)
        self.spent = Spent() if line is None else _line(line).spent
        self.n = ledger.first if grown is None else _growth(grown).n

    def history(self) -> list[Line]:
        return [_line(row) for row in self.transaction.rows(ANSWERS)]

    def growth(self) -> list[Growth]:
        """Return when rows were added."""
        return [_growth(row) for row in self.transaction.rows(GROWTH)]

    def grow(self, n: int, **facts: str | None) -> None:
        """Count rows that were added, ``n`` in all; further facts are kept in the same line."""
        self._require_open()
        row = {"time": now(), "answers": self.spent.answers, "added": n - self.n, "n": n}
        self.transaction.write(GROWTH, {**row, **facts})
        self.n = self.ledger.n = n

    def require(self, n: int) -> None:
        """Refuse to answer from ``n`` rows where there are others by now."""
        if n != self.n:
            raise ParameterError(
                "the rows",
                f"be all {self.n} rows of the ledger, as rows were added in the meantime", f"{n}",
                "Nothing was answered. Add the new rows first with extend(...), or reopen the "
                "ledger.",
            )  # fmt: skip

    def halfwidth(self) -> float:
        """Return the half-width that the next answer will have."""
        return self.ledger.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the query answered last in this turn.

        There is one interval for an answer, and none without: a query that was looked at and not
        charged is in no count.
        """
        if self._before is None or self._before.claims == self.spent.claims:
            must = "interval() needs an answer charged in this transaction."
            hint = "Charge it first, such as turn.value(levels=101)."
            raise ParameterError("interval", must, "", hint)
        return self.ledger.interval_after(self._before, average)

    def bit(
        self,
        answer: bool,  # noqa: FBT001 - the answer
        what: str = "bit",
        *,
        claim: bool = True,
        limited: bool = True,
    ) -> float:
        """Charge a yes or a no and return its bits; whether it fits never depends on which.

        A mere yes or no about the sample, without a ``claim`` about the truth such as an interval,
        is told, and costs its bits, but cannot be wrong. What would take the next half-width above
        the ledger's error is refused, unless ``limited`` is false: for callers who otherwise keep
        the intervals within it.
        """
        yes = self.spent.bit(answer=True, claim=claim)
        no = self.spent.bit(answer=False, claim=claim)
        told = yes if flag(answer, "answer") else no
        dearest = no if yes.yes > no.no else yes
        return self._charge(told, dearest if limited else None, what)

    def value(self, levels: int, what: str = "value") -> float:
        """Charge a value that is one of ``levels`` and return its bits."""
        told = self.spent.value(integer(levels, "levels", least=1))
        return self._charge(told, told, what)

    def unlikely(self, chance: Fraction, what: str = "value") -> float:
        """Charge one of several values by its chance, and return its bits.

        The chances of all values are fixed by what was told before, and sum to 1 at most. Nothing
        is refused here, since the bits depend on the value.
        """
        return self._charge(self.spent.value(1 / chance), None, what)

    def last(self, levels: int, what: str = "last") -> float:
        """Charge a value after which there will be none, so that its bits narrow nothing."""
        return self._charge(self.spent.value(integer(levels, "levels", least=1)), None, what)

    def end(self) -> None:
        """Let nothing more be charged in this turn."""
        self._over = True

    def _require_open(self) -> None:
        if self._over or os.getpid() != self._process:
            must = "This transaction has ended, or was begun by another process."
            hint = "Use ledger.turn(lambda turn: turn.bit(answer))."
            raise SourdineError("a turn", must, "", hint)

    def _charge(self, told: Spent, dearest: Spent | None, what: str) -> float:
        """Write what was told, and return once the line is on the disk, if there is one.

        A line takes the same bytes whatever was told: a disk without room for one more byte must
        not refuse one answer and take another
        (``test_a_line_takes_as_much_room_whatever_it_says``).
        """
        self._require_open()
        self.require(self.ledger.n)
        after, limit = 0.0, self.ledger.limit
        if dearest is not None and limit < inf:
            after = self.ledger.halfwidth_after(dearest)
        if after > limit:
            raise BudgetExceededError(
                "the next half-width",
                f"Budget exceeded: the half-width after this answer would be {after:.4g}, "
                f"above the limit of {limit:g}.", f"{after:.4g}",
                "Nothing was answered. Use fresh rows: another ledger over the same rows "
                "would not account for these answers.",
            )  # fmt: skip
        bits = told.bits - self.spent.bits
        packed = TOLD.pack(told.yes, told.no, told.value_bits, told.claims).hex()
        row = {"number": told.answers, "time": now(), "what": what, "told": packed}
        self.transaction.write(ANSWERS, row)
        self._before, self.spent = self.spent, told
        return bits


class MemoryTransaction:
    """Lines that end with the process."""

    __slots__ = ("tables",)

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {}

    def rows(self, table: str) -> list[Row]:
        return list(self.tables.get(table, ()))

    def last(self, table: str) -> Row | None:
        rows = self.tables.get(table)
        return rows[-1] if rows else None

    def write(self, table: str, row: Row) -> None:
        self.tables.setdefault(table, []).append(row)


class UnreadableLineError(Exception):
    """A line is whole, but says what cannot be."""


def _line(row: Row) -> Line:
    try:
        number = int(row["number"])
        yes, no, bits, claims = TOLD.unpack(bytes.fromhex(row["told"]))
        return Line(number, row["time"], row["what"], Spent(number, yes, no, bits, claims))
    except (LookupError, TypeError, ValueError, error):
        raise UnreadableLineError from None


def _growth(row: Row) -> Growth:
    try:
        return Growth(row["time"], int(row["answers"]), int(row["added"]), int(row["n"]))
    except (LookupError, TypeError, ValueError):
        raise UnreadableLineError from None


def grows(first: int, growth: list[Growth], answers: int) -> bool:
    """Return whether each line adds rows to those before it, after no fewer answers."""
    n, told = first, 0
    for line in growth:
        if line.added < 1 or line.n != n + line.added or not told <= line.answers <= answers:
            return False
        n, told = line.n, line.answers
    return True


def rows_at(answer: int, first: int, growth: list[Growth]) -> int:
    """Return how many rows there were when an answer was given."""
    return next((line.n for line in reversed(growth) if line.answers < answer), first)


def add_up(lines: list[Line]) -> bool:
    """Return whether every line is the one before it and one more answer."""
    before = Spent()
    for line in lines:
        told, alike = line.spent, before.value(1)
        bits = [before.bit(x, claim=claim) for x in (True, False) for claim in (True, False)]
        valued = replace(told, value_bits=alike.value_bits) == alike
        if told not in bits and not (valued and before.value_bits <= told.value_bits < inf):
            return False
        before = told
    return True
