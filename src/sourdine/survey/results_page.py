"""Results as a page: pictures are plain SVG, texts are escaped, and there is no script in it."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local import Number
from sourdine.presentation.numbers import row
from sourdine.survey.precision import FEWEST
from sourdine.survey.scripts import source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.survey.document import SurveyQuestion
    from sourdine.survey.results import QuestionResult, Results

__all__ = ["POLICY", "results_page"]

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
<body><main><h1>{title}</h1>
<p>{people} people are counted. {state}</p>
{questions}
<p class="soft">Every answer was randomised before it was sent. Lines are 95 % intervals:
they know of that chance, and not of people who did not answer or answered falsely.</p>
</main></body></html>
"""
RIGHT_TO_LEFT = ("ar", "fa", "he", "ps", "ur", "yi")
WIDE, LEFT, RIGHT, HIGH = 640, 190, 200, 34
"""Sizes of a picture: its width, what labels and numbers take, the height of a bar."""


def results_page(found: Results, *, language: str | None = None, paused: bool = False) -> bytes:
    """Return the page of results.

    Parameters
    ----------
    found
        What is known.
    language
        In which questions and answers are named; the survey's first if left out.
    paused
        Whether the page stays as it is.
    """
    survey = found.survey
    tag = language or survey.languages[0]
    other = f"language={tag}&amp;" if language else ""
    pause = f'<a href="?{other}pause">Pause</a>.'
    resume = f'<a href="?{other}go">Go on</a>.'
    going = f"This page looks again every few seconds. {pause}"
    still = f"The survey is open; this page is paused. {resume}"
    state = "The survey is closed." if found.state != "open" else still if paused else going
    asked = {one.name: one for one in survey.questions}
    words = survey.words[tag]
    parts = [_section(one, asked[one.name], found, tag, words) for one in found.questions]
    return PAGE.format(
        lang=tag,
        way=' dir="rtl"' if tag in RIGHT_TO_LEFT else "",
        title=escape(survey.title[tag]),
        style=STYLE,
        people=found.people,
        state=state,
        questions="\n".join(parts),
    ).encode()


def _section(
    one: QuestionResult, asked: SurveyQuestion, found: Results, tag: str, words: Mapping[str, str]
) -> str:
    column = found.survey.schema.columns[one.name]
    title = f"<h2>{escape(asked.ask[tag])}</h2>"
    ahead = "; ".join(f"with {n} people: ± {_digits(half)}" for n, half in one.planned)
    if not one.values:
        said = f"Shown once {FEWEST} people have answered."
        return f'<section>{title}<p>{said}</p><p class="soft">Precision {ahead}.</p></section>'
    if isinstance(column, Number):
        grid = column.grid
        drawing = _mean(one, float(grid.lower), float(grid.upper))
    else:
        called = {"false": words["no"], "true": words["yes"]} if column.kind == "flag" else {}
        labels = [
            asked.labels[x][tag] if x in asked.labels else called.get(x, x) for x in one.labels
        ]
        drawing = _shares(one, labels)
    now = f"Now {one.reports} answers: ± {_digits(one.half or 0)}"
    return f'<section>{title}{drawing}<p class="soft">{now}; {ahead}.</p></section>'


def _digits(half: float) -> str:
    return str(np.format_float_positional(half, precision=2, fractional=False, trim="-"))


def _shares(one: QuestionResult, labels: list[str]) -> str:
    """Draw a bar and an interval for each answer, from 0 to 1."""
    across, drawn, told = WIDE - LEFT - RIGHT, [], []
    right = WIDE - RIGHT + 10
    for i, (label, value, low, high) in enumerate(
        zip(labels, one.values, one.lower, one.upper, strict=True)
    ):
        y, (text, a, b) = HIGH * i + HIGH / 2, row(value, (low, high))
        x1, x2 = LEFT + across * low, LEFT + across * high
        drawn.append(
            f'<text x="{LEFT - 10}" y="{y + 5:.1f}" text-anchor="end">'
            f'{escape(_short(label))}</text><rect class="bar" x="{LEFT}" y="{y - 11:.1f}" '
            f'width="{across * value:.1f}" height="22"/>{_whisker(x1, x2, y)}'
            f'<text x="{right}" y="{y + 5:.1f}">{text} ({a} to {b})</text>'
        )
        told.append(f"{label}: {text}, from {a} to {b}")
    axis = f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="0" y2="{HIGH * len(labels)}"/>'
    return _drawing("".join(drawn) + axis, HIGH * len(labels), "; ".join(told))


def _mean(one: QuestionResult, lowest: float, highest: float) -> str:
    """Draw a mean and its interval between the bounds of the question."""
    (value,), (low,), (high,) = one.values, one.lower, one.upper
    across = WIDE - LEFT - RIGHT

    def place(x: float) -> float:
        return LEFT + across * (x - lowest) / (highest - lowest)

    y, (text, a, b) = HIGH / 2, row(value, (low, high))
    drawn = (
        f'<line class="axis" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y}" y2="{y}"/>'
        f'<text x="{LEFT - 10}" y="{y + 5}" text-anchor="end">mean, from {lowest:g}</text>'
        f'{_whisker(place(low), place(high), y)}<circle class="dot" cx="{place(value):.1f}" '
        f'cy="{y}" r="6"/><text x="{WIDE - RIGHT + 10}" y="{y + 5}">to {highest:g}</text>'
        f'<text x="{LEFT}" y="{y + 32}">{text} ({a} to {b})</text>'
    )
    return _drawing(drawn, 2 * HIGH, f"mean {text}, from {a} to {b}")


def _whisker(x1: float, x2: float, y: float) -> str:
    across = f'<line class="end" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return across + "".join(
        f'<line class="end" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5:.1f}" y2="{y + 5:.1f}"/>'
        for x in (x1, x2)
    )


def _drawing(inside: str, height: float, told: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDE} {height}" role="img" aria-label="{escape(told)}" '
        f'direction="ltr">{inside}</svg>'
    )


def _short(label: str) -> str:
    return label if len(label) <= 26 else f"{label[:25]}…"
