"""A report as Markdown, in which names that strangers chose mark nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from sourdine.presentation.texts import printable
from sourdine.session.filing.blocks import Facts, Picture, Subsection, Text, TextTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.session.filing.blocks import Block, Section

__all__ = ["markdown", "plain_lines"]

MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
LEADING = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def markdown(title: str, sections: Sequence[Section]) -> str:
    r"""Return the report as Markdown.

    Examples
    --------
    >>> from sourdine.session.filing.blocks import Facts, Section
    >>> print(markdown("Ages", [Section("Unit", [Facts([("Unit", "<b>record</b>")])])]))
    # Ages
    <BLANKLINE>
    ## Unit
    <BLANKLINE>
    - **Unit**: \<b\>record\</b\>
    <BLANKLINE>
    """
    parts = [f"# {_one_line(title)}"]
    for section in sections:
        parts.append(f"## {_one_line(section.title)}")
        parts += [text for block in section.blocks for text in _block(block)]
    return "\n\n".join(parts) + "\n"


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, each as it may be shown."""
    return [printable(line) for line in text.replace("\r\n", "\n").split("\n")]


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield _lines(text, "\n")
        case Facts(pairs):
            if pairs:
                facts = [(_one_line(word), _lines(text, "\n  ")) for word, text in pairs]
                yield "\n".join(f"- **{word}**: {text}" for word, text in facts)
        case TextTable(heads, rows):
            lines = [list(map(_one_line, row)) for row in (heads, *rows)]
            lines.insert(1, ["---"] * len(heads))
            yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
        case Subsection(title, blocks):
            yield f"### {_one_line(title)}"
            for each in blocks:
                yield from _block(each)
        case Picture():
            return
        case _:
            assert_never(block)


def _one_line(text: str) -> str:
    return MARKS.sub(r"\\\1", printable(text))


def _lines(text: str, between: str) -> str:
    lines = between.join(MARKS.sub(r"\\\1", line) for line in plain_lines(text))
    return LEADING.sub(r"\1\\\2", lines)
