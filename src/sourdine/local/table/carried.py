"""The schema that a sanitised table carries, so that no other one estimates from it.

=====================  =========================================================================
a Parquet file         in its metadata, under ``sourdine.schema``
a CSV file             in a file beside it, ``clean.csv.schema.json``, with a digest of the table
an Arrow table         in the metadata of its schema
a frame of pandas      in ``attrs``, which pandas also writes to Parquet files
a frame of Spark       in the metadata of its columns, which Spark writes to Parquet files
Polars, dicts, DuckDB  nowhere: they have no place for it
=====================  =========================================================================

A file that carries none, such as the raw one, is refused; so is a table that carries another schema
than the one it is estimated by. Columns, bounds and epsilon are public, so nothing is given away.
"""

from __future__ import annotations

import json
from glob import glob
from hashlib import file_digest
from os import PathLike, fspath
from pathlib import Path
from shutil import copymode
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import flag
from sourdine.local.table.schema_files import from_facts
from sourdine.privacy.printing import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.local.table.schema import Schema

__all__ = ["KEY", "beside", "carried", "check", "mark", "write_beside"]

KEY = "sourdine.schema"
"""Under which metadata hold the schema."""
PANDAS = "PANDAS_ATTRS"
"""Under which pandas writes ``attrs`` to a Parquet file."""
SPARK = "org.apache.spark.sql.parquet.row.metadata"
"""Under which Spark writes columns and their metadata to a Parquet file."""
PARQUET = (".parquet", ".pq")
LONGEST = 1 << 26
"""A schema file of more bytes is none."""


def mark(schema: Schema) -> str:
    """Return a schema as metadata hold it.

    Examples
    --------
    >>> from sourdine.local.table import Flag, Schema
    >>> print(mark(Schema(smokes=Flag(), epsilon=0.5)))
    {"epsilon": 0.5, "method": "split", "columns": {"smokes": {"kind": "flag"}}}
    """
    return json.dumps(schema.facts(), ensure_ascii=False)


def beside(path: Path) -> Path:
    """Return the file that holds the schema of a CSV file."""
    return path.with_name(f"{path.name}.schema.json")


def write_beside(path: Path, schema: Schema) -> None:
    """Write the schema of a CSV file beside it, with digests of both."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    facts = {
        "sourdine": 1,
        "table": {"name": path.name, "sha256": digest},
        "fingerprint": schema.fingerprint,
        "schema": schema.facts(),
    }
    _replace(beside(path), json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    copymode(path, beside(path))


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, under a name that nobody could have foreseen."""
    handle, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle
            file.write(text)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def carried(table: Any) -> Schema | None:  # noqa: ANN401
    """Return the schema that a table carries; None if it has no place for one, or holds none.

    Files that belong together must carry the same.
    """
    schemas = [_of_file(path) for path in _files(table)] or [_of_frame(table)]
    for other in schemas[1:]:
        if other != schemas[0]:
            raise ParameterError(
                "the files", "carry one schema", "different ones", "Estimate them one by one."
            )
    return schemas[0]


def check(schema: Schema, table: Any, *, unmarked: bool) -> None:  # noqa: ANN401
    """Refuse a table that another schema sanitised, and a file that none did.

    Parameters
    ----------
    schema
        By which it is to be estimated.
    table
        A frame, or the path of a file.
    unmarked
        Whether a file may carry no schema, or have changed since it was written.
    """
    lenient = flag(unmarked, "unmarked")
    if not lenient:
        for path in _files(table):
            _demand(path)
    found = carried(table)
    if found is not None and found != schema:
        raise ParameterError(
            "schema",
            "be the one that the table was sanitised by",
            difference(found, schema),
            "The table carries its own: leave {schema} out of estimate.",
        )


def difference(found: Schema, given: Schema) -> str:
    """Return in what a schema differs from the one that a table carries.

    Examples
    --------
    >>> from sourdine.local.table import Flag, Schema
    >>> difference(Schema(smokes=Flag(), epsilon=2), Schema(smokes=Flag(), epsilon=4))
    'one with epsilon 4 in place of 2'
    """
    if found.epsilon != given.epsilon:
        return f"one with epsilon {shown(given.epsilon)} in place of {shown(found.epsilon)}"
    if found.method != given.method:
        return f"one with the method {given.method!r} in place of {found.method!r}"
    if found.columns.keys() != given.columns.keys():
        name = min(found.columns.keys() ^ given.columns.keys())
        return f"one {'without' if name in found.columns else 'with'} a column {name!r}"
    for name, column in found.columns.items():
        if column.facts() != given.columns[name].facts():
            return f"one that declares column {name!r} in another way"
    return "one with other weights"


