"""Data sets: listed, read, registered by a path on the server, granted, closed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from sourdine.curator.types import column_types
from sourdine.errors import ParameterError
from sourdine.exact import positive
from sourdine.question import converters
from sourdine.question.kinds import spelled
from sourdine.server.columns import read_columns, stored_columns
from sourdine.server.incoming import Operation, reply
from sourdine.server.limits import END, NAME, PRINTABLE
from sourdine.server.sources import opened, require_below, source_name
from sourdine.server.store import Dataset
from sourdine.session import Terms
from sourdine.session.kept_ledgers import CHARGES
from sourdine.session.lines import terms_row
from sourdine.session.totals import read_budget
from sourdine.tally import Reading

if TYPE_CHECKING:
    from starlette.responses import Response

    from sourdine.server.incoming import Incoming
    from sourdine.server.store import Grant

__all__ = ["OPERATIONS", "Registering", "registered"]

OWNER = ("owner",)
Spelled = Annotated[str, msgspec.Meta(max_length=64)] | float | int
"""A number: as a text it is exact."""
SEVERAL_LINES = f"^[^\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029]*{END}"


class Registering(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A new data set, by where the server finds it."""

    name: Annotated[str, msgspec.Meta(pattern=NAME)]
    source: Annotated[str, msgspec.Meta(min_length=1, max_length=1000, pattern=PRINTABLE)]
    epsilon: Spelled | None = None
    delta: Spelled | None = None
    rho: Spelled | None = None
    reserve: Spelled | None = None
    relation: str = "add_remove"
    unit: str | None = None
    rows: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1
    n: Annotated[int, msgspec.Meta(ge=1, le=10**15)] | None = None
    columns: dict[str, Any] = {}
    read: dict[str, Any] = {}
    title: Annotated[str, msgspec.Meta(max_length=200, pattern=PRINTABLE)] = ""
    description: Annotated[str, msgspec.Meta(max_length=2000, pattern=SEVERAL_LINES)] = ""


class Looking(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Where data are whose columns an owner wants to know."""

    source: Annotated[str, msgspec.Meta(min_length=1, max_length=1000, pattern=PRINTABLE)]
    read: dict[str, Any] = {}


class Granting(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How much an analyst may spend of a data set."""

    analyst: Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=PRINTABLE)]
    epsilon: Spelled


def registered(said: Registering) -> Dataset:
    """Return the data set that an owner describes, whose columns were looked for; or refuse it."""
    if said.epsilon is None and said.rho is None:
        raise ParameterError(
            "epsilon",
            "be what all releases may cost together",
            "none",
            "Type {epsilon}.",
            epsilon=1,
        )
    total, decides = read_budget(
        spelled(said.epsilon),
        spelled(said.delta),
        spelled(said.rho),
        spelled(said.reserve),
        converters.relation(said.relation),
    )
    read = Reading.of(said.read)
    data, columns = opened(said.source, read.to_dict()), read_columns(said.columns)
    for name in (*columns, *filter(None, [said.unit])):
        data.resolve(name)
    terms = Terms(
        total=total,
        filter=decides,
        unit=said.unit,
        rows=said.rows,
        name=source_name(said.source),
    )
    return Dataset(
        name=said.name,
        terms=terms,
        source=said.source,
        columns=json.dumps(columns),
        n_about=said.n,
        read=json.dumps(read.to_dict()),
        title=said.title.strip(),
        description=said.description.strip(),
    )


def listing(call: Incoming) -> Response:
    """Answer with the data sets that the caller may see."""
    store, who = call.state.store, call.who
    granted = {grant.dataset for grant in store.grants.all(analyst=who.name)}
    seen = [one for one in store.datasets.all() if who.sees_all or one.name in granted]
    return reply([_summary(call, one) for one in seen])


