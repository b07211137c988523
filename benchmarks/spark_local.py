"""Local privacy on Spark beside one machine: sanitising while tasks are killed, and estimates.

Run ``python benchmarks/spark_local.py`` in an environment with PySpark and Java 17 (``--rows 1e6``,
``--cores 2``, ``--files 8``). Records of nine columns are written to Parquet files and sanitised to
Parquet: on one machine, by its processes; by Spark, straight from the scan, each file in a task of
its own; by Spark after a shuffle, which takes a sort and another shuffle more. While Spark works, a
task of every stage is killed once. One column is reported truly: every one of its 1000 values must
occur as often as it did before, else a record was lost or counted twice, and the exit status is 1;
so it is if Spark takes more than three times as long from a scan. Beside it stands what Spark takes
to copy the records, and no more. Last, a tenth as many lines of reports are added up, each id once,
on one machine and by Spark, which must find the same. A Markdown copy goes to
``benchmarks/out/spark_local.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from small_spark import processors, session
from sourdine.local import Aggregator, Choice, Flag, Number, Schema, estimate
from sourdine.local.reports.records import to_lines
from sourdine.local.reports.sources import records

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPS = 1000
JOBS = [f"job {i}" for i in range(20)]
COLUMNS = {
    "batch": Choice(*range(GROUPS)),
    "age": Number(0, 120, step=1),
    "wage": Number(0, 200_000, step=100),
    "height": Number(1, 2.5, step=0.01),
    "region": Choice("n", "s", "e", "w"),
    "job": Choice(*JOBS),
    "vote": Choice("a", "b", "c"),
    "smokes": Flag(),
    "drinks": Flag(),
}
SCHEMA = Schema(**COLUMNS, epsilon=108, weights={"batch": 100}, missing="random")
MOST = 3.0
"""How many times as long as one machine Spark may take."""
HALFWAY = 0.3
"""A task is killed when it has run for so many seconds."""


def write(folder: Path, rows: int, files: int) -> None:
    """Write the records; a batch's number goes round, so each occurs equally often."""
    for i in range(files):
        rng = np.random.default_rng(i)
        first, last = rows * i // files, rows * (i + 1) // files
        n = last - first
        table = pa.table(
            {
                "batch": np.arange(first, last) % GROUPS,
                "age": rng.integers(0, 100, n),
                "wage": np.round(rng.lognormal(10, 0.6, n), 2),
                "height": rng.normal(1.7, 0.1, n),
                "region": pa.array(list("nsew")).take(pa.array(rng.integers(0, 4, n))),
                "job": pa.array(JOBS).take(pa.array(rng.integers(0, len(JOBS), n))),
                "vote": pa.array(list("abc")).take(pa.array(rng.integers(0, 3, n))),
                "smokes": rng.integers(0, 2, n) == 1,
                "drinks": rng.integers(0, 2, n) == 1,
            }
        )
        pq.write_table(table, folder / f"part-{i:03d}.parquet")


class Killer(Thread):
    """Kills a task of every stage once, some time after it began.

    Parameters
    ----------
    spark
        The session whose tasks are killed.
    """

    def __init__(self, spark: Any) -> None:
        super().__init__(daemon=True)
        self._context = spark.sparkContext._jsc.sc()  # noqa: SLF001
        self._tracker = spark.sparkContext.statusTracker()
        self._ended = Event()
        self.killed: dict[int, int] = {}

    def run(self) -> None:
        """Look for running tasks until the work has ended."""
        while not self._ended.wait(0.1):
            for stage in self._tracker.getActiveStageIds():
                if stage not in self.killed:
                    self._kill_one(stage)

    def _kill_one(self, stage: int) -> None:
        try:
            tasks = self._context.statusStore().taskList(stage, 0, 100)
        except Exception:  # noqa: BLE001 - a stage that has just begun is not stored yet
            return
        for i in range(tasks.size()):
            task = tasks.apply(i)
            if task.status() == "RUNNING" and time() - task.launchTime().getTime() / 1e3 > HALFWAY:
                self._context.killTaskAttempt(task.taskId(), True, "benchmark")  # noqa: FBT003
                self.killed[stage] = task.taskId()
                return

    def end(self) -> int:
        """Stop, and return how many tasks were killed."""
        self._ended.set()
        self.join()
        return len(self.killed)


def is_whole(clean: Any, rows: int) -> bool:
    """Return whether every batch occurs as often as before."""
    found = clean.groupBy("batch").count().toPandas()
    wanted = np.bincount(np.arange(rows) % GROUPS, minlength=GROUPS)
    counts = np.zeros(GROUPS, np.int64)
    counts[found["batch"].astype(int)] = found["count"]
    return bool((counts == wanted).all())


@dataclass(frozen=True)
class Took:
    """How long work took, on the clock and of all processors."""

    wall: float
    cpu: float

    def over(self, other: Took) -> str:
        """Return the cells of a table: seconds, and how many times another."""
        ratios = f"{self.wall / other.wall:.1f} | {self.cpu / other.cpu:.1f}"
        return f"{self.wall:.1f} | {self.cpu:.1f} | {ratios}"


