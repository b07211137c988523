"""How long a filtered statistic takes in DuckDB, beside the same filter as plain SQL.

Run ``python benchmarks/filters.py [ROWS] [RUNS] [FILE]``: it writes a Parquet file of random rows,
by default into a temporary folder (a FILE that exists is read), and prints the median time of
several runs, in turns: the statistic of all rows, the statistic with ``where=``, and DuckDB's own
average with that filter. The statistic with a filter should take at most 1.3 times what the other
two take together; the exit status is 1 if it takes longer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import duckdb

import sourdine as sd

if TYPE_CHECKING:
    from collections.abc import Callable

WHERE = "age >= 18 and region in (1, 2)"
MOST = 1.3


def timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def write(rows: int, path: str) -> None:
    duckdb.sql(
        f"COPY (SELECT CAST(random() * 90 AS INTEGER) AS age, CAST(random() * 4 AS INTEGER) "  # noqa: S608
        f"AS region, random() * 100000 AS income FROM range({rows})) TO '{path}'"
    )


def main(path: str, runs: int) -> int:
    asked = {"column": "income", "bounds": (0, 100_000), "epsilon": 1}
    works = {
        "all rows": lambda: sd.mean(path, **asked),
        "where": lambda: sd.mean(path, **asked, where=WHERE),
        "plain SQL": lambda: duckdb.sql(
            f"SELECT avg(income) FROM '{path}' WHERE {WHERE}"  # noqa: S608
        ).fetchall(),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            times[name].append(timed(work))
    found = {name: median(own) for name, own in times.items()}
    for name, own in found.items():
        print(f"{name:10} {own:8.3f} s")
    ratio = found["where"] / (found["all rows"] + found["plain SQL"])
    print(f"where / (all rows + plain SQL) = {ratio:.2f}, at most {MOST}")
    return int(ratio > MOST)


if __name__ == "__main__":
    rows, runs, *given = [*sys.argv[1:], *("1e7", "5")[len(sys.argv) - 1 :]]
    with TemporaryDirectory() as folder:
        path = given[0] if given else str(Path(folder) / "rows.parquet")
        if not Path(path).exists():
            write(int(float(rows)), path)
        sys.exit(main(path, int(runs)))
