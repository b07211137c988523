"""What the commands print and draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from sourdine.cli import picture
from sourdine.presentation.texts import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from sourdine.release import Sheet

TYPE = "type"
"""The note that says what to type."""

__all__ = ["notes", "picture", "print_sheet", "print_table"]


def print_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of texts; numbers keep their digits whole."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(Text(printable(head)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    wide = 2 + sum(max(map(len, texts)) + 3 for texts in zip(heads, *rows, strict=True))
    narrow = console.width
    console.width = max(narrow, wide)
    console.print(table, crop=False)
    console.width = narrow


def print_sheet(console: Console, sheet: Sheet) -> None:
    """Print a sheet: its table and its notes."""
    if sheet.title is not None:
        console.print(sheet.title, style="bold", highlight=False, markup=False)
    for part in sheet.pages(gap=3):
        lines = [[line[i] for i in part] for line in sheet.lines]
        print_table(console, [sheet.heads[i] for i in part], lines)
    notes(console, sheet.notes)


def notes(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print what is known of the answer, a line each."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in facts:
        if name != TYPE:
            table.add_row(Text(name), Text(printable(text)))
    console.print(table)
    for name, text in facts:
        if name == TYPE:  # to be copied, so it stays one line
            console.print(Text.assemble((f"{name}  ", "dim"), text), soft_wrap=True)
