"""Log-in, not-found page, and the pages of owners and auditors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sourdine.server import datasets, releases
from sourdine.server.auth import visitor
from sourdine.server.openapi import PREFIX
from sourdine.server.pages.rendering import rendered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from sourdine.server.pages.rendering import Visit


# ---- Where people log in -------------------------------------------------------------------------


WITHIN = re.compile(r"/([A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*)?")
"""A path of this server, and nothing that a browser could take for another."""


async def login(request: Request) -> Response:
    """Show where to log in, and remember which page was asked for."""
    asked = request.query_params.get("next", "/")
    return rendered("login.html", next=asked if WITHIN.fullmatch(asked) else "/")


# ---- The page for an address that there is none of -----------------------------------------------


def wants_page(request: Request) -> bool:
    """Return whether a browser asks for a page, not a script for an operation of the API."""
    path = request.url.path
    below = path == PREFIX or path.startswith((f"{PREFIX}/", "/static/"))
    return not below and "text/html" in request.headers.get("accept", "")


async def nowhere(request: Request, status: int) -> Response:
    """Say that there is no such page; nothing of the address is repeated."""
    caller = await visitor(request)
    who = {} if caller is None else {"person": caller.name, "role": caller.person.role}
    said = "There is no page at this address." if status == 404 else "This is not a page to open."
    return rendered("refused.html", status, said=said, **who)


# ---- Pages of owners and auditors: people, registering, grants, closing; the ledger and its check


def register(visit: Visit) -> Response:
    """Show the form of a new data set."""
    return visit.shows("register.html", folder=visit.call.state.settings.folder)


def manage(visit: Visit) -> Response:
    """Show grants, and how to close a data set."""
    people = visit.call.state.store.people.all()
    analysts = [one.name for one in people if one.role != "auditor"]
    facts, grants = visit.ask(datasets.reading), visit.ask(datasets.grants)
    return visit.shows("manage.html", dataset=facts, grants=grants, analysts=analysts)


WHAT = {
    "book": "the ledger was opened",
    "terms": "the total: {total}",
    "charges": "charge {number}: {what}",
    "answers": "the answer to charge {number}",
}
"""What each line of a ledger is, for people."""


def ledger(visit: Visit) -> Response:
    """Show who spent what, and every line of a ledger with its head."""
    analysts = visit.call.state.store.releases.analysts(visit.dataset.name)
    lines = shown_lines(releases.ledger(visit.call), WHAT)
    for line in lines:
        spends, row = line["table"] == "charges", line["row"]
        line["who"] = analysts.get(row["number"], "") if spends else ""
        line["epsilon"] = row.get("epsilon") if spends else None
    facts, grants = visit.ask(datasets.reading), visit.ask(datasets.grants)
    return visit.shows("ledger.html", dataset=facts, grants=grants, lines=lines)


def shown_lines(answer: Response, words: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the lines of a ledger as a page shows them, with words for what each table says."""
    lines = [json.loads(line) for line in bytes(answer.body).splitlines()]
    for line in lines:
        row = line["row"]
        names = ("rho",) if "rho" in row else ("epsilon", "delta")
        total = ", ".join(f"{name} {row.get(name)}" for name in names)
        line["what"] = words.get(line["table"], line["table"]).format(**{**row, "total": total})
        line["time"] = row.get("time", row.get("opened", ""))
        line["whole"] = json.dumps(row, ensure_ascii=False, indent=1)
    return lines
