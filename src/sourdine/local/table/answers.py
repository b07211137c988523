"""One person's own answers: whether they can be read, and what they should be.

These checks are for a person's own device, where a refused answer can be corrected. Cells of a
table are never refused: that would tell somebody about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.grid import MISSING
from sourdine.local.table.columns import Choice, Flag
from sourdine.local.table.several import Choices
from sourdine.tally.cells import Ticked
from sourdine.tally.column import Column
from sourdine.tally.ticked import BLANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.schema import Schema

__all__ = ["demand_answers", "is_readable", "wanted"]


def demand_answers(schema: Schema, answers: Mapping[str, Any], whose: str = "") -> None:
    """Refuse a person's answers if one is absent, or cannot be read, that the schema needs.

    Parameters
    ----------
    schema
        What is asked.
    answers
        The answers of one person by name.
    whose
        What an error calls the person, after a blank.

    Examples
    --------
    >>> from sourdine.local.table import Schema
    >>> schema = Schema(vote=Choice("yes", "no"), age=Choice("old", "young", missing=True), epsilon=1)
    >>> demand_answers(schema, {"vote": "yes"})
    >>> demand_answers(schema, {"age": "old"})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: the answer to 'vote' must be one of 'yes', 'no', got none. Answer it; the schema declares which questions may be left unanswered.
    """  # noqa: E501
    for name in schema.undeclared:
        question, answer = schema.columns[name], answers.get(name)
        if answer is None or answer == "" or not is_readable(question, answer):
            raise ParameterError(
                f"the answer to {name!r}{whose}",
                f"be {wanted(question)}",
                "none" if answer is None or answer == "" else "something else",
                "Answer it; the schema declares which questions may be left unanswered.",
            )


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