def _files(table: object) -> list[Path]:
    """Return the files that a path or a pattern names; of a frame, none."""
    if not isinstance(table, (str, PathLike)):
        return []
    path = Path(fspath(table))
    return [path] if path.is_file() else sorted(map(Path, glob(str(path), recursive=True)))  # noqa: PTH207


def _demand(path: Path) -> None:
    """Refuse a file that carries no schema, or one of another content."""
    if path.name.lower().endswith(PARQUET):
        if _of_file(path) is None:
            raise _unmarked(path, "one without a schema in its metadata")
        return
    if not beside(path).is_file():
        raise _unmarked(path, f"one without {beside(path).name!r} beside it")
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if _read_beside(path).get("table", {}).get("sha256") != digest:
        raise _unmarked(path, "one that has changed since")


def _unmarked(path: Path, got: str) -> ParameterError:
    return ParameterError(
        f"the file {path.name!r}",
        "be as sanitize wrote it",
        got,
        "Estimate from what sanitize wrote; a raw file would give nonsense. If it was sanitised "
        "and then changed or moved, type {unmarked}.",
        unmarked=True,
    )


def _of_file(path: Path) -> Schema | None:
    if path.name.lower().endswith(PARQUET):
        return _of_metadata(dict(_kept(path)))
    if not beside(path).is_file():
        return None
    facts = _read_beside(path)
    found = _schema(facts.get("schema"))
    if found is not None and facts.get("fingerprint") != found.fingerprint:
        raise _damaged()
    return found


def _read_beside(path: Path) -> dict[str, Any]:
    try:
        with beside(path).open("rb") as file:
            found = json.loads(file.read(LONGEST))
    except (ValueError, RecursionError, OSError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("table"), dict):
        raise _damaged()
    return found


def _kept(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the metadata of a Parquet file; of one that cannot be read, none."""
    import duckdb  # noqa: PLC0415 - loaded when a file is read

    wanted = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?) WHERE key IN (?, ?, ?)"
    keys = [key.encode() for key in (KEY, PANDAS, SPARK)]
    try:
        with duckdb.connect(":memory:") as connection:
            yield from connection.execute(wanted, [_literal(path), *keys]).fetchall()
    except duckdb.Error:
        return


def _literal(path: Path) -> str:
    """Return a path in which nothing stands for other letters."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))


def _of_frame(frame: Any) -> Schema | None:  # noqa: ANN401
    room = type(frame).__module__.split(".")[0]
    if room == "pandas":
        return _of_metadata({str(k): v for k, v in getattr(frame, "attrs", {}).items()})
    if room == "pyspark" and hasattr(frame, "schema"):
        return _of_metadata({SPARK: frame.schema.json()})
    if room == "pyarrow":
        metadata = getattr(getattr(frame, "schema", None), "metadata", None) or {}
        return _of_metadata({k.decode(): v.decode() for k, v in metadata.items()})
    return None


def _of_metadata(metadata: dict[str, Any]) -> Schema | None:
    text = metadata.get(KEY)
    try:
        if text is None and PANDAS in metadata:
            text = json.loads(metadata[PANDAS]).get(KEY)
        if text is None and SPARK in metadata:
            own = [column["metadata"] for column in json.loads(metadata[SPARK])["fields"]]
            text = next((marks[KEY] for marks in own if KEY in marks), None)
        return None if text is None else _schema(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, SourdineError):
            raise
        raise _damaged() from None


def _schema(facts: object) -> Schema:
    try:
        return from_facts(facts)
    except (SourdineError, TypeError):
        raise _damaged() from None


def _damaged() -> ParameterError:
    return ParameterError(
        "the schema that the table carries",
        "be as sanitize wrote it",
        "a damaged one",
        "Restore it from a copy.",
    )
