r"""Lines that vouch for each other, and a head that says how many there are.

====================  ============================================================================
a line                the check of all bytes until its end, a space, the line as JSON
the head, first line  what the file is, how many lines and bytes it has, the check of the last
                      line, and a check of the head itself
====================  ============================================================================

Every byte is under a check, so a bit that flips, a line that is cut out, moved or added by hand,
and a file that was cut off are noticed. *Checked by* ``test_no_flipped_bit_is_accepted`` and
``test_lines_that_were_moved_or_removed_are_noticed``. The checks guard against accidents: whoever
may write the file can compute them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

__all__ = ["Head", "Row", "linked", "parsed"]

Row = dict[str, Any]
"""What a line says: names and what JSON knows."""

WIDTH = 32
"""Letters of a check."""

HEAD = re.compile(
    rb"sourdine ([a-z]+) (\d{4}) lines (\d{12}) bytes (\d{15}) chain ([0-9a-f]{32}) "
    rb"([0-9a-f]{32})\n"
)


@dataclass(frozen=True, slots=True)
class Head:
    """How far a file has got.

    Parameters
    ----------
    mark
        What the file is, in one word.
    version
        The format of its lines.
    lines, size
        How many lines there are, and where the last one ends.
    chain
        The check of the last line.
    """

    mark: str
    version: int
    lines: int
    size: int
    chain: bytes

    @classmethod
    def first(cls, mark: str, version: int) -> Head:
        """Return the head of a file that has no line yet."""
        head = cls(mark, version, 0, 0, _check(f"{mark} {version}".encode()))
        return cls(mark, version, 0, len(head.written()), head.chain)

    @classmethod
    def read(cls, text: bytes) -> Head | None:
        """Return the head that a file begins with; None if it is none, or damaged."""
        found = HEAD.match(text)
        if found is None:
            return None
        mark, version, lines, size, chain, _ = found.groups()
        head = cls(mark.decode(), int(version), int(lines), int(size), chain)
        return head if head.written() == found[0] else None

    def written(self) -> bytes:
        """Return the head as it stands in the file; its length depends on the mark alone."""
        said = (
            f"sourdine {self.mark} {self.version:04d} lines {self.lines:012d} "
            f"bytes {self.size:015d} chain {self.chain.decode()} "
        ).encode()
        return said + _check(said) + b"\n"

    def after(self, line: bytes) -> Head:
        """Return the head once a line was written."""
        return Head(self.mark, self.version, self.lines + 1, self.size + len(line), line[:WIDTH])


def linked(head: Head, table: str, row: Row) -> bytes:
    """Return the line that follows, with its check."""
    said = json.dumps([table, row], separators=(",", ":")).encode()
    return _check(head.chain, said) + b" " + said + b"\n"


def parsed(head: Head, text: bytes) -> list[tuple[str, Row, Head]]:
    """Return the lines that follow a head, up to the first one that is not whole or not right."""
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
