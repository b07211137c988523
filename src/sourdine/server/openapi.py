"""The OpenAPI document, for all data sets and for one."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from sourdine.parameters import question
from sourdine.questions import QUESTIONS
from sourdine.server.datasets import stored_columns
from sourdine.server.requests import MOST_BINS, MOST_QUANTILES, MOST_QUESTIONS
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.server.requests import Operation
    from sourdine.server.store.base import Dataset


# ---- The API described as OpenAPI 3.1: from its routes, and from the one schema of questions -----


PREFIX = "/api/v1"
COMPONENT = "#/components/schemas/{name}"
WORDS = {"text/html", "text/plain", "application/x-ndjson", "application/octet-stream"}
EXACT = {"type": "string", "description": "An exact number or fraction."}
TEXT = {"type": "string"}
WHOLE, NUMBER, FLAG = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}
MAKES = ("register", "register_guard", "make_token", "draft_survey", "add_person")
"""What answers with 201."""
REFUSALS = {
    "400": "missing key", "401": "not authenticated",
    "403": "wrong role, insufficient budget, or another origin", "404": "not found, or no access",
    "409": "the data source is unavailable", "413": "request too long",
    "415": "compressed, or not JSON", "422": "invalid parameter, or a key used for another request",
    "429": "too many attempts",
}  # fmt: skip


@cache
def document(operations: tuple[Operation, ...]) -> dict[str, Any]:
    """Return the description of all operations."""
    bodies = [one.takes for one in operations if one.takes and not isinstance(one.takes, str)]
    shapes, parts = msgspec.json.schema_components(bodies, ref_template=COMPONENT)
    refs = dict(zip(bodies, shapes, strict=True))
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(PREFIX + one.path, {})[one.method.lower()] = _operation(one, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sourdine",
            "version": __version__,
            "description": "Differentially private statistics of data that stay on the server.",
        },
        "paths": paths,
        "components": {
            "schemas": {**_questions(), **_answers(), **parts},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Operation, refs: dict[Any, Any]) -> dict[str, Any]:
    absent = "429" if one.roles else "403"
    kept = {status: text for status, text in REFUSALS.items() if status != absent}
    refused = {
        status: _content(text, "application/problem+json", _ref("Problem"))
        for status, text in kept.items()
    }
    kind, shape = ("application/json", _ref(one.gives))
    if one.gives in WORDS:
        kind, shape = one.gives, TEXT
    done = "201" if one.does.__name__ in MAKES else "200"
    found: dict[str, Any] = {
        "operationId": one.does.__name__,
        "summary": one.text,
        "parameters": _parameters(one),
        "responses": {done: _content("done", kind, shape), **refused},
    }
    if one.roles:
        found["security"] = [{"token": []}]
        found["description"] = f"For: {', '.join(one.roles)}."
    if one.takes:
        shape = refs[one.takes] if one.takes in refs else _ref(one.takes)
        body = {"application/json": {"schema": shape}}
        found["requestBody"] = {"required": True, "content": body}
    return found


def _parameters(one: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"\{(\w+)\}", one.path)
    ]
    for name in one.query:
        enum = {"enum": ["html", "md", "json"]} if name == "format" else {}
        shape = {**TEXT, **enum} if enum else {"type": "integer", "minimum": 0, "maximum": 1000}
        found.append({"name": name, "in": "query", "schema": shape})
    if one.keyed:
        key = {"type": "string", "minLength": 16, "maxLength": 200, "pattern": "^[!-~]+$"}
        found.append({"name": "Idempotency-Key", "in": "header", "required": True, "schema": key})
    return found


def _ref(name: str) -> dict[str, str]:
    return {"$ref": COMPONENT.format(name=name)}


def _list(of: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(of)}


def _content(text: str, kind: str, shape: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {kind: {"schema": shape}}}


def _questions() -> dict[str, Any]:
    """Return the questions as this server takes them: bounds may be left to the owner."""
    whole = question.schema(QUESTIONS)
    found = {f"question-{kind}": _taken(facts) for kind, facts in whole["$defs"].items()}
    one = {"oneOf": [_ref(name) for name in found]}
    listed = {**_list("Question"), "minItems": 1, "maxItems": MOST_QUESTIONS}
    several: dict[str, Any] = {
        "type": "object",
        "required": ["questions"],
        "properties": {"questions": listed},
        "additionalProperties": False,
    }
    total = {"epsilon": NUMBER, "delta": NUMBER}
    planned = {**several, "properties": {**several["properties"], **total}}
    return {
        **found,
        "Question": one,
        "ReleaseRequest": {"anyOf": [_ref("Question"), several]},
        "PlanRequest": {"anyOf": [_ref("Question"), planned]},
    }


def _taken(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a question here: what a session fixes is left out, limits are said."""
    own = {
        name: shape
        for name, shape in facts["properties"].items()
        if name not in ("read", "lookup", "tables", "relation", "unit", "rows")
    }
    limits = {"q": {"maxItems": MOST_QUANTILES}, "bins": {"maximum": MOST_BINS}}
    for name, limit in limits.items():
        if name in own:
            own[name] = {**own[name], **limit}
    left = [name for name in facts["required"] if name not in ("bounds", "categories")]
    return {**facts, "properties": own, "required": left}


