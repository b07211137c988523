"""A table with notes below it: the one layout of everything that is printed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING

from sourdine.presentation.texts import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Sheet", "Shown"]

SIZE = re.compile(r"^[\d. ]+ ([kMGT]?B|pp)$")
"""A number of bytes or percentage points, which stands to the right as other numbers do."""
PAGE, GAP = 80, 2
"""Letters of a line, and between columns."""
LEFT = "style='text-align:left'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Heads, rows and notes, as texts that steer nothing (`sourdine.presentation.texts`).

    Parameters
    ----------
    heads
        The names of the columns; none where there are notes alone.
    lines
        The cells of each line.
    notes
        What stands below: a word and a text each.
    title
        What stands above, if anything.
    lead
        If a table may be cut to the width of a page: how many columns begin each part. None: it
        stays as wide as it is.

    Examples
    --------
    >>> print(Sheet(heads=("key", "count"), lines=[("yes", "12"), ("no", "7")]).text())
    key  count
    yes     12
    no       7
    """

    heads: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()
    notes: Sequence[tuple[str, str]] = ()
    title: str | None = None
    lead: int | None = None

    def __post_init__(self) -> None:
        whole = {
            "heads": tuple(map(printable, self.heads)),
            "lines": [tuple(map(printable, line)) for line in self.lines],
            "notes": [(printable(word), printable(text)) for word, text in self.notes],
            "title": self.title and printable(self.title),
        }
        for name, value in whole.items():
            object.__setattr__(self, name, value)

    def text(self) -> str:
        """Return the table for a terminal: names to the left, numbers to the right."""
        columns = [
            _aligned(head, cells) for head, *cells in zip(self.heads, *self.lines, strict=True)
        ]
        lines: list[str] = []
        for part in self.pages():
            lines += [""] if lines else []
            kept = [columns[i] for i in part]
            lines += ["  ".join(line).rstrip() for line in zip(*kept, strict=True)]
        width = max((len(word) for word, _ in self.notes), default=0)
        below = [_wrapped(f"{word:<{width}}  {text}", width + 2) for word, text in self.notes]
        return "\n".join([*([self.title] if self.title else []), *lines, *below])

    def pages(self, gap: int = GAP) -> list[list[int]]:
        """Return which columns stand beside each other, so that no part is wider than a page.

        Parameters
        ----------
        gap
            Letters between columns, and as many at the edges together.

        Examples
        --------
        >>> Sheet(heads=("key", "a" * 50, "b" * 50), lead=1).pages()
        [[0, 1], [0, 2]]
        """
        every = list(range(len(self.heads)))
        if self.lead is None:
            return [every]
        wide = [max(map(len, cells)) + gap for cells in zip(self.heads, *self.lines, strict=True)]
        first = every[: self.lead]
        parts, room = [list(first)], PAGE - sum(wide[: self.lead])
        for i in every[self.lead :]:
            if wide[i] > room and len(parts[-1]) > len(first):
                parts.append(list(first))
                room = PAGE - sum(wide[: self.lead])
            parts[-1].append(i)
            room -= wide[i]
        return parts

    def html(self) -> str:
        """Return the table as HTML that needs no style sheet."""
        title = f"<h4>{escape(self.title)}</h4>" if self.title else ""
        if not self.heads:
            facts = "".join(
                f"<tr><th>{escape(word)}</th><td>{escape(text)}</td></tr>"
                for word, text in self.notes
            )
            return f"{title}<table>{facts}</table>"
        below = "<br>".join(f"{escape(word)}: {escape(text)}" for word, text in self.notes)
        notes = f"<div style='max-width:48em'>{below}</div>" if below else ""
        first, *rest = self._parts()
        parts = "".join(
            f"<tbody {LEFT}>{_row(heads, 'th')}{_rows(lines)}</tbody>" for heads, *lines in rest
        )
        head = f"<thead {LEFT}>{_row(self.heads, 'th')}</thead>"
        return f"{title}<table>{head}<tbody>{_rows(first)}</tbody>{parts}</table>{notes}"

    def _parts(self) -> list[list[Sequence[str]]]:
        """Return the lines between empty ones; heads begin each part but the first."""
        parts: list[list[Sequence[str]]] = [[]]
        for line in self.lines:
            if any(line):
                parts[-1].append(line)
            else:
                parts.append([])
        return [parts[0], *(part for part in parts[1:] if part)]


class Shown(ABC):
    """What prints as a sheet: a small table in a terminal, HTML in a notebook."""

    __slots__ = ()

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return what is shown."""

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def _row(cells: Sequence[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(text)}</{kind}>" for text in cells) + "</tr>"


def _rows(lines: Sequence[Sequence[str]]) -> str:
    return "".join(_row(line, "td") for line in lines)


def _aligned(head: str, texts: Sequence[str]) -> list[str]:
    """Return a column of one width: names to the left, numbers to the right."""
    width = max(map(len, (head, *texts)))
    names = any(letter.isalpha() for text in texts for letter in SIZE.sub("", text))
    return [text.ljust(width) if names else text.rjust(width) for text in (head, *texts)]


def _wrapped(text: str, indent: int) -> str:
    """Return a note in lines of a terminal's width, indented below its word."""
    return fill(
        text,
        PAGE,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
