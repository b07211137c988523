"""Surveys on a server: drafts, open surveys, results."""

from __future__ import annotations

import json
import re
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from json import dumps
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from sourdine.errors import ParameterError, SourdineError
from sourdine.local import Number
from sourdine.server.requests import Operations, RefusedError, reply
from sourdine.server.store.base import NotGrantedError, SurveyEntry
from sourdine.survey import Survey
from sourdine.survey.document import NAME, Examination, FieldProblem, examined, parsed
from sourdine.survey.page import meaning, page, sure
from sourdine.survey.precision import FEWEST, precision
from sourdine.survey.results import results
from sourdine.survey.serving import Collector
from sourdine.survey.store import SurveyStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from sourdine.server.requests import Incoming
    from sourdine.server.store.store import ServerStore
    from sourdine.storage.database import Address


# ---- The surveys that a server has opened: where their records lie, and the collectors of a worker
#
# The records of a survey are in a store of their own (`sourdine.survey.store`): beside a file of
# SQLite in the folder of the same name that ends in ``.surveys``, in PostgreSQL in a schema of the
# same database. Every worker holds a collector for each survey that it was asked for; they share
# the store. Of what is sent to a collector the server writes down neither who sends it nor when.


COLLECTED = "/s"
"""Where collectors answer, to anybody."""
ENDING = ".surveys"
"""Of the folder beside a file of SQLite."""


class OpenSurveys:
    """The surveys of a server that people answer, or answered."""

    def __init__(self, store: ServerStore) -> None:
        self._store, self._lock = store, Lock()
        self._collectors: dict[str, Collector] = {}

    def open(
        self, entry: SurveyEntry, survey: Survey, *, tickets: int = 0, public: bool = True
    ) -> tuple[SurveyEntry, list[str]]:
        """Freeze a draft, and let people answer; return it with its tickets.

        ``tickets`` is how many one-time codes to make; 0 lets anybody answer.
        """
        if entry.state != "draft":
            raise ParameterError("survey", "be a draft", entry.state, "Create another survey.")
        part = self._new(entry.name)
        made, codes = SurveyStore.create(self._place(part), survey, tickets=tickets)
        made.close()
        frozen = SurveyEntry(
            name=entry.name, document=dumps(survey.facts(), sort_keys=True), store=part,
            public=public, state="open", page=sha256(page(survey)).hexdigest(),
        )  # fmt: skip
        return self._store.surveys.change(frozen), codes

    def close(self, entry: SurveyEntry) -> SurveyEntry:
        """Close a survey for good: what was accepted is counted, nothing more is."""
        with self.kept(entry) as store:
            store.end()
        return self._store.surveys.change(replace(entry, state="closed"))

    @contextmanager
    def kept(self, entry: SurveyEntry) -> Iterator[SurveyStore]:
        """Yield the store of a survey, in which everything is counted that was accepted."""
        if entry.state == "draft":
            raise ParameterError("survey", "be open", "a draft", "Open it first.")
        store = self._opened(entry)
        try:
            store.fold()
            yield store
        finally:
            store.close()

    def _opened(self, entry: SurveyEntry) -> SurveyStore:
        try:
            return SurveyStore(self._place(entry.store))
        except (SourdineError, OSError):
            what = "be readable where it was opened"
            raise RefusedError(409, "the survey", what, "", "Tell its owner.") from None

    def collector(self, name: str) -> Collector | None:
        """Return what answers for a survey in this worker; None if there is no such survey."""
        if not NAME.fullmatch(name):
            return None
        with self._lock:
            found = self._collectors.get(name)
            entry = self._store.surveys.get(name) if found is None else None
            if entry is not None and entry.state != "draft":
                self._opened(entry).close()
                found = Collector(self._place(entry.store), public=entry.public)
                self._collectors[name] = found
            return found

    def backup(self, path: Path) -> None:
        """Write copies of all records beside the copy of a file of SQLite, while workers go on."""
        folder = path.absolute().with_suffix(ENDING)
        for entry in self._store.surveys.all():
            if entry.store:
                folder.mkdir(mode=0o700, exist_ok=True)
                with closing(SurveyStore(self._place(entry.store))) as kept:
                    kept.backup(folder / entry.store)

    def stop(self) -> None:
        """Write and count what is left."""
        with self._lock:
            for collector in self._collectors.values():
                collector.stop()
            self._collectors.clear()

    def _new(self, name: str) -> str:
        """Return a name for the store of a survey, which no other has."""
        where, own = self._store.database.address, token_hex(4)
        if where.is_file:
            where.path.with_suffix(ENDING).mkdir(mode=0o700, exist_ok=True)
            return f"{name}-{own}.db"
        return f"survey_{name.replace('-', '_')}_{own}"

    def _place(self, part: str) -> str:
        where: Address = self._store.database.address
        if where.is_file:
            return str(where.path.with_suffix(ENDING) / part)
        return f"{where.url}{'&' if '?' in where.url else '?'}options=-csearch_path%3D{part}"


