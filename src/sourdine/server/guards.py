"""Guards on a server: registering, submissions, leaderboards."""

from __future__ import annotations

import json
import random
import secrets
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import (
    Leaderboard,
    open_sealed,
    reached,
    sealed_facts,
    sealed_lines,
    submit_reached,
)
from sourdine.adaptive.ledger.dependence import Blocks, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.data import wages
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.parameters.kinds import spelled
from sourdine.server.datasets import Spelled  # noqa: TC001 - msgspec resolves it
from sourdine.server.labels import labels_at, read_predictions
from sourdine.server.releases import REPLAYED, checked_ledger, ledger_lines
from sourdine.server.requests import (
    LONGEST_UPLOAD,
    NAME,
    OVERSEERS,
    PRINTABLE,
    Operations,
    checked_key,
    reply,
)
from sourdine.server.sources import require_below
from sourdine.server.store.base import Guard, KeyedRequest, fingerprint
from sourdine.server.store.guards import guard_checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from starlette.responses import Response

    from sourdine.adaptive.answers import AdaptiveAnswer
    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.server.requests import Incoming
    from sourdine.server.store.base import Submission, TeamGrant
    from sourdine.server.store.store import ServerStore
    from sourdine.storage.journal import Row


# ---- Guards: registered by a path on the server, submitted to by teams, seen on a leaderboard ----
#
# *Claim*: however often a submission is sent, it is charged once and its answer is one. *Checked
# by* ``test_a_submission_is_charged_once_under_its_key``.


OWNER = ("owner",)
MOST_SUBMISSIONS = 10**6
Named = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=PRINTABLE)]


