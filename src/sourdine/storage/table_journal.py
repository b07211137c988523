"""`TableJournal`: a journal whose head and lines are rows of a database.

A row is, byte for byte, a line of a journal file, with the check of all lines before it; the head
is the file's first line. So the same code reads and checks journals in files and in databases, and
`TableJournal.exported` returns a file. The first line holds the journal's name, so that it is not
mistaken for another journal of the same database. Triggers forbid changing or deleting a line; if
somebody drops them, the checks notice changes as in a file (`sourdine.storage.journal`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sourdine.storage.journal import Head, Kept, Row, first_lines, linked, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sourdine.storage.database import Dialect, SharedDatabase, Transaction
    from sourdine.storage.journal import FileKind


T = TypeVar("T")
LINES_TABLE = (
    "CREATE TABLE lines (book TEXT NOT NULL REFERENCES books (name), number BIGINT NOT NULL, "
    "line TEXT NOT NULL, PRIMARY KEY (book, number))"
)
LINES = "SELECT line FROM lines WHERE book = ? AND number > ? ORDER BY number"


def book_tables(dialect: Dialect) -> list[str]:
    """Return the statements that create the tables of journals."""
    return [
        "CREATE TABLE books (name TEXT PRIMARY KEY, head TEXT NOT NULL)",
        LINES_TABLE,
        *dialect.forbidding("books", "DELETE"),
        *dialect.forbidding("lines", "UPDATE"),
        *dialect.forbidding("lines", "DELETE"),
    ]


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """How far a journal was read: its head, the head after line one, each table's last row."""

    head: Head
    first: Head | None = None
    last: Mapping[str, Row] = field(default_factory=dict)

    def after(self, text: bytes) -> ReadSoFar:
        """Return the state after reading these lines."""
        found = parsed(self.head, text)
        if not found:
            return self
        last = {**self.last, **{table: row for table, row, _ in found}}
        return ReadSoFar(found[-1][2], self.first or found[0][2], last)


