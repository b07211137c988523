"""A survey as one HTML file: the same bytes for everybody, so that its SHA-256 can be published.

Nothing is loaded from anywhere. The policy in the file's head lets this one script run, by its
hash, and lets it talk to one address, so a changed letter in the script stops it. The file is
written as browsers write it back, so the page can compute its own hash
(``test_the_page_shows_its_own_hash``).
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

from sourdine.local.table.columns import NO_ANSWER
from sourdine.survey.form import form_for_device
from sourdine.survey.scripts import ask_script, device_script, rounds_script, style

if TYPE_CHECKING:
    from sourdine.survey.document import Survey

__all__ = ["page"]

BROKEN = "This page was changed on its way, or cannot run in this browser. Nothing was sent."
RESULTS, ROUND = "results_", "round_"
"""Begin the words that only the page of results says, and those of a survey of several rounds."""
PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style></head>
<body><main><h1>{title}</h1><p>{broken}</p></main>
<script type="application/json" id="form">{form}</script>
<script type="module">{script}</script></body></html>"""


def page(survey: Survey) -> bytes:
    """Return the page of a survey.

    Parameters
    ----------
    survey
        What is asked; of several rounds, the survey of one of them.
    """
    form = form_for_device(survey.schema)
    several = rounds_script() if "rounds" in form else ""
    script = f"\n{device_script()}{several}{ask_script()}"
    policy = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style()),
        "connect-src": survey.send_to.split("?")[0],
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }
    first = survey.languages[0]
    return PAGE.format(
        lang=first,
        policy="; ".join(f"{key} {value}" for key, value in policy.items()),
        title=escape(survey.title[first], quote=False).replace("\xa0", "&nbsp;"),
        style=style(),
        broken=BROKEN,
        form=_embedded(form | {"survey": texts(survey)}),
        script=script,
    ).encode()


def texts(survey: Survey) -> dict[str, Any]:
    """Return what the page shows, by language."""
    return {
        "name": survey.name,
        "who": survey.who,
        "contact": survey.contact,
        "send_to": survey.send_to,
        "languages": list(survey.languages),
        "order": [question.name for question in survey.questions],
        "texts": {tag: _spoken(survey, tag) for tag in survey.languages},
        "words": {tag: _said(survey, tag) for tag in survey.languages},
    }


def _said(survey: Survey, tag: str) -> dict[str, str]:
    """Return what the page itself says; in a survey of several rounds some words are others."""
    said = survey.said(tag)
    own = {key: text for key, text in said.items() if not key.startswith((RESULTS, ROUND))}
    if survey.schema.rounds is None:
        return own
    others = (key for key in said if key.startswith(ROUND))
    return own | {key.removeprefix(ROUND): said[key] for key in others}


def _spoken(survey: Survey, tag: str) -> dict[str, Any]:
    """Return the texts of one language."""
    questions: dict[str, Any] = {}
    for question in survey.questions:
        own: dict[str, Any] = {"ask": question.ask[tag]}
        if question.help:
            own["help"] = question.help[tag]
        listed = [*map(str, getattr(survey.schema.columns[question.name], "listed", ()))]
        called = {NO_ANSWER: survey.said(tag)["none"]} | {
            answer: text[tag] for answer, text in question.labels.items()
        }
        if any(one in called for one in listed):
            own["answers"] = [called.get(one, one) for one in listed]
        questions[question.name] = own
    text = {"text": survey.text[tag]} if survey.text else {}
    return {"title": survey.title[tag], **text, "questions": questions}


def _embedded(facts: object) -> str:
    """Return JSON that no letter of it can break out of its element."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029\ufeff":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
