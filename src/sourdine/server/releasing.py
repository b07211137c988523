"""Releases: charged once under a key, and answered with what is stored.

*Claim*: however often a request is sent, its charge stands once and its answer is one. *Checked by*
``test_a_connection_that_breaks_twice_is_one_charge`` and ``test_a_key_with_another_body``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from sourdine.answers import Release
from sourdine.presentation.texts import json_text
from sourdine.privacy import Guarantee
from sourdine.server.incoming import Operation, reply
from sourdine.server.limits import MOST_QUESTIONS, checked_key
from sourdine.server.reading import asked_of, listed
from sourdine.server.store import KeyedRequest, NotGrantedError, fingerprint
from sourdine.server.store.releases import REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from sourdine.server.incoming import Incoming
    from sourdine.server.store import StoredRelease

__all__ = ["OPERATIONS"]

MOST_LISTED = 1000
REPLAYED = "idempotent-replayed"


def release(call: Incoming) -> Callable[[], Response]:
    """Charge a request once and draw; then, on a tick, store and answer what is stored."""
    key = checked_key(call.headers.get("idempotency-key"))
    dataset = call.dataset
    session, body = call.state.session(dataset), call.body()
    could = session.could
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
        heads = {**call.heads(dataset.name), REPLAYED: "false" if stored.fresh else "true"}
        return reply(_stored(stored), headers=heads)

    return answer


def _stored(stored: StoredRelease) -> dict[str, Any]:
    return {
        "number": stored.number,
        "count": stored.count,
        "state": stored.state,
        "line": stored.line,
        "head": stored.head,
        "answers": [msgspec.Raw(with_derived(answer).encode()) for answer in stored.answers],
    }


def with_derived(answer: str) -> str:
    """Return a stored answer as JSON with the decimals of its cost and the printed interval.

    They follow from what is stored: every reply to a request has the same ones.
    """
    facts = json.loads(answer)
    return json_text({**facts, **Release.from_dict(facts).derived()})


def _with_decimals(answer: str) -> str:
    """Return a stored answer as JSON with the decimals of its cost; no interval is computed."""
    facts = json.loads(answer)
    decimal = Guarantee.from_dict(facts["cost"]).decimal
    return json_text({**facts, "cost": {**facts["cost"], "decimal": decimal}})


def history(call: Incoming) -> Response:
    """Answer with the charges of a data set, and the answers that the caller may see."""
    dataset = call.dataset
    after = call.number("after", 0, 10**12)
    most = call.number("most", MOST_LISTED, MOST_LISTED)
    rows = call.state.store.datasets.charges(dataset.name, after, most)
    found = call.state.store.releases.of(dataset.name, after=after, most=len(rows))
    of = {one.number + i: (one, i) for one in found for i in range(one.count)}
    charges = [_line(call, row, of.get(row["number"])) for row in rows]
    return reply({"charges": charges}, headers=call.heads(dataset.name))


def _line(
    call: Incoming, row: dict[str, Any], found: tuple[StoredRelease, int] | None
) -> dict[str, Any]:
    row.pop(REQUEST, None)  # it is for checks of the store
    if found is None:
        return {**row, "analyst": None, "state": "unknown", "answer": None}
    stored, i = found
    own = call.who.sees_all or stored.request.analyst == call.who.name
    answer = (
        msgspec.Raw(_with_decimals(stored.answers[i]).encode()) if own and stored.answers else None
    )
    return {**row, "analyst": stored.request.analyst, "state": stored.state, "answer": answer}


def one_release(call: Incoming) -> Response:
    """Answer with one request and its answers, if they are the caller's to see."""
    dataset = call.dataset
    text = call.path["number"]
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 15 else 0
    found = call.state.store.releases.of(dataset.name, after=number - 1, most=1) if number else []
    if not found or found[0].number != number:
        raise _none()
    if not (call.who.sees_all or found[0].request.analyst == call.who.name):
        raise _none()
    return reply(_stored(found[0]), headers=call.heads(dataset.name))


def first_number(call: Incoming, text: str) -> str:
    """Return the first number of the request to which a charge belongs; none if there is none."""
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        return "none"
    number, of = int(text), call.state.store.releases.of
    near = of(call.dataset.name, after=max(number - MOST_QUESTIONS, 0), most=MOST_QUESTIONS)
    first = (one.number for one in near if one.number <= number < one.number + one.count)
    return str(next(first, "none"))


def _none() -> NotGrantedError:
    return NotGrantedError("No such release, or no access to it. Look at the history.")


OPERATIONS = (
    Operation(
        method="POST",
        path="/datasets/{dataset}/releases",
        does=release,
        text="Charge a question once under its key, and answer it.",
        takes="ReleaseRequest",
        gives="Release",
        keyed=True,
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}/releases",
        does=history,
        text="Every charge, and the answers to your own.",
        gives="History",
        query=("after", "most"),
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}/releases/{number}",
        does=one_release,
        text="One request and its answers.",
        gives="Release",
    ),
)
