"""Opening a Spark session, and a folder or table in it, where there is no data frame yet."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from sourdine.errors import MissingExtraError, MissingFileError, ParameterError, SourdineError
from sourdine.frames.engine import require_different
from sourdine.frames.paths import CSV
from sourdine.frames.reading import STANDARD
from sourdine.frames.spark.dataframe import condition_of, functions, unlogged
from sourdine.frames.spark.engine import Spark

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.frames.reading import Reading


TABLE = "spark:"
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
"""Spark's web pages are turned off: they would show exact counts of filtered rows."""
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""A local Spark binds to the loopback interface only."""
_SEPARATORS = 20_000
"""The number of separators read from a line of CSV, or twice the number of columns."""
OPENED: list[Any] = []
"""The sessions that were opened here, which can report progress."""


def open_stored(path: str, master: str | None = None, reading: Reading = STANDARD) -> Spark:
    """Return the engine over a folder or a file of Parquet or CSV, or over a table ``spark:NAME``.

    Spark runs on this machine unless a master is named: ``local[4]``, ``spark://host:7077``, or
    ``sc://host:15002`` for Connect.
    """
    engine = Spark(stored_frame(path, master, reading))
    engine.reading = reading
    engine.parsed = is_text(path)
    return engine


def stored_frame(path: str, master: str | None = None, reading: Reading = STANDARD) -> Any:
    """Return a data frame of stored data; see `open_stored`."""
    session = _session(master)
    if path.startswith(TABLE):
        name = path.removeprefix(TABLE)
        return _opened(lambda: session.table(name), "the table", name)
    if is_text(path):
        return _opened(lambda: _texts(session, path, reading), "the file", path, reading.encoding)
    return _opened(lambda: session.read.parquet(path), "the file", path)


def _opened(open_: Callable[[], Any], what: str, name: str, encoding: str | None = None) -> Any:
    """Let Spark find a file or a table, without reading its rows yet.

    No failure here depends on a record, except for a file that is not Parquet at all.
    """
    with unlogged():
        try:
            return open_()
        except SourdineError:
            raise
        except Exception as raised:  # noqa: BLE001 - Spark has many types of errors
            error = raised
    condition = str(condition_of(error))
    if condition.startswith("INVALID_PARAMETER_VALUE.CHARSET"):
        raise ParameterError(
            "encoding",
            "be an encoding that Spark reads: utf-8, iso-8859-1, us-ascii, utf-16 or utf-32",
            repr(encoding), "Save the file in one of them, or omit --engine.",
        )  # fmt: skip
    where = "" if "://" in name else f"; the current folder is {str(Path.cwd())!r}"
    if condition in {"PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"}:
        if what == "the table":
            raise ParameterError(what, "exist", repr(name), "Check the name.")
        raise MissingFileError(what, "exist", name, f"Check the path{where}.")
    raise ParameterError(
        what, "be readable by Spark", repr(name),
        "Spark reads CSV and folders of Parquet files. A colon is only allowed in an "
        "address such as s3a://bucket/name, whose file system Spark must support.",
    )  # fmt: skip


def is_text(path: str) -> bool:
    """Return whether a path is CSV: by its extension, or by the files in the folder."""
    if path.startswith(TABLE):
        return False
    if path.lower().endswith(CSV):
        return True
    folder = Path(path)
    return folder.is_dir() and any(file.name.lower().endswith(CSV) for file in folder.iterdir())


def _texts(session: Any, path: str, reading: Reading) -> Any:
    """Read records as texts, each line on its own: none changes how another is read.

    Spark's CSV reader fails on a line with more columns than expected. So it reads whole lines,
    as files with one column, and of each line at most as many separators as its parser accepts.
    """
    separator = reading.separator or ("\t" if path.lower().endswith((".tsv", ".tsv.gz")) else ",")
    parsing = {
        "mode": "PERMISSIVE",
        "sep": separator,
        "escape": '"',
        "quote": '"' if reading.quotes else "",
    }

    def reader() -> Any:
        return session.read.option("multiLine", "false").option("encoding", reading.encoding)

    headed = reading.header is None
    if headed:
        for first in reader().options(**parsing).csv(path).take(1):
            require_different([name for name in first if name] or [""])  # Spark numbers duplicates
    names = reading.header or tuple(reader().options(**parsing, header="true").csv(path).columns)
    # An unguessable separator, and a quote that is not a character: a line is one column.
    whole = {"sep": token_hex(16), "quote": "\uffff", "escape": "\uffff"}
    lines = reader().options(**whole, header=str(headed).lower()).schema("line string").csv(path)
    f = functions(lines)
    most = max(_SEPARATORS, 2 * len(names))
    types = ", ".join(f"c{i} string" for i in range(len(names)))
    first = f.substring_index(f.col("line"), separator, most)
    parsed = f.from_csv(first, types, {**parsing, "maxColumns": str(most + 1)})
    return lines.select(parsed.alias("record")).select("record.*").toDF(*names)


def _session(master: str | None) -> Any:
    """Return a Spark session, which needs Java."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError.of("spark", ", and install Java 17") from None
    where = master or "local[*]"
    remote = where.startswith("sc://")
    builder = SparkSession.builder.appName("sourdine")
    builder = builder.remote(where) if remote else builder.master(where)
    settings = {} if remote else QUIET
    if where.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = QUIET | LOCAL
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception:  # noqa: BLE001 - Spark has many types of errors
        raise ParameterError(
            "master", "be a Spark master that can be reached", repr(where),
            "Check its address, and that Java 17 is installed: on the path, or in JAVA_HOME.",
        ) from None  # fmt: skip
    if not remote:
        session.sparkContext.setLogLevel("OFF")
        OPENED.append(session)
    return session


def progress() -> tuple[str, float] | None:
    """Return what Spark is doing, in words, and the completed fraction of its tasks."""
    for session in OPENED:
        tracker = session.sparkContext.statusTracker()
        jobs, stages = tracker.getActiveJobsIds(), tracker.getActiveStageIds()
        infos = [info for info in map(tracker.getStageInfo, stages) if info is not None]
        tasks = sum(info.numTasks for info in infos)
        if jobs and tasks:
            done = sum(info.numCompletedTasks for info in infos)
            return f"job {max(jobs) + 1}, stage {max(stages) + 1}", done / tasks
    return None
