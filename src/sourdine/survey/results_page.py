"""Results as a page: pictures are plain SVG, texts are escaped, and there is no script in it.

Every number stands in the text beside its picture, so the pictures are hidden from screen readers.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from sourdine.local import Number
from sourdine.local.table.columns import NO_ANSWER
from sourdine.release import SHOWN
from sourdine.survey.precision import FEWEST
from sourdine.survey.results import rounded, rounded_half
from sourdine.survey.scripts import source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.local.table.columns import Attribute
    from sourdine.survey.document import SurveyQuestion
    from sourdine.survey.results import QuestionResult, Results, Row

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
    words = survey.said(tag)
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
    words, asked = found.survey.said(language), {one.name: one for one in found.survey.questions}
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
        f"{escape(survey.said(other)['results_language'])}</a>"
        for other in survey.languages
        if other != tag
    ]
    label = escape(survey.said(tag)["results_languages"])
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
    schema, share = found.survey.schema, one.what == "share"
    title = f"<h2>{escape(asked.ask[tag])}</h2>"
    weights = schema.weights
    part = float(weights[one.name] / sum(weights.values())) if schema.method == "sample" else 1.0
    ahead = " ".join(
        _filled(
            words["results_expected"],
            people=n,
            reports=round(part * n),
            half=_half(half, words, share=share),
        )
        for n, half in one.planned
    )
    if not one.values:
        said = _filled(words["results_hidden"], fewest=FEWEST)
        return f'<section>{title}<p>{said}</p><p class="soft">{ahead}</p></section>'
    whom = f'<p class="soft">{escape(words["results_answered"])}</p>' if one.of_answered else ""
    rows = "".join(_rows(one, asked, schema.columns[one.name], tag, words))
    now = _filled(
        words["results_accuracy"],
        reports=one.reports,
        half=_half(one.half or 0, words, share=share),
    )
    return f'<section>{title}{whom}<ul>{rows}</ul><p class="soft">{now} {ahead}</p></section>'


def _half(half: float, words: Mapping[str, str], *, share: bool) -> str:
    """Return half the width of an interval; of shares in percentage points."""
    text = rounded_half(half, share=share)
    return words["results_points"].replace("{half}", text) if share else text


def _rows(
    one: QuestionResult,
    asked: SurveyQuestion,
    column: Attribute,
    tag: str,
    words: Mapping[str, str],
) -> Iterator[str]:
    """Yield a line for each share, or for the mean, and one for those without an answer."""
    numbers = [*zip(one.values, one.lower, one.upper, strict=True)]
    none = escape(words["none"])
    if isinstance(column, Number):
        ends = float(column.grid.lower), float(column.grid.upper)
        span = {"lower": f"{ends[0]:g}", "upper": f"{ends[1]:g}"}
        yield _row(_filled(words["results_mean"], **span), numbers[0], words, ends=ends)
        if one.no_answer:
            yield _row(none, one.no_answer, words)
        return
    called = {"false": words["no"], "true": words["yes"], NO_ANSWER: words["none"]}
    texts = (asked.labels[x][tag] if x in asked.labels else called.get(x, x) for x in one.labels)
    for place, (label, of_all) in enumerate(zip(map(escape, texts), numbers, strict=True)):
        if not one.of_answered:
            yield _row(label, of_all, words)
        elif place < len(one.of_answered):
            yield _row(label, one.of_answered[place], words, of_all=of_all)
        else:
            yield _row(label, of_all, words, alone=True)


def _row(  # noqa: PLR0913 - each has its own meaning
    label: str,
    numbers: Row,
    words: Mapping[str, str],
    *,
    ends: tuple[float, float] | None = None,
    of_all: Row | None = None,
    alone: bool = False,
) -> str:
    """Return a label, a number with its interval and a picture.

    Parameters
    ----------
    label
        What stands before the number, as HTML.
    numbers
        The number and the ends of its interval.
    words
        What the page says.
    ends
        Between what a mean can lie; None for a share.
    of_all
        The same share of all people, where ``numbers`` is of those who answered.
    alone
        Whether the share is of all people, where those above are of those who answered.
    """
    text, a, b = rounded(*numbers, share=ends is None)
    interval = _filled(words["results_interval"], low=a, high=b)
    number = f"<b>{text}</b> ({interval})"
    if alone:
        number = _shares_of_all(numbers, words, f"<b>{text}</b>")
    below = (
        f'<span class="soft number all">{_shares_of_all(of_all, words)}</span>' if of_all else ""
    )
    drawn = _picture(numbers[0], numbers[1:], ends or (0.0, 1.0), bar=ends is None)
    return f'<li><span>{label}</span> <span class="number">{number}</span>{below}{drawn}</li>'


def _shares_of_all(numbers: Row, words: Mapping[str, str], text: str | None = None) -> str:
    """Return a share as one of all people, with its interval."""
    share, a, b = rounded(*numbers, share=True)
    said = _filled(words["results_of_all"], share=share)
    said = said.replace("{interval}", _filled(words["results_interval"], low=a, high=b))
    return said if text is None else said.replace(share, text, 1)


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
