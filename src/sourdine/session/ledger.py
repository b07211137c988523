"""Ledgers: in memory, in a file, or in a database."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from sourdine.errors import BudgetExceededError, MissingFileError
from sourdine.privacy.accounting.parts import of_promise
from sourdine.session import charges as lines
from sourdine.session.charges import FilterAccount, under
from sourdine.storage.database import Address, SharedDatabase, is_address
from sourdine.storage.journal import IDENTITY, FileKind, Journal, TableJournal
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sourdine.privacy import Guarantee, Part, Relation
    from sourdine.session.charges import Account, Charge, Terms
    from sourdine.storage.journal import JournalTransaction, Row, TableTransaction

    LedgerTransaction = JournalTransaction | TableTransaction


# ---- A list of charges, wherever it is kept, and one that is kept in memory ----------------------
#
# A charge is written before the mechanism runs. If the process dies in between, the charge stays: a
# ledger may say too much, never too little.


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is to be charged: the public facts of one call.

    ``parts`` is what its loss is made of, at most; None where only the promise is known.
    """

    cost: Guarantee
    what: str
    mechanism: str
    parameters: str
    parts: tuple[Part, ...] | None = None

    def line(self, before: Account, number: int, *, declared: bool = False) -> Charge:
        """Return the line of a ledger that follows, or refuse it."""
        asked = {name: getattr(self, name) for name in ("what", "mechanism", "parameters")}
        return lines.following(before, number, self.cost, self._known(), asked, declared=declared)

    def loss(self, relation: Relation) -> tuple[Part, ...]:
        """Return the parts under the relation of a total."""
        return under(self.cost, self._known(), relation)

    def _known(self) -> tuple[Part, ...]:
        if self.parts is not None:
            return self.parts
        return of_promise(self.cost) if self.cost.is_finite else ()


class Charger(Protocol):
    """One writer's time alone with a ledger."""

    def last(self) -> Charge | None:
        """Return the last charge."""

    def put(self, charge: Charge) -> None:
        """Write a charge down for good."""


class Ledger(ABC):
    """A list of charges under fixed terms; ledgers differ in where the lines are kept."""

    __slots__ = ()
    terms: Terms
    """What it is for."""

    @property
    @abstractmethod
    def identity(self) -> str | None:
        """What tells its file from all others; None if there is no file."""

    @property
    @abstractmethod
    def history(self) -> list[Charge]:
        """All charges, the first one first."""

    @abstractmethod
    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""

    @abstractmethod
    def _turn(self, work: Callable[[Charger], T]) -> T:
        """Run a function while nobody else writes."""

    @property
    def account(self) -> Account:
        """What was spent until now."""
        last = self._turn(lambda desk: desk.last())
        return self.terms.start if last is None else last.account

    def charge_all(self, calls: Sequence[Call]) -> list[Charge]:
        """Write several charges down, or raise and write none.

        If their prices do not fit, but nothing was charged before and the certified curve of all
        of them together stays within the total, they are the whole of it: nothing is left then.
        """
        return self.declaring(
            lambda *, whole: self._turn(lambda desk: self.write(desk, calls, whole=whole)), calls
        )

    def declaring(self, attempt: Callable[..., T], calls: Sequence[Call]) -> T:
        """Call ``attempt(whole=False)``; if its charges do not fit one by one, ``whole=True``."""
        try:
            return attempt(whole=False)
        except BudgetExceededError:
            if len(calls) < 2 or not self._is_whole(calls):
                raise
        return attempt(whole=True)

    def write(self, desk: Charger, calls: Sequence[Call], *, whole: bool = False) -> list[Charge]:
        """Write charges in a turn, or raise and write none.

        ``whole`` is whether they are the whole of a total of which all is left.
        """
        last = desk.last()
        declared = whole and last is None
        account = self.terms.start if last is None else last.account
        first = 1 if last is None else last.number + 1
        written: list[Charge] = []
        for number, call in enumerate(calls, first):
            written.append(call.line(account, number, declared=declared))
            account = written[-1].account
        for charge in written:
            desk.put(charge)
        return written

    def _is_whole(self, calls: Sequence[Call]) -> bool:
        """Whether calls are, by their certified curve, within a total of which all is left."""
        start = self.terms.start
        if not isinstance(start, FilterAccount) or self.account != start:
            return False
        relation = start.spent.relation
        return start.is_whole(tuple(part for call in calls for part in call.loss(relation)))


