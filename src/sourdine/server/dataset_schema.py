"""The API described for one data set: its columns, its groups, and what may be asked of them.

The general description leaves open what columns there are. This one names them, and leaves out what
the owner says already: bounds, steps, keys. It is narrower than what is taken: whoever draws a
question from it, such as a generator of clients or of tests, draws one that makes sense here.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from sourdine.server.columns import stored_columns
from sourdine.server.limits import MOST_BINS, MOST_QUANTILES
from sourdine.server.openapi import COMPONENT, PREFIX, document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.server.incoming import Operation
    from sourdine.server.store import Dataset

__all__ = ["dataset_document"]

OWNERS = ("bounds", "step", "steps", "keys", "categories", "n", "error", "confidence", "delta")
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
    """Return the description of what may be done with one data set.

    Parameters
    ----------
    operations
        All operations of the API.
    dataset
        The data set, whose owner named its columns.
    """
    whole = deepcopy(document(operations))
    below = f"{PREFIX}/datasets/{{dataset}}"
    paths = {path: facts for path, facts in whole["paths"].items() if path.startswith(below)}
    for one in (one for facts in paths.values() for one in facts.values()):
        for parameter in one["parameters"]:
            if parameter["name"] == "dataset":
                parameter["schema"] = {"enum": [dataset.name]}
    schemas = whole["components"]["schemas"]
    kept = {name: facts for name, facts in schemas.items() if not name.startswith("question-")}
    questions = _questions(schemas, dataset)
    refs = [{"$ref": COMPONENT.format(name=name)} for name in questions]
    whole["components"]["schemas"] = {**kept, **questions, "Question": {"oneOf": refs}}
    return {**whole, "paths": paths}


def _questions(schemas: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
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


def _narrowed(  # noqa: PLR0913 - a question and what is known of columns
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
    records = {"const": ["count"]}
    asked = {**dict.fromkeys(columns, shape), "*": records}
    return {**own["of"], "properties": asked, "additionalProperties": False}
