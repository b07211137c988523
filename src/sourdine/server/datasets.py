"""Data sets: their public columns, and the operations on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from sourdine.central import Count, Mean
from sourdine.central.sql import parsed
from sourdine.curator import column_types
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import given, positive
from sourdine.frames.formulas.engine import columns_of
from sourdine.frames.paths import source_name
from sourdine.frames.reading import Reading
from sourdine.parameters import converters, kinds
from sourdine.parameters import question as parameters
from sourdine.parameters.kinds import spelled
from sourdine.parameters.question import plain_parameter
from sourdine.server.requests import END, NAME, PRINTABLE, Operations, reply
from sourdine.server.sources import opened, require_below
from sourdine.server.store.base import Dataset
from sourdine.session import Terms
from sourdine.session.charges import read_budget, terms_row
from sourdine.session.ledger import CHARGES

if TYPE_CHECKING:
    from starlette.responses import Response

    from sourdine.central import Statistic
    from sourdine.server.requests import Incoming
    from sourdine.server.store.base import Grant


# ---- What is public about columns: the owner's bounds, steps and keys, which no analyst types ----
#
# A question that leaves them out gets them here, before it is read; one that says other ones is
# refused. Columns that the owner did not list cannot be asked, unless none is listed: then analysts
# say bounds and keys themselves, as in a session. That is decided by the question as it was read,
# however its columns were spelled, and the others are not even in the session's data.
#
# *Claim*: a column that is not listed is never read. *Checked by*
# ``test_columns_that_are_not_listed_are_never_read``.


PublicColumns = dict[str, dict[str, Any]]
"""By name: ``bounds`` and ``step`` of numbers and dates, ``keys`` of choices, and a ``text``."""
KNOWN = ("bounds", "step", "keys", "text")


def read_columns(said: object) -> PublicColumns:
    """Return what an owner says of columns, as JSON knows it; or refuse it.

    Examples
    --------
    >>> read_columns({"age": {"bounds": [0, 120], "step": 1}, "sex": {"keys": ["f", "m"]}})
    {'age': {'bounds': [0, 120], 'step': 1}, 'sex': {'keys': ['f', 'm']}}
    """
    if not isinstance(said, Mapping) or not all(isinstance(c, Mapping) for c in said.values()):
        what = "be an object of objects, one for each column"
        one = '{"age": {"bounds": [0, 120], "step": 1}, "sex": {"keys": ["f", "m"]}}'
        raise ParameterTypeError("columns", what, given(said), f"Write, for example, {one}.")
    found: PublicColumns = {}
    for name, facts in said.items():
        try:
            found[str(name)] = _column(str(name), facts)
        except SourdineError as error:
            if error.name == "columns":
                raise
            about = f"{error.name} of {name}"  # which column it is
            raise type(error)(about, error.must, error.got, error.hint, **error.tries) from None
    return found


def _column(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    for known in facts:
        if known not in KNOWN:
            got = f"{given(known)} of {given(name)}"
            raise ParameterError("columns", f"hold only {', '.join(KNOWN)}", got, "Omit it.")
    numbers = {key: facts[key] for key in ("bounds", "step") if facts.get(key) is not None}
    found: dict[str, Any] = {}
    if numbers:
        mean = parameters.read(Mean, {"column": name, "epsilon": 1, **numbers})
        found |= {key: plain_parameter(getattr(mean, key)) for key in numbers}
    if facts.get("keys") is not None:
        count = parameters.read(Count, {"by": name, "keys": facts["keys"], "epsilon": 1})
        found["keys"] = plain_parameter(count.to_dict()["keys"])
    if facts.get("text"):
        found["text"] = str(facts["text"])
    return found


def completed(asked: Mapping[str, Any], takes: set[str], columns: PublicColumns) -> dict[str, Any]:
    """Return a question with what the owner says of its columns; or refuse it.

    ``asked`` is as JSON holds it, ``takes`` the parameters of its statistic.
    """
    said = dict(asked)
    if not columns:
        return said
    if "column" in takes and "column" not in said and len(columns) == 1 and "bounds" in takes:
        said["column"] = next(iter(columns))
    for name in ("column", "by"):  # said first, before what else such a question lacks
        typed = said.get(name)
        for text in typed if isinstance(typed, list) else [typed]:
            for column in _named(name, text, columns) if isinstance(text, str) else ():
                _require_known(name, column, columns)
    own = _of_column(said, takes, columns) | _of_groups(said, columns) | _of_table(said, columns)
    own |= _of_statement(said, columns)
    if "columns" in takes:
        said.setdefault("columns", list(columns))
    for name, value in own.items():
        if name in said and plain_parameter(said[name]) != value:
            what, hint = "be omitted, as the owner of the data has set it", f"Omit {{{name}}}."
            raise ParameterError(name, what, "", hint, **{name: LEFT_OUT})
    return {**said, **own}


def _named(parameter: str, text: str, columns: PublicColumns) -> tuple[str, ...]:
    """Return the columns that a name or a formula is about."""
    try:
        return (text,) if text in columns else columns_of(text)
    except ParameterError as error:
        raise error.renamed(formula=parameter) from None


def _of_column(said: Mapping[str, Any], takes: set[str], columns: PublicColumns) -> dict[str, Any]:
    column = said.get("column")
    of_rows = said.get("per_person") in ("sum", "count")  # whose bounds are not those of a person
    if not isinstance(column, str) or "of" in takes or of_rows:
        return {}
    facts = columns.get(column, {})
    own = {name: x for name, x in facts.items() if name in ("bounds", "step") and name in takes}
    if isinstance(kinds.BINS.parse(said.get("bins")), (list, tuple)):
        own.pop("bounds", None)  # edges say it themselves
    if "categories" in takes and "keys" in facts and "bins" not in said:
        own["categories"] = facts["keys"]
    return own


def _of_groups(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    by = said.get("by")
    names = by if isinstance(by, list) else []
    if isinstance(by, str):
        names = [by]
    keys = {str(name): columns.get(str(name), {}).get("keys") for name in names}
    if not keys or not all(keys.values()):
        return {}
    return {"keys": keys if isinstance(by, list) and len(by) > 1 else next(iter(keys.values()))}


def _of_table(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    """Return bounds and steps by column, for the columns that a question of several is of."""
    of = said.get("of")
    if isinstance(of, Mapping):
        asked = list(of)
    else:
        x = kinds.NAMES.parse(said.get("x"))
        asked = [*(x if isinstance(x, (list, tuple)) else ()), said.get("y")]
    names = [name for name in asked if isinstance(name, str) and name in columns]
    own = {
        many: {name: columns[name][one] for name in names if one in columns[name]}
        for many, one in (("bounds", "bounds"), ("steps", "step"))
    }
    return {many: values for many, values in own.items() if values}


def _of_statement(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    """Return bounds, steps and keys of a statement, for the columns that it is of."""
    text = said.get("statement")
    if not isinstance(text, str):
        return {}
    try:
        statement = parsed(text)
    except ParameterError:  # the question says what is wrong with it
        return {}
    asked = dict.fromkeys(output.part[0] for output in statement.outputs if output.part)
    own = _of_table({"of": asked}, columns)
    typed = said.get("bounds")
    if "bounds" in own and isinstance(typed, Mapping):  # of expressions, for example
        own["bounds"] = {**{c: x for c, x in typed.items() if c not in columns}, **own["bounds"]}
    listed = statement.listed is not None or "keys" in said
    return own if listed else own | _of_groups({"by": list(statement.by)}, columns)


def require_listed(question: Statistic, columns: PublicColumns) -> None:
    """Refuse a question about a column that the owner did not list, if any are listed."""
    for parameter, column in question.asks_about(columns):
        if columns and column is not None:
            _require_known(parameter, column, columns)


def _require_known(parameter: str, column: str, columns: PublicColumns) -> None:
    if column in columns:
        return
    listed, first = ", ".join(columns)[:200], next(iter(columns))
    if parameter == "where":
        what, hint = f"name only the columns: {listed}", "Write a condition on these."
        raise ParameterError(parameter, what, given(column), hint)
    what, hint = f"be one of the columns: {listed}", f"Use {{{parameter}}}."
    raise ParameterError(parameter, what, given(column), hint, **{parameter: first})


def stored_columns(text: str) -> PublicColumns:
    """Return the columns that a store keeps as JSON."""
    found: PublicColumns = json.loads(text)
    return found


# ---- Data sets: listed, read, registered by a path on the server, granted, closed ----------------


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
        what = "be given: the total that all releases may cost together"
        raise ParameterError("epsilon", what, "", "Use {epsilon}.", epsilon=1)
    epsilon, delta = spelled(said.epsilon), spelled(said.delta)
    rho, reserve = spelled(said.rho), spelled(said.reserve)
    between = converters.relation(said.relation)
    total, decides = read_budget(epsilon, delta, rho, reserve, between)
    read = Reading.of(said.read)
    data, columns = opened(said.source, read.to_dict()), read_columns(said.columns)
    for name in (*columns, *filter(None, [said.unit])):
        data.resolve(name)
    name = source_name(said.source)
    terms = Terms(total=total, filter=decides, unit=said.unit, rows=said.rows, name=name)
    return Dataset(
        name=said.name, terms=terms, source=said.source, columns=json.dumps(columns),
        n_about=said.n, read=json.dumps(read.to_dict()), title=said.title.strip(),
        description=said.description.strip(),
    )  # fmt: skip


OPERATIONS = Operations()


@OPERATIONS.add("GET", "/datasets", gives="Datasets")
def listing(call: Incoming) -> Response:
    """List the data sets you have access to."""
    store, who = call.state.store, call.who
    granted = {grant.dataset for grant in store.grants.all(analyst=who.name)}
    seen = [one for one in store.datasets.all() if who.sees_all or one.name in granted]
    return reply([_summary(call, one) for one in seen])


def _summary(call: Incoming, dataset: Dataset) -> dict[str, Any]:
    account = call.state.store.datasets.ledger(dataset.name).account
    grant = call.state.store.grants.get(dataset.name, call.who.name)
    return {
        "name": dataset.name, "title": dataset.title, "description": dataset.description,
        "state": dataset.state, "total": dataset.terms.told(), "share": float(account.share),
        "spent": account.used.to_dict(), "remaining": account.remaining.to_dict(),
        "grant": None if grant is None else _grant(grant),
    }  # fmt: skip


def _grant(grant: Grant) -> dict[str, str]:
    return {
        "analyst": grant.analyst,
        "epsilon": str(grant.epsilon),
        "spent": str(grant.spent),
        "remaining": str(grant.left),
    }


@OPERATIONS.add("POST", "/datasets", roles=OWNER, takes=Registering, gives="Dataset")
def register(call: Incoming) -> Response:
    """Register a data set on the server. Rows are never uploaded."""
    said: Registering = call.body(Registering)
    said.source = require_below(said.source, call.state.settings.folder)
    dataset = call.state.store.datasets.add(registered(said))
    return reply(_summary(call, dataset), 201, {"location": f"/api/v1/datasets/{dataset.name}"})


@OPERATIONS.add("POST", "/columns", roles=OWNER, takes=Looking, gives="FileColumns")
def file_columns(call: Incoming) -> Response:
    """List the columns of data on the server, before registering them."""
    said: Looking = call.body(Looking)
    source = require_below(said.source, call.state.settings.folder)
    found = column_types(opened(source, Reading.of(said.read).to_dict()), source)
    return reply([{"name": name, "type": kind} for name, kind in found.items()])


@OPERATIONS.add("GET", "/datasets/{dataset}", gives="Dataset")
def reading(call: Incoming) -> Response:
    """Return the public facts of a data set and its spent budget."""
    dataset = call.dataset
    journal = call.state.store.datasets.journal(dataset.name)
    facts = {
        **_summary(call, dataset), "columns": stored_columns(dataset.columns), "n": dataset.n_about,
        "read": json.loads(dataset.read), "opened": dataset.opened,
        "terms": terms_row(dataset.terms),
        "last": journal.look(lambda transaction: transaction.last(CHARGES)),
    }  # fmt: skip
    return call.reply(facts)


@OPERATIONS.add("POST", "/datasets/{dataset}/close", roles=OWNER, gives="Dataset")
def close(call: Incoming) -> Response:
    """Close a data set permanently."""
    call.state.store.datasets.close(call.dataset.name)
    return call.reply(_summary(call, call.dataset))


@OPERATIONS.add("GET", "/datasets/{dataset}/grants", roles=("owner", "auditor"), gives="Grants")
def grants(call: Incoming) -> Response:
    """List the grants of a data set."""
    found = call.state.store.grants.all(dataset=call.dataset.name)
    return reply([_grant(grant) for grant in found])


@OPERATIONS.add("POST", "/datasets/{dataset}/grants", roles=OWNER, takes=Granting, gives="Grant")
def grant(call: Incoming) -> Response:
    """Set how much an analyst may spend."""
    said: Granting = call.body(Granting)
    epsilon = positive(spelled(said.epsilon), "epsilon")
    return reply(_grant(call.state.store.grants.give(call.dataset.name, said.analyst, epsilon)))