def reading(call: Incoming) -> Response:
    """Answer with what is public of a data set, and exactly what was spent of it."""
    dataset = call.dataset
    book = call.state.store.datasets.book(dataset.name)
    facts = {
        **_summary(call, dataset),
        "columns": stored_columns(dataset.columns),
        "n": dataset.n_about,
        "read": json.loads(dataset.read),
        "opened": dataset.opened,
        "terms": terms_row(dataset.terms),
        "last": book.look(lambda page: page.last(CHARGES)),
    }
    return reply(facts, headers=call.heads(dataset.name))


def _summary(call: Incoming, dataset: Dataset) -> dict[str, Any]:
    account = call.state.store.datasets.ledger(dataset.name).account
    grant = call.state.store.grants.get(dataset.name, call.who.name)
    return {
        "name": dataset.name,
        "title": dataset.title,
        "description": dataset.description,
        "state": dataset.state,
        "total": dataset.terms.told(),
        "share": float(account.share),
        "spent": account.used.to_dict(),
        "remaining": account.remaining.to_dict(),
        "grant": None if grant is None else _grant(grant),
    }


def _grant(grant: Grant) -> dict[str, str]:
    return {
        "analyst": grant.analyst,
        "epsilon": str(grant.epsilon),
        "spent": str(grant.spent),
        "remaining": str(grant.left),
    }


def register(call: Incoming) -> Response:
    """Register a data set that lies on the server."""
    said: Registering = call.body(Registering)
    source = require_below(said.source, call.state.settings.folder)
    below = msgspec.structs.replace(said, source=source)
    dataset = call.state.store.datasets.add(registered(below))
    return reply(_summary(call, dataset), 201, {"location": f"/api/v1/datasets/{dataset.name}"})


def file_columns(call: Incoming) -> Response:
    """Answer with the columns of data that lie on the server, for the owner alone."""
    said: Looking = call.body(Looking)
    source = require_below(said.source, call.state.settings.folder)
    data = opened(source, Reading.of(said.read).to_dict())
    found = column_types(data, source)
    return reply([{"name": name, "type": kind} for name, kind in found.items()])


def close(call: Incoming) -> Response:
    """Close a data set for good."""
    name = call.dataset.name
    call.state.store.datasets.close(name)
    return reply(_summary(call, call.dataset), headers=call.heads(name))


def grants(call: Incoming) -> Response:
    """Answer with what analysts may spend of a data set."""
    found = call.state.store.grants.all(dataset=call.dataset.name)
    return reply([_grant(grant) for grant in found])


def grant(call: Incoming) -> Response:
    """Say how much an analyst may spend."""
    said: Granting = call.body(Granting)
    epsilon = positive(spelled(said.epsilon), "epsilon")
    return reply(_grant(call.state.store.grants.give(call.dataset.name, said.analyst, epsilon)))


OPERATIONS = (
    Operation(
        method="GET",
        path="/datasets",
        does=listing,
        text="The data sets that you may see.",
        gives="Datasets",
    ),
    Operation(
        method="POST",
        path="/datasets",
        does=register,
        text="Register a data set that lies on the server; rows are never uploaded.",
        roles=OWNER,
        takes=Registering,
        gives="Dataset",
    ),
    Operation(
        method="POST",
        path="/columns",
        does=file_columns,
        text="The columns of data that lie on the server, to register them.",
        roles=OWNER,
        takes=Looking,
        gives="FileColumns",
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}",
        does=reading,
        text="What is public of a data set, and what was spent of it.",
        gives="Dataset",
    ),
    Operation(
        method="POST",
        path="/datasets/{dataset}/close",
        does=close,
        text="Close a data set for good.",
        roles=OWNER,
        gives="Dataset",
    ),
    Operation(
        method="GET",
        path="/datasets/{dataset}/grants",
        does=grants,
        text="What analysts may spend of a data set.",
        roles=("owner", "auditor"),
        gives="Grants",
    ),
    Operation(
        method="POST",
        path="/datasets/{dataset}/grants",
        does=grant,
        text="Say how much an analyst may spend.",
        roles=OWNER,
        takes=Granting,
        gives="Grant",
    ),
)
