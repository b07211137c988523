"""One writer's time alone with a ledger, and the lines it reads and writes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import inf
from struct import Struct, error
from typing import TYPE_CHECKING, Protocol

from sourdine.adaptive.ledger.codes import Spent
from sourdine.append_only import now
from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
from sourdine.exact import flag, integer

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.adaptive.ledger.ledger import TranscriptLedger
    from sourdine.append_only import Page
    from sourdine.append_only.chain import Row

__all__ = ["FileLines", "Line", "Lines", "MemoryLines", "Turn", "UnreadableLineError", "add_up"]

TOLD = Struct(">QQdQ")
"""How many yes, how many no, the bits of values, how many claims."""

ANSWERS = "answers"


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


class Turn:
    """One writer's time alone with a ledger: read, decide, charge."""

    __slots__ = ("_before", "_lines", "_over", "_process", "ledger", "spent")

    def __init__(self, ledger: TranscriptLedger, lines: Lines) -> None:
        self.ledger = ledger
        self._lines = lines
        self._over = False
        self._process = os.getpid()
        self._before: Spent | None = None
        self.spent = lines.spent()

    @property
    def page(self) -> Page:
        """The open file of a ledger that is kept in one."""
        if not isinstance(self._lines, FileLines):
            raise ParameterTypeError(
                "a page",
                "be that of a ledger in a file",
                "a ledger in memory",
                "Type {path}.",
                path="eval.ledger",
            )
        return self._lines.page

    def history(self) -> list[Line]:
        """Return all answers so far."""
        return self._lines.read()

    def halfwidth(self) -> float:
        """Return the half-width that the next answer will have."""
        return self.ledger.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the query answered last in this turn.

        There is one interval for an answer, and none without: a query that was looked at and not
        charged is in no count.
        """
        if self._before is None or self._before.claims == self.spent.claims:
            raise ParameterError(
                "an interval",
                "be of an answer that was charged in this turn",
                "none",
                "Charge it first, such as turn.value(levels=101).",
            )
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

        Parameters
        ----------
        answer
            Yes or no.
        what
            The question.
        claim
            Whether something is said of the truth, as an interval does. A mere yes or no about the
            sample is told, and costs its bits, but cannot be wrong.
        limited
            Whether to refuse what would take the next half-width above the ledger's error; False
            for who keeps the intervals within it in another way.
        """
        yes = self.spent.bit(True, claim=claim)  # noqa: FBT003
        no = self.spent.bit(False, claim=claim)  # noqa: FBT003
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

    def _charge(self, told: Spent, dearest: Spent | None, what: str) -> float:
        if self._over or os.getpid() != self._process:
            raise SourdineError(
                "a turn",
                "be used before it ends, in the process that began it",
                "one that is over",
                "Type ledger.turn(lambda turn: turn.bit(answer)).",
            )
        limit = self.ledger.limit
        if (
            dearest is not None
            and limit < inf
            and (after := self.ledger.halfwidth_after(dearest)) > limit
        ):
            raise BudgetExceededError(
                "the next half-width",
                f"stay at most {limit:g}",
                f"{after:.4g} after this answer",
                "Nothing was answered. Take fresh rows: another ledger over the same ones would "
                "not know what these have told.",
            )
        bits = told.bits - self.spent.bits
        self._lines.add(Line(told.answers, now(), what, told))
        self._before, self.spent = self.spent, told
        return bits


class Lines(Protocol):
    """Where lines are kept."""

    def spent(self) -> Spent:
        """Return what the last line says."""

    def read(self) -> list[Line]:
        """Return all of them."""

    def add(self, line: Line) -> None:
        """Write one more."""


class MemoryLines:
    """Lines that end with the process."""

    __slots__ = ("lines",)

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    def spent(self) -> Spent:
        """Return what the last line says."""
        return self.lines[-1].spent if self.lines else Spent()

    def read(self) -> list[Line]:
        """Return all of them."""
        return list(self.lines)

    def add(self, line: Line) -> None:
        """Write one more."""
        self.lines.append(line)


class FileLines:
    """Lines of an open file.

    What was told takes the same bytes whatever it was: a disk without room for one more byte must
    not refuse one answer and take another (``test_a_line_takes_as_much_room_whatever_it_says``).
    """

    __slots__ = ("page",)

    def __init__(self, page: Page) -> None:
        self.page = page

    def spent(self) -> Spent:
        """Return what the last line says."""
        row = self.page.last(ANSWERS)
        return Spent() if row is None else _line(row).spent

    def read(self) -> list[Line]:
        """Return all of them."""
        return [_line(row) for row in self.page.rows(ANSWERS)]

    def add(self, line: Line) -> None:
        """Write one more, and wait for the disk."""
        spent = line.spent
        told = TOLD.pack(spent.yes, spent.no, spent.value_bits, spent.claims).hex()
        row = {"number": line.number, "time": line.when, "what": line.what, "told": told}
        self.page.write(ANSWERS, row)


class UnreadableLineError(Exception):
    """A line is whole, but says what cannot be."""


def _line(row: Row) -> Line:
    try:
        number = int(row["number"])
        yes, no, bits, claims = TOLD.unpack(bytes.fromhex(row["told"]))
        return Line(number, row["time"], row["what"], Spent(number, yes, no, bits, claims))
    except (LookupError, TypeError, ValueError, error):
        raise UnreadableLineError from None


def add_up(lines: list[Line]) -> bool:
    """Return whether every line is the one before it and one more answer."""
    before = Spent()
    for line in lines:
        if not _follows(before, line.spent):
            return False
        before = line.spent
    return True


def _follows(before: Spent, told: Spent) -> bool:
    bits = [before.bit(x, claim=claim) for x in (True, False) for claim in (True, False)]
    if told in bits:
        return True
    alike = before.value(1)
    same = (told.answers, told.yes, told.no, told.claims) == (
        *(alike.answers, alike.yes, alike.no),
        alike.claims,
    )
    return same and before.value_bits <= told.value_bits < inf
