"""Results of a survey so far, and their page."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import zip_longest
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from sourdine.local import Choices, Number
from sourdine.local.table.columns import NO_ANSWER
from sourdine.results.figures import environment
from sourdine.results.release import SHOWN
from sourdine.results.tables import (
    JsonDisplayable,
    Sheet,
    interval_head,
    interval_text,
    shown,
)
from sourdine.survey.page import source
from sourdine.survey.precision import FEWEST, precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.estimates import Estimates
    from sourdine.local.table.schema import Schema
    from sourdine.results.release import Release
    from sourdine.survey.document import Survey, SurveyQuestion
    from sourdine.survey.store import SurveyStore

    Floats = NDArray[np.float64]


# ---- What a survey says so far: shares and means with their intervals, as a page shows them ------


MILESTONES = (500, 5000)
"""Numbers of people of which a page says how precise results will be."""
TINY = 1e-9
Row = tuple[float, float, float]
"""A number and the ends of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """What is known of one question."""

    name: str
    what: str
    """The question, and what is estimated: ``"share"`` or ``"mean"``."""
    reports: int
    """How many people reported it."""
    labels: tuple[str, ...]
    """The answers as the schema calls them; of a mean, none."""
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    """Estimates and the ends of their intervals; nothing below 50 reports. Shares are of all
    people, those without an answer included; a mean is of those who answered."""
    planned: tuple[tuple[int, float], ...]
    """For numbers of people half the width of the interval, the widest of several."""
    of_answered: tuple[Row, ...] = ()
    """Where a question may be left unanswered: of each answer its share of those who answered, with
    the ends of its interval."""
    no_answer: Row | None = None
    """There, the share of all people who left it unanswered, with its ends."""

    @property
    def half(self) -> float | None:
        """Half the width of the widest interval; None while nothing is shown."""
        widths = [b - a for a, b in zip(self.lower, self.upper, strict=True)]
        return max(widths) / 2 if widths else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(JsonDisplayable):
    """What is known of a survey: its state, people counted, and questions in the order asked."""

    survey: Survey
    state: str
    people: int
    questions: tuple[QuestionResult, ...]

    def to_dict(self) -> dict[str, Any]:
        questions = {}
        for one in self.questions:
            rows = list(map(_ends, zip(one.values, one.lower, one.upper, strict=True)))
            told: dict[str, Any] = {}
            if rows:
                shares = {"estimates": dict(zip(one.labels, rows, strict=False))}
                told = {"estimate": rows[0]} if one.what == "mean" else shares
            if one.of_answered:
                answers = map(_ends, one.of_answered)
                told["of_answered"] = dict(zip(one.labels, answers, strict=False))
            if one.no_answer:
                told["no_answer"] = _ends(one.no_answer)
            questions[one.name] = {
                "what": one.what, "reports": one.reports, "hidden": not rows, **told,
                "with": {str(n): half for n, half in one.planned},
            }  # fmt: skip
        return {
            "survey": self.survey.name, "fingerprint": self.survey.fingerprint, "state": self.state,
            "people": self.people, "confidence": SHOWN, "fewest": FEWEST, "questions": questions,
        }  # fmt: skip

    def sheet(self) -> Sheet:
        lines: list[tuple[str, ...]] = []
        for one in self.questions:
            if not one.values:
                lines.append((one.name, one.what, f"fewer than {FEWEST}"))
            for place, numbers in enumerate(zip(one.values, one.lower, one.upper, strict=True)):
                of = one.labels[place] if one.labels else one.what
                answers = one.of_answered[place : place + 1]
                among = _cells(*answers[0], share=True) if answers else ("", "")
                lines.append((one.name, of, *_cells(*numbers, share=one.what == "share"), *among))
            if one.no_answer and one.what == "mean":
                lines.append((one.name, NO_ANSWER, *_cells(*one.no_answer, share=True)))
        interval = interval_head(SHOWN)
        heads = ("question", "answer", "estimate", interval, "of answered", interval)
        lines = [(*line, *[""] * (len(heads) - len(line))) for line in lines]
        notes = [
            ("people", f"{self.people}; the survey is {self.state}"),
            ("cost", f"{self.survey.schema.guarantee}, for all answers of a person"),
            ("shares", "of all people, and of those who answered; shares of a choice sum to 100%"),
            ("means", "of those who answered"),
        ]
        return Sheet(
            heads=heads, lines=lines, notes=notes, title=self.survey.title[self.survey.languages[0]]
        )


def results(store: SurveyStore) -> Results:
    """Return what the records say that a store has counted."""
    found, survey = store.estimates(), store.survey
    sampled = survey.schema.method == "sample"
    people = sum(found.counts.values()) if sampled else max(found.counts.values())
    planned = _planned(survey.schema)
    questions = tuple(_question(found, one.name, planned[one.name]) for one in survey.questions)
    return Results(survey=survey, state=store.state, people=people, questions=questions)


