"""A Spark frame to a folder of sanitised Parquet files, whole or not at all."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import kind
from sourdine.local.spark.drawing import Randomise
from sourdine.local.spark.placing import settled
from sourdine.local.spark.reported import Reported
from sourdine.local.table.carried import KEY, mark
from sourdine.local.table.sanitizing.blocks import demand_types, matched
from sourdine.noise.keyed import KEY_BYTES
from sourdine.tally import Frame
from sourdine.tally.spark.cells import Expressions
from sourdine.tally.spark.environment import mapped
from sourdine.tally.spark.frames import condition_of, functions, guarded, in_large_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sourdine.local.spark.placing import Settled
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source
    from sourdine.tally import Reading

__all__ = ["drawn", "sanitize_frame"]

_WRITTEN = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "parquet.summary.metadata.level": "NONE",
    "parquet.column.statistics.enabled": "false",
    "parquet.size.statistics.enabled": "false",
}
"""Files appear when all are written; no file tells of the others. The least and the greatest of
reports, which take long to find, are not written: `estimate` reads all of them."""
_EXISTS, _UNWRITABLE = "PATH_ALREADY_EXISTS", "unwritable"
_PATTERN = "*?[]{}"


def sanitize_frame(  # noqa: PLR0913 - one call does it
    schema: Schema,
    frame: Any,  # noqa: ANN401
    *,
    to: object,
    drop: Iterable[str],
    read: Reading | Mapping[str, Any] | None,
    overwrite: bool,
    source: Source,
) -> Any:  # noqa: ANN401
    """Randomise every record where it is, once, and write the reports.

    Parameters
    ----------
    schema
        The columns and what a record may cost.
    frame
        A data frame of Spark's, classic or Connect.
    to
        The folder to write, wherever Spark can; it must not exist.
    drop, read
        As in `sourdine.local.table.sanitizing.sanitize`.
    overwrite
        Refused: a folder that is there may be what an interrupted run left.
    source
        Where the key of this call comes from.

    Returns
    -------
    DataFrame
        What reads the folder. Frames of Spark are lazy: one that would draw is never handed out.
    """
    folder = _folder(to, overwrite=overwrite)
    data = Frame(frame, read=read)
    matched(schema, data, drop=drop)
    demand_types(schema, data)
    names = tuple(name for name in data.columns if name in schema.columns)
    _demand_case(frame, names)
    cells = [(name, part.cell) for name, part in schema.parts().items()]
    placed = settled(frame, cells, data.reading)
    reports = drawn(schema, placed, names, source.bytes(KEY_BYTES))

    def write() -> str:
        try:
            with in_large_batches(frame.sparkSession, narrow=placed.narrow):
                reports.write.mode("error").options(**_WRITTEN).parquet(folder)
        except Exception as error:
            if condition_of(error) == _EXISTS:
                return _EXISTS
            if not _is_writable(frame.sparkSession, folder):
                return _UNWRITABLE
            raise
        return ""

    failure = guarded(write)
    if failure == _UNWRITABLE:
        raise ParameterError(
            "to",
            "be a folder that Spark can write",
            repr(folder),
            "Check that the folder above it exists and can be written, and that a colon stands "
            "only in an address such as s3a://bucket/name; then type {to}.",
            to="clean",
        )
    if failure == _EXISTS:
        raise ParameterError(
            "to",
            "be a new folder",
            f"{folder!r}, which exists",
            "Whoever has two tables of the same records knows more than one epsilon allows. If an "
            "interrupted run left it, with a folder _temporary inside, delete it first; else type "
            "{to}.",
            to=f"{folder}-2",
        )
    return guarded(lambda: frame.sparkSession.read.parquet(folder))


def _is_writable(session: Any, folder: str) -> bool:  # noqa: ANN401
    """Return whether one number, which is no data, can be written where a run has failed.

    What a failed run leaves has to be deleted, and this is a part of it.
    """
    try:
        session.range(1).write.mode("overwrite").parquet(f"{folder}/_temporary/trial")
    except Exception:  # noqa: BLE001 - Spark has many kinds of errors
        return False
    return True


def drawn(schema: Schema, placed: Settled, names: tuple[str, ...], key: bytes) -> Any:  # noqa: ANN401
    """Return the lazy frame of reports: the same key, the same reports.

    Parameters
    ----------
    schema
        As in `sanitize_frame`.
    placed
        Its records.
    names
        The columns, in the order of the frame.
    key
        The secret.
    """
    e = Expressions(functions(placed.rows))
    written = Reported(schema)
    work = Randomise(schema, placed.how, written, key, placed.mixed)
    types = written.types + ["place bigint"] * placed.mixed
    reports = mapped(placed.rows, work, ", ".join(types))
    if placed.mixed:
        reports = reports.repartition("place").sortWithinPartitions("place")
    values, marks = written.values(e), {KEY: mark(schema)}
    return reports.select(*(values[name].alias(name, metadata=marks) for name in names))


def _folder(to: object, *, overwrite: bool) -> str:
    if to is None:
        raise ParameterError(
            "to", "name the folder to write for a Spark frame", "none", "Type {to}.", to="clean"
        )
    if not isinstance(to, (str, PathLike)):
        raise ParameterError("to", "be a path", kind(to), "Type {to}.", to="clean")
    if overwrite:
        raise ParameterError(
            "overwrite",
            "be False for a Spark frame",
            "True",
            "Delete the folder first, or type {overwrite}.",
            overwrite=False,
        )
    folder = str(fspath(to))
    if set(folder) & set(_PATTERN):
        raise ParameterError(
            "to",
            f"be a path without any of {' '.join(_PATTERN)}, which Spark reads as a pattern",
            repr(folder),
            "Type {to}.",
            to="clean",
        )
    return folder


def _demand_case(frame: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401
    """Refuse names that Spark would hold for one."""
    folded = [name.lower() for name in names]
    twice = next((n for n, low in zip(names, folded, strict=True) if folded.count(low) > 1), None)
    if twice is not None and frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true":
        raise ParameterError(
            "columns",
            "differ by more than capital letters, for Spark to write them",
            repr(twice),
            "Rename one of them, or set spark.sql.caseSensitive to true.",
        )