async def collected(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what is asked of a survey, by whomever: its page, records, results."""
    surveys: OpenSurveys = scope["app"].state.server.surveys
    answer: ASGIApp = PlainTextResponse("There is no such survey.\n", 404)
    try:
        found = await run_in_threadpool(surveys.collector, scope["path_params"]["survey"])
        answer = found or answer
    except RefusedError:
        answer = PlainTextResponse("Not now: try again later.\n", 503)
    await answer(scope, receive, send)


# ---- What an owner writes of a survey: drafted, examined, and planned before it is opened --------
#
# Records are sent to this very server, so a draft does not say where: that is filled in when it is
# examined and opened.


LONGEST_NAME = 40
MOST_QUESTIONS = 50
COARSE = 0.2
"""The part of all that an interval may reach to each side and still tell something."""
MOST_PEOPLE = 100_000
COST = {"epsilon", "method", "rounds", "once", "round"}


class Drafting(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A survey: as an object with the keys of a survey.toml, or as the text of one."""

    document: dict[str, Any] | None = None
    toml: Annotated[str, msgspec.Meta(max_length=60_000)] | None = None


class SurveyChecking(Drafting, kw_only=True):
    """A survey, and how many people will answer."""

    n: Annotated[int, msgspec.Meta(ge=FEWEST, le=MOST_PEOPLE)] = 1000


def examined_at(document: Mapping[str, Any], url: str) -> Examination:
    """Return the survey of a draft, sent to a server; or everything that is wrong with it."""
    name = document.get("name")
    known = name if isinstance(name, str) and NAME.fullmatch(name) else "survey"
    found = examined({**document, "send_to": f"{url}{COLLECTED}/{known}/reports"})
    more = _too_much(name, found)
    if not more:
        return found
    return Examination(survey=None, problems=(*found.problems, *more), sketch=None)


def drafted(said: Drafting) -> Mapping[str, Any]:
    """Return the draft of a request, with the keys of a survey.toml, or refuse it."""
    if (said.document is None) == (said.toml is None):
        raise ParameterError("the body", "hold either document or toml", "", "Send one of them.")
    if said.toml is not None:
        found: dict[str, Any] = json.loads(json.dumps(parsed(said.toml), default=str))
        return found
    return said.document or {}


def required_name(draft: Mapping[str, Any]) -> str:
    """Return the survey's name, by which it is kept; or refuse the draft."""
    name = draft.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        what = f"be at most {LONGEST_NAME} lowercase letters, digits and hyphens"
        raise ParameterError("name", what, "", "Choose a short one, such as commute.")
    return name


def origin(call: Incoming) -> str:
    """Return the address of this server as the client sees it."""
    scheme = "https" if call.state.settings.behind_proxy else "http"
    return f"{scheme}://{call.headers.get('host', '')}"


def consequence(found: Examination, n: int) -> dict[str, Any]:
    """Return what a survey, as far as it is written, costs a person, and what n people tell."""
    told: dict[str, Any] = {
        "problems": wrongs(found),
        "fingerprint": found.survey and found.survey.fingerprint,
        "cost": None,
        "plan": None,
    }
    if found.sketch is None or any(one.field in COST for one in found.problems):
        return told
    schema = found.sketch.schema
    told["cost"] = {"sure": sure(schema.epsilon), "means": meaning(schema.epsilon)}
    plan = precision(schema, n).to_dict()
    for name, line in plan["questions"].items():
        column = schema.columns[name]
        span = float(column.grid.upper - column.grid.lower) if isinstance(column, Number) else 1.0
        line["coarse"] = line["half"] > COARSE * span
    return {**told, "plan": plan}


def wrongs(found: Examination) -> list[dict[str, str]]:
    """Return everything that is wrong with a survey, field by field."""
    return [
        {"field": one.field, "must": one.error.must, "got": one.error.got, "said": str(one)}
        for one in found.problems
    ]


def _too_much(name: object, found: Examination) -> list[FieldProblem]:
    """Return what a server cannot open."""
    schema, most = found.survey and found.survey.schema, f"have at most {LONGEST_NAME} characters"
    errors = []
    if schema and schema.rounds and not schema.turn:
        what = f"be from 1 to {schema.rounds}"
        errors.append(ParameterError("round", what, "", "Use {round}.", round=1))
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        errors.append(ParameterError("name", most, str(len(name)), "Shorten it."))
    asked = len(found.sketch.questions) if found.sketch else 0
    if asked > MOST_QUESTIONS:
        what = f"be at most {MOST_QUESTIONS}"
        errors.append(ParameterError("questions", what, str(asked), "Ask fewer."))
    return [FieldProblem(field=error.name, error=error) for error in errors]


# ---- Surveys: drafted, examined, opened to anybody, watched, closed, taken home ------------------


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
        raise NotGrantedError("survey", "be a survey of this server", "", "See the list.")
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
        **facts, "epsilon": str(document["epsilon"]), **_counted(call, entry),
        "public": entry.public, "address": document["send_to"].removesuffix("reports"),
        "fingerprint": Survey.from_facts(document, frozen=True).fingerprint, "page": entry.page,
    }  # fmt: skip


