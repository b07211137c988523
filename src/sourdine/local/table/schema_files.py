"""Schemas in TOML and JSON files.

::

    epsilon = 2
    method = "split"

    [columns.age]
    kind = "number"
    lower = 0
    upper = 120
    step = 1
    missing = true

    [columns.vote]
    kind = "choice"
    categories = ["yes", "no"]
    missing = "no answer"
    weight = 2

    [columns.media]
    kind = "choices"
    choices = ["tv", "web", "radio"]

A number that no decimal gives exactly is a text, such as ``epsilon = "1/3"``. Without ``missing``,
everybody answers a column; ``missing = "random"`` beside epsilon says otherwise for all such
columns (`Schema`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import fraction, given
from sourdine.local.table.columns import Choice, Flag, Number, plain
from sourdine.local.table.schema import Schema
from sourdine.local.table.several import Choices
from sourdine.presentation.texts import STEERING

if TYPE_CHECKING:
    from os import PathLike

    from sourdine.local.table.columns import Attribute

__all__ = ["facts", "from_facts", "read", "to_toml", "toml_value", "write"]

_KEYS = {
    "number": ("lower", "upper", "step", "method", "missing"),
    "choice": ("categories", "method", "missing"),
    "choices": ("choices", "separator", "missing"),
    "flag": ("method", "missing"),
}


LISTING: dict[str, tuple[Any, str]] = {
    "choice": (Choice, "categories"),
    "choices": (Choices, "choices"),
}
"""Columns that list what may be answered, and under which key."""


def read(path: str | PathLike[str]) -> Schema:
    """Read a schema; the file's name ends in .toml or .json."""
    file = Path(path)
    if not file.is_file():
        raise ParameterError(
            "path", "name a file that exists", repr(str(path)), "Check the name and the folder."
        )
    try:
        text = file.read_text(encoding="utf-8")
        found = json.loads(text) if _ending(file) == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ParameterError(
            "a schema",
            f"be a file of {_ending(file)[1:].upper()}",
            repr(str(path)),
            f"Correct it: {error}.",
        ) from None
    return from_facts(found)


def write(schema: Schema, path: str | PathLike[str]) -> None:
    """Write a schema; the file's name ends in .toml or .json."""
    as_json = _ending(Path(path)) == ".json"
    written = json.dumps(facts(schema), indent=2, ensure_ascii=False) + "\n"
    Path(path).write_text(written if as_json else to_toml(schema), encoding="utf-8")


def facts(schema: Schema) -> dict[str, Any]:
    """Return a schema as JSON and TOML know it.

    Examples
    --------
    >>> facts(Schema(smokes=Flag(), epsilon=0.5))
    {'epsilon': 0.5, 'method': 'split', 'columns': {'smokes': {'kind': 'flag'}}}
    """
    columns = {}
    for name, column in schema.columns.items():
        weight = schema.weights[name]
        columns[name] = column.facts() | ({} if weight == 1 else {"weight": plain(weight)})
    several = {} if schema.rounds is None else {"rounds": schema.rounds}
    once = {} if schema.once is None else {"once": plain(schema.once)}
    whole = {"epsilon": plain(schema.epsilon), "method": schema.method}
    missing = {} if schema.missing is None else {"missing": schema.missing}
    return {**whole, **several, **once, **missing, "columns": columns}


