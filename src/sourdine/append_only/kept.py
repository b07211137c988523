"""What every book has, wherever its lines are kept: a kind, first lines, and words to refuse."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol, TypeVar

from sourdine.append_only.chain import Head, Row, linked
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["IDENTITY", "FileKind", "Kept", "KeptBook", "KeptPage", "first_lines", "now"]

T = TypeVar("T")

IDENTITY = "book"
"""The table of the first line, which no other file has."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """What sort of book it is.

    Parameters
    ----------
    noun
        What a person calls it.
    mark
        The word that the file carries.
    version
        The format of its lines.
    rights
        Who may read and write a new file, but for what the process forbids.
    older
        Earlier formats that are read too; such a file keeps its format.
    """

    noun: str
    mark: str
    version: int
    rights: int = 0o666
    older: tuple[int, ...] = ()


def now() -> str:
    """Return the time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def first_lines(
    head: Head, begin: Iterable[tuple[str, Row]], name: str | None = None
) -> tuple[Head, list[bytes]]:
    """Return how far a new book gets, and its lines: who it is, then what it begins with.

    Parameters
    ----------
    head, begin
        Of a book without lines, and its first ones.
    name
        What it is called, where it keeps its name: among others in a database.
    """
    lines = []
    own: Row = {"identity": token_hex(16), "opened": now()}
    for table, row in ((IDENTITY, own if name is None else {**own, "name": name}), *begin):
        lines.append(linked(head, table, row))
        head = head.after(lines[-1])
    return head, lines


class Kept:
    """A book of a kind at a place.

    Parameters
    ----------
    kind
        What sort of book it is.
    where, name
        Its place, and what it is called there.
    """

    __slots__ = ("kind", "name", "where")

    def __init__(self, kind: FileKind, where: str, name: str) -> None:
        self.kind, self.where, self.name = kind, where, name

    def refusal(self, reason: str) -> ParameterError:
        """Return the error for a file that cannot be what it should be."""
        noun = self.kind.noun
        return ParameterError(
            noun,
            "be a file that Sourdine wrote",
            f"{self.where} ({reason})",
            f"Type the path of a new file, or restore the {noun} from a copy.",
        )

    def read_head(self, text: bytes) -> Head:
        """Return the head of a book of this kind, or refuse it."""
        if not text:
            raise self._emptied()
        if (head := Head.read(text)) is None:
            ours = text.startswith(b"sourdine ")
            raise self.refusal("damaged" if ours else "a file of something else")
        if head.mark != self.kind.mark:
            raise self.refusal(f"a file of something else, a {head.mark}")
        if head.version not in (self.kind.version, *self.kind.older):
            raise self.refusal(f"of format {head.version}, this reads {self.kind.version}")
        return head

    def misfit(self, found: Head | None, first: Head | None, seen: Head) -> ParameterError:
        """Return the error for a book that is damaged, or not the one seen before.

        Parameters
        ----------
        found
            The head after its first line; None if not all of its lines are right.
        first, seen
            The head after the first line, and after the last, when it was seen before.
        """
        if found is None:
            return self.refusal("damaged")
        noun = f"the {self.kind.noun}"
        if found != first:
            return ParameterError(
                noun,
                "stay the file that was opened",
                f"another one at {self.where}",
                "Put the first one back, or open this one again.",
            )
        return ParameterError(
            noun,
            f"hold all {seen.lines} lines that were seen in it",
            f"an older or another copy at {self.where}",
            "Put the latest copy back: what it lacks was charged, and released.",
        )

    def _emptied(self) -> ParameterError:
        noun = self.kind.noun
        return ParameterError(
            noun,
            "be a file that Sourdine wrote",
            f"{self.where} (0 bytes: emptied, and what was charged to it is lost)",
            f"Restore the {noun} from a copy. If nothing was ever released under it, "
            f"delete {self.name} first.",
        )


class KeptPage(Protocol):
    """One writer's time alone with a book, wherever its lines are kept."""

    def rows(self, table: str) -> list[Row]:
        """Return what was written to a table, the first line first."""

    def last(self, table: str) -> Row | None:
        """Return what was written to a table last."""

    def write(self, table: str, row: Row) -> object:
        """Write a line."""


class KeptBook(Protocol):
    """A book that can be held alone: a file, rows of a database, or one transaction's page."""

    name: str

    def turn(self, work: Callable[[KeptPage], T]) -> T:
        """Hold the book alone while a function runs, and return what it returns."""

    def refusal(self, reason: str) -> ParameterError:
        """Return the error for a book that cannot be what it should be."""
