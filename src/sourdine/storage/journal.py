"""An append-only journal whose lines form a hash chain: a file, or rows of a database."""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sourdine.errors import ParameterError, SourdineError
from sourdine.storage import locks
from sourdine.storage.locks import QUIET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from io import FileIO

    from sourdine.storage.database import Dialect, SharedDatabase, Transaction


# ---- The hash chain ------------------------------------------------------------------------------
#
# a line                the check of all bytes up to its end, a space, the line as JSON
# the head, first line  the kind of file, how many lines and bytes it has, the check of the last
#                       line, and a check of the head itself
#
# Every byte is covered by a check, so a flipped bit, a line that was removed, moved or added by
# hand, and a truncated file are noticed. *Checked by* ``test_no_flipped_bit_is_accepted`` and
# ``test_lines_that_were_moved_or_removed_are_noticed``. The checks guard against accidents only:
# anyone who may write the file can compute them.


Row = dict[str, Any]
"""The content of a line: a JSON object."""

WIDTH = 32
"""Number of letters of a check."""

HEAD = re.compile(
    rb"sourdine ([a-z]+) (\d{4}) lines (\d{12}) bytes (\d{15}) chain ([0-9a-f]{32}) "
    rb"([0-9a-f]{32})\n"
)


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a file: how many lines it has, and the check of the last one.

    ``mark`` is the kind of file, in one word, and ``version`` the format of its lines; the last one
    ends at offset ``size``.
    """

    mark: str
    version: int
    lines: int
    size: int
    chain: bytes

    @classmethod
    def first(cls, mark: str, version: int) -> Head:
        """Return the head of a file without lines."""
        head = cls(mark, version, 0, 0, _check(f"{mark} {version}".encode()))
        return cls(mark, version, 0, len(head.written()), head.chain)

    @classmethod
    def read(cls, text: bytes) -> Head | None:
        """Parse the head of a file; None if there is none or it is damaged."""
        found = HEAD.match(text)
        if found is None:
            return None
        mark, version, lines, size, chain, _ = found.groups()
        head = cls(mark.decode(), int(version), int(lines), int(size), chain)
        return head if head.written() == found[0] else None

    @property
    def start(self) -> Head:
        """The head of this file before its first line."""
        return Head.first(self.mark, self.version)

    def written(self) -> bytes:
        """Return the head as bytes; their length depends on the mark alone."""
        said = (
            f"sourdine {self.mark} {self.version:04d} lines {self.lines:012d} "
            f"bytes {self.size:015d} chain {self.chain.decode()} "
        ).encode()
        return said + _check(said) + b"\n"

    def after(self, line: bytes) -> Head:
        return Head(self.mark, self.version, self.lines + 1, self.size + len(line), line[:WIDTH])


def row_of(line: str) -> Row:
    """Return the content of a line of a database, behind its check and its table."""
    row: Row = json.loads(line[WIDTH + 1 :])[1]
    return row


def linked(head: Head, table: str, row: Row) -> bytes:
    """Return the next line, with its check."""
    said = json.dumps([table, row], separators=(",", ":")).encode()
    return _check(head.chain, said) + b" " + said + b"\n"


def parsed(head: Head, text: bytes) -> list[tuple[str, Row, Head]]:
    """Return the lines that follow a head, up to the first incomplete or damaged one."""
    found, start = [], 0
    while (end := text.find(b"\n", start)) >= 0:
        line = text[start : end + 1]
        said = line[WIDTH + 1 : -1]
        if line != _check(head.chain, said) + b" " + said + b"\n":
            break
        try:
            table, row = json.loads(said)
        except (ValueError, TypeError, RecursionError):
            break
        head, start = head.after(line), end + 1
        found.append((table, row, head))
    return found


def _check(*parts: bytes) -> bytes:
    return blake2b(b"".join(parts), digest_size=WIDTH // 2).hexdigest().encode()


# ---- What all journals share: kind, first lines and errors ---------------------------------------


T = TypeVar("T")

IDENTITY = "book"
"""The table of the first line, which is unique to each journal."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of journal.

    Users call it by its noun, ``mark`` identifies it in the head. A new file gets ``rights``,
    subject to the umask; one of an ``older`` format can be read, and keeps it.
    """

    noun: str
    mark: str
    version: int
    rights: int = 0o666
    older: tuple[int, ...] = ()


def now() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def first_lines(
    head: Head, begin: Iterable[tuple[str, Row]], name: str | None = None
) -> list[tuple[Head, bytes]]:
    """Return the first lines of a new journal, its identity and ``begin``, with the heads after.

    ``head`` is that of an empty journal, ``name`` the journal's if it is one of several.
    """
    lines = []
    own: Row = {"identity": token_hex(16), "opened": now()}
    for table, row in ((IDENTITY, own if name is None else {**own, "name": name}), *begin):
        line = linked(head, table, row)
        head = head.after(line)
        lines.append((head, line))
    return lines


class Kept:
    """A journal of a kind at a place, where it has a name."""

    __slots__ = ("kind", "name", "where")

    def __init__(self, kind: FileKind, where: str, name: str) -> None:
        self.kind, self.where, self.name = kind, where, name

    def refusal(self, reason: str) -> ParameterError:
        """Return the error for a file that is not a valid journal."""
        hint = f"Check the path, or restore the {self.kind.noun} from a copy."
        return self._no_journal(reason, hint)

    def _no_journal(self, reason: str, hint: str) -> ParameterError:
        got = f"{self.where} ({reason})"
        return ParameterError(self.kind.noun, "be a file written by Sourdine", got, hint)

    def read_head(self, text: bytes) -> Head:
        """Parse the head of a journal of this kind, or raise."""
        if not text:
            reason = "0 bytes: its content, and what was charged to it, is lost"
            hint = f"Restore the {self.kind.noun} from a copy. If nothing was ever released"
            raise self._no_journal(reason, f"{hint} under it, delete {self.name} first.")
        if (head := Head.read(text)) is None:
            ours = text.startswith(b"sourdine ")
            raise self.refusal("damaged" if ours else "not a file of Sourdine")
        if head.mark != self.kind.mark:
            raise self.refusal(f"a file of another kind, a {head.mark}")
        if head.version not in (self.kind.version, *self.kind.older):
            raise self.refusal(f"of format {head.version}, this reads {self.kind.version}")
        return head

    def misfit(self, found: Head | None, first: Head | None, seen: Head) -> ParameterError:
        """Return the error for a journal that is damaged, or not the one seen before.

        ``found`` is the head after the first line, None if some lines are damaged; ``first`` and
        ``seen`` are the heads after the first and the last line, as they were last seen.
        """
        if found is None:
            return self.refusal("damaged")
        if found != first:
            what, got = "be the file that was opened", f"another file at {self.where}"
            hint = "Restore the first file, or open this one again."
        else:
            what = f"hold all {seen.lines} lines that were seen before"
            got = f"an older or a different copy at {self.where}"
            hint = "Restore the latest copy: the missing lines were charged and released."
        return ParameterError(f"the {self.kind.noun}", what, got, hint)


class AnyTransaction(Protocol):
    """Exclusive access of one writer to a journal, in a file or a database."""

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table, oldest first."""

    def last(self, table: str) -> Row | None:
        """Return the last row of a table."""

    def write(self, table: str, row: Row) -> object:
        """Append a line."""