@lru_cache(16)
def _planned(schema: Schema) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return for each question how precise it will be."""
    planned: dict[str, tuple[tuple[int, float], ...]] = dict.fromkeys(schema.columns, ())
    for n in MILESTONES:
        for line in precision(schema, n).lines:
            planned[line.name] += ((n, line.half),)
    return planned


def _question(
    found: Estimates, name: str, planned: tuple[tuple[int, float], ...]
) -> QuestionResult:
    column, reports = found.schema.columns[name], found.reports(name)
    number = isinstance(column, Number)
    labels = column.names
    values = lower = upper = np.zeros(0)
    of_answered: tuple[Row, ...] = ()
    no_answer: Row | None = None
    if reports >= FEWEST:
        several, absent = isinstance(column, Choices), bool(column.missing)
        consistent = None if several else "norm-sub"
        one = found.mean(name) if number else found.shares(name, consistent=consistent)
        values, lower, upper = _estimated(one, share=not number)
        if absent and not several:
            *_, no_answer = _rows_of(found.answered(name))
        if absent and not (several or number):
            of_answered = _rows_of(found.shares(name, of="answered", consistent=consistent))
    return QuestionResult(
        name=name, what="mean" if number else "share", reports=reports,
        labels=labels if values.size else (), values=tuple(values.tolist()),
        lower=tuple(lower.tolist()), upper=tuple(upper.tolist()), planned=planned,
        of_answered=of_answered, no_answer=no_answer,
    )  # fmt: skip


def _estimated(one: Release, *, share: bool = True) -> tuple[Floats, Floats, Floats]:
    """Return numbers and the ends of their intervals; a number made consistent stays in its own.

    Shares are cut to 0 and 1: a person reads them, and adds nothing up.
    """
    low, high = (np.atleast_1d(np.asarray(end, np.float64)) for end in one.interval(SHOWN))
    value = np.clip(np.atleast_1d(np.asarray(one.value, np.float64)), low, high)
    if not share:
        return value, low, high
    value, low, high = (np.clip(x, 0, 1) for x in (value, low, high))
    return value, low, high


def _rows_of(one: Release) -> tuple[Row, ...]:
    return tuple(zip(*(part.tolist() for part in _estimated(one)), strict=True))


def _ends(numbers: Row) -> dict[str, float]:
    return dict(zip(("value", "lower", "upper"), numbers, strict=True))


def rounded(value: float, low: float, high: float, *, share: bool) -> tuple[str, str, str]:
    """Return a number and the ends of its interval with the digits that the interval allows.

    The ends are rounded outward, and a share is written in per cent.

    Examples
    --------
    >>> rounded(0.2613, 0.0981, 0.4271, share=True), rounded(0.2613, 0.2571, 0.2655, share=True)
    (('26%', '9%', '43%'), ('26.1%', '25.7%', '26.6%'))
    >>> rounded(31.417, 28.2, 34.6, share=False)
    ('31', '28', '35')
    """
    scale = 100 if share else 1
    place = _place(scale * (high - low) / 2, share=share)
    ends = (floor(scale * low / place + TINY), ceil(scale * high / place - TINY))
    texts = (shown(place * x, 10 * place) for x in (round(scale * value / place), *ends))
    a, b, c = (f"{text}%" if share else text for text in texts)
    return a, b, c


def _cells(value: float, low: float, high: float, *, share: bool) -> tuple[str, str]:
    """Return a number and its interval as cells of a table."""
    text, *ends = rounded(value, low, high, share=share)
    return text, interval_text(*ends)


def rounded_half(half: float, *, share: bool) -> str:
    """Return half the width of an interval with one digit, or two if the first is 1; rounded up."""
    scale = 100 if share else 1
    place = _place(scale * half, share=share)
    return shown(place * ceil(scale * half / place - TINY), 10 * place)


def _place(half: float, *, share: bool) -> float:
    """Return the power of ten to round to; of a share, at most a whole per cent."""
    place = 10.0 ** floor(log10(half / 2)) if half > 0 else TINY
    return min(place, 1.0) if share else place


# ---- Results as a page: pictures are plain SVG, texts are escaped, and there is no script in it --


STYLE = source("results.css")
POLICY = (
    "default-src 'none'; style-src 'sha256-"
    f"{b64encode(sha256(STYLE.encode()).digest()).decode()}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
RIGHT_TO_LEFT = ("ar", "fa", "he", "ps", "ur", "yi")
WIDE = 1000
"""The width of a picture in its own units; it is drawn as wide as the page."""


def results_page(found: Results, *, language: str | None = None, paused: bool = False) -> bytes:
    """Return the page of results in a language, the survey's first by default.

    A paused page stays as it is.
    """
    survey = found.survey
    tag = language or survey.languages[0]
    words = survey.said(tag)
    others = [(o, survey.said(o)["results_language"]) for o in survey.languages if o != tag]
    page = environment("sourdine.survey").get_template("results.html")
    text = page.render(
        tag=tag, right_to_left=tag in RIGHT_TO_LEFT, others=others, title=survey.title[tag],
        style=STYLE, words=words, people=_filled(words["results_people"], people=found.people),
        closed=found.state != "open", paused=paused, sections=result_sections(found, tag),
        note=_filled(words["results_note"], percent=f"{100 * SHOWN:g}"),
    )  # fmt: skip
    return f"{text}\n".encode()


def result_sections(found: Results, language: str) -> Markup:
    """Return a section of HTML for each question, in one of the survey's languages."""
    words, asked = found.survey.said(language), {one.name: one for one in found.survey.questions}
    questions = [_section(one, asked[one.name], found, language, words) for one in found.questions]
    sections = environment("sourdine.survey").get_template("sections.html")
    return Markup(sections.render(questions=questions))  # noqa: S704 - escaped by the template


