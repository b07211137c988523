"""A survey at a glance: what it asks, what it costs, what that means, how it is known."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from sourdine.privacy.printing import shown
from sourdine.release import Sheet
from sourdine.survey.page import page
from sourdine.survey.words import meaning

if TYPE_CHECKING:
    from sourdine.survey.document import Survey

__all__ = ["summary"]


def summary(survey: Survey) -> Sheet:
    """Return what to look at before a survey is opened.

    Examples
    --------
    >>> import tomllib
    >>> from sourdine.survey import Survey
    >>> from sourdine.survey.skeleton import SKELETON
    >>> sheet = summary(Survey.from_facts(tomllib.loads(SKELETON)))
    >>> sheet.lines[0][:3], sheet.notes[0][0]
    (('way', 'How did you come today?', '0.25'), 'cost')
    """
    schema, first = survey.schema, survey.languages[0]
    several = schema.rounds is not None
    parts = schema.parts("report")
    html = page(survey.round(1) if several and schema.turn is None else survey)
    rows = [
        (
            question.name,
            question.ask[first],
            shown(parts[question.name].epsilon),
            str(parts[question.name].mechanism),
        )
        for question in survey.questions
    ]
    notes = [
        ("cost", f"{schema.guarantee}, for all answers of a person"),
        ("means", meaning(schema.epsilon)),
        *(schema.costs().sheet().notes if several else ()),
        ("languages", ", ".join(survey.languages)),
        ("sent to", survey.send_to),
        ("survey", survey.fingerprint),
        ("page", f"{len(html) / 1000:.1f} kB, SHA-256 {sha256(html).hexdigest()}"),
    ]
    return Sheet(
        heads=("question", "asked", "epsilon", "method"),
        lines=rows,
        notes=notes,
        title=survey.title[first],
    )