class AnyJournal(Protocol):
    """A journal with exclusive access: a file, rows of a database, or one transaction's view."""

    name: str

    def turn(self, work: Callable[[AnyTransaction], T]) -> T:
        """Run a function with exclusive access, and return its result."""

    def refusal(self, reason: str) -> ParameterError:
        """Return the error for a journal that is not valid."""


# ---- Journals in files ---------------------------------------------------------------------------
#
# one writer at a time   reads, decides and writes while the others wait
# a line, then the head  a line reaches the disk before the head counts it, and the head before
#                        anything is answered. A line that a crash cut short was never answered and
#                        is dropped; a complete line counts even if the head does not count it yet
# a hash chain           other changes to the file are noticed
# a memory of the last   a process that has seen more of the file notices if it was deleted,
# line                   replaced, or restored from an older copy
# an atomic creation     a new file appears whole or not at all; an empty one is never taken for new
#
# Network file systems often break the locks that this relies on: keep a journal on a local disk.
# And anyone who may write the file may delete it: the journal guards against mistakes and crashes,
# not against its owner.


PATIENCE = 60.0
"""Seconds to wait for other writers."""

LONGEST_HEAD = 256
"""Number of bytes in which the head is expected."""


class JournalTransaction:
    """Exclusive access of one writer to a journal in a file."""

    __slots__ = ("_file", "_journal")

    def __init__(self, journal: Journal, file: FileIO) -> None:
        self._journal, self._file = journal, file

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table, oldest first."""
        return [row for name, row in self._journal.lines if name == table]

    def last(self, table: str) -> Row | None:
        return next((row for name, row in reversed(self._journal.lines) if name == table), None)

    def write(self, table: str, row: Row) -> None:
        """Append a line, and return once it is on disk."""
        self._journal.append(self._file, table, row)


class Journal(Kept):
    """An append-only file, shared by all processes that open it.

    Parameters
    ----------
    path, kind
        The file, and the kind of journal.
    begin
        The first lines of a new file, each with its table; None if the file must exist.
    fresh
        Whether the file must be new: `FileExistsError` if it exists.
    """

    __slots__ = ("_first", "_head", "lines", "path")

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: FileKind,
        begin: Iterable[tuple[str, Row]] | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.path = Path(os.fsdecode(path)).absolute()
        super().__init__(kind, str(self.path), self.path.name)
        self.lines: list[tuple[str, Row]] = []
        self._head = Head.first(kind.mark, kind.version)
        self._first: Head | None = None
        if fresh:
            self._make(begin or ())
        elif begin is not None and not self.path.exists():
            with suppress(FileExistsError):  # another process was first
                self._make(begin)
        self.turn(lambda _: None)

    @property
    def version(self) -> int:
        """The format of the file's lines."""
        return self._head.version

    def turn(self, work: Callable[[JournalTransaction], T]) -> T:
        """Run a function with exclusive access, and return its result."""
        return QUIET(lambda: self._turn(work))

    def look(self, work: Callable[[JournalTransaction], T]) -> T:
        """Run a function that only reads."""
        return self.turn(work)

    def append(self, file: FileIO, table: str, row: Row) -> None:
        """Append a line to the open file, then count it in the head."""
        line = linked(self._head, table, row)
        ((name, kept, head),) = parsed(self._head, line)
        with self._in_plain_words():
            file.truncate(self._head.size)  # remove what a crash may have left
            locks.put(file, self._head.size, line)
            locks.settle(file)
            locks.put(file, 0, head.written())
            locks.settle(file)
        self.lines.append((name, kept))
        self._head = head

    def _turn(self, work: Callable[[JournalTransaction], T]) -> T:
        while True:
            with self._opened() as file:
                if self._is_at_its_path(file):
                    self._catch_up(file)
                    return work(JournalTransaction(self, file))

    def _opened(self) -> FileIO:
        with self._in_plain_words():
            return open(self.path, "r+b", buffering=0)  # noqa: PTH123 - closed in a turn

    def _is_at_its_path(self, file: FileIO) -> bool:
        """Wait for the lock; return whether the file was not replaced in the meantime."""
        with self._in_plain_words():
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise self.refusal("not a file")
            locks.hold(file, PATIENCE)
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())

    def _catch_up(self, file: FileIO) -> None:
        """Read the lines written since the last access."""
        del self.lines[self._head.lines :]  # what an interrupt left
        with self._in_plain_words():
            head = self.read_head(locks.get(file, 0, LONGEST_HEAD))
            if self._first is None:  # first access: the file may be of an older format
                self._head = head.start
            found = _following(head, self._head, file)
            if found is None:
                whole = _following(head, head.start, file)
                raise self.misfit(whole[0][2] if whole else None, self._first, self._head)
            after = found[-1][2] if found else self._head
            if after != head:  # a line that a crash left uncounted
                locks.put(file, 0, after.written())
                locks.settle(file)
        self.lines.extend((table, row) for table, row, _ in found)
        self._head = after
        self._first = self._first or found[0][2]

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            raise SourdineError(
                f"the {self.kind.noun} {self.path} could not be used: {self._trouble(error)}. "
                "Nothing was released."
            ) from None

    def _trouble(self, error: OSError) -> str:
        match error:
            case BlockingIOError():
                return f"another process has held it for {PATIENCE:g} seconds"
            case FileNotFoundError():
                return "no such file" if self.path.parent.is_dir() else "no such folder"
            case PermissionError():
                return "it may not be read and written"
        return error.strerror or str(error)

    def _make(self, begin: Iterable[tuple[str, Row]]) -> None:
        heads, lines = zip(*first_lines(self._head, begin), strict=True)
        with self._in_plain_words():
            locks.write_new(self.path, heads[-1].written() + b"".join(lines), self.kind.rights)


