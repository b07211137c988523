"""The pages of surveys: the list, the editor of a draft, its preview, and what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from sourdine.server import surveys
from sourdine.server.surveys import examined_at, origin
from sourdine.survey import page as survey_page
from sourdine.survey.page import languages, words
from sourdine.survey.results import result_sections, results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.server.pages.rendering import Visit


ALONE = "sandbox allow-scripts; connect-src 'none'; frame-ancestors 'none'"
"""A preview runs its script, keeps nothing and sends nothing."""


def draft(visit: Visit) -> Response:
    """Show the form of a new survey."""
    return _editor(visit, {})


def _editor(visit: Visit, document: Mapping[str, Any]) -> Response:
    spoken = {tag: words(tag)["results_language"] for tag in languages()}
    return visit.shows(
        "draft.html",
        document=json.dumps(document),
        name=document.get("name", ""),
        spoken=dict(sorted(spoken.items(), key=lambda one: one[0] != "en")),
    )


def survey(visit: Visit) -> Response:
    """Show a survey: the editor while it is a draft, and then what people answer."""
    facts = visit.ask(surveys.read_survey)
    if facts["state"] == "draft":
        return _editor(visit, facts["document"])
    return visit.shows("survey.html", survey=facts, **_live(visit))


def part(visit: Visit) -> Response:
    """Show what people answered so far: a part of a survey's page."""
    return visit.shows("survey_results.html", survey=visit.ask(surveys.read_survey), **_live(visit))


def _live(visit: Visit) -> dict[str, Any]:
    with visit.call.state.surveys.kept(surveys.entry_of(visit.call)) as kept:
        found = results(kept)
    spoken = found.survey.languages
    tag = "en" if "en" in spoken else spoken[0]
    # every text in it is escaped where it is made
    return {"results": result_sections(found, tag), "language": tag}


def check(visit: Visit) -> Response:
    """Show what a survey costs and what it will tell: a part of the editor."""
    found = visit.ask(surveys.check_survey)
    document, plan = found["document"], found["plan"]
    rows = [
        {"asked": _asked(document, name), **line}
        for name, line in (plan["questions"] if plan else {}).items()
    ]
    return visit.shows("consequence.html", found=found, rows=rows, plan=plan)


def _asked(document: Mapping[str, Any], name: str) -> str:
    """Return a question in the survey's first language."""
    said = document["questions"][name].get("ask")
    if isinstance(said, dict):
        spoken = document.get("languages")
        first = spoken[0] if isinstance(spoken, list) and spoken else "en"
        said = said.get(str(first)) or next(iter(said.values()), "")
    return str(said or name)


def preview(visit: Visit) -> Response:
    """Show the page of a draft as people will see it; it keeps nothing and sends nothing."""
    document = visit.ask(surveys.read_survey)["document"]
    found = examined_at(document, origin(visit.call))
    if found.survey is None:
        raise found.problems[0].refusal()
    headers = {"content-security-policy": ALONE}
    return Response(survey_page(found.survey), 200, headers, "text/html")
