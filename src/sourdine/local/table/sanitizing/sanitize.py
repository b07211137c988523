"""Sanitise a whole table: a frame to a frame, a file to a file."""

from __future__ import annotations

from contextlib import closing
from glob import glob
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import flag, kind
from sourdine.local.table.carried import KEY, mark
from sourdine.local.table.sanitizing.blocks import ROWS, demand_missing, demand_types, matched
from sourdine.local.table.sanitizing.crew import shown_blocks
from sourdine.local.table.sanitizing.outputs import assembled
from sourdine.local.table.sanitizing.progress import counted_rows
from sourdine.local.table.sanitizing.sinks import sink
from sourdine.tally import Frame
from sourdine.tally.opening import is_spark

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from sourdine.local.table.sanitizing.outputs import Column
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source
    from sourdine.tally import Reading

__all__ = ["sanitize"]


def sanitize(  # noqa: PLR0913 - one call does it
    schema: Schema,
    frame: Any,  # noqa: ANN401
    *,
    to: str | PathLike[str] | None,
    drop: Iterable[str],
    read: Reading | Mapping[str, Any] | None = None,
    overwrite: bool = False,
    source: Source,
    progress: bool | None,
) -> Any:  # noqa: ANN401
    """Randomise every record of a table.

    Types, number formats and where blanks can stand follow from the schema alone; no value
    raises, and nothing of a value that does not fit appears anywhere
    (``test_a_dirty_csv_leaves_no_trace``).

    Parameters
    ----------
    schema
        The columns and what a record may cost. It says for every column what becomes of a cell
        that is empty, unreadable or not listed: ``missing`` of the column, or of the schema.
    frame
        A frame of pandas, Polars or Arrow, a dict of columns, a DuckDB relation, or the path of a
        CSV or Parquet file, which is read and written as a stream; or a Spark frame, which is
        randomised where it is (`sourdine.local.spark`). A column is refused if its declared type,
        which is public, cannot hold what the schema says, such as text for a `Number`.
    to
        The file to write; needed if ``frame`` is one. For a Spark frame a folder, which is new.
    drop
        Columns that are left out. Every other column must be in the schema.
    read
        How text is read, a `sourdine.Reading` or a dict of its parameters.
    overwrite
        Whether ``to`` may be a file that exists. Two sanitised tables of the same records tell
        more than one: each costs epsilon.
    source
        Where the random bits come from; a seeded one protects nobody.
    progress
        Whether to show a bar; by default if it takes longer than a second, on a terminal.

    Returns
    -------
    frame or Path
        Columns in the order of the frame, in the same kind of frame (of a lazy one, the eager
        kind; of a relation, an Arrow table); or the path of the file; of a Spark frame, the one
        that reads the folder. It carries the schema where it has a place for it
        (`sourdine.local.table.carried`).
    """
    shown = progress if progress is None else flag(progress, "progress")
    replaced = flag(overwrite, "overwrite")
    if is_spark(frame):
        from sourdine.local.spark.sanitizing import sanitize_frame  # noqa: PLC0415

        demand_missing(schema)
        _demand_table(schema)
        own: dict[str, Any] = {"drop": drop, "read": read, "source": source}
        return sanitize_frame(schema, frame, to=to, overwrite=replaced, **own)
    demand_missing(schema)
    path = _target(frame, to, overwrite=replaced)
    data = matched(schema, Frame(frame, read=read), drop=drop)
    demand_types(schema, data)
    _demand_table(schema)
    names = [name for name in data.columns if name in schema.columns]
    parts = schema.parts()
    sampled = schema.method == "sample"
    stream = _stream(schema, data, names, source, shown)

    def written(name: str, codes: NDArray[Any]) -> Column:
        return parts[name].written, codes, sampled or parts[name].column.blank

    if path is None:
        whole = _joined(stream, names)
        columns = {name: written(name, whole[name]) for name in names}
        return assembled(frame, columns, {KEY: mark(schema)})
    with closing(stream), sink(path, names, schema) as write:
        wrote = False
        for block in stream:
            write({name: written(name, block[name]) for name in names})
            wrote = True
        if not wrote:
            write({name: written(name, np.zeros(0, np.int64)) for name in names})
    return path


def _stream(
    schema: Schema,
    data: Frame,
    names: list[str],
    source: Source,
    progress: bool | None,  # noqa: FBT001
) -> Generator[dict[str, NDArray[Any]]]:
    """Yield the reports of all records as the table shows them, column by column."""
    cells = [part.cell for part in schema.parts().values()]
    blocks = data.codes(*cells, chunk=ROWS)
    with counted_rows(data, progress) as count:
        for shown in shown_blocks(schema, blocks, source):
            by_name = dict(zip(schema.columns, shown, strict=True))
            yield {name: by_name[name] for name in names}
            count(len(shown[0]))


def _joined(stream: Iterator[dict[str, NDArray[Any]]], names: list[str]) -> dict[str, NDArray[Any]]:
    found: dict[str, list[NDArray[Any]]] = {name: [np.zeros(0, np.int8)] for name in names}
    for block in stream:
        for name, codes in block.items():
            found[name].append(codes)
    return {name: np.concatenate(codes) for name, codes in found.items()}


def _target(frame: object, to: object, *, overwrite: bool) -> Path | None:
    """Return the file to write, if any."""
    if to is not None and not isinstance(to, (str, PathLike)):
        raise ParameterError("to", "be a path", kind(to), "Type {to}.", to="clean.csv")
    path = None if to is None else Path(fspath(to))
    if not isinstance(frame, (str, PathLike)):
        return _new(path, overwrite=overwrite)
    if path is None:
        raise ParameterError(
            "to", "name the file to write when a file is read", "none", "Type {to}.", to="clean.csv"
        )
    read = [fspath(frame), *glob(fspath(frame), recursive=True)]  # noqa: PTH207
    if path.exists() and any(path.samefile(file) for file in read if Path(file).exists()):
        other = str(path.with_name(f"clean-{path.name}"))
        must = "be another file than the one read"
        raise ParameterError("to", must, "the same", "Type {to}.", to=other)
    return _new(path, overwrite=overwrite)


def _new(path: Path | None, *, overwrite: bool) -> Path | None:
    """Return a path if nothing is there, or if that does not matter."""
    if path is not None and path.exists() and not overwrite:
        raise ParameterError(
            "to",
            "be a new file",
            f"{str(path)!r}, which exists",
            "Whoever has both tables of the same records knows more than one epsilon allows. Type "
            "{to}, or {overwrite} if nobody has the old one.",
            to=str(_free(path)),
            overwrite=True,
        )
    return path


def _free(path: Path) -> Path:
    """Return a name beside a path that no file has."""
    names = (path.with_name(f"{i}-{path.name}") for i in count(2))
    return next(name for name in names if not name.exists())


def _demand_table(schema: Schema) -> None:
    """Refuse what a table cannot show."""
    for name, column in schema.columns.items():
        if schema.method == "sample" and column.blank:
            raise ParameterError(
                "missing",
                "be False in a table of the method 'sample'",
                f"True for {name!r}",
                "A blank would mean two things. Send reports, type {method}, or leave it out of "
                "the column and type {missing} in the schema.",
                method="split",
                missing="random",
            )
        if column.kind != "number" and column.method not in {None, "auto", "response"}:
            raise ParameterError(
                "method",
                "be 'response' in a table",
                f"{column.method!r} for {name!r}",
                "The others report no categories. Send reports, or type {method}.",
                method="response",
            )
