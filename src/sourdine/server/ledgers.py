"""For owners and auditors: the ledger line by line, its check, and the report to be filed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from sourdine.errors import ParameterError
from sourdine.server.incoming import OVERSEERS, Operation, reply
from sourdine.server.store.checks import checked
from sourdine.session.filing import About, FiledReport

if TYPE_CHECKING:
    from sourdine.database import TableBook
    from sourdine.server.incoming import Incoming
    from sourdine.server.store import DatasetCheck

__all__ = ["OPERATIONS", "check_facts", "lines_text"]

FORMATS = {"html": "text/html", "md": "text/markdown", "json": "application/json"}


def ledger(call: Incoming) -> Response:
    """Answer with all lines of a ledger, an object of JSON each, with the head after it.

    The head of a line is the BLAKE2b of 16 bytes of the head before it and of the line as compact
    JSON of ASCII, so anybody can follow the chain.
    """
    dataset = call.dataset
    text = lines_text(call.state.store.datasets.book(dataset.name))
    return Response(text, 200, call.heads(dataset.name), "application/x-ndjson")


def lines_text(book: TableBook) -> str:
    """Return all lines of a book, an object of JSON each."""
    lines = book.look(lambda page: page.lines())
    return "".join(
        json.dumps({"line": head.lines, "head": head.chain.decode(), "table": table, "row": row})
        + "\n"
        for table, row, head in lines
    )


def check(call: Incoming) -> Response:
    """Answer whether every sum, every head and every answer of a ledger is right."""
    dataset = call.dataset
    found = checked(call.state.store.datasets, dataset.name)
    return reply(check_facts(found), headers=call.heads(dataset.name))


def check_facts(found: DatasetCheck) -> dict[str, Any]:
    """Return what was found in a ledger, as JSON knows it."""
    return {
        "sound": bool(found),
        "charges": found.charges,
        "answers": found.answers,
        "line": found.line,
        "head": found.head,
        "problems": list(found.problems),
    }


def report(call: Incoming) -> Response:
    """Answer with the report of everything that was released, as a file to be saved."""
    dataset = call.dataset
    ending = call.query.get("format", "html")
    if ending not in FORMATS:
        raise ParameterError(
            "the query", "have html, md or json as format", "another one", "Leave it out."
        )
    about = About.read({"title": dataset.name})
    filed = FiledReport.of(call.state.store.datasets.ledger(dataset.name), about)
    write = {"html": filed.to_html, "md": filed.to_markdown, "json": filed.to_json}[ending]
    name = f'attachment; filename="{dataset.name}.{ending}"'
    headers = {**call.heads(dataset.name), "content-disposition": name}
    return Response(write(), 200, headers, FORMATS[ending])


OPERATIONS = (
    Operation(
        method="GET",
        path="/datasets/{dataset}/ledger",
        does=ledger,
        text="Every line of the ledger with its head.",
        roles=OVERSEERS,
        gives="application/x-ndjson",
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}/check",
        does=check,
        text="Whether every sum, every head and every answer is right.",
        roles=OVERSEERS,
        gives="Check",
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}/report",
        does=report,
        text="The report of everything that was released, to be filed.",
        roles=OVERSEERS,
        gives="text/html",
        query=("format",),
    ),
)
