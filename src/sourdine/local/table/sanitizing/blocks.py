"""Records to reports, block by block: the one place where a table is randomised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.grid import MISSING
from sourdine.local.table.answers import demand_answers
from sourdine.tally import Frame
from sourdine.tally.absent import listed_columns
from sourdine.tally.column import DATES, NUMBERS, WORDS
from sourdine.tally.types import NESTED, OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.table.columns import Attribute, Use
    from sourdine.local.table.part import ColumnPart
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source

    Parts = Mapping[str, ColumnPart]

__all__ = [
    "ROWS",
    "Block",
    "demand_missing",
    "demand_types",
    "matched",
    "randomised",
    "randomised_block",
    "shown_block",
]

ROWS = 1 << 17
"""How many records are randomised at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The reports of some records.

    Parameters
    ----------
    rows
        How many records.
    reports
        For each column one report of each person who was asked, in the order of the records.
    asked
        For each person the number of the one column asked for; None if all are.
    """

    rows: int
    reports: dict[str, NDArray[Any]]
    asked: NDArray[np.int64] | None

    def people(self, name: str) -> NDArray[np.int64]:
        """Return which records the reports of a column are of."""
        if self.asked is None:
            return np.arange(self.rows)
        return np.flatnonzero(self.asked == list(self.reports).index(name))


def randomised(schema: Schema, frame: object, *, use: Use, source: Source) -> Iterator[Block]:
    """Yield the reports of all records, in their order.

    Parameters
    ----------
    schema
        Columns and epsilon. Other columns of the frame are not read.
    frame
        Anything that `sourdine.tally.Frame` takes; on a person's own device, their answers by name.
    use
        ``"report"`` for mechanisms that estimate best, ``"table"`` for those of `sanitize`.
    source
        Where the random bits come from.

    Examples
    --------
    >>> from sourdine.local.table import Flag, Schema
    >>> asked = {"smokes": Flag(missing=True), "drinks": Flag(missing=True)}
    >>> schema = Schema.of(asked, epsilon=1, method="sample")
    >>> rows = {"smokes": [True] * 5, "drinks": [False] * 5}
    >>> block = next(schema.randomised(rows))
    >>> sum(len(reports) for reports in block.reports.values())
    5
    """
    if isinstance(frame, Mapping) and all(_single(value) for value in frame.values()):
        demand_answers(schema, frame)
        frame = {name: [value] for name, value in frame.items()}
    else:
        demand_missing(schema)
    data = matched(schema, Frame(frame), drop=None)
    demand_types(schema, data, readable=False)
    parts = schema.parts(use)
    for slots in data.codes(*(part.cell for part in parts.values()), chunk=ROWS):
        yield randomised_block(schema, parts, slots, source)


def _single(value: object) -> bool:
    """Return whether a value is one answer, not a column of them."""
    return value is None or isinstance(value, str) or not hasattr(value, "__iter__")


def demand_missing(schema: Schema) -> None:
    """Refuse a table unless the schema says what becomes of absent answers to every column.

    Any cell of a table may be empty, unreadable or not listed, and whether one is must not be told:
    so it is the schema that is refused, before anything is read.
    """
    for name in schema.undeclared:
        raise ParameterError(
            "missing",
            "be declared for every column of a table, whose cells may be empty",
            f"none for {name!r}",
            f"To estimate how many did not answer type {_declared(schema.columns[name])} in the "
            "schema; to replace each by a random answer, which biases estimates, type {missing} in "
            "the schema.",
            missing="random",
        )


def demand_types(schema: Schema, data: Frame, *, readable: bool = True) -> None:
    """Refuse a table with a column whose declared type cannot hold what the schema says.

    Types are public; what declares none, such as a text file, is read value by value.

    Parameters
    ----------
    schema
        The columns.
    data
        A table that has them.
    readable
        Whether the caller has a parameter that says how text is read.
    """
    for name, column in schema.columns.items():
        declared = data.declared(name)
        if declared is None:
            continue
        if column.kind == "number":
            what, fits = "numbers", declared.fits(NUMBERS, data.reading)
        elif column.kind == "flag":
            what, fits = "true or false", declared.holds not in {DATES, NESTED, OTHER}
        else:
            several = column.kind == "choices"
            what = "texts such as 'a;b'" if several else "single values"
            fits = declared.holds != NESTED
        if fits:
            continue
        written = readable and declared.holds == WORDS
        otherwise = f"; or, if its texts are {what}, type {{read}}" if written else ""
        raise ParameterError(
            "frame",
            f"hold {what} in {name!r}, a {type(column).__name__} of the schema",
            f"type {declared.dtype}",
            f"Convert the column to {what}{otherwise}.",
            **({"read": {"decimal": "."}} if written else {}),
        )


def _declared(column: Attribute) -> str:
    """Return how a column declares that answers may be absent."""
    named = "'no answer'" if column.kind == "choice" else "True"
    return f"{type(column).__name__}(..., missing={named})"


def randomised_block(
    schema: Schema, parts: Parts, slots: Sequence[NDArray[np.int64]], source: Source
) -> Block:
    """Draw the reports of one block; under ``"sample"`` first whom to ask what."""
    n = len(slots[0])
    if schema.method == "split":
        drawn = {k: p.reports(s, source) for (k, p), s in zip(parts.items(), slots, strict=True)}
        return Block(rows=n, reports=drawn, asked=None)
    asked = noise.categorical(list(schema.weights.values()), n, source=source)
    drawn = {
        name: part.reports(column[asked == j], source)
        for j, ((name, part), column) in enumerate(zip(parts.items(), slots, strict=True))
    }
    return Block(rows=n, reports=drawn, asked=asked)


def shown_block(
    schema: Schema, parts: Parts, slots: Sequence[NDArray[np.int64]], source: Source
) -> list[NDArray[np.int64]]:
    """Return the reports of a block as a table shows them, `MISSING` for a blank."""
    block = randomised_block(schema, parts, slots, source)
    shown = []
    for j, (name, part) in enumerate(parts.items()):
        codes = part.shown(block.reports[name])
        if block.asked is not None:
            whole = np.full(block.rows, MISSING)
            whole[block.asked == j] = codes
            codes = whole
        shown.append(codes)
    return shown


def matched(schema: Schema, frame: Frame, *, drop: Iterable[str] | None) -> Frame:
    """Return the frame if it has the schema's columns and no others; without ``drop``, any others.

    The names of columns are public.
    """
    for name in schema.columns:
        if name not in frame.columns:
            raise ParameterError(
                "frame",
                "have all columns of the schema",
                f"no {name!r}",
                listed_columns(frame, name),
            )
    if drop is None:
        return frame
    dropped = [drop] if isinstance(drop, str) else list(drop)
    for name in dropped:
        if name not in frame.columns or name in schema.columns:
            raise ParameterError(
                "drop",
                "name columns of the table that the schema has not",
                repr(name),
                "Leave {drop} out.",
                drop=LEFT_OUT,
            )
    others = [name for name in frame.columns if name not in {*schema.columns, *dropped}]
    if others:
        raise ParameterError(
            "frame",
            "have only columns that are in the schema or dropped",
            repr(others[0]),
            "Type {drop}, or declare them.",
            drop=[*dropped, *others],
        )
    return frame
