r"""Where charges are kept: in memory, or in a file that outlives the process.

A charge is written before the mechanism runs. If the process dies in between, the charge stays: a
ledger may say too much, never too little.

The file is a `sourdine.append_only.Book` of ``terms`` (one line), ``charges`` and ``answers``.
Every charge holds the sum so far, so one costs the same work however many came before it. An answer
names its charge, and holds what was released as JSON.

*Claim*: no charge is lost or doubled when the process is killed, and the total is never passed.
*Checked by* ``test_killed_processes_lose_no_charge``. *Claim*: of many processes that race for the
last part of a budget as many succeed as fit. *Checked by* ``test_writers_share_exactly_the_total``.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from sourdine import __version__
from sourdine.append_only import Book, FileKind, now
from sourdine.append_only.book import IDENTITY
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import Guarantee, afterwards
from sourdine.session.charges import Charge, Terms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sourdine.append_only import Page
    from sourdine.append_only.chain import Row

__all__ = ["FileLedger", "Ledger", "MemoryLedger"]

LONGEST_NUMBER = 10_000
"""Letters of a number that a ledger holds."""

LEDGER = FileKind(noun="ledger", mark="ledger", version=2)
TERMS, CHARGES, ANSWERS = "terms", "charges", "answers"
T = TypeVar("T")


class Ledger(Protocol):
    """A list of charges under fixed terms."""

    @property
    def terms(self) -> Terms:
        """What it is for."""

    @property
    def identity(self) -> str | None:
        """What tells its file from all others; None if there is no file."""

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down for good, or raise `BudgetExceededError` and write nothing."""

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""


class MemoryLedger:
    """Charges that end with the process; safe under threads, refused in a forked process."""

    __slots__ = ("_charges", "_lock", "_process", "terms")

    identity = None

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        return list(self._charges)

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        last = self._charges[-1:]
        return last[0].spent if last else Guarantee(0, 0, self.terms.total.relation)

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down, or raise and write nothing."""
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "a session without a ledger",
                "stay in the process that made it",
                "a forked one",
                "Type {ledger} to share one budget among processes.",
                ledger="data.ledger",
            )
        with self._lock:
            asked = {"what": what, "mechanism": mechanism, "parameters": parameters}
            charge = _next(self.terms.total, self._charges[-1:], cost, asked)
            self._charges.append(charge)
            return charge

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""
        self._charges[charge.number - 1] = replace(charge, answer=answer, version=__version__)


class FileLedger:
    """Charges in a file, shared by all processes that name it.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    terms
        What the ledger is for; None if the file is there and its own terms rule.

    Raises
    ------
    ParameterError
        The file is not a ledger, is damaged, or is for other terms.
    """

    __slots__ = ("book", "terms")

    def __init__(self, path: str | os.PathLike[str], terms: Terms | None) -> None:
        if terms is None and not os.path.exists(path):  # noqa: PTH110 - bytes are paths too
            raise ParameterError(
                "ledger",
                "be a file that exists, or a new one with a total",
                f"{os.fsdecode(path)} (no such file)",
                "Type another path; or {epsilon}, the total that all releases may cost together, "
                "to begin it.",
                epsilon=1,
            )
        self.book = Book(path, LEDGER, None if terms is None else [(TERMS, _terms_row(terms))])
        self.terms, _ = self._turn(_sound)
        if terms is not None:
            self.terms.require(terms, f"the ledger {self.path.name}")

    @property
    def path(self) -> Path:
        """The file."""
        return self.book.path

    @property
    def identity(self) -> str:
        """What tells its file from all others."""
        return str((self._turn(lambda page: page.last(IDENTITY)) or {})["identity"])

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        return self._turn(lambda page: _answered(page, _sound(page)[1]))

    @property
    def spent(self) -> Guarantee:
        """The sum of all charges."""
        total = self.terms.total
        last = self._turn(lambda page: _last(page, total))
        return last[0].spent if last else Guarantee(0, 0, total.relation)

    def charge(self, cost: Guarantee, *, what: str, mechanism: str, parameters: str) -> Charge:
        """Write a charge down and wait for the disk, or raise and write nothing."""
        total = self.terms.total
        asked = {"what": what, "mechanism": mechanism, "parameters": parameters}

        def write(page: Page) -> Charge:
            charge = _next(total, _last(page, total), cost, asked)
            page.write(CHARGES, _row(charge))
            return charge

        return self._turn(write)

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge, and wait for the disk."""
        row = {"number": charge.number, "version": __version__, "answer": answer}
        self._turn(lambda page: page.write(ANSWERS, row))

    def _turn(self, work: Callable[[Page], T]) -> T:
        try:
            return self.book.turn(work)
        except _UnreadableError as error:
            raise self.book.refusal(str(error)) from None


