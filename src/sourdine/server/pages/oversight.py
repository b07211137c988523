"""Pages of owners and auditors: people, registering, grants, closing; the ledger and its check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sourdine.server import accounts, datasets, ledgers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from sourdine.server.pages.visiting import Visit

__all__ = ["check", "ledger", "manage", "people", "register"]


def people(visit: Visit) -> Response:
    """Show who can log in, and the form of somebody new."""
    return visit.shows("people.html", people=visit.ask(accounts.people))


def register(visit: Visit) -> Response:
    """Show the form of a new data set."""
    return visit.shows("register.html", folder=visit.call.state.settings.folder)


def manage(visit: Visit) -> Response:
    """Show grants, and how to close a data set."""
    store = visit.call.state.store
    analysts = [one.name for one in store.people.all() if one.role != "auditor"]
    return visit.shows(
        "manage.html",
        dataset=visit.ask(datasets.reading),
        grants=visit.ask(datasets.grants),
        analysts=analysts,
    )


def ledger(visit: Visit) -> Response:
    """Show who spent what, and every line of a ledger with its head."""
    text = bytes(ledgers.ledger(visit.call).body).decode()
    analysts = visit.call.state.store.releases.analysts(visit.dataset.name)
    lines = [_line(json.loads(line), analysts) for line in text.splitlines()]
    return visit.shows(
        "ledger.html",
        dataset=visit.ask(datasets.reading),
        grants=visit.ask(datasets.grants),
        lines=lines,
    )


def _line(line: dict[str, Any], analysts: Mapping[int, str]) -> dict[str, Any]:
    row = line["row"]
    spends = line["table"] == "charges"
    return {
        **line,
        "who": analysts.get(row["number"], "") if spends else "",
        "what": _what(line["table"], row),
        "epsilon": row.get("epsilon") if spends else None,
        "time": row.get("time", row.get("opened", "")),
        "whole": json.dumps(row, ensure_ascii=False, indent=1),
    }


def _what(table: str, row: dict[str, Any]) -> str:
    match table:
        case "book":
            return "the ledger was opened"
        case "terms":
            return f"the total: epsilon {row['epsilon']}, delta {row['delta']}"
        case "charges":
            return f"charge {row['number']}: {row['what']}"
        case "answers":
            return f"the answer to charge {row['number']}"
    return table


def check(visit: Visit) -> Response:
    """Show whether a ledger is right: a part of its page."""
    return visit.shows("check.html", check=visit.ask(ledgers.check))