class RegisteringGuard(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """New labels under guard, by where the server finds them."""

    name: Annotated[str, msgspec.Meta(pattern=NAME)]
    source: Annotated[str, msgspec.Meta(min_length=1, max_length=1000, pattern=PRINTABLE)]
    error: Spelled
    column: Named | None = None
    loss: Literal["zero-one", "absolute"] = "zero-one"
    scale: Spelled | None = None
    classes: Annotated[list[int | float | str], msgspec.Meta(min_length=2)] | None = None
    confidence: Spelled = 0.95
    step: Spelled | None = None
    blocks: Annotated[int, msgspec.Meta(ge=1, le=10**6)] | None = None
    markov: Spelled | None = None
    text: Annotated[str, msgspec.Meta(max_length=500, pattern=PRINTABLE)] = ""


class GrantingTeam(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How often a team may submit."""

    team: Named
    submissions: Annotated[int, msgspec.Meta(ge=0, le=MOST_SUBMISSIONS)]


class Submitting(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Predictions: a list, or a text with one a line."""

    predictions: list[int | float | str | bool | None] | str


def registered_guard(said: RegisteringGuard) -> tuple[Guard, list[tuple[str, Row]]]:
    """Return the guard that an owner describes, and the first lines of its ledger; or refuse it."""
    if said.blocks is not None and said.markov is not None:
        raise ParameterError("blocks", "not be combined with {markov}", "", "Use one of them.")
    dependence: Dependence | None = None if said.blocks is None else Blocks(said.blocks)
    if said.markov is not None:
        dependence = Markov(spelled(said.markov))
    held = GuardedHoldout(
        labels_at(said.source, said.column), loss=said.loss, scale=spelled(said.scale),
        classes=said.classes, confidence=spelled(said.confidence), dependence=dependence,
        error=spelled(said.error),
    )  # fmt: skip
    board = Leaderboard(held, "auto" if said.step is None else spelled(said.step))
    secret = secrets.token_bytes(32)
    own = {name: getattr(said, name) for name in ("name", "source", "column", "text")}
    guard = Guard(secret=secret.hex(), **own)
    return guard, sealed_lines(board, secret)


OPERATIONS = Operations()


@OPERATIONS.add("GET", "/guards", gives="Guards")
def guards(call: Incoming) -> Response:
    """List the guards you have access to."""
    store, who = call.state.store, call.who
    granted = {grant.guard for grant in store.guards.grants(team=who.name)}
    seen = [one for one in store.guards.all() if who.sees_all or one.name in granted]
    return reply([_facts(call, one) for one in seen])


def _facts(call: Incoming, guard: Guard) -> dict[str, Any]:
    grant = call.state.store.guards.grant(guard.name, call.who.name)
    return {
        "name": guard.name, "state": guard.state, "text": guard.text, "opened": guard.opened,
        **call.state.store.guards.look(guard.name, _told),
        "grant": None if grant is None else _grant(grant),
    }  # fmt: skip


def _told(board: Leaderboard) -> dict[str, Any]:
    """Return the terms of a guard, and what is left of it."""
    held, ledger = board.guard, board.guard.ledger
    error, teams = ledger.limit, board.teams
    fresh = TranscriptLedger(held.n, confidence=1 - ledger.beta, dependence=ledger.dependence)
    total, left = fresh.until(error, claims=False), held.until(error)
    return {
        "n": held.n, **ledger.turn(lambda turn: sealed_facts(turn.transaction)), "error": error,
        "confidence": float(1 - ledger.beta), "dependence": ledger.dependence.facts(),
        "step": float(board.step), "bits": held.bits, "total": asdict(total),
        "remaining": asdict(left), "share": 1 - left.bits / total.bits if total.bits else 1.0,
        "bar": board.bar, "teams": len(teams), "submissions": sum(team.tries for team in teams),
    }  # fmt: skip


def _grant(grant: TeamGrant) -> dict[str, Any]:
    return {
        "team": grant.team,
        "submissions": grant.submissions,
        "sent": grant.sent,
        "remaining": grant.left,
    }


@OPERATIONS.add("POST", "/guards", roles=OWNER, takes=RegisteringGuard, gives="Guard")
def register_guard(call: Incoming) -> Response:
    """Create a guard for labels on the server. Labels are never uploaded."""
    said: RegisteringGuard = call.body(RegisteringGuard)
    said.source = require_below(said.source, call.state.settings.folder)
    made = call.state.store.guards.add(*registered_guard(said))
    return reply(_facts(call, made), 201, {"location": f"/api/v1/guards/{made.name}"})


@OPERATIONS.add("GET", "/guards/{guard}", gives="Guard")
def guard(call: Incoming) -> Response:
    """Return the public facts, the spent and the remaining budget of a guard."""
    return call.reply(_facts(call, call.guard))


@OPERATIONS.add("POST", "/guards/{guard}/close", roles=OWNER, gives="Guard")
def close_guard(call: Incoming) -> Response:
    """Close a guard permanently."""
    call.state.store.guards.close(call.guard.name)
    return guard(call)


@OPERATIONS.add("GET", "/guards/{guard}/grants", roles=OVERSEERS, gives="TeamGrants")
def team_grants(call: Incoming) -> Response:
    """List how often teams may submit."""
    found = call.state.store.guards.grants(guard=call.guard.name)
    return reply([_grant(grant) for grant in found])


@OPERATIONS.add(
    "POST", "/guards/{guard}/grants", roles=OWNER, takes=GrantingTeam, gives="TeamGrant"
)
def grant_team(call: Incoming) -> Response:
    """Set how often a team may submit."""
    said: GrantingTeam = call.body(GrantingTeam)
    made = call.state.store.guards.give(call.guard.name, said.team, said.submissions)
    return reply(_grant(made))


@OPERATIONS.add(
    "POST",
    "/guards/{guard}/submissions",
    takes=Submitting,
    gives="Submission",
    keyed=True,
    longest=LONGEST_UPLOAD,
)
def submit(call: Incoming) -> Callable[[], Response]:
    """Submit predictions under an idempotency key, and return whether they lead.

    It is read at once; the guard is asked, and answers what is stored, on a tick.
    """
    key = checked_key(call.headers.get("idempotency-key"))
    found, body = call.guard, call.body(Submitting)
    request = KeyedRequest(
        analyst=call.who.name,
        key=key,
        dataset=found.name,
        asked=fingerprint(json.dumps(body.predictions)),
    )
    ask = _asking(call, found, request, body)

    def answer() -> Response:
        stored = ask()
        return call.reply(_submission(stored), {REPLAYED: "false" if stored.fresh else "true"})

    return answer


def _asking(
    call: Incoming, guard: Guard, request: KeyedRequest, body: Submitting
) -> Callable[[], Submission]:
    guards = call.state.store.guards
    if (known := guards.found(request)) is not None:
        return lambda: known
    labels = call.state.labels.of(guard)
    sent = read_predictions(body.predictions, labels.kind, len(labels))
    rung = guards.look(guard.name, lambda board: reached(board, sent), labels)

    def ask() -> Submission:
        try:
            return guards.submit_once(
                request,
                lambda journal: submit_reached(open_sealed(journal, labels), request.analyst, rung),
            )
        except BudgetExceededError as refusal:
            if refusal.name == "submissions":
                raise
            raise refusal.hinting(
                "Nothing was answered, and nothing was charged. Ask the owner for fresh labels.", {}
            ) from None

    return ask


def _submission(stored: Submission) -> dict[str, Any]:
    standing = stored.standing
    return {
        "number": stored.number, "team": standing.name, "told": stored.told,
        "leads": bool(standing), "score": _score(standing.score), "bits": standing.bits,
        "line": stored.line, "head": stored.head,
    }  # fmt: skip


@OPERATIONS.add("GET", "/guards/{guard}/submissions", gives="Submissions")
def submissions(call: Incoming) -> Response:
    """List your submissions; owners and auditors see all of them."""
    found = call.guard
    team = None if call.who.sees_all else call.who.name
    rows = call.state.store.guards.submissions(found.name, team)
    return call.reply({"submissions": [_submission(row) for row in rows]})


@OPERATIONS.add("GET", "/guards/{guard}/leaderboard", gives="Leaderboard")
def leaderboard(call: Incoming) -> Response:
    """List all teams with their best scores and intervals."""
    name = call.guard.name
    return call.reply({"guard": name, **call.state.store.guards.look(name, _board)})


def _board(board: Leaderboard) -> dict[str, Any]:
    return {
        "step": str(board.step),
        "confidence": float(1 - board.guard.ledger.beta),
        "bits": board.guard.bits,
        "bar": board.bar,
        "led": len(board.standings),
        "teams": [
            {"name": team.name, "score": _score(team.score), "tries": team.tries}
            for team in board.teams
        ],
    }


def _score(score: AdaptiveAnswer | None) -> dict[str, Any] | None:
    return None if score is None else score.to_dict()


@OPERATIONS.add("GET", "/guards/{guard}/ledger", roles=OVERSEERS, gives="application/x-ndjson")
def guard_ledger(call: Incoming) -> Response:
    """Return every line of a guard's ledger with its hash. It contains no labels."""
    return ledger_lines(call, call.state.store.guards.journal(call.guard.name))


@OPERATIONS.add("GET", "/guards/{guard}/check", roles=OVERSEERS, gives="Check")
def check_guard(call: Incoming) -> Response:
    """Verify all bits, hashes and answers of a guard."""
    return checked_ledger(call, guard_checked(call.state.store.guards, call.guard.name))


# ---- The guard of the demo: which people of the public wages earn more than a threshold ----------


ROWS, MORE_THAN, ERROR, SUBMISSIONS = 4000, 30_000, "0.06", 50


def add_demo_guard(store: ServerStore, folder: Path, teams: Iterable[str]) -> None:
    """Put labels of the public wages under guard, which lie in a folder; let teams submit."""
    drawn = random.Random(1).sample(wages().tolist(), ROWS)  # noqa: S311 - the wages are public
    path = folder / "labels.csv"
    rows = "".join(f"{int(wage > MORE_THAN)}\n" for wage in drawn)
    path.write_text(f"more\n{rows}", "utf-8")
    said = RegisteringGuard(
        name=f"over-{MORE_THAN}",
        source=str(path),
        error=ERROR,
        text=f"Does somebody earn more than $ {MORE_THAN} a year? 1 for yes, 0 for no. Begin with "
        "a baseline: the same in every row.",
    )
    guard = store.guards.add(*registered_guard(said))
    for team in teams:
        store.guards.give(guard.name, team, SUBMISSIONS)
