"""A Spark frame to a folder of sanitised Parquet files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sourdine.errors import ExistingFileError, ParameterError
from sourdine.exact import kind
from sourdine.frames.frame import Frame
from sourdine.frames.spark.cells import Expressions
from sourdine.frames.spark.dataframe import condition_of, functions, guarded, in_large_batches
from sourdine.frames.spark.executors import mapped
from sourdine.local.spark.tasks import AT_ONCE, Packing, Randomise, settled
from sourdine.local.table.blocks import arrow, prepared
from sourdine.local.table.part import Lattice
from sourdine.local.table.schema_files import KEY, mark
from sourdine.noise.source import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.reading import Reading
    from sourdine.frames.spark.engine import Spark
    from sourdine.local.spark.tasks import Settled
    from sourdine.local.table.part import Written
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


# ---- Reports on their way to a table of Spark's: small numbers, then what they stand for ---------


_TYPES = {"whole": "bigint", "float": "double", "text": "string", "flag": "boolean"}
_LISTED = 1 << 14
"""Up to this many values of a column are listed in the query."""
_BETWEEN = "\r"
"""What no category may hold."""


@dataclass(frozen=True)
class Reported:
    """How reports of a schema leave Python.

    They are packed where Spark can list what they stand for, else they leave as values.
    """

    schema: Schema

    @cached_property
    def _all(self) -> list[tuple[str, Written, bool]]:
        """The columns, how they are written, and whether there can be blanks."""
        sampled, parts = self.schema.method == "sample", self.schema.parts()
        return [(n, p.written, sampled or p.none is not None) for n, p in parts.items()]

    @cached_property
    def _few(self) -> list[int]:
        return [i for i, (_, w, _) in enumerate(self._all) if _length(w) <= _LISTED][:AT_ONCE]

    @cached_property
    def packing(self) -> Packing:
        return Packing(tuple(_length(self._all[i][1]) for i in self._few))

    @property
    def types(self) -> list[str]:
        """The columns that leave, and their types."""
        many = [(i, w) for i, (_, w, _) in enumerate(self._all) if i not in self._few]
        words = [f"{word} bigint" for word in self.packing.words]
        return words + [f"v{i} {_type(written)}" for i, written in many]

    def columns(self, shown: Sequence[NDArray[np.int64]]) -> dict[str, Any]:
        """Return what leaves for the reports of all columns, -1 for a blank."""
        words = self.packing.packed([shown[i] for i in self._few])
        found: dict[str, Any] = dict(zip(self.packing.words, words, strict=True))
        for i, (_, written, blank) in enumerate(self._all):
            if i not in self._few:
                found[f"v{i}"] = arrow((written, shown[i], blank))
        return found

    def values(self, e: Expressions) -> dict[str, Any]:
        """Return what Spark makes of what left, by the names of the schema's columns."""
        packed = dict(zip(self._few, self.packing.unpacked_there(e), strict=True))
        return {
            name: _listed(e, written, packed[i], blank=blank)
            if i in packed
            else e.functions.col(f"v{i}")
            for i, (name, written, blank) in enumerate(self._all)
        }


def _length(written: Written) -> int:
    return len(written.ticks if isinstance(written, Lattice) else written.listed)


def _type(written: Written) -> str:
    """Return Spark's type; whole numbers beyond 64 bits are floats."""
    floats = written.values(np.zeros(1, np.int64)).dtype == np.float64
    return "double" if floats else _TYPES[written.kind]


def _listed(e: Expressions, written: Written, code: Any, *, blank: bool) -> Any:
    """Return the value of each code, nothing for -1.

    One text lists all values: Spark reads it once, before it begins. Python writes a float so that
    Java reads the same. A column without blanks says so: Spark writes it faster.
    """
    f = e.functions
    values = written.values(np.arange(_length(written))).tolist()
    text = _BETWEEN.join(v if isinstance(v, str) else str(v).lower() for v in values)
    listed = f.split(f.collate(f.lit(text), "UTF8_BINARY"), _BETWEEN)
    value = f.get(listed.cast(f"array<{_type(written)}>"), code.cast("int"))
    return value if blank else f.coalesce(value, f.lit(values[0]))


