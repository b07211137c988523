"""A small Spark on this machine, for the benchmarks that use one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SETTINGS", "children", "cluster", "processors", "session"]

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.maxResultSize": "32m",
}


def session(cores: int, *, heap: str = "1g", shuffled: int = 8) -> Any:
    """Return a Spark of some cores whose tasks may fail three times; results fit 32 MB."""
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores},4]")
    own = {"spark.driver.memory": heap, "spark.sql.shuffle.partitions": str(shuffled)}
    for name, value in {**SETTINGS, **own}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """Run a cluster of Spark's own on this machine, each worker with one core; yield its address.

    Every worker has a loopback address of its own: Spark, which never starts a second attempt of a
    task on the host of the first, takes them for different hosts.

    Parameters
    ----------
    folder
        Where processes log, and executors work.
    workers
        How many executors there may be.
    """
    with ExitStack() as until:
        master = until.enter_context(_started(folder, "master", "127.0.0.1", "--port", "0"))
        url = _said(master, r"Starting Spark master at (spark://\S+)")
        for i in range(workers):
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{i}"))
            worker = until.enter_context(_started(folder, "worker", f"127.0.0.{2 + i}", *size, url))
            _said(worker, "Successfully registered with master")
        yield url


@contextmanager
def _started(folder: Path, role: str, host: str, *given: str) -> Iterator[Path]:
    """Start a process of the cluster, which ends with the block; yield where it logs."""
    import pyspark

    command = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    made = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
    log = folder / f"{role}-{host}.log"
    own = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_NO_DAEMONIZE": "1"}
    with log.open("w") as out:
        process = subprocess.Popen(  # noqa: S603 - our own words
            [command, made, "--host", host, "--webui-port", "0", *given],
            stdout=out, stderr=out, env=own,
        )  # fmt: skip
    try:
        yield log
    finally:
        process.terminate()
        process.wait(60)


def _said(log: Path, pattern: str, patience: float = 60) -> str:
    """Wait until a log says something, and return what stands in the brackets of the pattern."""
    until = monotonic() + patience
    while not (found := re.search(pattern, log.read_text())):
        if monotonic() > until:
            raise TimeoutError(log.read_text())
        sleep(0.1)
    return found[found.lastindex or 0]


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
