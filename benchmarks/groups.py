"""Ten thousand groups: an answer for each, beside a plain GROUP BY of DuckDB on the same file.

Run ``python benchmarks/groups.py`` (``--rows 1e6`` for a short look). A Parquet file of a column of
keys and a column of numbers is written to a temporary folder. The plain way is what one types
without privacy, ``SELECT key, avg(x) FROM file GROUP BY key``; ours is the whole call, from the
file to noisy answers. Both run in turns, and the best of the repeats counts for both, on the clock
and in processor time, which other work on the machine disturbs less. The exit status is 1 if
counts, sums or means take more than ten times as long, on either. A Markdown copy goes to
``benchmarks/out/groups.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import sourdine as sd

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPS = 10_000
MOST = 10
"""As many times the plain query may be taken."""
BOUNDS: dict[str, Any] = {"column": "x", "bounds": (0, 120), "step": 1, "epsilon": 1}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("count(*)", {"epsilon": 1}),
    "sum": ("sum(x)", BOUNDS),
    "mean": ("avg(x)", BOUNDS),
    "variance": ("var_pop(x)", BOUNDS),
    "histogram": ("histogram(x)", {"column": "x", "bins": 12, "bounds": (0, 120), "epsilon": 1}),
    "median": ("median(x)", BOUNDS),
}
PROMISED = ("count", "sum", "mean")


def write(path: Path, rows: int, *, words: bool) -> None:
    """Write keys and numbers."""
    rng = np.random.default_rng(1)
    keys = rng.integers(0, GROUPS, rows)
    names = np.array([f"town {i:05d}" for i in range(GROUPS)])
    held = names[keys] if words else keys
    pq.write_table(pa.table({"key": held, "x": rng.integers(0, 121, rows)}), path)


def best(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the shortest time on the clock, and of the processor."""
    times = []
    for _ in range(repeats):
        clock, processor = perf_counter(), process_time()
        work()
        times.append((perf_counter() - clock, process_time() - processor))
    return min(clock for clock, _ in times), min(processor for _, processor in times)


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    rows, lines, late = int(given.rows), [], False
    for kind in ("numbers", "words"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            write(path, rows, words=kind == "words")
            keys = [f"town {i:05d}" for i in range(GROUPS)] if kind == "words" else range(GROUPS)
            for name, (plain, asked) in QUESTIONS.items():
                query = f"SELECT key, {plain} FROM '{path}' GROUP BY key"  # noqa: S608
                theirs = best(lambda: duckdb.sql(query).fetchall(), given.repeats)  # noqa: B023
                ask = getattr(sd, name)
                listed = {"by": "key", "keys": list(keys), **asked}
                ours = best(lambda: ask(path, **listed), given.repeats)  # noqa: B023
                ratios = [b / a for a, b in zip(theirs, ours, strict=True)]
                late |= name in PROMISED and max(ratios) > MOST
                times = [f"{time:.2f}" for time in (*theirs, *ours)]
                lines.append((kind, name, *times, *(f"{ratio:.1f}" for ratio in ratios)))
    heads = (
        *("keys", "statistic", "GROUP BY, s", "processor, s", "private, s", "processor, s"),
        *("ratio", "of processor time"),
    )
    table = Table(title=f"{rows:.0e} rows, {GROUPS} groups")
    for head in heads:
        table.add_column(head, justify="right")
    for line in lines:
        table.add_row(*line)
    Console().print(table)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    text = ["| " + " | ".join(line) + " |" for line in (heads, ["---:"] * len(heads), *lines)]
    (out / "groups.md").write_text("\n".join(text) + "\n")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
