"""What is public about columns: the owner's bounds, steps and keys, which no analyst types.

A question that leaves them out gets them here, before it is read; one that says other ones is
refused. Columns that the owner did not list cannot be asked, unless none is listed: then analysts
say bounds and keys themselves, as in a session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sourdine import question
from sourdine.central import Count, Mean
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import given
from sourdine.question.question import plain_parameter

__all__ = ["PublicColumns", "completed", "read_columns", "stored_columns"]

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
        raise ParameterTypeError(
            "columns",
            "be an object of objects, one for each column",
            given(said),
            'Write such as {"age": {"bounds": [0, 120], "step": 1}, "sex": {"keys": ["f", "m"]}}.',
        )
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
            raise ParameterError(
                "columns",
                f"have nothing but {', '.join(KNOWN)}",
                f"{given(known)} of {given(name)}",
                "Leave it out.",
            )
    numbers = {key: facts[key] for key in ("bounds", "step") if facts.get(key) is not None}
    found: dict[str, Any] = {}
    if numbers:
        mean = question.read(Mean, {"column": name, "epsilon": 1, **numbers})
        found |= {key: plain_parameter(getattr(mean, key)) for key in numbers}
    if facts.get("keys") is not None:
        count = question.read(Count, {"by": name, "keys": facts["keys"], "epsilon": 1})
        found["keys"] = plain_parameter(count.to_dict()["keys"])
    if facts.get("text"):
        found["text"] = str(facts["text"])
    return found


def completed(asked: Mapping[str, Any], takes: set[str], columns: PublicColumns) -> dict[str, Any]:
    """Return a question with what the owner says of its columns; or refuse it.

    Parameters
    ----------
    asked
        The question, as JSON holds it.
    takes
        The parameters that its statistic has.
    columns
        What the owner says.
    """
    said = dict(asked)
    if not columns:
        return said
    if "column" in takes and "column" not in said and len(columns) == 1 and "bounds" in takes:
        said["column"] = next(iter(columns))
    for name in ("column", "by"):
        for column in _listed(said.get(name), columns):
            _known(column, columns, name)
    own = _of_column(said, takes, columns) | _of_groups(said, columns) | _of_table(said, columns)
    if "columns" in takes:
        own_names = said.setdefault("columns", list(columns))
        for column in _listed(own_names, columns):
            _known(column, columns, "columns")
    for name, value in own.items():
        if name in said and plain_parameter(said[name]) != value:
            raise ParameterError(
                name,
                "be left to the owner of the data, who said it",
                "another one",
                f"Leave {{{name}}} out.",
                **{name: LEFT_OUT},
            )
    return {**said, **own}


def _of_column(said: Mapping[str, Any], takes: set[str], columns: PublicColumns) -> dict[str, Any]:
    column = said.get("column")
    if not isinstance(column, str) or "of" in takes:
        return {}
    facts = columns[column]
    own: dict[str, Any] = {
        name: facts[name] for name in ("bounds", "step") if name in facts and name in takes
    }
    bins = said.get("bins")
    if isinstance(bins, list) or (isinstance(bins, str) and not bins.strip().isdecimal()):
        own.pop("bounds", None)  # edges say it themselves
    if "categories" in takes and "keys" in facts and "bins" not in said:
        own["categories"] = facts["keys"]
    return own


def _of_groups(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    by = said.get("by")
    keys = {name: columns[name].get("keys") for name in _listed(by, columns)}
    if not keys or not all(keys.values()):
        return {}
    return {"keys": keys if isinstance(by, list) and len(by) > 1 else next(iter(keys.values()))}


def _of_table(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    """Return bounds and steps of a table, for the columns that it is of."""
    of = said.get("of")
    if not isinstance(of, Mapping):
        return {}
    names = [name for name in of if name != "*"]
    for name in names:
        _known(name, columns, "of")
    parts = {"bounds": "bounds", "steps": "step"}
    own = {
        many: {name: columns[name][one] for name in names if one in columns[name]}
        for many, one in parts.items()
    }
    return {many: values for many, values in own.items() if values}


def _listed(names: object, columns: PublicColumns) -> list[str]:
    if isinstance(names, str):
        if names in columns:
            return [names]
        return [name.strip() for name in names.split(",")]
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _known(name: str, columns: PublicColumns, parameter: str) -> None:
    if name not in columns:
        raise ParameterError(
            parameter,
            f"be of the columns that may be asked: {', '.join(columns)[:200]}",
            given(name),
            f"Type {{{parameter}}}.",
            **{parameter: next(iter(columns))},
        )


def stored_columns(text: str) -> PublicColumns:
    """Return the columns that a store keeps as JSON."""
    found: PublicColumns = json.loads(text)
    return found