def _filled(text: str, **given: object) -> Markup:
    """Return a text with numbers in it; each is set apart, whichever way the text runs."""
    said = escape(text).replace("± ", "±\xa0")
    for name, value in given.items():
        said = said.replace(f"{{{name}}}", Markup("<bdi>{}</bdi>").format(value))
    return said


def _section(
    one: QuestionResult, asked: SurveyQuestion, found: Results, tag: str, words: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the template shows of a question."""
    schema, weights = found.survey.schema, found.survey.schema.weights
    part = float(weights[one.name] / sum(weights.values())) if schema.method == "sample" else 1.0

    def half(width: float) -> str:  # of shares in percentage points
        text = rounded_half(width, share=one.what == "share")
        return words["results_points"].replace("{half}", text) if one.what == "share" else text

    expected = words["results_expected"]
    ahead = Markup(" ").join(
        _filled(expected, people=n, reports=round(part * n), half=half(width))
        for n, width in one.planned
    )
    now = _filled(words["results_accuracy"], reports=one.reports, half=half(one.half or 0))
    return {
        "ask": asked.ask[tag], "hidden": _filled(words["results_hidden"], fewest=FEWEST),
        "ahead": ahead, "whom": words["results_answered"] if one.of_answered else "",
        "rows": [*_rows(one, asked, schema.columns[one.name], tag, words)] if one.values else [],
        "now": now,
    }  # fmt: skip


def _rows(
    one: QuestionResult,
    asked: SurveyQuestion,
    column: Attribute,
    tag: str,
    words: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """Yield a line for each share, or for the mean, and one for those without an answer."""
    numbers = [*zip(one.values, one.lower, one.upper, strict=True)]
    if isinstance(column, Number):
        ends = float(column.grid.lower), float(column.grid.upper)
        span = {"lower": f"{ends[0]:g}", "upper": f"{ends[1]:g}"}
        yield _row(_filled(words["results_mean"], **span), numbers[0], words, ends=ends)
        if one.no_answer:
            yield _row(words["none"], one.no_answer, words)
        return
    called = {"false": words["no"], "true": words["yes"], NO_ANSWER: words["none"]}
    texts = (asked.labels[x][tag] if x in asked.labels else called.get(x, x) for x in one.labels)
    for label, of_all, answered in zip_longest(texts, numbers, one.of_answered):
        if answered is None:
            yield _row(label, of_all, words, alone=bool(one.of_answered))
        else:
            yield _row(label, answered, words, of_all=of_all)


def _row(
    label: str,
    numbers: Row,
    words: Mapping[str, str],
    *,
    ends: tuple[float, float] | None = None,
    of_all: Row | None = None,
    alone: bool = False,
) -> dict[str, Any]:
    """Return a label, a number with its interval, and the places of its picture.

    A mean lies between ``ends``; a share has none. ``of_all`` is the same share of all people,
    where ``numbers`` is of those who answered. A share ``alone`` is of all people, where those
    above are of those who answered.
    """
    text, a, b = rounded(*numbers, share=ends is None)
    interval = _filled(words["results_interval"], low=a, high=b)
    number = Markup("<b>{}</b> ({})").format(text, interval)
    start, stop = ends or (0.0, 1.0)
    value, low, high = (
        f"{WIDE * min(max((x - start) / (stop - start), 0.0), 1.0):.1f}" for x in numbers
    )
    return {
        "label": label, "number": _of_all(numbers, words, bold=True) if alone else number,
        "of_all": _of_all(of_all, words) if of_all else "", "bar": ends is None, "value": value,
        "low": low, "high": high,
    }  # fmt: skip


def _of_all(numbers: Row, words: Mapping[str, str], *, bold: bool = False) -> Markup:
    """Return a share as one of all people, with its interval."""
    share, a, b = rounded(*numbers, share=True)
    shown_share = Markup("<b>{}</b>").format(share) if bold else share
    said = _filled(words["results_of_all"], share=shown_share)
    return said.replace("{interval}", _filled(words["results_interval"], low=a, high=b))
