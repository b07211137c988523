"""Records to reports block by block, and reports to frames and files."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, MissingExtraError, ParameterError
from sourdine.frames.cells import Codes
from sourdine.frames.engine import listed_columns
from sourdine.frames.frame import Frame
from sourdine.frames.memory import DATES, NESTED, NUMBERS, OTHER, WORDS
from sourdine.grid import MISSING
from sourdine.local.table.columns import demand_answers
from sourdine.local.table.part import quoted
from sourdine.local.table.schema_files import KEY, PARQUET, mark, write_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell
    from sourdine.local.table.columns import Attribute, Use
    from sourdine.local.table.part import ColumnPart
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source

    Parts = Mapping[str, ColumnPart]


# ---- Records to reports, block by block: the one place where a table is randomised ---------------


ROWS = 1 << 17
"""How many records are randomised at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The reports of some records.

    For each column there is one report of each person who was asked, in the order of the records,
    and for each person the number of the one column asked for; None if all are.
    """

    rows: int
    reports: dict[str, NDArray[Any]]
    asked: NDArray[np.int64] | None


def randomised(schema: Schema, frame: object, *, use: Use, source: Source) -> Iterator[Block]:
    """Yield the reports of all records, in their order.

    The frame is anything that `sourdine.frames.frame.Frame` takes; on a person's own device, their
    answers by name. Columns that are not of the schema are not read. For ``"report"`` the
    mechanisms are those that estimate best, for ``"table"`` those of `sanitize`.

    Examples
    --------
    >>> from sourdine.local.table.columns import Flag
    >>> from sourdine.local.table.schema import Schema
    >>> asked = {"smokes": Flag(missing=True), "drinks": Flag(missing=True)}
    >>> schema = Schema.of(asked, epsilon=1, method="sample")
    >>> block = next(schema.randomised({"smokes": [True] * 5, "drinks": [False] * 5}))
    >>> sum(len(reports) for reports in block.reports.values())
    5
    """
    if isinstance(frame, Mapping) and not any(
        hasattr(value, "__iter__") and not isinstance(value, str) for value in frame.values()
    ):  # single answers
        demand_answers(schema, frame)
        frame = {name: [value] for name, value in frame.items()}
    else:
        demand_missing(schema)
    data = matched(schema, Frame(frame), drop=None)
    demand_types(schema, data, readable=False)
    parts = schema.parts(use)
    for slots in data.codes(*(part.cell for part in parts.values()), chunk=ROWS):
        yield randomised_block(schema, parts, slots, source)


def demand_missing(schema: Schema) -> None:
    """Refuse a table unless the schema says what becomes of absent answers to every column.

    Any cell of a table may be empty, unreadable or not listed, and whether one is must not be told:
    so it is the schema that is refused, before anything is read.
    """
    for name in schema.undeclared:
        must = "be declared for every column of a table, as cells may be empty"
        hint = (
            f"To estimate how many did not answer, use {_declared(schema.columns[name])} in the "
            "schema. To replace missing answers by random ones, which biases estimates, use "
            "{missing} in the schema."
        )
        raise ParameterError("missing", must, f"none for {name!r}", hint, missing="random")


def demand_types(schema: Schema, data: Frame, *, readable: bool = True) -> None:
    """Refuse a table with a column whose declared type cannot hold what the schema says.

    Types are public; what declares none, such as a text file, is read value by value. ``readable``
    says whether the caller has a parameter that says how text is read.
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
            what = "strings such as 'a;b'" if several else "single values"
            fits = declared.holds != NESTED
        if not fits:
            written = readable and declared.holds == WORDS
            otherwise = f"; or, if its strings are {what}, use {{read}}" if written else ""
            raise ParameterError(
                "frame", f"hold {what} in {name!r}, a {type(column).__name__} of the schema",
                f"type {declared.dtype}", f"Convert the column to {what}{otherwise}.",
                **({"read": {"decimal": "."}} if written else {}),
            )  # fmt: skip


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
    shown = [part.shown(block.reports[name]) for name, part in parts.items()]
    if block.asked is None:
        return shown
    whole = [np.full(block.rows, MISSING) for _ in parts]
    for j, codes in enumerate(shown):
        whole[j][block.asked == j] = codes
    return whole


