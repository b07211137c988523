"""Plans, releases and ledgers over HTTP."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.responses import Response

from sourdine.answers import Release
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.parameters.question import parameters, plain_parameter, typed_values
from sourdine.plan.plans import as_error
from sourdine.privacy import Guarantee
from sourdine.questions import QUESTIONS, unknown_statistic
from sourdine.reports.about import About
from sourdine.reports.report import FiledReport
from sourdine.results.tables import json_text
from sourdine.server.datasets import completed, require_listed, stored_columns
from sourdine.server.requests import (
    MOST_QUESTIONS,
    OVERSEERS,
    Operations,
    checked_key,
    require_small,
    require_small_answer,
    whole_number,
)
from sourdine.server.store.base import KeyedRequest, NotGrantedError, fingerprint
from sourdine.server.store.checks import checked
from sourdine.server.store.releases import REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.plan import Plan, Planner
    from sourdine.questions import Statistics
    from sourdine.server.requests import Incoming
    from sourdine.server.store.base import Dataset, StoredRelease
    from sourdine.server.store.checks import DatasetCheck
    from sourdine.session import Session
    from sourdine.session.session import Admission
    from sourdine.storage.journal import TableJournal


# ---- From the body of a request to questions, by the parser of all interfaces -------------------
#
# What the owner says of columns is filled in before (`columns`). Where an error cannot be known
# without the number of records, the owner's is used.


FILES = ("lookup", "tables")
"""Parameters that name files."""


R = TypeVar("R", bound="Plan | Admission")


def listed(body: object) -> Sequence[Mapping[str, Any]]:
    """Return the questions of a body: one, or several as ``"questions"``."""
    if isinstance(body, dict) and isinstance(body.get("questions"), list):
        found = body["questions"]
        if not 0 < len(found) <= MOST_QUESTIONS:
            what = f"hold 1 to {MOST_QUESTIONS} questions"
            raise ParameterError("questions", what, f"{len(found)}", "Split the request.")
        return [single(one) for one in found]
    return [single(body)]


def single(body: object) -> Mapping[str, Any]:
    """Return the one question of a body."""
    if not isinstance(body, dict):
        raise ParameterError("the question", "be a JSON object", "", "Write an object.")
    if isinstance(body.get("statement"), str):  # may be typed in several lines
        body = {**body, "statement": re.sub(r"[\r\n\t]+", " ", body["statement"]).strip()}
    require_small(body)
    return body


def asked_of(interface: Statistics[R], asked: Mapping[str, Any], dataset: Dataset) -> R:
    """Return what an interface of a session makes of a question about a data set."""
    name = asked.get("statistic")
    cls = QUESTIONS.get(str(name))
    ask: Callable[..., R] | None = None if cls is None else getattr(interface, cls.kind, None)
    if cls is None or ask is None:
        raise unknown_statistic(name)
    columns = stored_columns(dataset.columns)
    takes = {p.name for p in parameters(cls)}
    said = completed(typed_values(cls, asked), takes, columns)
    _require_from_outside(cls, said)
    require_small_answer(cls, said)
    del said["statistic"]
    found = _asked(ask, said, takes, dataset)
    require_listed(found.question, columns)
    return found


def _require_from_outside(cls: type[Statistic], said: Mapping[str, Any]) -> None:
    """Refuse parameters that are for Python alone, such as a source of randomness, or name files.

    A file that a question named would be read with the rights of the server.
    """
    for name in FILES:
        if said.get(name):
            what = "be omitted on a server, which opens no files that a question names"
            hint = f"Omit {{{name}}}, and ask the owner to add the columns to the data."
            raise ParameterError(name, what, "", hint, **{name: LEFT_OUT})
    for name in cls.unlisted:
        if name in said:
            what = f"{cls.kind}() got an unexpected keyword argument {name!r}."
            raise ParameterTypeError(name, what, "", f"Omit {{{name}}}.", **{name: LEFT_OUT})


def _asked(ask: Callable[..., R], said: Mapping[str, Any], takes: set[str], dataset: Dataset) -> R:
    try:
        return ask(**said)
    except SourdineError as error:
        counted = {"n", "per_person", "weights"} & said.keys()  # of people, or the sum of weights
        if error.name != "n" or dataset.n_about is None or counted or "n" not in takes:
            raise
    return ask(**said, n=dataset.n_about)


# ---- Plans: what an error costs, what an epsilon buys, and the curve of one against the other ----


POINTS = 25
LEAST, MOST = -3, 1
"""Powers of ten between which epsilons of a curve lie."""


OPERATIONS = Operations()


@OPERATIONS.add("POST", "/datasets/{dataset}/plan", takes="PlanRequest", gives="Plan")
def plan(call: Incoming) -> Response:
    """Plan the cost or the error of a question, or of several under one total."""
    dataset = call.dataset
    session, body = call.state.session(dataset), call.body()
    planner = session.plan
    plans = [_planned(planner, asked, dataset, body) for asked in listed(body)]
    if "questions" not in body:
        return call.reply(_facts(plans[0], dataset, session))
    whole = planner.together(plans, epsilon=body.get("epsilon"), delta=body.get("delta"))
    facts = {"epsilon": str(whole.epsilon), "fits": whole.fits}
    if whole.delta:
        facts |= {name: whole.to_dict()[name] for name in ("delta", "certified")}
    return call.reply({**facts, "plans": [_facts(one, dataset, session) for one in whole]})


def _planned(
    planner: Planner, asked: Mapping[str, Any], dataset: Dataset, body: Mapping[str, Any]
) -> Plan:
    """Return a plan; where a total is shared by errors, the owner's number of records is used."""
    found = asked_of(planner, asked, dataset)
    if "questions" not in body or not found.unknown:
        return found
    records = _records(found.question, dataset)
    return found if records is None else asked_of(planner, {**asked, "n": records}, dataset)