def to_toml(schema: Schema) -> str:
    """Return a schema as TOML.

    Examples
    --------
    >>> print(to_toml(Schema(vote=Choice("yes", "no"), epsilon=0.5)))
    epsilon = 0.5
    method = "split"
    <BLANKLINE>
    [columns.vote]
    kind = "choice"
    categories = ["yes", "no"]
    <BLANKLINE>
    """
    whole = facts(schema)
    lines = [f"{key} = {toml_value(value)}" for key, value in whole.items() if key != "columns"]
    for name, column in whole["columns"].items():
        bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
        lines += ["", f"[columns.{name if bare else toml_value(name)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in column.items()]
    return "\n".join(lines) + "\n"


def from_facts(found: object) -> Schema:
    """Return the schema of what a file holds, or say what is wrong with it.

    Examples
    --------
    >>> from_facts({"epsilom": 1, "columns": {"smokes": {"kind": "flag"}}})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: a schema must hold known keys, got 'epsilom'. Type 'epsilon'.
    """
    keys = ("epsilon", "method", "rounds", "once", "missing", "columns")
    known = _table(found, "a schema", keys)
    for key in ("epsilon", "columns"):
        if key not in known:
            raise ParameterError("a schema", f"hold {key!r}", "none", f"Add {key!r}.")
    columns, weights = {}, {}
    for name, column in _table(known["columns"], "columns", None).items():
        own = _table(column, f"column {name!r}", None)
        if "weight" in own:
            weights[name] = _number(own.pop("weight"))
        columns[name] = _column(name, own)
    return Schema.of(
        columns,
        epsilon=_number(known["epsilon"]),
        method=known.get("method", "split"),
        weights=weights,
        rounds=known.get("rounds"),
        once=None if "once" not in known else _number(known["once"]),
        missing=known.get("missing"),
    )


def _column(name: str, found: dict[str, Any]) -> Attribute:
    kind = found.pop("kind", None)
    if kind is None:
        _table(
            found, f"column {name!r}", ("kind", *sorted({k for own in _KEYS.values() for k in own}))
        )
    if not isinstance(kind, str) or kind not in _KEYS:
        raise ParameterError(
            f"the kind of column {name!r}",
            "be 'number', 'choice', 'choices' or 'flag'",
            given(kind),
            'Type kind = "number".',
        )
    own = _table(found, f"column {name!r}", _KEYS[kind])
    if kind == "flag":
        return Flag(**own)
    if kind in LISTING:
        make, key = LISTING[kind]
        # to tick nothing is an answer, so a column of several choices always allows for absence
        if kind == "choices" and own.pop("missing", True) is not True:
            raise ParameterError(
                f"missing of column {name!r}", "be true or left out", "another", "Leave it out."
            )
        listed = own.pop(key, ())
        if not isinstance(listed, list):
            raise ParameterError(
                f"the {key} of column {name!r}",
                "be a list",
                given(listed),
                f'Type {key} = ["yes", "no"].',
            )
        column: Attribute = make(*listed, **own)
        return column
    for key in ("lower", "upper"):
        if key not in own:
            raise ParameterError(
                f"column {name!r}", "have public bounds", f"no {key!r}", f"Type {key} = 0."
            )
    return Number(**{k: _number(v) if k in _KEYS["number"][:3] else v for k, v in own.items()})


def _table(found: object, what: str, keys: tuple[str, ...] | None) -> dict[str, Any]:
    """Return a table of known keys."""
    if not isinstance(found, Mapping):
        raise ParameterError(what, "be a table", given(found), "Type [columns.age].")
    for key in found:
        if keys is not None and key not in keys:
            near = get_close_matches(str(key), keys, 1, 0.0)
            raise ParameterError(what, "hold known keys", repr(key), f"Type {(near or keys)[0]!r}.")
    return dict(found)


def _number(value: Any) -> Any:  # noqa: ANN401
    """Return a number; a text such as "1/3" is one."""
    try:
        return fraction(value) if isinstance(value, str) else value
    except (ValueError, ZeroDivisionError):
        return value


def toml_value(value: object) -> str:
    """Write a value as TOML; of texts, JSON's form is one of TOML's."""
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return STEERING.sub(lambda found: f"\\U{ord(found[0]):08x}", text)
    return json.dumps(value)


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in {".toml", ".json"}:
        raise ParameterError("path", "end in .toml or .json", repr(str(path)), "Rename the file.")
    return ending