def matched(schema: Schema, frame: Frame, *, drop: Iterable[str] | None) -> Frame:
    """Return the frame if it has the schema's columns and no others; without ``drop``, any others.

    The names of columns are public.
    """
    for name in schema.columns:
        if name not in frame.columns:
            hint = listed_columns(frame, name)
            must, got = "have all columns of the schema", f"no column {name!r}"
            raise ParameterError("frame", must, got, hint)
    if drop is None:
        return frame
    dropped = [drop] if isinstance(drop, str) else list(drop)
    for name in dropped:
        if name not in frame.columns or name in schema.columns:
            must = "name columns of the table that are not in the schema"
            raise ParameterError("drop", must, repr(name), "Omit {drop}.", drop=LEFT_OUT)
    others = [name for name in frame.columns if name not in {*schema.columns, *dropped}]
    if others:
        must = "have only columns that are in the schema or dropped"
        hint = "Use {drop}, or declare them."
        raise ParameterError("frame", must, repr(others[0]), hint, drop=[*dropped, *others])
    return frame


# ---- Rows that a condition excludes: everything about them is missing ---------------------------


def prepared(
    schema: Schema, rows: Frame, *, drop: Iterable[str], where: str | None
) -> tuple[Frame, list[Cell]]:
    """Return rows with the formulas of a schema, and the cells that a record is read by.

    With a condition ``where`` there is one more cell than columns: `excluding` makes the slots of
    records for which it is not true those of missing answers. So such a record is randomised like
    any other, and its report follows the law of one that nobody answered
    (``test_a_record_that_a_condition_excludes_is_one_without_answers``).
    """
    formulas = [("schema", name) for name in schema.columns]
    cells: list[Cell] = [part.cell for part in schema.parts().values()]
    plain = matched(schema, rows.derived(None, *formulas), drop=drop)
    demand_types(schema, plain)
    if where is None:
        return plain.computed(), cells
    for name, column in schema.columns.items():
        if not column.missing:
            raise ParameterError(
                "missing",
                "be declared by each column if {where} is used, as all values of other records "
                "become missing",
                f"none for {name!r}", f"Use {_declared(column)} in the schema.",
            )  # fmt: skip
    mark = f"where {where}"
    while mark in rows.columns:
        mark += "?"
    return rows.derived(where, *formulas, mark=mark).computed(), [*cells, Codes(mark, [True])]


def excluding(slots: Sequence[NDArray[np.int64]], columns: int) -> list[NDArray[np.int64]]:
    """Return the slots of columns, missing in records that a condition excludes (`prepared`)."""
    if len(slots) == columns:
        return list(slots)
    kept = slots[columns] == 0
    return [np.where(kept, own, MISSING) for own in slots[:columns]]


# ---- Reports as columns of a frame of the kind that came in --------------------------------------
#
# Types follow from the schema alone: whole numbers, floats, texts or booleans, able to hold blanks
# if and only if the schema can make some.


Column = tuple[Any, "NDArray[Any]", bool]
"""How reports are written (`Written`), the reports (below 0: a blank), whether there can be one."""
Write: TypeAlias = "Callable[[dict[str, Column]], None]"


def assembled(frame: object, columns: dict[str, Column], schema: Schema) -> Any:
    """Return the columns as a frame of the kind of ``frame``; of others, as an Arrow table.

    An index of pandas is not kept: it may name the people. The schema is kept where a frame has a
    place for it.
    """
    library = type(frame).__module__.split(".")[0]
    if isinstance(frame, Mapping):
        first = next(iter(frame.values()), None)  # a formula comes as the columns that it is of
        lists = {name: isinstance(frame.get(name, first), (list, tuple)) for name in columns}
        return {n: _list(c) if lists[n] else _numpy(c) for n, c in columns.items()}
    if library == "pandas":
        made = _pandas(columns)
        made.attrs[KEY] = mark(schema)
        return made
    if library == "polars":
        return _polars(columns)
    if find_spec("pyarrow") is None:
        return {name: _numpy(column) for name, column in columns.items()}
    return _arrow_table(columns, mark(schema))


def _arrow_table(columns: dict[str, Column], schema: str) -> Any:
    import pyarrow as pa

    table = pa.table({name: arrow(column) for name, column in columns.items()})
    return table.replace_schema_metadata({KEY: schema})


def arrow(column: Column) -> Any:
    import pyarrow as pa

    written, codes, nullable = column
    gone = codes < 0 if nullable else None
    if written.kind != "text":
        return pa.array(written.values(codes), mask=gone)
    indices = pa.array(np.maximum(codes, 0).astype(np.int32), mask=gone)
    listed = pa.array(written.listed, pa.string())
    return pa.DictionaryArray.from_arrays(indices, listed).cast(pa.string())