class TableTransaction:
    """A transaction's view of a journal.

    Parameters
    ----------
    journal
        The journal.
    transaction
        The transaction that reads and writes it.
    seen
        How far the journal was read before the transaction began.
    """

    __slots__ = ("_journal", "_lines", "seen", "transaction")

    def __init__(
        self, journal: TableJournal, transaction: Transaction, seen: ReadSoFar | None = None
    ) -> None:
        self._journal, self.transaction = journal, transaction
        self.seen = journal.caught_up(transaction, seen)
        self._lines: list[tuple[str, Row, Head]] | None = None

    @property
    def head(self) -> Head:
        return self.seen.head

    def last(self, table: str) -> Row | None:
        return self.seen.last.get(table)

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table, oldest first."""
        return [row for name, row, _ in self.lines() if name == table]

    def lines(self) -> list[tuple[str, Row, Head]]:
        """Return all lines, each with its table and the head after it; raise if damaged."""
        if self._lines is None:
            self._lines = self._journal.lines(self.transaction)
            self.transaction.note(self._journal.name, self.head.lines, self.head.chain.decode())
        return list(self._lines)

    def write(self, table: str, row: Row) -> int:
        """Append a line, which is durable once the transaction commits; return its number."""
        line = linked(self.head, table, row)
        if self._lines is not None:
            self._lines += parsed(self.head, line)
        self.seen = self.seen.after(line)
        self._journal.put(self.transaction, self.head, line)
        return self.head.lines


class TableJournal(Kept):
    """A journal in a database, shared by all processes that open it.

    Parameters
    ----------
    database
        The database that holds it.
    name
        Its name in the database.
    kind
        The kind of journal.
    begin
        The first lines of a new journal, each with its table; None if the journal must exist.

    Raises
    ------
    ParameterError
        The journal does not exist, is of another kind, or is damaged.
    """

    __slots__ = ("_seen", "database")

    def __init__(
        self,
        database: SharedDatabase,
        name: str,
        kind: FileKind,
        begin: Iterable[tuple[str, Row]] | None = None,
    ) -> None:
        super().__init__(kind, f"{database.address}#{name}", name)
        self.database = database
        self._seen: ReadSoFar | None = None
        if begin is not None and not database.read(self.is_there):
            database.write(lambda transaction: self.make(transaction, begin))
        self.look(lambda _: None)

    @property
    def version(self) -> int:
        """The format of the journal's lines."""
        return self.kind.version if self._seen is None else self._seen.head.version

    def turn(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function with exclusive access, and return once its writes are on disk."""

        def job(transaction: Transaction) -> tuple[T, TableTransaction]:
            opened = self.opened(transaction)
            return work(opened), opened

        result, opened = self.database.write(job)
        self.remember(opened)
        return result

    def opened(self, transaction: Transaction) -> TableTransaction:
        """Return the journal as seen by a transaction that writes alone."""
        return TableTransaction(self, transaction, self._seen)

    def look(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function on the committed lines, without waiting for writers."""
        seen = self._seen  # another thread may advance it during this read

        def job(transaction: Transaction) -> tuple[T, TableTransaction]:
            opened = TableTransaction(self, transaction, seen)
            return work(opened), opened

        result, opened = self.database.read(job)
        self.remember(opened)
        return result

    def remember(self, opened: TableTransaction) -> None:
        """Remember how far the journal was read, once a transaction is committed."""
        if self._seen is None or self._seen.head.lines < opened.head.lines:
            self._seen = opened.seen

    def is_there(self, transaction: Transaction) -> bool:
        return transaction.one("SELECT 1 FROM books WHERE name = ?", self.name) is not None

    def make(self, transaction: Transaction, begin: Iterable[tuple[str, Row]]) -> None:
        """Create the journal, unless another process already did."""
        if not self.is_there(transaction):
            begin_journal(transaction, self.name, self.kind, begin)

    def put(self, transaction: Transaction, head: Head, line: bytes) -> None:
        """Insert a line, and update the head to count it."""
        _put(transaction, self.name, head, line)

    def text(self, transaction: Transaction, after: int = 0) -> bytes:
        """Return the lines after a number, as the bytes of a file."""
        return b"".join(
            f"{line}\n".encode() for (line,) in transaction.all(LINES, self.name, after)
        )

    def lines(self, transaction: Transaction) -> list[tuple[str, Row, Head]]:
        """Return all lines, each with its table and the head after it; raise if damaged."""
        head = self.head(transaction)
        found = parsed(self.start(head), self.text(transaction))
        if not found or found[-1][2] != head:
            raise self.refusal("damaged")
        if (named := found[0][1].get("name", self.name)) != self.name:
            raise self.refusal(f"the one of {named}")
        return found

    def start(self, head: Head) -> Head:
        """Return the head of the journal before its first line."""
        return Head.first(head.mark, head.version)

    def exported(self) -> bytes:
        """Return the journal as the bytes of a file.

        *Checked by* ``test_an_exported_book_is_a_file``.
        """

        def job(transaction: Transaction) -> bytes:
            head = self.head(transaction)
            transaction.note(self.name, head.lines, head.chain.decode())
            return head.written() + self.text(transaction)

        return self.database.read(job)

    def caught_up(self, transaction: Transaction, known: ReadSoFar | None) -> ReadSoFar:
        """Return how far the journal has got; raise if it is damaged or lacks lines seen before."""
        head = self.head(transaction)
        seen = known or ReadSoFar(self.start(head))
        if seen.head != head:
            seen = seen.after(self.text(transaction, seen.head.lines))
        if seen.head != head:
            whole = ReadSoFar(self.start(head)).after(self.text(transaction))
            first = whole.first if whole.head == head else None
            raise self.misfit(first, None if known is None else known.first, seen.head)
        return seen

    def head(self, transaction: Transaction) -> Head:
        found = transaction.one("SELECT head FROM books WHERE name = ?", self.name)
        if found is None:
            raise self.refusal("no such ledger in this store")
        return self.read_head(f"{found[0]}\n".encode())


class TransactionJournal(Kept):
    """A journal as one transaction sees it: all access happens inside that transaction.

    Parameters
    ----------
    journal
        The journal.
    opened
        The transaction's view of it.
    """

    __slots__ = ("opened",)

    def __init__(self, journal: TableJournal, opened: TableTransaction) -> None:
        super().__init__(journal.kind, journal.where, journal.name)
        self.opened = opened

    def turn(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function on the transaction; its writes are durable once that commits."""
        return work(self.opened)


def begin_journal(
    transaction: Transaction, name: str, kind: FileKind, begin: Iterable[tuple[str, Row]]
) -> None:
    """Create a journal with its first lines inside an existing transaction."""
    head = Head.first(kind.mark, kind.version)
    _, lines = first_lines(head, begin, name)
    transaction.run("INSERT INTO books VALUES (?, ?)", name, _spelled(head))
    for line in lines:
        head = head.after(line)
        _put(transaction, name, head, line)


def _put(transaction: Transaction, name: str, head: Head, line: bytes) -> None:
    values = (name, head.lines, line.decode().rstrip("\n"))
    transaction.run("INSERT INTO lines VALUES (?, ?, ?)", *values)
    transaction.run("UPDATE books SET head = ? WHERE name = ?", _spelled(head), name)
    transaction.note(name, head.lines, head.chain.decode())


def _spelled(head: Head) -> str:
    return head.written().decode().rstrip("\n")
