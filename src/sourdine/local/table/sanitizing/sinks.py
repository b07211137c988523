"""Sanitised tables written to files block by block, whole or not at all."""

from __future__ import annotations

import gzip
import os
from contextlib import contextmanager
from importlib.util import find_spec
from io import TextIOWrapper
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.local.table.carried import KEY, mark, write_beside
from sourdine.local.table.sanitizing.outputs import arrow
from sourdine.local.table.sanitizing.writing import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sourdine.local.table.sanitizing.outputs import Column
    from sourdine.local.table.schema import Schema

    Write = Callable[[dict[str, Column]], None]

__all__ = ["sink"]

_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_NAME = 200
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def sink(path: Path, names: Sequence[str], schema: Schema) -> Iterator[Write]:
    """Open a file for blocks of columns; its name appears when all of them are written.

    The file carries the schema, or has it beside it.
    """
    lowered = path.name.lower()
    if not lowered.endswith((*_CSV, *_PARQUET)):
        raise ParameterError(
            "to", "end in .csv, .tsv or .parquet", repr(str(path)), "Type {to}.", to="clean.csv"
        )
    if not path.parent.is_dir():
        raise ParameterError(
            "to",
            "be in a folder that exists",
            repr(str(path)),
            "Make the folder first, or type {to}.",
            to="clean.csv",
        )
    make = _parquet if lowered.endswith(_PARQUET) else _text
    unfinished = path.with_name(f".{path.name[:_NAME]}.{token_hex(8)}.part")
    with _created(unfinished) as file:
        try:
            with make(file, names, lowered, mark(schema)) as write:
                yield write
            file.close()
            unfinished.replace(path)
            if make is _text:
                write_beside(path, schema)
        finally:
            unfinished.unlink(missing_ok=True)


def _created(path: Path) -> IO[bytes]:
    """Open a file that nobody made before, nor a link to another."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    except OSError as error:
        raise ParameterError(
            "to",
            "be in a folder where files can be written",
            f"{str(path.parent)!r} ({error.strerror})",
            "Type {to}.",
            to="clean.csv",
        ) from None
    return os.fdopen(number, "wb")


@contextmanager
def _text(target: IO[bytes], names: Sequence[str], ending: str, schema: str) -> Iterator[Write]:
    del schema
    mark = "\t" if ".tsv" in ending else ","
    with _opened(target, ending) as file:
        file.write(mark.join(map(quoted, names)) + "\n")

        def write(columns: dict[str, Column]) -> None:
            texts = [written.texts(codes) for written, codes, _ in columns.values()]
            lines: Iterator[str] = map(mark.join, zip(*texts, strict=True))
            if len(texts) == 1:  # an empty line would be no record
                lines = (line or '""' for line in lines)
            file.writelines(line + "\n" for line in lines)

        yield write


def _opened(target: IO[bytes], ending: str) -> IO[str]:
    if ending.endswith(".gz"):
        return gzip.open(target, "wt", encoding="utf-8", newline="")
    return TextIOWrapper(target, encoding="utf-8", newline="")


@contextmanager
def _parquet(target: IO[bytes], names: Sequence[str], ending: str, schema: str) -> Iterator[Write]:
    del names, ending
    if find_spec("pyarrow") is None:
        raise ParameterError(
            "to",
            "end in .csv where pyarrow is not installed",
            "a Parquet file",
            "In the checkout, type pip install '.[arrow]', or {to}.",
            to="clean.csv",
        )
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    writer: Any = None

    def write(columns: dict[str, Column]) -> None:
        nonlocal writer
        table = pa.table({name: arrow(*column) for name, column in columns.items()})
        table = table.replace_schema_metadata({KEY: schema})
        writer = writer or pq.ParquetWriter(target, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
