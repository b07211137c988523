"""Whole tables: a small one in a moment, ten million rows in constant memory.

Run ``python benchmarks/large_tables.py`` (``--rows 1e8`` for a long look, ``--rows 1e6`` for a
short one). A table of nine columns like the Pima data is written to a Parquet file in a temporary
folder, cleaned from file to file by `Schema.sanitize`, and by the naive way: the same file read
and written in batches with pyarrow, ``rng.laplace`` added to numbers and cut off at the bounds,
flags flipped where ``rng.random`` says so, all in floats that anyone can foresee. Each runs in a
fresh process, in turns, and the best of the repeats counts for both. Times are from file to file
without imports; peak memory is the largest resident set, of the process and of its largest helper.
The exit status is 1 if a target is missed. A Markdown copy goes to
``benchmarks/out/large_tables.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from platform import machine, python_version
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.local.table.columns import Flag, Number
from sourdine.local.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BATCH = 1 << 20
SMALL = 768
BYTES_A_ROW = 160
"""Of three files, on disk, generously."""
MEGABYTE = 1 << 20
EPSILON = 1
"""Of a column; a record costs nine times as much."""

BOUNDS = {
    "Pregnancies": (0, 17, 1),
    "Glucose": (0, 200, 1),
    "BloodPressure": (0, 130, 1),
    "SkinThickness": (0, 100, 1),
    "Insulin": (0, 850, 1),
    "BMI": (0, 70, 0.1),
    "DiabetesPedigreeFunction": (0, 2.5, 0.001),
    "Age": (20, 85, 1),
}
OUTCOME = "Outcome"
COLUMNS = len(BOUNDS) + 1


def schema() -> Schema:
    """Return the schema of the table."""
    numbers = {name: Number(low, high, step) for name, (low, high, step) in BOUNDS.items()}
    return Schema.of({**numbers, OUTCOME: Flag()}, epsilon=EPSILON * COLUMNS, missing="random")


def batch(rng: np.random.Generator, rows: int) -> dict[str, NDArray[np.generic]]:
    """Return some rows like the Pima data: bell-shaped between the bounds, on their steps."""
    out: dict[str, NDArray[np.generic]] = {}
    for name, (low, high, step) in BOUNDS.items():
        ticks = np.round(rng.beta(2, 4, rows) * (high - low) / step) * step + low
        out[name] = ticks.astype(np.int64) if step == 1 else np.round(ticks, 3)
    out[OUTCOME] = (rng.random(rows) < 0.35).astype(np.int64)
    return out


def batches(rows: int) -> Iterator[pa.Table]:
    """Yield the table in parts."""
    rng = np.random.default_rng(1)
    for start in range(0, rows, BATCH):
        yield pa.table(batch(rng, min(BATCH, rows - start)))


def write(path: Path, rows: int) -> None:
    """Write the table to a file."""
    writer = None
    for part in batches(rows):
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def naive(source: Path, target: Path) -> None:
    """Clean a table as one would without thinking."""
    rng, writer = np.random.default_rng(), None
    honest = 1 / (1 + np.exp(-EPSILON))
    with pq.ParquetFile(source) as file:
        for part in file.iter_batches(BATCH):
            out: dict[str, NDArray[np.generic]] = {}
            for name, (low, high, _) in BOUNDS.items():
                x = part[name].to_numpy().astype(np.float64)
                noisy = x + rng.laplace(scale=(high - low) / EPSILON, size=len(x))
                out[name] = np.clip(noisy, low, high)
            x = part[OUTCOME].to_numpy()
            out[OUTCOME] = np.where(rng.random(len(x)) < honest, x, 1 - x)
            table = pa.table(out)
            writer = writer or pq.ParquetWriter(target, table.schema)
            writer.write_table(table)
    if writer is not None:
        writer.close()


def ours(source: Path, target: Path) -> None:
    """Clean a table with Sourdine."""
    schema().sanitize(source, to=target, progress=False, overwrite=True)


def work(how: str, source: Path, target: Path) -> None:
    """Clean a table in this process and print what it took."""
    start, before = perf_counter(), used()
    (ours if how == "ours" else naive)(source, target)
    wall, cpu = perf_counter() - start, used() - before
    own, helper = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"wall": wall, "cpu": cpu, "own": own, "helper": helper}))


def used() -> float:
    """Return the CPU seconds of this process and of the helpers that ended."""
    whos = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, whos))


@dataclass(frozen=True)
class Taken:
    """What cleaning a file took: seconds, CPU seconds, megabytes of process and helper."""

    wall: float
    cpu: float
    own: float
    helper: float

    @classmethod
    def by(cls, how: str, source: Path, target: Path) -> Taken:
        """Run in a fresh process."""
        command = [sys.executable, __file__, "--work", how, str(source), str(target)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        return cls(**json.loads(done.stdout.splitlines()[-1]))

    def best(self, other: Taken) -> Taken:
        """Return the smaller times and the larger memories."""
        return Taken(
            min(self.wall, other.wall),
            min(self.cpu, other.cpu),
            max(self.own, other.own),
            max(self.helper, other.helper),
        )


@dataclass(frozen=True)
class Line:
    """A row of the result: what was measured, and whether it is as promised."""

    what: str
    measured: str
    target: str
    met: bool | None

    def cells(self) -> tuple[str, ...]:
        """Return the texts."""
        verdict = {True: "met", False: "MISSED", None: "-"}[self.met]
        return self.what, self.measured, self.target, verdict


def small() -> Line:
    """Time the small table, in memory."""
    table, plan = batch(np.random.default_rng(1), SMALL), schema()
    best = np.inf
    for _ in range(7):
        start = perf_counter()
        plan.sanitize(table)
        best = min(best, perf_counter() - start)
    return Line(f"{SMALL} x {COLUMNS} table", f"{best * 1e3:.1f} ms", "< 100 ms", best < 0.1)


def large(rows: int, rounds: int, folder: Path, console: Console) -> list[Line]:
    """Time the large table, and compare its memory with that of a tenth of it."""
    whole, tenth, target = (
        folder / "whole.parquet",
        folder / "tenth.parquet",
        folder / "out.parquet",
    )
    taken: dict[str, Taken] = {}
    with Progress(console=console) as progress:
        steps = progress.add_task("large table", total=2 * rounds + 2)
        write(whole, rows)
        write(tenth, rows // 10)
        progress.advance(steps)
        for how in ("ours", "naive") * rounds:
            now = Taken.by(how, whole, target)
            if pq.read_metadata(target).num_rows != rows:
                raise RuntimeError(f"{how} lost rows")
            taken[how] = now.best(taken.get(how, now))
            progress.advance(steps)
        few = Taken.by("ours", tenth, target)
        progress.advance(steps)
    us, them = taken["ours"], taken["naive"]
    ratio, cpu = us.wall / them.wall, us.cpu / them.cpu
    grown = us.own - few.own
    return [
        Line(f"{rows:,} rows, seconds", f"{us.wall:.1f} (naive {them.wall:.1f})", "-", None),
        Line("  ratio to the naive way", f"{ratio:.2f}x", "<= 3x", ratio <= 3),
        Line("  ratio of CPU seconds", f"{cpu:.2f}x (ours {us.cpu:.1f})", "-", None),
        Line("  nanoseconds a cell", f"{us.wall / rows / COLUMNS * 1e9:.0f}", "-", None),
        Line("  peak memory", f"{us.own:.0f} MB (naive {them.own:.0f})", "-", None),
        Line("  peak memory of a helper", f"{us.helper:.0f} MB", "-", None),
        Line("  more than for a tenth", f"{grown:.0f} MB", "< 200 MB", grown < 200),
    ]


def arguments() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", nargs=3, metavar=("HOW", "FROM", "TO"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure, print, write, and judge."""
    given = arguments()
    if given.work:
        how, source, target = given.work
        work(how, Path(source), Path(target))
        return 0
    console, rows = Console(width=None if sys.stdout.isatty() else 110), int(given.rows)
    with tempfile.TemporaryDirectory(prefix="sourdine-") as name:
        free, needed = shutil.disk_usage(name).free, rows * BYTES_A_ROW
        if free < needed:
            console.print(f"{needed >> 30} GB of disk are needed, {free >> 30} GB are free.")
            return 1
        lines = [small(), *large(rows, given.rounds, Path(name), console)]
    platform = f"{machine()}, {cpu_count()} cores, Python {python_version()}"
    table = Table("what", "measured", "target", "verdict", title=f"Large tables ({platform})")
    for line in lines:
        table.add_row(*line.cells())
    console.print(table)
    out = Path(__file__).parent / "out" / "large_tables.md"
    out.parent.mkdir(exist_ok=True)
    rows_text = [("what", "measured", "target", "verdict"), ("---",) * 4]
    rows_text += [line.cells() for line in lines]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in rows_text)
    out.write_text(f"# Large tables\n\n{platform}\n\n{text}\n", encoding="utf-8")
    return 1 if any(line.met is False for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