def _answers() -> dict[str, Any]:
    release = {"number": WHOLE, "count": WHOLE, "state": TEXT, "line": WHOLE, "head": TEXT}
    told = {"number": WHOLE, "team": TEXT, "leads": FLAG, "bits": NUMBER}
    answer: dict[str, Any] = {
        "value": {}, "cost": _ref("Cost"), "mechanism": TEXT, "question": OBJECT, "drawn": OBJECT,
        "caveats": {"type": "array", "items": TEXT},
    }  # fmt: skip
    shapes: dict[str, dict[str, Any]] = {
        "Problem": {"type": TEXT, "title": TEXT, "status": WHOLE, "detail": TEXT},
        "Facts": {},
        "Person": {"name": TEXT, "role": TEXT},
        "FileColumn": {"name": TEXT, "type": {"type": ["string", "null"]}},
        "NewTokenMade": {"token": TEXT, "sha256": TEXT, "days": WHOLE},
        "Dataset": {
            **dict.fromkeys(("name", "title", "description", "state", "total"), TEXT),
            "share": NUMBER,
        },
        "Grant": {"analyst": TEXT, "epsilon": EXACT, "spent": EXACT, "remaining": EXACT},
        "Plan": {"epsilon": EXACT, "fits": FLAG},
        "CanRelease": {"fits": FLAG, "reason": TEXT},
        "Curve": {"points": {"type": "array", "items": {"type": "array"}}},
        "Interval": {"confidence": NUMBER, "ends": {"type": ["array", "object"]}},
        "Release": {**release, "answers": _list("Answer")},
        "History": {"charges": OBJECTS},
        "Survey": {"name": TEXT, "title": TEXT, "state": TEXT, "questions": WHOLE},
        "SurveyCheck": {"document": OBJECT, "problems": {"type": "array"}},
        "SurveyResults": {"survey": TEXT, "state": TEXT, "people": WHOLE},
        "Check": {"sound": FLAG, "line": WHOLE, "head": TEXT},
        "Guard": {"name": TEXT, "state": TEXT, "n": WHOLE, "bits": NUMBER, "share": NUMBER},
        "TeamGrant": {"team": TEXT, "submissions": WHOLE, "sent": WHOLE, "remaining": WHOLE},
        "Submission": {**told, "line": WHOLE, "head": TEXT},
        "Submissions": {"submissions": OBJECTS},
        "Leaderboard": {"step": EXACT, "confidence": NUMBER, "teams": OBJECTS},
        "Cost": {"epsilon": EXACT, "delta": EXACT, "relation": TEXT, "decimal": _ref("Decimal")},
        "Decimal": {"epsilon": {"type": ["number", "null"]}, "delta": NUMBER},
    }
    lists = {
        "Guards": "Guard", "TeamGrants": "TeamGrant", "Datasets": "Dataset", "Grants": "Grant",
        "Tokens": "Facts", "People": "Person", "FileColumns": "FileColumn", "Surveys": "Survey",
    }  # fmt: skip
    text = "The released value; the interval is omitted for values that are not numbers."
    return {
        **{
            name: {"type": "object", "required": list(shape), "properties": shape}
            for name, shape in shapes.items()
        },
        "Answer": {
            "type": "object",
            "description": text,
            "required": list(answer),
            "properties": {**answer, "interval": _ref("Interval")},
        },
        **{name: _list(of) for name, of in lists.items()},
    }


# ---- The API described for one data set: its columns, its groups, and what may be asked of them --
#
# The general description leaves open what columns there are. This one names them, and leaves out
# what the owner says already: bounds, steps, keys. It is narrower than what is taken: whoever draws
# a question from it, such as a generator of clients or of tests, draws one that makes sense here.


