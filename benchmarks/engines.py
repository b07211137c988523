"""Statistics of a Parquet file beside plain queries of DuckDB.

Run ``python benchmarks/engines.py`` (``--rows 1e8`` for a long look, ``--task scans`` for a part).
A file of a float, of a whole number that names a person, who owns ten rows on average, of a region,
and for people also of their names, is written to a temporary folder. Each way is run in fresh
processes, in turns, after a call of it on a small file, and the median of the repeats counts.

The scans are held to targets: a mean takes at most 1.2 times as long as ``avg``, nine deciles
3 times, and a mean by groups 1.5 times as long as ``avg`` by groups, in seconds and in processor
time, in at most 600 MB, from 10^7 rows on; the exit status is 1 if a target is missed. Deciles then
stand beside DuckDB's own exact and approximate quantiles. Last, the sum of at most two rows of each
person is computed by one plain window that ranks by the value, by one that ranks by DuckDB's hash
of the row, and by unit bounding; and the same of people with names, whose rows hold a text besides.
Multiples are of the seconds and of the processor time of the first way; other programs disturb
processor time least. Memory is the largest resident set. A Markdown copy goes to
``benchmarks/out/engines.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from os import cpu_count
from pathlib import Path
from platform import machine, python_version
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import duckdb
from rich.console import Console
from rich.table import Table

import sourdine as sd
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable

DECILES = [i / 10 for i in range(1, 10)]
BOUNDS, STEP = (0, 100), 1e-6
REGIONS = ["north", "south", "east", "west", "centre"]
KEPT = 2
MOST_MEGABYTES = 600
ENOUGH = 1e7
"""Rows from which on targets hold: before that, opening a file counts."""
GIGABYTE = 1 << 30
SMALL = 1000
"""Rows of the file of a first call."""
OUT = Path(__file__).parent / "out" / "engines.md"


def written(path: Path, rows: int, *, names: bool) -> None:
    """Write a file, with names of people or without."""
    duckdb.sql("SELECT setseed(0.5)")
    normal = "50 + 12 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    person = f"CAST(random() * {rows // 10} AS BIGINT)"
    made = f"SELECT {normal} AS x, {person} AS who FROM range({rows})"  # noqa: S608
    named = "'p' || who AS name, " if names else ""
    made = f"SELECT *, {named}{REGIONS}[1 + who % 5] AS region FROM ({made})"  # noqa: S608
    duckdb.sql(f"COPY ({made}) TO '{path}'")


def plain_mean(path: str) -> None:
    """Ask DuckDB for the mean."""
    duckdb.sql(f"SELECT avg(x) FROM '{path}'").fetchall()  # noqa: S608


def plain_means(path: str) -> None:
    """Ask DuckDB for the mean of each region."""
    duckdb.sql(f"SELECT region, avg(x) FROM '{path}' GROUP BY region").fetchall()  # noqa: S608


def mean(path: str) -> None:
    """Draw the mean."""
    sd.mean(path, column="x", bounds=BOUNDS, epsilon=1)


def means(path: str) -> None:
    """Draw the mean of each region."""
    sd.mean(path, column="x", bounds=BOUNDS, by="region", keys=REGIONS, epsilon=1)


def deciles(path: str) -> None:
    """Draw deciles."""
    sd.quantiles(path, DECILES, column="x", bounds=BOUNDS, epsilon=1)


def fine_deciles(path: str) -> None:
    """Draw deciles from more ticks than are counted in one pass."""
    sd.quantiles(path, DECILES, column="x", bounds=BOUNDS, step=STEP, epsilon=1)


def exact_quantiles(path: str) -> None:
    """Ask DuckDB for exact deciles."""
    duckdb.sql(f"SELECT quantile_cont(x, {DECILES}) FROM '{path}'").fetchall()  # noqa: S608


def approximate_quantiles(path: str) -> None:
    """Ask DuckDB for approximate deciles."""
    duckdb.sql(f"SELECT approx_quantile(x, {DECILES}) FROM '{path}'").fetchall()  # noqa: S608


def bound(path: str, who: str = "who", *beside: str) -> None:
    """Sum the rows that unit bounding keeps."""
    kept = Frame(path).only("x", who, *beside).bound(who, KEPT)
    kept.total(Ticks("x", Grid(*BOUNDS, step=STEP)))


def bound_texts(path: str) -> None:
    """Sum the rows that unit bounding keeps, of people with names, in the order of texts too."""
    bound(path, "name", "region")


def plain_window(path: str, who: str = "who", by: str = "x") -> None:
    """Sum the least rows of each person by one window."""
    ranked = f"SELECT x, row_number() OVER (PARTITION BY {who} ORDER BY {by}) AS r FROM '{path}'"  # noqa: S608
    duckdb.sql(f"SELECT sum(x) FROM ({ranked}) WHERE r <= {KEPT}").fetchall()  # noqa: S608


def hashed_window(path: str) -> None:
    """Sum rows of each person by one window, in the order of their hashes."""
    plain_window(path, by="hash(x, who)")


def window_of_texts(path: str) -> None:
    """Sum rows of each person by one window, in the order of a text and of the value."""
    plain_window(path, "name", "region, x")


WAYS: dict[str, dict[str, Callable[[str], None]]] = {
    "scans": {
        "avg": plain_mean,
        "mean": mean,
        "deciles": deciles,
        "deciles of 10^8 ticks": fine_deciles,
    },
    "scans by groups": {"avg": plain_means, "mean": means},
    "deciles": {
        "deciles": deciles,
        "quantile_cont": exact_quantiles,
        "approx_quantile": approximate_quantiles,
    },
    "two rows of each person": {
        "one plain window": plain_window,
        "one window by hash": hashed_window,
        "unit bounding": bound,
    },
    "two rows of each person, with texts": {
        "one plain window": window_of_texts,
        "unit bounding": bound_texts,
    },
}


SCANS = ("scans", "scans by groups", "deciles")
TARGETS = {("scans", "mean"): 1.2, ("scans", "deciles"): 3.0, ("scans by groups", "mean"): 1.5}
"""At most this many times as long as the first way."""


def measured(task: str, way: str, path: Path) -> tuple[float, ...]:
    """Run one way in a process of its own: seconds, seconds of the processor, and gigabytes."""
    command = [sys.executable, __file__, "--task", task, "--way", way, "--path", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return tuple(map(float, json.loads(done.stdout)))


def run(task: str, way: str, path: str) -> None:
    """Do it here, and print what it took."""
    WAYS[task][way](str(Path(path).with_name("small.parquet")))
    start, busy = perf_counter(), process_time()
    WAYS[task][way](path)
    seconds, busy = perf_counter() - start, process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    sys.stdout.write(json.dumps([seconds, busy, memory]))


def compare(path: Path, task: str, repeats: int) -> list[tuple[str, list[float]]]:
    """Return what each way took, and that as multiples of the first."""
    found: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS[task]}
    for _ in range(repeats):
        for way, runs in found.items():
            runs.append(measured(task, way, path))
    usual = {way: list(map(median, zip(*runs, strict=True))) for way, runs in found.items()}
    first = next(iter(usual.values()))
    return [(way, [*own, own[0] / first[0], own[1] / first[1]]) for way, own in usual.items()]


def missed(task: str, way: str, found: list[float]) -> list[str]:
    """Return the targets that a way misses."""
    most = TARGETS.get((task, way))
    if most is None:
        return []
    _, _, gigabytes, *ratios = found
    names = zip(("time", "processor time"), ratios, strict=True)
    broken = [f"{task}, {way}: {r:.2f} times the {n}, not {most}" for n, r in names if r > most]
    if gigabytes * GIGABYTE > MOST_MEGABYTES * 1e6:
        broken.append(f"{task}, {way}: {gigabytes:.2f} GB, not {MOST_MEGABYTES} MB")
    return broken


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--task", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--way")
    parser.add_argument("--path")
    options = parser.parse_args()
    if options.way:
        run(options.task[0], options.way, options.path)
        return
    broken: list[str] = []
    console = Console()
    lines = [
        f"{options.rows:.0e} rows, {cpu_count()} cores, {machine()}, Python {python_version()}"
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        names = any(task not in SCANS for task in options.task)
        written(path, int(options.rows), names=names)
        written(path.with_name("small.parquet"), SMALL, names=names)
        for task in options.task:
            heads = ("seconds", "processor", "GB", "times the first", "in processor time")
            table = Table("way", *heads, title=task)
            lines += ["", f"| {task} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
            for way, found in compare(path, task, options.repeats):
                cells = (way, *(f"{x:.2f}" for x in found))
                table.add_row(*cells)
                lines.append(f"| {' | '.join(cells)} |")
                broken += missed(task, way, found) if options.rows >= ENOUGH else []
            console.print(table)
    for line in broken:
        console.print(f"missed: {line}")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join([*lines, "", *broken]) + "\n", encoding="utf-8")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
