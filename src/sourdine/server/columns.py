"""What is public about columns: the owner's bounds, steps and keys, which no analyst types.

A question that leaves them out gets them here, before it is read; one that says other ones is
refused. Columns that the owner did not list cannot be asked, unless none is listed: then analysts
say bounds and keys themselves, as in a session. That is decided by the question as it was read,
however its columns were spelled, and the others are not even in the session's data.

*Claim*: a column that is not listed is never read. *Checked by*
``test_columns_that_are_not_listed_are_never_read``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourdine import question
from sourdine.central import Count, Mean
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import given
from sourdine.question import kinds
from sourdine.question.question import plain_parameter

if TYPE_CHECKING:
    from sourdine.central import Statistic

__all__ = ["PublicColumns", "completed", "read_columns", "require_listed", "stored_columns"]

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
    for name in ("column", "by"):  # said first, before what else such a question lacks
        typed = said.get(name)
        for column in typed if isinstance(typed, list) else [typed]:
            if isinstance(column, str):
                _require_known(name, column, columns)
    own = _of_column(said, takes, columns) | _of_groups(said, columns) | _of_table(said, columns)
    if "columns" in takes:
        said.setdefault("columns", list(columns))
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
    facts = columns.get(column, {})
    own: dict[str, Any] = {
        name: facts[name] for name in ("bounds", "step") if name in facts and name in takes
    }
    if isinstance(kinds.BINS.parse(said.get("bins")), (list, tuple)):
        own.pop("bounds", None)  # edges say it themselves
    if "categories" in takes and "keys" in facts and "bins" not in said:
        own["categories"] = facts["keys"]
    return own


def _of_groups(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    by = said.get("by")
    names = [by] if isinstance(by, str) else by if isinstance(by, list) else []
    keys = {str(name): columns.get(str(name), {}).get("keys") for name in names}
    if not keys or not all(keys.values()):
        return {}
    return {"keys": keys if isinstance(by, list) and len(by) > 1 else next(iter(keys.values()))}


def _of_table(said: Mapping[str, Any], columns: PublicColumns) -> dict[str, Any]:
    """Return bounds and steps of a table, for the columns that it is of."""
    of = said.get("of")
    if not isinstance(of, Mapping):
        return {}
    names = [name for name in of if name in columns]
    parts = {"bounds": "bounds", "steps": "step"}
    own = {
        many: {name: columns[name][one] for name in names if one in columns[name]}
        for many, one in parts.items()
    }
    return {many: values for many, values in own.items() if values}


def require_listed(question: Statistic, columns: PublicColumns) -> None:
    """Refuse a question about a column that the owner did not list, if any are listed."""
    for parameter, column in question.asks_about():
        if columns and column is not None:
            _require_known(parameter, column, columns)


def _require_known(parameter: str, column: str, columns: PublicColumns) -> None:
    if column not in columns:
        raise ParameterError(
            parameter,
            f"be of the columns that may be asked: {', '.join(columns)[:200]}",
            given(column),
            f"Type {{{parameter}}}.",
            **{parameter: next(iter(columns))},
        )


def stored_columns(text: str) -> PublicColumns:
    """Return the columns that a store keeps as JSON."""
    found: PublicColumns = json.loads(text)
    return found
