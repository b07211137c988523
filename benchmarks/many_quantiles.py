"""Many quantiles: largest rank errors of ``method="auto"``, and beside the newest results.

Run ``python benchmarks/many_quantiles.py`` (``--runs 100``). The exit status is 1 if a promise is
missed. A Markdown table and the picture go to ``benchmarks/out``; ``--publish`` puts the picture
into the manual.

* *No cliff*: on US wages (247,696 records, 200,001 ticks, many ties) at epsilon 1 the largest rank
  error stays within 90 for 300 to 10,000 quantiles, in 0.3 s each; on a declared range of 2**40
  ticks within 100 for up to 3000.
* *Beside others*: the set-up of J. Imola, F. Boninsegna, H. Keller, A. Aamand, A. Roy Chowdhury,
  R. Pagh, "Differentially private quantiles with smaller error", NeurIPS 2025, arXiv 2505.13662:
  the ages of the Adult data, twelve times, n = 586,104, ties broken by (i + 1)/n and a little
  noise, within 0 and 100, m orders, epsilon 1. Their numbers are read off their plot.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import sourdine as sd
from sourdine.data import wages
from sourdine.results import figures

Floats = NDArray[np.float64]
OUT = Path(__file__).parent / "out"
MANUAL = Path(__file__).parents[1] / "docs" / "images" / "many_quantiles.png"
YOUNGEST = 17
AGES = (
    595,
    862,
    1053,
    1113,
    1096,
    1178,
    1329,
    1206,
    1195,
    1153,
    1232,
    1280,
    1223,
    1278,
    1325,
    1253,
    1335,
    1303,
    1337,
    1348,
    1280,
    1264,
    1206,
    1187,
    1235,
    1165,
    1104,
    1067,
    1096,
    1097,
    1081,
    845,
    847,
    866,
    877,
    738,
    711,
    613,
    621,
    564,
    551,
    555,
    523,
    449,
    450,
    394,
    335,
    340,
    284,
    237,
    238,
    178,
    149,
    133,
    118,
    120,
    108,
    77,
    72,
    69,
    54,
    34,
    30,
    38,
    37,
    15,
    11,
    13,
    5,
    1,
    3,
    6,
    2,
    55,
)
"""How many people of the Adult data (UCI, CC BY 4.0) have each age from 17 on."""
MS = (10, 50, 100, 200)
WANTED = {10: 9.5, 50: 21.0, 100: 25.0, 200: 33.0}
OTHERS = {
    "SliceQuantiles, delta 1e-16": (31, 53, 73, 94),
    "Kaplan, Schnapp, Stemmer": (25, 70, 93, 111),
}
"""Largest rank errors, read off the plot of arXiv 2505.13662."""


def ages() -> Floats:
    """Return the ages as that paper spreads them."""
    x = np.repeat(np.arange(YOUNGEST, YOUNGEST + len(AGES)), 12 * np.array(AGES)).astype(float)
    n, rng = len(x), np.random.default_rng(42)
    return np.asarray(np.sort(x + rng.normal(0, 1e-6, n) + np.arange(1, n + 1) / n))


def largest(ranked: Floats, q: list[Fraction], ticks: Floats) -> float:
    """Return the largest rank error; a tick has all ranks of its records."""
    goals = np.array([float(order) for order in q]) * len(ranked)
    low, high = (ranked.searchsorted(ticks, side=side) for side in ("left", "right"))
    return float(np.maximum(np.maximum(low - goals, goals - high), 0).max())


class Board:
    """The table, and whether every promise was kept."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = []
        self.kept = True

    def add(self, name: str, found: list[float], seconds: list[float], most: float) -> float:
        """Enter the mean of the runs beside what is promised of it."""
        mean, time = float(np.mean(found)), float(np.mean(seconds))
        met = mean <= most
        self.kept &= met
        row = (name, f"{mean:.1f}", f"{most:g}", f"{time:.2f} s", "yes" if met else "NO")
        self.rows.append(row)
        return mean


