"""The reference of the command line: ``.. commands::`` shows every command and every option.

All is read from the commands themselves, in the words that ``--help`` prints.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from sourdine.cli.app import UNFORESEEN, app
from sourdine.cli.guard import UNWRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx

STATUSES = {
    0: "Done. Of a verdict: yes.",
    1: "A verdict is no: audit found a mechanism that breaks its claim, guard confirm did not "
    "confirm, lab claims found a verdict that is not the recorded one.",
    2: "What was asked cannot be: a wrong option, a file that does not fit. Standard error says "
    "why.",
    3: "A ledger or a guard has too little left.",
    UNFORESEEN: "An error that nobody foresaw. Its text might hold a value of the data and is not "
    "shown.",
    UNWRITTEN: "An answer of guard could not be printed; it is charged.",
    130: "Interrupted from the keyboard.",
}


class Statuses(SphinxDirective):
    """What the exit status says."""

    def run(self) -> list[nodes.Node]:
        """Return a table."""
        rows = [_row(str(status), text) for status, text in STATUSES.items()]
        return [_table(("status", "meaning"), (8, 92), rows)]


class Commands(SphinxDirective):
    """Every command of ``sourdine``, with its usage, words, options and examples."""

    def run(self) -> list[nodes.Node]:
        """Return a section a command."""
        command = get_command(app)
        context = _context(command, "sourdine", None)
        return [*_described(command, context), *_sections(command, context)]


def _context(command: Any, name: str, parent: Any) -> Any:
    return command.make_context(name, [], parent=parent, resilient_parsing=True)


def _sections(group: Any, context: Any) -> Iterator[nodes.section]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield _section(command, _context(command, name, context))


def _section(command: Any, context: Any) -> nodes.section:
    name = context.command_path.replace(" ", "-")
    section = nodes.section(ids=[name], names=[name])
    section += nodes.title("", "", nodes.literal("", context.command_path))
    section += list(_described(command, context))
    if hasattr(command, "commands"):
        section += list(_sections(command, context))
    return section


def _described(command: Any, context: Any) -> Iterator[nodes.Node]:
    """Yield what ``--help`` prints."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield _typed(re.sub(r"\{(\w+)\}", r"\1", usage))
    yield from map(_words, _paragraphs(command.help))
    if rows := list(_option_rows(command, context)):
        yield _table(("option", "meaning"), (30, 70), rows)
    for words, lines in groupby(_paragraphs(command.epilog), lambda text: text[:2] != "$ "):
        if words:
            yield from map(_words, lines)
        else:
            yield _typed("\n".join(line[2:] for line in lines))


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(piece.split()) for piece in (text or "").split("\n\n") if piece.strip()]


def _typed(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="sh")


def _option_rows(command: Any, context: Any) -> Iterator[nodes.row]:
    """Yield arguments, then options, below the names of their panels."""
    shown = [(p, p.get_help_record(context)) for p in command.params if p.name != "help"]
    kept = [(getattr(p, "rich_help_panel", None) or "", record) for p, record in shown if record]
    panels = list(dict.fromkeys(panel for panel, _ in kept))
    for panel in panels:
        if panel:
            words = nodes.paragraph("", "", nodes.strong("", panel))
            yield nodes.row("", nodes.entry("", words, morecols=1))
        for _, (name, text) in (one for one in kept if one[0] == panel):
            yield _row(re.sub(r" <[^>]*>$", "", name), " ".join(text.split()))


def _row(name: str, text: str) -> nodes.row:
    typed = nodes.paragraph("", "", nodes.literal("", name))
    return nodes.row("", nodes.entry("", typed), nodes.entry("", _words(text)))


def _words(text: str) -> nodes.paragraph:
    """Return a sentence with its options as they are typed."""
    pieces = re.split(r"(?<!\w)(--?[a-z][\w-]*)", text)
    made = [nodes.literal("", p) if i % 2 else nodes.Text(p) for i, p in enumerate(pieces)]
    return nodes.paragraph("", "", *made)


def _table(heads: Iterable[str], widths: Iterable[int], rows: list[nodes.row]) -> nodes.table:
    columns = [nodes.colspec(colwidth=width) for width in widths]
    head = nodes.row("", *(nodes.entry("", nodes.paragraph("", word)) for word in heads))
    body = (nodes.thead("", head), nodes.tbody("", *rows))
    group = nodes.tgroup("", *columns, *body, cols=len(columns))
    return nodes.table("", group, classes=["options", "colwidths-given"])


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Offer the directives ``commands`` and ``statuses``."""
    sphinx.add_directive("commands", Commands)
    sphinx.add_directive("statuses", Statuses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