OWNERS = (
    "bounds", "step", "steps", "keys", "categories", "n", "error", "confidence", "delta", "rho",
)  # fmt: skip
"""What the owner says, and what is rarely said beside epsilon."""
PART = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
ORDER = {"type": "number", "minimum": 0, "maximum": 1}
RANGES: dict[str, dict[str, Any]] = {
    "epsilon": {"type": "number", "minimum": 1e-6, "maximum": 1},
    "interval": PART,
    "bins": {"type": "integer", "minimum": 1, "maximum": MOST_BINS},
}
OF_DELTA = ("gaussian",)
"""Methods that need a delta."""


def dataset_document(operations: tuple[Operation, ...], dataset: Dataset) -> dict[str, Any]:
    """Return the description of what may be done with one data set, whose owner named columns."""
    whole = deepcopy(document(operations))
    below = f"{PREFIX}/datasets/{{dataset}}"
    paths = {path: facts for path, facts in whole["paths"].items() if path.startswith(below)}
    for one in (one for facts in paths.values() for one in facts.values()):
        for parameter in one["parameters"]:
            if parameter["name"] == "dataset":
                parameter["schema"] = {"enum": [dataset.name]}
    schemas = whole["components"]["schemas"]
    kept = {name: facts for name, facts in schemas.items() if not name.startswith("question-")}
    questions = _dataset_questions(schemas, dataset)
    refs = [_ref(name) for name in questions]
    whole["components"]["schemas"] = {**kept, **questions, "Question": {"oneOf": refs}}
    return {**whole, "paths": paths}


def _dataset_questions(schemas: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    columns = stored_columns(dataset.columns)
    numbers = [name for name, facts in columns.items() if "bounds" in facts]
    choices = [name for name, facts in columns.items() if "keys" in facts]
    found: dict[str, Any] = {}
    for name, facts in schemas.items():
        if not name.startswith("question-"):
            continue
        own = facts["properties"]
        if name == "question-histogram":
            found[f"{name}-of-numbers"] = _narrowed(facts, numbers, choices, needs=("bins",))
            found[name] = _narrowed(facts, choices, choices, without=("bins",))
        elif "bounds" in own and "of" not in own:
            found[name] = _narrowed(facts, numbers, choices)
        elif "categories" in own or "category" in own:
            known = [key for one in choices for key in columns[one]["keys"]]
            found[name] = _narrowed(facts, choices, choices, known=known)
        elif "columns" not in own:
            found[name] = _narrowed(facts, numbers, choices)
    return {name: facts for name, facts in found.items() if facts is not None}


def _narrowed(
    facts: dict[str, Any],
    columns: Sequence[str],
    choices: Sequence[str],
    *,
    known: Sequence[Any] = (),
    needs: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
) -> dict[str, Any] | None:
    """Return a question of some columns, in groups of others; None where there are no such."""
    absent = {*OWNERS, *without, *(() if choices else ("by", "other"))}
    own = {name: shape for name, shape in facts["properties"].items() if name not in absent}
    if "column" in own or "of" in own:
        if not columns:
            return None
        own |= {"column": {"enum": list(columns)}} if "column" in own else {"of": _of(own, columns)}
    own |= {name: shape for name, shape in RANGES.items() if name in own}
    if "by" in own:
        own["by"] = {"enum": list(choices)}
    if "q" in own:
        many = {"type": "array", "items": ORDER, "minItems": 1, "maxItems": MOST_QUANTILES}
        own["q"] = ORDER if facts["title"] == "quantile" else {**many, "uniqueItems": True}
    if "category" in own:
        own["category"] = {"enum": list(dict.fromkeys(known))}
    if "method" in own:
        own["method"] = {"enum": [one for one in own["method"]["enum"] if one not in OF_DELTA]}
    asked = {"column", "category", "epsilon", *needs} & set(own)
    required = [*(name for name in facts["required"] if name in own), *sorted(asked)]
    rest = {name: value for name, value in facts.items() if name != "oneOf"}
    groups = {"dependentRequired": {"other": ["by"]}} if "other" in own else {}
    return {**rest, "properties": own, "required": list(dict.fromkeys(required)), **groups}


def _of(own: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    shape = {**own["of"]["additionalProperties"], "uniqueItems": True}
    asked = {**dict.fromkeys(columns, shape), "*": {"const": ["count"]}}
    return {**own["of"], "properties": asked, "additionalProperties": False}
