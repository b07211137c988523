"""Sanitise while Spark starts slow tasks twice, and look for each record.

Spark speculates on a cluster alone: here one of a master and two workers on this machine, with
``spark.speculation``. The first attempt of one task takes its time after it has drawn all its
reports, so that Spark starts another attempt of it elsewhere. Every attempt writes down what it
drew. Then:

* some task ran in two attempts at once;
* whatever attempt drew it, a record has one report;
* the folder holds one report of each record.

Run ``python benchmarks/spark_speculation.py`` (``--rows 2e5``) in an environment with PySpark and
Java 17. The exit status is 1 on failure.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark import TaskContext, cloudpickle

from small_spark import SETTINGS, cluster
from sourdine.local import Number, Schema
from sourdine.local.spark import sanitizing
from sourdine.local.spark.tasks import Randomise

if TYPE_CHECKING:
    from collections.abc import Iterator

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.efficiency.enabled": "false",
}
SLOW = 60.0
"""How many seconds the slow attempt takes."""
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@dataclass(frozen=True)
class Slow(Randomise):
    """Randomises, writes down what it drew, and the first attempt of one task takes its time."""

    seen: str = ""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the reports."""
        task = TaskContext.get()
        yield from super().__call__(batches)
        if task.partitionId() == 0 and task.attemptNumber() == 0:
            time.sleep(SLOW)

    def reports(self, slots: Any, source: Any) -> Any:
        """Return the reports of a block."""
        shown = super().reports(slots, source)
        task = TaskContext.get()
        place = [task.partitionId(), task.attemptNumber()]
        drawn = [column.tolist() for column in (*slots, *shown)]
        Path(self.seen, uuid4().hex).write_text(json.dumps([place, drawn]))
        return shown


def session(url: str) -> Any:
    """Return a Spark of two executors, which speculates."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(url)
    for name, value in {**SETTINGS, **SPECULATION}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def observed(
    schema: Schema, rows: int, url: str, folder: Path
) -> tuple[Any, Any, list[int], float]:
    """Return attempts of tasks, draws for each record, what was written, and seconds."""
    seen = folder / "seen"
    seen.mkdir()
    sanitizing.Randomise = lambda *args: Slow(*args, seen=str(seen))  # type: ignore[assignment, misc]
    spark = session(url)
    people = spark.range(0, rows, 1, 8).selectExpr("id as person", "id * 7 as wage")
    start = time.perf_counter()
    clean = schema.sanitize(people, to=str(folder / "clean"))
    took = time.perf_counter() - start
    attempts, drawn = defaultdict(set), defaultdict(set)
    for path in seen.iterdir():
        (task, attempt), columns = json.loads(path.read_text())
        attempts[task].add(attempt)
        for person, _, own, wage in zip(*columns, strict=True):
            drawn[person].add((own, wage))
    written = sorted(row["person"] for row in clean.select("person").collect())
    spark.stop()
    return attempts, drawn, written, took


def main() -> None:
    """Sanitise, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=float, default=2e5)
    rows = int(parser.parse_args().rows)
    schema = Schema(
        person=Number(0, rows - 1, step=1, method="laplace"),
        wage=Number(0, 10**6, step=1),
        epsilon=10**9,
        weights={"person": 10**9 - 1, "wage": 1},
        missing="random",
    )
    with tempfile.TemporaryDirectory() as place, cluster(Path(place)) as url:
        attempts, drawn, written, took = observed(schema, rows, url, Path(place))
    twice = sum(len(own) > 1 for own in attempts.values())
    held = {
        "a task ran twice": twice > 0,
        "the slow attempt was not waited for": took < SLOW,
        "each record has one draw": {len(own) for own in drawn.values()} == {1},
        "each record was drawn": len(drawn) == rows,
        "each record is written once": written == list(range(rows)),
    }
    print(f"{rows} records, {len(attempts)} tasks, {twice} of them twice, {took:.1f} s")
    print(*(f"{'yes' if kept else 'NO '} {what}" for what, kept in held.items()), sep="\n")
    sys.exit(not all(held.values()))


if __name__ == "__main__":
    main()