def equal(m: int) -> list[Fraction]:
    """Return m orders, evenly spaced."""
    return [Fraction(j, m + 1) for j in range(1, m + 1)]


def out_of(m: int, all_of: int = 250) -> list[Fraction]:
    """Return m orders out of so many evenly spaced ones."""
    return [Fraction(int(j), all_of + 1) for j in np.linspace(1, all_of, m).round()]


def measured(
    x: Floats, q: list[Fraction], runs: int, **grid: object
) -> tuple[list[float], list[float]]:
    """Return largest rank errors and the seconds that calls took."""
    ranked, errors, seconds = np.sort(x), [], []
    for _ in range(runs):
        start = process_time()
        release = sd.quantiles(x, q, epsilon=1, interval=None, **grid)  # type: ignore[arg-type]
        seconds.append(process_time() - start)
        errors.append(largest(ranked, q, release.value))
    return errors, seconds


def picture(found: dict[int, float], path: Path) -> None:
    """Draw largest rank errors over the number of quantiles."""
    figure, axes = figures.canvas(7.0, 4.2)
    lines = zip(OTHERS.items(), (figures.GREY, figures.RED), ("s", "^"), strict=True)
    for (name, errors), colour, mark in lines:
        axes.plot(MS, errors, f"-{mark}", color=colour, linewidth=1.4, label=name)
    axes.plot(MS, [found[m] for m in MS], "-o", color=figures.BLUE, linewidth=2, label="Sourdine")
    axes.set_xlabel("quantiles released at once", color=figures.INK)
    axes.set_ylabel("largest rank error", color=figures.INK)
    axes.set_ylim(bottom=0)
    axes.set_xticks(MS)
    axes.grid(axis="y", color=figures.RULE, linewidth=0.8)
    axes.legend(frameon=False, fontsize=9, labelcolor=figures.INK)
    title = "Ages of the Adult data, twelve times: n = 586,104, epsilon 1"
    axes.set_title(title, loc="left", color=figures.INK, fontsize=11)
    figure.savefig(path)


def main() -> int:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--publish", action="store_true")
    options = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    board, found = Board(), {}
    wide = np.rint(np.random.default_rng(7).lognormal(12, 2, 250_000))
    salaries = np.minimum(wages(), 200_000).astype(float)
    few = max(2, options.runs // 10)
    dollars = {"bounds": (0, 200_000), "step": 1}
    declared = {"bounds": (0, 2**40 - 1), "step": 1}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("many quantiles", total=12)
        for m in (300, 500, 999, 3000, 10_000):
            errors, seconds = measured(salaries, equal(m), few, **dollars)
            board.add(f"wages, m = {m}", errors, seconds, 90)
            board.kept &= float(np.mean(seconds)) <= 0.3
            progress.advance(bar)
        for m in (300, 999, 3000):
            errors, seconds = measured(wide, equal(m), few, **declared)
            board.add(f"2**40 ticks, m = {m}", errors, seconds, 100)
            progress.advance(bar)
        x = ages()
        for m in MS:
            errors, seconds = measured(x, out_of(m), options.runs, bounds=(0, 100), step=1e-6)
            found[m] = board.add(f"Adult ages x 12, m = {m}", errors, seconds, WANTED[m])
            progress.advance(bar)
    heads = ("what", "largest rank error", "promised", "time", "kept")
    table = Table(*heads, title="Many quantiles, epsilon 1")
    for row in board.rows:
        table.add_row(*row)
    Console().print(table)
    lines = [" | ".join(row) for row in (heads, ("---",) * len(heads), *board.rows)]
    (OUT / "many_quantiles.md").write_text("\n".join(f"| {line} |" for line in lines) + "\n")
    picture(found, MANUAL if options.publish else OUT / "many_quantiles.png")
    return 0 if board.kept else 1


if __name__ == "__main__":
    sys.exit(main())
