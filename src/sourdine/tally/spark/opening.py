"""A session of Spark's, and a folder or table in it: for those who have no data frame yet."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.tally.engine import require_different
from sourdine.tally.opening import CSV
from sourdine.tally.reading import STANDARD
from sourdine.tally.spark.engine import Spark
from sourdine.tally.spark.frames import guarded

if TYPE_CHECKING:
    from sourdine.tally.reading import Reading

__all__ = ["TABLE", "open_stored", "progress", "stored_frame"]

TABLE = "spark:"
"""What stands before the name of a table."""
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
"""No page tells how many rows pass a filter: exact counts."""
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""A Spark on this machine talks to nobody else."""
OPENED: list[Any] = []
"""The sessions that were opened here, whose progress may be asked for."""


def open_stored(path: str, master: str | None = None, reading: Reading = STANDARD) -> Spark:
    """Return the engine over a folder or a file of Parquet or CSV, or over a table.

    Parameters
    ----------
    path
        A folder, a file or a pattern, wherever Spark can read; ``spark:NAME`` for a table.
    master
        Where Spark runs: ``local[4]``, ``spark://host:7077``, ``sc://host:15002`` for Connect; this
        machine if left out.
    reading
        How text is read.
    """
    engine = Spark(stored_frame(path, master, reading))
    engine.reading = reading
    engine.parsed = not path.startswith(TABLE) and _is_text(path)
    return engine


def stored_frame(path: str, master: str | None = None, reading: Reading = STANDARD) -> Any:  # noqa: ANN401
    """Return a data frame of what is stored somewhere; see `open_stored`."""
    session = _session(master)
    if path.startswith(TABLE):
        return guarded(lambda: session.table(path.removeprefix(TABLE)))
    if "://" not in path and not any(Path().glob(path) if not Path(path).is_absolute() else [1]):
        raise ParameterError(
            "the file",
            "be there",
            repr(path),
            f"Check the name and the folder, which is {str(Path.cwd())!r} now.",
        )
    if _is_text(path):
        return guarded(lambda: _texts(session, path, reading))
    return guarded(lambda: session.read.parquet(path))


def _is_text(path: str) -> bool:
    """Return whether a path is of CSV: by its end, or by the files in the folder."""
    if path.lower().endswith(CSV):
        return True
    folder = Path(path)
    return folder.is_dir() and any(file.name.lower().endswith(CSV) for file in folder.iterdir())


def _texts(session: Any, path: str, reading: Reading) -> Any:  # noqa: ANN401
    """Read records as texts, each line on its own: none changes how another is read."""
    tabs = path.lower().endswith((".tsv", ".tsv.gz"))
    reader = (
        session.read.option("mode", "PERMISSIVE")
        .option("multiLine", "false")
        .option("escape", '"')
        .option("sep", reading.separator or ("\t" if tabs else ","))
        .option("encoding", reading.encoding)
        .option("quote", '"' if reading.quotes else "")
    )
    if reading.header is None:
        for first in reader.csv(path).take(1):  # Spark would number names that stand twice
            require_different([name for name in first if name] or [""])
        return reader.option("header", "true").csv(path)
    return reader.csv(path).toDF(*reading.header)


def _session(master: str | None) -> Any:  # noqa: ANN401
    """Return a session of Spark's, which it takes Java to have."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise ParameterError(
            "engine",
            "be installed",
            "spark without PySpark",
            "Type pip install 'sourdine[spark]', and install Java 17.",
        ) from None
    where = master or "local[*]"
    builder = SparkSession.builder.appName("sourdine")
    if where.startswith("sc://"):
        builder = builder.remote(where)
    else:
        builder = builder.master(where)
        settings = QUIET
        if where.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            settings = QUIET | LOCAL
        for name, value in settings.items():
            builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception:  # noqa: BLE001 - Spark has many kinds of errors
        raise ParameterError(
            "master",
            "be a Spark that can be reached",
            repr(where),
            "Check its address, and that Java 17 is installed: on the path, or in JAVA_HOME.",
        ) from None
    if not where.startswith("sc://"):
        session.sparkContext.setLogLevel("OFF")
        OPENED.append(session)
    return session


def progress() -> tuple[str, float] | None:
    """Return what Spark is doing, in words, and which part of its tasks is done.

    Examples
    --------
    >>> progress() is None
    True
    """
    for session in OPENED:
        tracker = session.sparkContext.statusTracker()
        jobs, stages = tracker.getActiveJobsIds(), tracker.getActiveStageIds()
        infos = [info for info in map(tracker.getStageInfo, stages) if info is not None]
        tasks = sum(info.numTasks for info in infos)
        if jobs and tasks:
            done = sum(info.numCompletedTasks for info in infos)
            return f"job {max(jobs) + 1}, stage {max(stages) + 1}", done / tasks
    return None
