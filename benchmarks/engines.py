"""Counting in DuckDB: deciles by intervals of values, and unit bounding, beside plain queries.

Run ``python benchmarks/engines.py`` (``--rows 1e8`` for a long look). A Parquet file of a float, of
a whole number and a text that name a person, who owns ten rows on average, and of a region is
written to a temporary folder. Each way is then run in a fresh process, in turns, and the best of
the repeats counts: deciles as they are read now, as they were (every row snapped anew to be left
out, blocks divided in 128 bits) and by DuckDB's own exact and approximate quantiles; the sum of at
most two rows of each person by one plain window that ranks by the value, by one that ranks by
DuckDB's hash of the row, and by unit bounding; the same of people with names, whose rows hold a
text besides. Multiples are of the seconds and of the processor time of the first way; other
programs disturb processor time least. Memory is the largest resident set. A Markdown copy goes to
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
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import duckdb
from rich.console import Console
from rich.table import Table

import sourdine as sd
from sourdine.frames import sql
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable

DECILES = [i / 10 for i in range(1, 10)]
BOUNDS, STEP = (0, 100), 1e-6
KEPT = 2
GIGABYTE = 1 << 30
OUT = Path(__file__).parent / "out" / "engines.md"


def written(path: Path, rows: int) -> None:
    """Write the file."""
    duckdb.sql("SELECT setseed(0.5)")
    normal = "50 + 12 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    person = f"CAST(random() * {rows // 10} AS BIGINT)"
    made = f"SELECT {normal} AS x, {person} AS who FROM range({rows})"  # noqa: S608
    made = f"SELECT *, 'p' || who AS name, substr('nsew', 1 + who % 4, 1) AS region FROM ({made})"  # noqa: S608
    duckdb.sql(f"COPY ({made}) TO '{path}'")


def deciles(path: str) -> None:
    """Draw deciles."""
    sd.quantiles(path, DECILES, column="x", bounds=BOUNDS, step=STEP, epsilon=1, interval=None)


def deciles_snapped(path: str) -> None:
    """Draw deciles as they were read: a row is snapped to know whether it is needed."""
    slots = sql._slots  # noqa: SLF001

    def in_128_bits(cell: Any, whole: str, x: str) -> tuple[str, str]:
        wide = f"// {sql.integer(cell.block)}"
        return tuple(
            s.replace(f"// {sql.integer(cell.block, 'BIGINT')}", wide)
            for s in slots(cell, whole, x)
        )  # type: ignore[return-value]

    sql.holding = lambda *asked: None  # type: ignore[assignment]  # noqa: ARG005
    sql._slots = in_128_bits  # noqa: SLF001
    deciles(path)


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
    "deciles": {
        "by intervals of values": deciles,
        "every row snapped anew": deciles_snapped,
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


def measured(task: str, way: str, path: Path) -> tuple[float, ...]:
    """Run one way in a process of its own: seconds, seconds of the processor, and gigabytes."""
    command = [sys.executable, __file__, "--task", task, "--way", way, "--path", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return tuple(map(float, json.loads(done.stdout)))


def run(task: str, way: str, path: str) -> None:
    """Do it here, and print what it took."""
    start, busy = perf_counter(), process_time()
    WAYS[task][way](path)
    seconds, busy = perf_counter() - start, process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    sys.stdout.write(json.dumps([seconds, busy, memory]))


def compare(path: Path, task: str, repeats: int) -> list[tuple[str, list[float]]]:
    """Return what each way took at best, in all and as multiples of the first."""
    found: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS[task]}
    for _ in range(repeats):
        for way, runs in found.items():
            runs.append(measured(task, way, path))
    best = {way: list(map(min, zip(*runs, strict=True))) for way, runs in found.items()}
    first = next(iter(best.values()))
    return [(way, [*own, own[0] / first[0], own[1] / first[1]]) for way, own in best.items()]


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--task", choices=WAYS)
    parser.add_argument("--way")
    parser.add_argument("--path")
    options = parser.parse_args()
    if options.way:
        run(options.task, options.way, options.path)
        return
    console = Console()
    lines = [
        f"{options.rows:.0e} rows, {cpu_count()} cores, {machine()}, Python {python_version()}"
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        written(path, int(options.rows))
        for task in [options.task] if options.task else WAYS:
            heads = ("seconds", "processor", "GB", "times the first", "in processor time")
            table = Table("way", *heads, title=task)
            lines += ["", f"| {task} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
            for way, found in compare(path, task, options.repeats):
                cells = (way, *(f"{x:.2f}" for x in found))
                table.add_row(*cells)
                lines.append(f"| {' | '.join(cells)} |")
            console.print(table)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