# ---- A Spark frame to a folder of sanitised Parquet files, whole or not at all -------------------


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


def sanitize_frame(
    schema: Schema, frame: Any, *,
    to: object, drop: Iterable[str], where: str | None = None,
    read: Reading | Mapping[str, Any] | None, overwrite: bool, source: Source,
) -> Any:  # fmt: skip
    """Randomise every record where it is, once, and write the reports.

    The parameters are those of `sourdine.local.table.sanitize`, with a data frame of Spark's,
    classic or Connect, and a folder ``to`` that must not exist: one that is there may be what an
    interrupted run left, so ``overwrite`` is refused. Frames of Spark are lazy: the one that is
    returned reads the folder, and one that would draw is never handed out.
    """
    folder = _folder(to, overwrite=overwrite)
    data, cells = prepared(schema, Frame(frame, read=read), drop=drop, where=where)
    names = tuple(name for name in data.columns if name in schema.columns)
    _demand_case(frame, names)
    columns = [*schema.columns, *(cell.column for cell in cells[len(schema.columns) :])]
    named = list(zip(map(data.resolve, columns), cells, strict=True))
    formulas = len(data.columns) > len(frame.columns)
    computed = cast("Spark", data.engine).named() if formulas else None
    placed = settled(frame, named, data.reading, computed)
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
            "to", "be a folder that Spark can write", repr(folder),
            "Check that its parent folder exists and can be written, and that a colon is only "
            "used in an address such as s3a://bucket/name; then use {to}.", to="clean",
        )  # fmt: skip
    if failure == _EXISTS:
        raise ExistingFileError(
            "to", "be a new folder", folder,
            "Two tables of the same records reveal more than one epsilon allows. If an "
            "interrupted run left the folder, with a folder _temporary inside, delete it first; "
            "otherwise use {to}.", to=f"{folder}-2",
        )  # fmt: skip
    return guarded(lambda: frame.sparkSession.read.parquet(folder))


def _is_writable(session: Any, folder: str) -> bool:
    """Return whether one number, which is no data, can be written where a run has failed.

    What a failed run leaves has to be deleted, and this is a part of it.
    """
    try:
        session.range(1).write.mode("overwrite").parquet(f"{folder}/_temporary/trial")
    except Exception:  # noqa: BLE001 - Spark has many kinds of errors
        return False
    return True


def drawn(schema: Schema, placed: Settled, names: tuple[str, ...], key: bytes) -> Any:
    """Return the lazy frame of reports: the same secret key, the same reports.

    ``names`` are the columns, in the order of the frame.
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
        must = "name the output folder for a Spark frame"
        raise ParameterError("to", must, "", "Use {to}.", to="clean")
    if not isinstance(to, (str, PathLike)):
        raise ParameterError("to", "be a path", kind(to), "Use {to}.", to="clean")
    if overwrite:
        must, hint = "be False for a Spark frame", "Delete the folder first, or use {overwrite}."
        raise ParameterError("overwrite", must, "True", hint, overwrite=False)
    folder = str(fspath(to))
    if set(folder) & set(_PATTERN):
        must = f"be a path without any of {' '.join(_PATTERN)}, which Spark reads as a pattern"
        raise ParameterError("to", must, repr(folder), "Use {to}.", to="clean")
    return folder


def _demand_case(frame: Any, names: tuple[str, ...]) -> None:
    """Refuse names that Spark would hold for one."""
    folded = [name.lower() for name in names]
    twice = next((n for n, low in zip(names, folded, strict=True) if folded.count(low) > 1), None)
    if twice is not None and frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true":
        must = "differ in more than upper and lower case, for Spark to write them"
        hint = "Rename one of them, or set spark.sql.caseSensitive to true."
        raise ParameterError("columns", must, repr(twice), hint)
