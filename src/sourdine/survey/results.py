"""What a survey says so far: shares and means with their intervals, as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sourdine.local import Choice, Choices, Flag, Number
from sourdine.local.table.estimating.scores import names
from sourdine.presentation.numbers import row
from sourdine.presentation.texts import json_text
from sourdine.release import SHOWN, Sheet, Shown
from sourdine.survey.precision import FEWEST, precision

if TYPE_CHECKING:
    from sourdine.local.table import Schema
    from sourdine.local.table.estimating.estimates import Estimates
    from sourdine.survey.document import Survey
    from sourdine.survey.store import SurveyStore

__all__ = ["QuestionResult", "Results", "results"]

MILESTONES = (500, 5000)
"""Numbers of people of which a page says how precise results will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """What is known of one question.

    Parameters
    ----------
    name, what
        The question, and what is estimated: ``"share"`` or ``"mean"``.
    reports
        How many people reported it.
    labels
        The answers as the schema calls them; of a mean, none.
    values, lower, upper
        Estimates and the ends of their intervals; nothing below 50 reports.
    planned
        For numbers of people half the width of the interval, the widest of several.
    """

    name: str
    what: str
    reports: int
    labels: tuple[str, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    planned: tuple[tuple[int, float], ...]

    @property
    def half(self) -> float | None:
        """Half the width of the widest interval; None while nothing is shown."""
        widths = [b - a for a, b in zip(self.lower, self.upper, strict=True)]
        return max(widths) / 2 if widths else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(Shown):
    """What is known of a survey.

    Parameters
    ----------
    survey
        What was asked.
    state
        ``"open"`` or ``"closed"``.
    people
        How many people are counted.
    questions
        What is known of each question, in the order asked.
    """

    survey: Survey
    state: str
    people: int
    questions: tuple[QuestionResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON knows them."""
        questions = {}
        for one in self.questions:
            numbers = zip(one.values, one.lower, one.upper, strict=True)
            rows = [{"value": v, "lower": a, "upper": b} for v, a, b in numbers]
            told: dict[str, Any] = {}
            if rows:
                shares = {"estimates": dict(zip(one.labels, rows, strict=False))}
                told = {"estimate": rows[0]} if one.what == "mean" else shares
            questions[one.name] = {
                "what": one.what,
                "reports": one.reports,
                "hidden": not rows,
                **told,
                "with": {str(n): half for n, half in one.planned},
            }
        return {
            "survey": self.survey.name,
            "fingerprint": self.survey.fingerprint,
            "state": self.state,
            "people": self.people,
            "confidence": SHOWN,
            "fewest": FEWEST,
            "questions": questions,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json_text(self.to_dict())

    def sheet(self) -> Sheet:
        """Return what is printed."""
        lines = []
        for one in self.questions:
            if not one.values:
                lines.append((one.name, one.what, f"fewer than {FEWEST}", "", ""))
            for place, numbers in enumerate(zip(one.values, one.lower, one.upper, strict=True)):
                of = one.labels[place] if one.labels else one.what
                lines.append((one.name, of, *row(numbers[0], numbers[1:])))
        notes = [
            ("people", f"{self.people}; the survey is {self.state}"),
            ("cost", f"{self.survey.schema.guarantee}, for all answers of a person"),
            ("shares", "made consistent: none is negative, those of one choice add up to 1"),
        ]
        return Sheet(
            heads=("question", "of", "estimate", "lower", "upper"),
            lines=lines,
            notes=notes,
            title=self.survey.title[self.survey.languages[0]],
        )


def results(store: SurveyStore) -> Results:
    """Return what the records say that a store has counted.

    Examples
    --------
    >>> import tomllib
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sourdine.survey import Survey
    >>> from sourdine.survey.skeleton import SKELETON
    >>> from sourdine.survey.store import SurveyStore
    >>> survey = Survey.from_facts(tomllib.loads(SKELETON))
    >>> with TemporaryDirectory() as folder:
    ...     store, _ = SurveyStore.create(Path(folder, "commute.db"), survey)
    ...     found = results(store)
    ...     store.close()
    >>> found.people, found.questions[0].name, found.questions[0].values
    (0, 'way', ())
    """
    found, survey = store.estimates(), store.survey
    sampled = survey.schema.method == "sample"
    people = sum(found.counts.values()) if sampled else max(found.counts.values())
    planned = _planned(survey.schema)
    questions = tuple(_question(found, one.name, planned[one.name]) for one in survey.questions)
    return Results(survey=survey, state=store.state, people=people, questions=questions)


@lru_cache(16)
def _planned(schema: Schema) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return for each question how precise it will be."""
    plans = [(n, precision(schema, n).lines) for n in MILESTONES]
    return {
        name: tuple((n, next(x.half for x in lines if x.name == name)) for n, lines in plans)
        for name in schema.columns
    }


def _question(
    found: Estimates, name: str, planned: tuple[tuple[int, float], ...]
) -> QuestionResult:
    column, reports = found.schema.columns[name], found.reports(name)
    number = isinstance(column, Number)
    labels = () if number else names(cast("Choice | Choices | Flag", column))
    values = lower = upper = np.zeros(0)
    if reports >= FEWEST:
        consistent = None if isinstance(column, Choices) else "norm-sub"
        one = found.mean(name) if number else found.shares(name, consistent=consistent)
        found_numbers = (one.value, *one.interval(SHOWN))
        values, lower, upper = (np.atleast_1d(np.asarray(x, np.float64)) for x in found_numbers)
        if not number:  # a person reads them, and adds nothing up
            values, lower, upper = (np.clip(x, 0, 1) for x in (values, lower, upper))
    return QuestionResult(
        name=name,
        what="mean" if number else "share",
        reports=reports,
        labels=labels if values.size else (),
        values=tuple(values.tolist()),
        lower=tuple(lower.tolist()),
        upper=tuple(upper.tolist()),
        planned=planned,
    )