def _numpy(column: Column) -> NDArray[Any]:
    """Return an array: blanks are NaN, None, or masked."""
    written, codes, nullable = column
    values: NDArray[Any] = written.values(codes)
    if nullable and written.kind in {"whole", "flag"}:
        return np.ma.masked_array(values, codes < 0)
    if nullable:
        values[codes < 0] = np.nan if written.kind == "float" else None
    return values


def _list(column: Column) -> list[Any]:
    """Return a list; a blank is None."""
    written, codes, nullable = column
    values: list[Any] = written.values(codes).tolist()
    if not nullable:
        return values
    return [None if c < 0 else v for c, v in zip(codes.tolist(), values, strict=True)]


def _pandas(columns: dict[str, Column]) -> Any:
    import pandas as pd

    masked: dict[str, Any] = {"whole": pd.arrays.IntegerArray, "flag": pd.arrays.BooleanArray}

    def series(column: Column) -> Any:
        written, codes, nullable = column
        if nullable and written.kind in masked:
            return masked[written.kind](written.values(codes), codes < 0)
        values = _numpy(column)
        return pd.array(values, dtype="str") if written.kind == "text" else values

    return pd.DataFrame({name: series(column) for name, column in columns.items()})


def _polars(columns: dict[str, Column]) -> Any:
    import polars as pl

    def series(column: Column) -> Any:
        written, codes, nullable = column
        if written.kind == "text":
            whole = pl.Series(written.listed, dtype=pl.String).gather(np.maximum(codes, 0))
        else:
            whole = pl.Series(written.values(codes))
        return whole.set(pl.Series(codes < 0), None) if nullable else whole

    return pl.DataFrame({name: series(column) for name, column in columns.items()})


# ---- Sanitised tables written to files block by block, whole or not at all -----------------------


_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_NAME = 200
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def sink(path: Path, names: Sequence[str], schema: Schema) -> Iterator[Write]:
    """Open a file for blocks of columns; its name appears when all of them are written.

    The file carries the schema, or has it beside it.
    """
    lowered, tries = path.name.lower(), {"to": "clean.csv"}
    if not lowered.endswith((*_CSV, *PARQUET)):
        must = "end in .csv, .tsv or .parquet"
        raise ParameterError("to", must, repr(str(path)), "Use {to}.", **tries)
    if not path.parent.is_dir():
        hint = "Create the folder first, or use {to}."
        raise ParameterError("to", "be in an existing folder", repr(str(path)), hint, **tries)
    unfinished = path.with_name(f".{path.name[:_NAME]}.{token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY  # new, and no link to another
    try:
        number = os.open(unfinished, flags, 0o666)
    except OSError as error:
        got = f"{str(path.parent)!r} ({error.strerror})"
        raise ParameterError("to", "be in a writable folder", got, "Use {to}.", **tries) from None
    with os.fdopen(number, "wb") as file:
        try:
            parquet = lowered.endswith(PARQUET)
            with _parquet(file, schema) if parquet else _text(file, names, lowered) as write:
                yield write
            file.close()
            unfinished.replace(path)
            if not parquet:
                write_beside(path, schema)
        finally:
            unfinished.unlink(missing_ok=True)


@contextmanager
def _text(target: IO[bytes], names: Sequence[str], ending: str) -> Iterator[Write]:
    mark = "\t" if ".tsv" in ending else ","
    zipped = gzip.GzipFile(fileobj=target, mode="wb") if ending.endswith(".gz") else target
    with TextIOWrapper(zipped, encoding="utf-8", newline="") as file:
        file.write(mark.join(map(quoted, names)) + "\n")

        def write(columns: dict[str, Column]) -> None:
            texts = [written.texts(codes) for written, codes, _ in columns.values()]
            lines: Iterator[str] = map(mark.join, zip(*texts, strict=True))
            if len(texts) == 1:  # an empty line would be no record
                lines = (line or '""' for line in lines)
            file.writelines(line + "\n" for line in lines)

        yield write


@contextmanager
def _parquet(target: IO[bytes], schema: Schema) -> Iterator[Write]:
    if find_spec("pyarrow") is None:
        raise MissingExtraError.of("arrow", ", or use {to}", to="clean.csv")
    import pyarrow.parquet as pq

    writer: Any = None
    marked = mark(schema)

    def write(columns: dict[str, Column]) -> None:
        nonlocal writer
        table = _arrow_table(columns, marked)
        writer = writer or pq.ParquetWriter(target, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