def _following(head: Head, start: Head, file: FileIO) -> list[tuple[str, Row, Head]] | None:
    """Return all lines after an offset; None if they do not lead to the file's head."""
    if not start.size <= head.size:
        return None
    found = parsed(start, locks.get(file, start.size))
    reached = [start, *(after for _, _, after in found)]
    place = head.lines - start.lines
    return found if 0 <= place < len(reached) and reached[place] == head else None


# ---- A journal whose head and lines are rows of a database ---------------------------------------


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
    """A transaction's view of a journal, which was read as far as ``seen`` before it began.

    It may be used as a journal all of whose access happens inside that transaction.
    """

    __slots__ = ("_journal", "_lines", "name", "refusal", "seen", "transaction")

    def __init__(
        self, journal: TableJournal, transaction: Transaction, seen: ReadSoFar | None = None
    ) -> None:
        self._journal, self.transaction = journal, transaction
        self.name, self.refusal = journal.name, journal.refusal
        self.seen = journal.caught_up(transaction, seen)
        self._lines: list[tuple[str, Row, Head]] | None = None

    @property
    def head(self) -> Head:
        return self.seen.head

    def turn(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function on the transaction; its writes are durable once that commits."""
        return work(self)

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
        _put(self.transaction, self._journal.name, self.head, line)
        return self.head.lines


class TableJournal(Kept):
    """A journal in a database, shared by all processes that open it.

    Parameters
    ----------
    database, name, kind
        The database that holds it, its name there, and the kind of journal.
    begin
        The first lines of a new journal, each with its table; None if the journal must exist.
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

        def make(transaction: Transaction) -> None:
            if begin is not None and not self._is_there(transaction):  # no other was first
                begin_journal(transaction, name, kind, begin)

        if begin is not None and not database.read(self._is_there):
            database.write(make)
        self.look(lambda _: None)

    @property
    def version(self) -> int:
        """The format of the journal's lines."""
        return self.kind.version if self._seen is None else self._seen.head.version

    def turn(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function with exclusive access, and return once its writes are on disk."""

        def job(transaction: Transaction) -> tuple[TableTransaction, T]:
            opened = self.opened(transaction)
            return opened, work(opened)

        opened, result = self.database.write(job)
        self.remember(opened)
        return result

    def opened(self, transaction: Transaction) -> TableTransaction:
        """Return the journal as seen by a transaction that writes alone."""
        return TableTransaction(self, transaction, self._seen)

    def look(self, work: Callable[[TableTransaction], T]) -> T:
        """Run a function on the committed lines, without waiting for writers."""
        seen = self._seen  # another thread may advance it during this read

        def job(transaction: Transaction) -> tuple[TableTransaction, T]:
            opened = TableTransaction(self, transaction, seen)
            return opened, work(opened)

        opened, result = self.database.read(job)
        self.remember(opened)
        return result

    def remember(self, opened: TableTransaction) -> None:
        """Remember how far the journal was read, once a transaction is committed."""
        if self._seen is None or self._seen.head.lines < opened.head.lines:
            self._seen = opened.seen

    def _is_there(self, transaction: Transaction) -> bool:
        return transaction.one("SELECT 1 FROM books WHERE name = ?", self.name) is not None

    def text(self, transaction: Transaction, after: int = 0) -> bytes:
        """Return the lines after a number, as the bytes of a file."""
        rows = transaction.all(LINES, self.name, after)
        return b"".join(f"{line}\n".encode() for (line,) in rows)

    def lines(self, transaction: Transaction) -> list[tuple[str, Row, Head]]:
        """Return all lines, each with its table and the head after it; raise if damaged."""
        head = self.head(transaction)
        found = parsed(head.start, self.text(transaction))
        if not found or found[-1][2] != head:
            raise self.refusal("damaged")
        if (named := found[0][1].get("name", self.name)) != self.name:
            raise self.refusal(f"the one of {named}")
        return found

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
        seen = known or ReadSoFar(head.start)
        if seen.head != head:
            seen = seen.after(self.text(transaction, seen.head.lines))
        if seen.head != head:
            whole = ReadSoFar(head.start).after(self.text(transaction))
            first = whole.first if whole.head == head else None
            raise self.misfit(first, None if known is None else known.first, seen.head)
        return seen

    def head(self, transaction: Transaction) -> Head:
        found = transaction.one("SELECT head FROM books WHERE name = ?", self.name)
        if found is None:
            raise self.refusal("no such ledger in this store")
        return self.read_head(f"{found[0]}\n".encode())


def begin_journal(
    transaction: Transaction, name: str, kind: FileKind, begin: Iterable[tuple[str, Row]]
) -> None:
    """Create a journal with its first lines inside an existing transaction."""
    head = Head.first(kind.mark, kind.version)
    transaction.run("INSERT INTO books VALUES (?, ?)", name, _spelled(head))
    for after, line in first_lines(head, begin, name):
        _put(transaction, name, after, line)


def _put(transaction: Transaction, name: str, head: Head, line: bytes) -> None:
    values = (name, head.lines, line.decode().rstrip("\n"))
    transaction.run("INSERT INTO lines VALUES (?, ?, ?)", *values)
    transaction.run("UPDATE books SET head = ? WHERE name = ?", _spelled(head), name)
    transaction.note(name, head.lines, head.chain.decode())


def _spelled(head: Head) -> str:
    return head.written().decode().rstrip("\n")
