"""Surveys: drafted, examined, opened to anybody, watched, closed, taken home."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from starlette.responses import Response

from sourdine.errors import ParameterError
from sourdine.server.drafts import (
    Draft,
    Drafting,
    SurveyChecking,
    consequence,
    drafted,
    origin,
    required_name,
    wrongs,
)
from sourdine.server.incoming import Operation, reply
from sourdine.server.problems import RefusedError
from sourdine.server.store import NotGrantedError, SurveyEntry
from sourdine.survey import Survey
from sourdine.survey.document import NAME
from sourdine.survey.results import results

if TYPE_CHECKING:
    from sourdine.server.incoming import Incoming

__all__ = ["OPERATIONS", "entry_of"]

OWNER = ("owner",)
READERS = ("owner", "analyst")
MOST_TICKETS = 100_000
BINARY = "application/octet-stream"
ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


class Opening(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a survey is opened: to whom, and under which address people reach this server."""

    tickets: Annotated[int, msgspec.Meta(ge=0, le=MOST_TICKETS)] = 0
    public: bool = True
    address: Annotated[str, msgspec.Meta(min_length=8, max_length=200)] | None = None


def entry_of(call: Incoming) -> SurveyEntry:
    """Return the survey in the path; a draft is for owners alone."""
    name, who = call.path["survey"], call.who.person
    found = call.state.store.surveys.get(name) if NAME.fullmatch(name) else None
    if found is None or (found.state == "draft" and who.role != "owner"):
        raise NotGrantedError(
            "survey", "be one of this server", "another name", "Look at the list."
        )
    return found


def _title(document: dict[str, Any]) -> str:
    """Return what a survey is called, if a draft says it yet."""
    said = document.get("title")
    if isinstance(said, dict):
        said = said.get("en") or next(iter(said.values()), "")
    return said if isinstance(said, str) and said.strip() else str(document.get("name", ""))


def _facts(call: Incoming, entry: SurveyEntry) -> dict[str, Any]:
    document = json.loads(entry.document)
    asked = document.get("questions")
    facts: dict[str, Any] = {
        "name": entry.name,
        "title": _title(document),
        "state": entry.state,
        "questions": len(asked) if isinstance(asked, dict) else 0,
    }
    if entry.state == "draft":
        return facts
    return {
        **facts,
        "epsilon": str(document["epsilon"]),
        **_counted(call, entry),
        "public": entry.public,
        "address": document["send_to"].removesuffix("reports"),
        "fingerprint": Survey.from_facts(document, frozen=True).fingerprint,
        "page": entry.page,
    }


def _counted(call: Incoming, entry: SurveyEntry) -> dict[str, Any]:
    """Return how many people are counted, None where that cannot be read, and the tickets."""
    try:
        with call.state.surveys.kept(entry) as kept:
            made, left = kept.tickets
            people = kept.people
    except RefusedError:
        return {"people": None, "tickets": None}
    return {"people": people, "tickets": {"made": made, "left": left} if made else None}


def surveys(call: Incoming) -> Response:
    """Answer with the surveys that the caller may see."""
    owner = call.who.person.role == "owner"
    seen = [one for one in call.state.store.surveys.all() if owner or one.state != "draft"]
    return reply([_facts(call, one) for one in seen])


def draft_survey(call: Incoming) -> Response:
    """Write a new draft."""
    draft = drafted(call.body(Drafting))
    entry = SurveyEntry(name=required_name(draft), document=json.dumps(draft.document))
    call.state.store.surveys.add(entry)
    headers = {"location": f"/api/v1/surveys/{entry.name}"}
    return reply(_drafted(call, entry, draft), 201, headers)


def read_survey(call: Incoming) -> Response:
    """Answer with a survey, as it is written."""
    entry = entry_of(call)
    return reply(_drafted(call, entry, Draft(document=json.loads(entry.document))))


def change_survey(call: Incoming) -> Response:
    """Write a draft anew."""
    entry, draft = entry_of(call), drafted(call.body(Drafting))
    if required_name(draft) != entry.name:
        raise ParameterError("name", "stay as it is", "another one", "Write another survey.")
    new = SurveyEntry(name=entry.name, document=json.dumps(draft.document))
    return reply(_drafted(call, call.state.store.surveys.change(new), draft))


def _drafted(call: Incoming, entry: SurveyEntry, draft: Draft) -> dict[str, Any]:
    facts = {**_facts(call, entry), "document": draft.document}
    if entry.state != "draft":
        return facts
    return {**facts, "problems": wrongs(draft.examined(origin(call)))}