class MemoryLedger(Ledger):
    """Charges that end with the process; safe under threads, refused in a forked process."""

    __slots__ = ("_charges", "_lock", "_process", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def identity(self) -> None:
        return None

    @property
    def history(self) -> list[Charge]:
        return list(self._charges)

    def _turn(self, work: Callable[[Charger], T]) -> T:
        with self._lock:
            return work(self)

    def last(self) -> Charge | None:
        return self._charges[-1] if self._charges else None

    def put(self, charge: Charge) -> None:
        if os.getpid() != self._process:
            what = "A session without a ledger cannot be used in a forked process."
            hint = "Use {ledger} to share one budget between processes."
            name = "a session without a ledger"
            raise BudgetExceededError(name, what, "", hint, ledger="data.ledger")
        self._charges.append(charge)

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge."""
        self._charges[charge.number - 1] = replace(charge, answer=answer, version=__version__)


# ---- Ledgers that outlive the process: in a file, or in a database -------------------------------
#
# A ledger is a journal of ``terms`` (one line), ``charges`` and ``answers``: a file (`Journal`) or
# rows of a database (`TableJournal`), the same lines in both. Every charge holds the sum so far, so
# one costs the same work however many came before it. An answer names its charge, and holds what
# was released as JSON.
#
# *Claim*: no charge is lost or doubled when the process is killed, and the total is never passed.
# *Checked by* ``test_killed_processes_lose_no_charge``. *Claim*: of many processes that race for
# the last part of a budget as many succeed as fit. *Checked by*
# ``test_writers_share_exactly_the_total``.


LEDGER = FileKind(noun="ledger", mark="ledger", version=3, older=(2,))
TERMS, CHARGES, ANSWERS = "terms", "charges", "answers"


class StoredLedger(Ledger):
    """Charges in a journal, in a file or a database; without ``terms`` its own rule.

    Raises
    ------
    ParameterError
        The journal is not a ledger, is damaged, or is for other terms.
    """

    __slots__ = ("journal", "terms")

    def __init__(self, journal: Journal | TableJournal, terms: Terms | None = None) -> None:
        self.journal = journal
        self.terms, _ = self._looked(_sound)
        if terms is not None:
            self.terms.require(terms, f"the ledger {journal.name}")

    @property
    def identity(self) -> str:
        """What tells it from all others."""
        return str((self._looked(lambda opened: opened.last(IDENTITY)) or {})["identity"])

    @property
    def history(self) -> list[Charge]:
        return self.reading(lambda _, charges: charges)

    def reading(self, work: Callable[[LedgerTransaction, list[Charge]], T]) -> T:
        """Run a function on a transaction and all charges with their answers, which add up."""
        return self._looked(lambda opened: work(opened, _answered(opened, _sound(opened)[1])))

    @property
    def account(self) -> Account:
        last = self._looked(lambda opened: self.desk(opened).last())
        return self.terms.start if last is None else last.account

    def desk(self, transaction: LedgerTransaction, beside: Row | None = None) -> Charger:
        """Return a transaction of the journal as a place to charge at.

        Each charge's line says what is ``beside`` it, too, such as whose request it is.
        """
        return _TransactionDesk(transaction, self.terms, self.journal.version, beside or {})

    def keep(self, charge: Charge, answer: str) -> None:
        """Write down what was released for a charge, and wait for the disk."""
        with self._in_words():
            self.journal.turn(lambda opened: self.answer(opened, charge.number, answer))

    def answer(self, transaction: LedgerTransaction, number: int, answer: str) -> None:
        """Write down in a turn what was released for the charge of a number."""
        transaction.write(ANSWERS, {"number": number, "version": __version__, "answer": answer})

    def _turn(self, work: Callable[[Charger], T]) -> T:
        with self._in_words():
            return self.journal.turn(lambda opened: work(self.desk(opened)))

    def _looked(self, work: Callable[[LedgerTransaction], T]) -> T:
        with self._in_words():
            return self.journal.look(work)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except lines.UnreadableError as error:
            raise self.journal.refusal(str(error)) from None


class DatabaseLedger(StoredLedger):
    """Charges in a database, shared by all processes that name it.

    Behind ``#`` the address has the ledger's name, ``ledger`` if that is left out. The database is
    there, with its tables; the ledger is made if it is not, unless ``terms`` is None: then its own
    rule.
    """

    __slots__ = ()

    def __init__(self, address: str, terms: Terms | None) -> None:
        where = Address.read(address)
        name = where.part or "ledger"
        journal = TableJournal(SharedDatabase(where), name, LEDGER, beginning(terms))
        super().__init__(journal, terms)


class FileLedger(StoredLedger):
    """Charges in a file, shared by all processes that name it.

    The file is made if it is not there, unless ``terms`` is None: then its own rule.
    """

    __slots__ = ()
    journal: Journal

    def __init__(self, path: str | os.PathLike[str], terms: Terms | None) -> None:
        if terms is None and not os.path.exists(path):  # noqa: PTH110 - bytes are paths too
            hint = "Check the path; or use {epsilon}, the total that all releases may cost "
            hint += "together, to create it."
            raise MissingFileError("ledger", "exist", os.fsdecode(path), hint, epsilon=1)
        super().__init__(Journal(path, LEDGER, beginning(terms)), terms)

    @property
    def path(self) -> Path:
        """The file."""
        return self.journal.path


def opened_ledger(
    where: str | os.PathLike[str] | StoredLedger, terms: Terms | None
) -> StoredLedger:
    """Return the ledger at a path, or at the address of a database; one that is open as it is."""
    if isinstance(where, StoredLedger):
        if terms is not None:
            where.terms.require(terms, f"the ledger {where.journal.name}")
        return where
    if is_address(where):
        return DatabaseLedger(str(where), terms)
    return FileLedger(where, terms)


def beginning(terms: Terms | None) -> list[tuple[str, Row]] | None:
    """Return the first line of a new ledger; None if it must be there."""
    return None if terms is None else [(TERMS, lines.terms_row(terms))]


@dataclass(frozen=True, slots=True)
class _TransactionDesk:
    transaction: LedgerTransaction
    terms: Terms
    version: int
    beside: Row

    def last(self) -> Charge | None:
        row = self.transaction.last(CHARGES)
        return None if row is None else lines.read_charge(row, self.terms)

    def put(self, charge: Charge) -> None:
        self.transaction.write(CHARGES, {**lines.charge_row(charge, self.version), **self.beside})


def _sound(transaction: LedgerTransaction) -> tuple[Terms, list[Charge]]:
    """Return terms and charges, whose sums agree."""
    terms = lines.read_terms(transaction.last(TERMS) or {})
    charges = [lines.read_charge(row, terms) for row in transaction.rows(CHARGES)]
    lines.require_sound(terms, charges)
    return terms, charges


def _answered(transaction: LedgerTransaction, charges: list[Charge]) -> list[Charge]:
    """Return the charges with what was kept of their answers."""
    found = list(charges)
    for row in transaction.rows(ANSWERS):
        number, answer, version = (row.get(name) for name in ("number", "answer", "version"))
        if not isinstance(number, int) or not 1 <= number <= len(found):
            raise lines.UnreadableError("an answer to no charge")
        if not isinstance(answer, str) or found[number - 1].answer is not None:
            raise lines.UnreadableError(f"the answer to line {number} cannot be read")
        found[number - 1] = replace(found[number - 1], answer=answer, version=str(version))
    return found
