"""Results as a page: pictures are plain SVG, texts are escaped, and there is no script in it.

Every number stands in the text beside its picture, so the pictures are hidden from screen readers.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local import Number
from sourdine.presentation.numbers import row
from sourdine.release import SHOWN
from sourdine.survey.precision import FEWEST
from sourdine.survey.scripts import source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.local.table.columns import Attribute
    from sourdine.survey.document import SurveyQuestion
    from sourdine.survey.results import QuestionResult, Results

__all__ = ["POLICY", "result_sections", "results_page"]

STYLE = source("results.css")
POLICY = (
    "default-src 'none'; style-src 'sha256-"
    f"{b64encode(sha256(STYLE.encode()).digest()).decode()}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="{lang}"{way}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style></head>
<body><main>{languages}<h1>{title}</h1>
<p>{state}</p>
{questions}
<p class="soft">{note}</p>
</main></body></html>
"""
RIGHT_TO_LEFT = ("ar", "fa", "he", "ps", "ur", "yi")
WIDE, HIGH = 1000, 24
"""Sizes of a picture, which is drawn as wide as the page."""


def results_page(found: Results, *, language: str | None = None, paused: bool = False) -> bytes:
    """Return the page of results.

    Parameters
    ----------
    found
        What is known.
    language
        One of the survey's, the first if left out.
    paused
        Whether the page stays as it is.
    """
    survey = found.survey
    tag = language or survey.languages[0]
    words = survey.words[tag]
    return PAGE.format(
        lang=tag,
        way=' dir="rtl"' if tag in RIGHT_TO_LEFT else "",
        languages=_languages(found, tag, paused=paused),
        title=escape(survey.title[tag]),
        style=STYLE,
        state=_state(found, tag, words, paused=paused),
        questions=result_sections(found, tag),
        note=_filled(words["results_note"], percent=f"{100 * SHOWN:g}"),
    ).encode()


def result_sections(found: Results, language: str) -> str:
    """Return a section of HTML for each question, in one of the survey's languages."""
    words, asked = found.survey.words[language], {one.name: one for one in found.survey.questions}
    parts = (_section(one, asked[one.name], found, language, words) for one in found.questions)
    return "\n".join(parts)


def _filled(text: str, **given: object) -> str:
    """Return a text with numbers in it; each is set apart, whichever way the text runs."""
    said = escape(text).replace("± ", "±\xa0")
    for name, value in given.items():
        said = said.replace(f"{{{name}}}", f"<bdi>{escape(str(value))}</bdi>")
    return said


def _languages(found: Results, tag: str, *, paused: bool) -> str:
    """Return the links to the same page in other languages."""
    survey = found.survey
    stay = "&amp;pause" if paused else ""
    links = [
        f'<a href="?language={other}{stay}" lang="{other}" hreflang="{other}">'
        f"{escape(survey.words[other]['results_language'])}</a>"
        for other in survey.languages
        if other != tag
    ]
    label = escape(survey.words[tag]["results_languages"])
    return f'<nav aria-label="{label}">{" ".join(links)}</nav>' if links else ""


def _state(found: Results, tag: str, words: Mapping[str, str], *, paused: bool) -> str:
    people = _filled(words["results_people"], people=found.people)
    if found.state != "open":
        return f"{people} {escape(words['results_closed'])}"
    said, what, to = (
        ("results_paused", "go", "results_resume")
        if paused
        else ("results_live", "pause", "results_pause")
    )
    link = f'<a href="?language={tag}&amp;{what}">{escape(words[to])}</a>'
    return f"{people} {escape(words[said])} {link}"


def _section(
    one: QuestionResult, asked: SurveyQuestion, found: Results, tag: str, words: Mapping[str, str]
) -> str:
    title = f"<h2>{escape(asked.ask[tag])}</h2>"
    ahead = " ".join(
        _filled(words["results_ahead"], people=n, half=_digits(half)) for n, half in one.planned
    )
    if not one.values:
        said = _filled(words["results_hidden"], fewest=FEWEST)
        return f'<section>{title}<p>{said}</p><p class="soft">{ahead}</p></section>'
    rows = "".join(_rows(one, asked, found.survey.schema.columns[one.name], tag, words))
    now = _filled(words["results_now"], reports=one.reports, half=_digits(one.half or 0))
    return f'<section>{title}<ul>{rows}</ul><p class="soft">{now} {ahead}</p></section>'


def _rows(
    one: QuestionResult,
    asked: SurveyQuestion,
    column: Attribute,
    tag: str,
    words: Mapping[str, str],
) -> Iterator[str]:
    """Yield a label, a number with its interval and a picture for each share, or for the mean."""
    ends, labels = (0.0, 1.0), [*one.labels]
    if isinstance(column, Number):
        ends = float(column.grid.lower), float(column.grid.upper)
        span = {"lower": f"{ends[0]:g}", "upper": f"{ends[1]:g}"}
        labels = [_filled(words["results_mean"], **span)]
    else:
        called = {"false": words["no"], "true": words["yes"]} if column.kind == "flag" else {}
        texts = (asked.labels[x][tag] if x in asked.labels else called.get(x, x) for x in labels)
        labels = [escape(text) for text in texts]
    for label, value, low, high in zip(labels, one.values, one.lower, one.upper, strict=True):
        text, a, b = row(value, (low, high))
        interval = _filled(words["results_interval"], low=a, high=b)
        drawn = _picture(value, (low, high), ends, bar=not isinstance(column, Number))
        yield (
            f'<li><span>{label}</span> <span class="number"><b>{text}</b> ({interval})</span>'
            f"{drawn}</li>"
        )


def _digits(half: float) -> str:
    return str(np.format_float_positional(half, precision=2, fractional=False, trim="-"))


def _picture(
    value: float, interval: tuple[float, float], ends: tuple[float, float], *, bar: bool
) -> str:
    """Draw a share as a bar or a mean as a mark, and its interval, between the ends."""

    def place(x: float) -> str:
        return f"{WIDE * min(max((x - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0):.1f}"

    y, x1, x2 = HIGH / 2, *map(place, interval)
    mark = (
        f'<rect class="bar" width="{place(value)}" height="{HIGH}"/>'
        if bar
        else _line("dot", place(value), place(value), 2, HIGH - 2)
    )
    lines = [_line("end", x1, x2, y, y), *(_line("end", x, x, y - 6, y + 6) for x in (x1, x2))]
    size = f'viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none"'
    base = f'<rect class="base" width="{WIDE}" height="{HIGH}"/>'
    return f'<svg {size} aria-hidden="true">{base}{mark}{"".join(lines)}</svg>'


def _line(kind: str, x1: str, x2: str, y1: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y1:g}" y2="{y2:g}"/>'
