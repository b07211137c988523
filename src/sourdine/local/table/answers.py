"""One person's own answer to a question: whether it can be read, and what it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.grid import MISSING
from sourdine.local.table.columns import Choice, Flag
from sourdine.local.table.several import Choices
from sourdine.tally.cells import Ticked
from sourdine.tally.column import Column
from sourdine.tally.ticked import BLANK

if TYPE_CHECKING:
    from sourdine.local.table.columns import Attribute

__all__ = ["is_readable", "wanted"]


def is_readable(question: Attribute, answer: str | float) -> bool:
    """Return whether an answer is one of those asked for; a number may be beyond the bounds.

    Examples
    --------
    >>> [is_readable(Choice("yes", "no"), answer) for answer in ("yes", "maybe")]
    [True, False]
    >>> [is_readable(Choices("tv", "web"), answer) for answer in ("web; tv", ";", "tv;radio")]
    [True, True, False]
    """
    cell = question.cell("answer")
    if isinstance(cell, Ticked):
        words = {word.strip(BLANK) for word in str(answer).split(cell.separator)}
        return words <= {*cell.words, ""}
    return bool(cell.slots(Column.of([answer]))[0] != MISSING)


def wanted(question: Attribute) -> str:
    """Return what an answer should be, in words.

    Examples
    --------
    >>> wanted(Choice("yes", "no")), wanted(Flag())
    ("one of 'yes', 'no'", 'yes or no')
    """
    if isinstance(question, Choice):
        return f"one of {', '.join(map(repr, question.listed))}"
    if isinstance(question, Choices):
        return f"some of {', '.join(map(repr, question.listed))}"
    return "yes or no" if isinstance(question, Flag) else f"a {question.kind}"
