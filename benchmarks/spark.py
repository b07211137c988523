"""How far Spark goes: time, jobs and bytes to the driver, beside plain Spark and DuckDB.

Run ``python benchmarks/spark.py`` in an environment with PySpark and Java 17 (``--rows 1e6``,
``--cores 2``, ``--partitions 8``). A folder of Parquet files is written to a temporary folder. For
each statistic the whole call is timed, from the frame to the noisy answer; beside it what one types
without privacy (``avg``, ``groupBy().agg``, ``percentile_approx``, exact ``percentile``), and
Sourdine on the same files through DuckDB. The second of two runs counts. Jobs and bytes of results
are read from Spark's own status store. A Markdown copy goes to ``benchmarks/out/spark.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sourdine as sd

if TYPE_CHECKING:
    from collections.abc import Callable

DECILES = [i / 10 for i in range(1, 10)]
WAGE: dict[str, Any] = {"column": "wage", "bounds": (0, 200_000), "epsilon": 1}
REGIONS: dict[str, Any] = {"by": "region", "keys": ["n", "s", "e", "w"]}
BINS = [0, 10_000, 20_000, 50_000, 100_000]
WORDS = ["mean", "sum", "variance", "median", "deciles"]
CALLS: dict[str, Callable[[Any], object]] = {
    "count": lambda x: sd.count(x, epsilon=1),
    "mean": lambda x: sd.mean(x, **WAGE),
    "variance": lambda x: sd.variance(x, **WAGE),
    "histogram": lambda x: sd.histogram(x, column="wage", bins=BINS, epsilon=1),
    "deciles": lambda x: sd.quantiles(x, DECILES, **WAGE),
    "mean by 4 keys": lambda x: sd.mean(x, **WAGE, **REGIONS),
    "deciles by 4 keys": lambda x: sd.quantiles(x, DECILES, **WAGE, **REGIONS),
    "table of 10": lambda x: sd.table(
        x,
        of={"wage": WORDS, "age": WORDS},
        bounds={"wage": (0, 200_000), "age": (0, 120)},
        epsilon=4,
    ),
    "mean, 2 rows a person": lambda x: sd.mean(x, unit="patient", rows=2, **WAGE),
}


def plain_calls() -> dict[str, Callable[[Any], object]]:
    """Return what one types in plain Spark."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    nine = f.array(*(f.lit(q) for q in DECILES))
    bins = sum((f.col("wage") >= edge).cast("int") for edge in BINS[1:-1])
    exact = f.expr(f"percentile(wage, array({', '.join(map(str, DECILES))}))")
    return {
        "count": lambda x: x.count(),
        "mean": lambda x: x.agg(f.avg("wage")).collect(),
        "variance": lambda x: x.agg(f.var_pop("wage")).collect(),
        "histogram": lambda x: x.groupBy(bins.alias("b")).count().collect(),
        "deciles": lambda x: x.agg(f.percentile_approx("wage", nine)).collect(),
        "deciles, exact": lambda x: x.agg(exact).collect(),
        "mean by 4 keys": lambda x: x.groupBy("region").agg(f.avg("wage")).collect(),
        "deciles by 4 keys": lambda x: (
            x.groupBy("region").agg(f.percentile_approx("wage", nine)).collect()
        ),
    }


def write(folder: Path, rows: int, files: int) -> None:
    """Write wages, ages, regions and persons."""
    for i in range(files):
        rng = np.random.default_rng(i)
        n = rows // files
        table = pa.table(
            {
                "wage": np.round(rng.lognormal(10, 0.6, n), 2),
                "age": rng.integers(18, 90, n),
                "region": np.array(list("nsew"))[rng.integers(0, 4, n)],
                "patient": rng.integers(0, max(rows // 3, 1), n),
            }
        )
        pq.write_table(table, folder / f"part-{i:03d}.parquet")


def session(cores: int) -> Any:  # noqa: ANN401
    """Return a small Spark: a heap of 1 GB, results of 32 MB at most."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.maxResultSize": "32m",
        "spark.sql.shuffle.partitions": "8",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def done(spark: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return the jobs and the bytes of results so far."""
    context = spark.sparkContext._jsc.sc()  # noqa: SLF001
    context.listenerBus().waitUntilEmpty()
    size = i = 0
    while True:
        try:
            size += context.statusStore().lastStageAttempt(i).resultSize()
        except Exception:  # noqa: BLE001 - there is no such stage
            return context.statusStore().jobsList(None).size(), size
        i += 1


def timed(work: Callable[[], object], repeats: int) -> float:
    """Return the time of the last of several runs."""
    for _ in range(repeats):
        start = perf_counter()
        work()
        last = perf_counter() - start
    return last


def main() -> None:
    """Print a table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    rows = int(given.rows)
    lines = ["| statistic | Spark, s | jobs | kB to the driver | plain Spark, s | DuckDB, s |"]
    lines.append("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, rows, given.partitions)
        spark = session(given.cores)
        frame, plain = spark.read.parquet(place), plain_calls()
        for name in {**CALLS, **plain}:
            cells = ["", "", "", "", ""]
            if name in CALLS:
                work = CALLS[name]
                seconds = timed(lambda work=work: work(frame), given.repeats)
                before = done(spark)
                work(frame)
                jobs, size = (b - a for a, b in zip(before, done(spark), strict=True))
                duck = timed(lambda work=work: work(f"{place}/*.parquet"), given.repeats)
                cells = [f"{seconds:.2f}", str(jobs), f"{size / 1e3:.0f}", "", f"{duck:.2f}"]
            if name in plain:
                own = plain[name]
                cells[3] = f"{timed(lambda own=own: own(frame), given.repeats):.2f}"
            lines.append(f"| {name} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
        spark.stop()
    where = f"{rows:.0e} rows, {given.partitions} files, local[{given.cores}]"
    out = Path(__file__).parent / "out" / "spark.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text(f"{where}, load {os.getloadavg()[0]:.1f}\n\n" + "\n".join(lines) + "\n")
    print(out.read_text())


if __name__ == "__main__":
    main()
