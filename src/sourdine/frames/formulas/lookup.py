"""Public tables whose columns are looked up by a key."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import given
from sourdine.frames.engine import listed_columns
from sourdine.frames.formulas.tree import Formula, Type
from sourdine.frames.formulas.types import ColumnTypes, text_of_column, type_of
from sourdine.frames.reading import read_number, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.frames.engine import Engine
    from sourdine.frames.memory import Column

    Lookup = tuple[str, str, Engine]


MOST = 100_000
_INT64 = 1 << 63


def looked_up(engine: Engine, tables: Sequence[Lookup]) -> dict[str, Formula]:
    """Return the columns that public tables add, as typed steps of their keys.

    Of the private rows only the names and types of columns are read. The tables are public, so that
    messages may name their values.
    """
    found: dict[str, Formula] = {}
    for path, key, table in tables:
        if key not in engine.columns:
            raise ParameterError(
                "lookup", "join by columns of the data", given(key),
                f"{listed_columns(engine, key)} The table and the data must both have it.",
            )  # fmt: skip
        if key not in table.columns:
            raise ParameterError(
                "lookup", f"join by a column that {path!r} has", given(key),
                f"Its columns are: {', '.join(map(repr, table.columns))}.",
            )  # fmt: skip
        places = _places(table.column(key), path, key)
        types = ColumnTypes({key: type_of(engine.declared(key), key)}, engine.reading)
        by = text_of_column(key, types)
        for name in table.columns:
            if name == key:
                continue
            if name in engine.columns or name in found:
                raise ParameterError(
                    "lookup", f"add columns that the data do not have, with {path!r}", given(name),
                    "Rename the column of the table.",
                )  # fmt: skip
            values, kind = _typed(table.column(name))
            pairs = tuple((text, values[i]) for text, i in places.items() if values[i] is not None)
            found[name] = Formula("looked_up", (by,), pairs, kind)
        if (name := matched(path)) not in engine.columns:
            pairs = tuple((text, True) for text in places)
            found[name] = Formula("looked_up", (by,), pairs, Type.BOOLEAN)
    return found


def matched(path: str) -> str:
    """Return the name of the column that is true where a table has a row, and else missing.

    Examples
    --------
    >>> matched("public/regions.csv")
    'in regions'
    """
    return f"in {PurePath(path).stem}"


def _places(column: Column, path: str, key: str) -> dict[str, int]:
    """Return the row of each key; a key that is there twice is refused."""
    if len(column) > MOST:
        raise ParameterError(
            "lookup", f"name tables of at most {MOST} rows", given(path),
            "Add the columns of a larger table to the data beforehand.",
        )  # fmt: skip
    places: dict[str, int] = {}
    for i, text in enumerate(column.texts.tolist()):
        if text is None:
            continue
        if text in places:
            raise ParameterError(
                "lookup", f"name tables with one row for each {key}",
                f"{text[:40]!r} twice in {path!r}",
                "Tables are public: each of your rows finds at most one of theirs. Two tables "
                "with private rows cannot be joined, as one person would change many rows.",
            )  # fmt: skip
        places[text] = i
    return places


def _typed(column: Column) -> tuple[list[Any], Type]:
    """Return public values of one type: integers, numbers, dates or texts, whichever fits all."""
    texts = column.texts.tolist()
    there = [text for text in texts if text is not None]

    def each(read: Callable[[str], Any]) -> list[Any]:
        return [None if text is None else read(text) for text in texts]

    numbers = [read_number(text) for text in there]
    if there and all(isinstance(n, int) and -_INT64 <= n < _INT64 for n in numbers):
        return each(read_number), Type.INTEGER
    if there and None not in numbers:
        return each(lambda text: float(read_number(text) or 0)), Type.FLOAT
    if there and None not in map(column.reading.instant, there):
        whole = all(len(text) == len("2024-12-31") for text in there)
        return each(column.reading.instant), Type.DATE if whole else Type.TIME
    return each(read_text), Type.TEXT
