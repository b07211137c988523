"""The columns of groups and their keys: what may be typed, and how one fits the other.

==================================================  ===============================================
``by="sex", keys=["f", "m"]``                       one column, its keys
``by=["sex", "age"], keys=[("f", 30), ("m", 31)]``  several columns, a tuple of values for each key
``keys={"sex": ["f", "m"], "age": [30, 31]}``       all combinations of these values
``keys="unknown"``                                  those that many records have, found privately
==================================================  ===============================================
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.question.converters import flag, listed, name
from sourdine.tally.number_or_text import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OTHER", "UNKNOWN", "by", "columns", "keys", "matched", "other"]

UNKNOWN = "unknown"
"""The word for keys that nobody can list."""
OTHER = "other"
"""The key of the rows that have no other key."""
MOST = 1_000_000
"""As many groups can be listed."""
EXAMPLE = ["a", "b"]


def by(x: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """Return the column of groups, or several columns.

    Examples
    --------
    >>> by("sex"), by(["sex"]), by(["sex", "education"])
    ('sex', 'sex', ('sex', 'education'))
    """
    if x is None or isinstance(x, str) or not isinstance(x, (list, tuple)):
        return name(x, "by", "region")
    columns = tuple(str(name(part, "by", "region") or "") for part in x)
    if not all(columns) or len(set(columns)) < len(columns):
        raise ParameterError(
            "by",
            "be columns' names, each once",
            "none" if not columns else "one that is none, or one twice",
            "Type {by}.",
            by=["sex", "region"],
        )
    if not columns:
        raise ParameterError("by", "name a column", "none", "Type {by}.", by="region")
    return columns[0] if len(columns) == 1 else columns


def columns(x: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the columns of groups, none if there are no groups."""
    return () if x is None else (x,) if isinstance(x, str) else x


def keys(x: Sequence[Any] | Mapping[str, Sequence[Any]] | str | None) -> Any:  # noqa: ANN401
    """Return the keys as far as they can be read without the columns: see `matched`."""
    if isinstance(x, str) and x == UNKNOWN:
        return UNKNOWN
    if isinstance(x, Mapping):
        return {str(column): listed(values, "keys", EXAMPLE) for column, values in x.items()}
    if isinstance(x, (list, tuple)) and x and all(isinstance(key, (list, tuple)) for key in x):
        return tuple(tuple(_plain(part) for part in key) for key in x)
    return listed(x, "keys", EXAMPLE)


def other(x: bool) -> bool:  # noqa: FBT001
    """Return whether rows of no key are a group of their own."""
    return flag(x, "other")


def matched(by: str | tuple[str, ...], keys: Any) -> tuple[Any, ...] | str:  # noqa: ANN401
    """Return the keys as columns need them: values of one, tuples of several.

    Examples
    --------
    >>> matched(("sex", "age"), {"sex": ("f", "m"), "age": (30,)})
    (('f', 30), ('m', 30))
    """
    names = columns(by)
    if isinstance(keys, str):
        return keys
    if isinstance(keys, dict):
        keys = _product(names, keys)
    pairs = any(isinstance(key, tuple) for key in keys)
    if len(names) == 1:
        if not pairs:
            return tuple(keys)
        raise ParameterError(
            "keys", "hold single values for one column", "tuples", "Type {keys}.", keys=EXAMPLE
        )
    if not all(isinstance(key, tuple) and len(key) == len(names) for key in keys):
        raise ParameterError(
            "keys",
            f"hold a value of each of {len(names)} columns",
            "others",
            "Type {keys} for all combinations.",
            keys=dict.fromkeys(names, EXAMPLE),
        )
    texts = [tuple(map(read_text, key)) for key in keys]
    if len(set(texts)) < len(texts) or any(None in text for text in texts):
        raise ParameterError(
            "keys",
            "hold texts, numbers or dates, each combination once",
            "two that are the same texts, or one that is missing",
            "Type {keys} for all combinations.",
            keys=dict.fromkeys(names, EXAMPLE),
        )
    return tuple(keys)


def _product(names: tuple[str, ...], values: dict[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return all combinations of the values of each column."""
    if set(values) != set(names):
        raise ParameterError(
            "keys",
            f"have values of {', '.join(map(repr, names))} and of no other column",
            f"those of {', '.join(map(repr, values)) or 'none'}",
            "Type {keys}.",
            keys=dict.fromkeys(names, EXAMPLE) if len(names) > 1 else EXAMPLE,
        )
    if np.prod([float(len(values[column])) for column in names]) > MOST:
        raise ParameterError(
            "keys",
            f"be at most {MOST} combinations",
            "more",
            "List those that may occur, or type {keys}.",
            keys=dict.fromkeys(names, EXAMPLE),
        )
    every = tuple(product(*(values[column] for column in names)))
    return tuple(key[0] for key in every) if len(names) == 1 else every


def require_apart(keys: tuple[Any, ...] | str | None) -> None:
    """Refuse a listed key that is written like the key of all other rows."""
    if isinstance(keys, str) or keys is None:
        return
    if any(read_text(part) == OTHER for key in keys for part in _parts(key)):
        raise ParameterError(
            "other",
            f"be left out where a key is called {OTHER!r}",
            "both",
            "Leave {other} out.",
            other=LEFT_OUT,
        )


def _parts(key: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return key if isinstance(key, tuple) else (key,)


def _plain(part: Any) -> Any:  # noqa: ANN401
    value = part.item() if isinstance(part, np.generic) else part
    if isinstance(value, (list, tuple, dict, set)):
        raise ParameterTypeError(
            "keys", "hold texts, numbers or dates", given(part), "Type {keys}.", keys=EXAMPLE
        )
    return value