def timed(what: str, work: Callable[[], Any]) -> tuple[Took, Any]:
    """Do something, and say how long it took."""
    print(f"{what} ...", end=" ", flush=True)
    start, used = perf_counter(), processors()
    found = work()
    took = Took(perf_counter() - start, processors() - used)
    print(f"{took.wall:.1f} s, {took.cpu:.1f} s of processors", flush=True)
    return took, found


def by_spark(name: str, data: Any, folder: Path, *, kills: bool) -> tuple[Took, Any, int]:
    """Sanitise a frame; return the time, what was written, and how many tasks were killed."""
    what = f"from {name}" + (", tasks killed" if kills else "")
    to = str(folder / what.replace(" ", "-"))
    killer = Killer(data.sparkSession)
    if kills:
        killer.start()
    took, clean = timed(f"Spark sanitises {what}", lambda: SCHEMA.sanitize(data, to=to))
    return took, clean, killer.end() if kills else 0


def measured(folder: Path, rows: int, files: int, cores: int) -> tuple[list[str], bool]:
    """Return the lines of the table, and whether all was as it should be."""
    (folder / "raw").mkdir()
    timed(f"{rows} records to {files} files", lambda: write(folder / "raw", rows, files))
    raw, one = str(folder / "raw" / "*.parquet"), str(folder / "one.parquet")
    alone, _ = timed("one machine sanitises", lambda: SCHEMA.sanitize(raw, to=one, progress=False))
    counted, _ = timed("one machine estimates", lambda: estimate(one))
    lines, met = [f"| sanitise, one machine | {alone.over(alone)} | | |"], True
    spark = session(cores, heap="2g")
    spark.conf.set("spark.sql.files.openCostInBytes", "128m")  # no two files in one task
    frame = spark.read.parquet(str(folder / "raw"))
    none = frame.filter("age < 0")
    timed("Spark begins", lambda: SCHEMA.sanitize(none, to=str(folder / "none")))
    shuffled = frame.repartition(2 * cores, "region", "job")
    for name, data, most in (("a scan", frame, MOST), ("a shuffle", shuffled, None)):
        for kills in (False, True):
            took, clean, killed = by_spark(name, data, folder, kills=kills)
            whole, soon = is_whole(clean, rows), most is None or took.wall <= most * alone.wall
            met = met and whole and soon and (killed > 0) is kills
            once = "yes" if whole else "NO"
            lines.append(f"| sanitise from {name} | {took.over(alone)} | {killed} | {once} |")
    copied = str(folder / "copied")
    copy, _ = timed("Spark copies", lambda: frame.write.parquet(copied))
    took, _ = timed("Spark estimates", lambda: estimate(clean))
    lines += [
        f"| a mere copy | {copy.over(alone)} | | |",
        f"| estimate, one machine | {counted.over(counted)} | | |",
        f"| estimate | {took.over(counted)} | | |",
    ]
    added, same = reported(spark, folder, rows // 10, files)
    spark.stop()
    return lines + added, met and same


def reported(spark: Any, folder: Path, rows: int, files: int) -> tuple[list[str], bool]:
    """Add up lines of reports; return lines of the table, and whether Spark found the same."""
    (folder / "lines").mkdir()
    for i in range(files):
        first = pq.read_table(folder / "raw" / f"part-{i:03d}.parquet").slice(0, rows // files)
        lines = [line for some in records(SCHEMA, first) for line in to_lines(some)]
        (folder / "lines" / f"{i}.jsonl").write_text("\n".join(lines))
    here, there = Aggregator(SCHEMA), Aggregator(SCHEMA, remember="frame")

    def one_machine() -> None:
        for path in sorted((folder / "lines").iterdir()):
            here.add(path)

    alone, _ = timed(f"one machine adds up {rows} reports", one_machine)
    frame = spark.read.text(str(folder / "lines"))
    took, _ = timed("Spark adds them up", lambda: there.add(frame))
    same = all(map(np.array_equal, here.numbers, there.numbers))
    return [
        f"| {rows} reports, one machine | {alone.over(alone)} | | |",
        f"| {rows} reports | {took.over(alone)} | | {'yes' if same else 'NO'} |",
    ], same


def main() -> None:
    """Print a table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--files", type=int, default=8)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    rows = int(given.rows)
    with tempfile.TemporaryDirectory() as place:
        lines, met = measured(Path(place), rows, given.files, given.cores)
    titles = ["work", "s", "CPU s", "times one machine", "CPU", "tasks killed", "each record once"]
    head = f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"
    size = f"{rows:.0e} rows of {len(COLUMNS)} columns in {given.files} files"
    where = f"{size}, local[{given.cores},4], load {os.getloadavg()[0]:.1f}"
    out = Path(__file__).parent / "out" / "spark_local.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join([where, "", head, *lines, ""]))
    print(out.read_text())
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
