"""Whether the bands of a distribution function hold, and how high they are.

Run ``python benchmarks/cdf.py`` (``--runs 1000``). The exit status is 1 if a promise is missed. A
Markdown copy goes to ``benchmarks/out/cdf.md``.

Records are drawn from US wages as from a population. A run counts as covered if the band holds at
every one of the 200,001 ticks: of the records' own distribution function, and of the population's.
Heights are beside that of the band without privacy (Dvoretzky, Kiefer, Wolfowitz, Massart). The
demand: at least 95% of the runs, and at n = 100,000, epsilon 1, 1.3 times that height at most.

The processor time of a call, with default step, is that of the 99 centiles of ``numpy.quantile``
on the same normal values times `TIMES` at most. ``--only 0`` measures times alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.central import Cdf
from sourdine.data import wages

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

OUT = Path(__file__).parent / "out"
LAST, MISS = 200_000, 0.05
HEADS = (
    "n", "epsilon", "relation", "runs", "records covered", "population covered",
    "height, records", "height, population", "times that without privacy", "kept",
)  # fmt: skip
TIMES = {100_000: 10.0, 1_000_000: 2.5}
CALLS = 9


@dataclass(frozen=True)
class Cell:
    """A setting, and how high the population's band may be."""

    n: int
    epsilon: float
    relation: str = "add_remove"
    most: float = 99.0


CELLS = (
    Cell(100_000, 1, most=1.3),
    Cell(100_000, 1, "substitute"),
    Cell(2_000, 1),
    Cell(100_000, 0.1),
    Cell(20_000, 1),
    Cell(300, 1),
)


def shares(ticks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share at or below every tick."""
    return np.cumsum(np.bincount(ticks, minlength=LAST + 1)) / len(ticks)


def holds(
    at: NDArray[np.int64],
    band: tuple[NDArray[np.float64], NDArray[np.float64]],
    truth: NDArray[np.float64],
) -> bool:
    """Return whether a band holds at every tick, between its knots too."""
    low, high = np.append(0.0, band[0]), np.append(band[1], 1.0)
    every = np.arange(LAST + 1)
    before = at.searchsorted(every, side="right")
    after = at.searchsorted(every, side="left")
    room = 1e-12
    return bool(((low[before] <= truth + room) & (truth <= high[after] + room)).all())


def judged(cell: Cell, runs: int, pool: NDArray[np.int64], rng: np.random.Generator) -> list[str]:
    """Return a row of the table."""
    population = shares(pool)
    asked = Cdf(bounds=(0, LAST), step=1, epsilon=cell.epsilon, relation=cell.relation)
    own, of_all, heights = 0, 0, []
    for _ in range(runs):
        x = pool[rng.integers(0, len(pool), cell.n)]
        release = asked.release(x)
        at = np.asarray(release.drawn["knots"], np.int64)[1:] - 1
        bands = [release.interval(1 - MISS, of=of) for of in ("sample", "population")]
        own += holds(at, bands[0], shares(x))
        of_all += holds(at, bands[1], population)
        knots = asked.knots(release.drawn)
        total = max(knots.total, 1.0)
        heights.append([knots.reach(MISS, of) / total for of in ("sample", "population")])
    sample, both = np.mean(heights, axis=0)
    alone = sqrt(log(2 / MISS) / (2 * cell.n))
    slack = 4 * sqrt(MISS * (1 - MISS) / runs)
    covered = min(own, of_all) / runs >= 1 - MISS - slack
    kept = covered and both / alone <= cell.most
    return [
        f"{cell.n}", f"{cell.epsilon:g}", cell.relation, f"{runs}", f"{own / runs:.3f}",
        f"{of_all / runs:.3f}", f"{sample:.4f}", f"{both:.4f}", f"{both / alone:.2f}",
        "yes" if kept else "NO",
    ]  # fmt: skip


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = process_time()
    call()
    return process_time() - start


def ratio(n: int) -> float:
    """Return how many times as long as the centiles of NumPy a distribution function takes."""
    x, orders = np.random.default_rng(1).normal(50, 15, n), np.arange(1, 100) / 100
    asked = Cdf(bounds=(0, 100), epsilon=1)
    both = [
        (seconds(lambda: asked.release(x)), seconds(lambda: np.quantile(x, orders)))
        for _ in range(CALLS + 1)
    ][1:]
    ours, theirs = (median(times) for times in zip(*both, strict=True))
    return ours / theirs


def main() -> int:
    """Run all settings, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", type=int, default=len(CELLS), help="the first so many settings")
    options = parser.parse_args()
    pool, rng = np.minimum(wages(), LAST), np.random.default_rng(11)
    rows = []
    with Progress(console=Console(stderr=True)) as progress:
        for cell in progress.track(CELLS[: options.only], description="bands"):
            rows.append(judged(cell, options.runs, pool, rng))
            progress.console.print(*rows[-1])
    quick = True
    for n, most in TIMES.items():
        times = ratio(n)
        quick &= times <= most
        print(f"n = {n}: {times:.1f} times the time of numpy.quantile, {most:g} at most")
    table = Table(*HEADS, title="Bands of distribution functions, US wages")
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)
    OUT.mkdir(exist_ok=True)
    lines = [" | ".join(row) for row in (HEADS, ("---",) * len(HEADS), *rows)]
    (OUT / "cdf.md").write_text("\n".join(f"| {line} |" for line in lines) + "\n")
    return 0 if quick and all(row[-1] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
