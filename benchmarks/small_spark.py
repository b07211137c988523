"""A small Spark on this machine, for the benchmarks that use one."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

__all__ = ["children", "processors", "session"]

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.maxResultSize": "32m",
}


def session(cores: int, *, heap: str = "1g", shuffled: int = 8) -> Any:  # noqa: ANN401
    """Return a Spark of some cores whose tasks may fail three times; results fit 32 MB."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores},4]")
    own = {"spark.driver.memory": heap, "spark.sql.shuffle.partitions": str(shuffled)}
    for name, value in {**SETTINGS, **own}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def children() -> tuple[dict[int, int], dict[int, float]]:
    """Return the parent of each process, and its processors' seconds; Linux alone tells."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            own = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(path.parent.name)
        parents[pid] = int(own[1])
        used[pid] = sum(map(int, own[11:15])) / os.sysconf("SC_CLK_TCK")
    return parents, used


def processors() -> float:
    """Return the processors' seconds of this process and of all it started."""
    parents, used = children()
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(used.get(pid, 0.0) for pid in ours) or float("nan")
