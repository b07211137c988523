"""How long a filtered statistic takes in DuckDB, beside the same filter as plain SQL.

Run ``python benchmarks/filters.py [ROWS]``: it writes a Parquet file of random rows into a
temporary folder, and prints the median time of several runs, in turns: the statistic of all rows,
the statistic with ``where=``, and DuckDB's own average with that filter.
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
RUNS = 5


def timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main(rows: int) -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        duckdb.sql(
            f"COPY (SELECT CAST(random() * 90 AS INTEGER) AS age, CAST(random() * 4 AS INTEGER) "  # noqa: S608
            f"AS region, random() * 100000 AS income FROM range({rows})) TO '{path}'"
        )
        asked = {"column": "income", "bounds": (0, 100_000), "epsilon": 1}
        works = {
            "all rows": lambda: sd.mean(path, **asked),
            "where": lambda: sd.mean(path, **asked, where=WHERE),
            "plain SQL": lambda: duckdb.sql(
                f"SELECT avg(income) FROM '{path}' WHERE {WHERE}"  # noqa: S608
            ).fetchall(),
        }
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(RUNS):
            for name, work in works.items():
                times[name].append(timed(work))
        found = {name: median(own) for name, own in times.items()}
        for name, own in found.items():
            print(f"{name:10} {own:8.3f} s")
        both = found["all rows"] + found["plain SQL"]
        print(f"where / (all rows + plain SQL) = {found['where'] / both:.2f}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7)