def discard_survey(call: Incoming) -> Response:
    """Throw a draft away."""
    entry = entry_of(call)
    call.state.store.surveys.discard(entry.name)
    return reply({"name": entry.name, "discarded": True})


def check_survey(call: Incoming) -> Response:
    """Answer with what is wrong with a survey, what it costs, and what people will tell."""
    said: SurveyChecking = call.body(SurveyChecking)
    draft = drafted(said)
    found = consequence(draft.examined(origin(call)), said.n)
    return reply({"document": draft.document, **found})


def open_survey(call: Incoming) -> Response:
    """Freeze a draft, and let people answer it."""
    entry = entry_of(call)
    said: Opening = call.body(Opening) if call.data else Opening()
    url = origin(call) if said.address is None else _origin(said.address)
    found = Draft(document=json.loads(entry.document)).examined(url)
    if found.survey is None:
        raise found.problems[0].refusal()
    opened, codes = call.state.surveys.open(
        entry, found.survey, tickets=said.tickets, public=said.public
    )
    facts = _facts(call, opened)
    links = [f"{facts['address']}#ticket={code}" for code in codes]
    return reply({**facts, "links": links})


def _origin(address: str) -> str:
    """Return the address of a server; collectors are at its root, so it has no path."""
    url = address.rstrip("/")
    if not ORIGIN.fullmatch(url):
        raise ParameterError(
            "address",
            "be https:// and the host of this server, without a path",
            repr(address),
            'Type an address such as "https://statistics.example".',
        )
    return url


def close_survey(call: Incoming) -> Response:
    """Close a survey for good."""
    return reply(_facts(call, call.state.surveys.close(entry_of(call))))


def survey_results(call: Incoming) -> Response:
    """Answer with what the answers say so far."""
    entry = entry_of(call)
    if entry.state == "draft":
        raise ParameterError("survey", "be open", "a draft", "Open it first.")
    with call.state.surveys.kept(entry) as kept:
        return reply(results(kept).to_dict())


def survey_aggregator(call: Incoming) -> Response:
    """Answer with a file of everything counted, which can be added to others."""
    entry = entry_of(call)
    if entry.state == "draft":
        raise ParameterError("survey", "be open", "a draft", "Open it first.")
    with call.state.surveys.kept(entry) as kept, TemporaryDirectory() as folder:
        path = Path(folder, "aggregator")
        kept.aggregator().save(path)
        data = path.read_bytes()
    named = {"content-disposition": f'attachment; filename="{entry.name}.aggregator"'}
    return Response(data, 200, named, BINARY)


ONE = "/surveys/{survey}"
OPERATIONS = (
    Operation(
        method="GET",
        path="/surveys",
        does=surveys,
        text="The surveys; drafts are shown to owners.",
        gives="Surveys",
    ),
    Operation(
        method="POST",
        path="/surveys",
        does=draft_survey,
        text="Write a draft; what is wrong with it is in the answer.",
        roles=OWNER,
        takes=Drafting,
        gives="Survey",
    ),
    Operation(
        method="POST",
        path="/survey-check",
        does=check_survey,
        text="What is wrong with a survey, what it costs, and what so many people will tell.",
        roles=OWNER,
        takes=SurveyChecking,
        gives="SurveyCheck",
    ),
    Operation(method="GET", path=ONE, does=read_survey, text="A survey.", gives="Survey"),
    Operation(
        method="PUT",
        path=ONE,
        does=change_survey,
        text="Write a draft anew.",
        roles=OWNER,
        takes=Drafting,
        gives="Survey",
    ),
    Operation(
        method="DELETE",
        path=ONE,
        does=discard_survey,
        text="Throw a draft away.",
        roles=OWNER,
    ),
    Operation(
        method="POST",
        path=f"{ONE}/open",
        does=open_survey,
        text="Freeze a draft, and let people answer. Tickets, if any, are in this answer alone.",
        roles=OWNER,
        takes=Opening,
        gives="Survey",
    ),
    Operation(
        method="POST",
        path=f"{ONE}/close",
        does=close_survey,
        text="Close a survey for good.",
        roles=OWNER,
        gives="Survey",
    ),
    Operation(
        method="GET",
        path=f"{ONE}/results",
        does=survey_results,
        text="What the answers say so far; nothing of a question with fewer than 50.",
        gives="SurveyResults",
    ),
    Operation(
        method="GET",
        path=f"{ONE}/aggregator",
        does=survey_aggregator,
        text="Everything counted, as a file that can be added to others.",
        roles=READERS,
        gives=BINARY,
    ),
)
