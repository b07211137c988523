"""Ledgers that outlive the process: in a file, or in a database.

A ledger is a book of ``terms`` (one line), ``charges`` and ``answers``: a file
(`sourdine.append_only.Book`) or rows of a database (`sourdine.database.TableBook`), the same lines
in both. Every charge holds the sum so far, so one costs the same work however many came before it.
An answer names its charge, and holds what was released as JSON.

*Claim*: no charge is lost or doubled when the process is killed, and the total is never passed.
*Checked by* ``test_killed_processes_lose_no_charge``. *Claim*: of many processes that race for the
last part of a budget as many succeed as fit. *Checked by* ``test_writers_share_exactly_the_total``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sourdine.append_only import Book, FileKind
from sourdine.append_only.kept import IDENTITY
from sourdine.database import Address, SharedDatabase, TableBook, is_address
from sourdine.errors import ParameterError
from sourdine.session import lines
from sourdine.session.ledger import Charging
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sourdine.append_only import Page
    from sourdine.append_only.chain import Row
    from sourdine.database import TablePage
    from sourdine.session.accounts import Account
    from sourdine.session.charges import Charge, Terms
    from sourdine.session.ledger import ChargingDesk

__all__ = ["LEDGER", "BookLedger", "DatabaseLedger", "FileLedger", "beginning", "opened_ledger"]

LEDGER = FileKind(noun="ledger", mark="ledger", version=3, older=(2,))
TERMS, CHARGES, ANSWERS = "terms", "charges", "answers"
T = TypeVar("T")


class BookLedger(Charging):
    """Charges in a book, wherever that is kept.

    Parameters
    ----------
    book
        A book of terms, charges and answers: a file, or rows of a database.
    terms
        What the ledger is for; None if its own terms rule.

    Raises
    ------
    ParameterError
        The book is not a ledger, is damaged, or is for other terms.
    """

    __slots__ = ("book", "terms")

    def __init__(self, book: Book | TableBook, terms: Terms | None = None) -> None:
        self.book = book
        self.terms, _ = self._looked(_sound)
        if terms is not None:
            self.terms.require(terms, f"the ledger {book.name}")

    @property
    def identity(self) -> str:
        """What tells it from all others."""
        return str((self._looked(lambda page: page.last(IDENTITY)) or {})["identity"])

    @property
    def history(self) -> list[Charge]:
        """All charges, the first one first."""
        return self.reading(lambda _, charges: charges)

    def reading(self, work: Callable[[Page | TablePage, list[Charge]], T]) -> T:
        """Run a function on a page and all charges with their answers, which add up."""
        return self._looked(lambda page: work(page, _answered(page, _sound(page)[1])))

    @property
    def account(self) -> Account:
        """What was spent until now."""
        last = self._looked(lambda page: self.desk(page).last())
        return self.terms.start if last is None else last.account

    def desk(self, page: Page | TablePage, beside: Row | None = None) -> ChargingDesk:
        """Return a page of the book as a place to charge at.

        Parameters
        ----------
        page
            The page.
        beside
            What each charge's line says besides, such as whose request it is.
        """
        return _PageDesk(page, self.terms, self.book.version, beside or {})

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge, and wait for the disk."""
        self._in_words(
            lambda: self.book.turn(lambda page: self.answer(page, charge.number, answer))
        )

    def answer(self, page: Page | TablePage, number: int, answer: str) -> None:
        """Write down in a turn what was released for the charge of a number."""
        row = {"number": number, "version": __version__, "answer": answer}
        page.write(ANSWERS, row)

    def _turn(self, work: Callable[[ChargingDesk], T]) -> T:
        return self._in_words(lambda: self.book.turn(lambda page: work(self.desk(page))))

    def _looked(self, work: Callable[[Page | TablePage], T]) -> T:
        return self._in_words(lambda: self.book.look(work))

    def _in_words(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except lines.UnreadableError as error:
            raise self.book.refusal(str(error)) from None


class DatabaseLedger(BookLedger):
    """Charges in a database, shared by all processes that name it.

    Parameters
    ----------
    address
        The database, and behind ``#`` the ledger's name in it, ``ledger`` if that is left out. The
        database is there, with its tables; the ledger is made if it is not.
    terms
        What the ledger is for; None if it is there and its own terms rule.
    """

    __slots__ = ()

    def __init__(self, address: str, terms: Terms | None) -> None:
        where = Address.read(address)
        super().__init__(
            TableBook(SharedDatabase(where), where.part or "ledger", LEDGER, beginning(terms)),
            terms,
        )


class FileLedger(BookLedger):
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

    __slots__ = ()
    book: Book

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
        super().__init__(Book(path, LEDGER, beginning(terms)), terms)

    @property
    def path(self) -> Path:
        """The file."""
        return self.book.path


def opened_ledger(where: str | os.PathLike[str] | BookLedger, terms: Terms | None) -> BookLedger:
    """Return the ledger at a path, or at the address of a database; one that is open as it is."""
    if isinstance(where, BookLedger):
        if terms is not None:
            where.terms.require(terms, f"the ledger {where.book.name}")
        return where
    if is_address(where):
        return DatabaseLedger(str(where), terms)
    return FileLedger(where, terms)


def beginning(terms: Terms | None) -> list[tuple[str, Row]] | None:
    """Return the first line of a new ledger; None if it must be there."""
    return None if terms is None else [(TERMS, lines.terms_row(terms))]


@dataclass(frozen=True, slots=True)
class _PageDesk:
    page: Page | TablePage
    terms: Terms
    version: int
    beside: Row

    def last(self) -> Charge | None:
        row = self.page.last(CHARGES)
        return None if row is None else lines.read_charge(row, self.terms)

    def write(self, charge: Charge) -> None:
        self.page.write(CHARGES, {**lines.charge_row(charge, self.version), **self.beside})


def _sound(page: Page | TablePage) -> tuple[Terms, list[Charge]]:
    """Return terms and charges, whose sums agree."""
    terms = lines.read_terms(page.last(TERMS) or {})
    charges = [lines.read_charge(row, terms) for row in page.rows(CHARGES)]
    lines.require_sound(terms, charges)
    return terms, charges


def _answered(page: Page | TablePage, charges: list[Charge]) -> list[Charge]:
    """Return the charges with what was kept of their answers."""
    found = list(charges)
    for row in page.rows(ANSWERS):
        number, answer, version = (row.get(name) for name in ("number", "answer", "version"))
        if not isinstance(number, int) or not 1 <= number <= len(found):
            raise lines.UnreadableError("an answer to no charge")
        if not isinstance(answer, str) or found[number - 1].answer is not None:
            raise lines.UnreadableError(f"the answer to line {number} cannot be read")
        found[number - 1] = replace(found[number - 1], answer=answer, version=str(version))
    return found
