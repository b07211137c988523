"""Pages of guards: where a team submits, the leaderboard, and what owners and auditors see."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import AdaptiveAnswer, counted
from sourdine.adaptive.holdout.leaderboard import Ladder, Team, team_cells
from sourdine.server import guards as holdouts
from sourdine.server.pages.administration import shown_lines
from sourdine.server.pages.analyst import guard_copies
from sourdine.server.pages.pictures import BoardPicture, gauge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup
    from starlette.responses import Response

    from sourdine.server.pages.rendering import Visit


RECENT = 20
WHAT = {
    "book": "the ledger was opened", "terms": "the terms: {n} rows, error {error}",
    "sealed": "the seal of the labels", "board": "the leaderboard, in steps of {step}",
    "answers": "charge {number}: {what}", "submissions": "the answer to {name}: ",
}  # fmt: skip
"""What each line of a ledger is, for people."""


def guards(visit: Visit) -> Response:
    """Show the guards, each with its gauge."""
    found = [{**facts, "gauge": _gauge(facts)} for facts in visit.ask(holdouts.guards)]
    return visit.shows("guards.html", guards=found)


def guard(visit: Visit) -> Response:
    """Show where a team submits, what is left, the leaderboard, and what the team was told."""
    facts = _facts(visit)
    return visit.shows("guard.html", **facts, **guard_copies(visit, facts["guard"]["name"]))


def told(visit: Visit) -> Response:
    """Show what changes with a submission: parts of the page of a guard."""
    return visit.shows("guard_told.html", **_facts(visit))


def leaderboard(visit: Visit) -> Response:
    """Show the leaderboard alone."""
    return visit.shows("guard_board_page.html", **_facts(visit))


def _facts(visit: Visit) -> dict[str, Any]:
    facts, board = visit.ask(holdouts.guard), visit.ask(holdouts.leaderboard)
    ladder = Ladder(Fraction(board["step"]))
    sent = visit.ask(holdouts.submissions)["submissions"][::-1]
    own = [one for one in sent if one["team"] == visit.call.who.name]
    listed = [_team(row) for row in board["teams"]]
    picture = BoardPicture(
        teams=listed, ladder=ladder, bar=board["bar"], own=visit.call.who.name, wide=visit.wide
    )
    return {
        "guard": facts,
        "gauge": _gauge(facts),
        "bar": None if board["bar"] is None else ladder.said(board["bar"]),
        "picture": picture.draw(),
        "teams": [(team, team_cells(team, ladder)) for team in listed],
        "last": _sent(own[0], ladder) if own else None,
        "history": [_sent(one, ladder) for one in sent[:RECENT]],
        "tries": counted(facts["submissions"], "submission"),
    }


def _gauge(facts: Mapping[str, Any]) -> Markup:
    left, total = facts["remaining"]["bits"], facts["total"]["bits"]
    return gauge(facts["share"], 0.0, f"{left:.1f}", f"{total:.1f} bits")


def _score(row: Mapping[str, Any]) -> AdaptiveAnswer | None:
    return None if row["score"] is None else AdaptiveAnswer.from_dict(row["score"])


def _team(row: Mapping[str, Any]) -> Team:
    return Team(row["name"], _score(row), row["tries"])


def _sent(row: Mapping[str, Any], ladder: Ladder) -> dict[str, Any]:
    """Return a submission as a page shows it."""
    value, interval = team_cells(Team(row["team"], _score(row), 1), ladder)
    return {**row, "value": value, "interval": interval}


def teams(visit: Visit) -> Response:
    """Show who may submit how often, and how to close a guard."""
    people = [one.name for one in visit.call.state.store.people.all() if one.role != "auditor"]
    facts, grants = visit.ask(holdouts.guard), visit.ask(holdouts.team_grants)
    return visit.shows("guard_teams.html", guard=facts, grants=grants, people=people)


def ledger(visit: Visit) -> Response:
    """Show every line of a guard's ledger with its head."""
    lines = shown_lines(holdouts.guard_ledger(visit.call), WHAT)
    for line in lines:
        if line["table"] == "submissions":
            row = line["row"]
            leads = "does not lead" if row["rung"] is None else f"leads with {row['value']:g}"
            line["what"] += leads
    return visit.shows("guard_ledger.html", guard=visit.ask(holdouts.guard), lines=lines)
