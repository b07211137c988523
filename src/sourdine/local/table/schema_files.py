"""Schemas in TOML and JSON files.

::

    epsilon = 2
    strategy = "split"

    [columns.age]
    kind = "number"
    lower = 0
    upper = 120
    step = 1

    [columns.vote]
    kind = "choice"
    categories = ["yes", "no"]
    weight = 2

A number that no decimal gives exactly is a text, as ``epsilon = "1/3"``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.local.table.columns import Choice, Flag, Number, plain
from sourdine.local.table.schema import Schema

if TYPE_CHECKING:
    from os import PathLike

    from sourdine.local.table.columns import Attribute

__all__ = ["facts", "from_facts", "read", "to_toml", "write"]

_KEYS = {
    "number": ("lower", "upper", "step", "by", "missing"),
    "choice": ("categories", "by", "missing"),
    "flag": ("by", "missing"),
}


def read(path: str | PathLike[str]) -> Schema:
    """Read a schema; the file's name ends in .toml or .json."""
    file = Path(path)
    if not file.is_file():
        raise ParameterError(
            f"path must name a file that exists, got {str(path)!r}. Check the name and the folder."
        )
    try:
        text = file.read_text(encoding="utf-8")
        given = json.loads(text) if _ending(file) == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ParameterError(
            f"a schema must be a file of {_ending(file)[1:].upper()}, got {str(path)!r}: {error}. "
            f"Mend the line."
        ) from None
    return from_facts(given)


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
    {'epsilon': 0.5, 'strategy': 'split', 'columns': {'smokes': {'kind': 'flag'}}}
    """
    columns = {}
    for name, column in schema.columns.items():
        weight = schema.weights[name]
        columns[name] = column.facts() | ({} if weight == 1 else {"weight": plain(weight)})
    return {"epsilon": plain(schema.epsilon), "strategy": schema.strategy, "columns": columns}


def to_toml(schema: Schema) -> str:
    """Return a schema as TOML.

    Examples
    --------
    >>> print(to_toml(Schema(vote=Choice("yes", "no"), epsilon=0.5)))
    epsilon = 0.5
    strategy = "split"
    <BLANKLINE>
    [columns.vote]
    kind = "choice"
    categories = ["yes", "no"]
    <BLANKLINE>
    """
    whole = facts(schema)
    lines = [f"{key} = {_toml(whole[key])}" for key in ("epsilon", "strategy")]
    for name, column in whole["columns"].items():
        bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
        lines += ["", f"[columns.{name if bare else _toml(name)}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in column.items()]
    return "\n".join(lines) + "\n"


def from_facts(given: object) -> Schema:
    """Return the schema of what a file holds, or say what is wrong with it.

    Examples
    --------
    >>> from_facts({"epsilom": 1, "columns": {"smokes": {"kind": "flag"}}})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: a schema must hold known keys, got 'epsilom'. Type 'epsilon'.
    """
    known = _table(given, "a schema", ("epsilon", "strategy", "columns"))
    for key in ("epsilon", "columns"):
        if key not in known:
            raise ParameterError(f"a schema must hold {key}, got none. Add {key!r}.")
    columns, weights = {}, {}
    for name, column in _table(known["columns"], "columns", None).items():
        own = _table(column, f"column {name!r}", None)
        if "weight" in own:
            weights[name] = _number(own.pop("weight"))
        columns[name] = _column(name, own)
    return Schema.of(
        columns,
        epsilon=_number(known["epsilon"]),
        strategy=known.get("strategy", "split"),
        weights=weights,
    )


def _column(name: str, given: dict[str, Any]) -> Attribute:
    kind = given.pop("kind", None)
    if kind is None:
        _table(
            given, f"column {name!r}", ("kind", *sorted({k for own in _KEYS.values() for k in own}))
        )
    if kind not in _KEYS:
        raise ParameterError(
            f"the kind of column {name!r} must be 'number', 'choice' or 'flag', got {kind!r}. "
            f'Type kind = "number".'
        )
    own = _table(given, f"column {name!r}", _KEYS[kind])
    if kind == "flag":
        return Flag(**own)
    if kind == "choice":
        categories = own.pop("categories", ())
        if not isinstance(categories, list):
            raise ParameterError(
                f"the categories of column {name!r} must be a list, got something else. "
                f'Type categories = ["yes", "no"].'
            )
        return Choice(*categories, **own)
    for key in ("lower", "upper"):
        if key not in own:
            raise ParameterError(
                f"column {name!r} must have public bounds, got no {key!r}. Type {key} = 0."
            )
    return Number(**{k: _number(v) if k in _KEYS["number"][:3] else v for k, v in own.items()})


def _table(given: object, what: str, keys: tuple[str, ...] | None) -> dict[str, Any]:
    """Return a table of known keys."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{what} must be a table, got something else. Type [columns.age].")
    for key in given:
        if keys is not None and key not in keys:
            near = get_close_matches(str(key), keys, 1, 0.0)
            raise ParameterError(
                f"{what} must hold known keys, got {key!r}. Type {(near or keys)[0]!r}."
            )
    return dict(given)


def _number(value: Any) -> Any:  # noqa: ANN401
    """Return a number; a text as "1/3" is one."""
    try:
        return Fraction(value) if isinstance(value, str) else value
    except (ValueError, ZeroDivisionError):
        return value


def _toml(value: object) -> str:
    """Write a value as TOML; of texts, JSON's form is one of TOML's."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in {".toml", ".json"}:
        raise ParameterError(
            f"path must end in .toml or .json, got {str(path)!r}. Rename the file."
        )
    return ending
