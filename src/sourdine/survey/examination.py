"""Everything that is wrong with a survey's document, each beside the field that it is in.

The reader of surveys stops at the first thing that it cannot read. Here it reads a document in
parts, each in the company of stand-ins that are right: what it refuses then is that part. So a form
can say all of it at once, and nothing is read but by the one reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sourdine.errors import ParameterError, SourdineError
from sourdine.survey.document import KEYS, NEEDED, Survey

__all__ = ["Examination", "FieldProblem", "examined"]

LANGUAGES = ("languages", "words")
COST = ("epsilon", "method", "rounds", "once", "round")
APART = (*LANGUAGES, *COST, "questions", "order")
OF_QUESTIONS = re.compile(
    r"\b(kind|categories|choices|lower|upper|step|method|missing|weight|separator)"
)
STAND_IN: Mapping[str, Any] = {
    "name": "survey",
    "title": "?",
    "who": "?",
    "contact": "?",
    "send_to": "http://127.0.0.1:8000/reports",
    "epsilon": 1,
    "questions": {"question": {"kind": "flag", "ask": "?"}},
}
"""A survey that is right, whichever part of it is put in another's place."""
UNREADABLE = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What the reader raises that stumbles over what no person types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """What is wrong, and where.

    Parameters
    ----------
    field
        The way to it in the document, such as ``"questions.way.lower"``; empty for the whole.
    error
        What the reader says.
    """

    field: str
    error: SourdineError

    def __str__(self) -> str:
        whole = self.error.hinting("", self.error.tries, "it").said()
        return whole.removeprefix("it ").removesuffix(".")

    def refusal(self) -> SourdineError:
        """Return the error to raise where the whole survey is refused for this problem."""
        return self.error.hinting("Correct the draft.", {}, self.field or self.error.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What became of a document.

    Parameters
    ----------
    survey
        The survey; None if something is wrong.
    problems
        What is wrong.
    sketch
        A survey of the questions that are right, at the cost that is said, in other words: for a
        plan while the rest is being written. None if there is no such question.
    """

    survey: Survey | None
    problems: tuple[FieldProblem, ...]
    sketch: Survey | None


def examined(found: object) -> Examination:
    """Read a survey, or say everything that is wrong with it.

    Examples
    --------
    >>> whole = {"name": "Work", "title": "", "who": "we", "contact": "a@example.org",
    ...          "send_to": "http://127.0.0.1:8000/reports", "epsilon": 1,
    ...          "questions": {"age": {"kind": "number", "lower": 9, "upper": 1, "ask": "Age?"},
    ...                        "ill": {"kind": "flag", "ask": "Ill?"}}}
    >>> wrong = examined(whole)
    >>> for problem in wrong.problems:
    ...     print(f"{problem.field}: {problem}")
    name: must be small letters, digits and hyphens, got 'Work'
    title: must be a text of 1 to 4000 letters, got ''
    questions.age.lower: must be below upper, got 9 and 1
    >>> wrong.survey, [one.name for one in wrong.sketch.questions]
    (None, ['ill'])
    """
    if not isinstance(found, Mapping):
        return Examination(survey=None, problems=(_whole(found),), sketch=None)
    problems: list[FieldProblem] = []
    good = dict(STAND_IN)

    def takes(keys: tuple[str, ...], field: str) -> None:
        """Put a part of the document in the stand-in's place, if it is right there."""
        part = {key: found[key] for key in keys if key in found}
        rest = {key: x for key, x in good.items() if key not in keys or key in part}
        wrong = _refused({**(rest if field in NEEDED else good), **part})
        if wrong is None:
            good.update(part)
        else:
            problems.append(FieldProblem(field=_place(wrong, keys, field), error=wrong))

    takes(LANGUAGES, "languages")
    for key in (*KEYS, *(str(key) for key in found if key not in KEYS)):
        if key not in APART and (key in found or key in NEEDED):
            takes((key,), key)
    takes(COST, "epsilon")
    right = _questions(found.get("questions"), good, problems)
    sketch = good | {"questions": right}
    survey = None
    if not problems:
        wrong = _refused(found)
        if wrong is None:
            survey = Survey.from_facts(found)
        else:
            problems.append(FieldProblem(field=_place(wrong, KEYS, ""), error=wrong))
    usable = bool(right) and _refused(sketch) is None
    return Examination(
        survey=survey,
        problems=tuple(problems),
        sketch=survey or (Survey.from_facts(sketch) if usable else None),
    )


def _questions(found: object, good: dict[str, Any], problems: list[FieldProblem]) -> dict[str, Any]:
    """Return the questions that are right alone; what is wrong with the others is added."""
    if not isinstance(found, Mapping) or not found:
        wrong = _refused(good | {"questions": found})
        if wrong is not None:
            problems.append(FieldProblem(field="questions", error=wrong))
        return {}
    right = {}
    for name, question in found.items():
        wrong = _refused(good | {"questions": {name: question}})
        if wrong is None:
            right[name] = question
        else:
            problems.append(FieldProblem(field=_within(str(name), wrong), error=wrong))
    return right


def _refused(facts: object) -> SourdineError | None:
    """Return what the reader says against a document; None if nothing."""
    try:
        Survey.from_facts(facts)
    except SourdineError as error:
        return error
    except UNREADABLE:
        return ParameterError("a survey", "be one that can be read", "another one", "Check it.")
    return None


def _whole(found: object) -> FieldProblem:
    wrong = _refused(found)
    if wrong is None:
        raise LookupError("a survey that is no table and yet one")
    return FieldProblem(field="", error=wrong)


def _place(error: SourdineError, keys: tuple[str, ...], field: str) -> str:
    """Return the error's own name if it is that of a field, and else where it was looked for."""
    return error.name if error.name.partition(".")[0] in keys else field


def _within(name: str, error: SourdineError) -> str:
    """Return the field of a question that an error is about; the question itself if none is."""
    whole = f"questions.{name}"
    if error.name.startswith(f"{whole}."):
        return error.name
    said = "step" if error.name == "last" else error.name.replace(repr(name), "")
    found = OF_QUESTIONS.search(f"{said} {error.got}" if said.startswith("column") else said)
    return f"{whole}.{found[1]}" if found else whole
