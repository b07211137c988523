r"""A file that only grows: what is written in it survives kills, forks and other writers.

=====================  ===========================================================================
one writer at a time   reads, decides and writes; the others wait
a line, then the head  a line reaches the disk before the head counts it, and the head before
                       anything is answered. Of a line that a crash tore nothing was answered, so it
                       is dropped; one that is whole counts, though the head does not know it yet
checks in a chain      whatever else happened to the file is noticed (`sourdine.append_only.chain`)
a memory of the last   a file that was deleted, replaced, or put back from an older copy meanwhile
line                   is noticed by whoever has seen more of it
a new name             a new file appears whole or not at all; an empty one is never taken for new
=====================  ===========================================================================

Network file systems often break the locks that this relies on: keep a book on a local disk. And
whoever may write the file may delete it: it guards against mistakes and crashes, not against its
owner.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sourdine.append_only import disk
from sourdine.append_only.alone import QUIET
from sourdine.append_only.chain import Head, Row, linked, parsed
from sourdine.append_only.kept import Kept, first_lines
from sourdine.errors import SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import FileIO

    from sourdine.append_only.kept import FileKind
    from sourdine.errors import ParameterError

__all__ = ["Book", "Page", "Row"]

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds to wait for other writers."""

LONGEST_HEAD = 256
"""Bytes to look for a head in."""


class Page:
    """One writer's time alone with a book."""

    __slots__ = ("_book", "_file")

    def __init__(self, book: Book, file: FileIO) -> None:
        self._book, self._file = book, file

    def rows(self, table: str) -> list[Row]:
        """Return what was written to a table, the first line first."""
        return [row for name, row in self._book.lines if name == table]

    def last(self, table: str) -> Row | None:
        """Return what was written to a table last."""
        return next((row for name, row in reversed(self._book.lines) if name == table), None)

    def write(self, table: str, row: Row) -> None:
        """Write a line and wait for the disk: once this returns, the line stays."""
        self._book.append(self._file, table, row)


class Book(Kept):
    """A file that only grows, shared by all processes that name it.

    Parameters
    ----------
    path
        The file.
    kind
        What sort of book it is.
    begin
        The first lines of a new file, each with its table; None if the file must be there.
    fresh
        Whether the file must be a new one.

    Raises
    ------
    FileExistsError
        The file must be a new one, and is there.
    ParameterError
        The file is not a book of this kind, or is damaged.
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

    def turn(self, work: Callable[[Page], T]) -> T:
        """Hold the file alone while a function runs, and return what it returns."""
        return QUIET(lambda: self._turn(work))

    def look(self, work: Callable[[Page], T]) -> T:
        """Run a function that only reads."""
        return self.turn(work)

    def append(self, file: FileIO, table: str, row: Row) -> None:
        """Write a line to the open file, then count it in the head."""
        line = linked(self._head, table, row)
        ((name, kept, head),) = parsed(self._head, line)
        with self._in_plain_words():
            file.truncate(self._head.size)  # what a crash may have left
            disk.put(file, self._head.size, line)
            disk.settle(file)
            disk.put(file, 0, head.written())
            disk.settle(file)
        self.lines.append((name, kept))
        self._head = head

    def _turn(self, work: Callable[[Page], T]) -> T:
        while True:
            with self._opened() as file:
                if self._is_at_its_path(file):
                    self._catch_up(file)
                    return work(Page(self, file))

    def _opened(self) -> FileIO:
        with self._in_plain_words():
            return open(self.path, "r+b", buffering=0)  # noqa: PTH123 - closed in a turn

    def _is_at_its_path(self, file: FileIO) -> bool:
        """Wait for the lock; return whether the file was not replaced meanwhile."""
        with self._in_plain_words():
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise self.refusal("not a file")
            disk.hold(file, PATIENCE)
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())

    def _catch_up(self, file: FileIO) -> None:
        """Read what was written since the last turn."""
        del self.lines[self._head.lines :]  # what an interrupt left
        with self._in_plain_words():
            head = self.read_head(disk.get(file, 0, LONGEST_HEAD))
            if self._first is None:  # the first look at a file, which may be of an older format
                self._head = Head.first(head.mark, head.version)
            found = _following(head, self._head, file)
            if found is None:
                raise self._misfit(head, file)
            after = found[-1][2] if found else self._head
            if after != head:  # a line that a crash left uncounted
                disk.put(file, 0, after.written())
                disk.settle(file)
        self.lines.extend((table, row) for table, row, _ in found)
        self._head = after
        self._first = self._first or found[0][2]

    def _misfit(self, head: Head, file: FileIO) -> ParameterError:
        lines = _following(head, Head.first(head.mark, head.version), file)
        return self.misfit(lines[0][2] if lines else None, self._first, self._head)

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
        if isinstance(error, BlockingIOError):
            return f"another process has held it for {PATIENCE:g} seconds"
        if isinstance(error, FileNotFoundError):
            return "no such file" if self.path.parent.is_dir() else "no such folder"
        if isinstance(error, PermissionError):
            return "it may not be read and written"
        return error.strerror or str(error)

    def _make(self, begin: Iterable[tuple[str, Row]]) -> None:
        head, lines = first_lines(self._head, begin)
        with self._in_plain_words():
            disk.write_new(self.path, head.written() + b"".join(lines), self.kind.rights)


def _following(head: Head, start: Head, file: FileIO) -> list[tuple[str, Row, Head]] | None:
    """Return all lines after a place; None if the file's head is not among what they lead to."""
    if not start.size <= head.size:
        return None
    found = parsed(start, disk.get(file, start.size))
    reached = [start, *(after for _, _, after in found)]
    place = head.lines - start.lines
    return found if 0 <= place < len(reached) and reached[place] == head else None