class _UnreadableError(Exception):
    """A line is whole, but says what cannot be."""


def _next(total: Guarantee, last: list[Charge], cost: Guarantee, asked: dict[str, str]) -> Charge:
    """Return the line that follows the last one, or refuse it."""
    spent = last[0].spent if last else Guarantee(0, 0, total.relation)
    return Charge(
        number=last[0].number + 1 if last else 1,
        when=now(),
        cost=Guarantee.from_dict(cost.under(total.relation).to_dict()),
        spent=afterwards(total, spent, cost),
        **asked,
    )


def _terms_row(terms: Terms) -> Row:
    return {
        **terms.total.to_dict(),
        "unit": terms.unit,
        "rows": terms.rows,
        "name": terms.name,
    }


def _row(charge: Charge) -> Row:
    cost, spent = charge.cost.to_dict(), charge.spent.to_dict()
    return {
        "number": charge.number,
        "time": charge.when,
        "what": charge.what,
        "mechanism": charge.mechanism,
        "parameters": charge.parameters,
        "epsilon": cost["epsilon"],
        "delta": cost["delta"],
        "spent_epsilon": spent["epsilon"],
        "spent_delta": spent["delta"],
    }


def _exact(text: str) -> Fraction:
    """Return a number as ledgers write it: digits, or digits over digits, not too many."""
    if len(text) > LONGEST_NUMBER or not re.fullmatch(r"\d+(/\d+)?", text):
        raise ValueError(text)
    return Fraction(text)


def _sound(page: Page) -> tuple[Terms, list[Charge]]:
    """Return terms and charges, whose sums agree."""
    row = page.last(TERMS) or {}
    try:
        total = Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), row["relation"])
        terms = Terms(total=total, unit=row["unit"], rows=row["rows"], name=row["name"])
    except (LookupError, ValueError, TypeError, ZeroDivisionError):
        raise _UnreadableError("its terms cannot be read") from None
    charges = [_charge(row, total) for row in page.rows(CHARGES)]
    spent = Guarantee(0, 0, total.relation)
    for i, charge in enumerate(charges, 1):
        try:
            spent = afterwards(total, spent, charge.cost)
        except BudgetExceededError:
            raise _UnreadableError("charges above the total") from None
        if charge.spent != spent or charge.number != i:
            raise _UnreadableError(f"line {charge.number} does not add up")
    return terms, charges


def _answered(page: Page, charges: list[Charge]) -> list[Charge]:
    """Return the charges with what was kept of their answers."""
    found = list(charges)
    for row in page.rows(ANSWERS):
        number, answer, version = (row.get(name) for name in ("number", "answer", "version"))
        if not isinstance(number, int) or not 1 <= number <= len(found):
            raise _UnreadableError("an answer to no charge")
        if not isinstance(answer, str) or found[number - 1].answer is not None:
            raise _UnreadableError(f"the answer to line {number} cannot be read")
        found[number - 1] = replace(found[number - 1], answer=answer, version=str(version))
    return found


def _last(page: Page, total: Guarantee) -> list[Charge]:
    row = page.last(CHARGES)
    return [] if row is None else [_charge(row, total)]


def _charge(row: Row, total: Guarantee) -> Charge:
    relation = total.relation.value
    try:
        return Charge(
            number=row["number"],
            when=row["time"],
            what=row["what"],
            mechanism=row["mechanism"],
            parameters=row["parameters"],
            cost=Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), relation),
            spent=Guarantee(_exact(row["spent_epsilon"]), _exact(row["spent_delta"]), relation),
        )
    except (LookupError, ValueError, TypeError, ZeroDivisionError):
        raise _UnreadableError("a number cannot be read") from None