def _facts(plan: Plan, dataset: Dataset, session: Session) -> dict[str, Any]:
    return {
        "question": plan.question.to_dict(), "confidence": float(plan.confidence),
        "epsilon": str(plan.epsilon), "error": plain_parameter(_error(plan, plan.epsilon, dataset)),
        "target": plain_parameter(plan.target), "ranks": plan.ranks, "fits": plan.fits,
        "remaining": session.remaining.to_dict(), "mechanism": str(plan.question.estimator),
        "text": plan.name,
    }  # fmt: skip


def _error(plan: Plan, epsilon: Fraction, dataset: Dataset) -> Any:
    """Return the error at an epsilon, with the owner's number of records where one is needed."""
    question = plan.question if epsilon == plan.epsilon else plan.question.at(epsilon)
    beta = 1 - plan.confidence
    try:
        return as_error(question.error(beta), question)
    except ParameterError as refusal:
        records = _records(question, dataset)
        if refusal.name != "n" or records is None:
            return None
    return as_error(question.error(beta, n=records), question)


def _records(question: Statistic, dataset: Dataset) -> int | None:
    """Return about how many records there are, in each group; None where nobody knows."""
    said = question.to_dict()
    keys = [] if question.by is None else said.get("keys", [])
    counted = {"per_person", "weights"} & said.keys()  # n is that of people, or the sum of weights
    if dataset.n_about is None or isinstance(keys, str) or counted:
        return None
    lists = keys.values() if isinstance(keys, dict) else [keys]
    return max(dataset.n_about // prod(len(part) or 1 for part in lists), 1)


@OPERATIONS.add("POST", "/datasets/{dataset}/can-release", takes="Question", gives="CanRelease")
def can_release(call: Incoming) -> Response:
    """Return whether a question would be admitted now. Charges nothing."""
    dataset = call.dataset
    found = asked_of(call.state.session(dataset).can_release, single(call.body()), dataset)
    facts = {
        **found.to_dict(),
        "question": found.question.to_dict(),
        "target": plain_parameter(found.question.target),
    }
    return call.reply(facts)


@OPERATIONS.add("POST", "/datasets/{dataset}/curve", takes="PlanRequest", gives="Curve")
def curve(call: Incoming) -> Response:
    """Return the error of a question at 25 values of epsilon."""
    dataset = call.dataset
    session, asked = call.state.session(dataset), single(call.body())
    said = {name: x for name, x in asked.items() if name not in ("epsilon", "error")}
    key = f"{dataset.name} {json.dumps(said, sort_keys=True)}"
    points = call.state.curve(key, lambda: _points(session, said, dataset))
    return call.reply({"points": points, "remaining": session.remaining.to_dict()})


def _points(session: Session, said: Mapping[str, Any], dataset: Dataset) -> list[list[Any]]:
    planned = asked_of(session.plan, {**said, "epsilon": 1}, dataset)
    width = Fraction(MOST - LEAST, POINTS - 1)
    points: list[list[Any]] = []
    for i in range(POINTS):
        epsilon = Fraction(f"{10 ** float(LEAST + i * width):.4g}")
        try:
            error = _error(planned, epsilon, dataset)
        except SourdineError:  # the question cannot be asked with it
            error = None
        points.append([str(epsilon), plain_parameter(error)])
    return points


# ---- Releases: charged once under a key, and answered with what is stored ------------------------
#
# *Claim*: however often a request is sent, its charge stands once and its answer is one. *Checked
# by* ``test_a_connection_that_breaks_twice_is_one_charge`` and ``test_a_key_with_another_body``.


MOST_LISTED = 1000
REPLAYED = "idempotent-replayed"


@OPERATIONS.add(
    "POST", "/datasets/{dataset}/releases", takes="ReleaseRequest", gives="Release", keyed=True
)
def release(call: Incoming) -> Callable[[], Response]:
    """Charge a question once under its idempotency key, and release the answer.

    It is charged and drawn at once; what is stored is answered on a tick.
    """
    key = checked_key(call.headers.get("idempotency-key"))
    dataset = call.dataset
    session, body = call.state.session(dataset), call.body()
    could = session.can_release
    questions = [asked_of(could, asked, dataset).question for asked in listed(body)]
    request = KeyedRequest(
        analyst=call.who.name,
        key=key,
        dataset=dataset.name,
        asked=fingerprint(json.dumps(body, sort_keys=True)),
    )
    settle = call.state.store.releases.draw_once(request, session.prepare(questions))

    def answer() -> Response:
        stored = settle()
        return call.reply(_stored(stored), {REPLAYED: "false" if stored.fresh else "true"})

    return answer


def _stored(stored: StoredRelease) -> dict[str, Any]:
    facts = {name: getattr(stored, name) for name in ("number", "count", "state", "line", "head")}
    answers = [msgspec.Raw(with_derived(answer).encode()) for answer in stored.answers]
    return {**facts, "answers": answers}


def with_derived(answer: str) -> str:
    """Return a stored answer as JSON with the decimals of its cost and the printed interval.

    They follow from what is stored: every reply to a request has the same ones.
    """
    facts = json.loads(answer)
    return json_text({**facts, **Release.from_dict(facts).derived()})


@OPERATIONS.add("GET", "/datasets/{dataset}/releases", gives="History", query=("after", "most"))
def history(call: Incoming) -> Response:
    """List all charges, with the answers to your own."""
    dataset = call.dataset
    after = call.number("after", 0, 10**12)
    most = call.number("most", MOST_LISTED, MOST_LISTED)
    rows = call.state.store.datasets.charges(dataset.name, after, most)
    found = call.state.store.releases.of(dataset.name, after=after, most=len(rows))
    of = {one.number + i: (one, i) for one in found for i in range(one.count)}
    return call.reply({"charges": [_line(call, row, of.get(row["number"])) for row in rows]})


def _line(
    call: Incoming, row: dict[str, Any], found: tuple[StoredRelease, int] | None
) -> dict[str, Any]:
    row.pop(REQUEST, None)  # it is for checks of the store
    if found is None:
        return {**row, "analyst": None, "state": "unknown", "answer": None}
    stored, i = found
    own = call.who.sees_all or stored.request.analyst == call.who.name
    answer = json.loads(stored.answers[i]) if own and stored.answers else None
    if answer is not None:  # with the decimals of its cost; no interval is computed
        decimal = Guarantee.from_dict(answer["cost"]).decimal
        answer["cost"] = {**answer["cost"], "decimal": decimal}
        answer = msgspec.Raw(json_text(answer).encode())
    return {**row, "analyst": stored.request.analyst, "state": stored.state, "answer": answer}


@OPERATIONS.add("GET", "/datasets/{dataset}/releases/{number}", gives="Release")
def one_release(call: Incoming) -> Response:
    """Return one request and its answers."""
    dataset = call.dataset
    number = whole_number(call.path["number"])
    found = call.state.store.releases.of(dataset.name, after=number - 1, most=1) if number else []
    seen = [one for one in found if call.who.sees_all or one.request.analyst == call.who.name]
    if not seen or seen[0].number != number:
        raise NotGrantedError("No such release, or no access to it. See the history.")
    return call.reply(_stored(seen[0]))


def first_number(call: Incoming, text: str) -> str:
    """Return the first number of the request to which a charge belongs; none if there is none."""
    number, of = whole_number(text), call.state.store.releases.of
    if number is None:
        return "none"
    near = of(call.dataset.name, after=max(number - MOST_QUESTIONS, 0), most=MOST_QUESTIONS)
    first = (one.number for one in near if one.number <= number < one.number + one.count)
    return str(next(first, "none"))


# ---- For owners and auditors: the ledger line by line, its check, and the report to be filed -----


FORMATS = {"html": "text/html", "md": "text/markdown", "json": "application/json"}


@OPERATIONS.add("GET", "/datasets/{dataset}/ledger", roles=OVERSEERS, gives="application/x-ndjson")
def ledger(call: Incoming) -> Response:
    """Return every line of the ledger with its hash.

    The head of a line is the BLAKE2b of 16 bytes of the head before it and of the line as compact
    JSON of ASCII, so anybody can follow the chain.
    """
    return ledger_lines(call, call.state.store.datasets.journal(call.dataset.name))


def ledger_lines(call: Incoming, journal: TableJournal) -> Response:
    """Answer with all lines of the ledger in the path."""
    return Response(lines_text(journal), 200, call.heads, "application/x-ndjson")


def lines_text(journal: TableJournal) -> str:
    """Return all lines of a journal, an object of JSON each."""
    lines = journal.look(lambda transaction: transaction.lines())
    return "".join(
        json.dumps({"line": head.lines, "head": head.chain.decode(), "table": table, "row": row})
        + "\n"
        for table, row, head in lines
    )


@OPERATIONS.add("GET", "/datasets/{dataset}/check", roles=OVERSEERS, gives="Check")
def check(call: Incoming) -> Response:
    """Verify all sums, hashes and answers."""
    return checked_ledger(call, checked(call.state.store.datasets, call.dataset.name))


def checked_ledger(call: Incoming, found: DatasetCheck) -> Response:
    """Answer with what was found in the ledger in the path."""
    names = ("charges", "answers", "line", "head", "problems")
    return call.reply({"sound": bool(found), **{name: getattr(found, name) for name in names}})


@OPERATIONS.add(
    "GET", "/datasets/{dataset}/report", roles=OVERSEERS, gives="text/html", query=("format",)
)
def report(call: Incoming) -> Response:
    """Return a report of all releases."""
    dataset = call.dataset
    ending = call.query.get("format", "html")
    if ending not in FORMATS:
        raise ParameterError("format", "be html, md or json", "", "Omit it.")
    about = About.read({"title": dataset.name})
    filed = FiledReport.of(call.state.store.datasets.ledger(dataset.name), about)
    write = {"html": filed.to_html, "md": filed.to_markdown, "json": filed.to_json}[ending]
    name = f'attachment; filename="{dataset.name}.{ending}"'
    headers = {**call.heads, "content-disposition": name}
    return Response(write(), 200, headers, FORMATS[ending])