def _counted(call: Incoming, entry: SurveyEntry) -> dict[str, Any]:
    """Return how many people are counted, None where that cannot be read, and the tickets."""
    try:
        with call.state.surveys.kept(entry) as kept:
            made, left = kept.tickets
            people = kept.people
    except RefusedError:
        return {"people": None, "tickets": None}
    return {"people": people, "tickets": {"made": made, "left": left} if made else None}


ONE = "/surveys/{survey}"
OPERATIONS = Operations()


@OPERATIONS.add("GET", "/surveys", gives="Surveys")
def surveys(call: Incoming) -> Response:
    """List the surveys. Drafts are visible to owners only."""
    owner = call.who.person.role == "owner"
    seen = [one for one in call.state.store.surveys.all() if owner or one.state != "draft"]
    return reply([_facts(call, one) for one in seen])


@OPERATIONS.add("POST", "/surveys", roles=OWNER, takes=Drafting, gives="Survey")
def draft_survey(call: Incoming) -> Response:
    """Create a draft, and return its problems."""
    draft = drafted(call.body(Drafting))
    entry = SurveyEntry(name=required_name(draft), document=json.dumps(draft))
    call.state.store.surveys.add(entry)
    headers = {"location": f"/api/v1/surveys/{entry.name}"}
    return reply(_drafted(call, entry, draft), 201, headers)


@OPERATIONS.add("POST", "/survey-check", roles=OWNER, takes=SurveyChecking, gives="SurveyCheck")
def check_survey(call: Incoming) -> Response:
    """Return the problems, the cost and the expected accuracy of a survey."""
    said: SurveyChecking = call.body(SurveyChecking)
    draft = drafted(said)
    found = consequence(examined_at(draft, origin(call)), said.n)
    return reply({"document": draft, **found})


@OPERATIONS.add("GET", ONE, gives="Survey")
def read_survey(call: Incoming) -> Response:
    """Return a survey."""
    entry = entry_of(call)
    return reply(_drafted(call, entry, json.loads(entry.document)))


@OPERATIONS.add("PUT", ONE, roles=OWNER, takes=Drafting, gives="Survey")
def change_survey(call: Incoming) -> Response:
    """Update a draft."""
    entry, draft = entry_of(call), drafted(call.body(Drafting))
    if required_name(draft) != entry.name:
        raise ParameterError("name", "not change", "", "Create another survey.")
    new = SurveyEntry(name=entry.name, document=json.dumps(draft))
    return reply(_drafted(call, call.state.store.surveys.change(new), draft))


def _drafted(call: Incoming, entry: SurveyEntry, draft: Mapping[str, Any]) -> dict[str, Any]:
    facts = {**_facts(call, entry), "document": draft}
    if entry.state != "draft":
        return facts
    return {**facts, "problems": wrongs(examined_at(draft, origin(call)))}


@OPERATIONS.add("DELETE", ONE, roles=OWNER)
def discard_survey(call: Incoming) -> Response:
    """Delete a draft."""
    entry = entry_of(call)
    call.state.store.surveys.discard(entry.name)
    return reply({"name": entry.name, "discarded": True})


@OPERATIONS.add("POST", f"{ONE}/open", roles=OWNER, takes=Opening, gives="Survey")
def open_survey(call: Incoming) -> Response:
    """Open a draft for answers. Tickets, if any, are returned only once."""
    entry = entry_of(call)
    said: Opening = call.body(Opening) if call.data else Opening()
    url = origin(call) if said.address is None else said.address.rstrip("/")
    if said.address is not None and not ORIGIN.fullmatch(url):  # collectors are at the root
        what = "be https:// and the host of this server, without a path"
        hint = 'Use an address such as "https://statistics.example".'
        raise ParameterError("address", what, repr(said.address), hint)
    found = examined_at(json.loads(entry.document), url)
    if found.survey is None:
        raise found.problems[0].refusal()
    opened, codes = call.state.surveys.open(
        entry, found.survey, tickets=said.tickets, public=said.public
    )
    facts = _facts(call, opened)
    links = [f"{facts['address']}#ticket={code}" for code in codes]
    return reply({**facts, "links": links})


@OPERATIONS.add("POST", f"{ONE}/close", roles=OWNER, gives="Survey")
def close_survey(call: Incoming) -> Response:
    """Close a survey permanently."""
    return reply(_facts(call, call.state.surveys.close(entry_of(call))))


@OPERATIONS.add("GET", f"{ONE}/results", gives="SurveyResults")
def survey_results(call: Incoming) -> Response:
    """Return the results of questions with at least 50 answers."""
    entry = entry_of(call)
    with call.state.surveys.kept(entry) as kept:
        return reply(results(kept).to_dict())


@OPERATIONS.add("GET", f"{ONE}/aggregator", roles=READERS, gives=BINARY)
def survey_aggregator(call: Incoming) -> Response:
    """Return all counts as an aggregate file."""
    entry = entry_of(call)
    with call.state.surveys.kept(entry) as kept, TemporaryDirectory() as folder:
        path = Path(folder, "aggregator")
        kept.aggregator().save(path)
        data = path.read_bytes()
    named = {"content-disposition": f'attachment; filename="{entry.name}.aggregator"'}
    return Response(data, 200, named, BINARY)
