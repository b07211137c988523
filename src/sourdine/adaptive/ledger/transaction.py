"""One writer's time alone with a ledger, and the lines it reads and writes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import inf
from sqlite3 import DatabaseError
from struct import Struct, error
from typing import TYPE_CHECKING, Protocol

from sourdine.adaptive.ledger.codes import Spent
from sourdine.append_only import now
from sourdine.errors import BudgetExceededError, ParameterTypeError, SourdineError
from sourdine.exact import flag, integer

if TYPE_CHECKING:
    from sqlite3 import Connection

    from sourdine.adaptive.ledger.ledger import TranscriptLedger

__all__ = ["FileLines", "Line", "Lines", "MemoryLines", "Turn", "add_up"]

TOLD = Struct(">QQd")
"""How many yes, how many no, and the bits of values."""


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

    __slots__ = ("_lines", "_over", "_process", "charged", "ledger", "spent")

    def __init__(self, ledger: TranscriptLedger, lines: Lines) -> None:
        self.ledger = ledger
        self._lines = lines
        self._over = False
        self._process = os.getpid()
        self.charged = False
        self.spent = lines.spent()

    @property
    def connection(self) -> Connection:
        """The open transaction of a ledger that is kept in a file."""
        if not isinstance(self._lines, FileLines):
            raise ParameterTypeError(
                "a connection",
                "be that of a ledger in a file",
                "a ledger in memory",
                "Type {path}.",
                path="eval.ledger",
            )
        return self._lines.connection

    def history(self) -> list[Line]:
        """Return all answers so far."""
        return self._lines.read()

    def halfwidth(self) -> float:
        """Return the half-width of the next query."""
        return self.ledger.halfwidth_after(self.spent)

    def interval(self, average: float) -> tuple[float, float]:
        """Return ends for the truth of the next query."""
        return self.ledger.interval_after(self.spent, average)

    def bit(self, answer: bool, what: str = "bit") -> float:  # noqa: FBT001 - the answer
        """Charge a yes or a no and return its bits; whether it fits never depends on which."""
        yes, no = self.spent.bit(True), self.spent.bit(False)  # noqa: FBT003
        told = yes if flag(answer, "answer") else no
        return self._charge(told, no if yes.yes > no.no else yes, what)

    def value(self, levels: int, what: str = "value") -> float:
        """Charge a value that is one of ``levels`` and return its bits."""
        told = self.spent.value(integer(levels, "levels", least=1))
        return self._charge(told, told, what)

    def last(self, levels: int, what: str = "last") -> float:
        """Charge a value after which there will be none, so that its bits narrow nothing."""
        return self._charge(self.spent.value(integer(levels, "levels", least=1)), self.spent, what)

    def end(self) -> None:
        """Let nothing more be charged in this turn."""
        self._over = True

    def _charge(self, told: Spent, dearest: Spent, what: str) -> float:
        if self._over or os.getpid() != self._process:
            raise SourdineError(
                "a turn",
                "be used before it ends, in the process that began it",
                "one that is over",
                "Type with ledger.turn() as turn: turn.bit(answer).",
            )
        limit = self.ledger.limit
        if limit < inf and (after := self.ledger.halfwidth_after(dearest)) > limit:
            raise BudgetExceededError(
                "the next half-width",
                f"stay at most {limit:g}",
                f"{after:.4g} after this answer",
                "Nothing was answered. Take fresh rows: another ledger over the same ones would "
                "not know what these have told.",
            )
        bits = told.bits - self.spent.bits
        self.charged = True
        self._lines.add(Line(told.answers, now(), what, told))
        self.spent = told
        return bits


class Lines(Protocol):
    """Where lines are kept."""

    def spent(self) -> Spent:
        """Return what the last line says."""

    def read(self) -> list[Line]:
        """Return all of them."""

    def add(self, line: Line) -> None:
        """Write one more."""

    def keep(self) -> None:
        """Make sure that what was written stays, though the turn fails."""


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

    def keep(self) -> None:
        """Do nothing: memory forgets nothing by itself."""


class FileLines:
    """Lines of an open file.

    What was told takes the same bytes whatever it was: a disk without room for one more page must
    not refuse one answer and take another (``test_a_line_takes_as_much_room_whatever_it_says``).
    """

    __slots__ = ("connection",)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def spent(self) -> Spent:
        """Return what the last line says."""
        last = self.read("ORDER BY number DESC LIMIT 1")
        return last[0].spent if last else Spent()

    def read(self, order: str = "ORDER BY number") -> list[Line]:
        """Return all of them."""
        fields = "number, time, what, told"
        rows = self.connection.execute(f"SELECT {fields} FROM answers {order}")  # noqa: S608 - ours
        return [Line(n, when, what, Spent(n, *_unpacked(told))) for n, when, what, told in rows]

    def add(self, line: Line) -> None:
        """Write one more."""
        told = TOLD.pack(line.spent.yes, line.spent.no, line.spent.value_bits)
        self.connection.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?)", (line.number, line.when, line.what, told)
        )

    def keep(self) -> None:
        """Write to the disk what was charged in a turn that fails."""
        if self.connection.in_transaction:
            self.connection.execute("COMMIT")


def _unpacked(told: bytes) -> tuple[int, int, float]:
    try:
        return TOLD.unpack(told)
    except (TypeError, error):
        raise DatabaseError("a line cannot be read") from None


def add_up(lines: list[Line]) -> bool:
    """Return whether every line is the one before it and one more answer."""
    before = Spent()
    for line in lines:
        if not _follows(before, line.spent):
            return False
        before = line.spent
    return True


def _follows(before: Spent, told: Spent) -> bool:
    if told in (before.bit(True), before.bit(False)):  # noqa: FBT003
        return True
    alike = (told.answers, told.yes, told.no) == (before.answers + 1, before.yes, before.no)
    bits = told.value_bits
    return alike and isinstance(bits, float) and before.value_bits <= bits < inf
