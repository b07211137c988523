"""How much bounds that nobody knows cost: a mean with found bounds beside the best in hindsight.

Run ``python benchmarks/found_bounds.py`` (``--runs 100`` for a rough look, ``--jobs 2`` for two
processes, ``--data DIR`` for a directory with ``adult_all.csv.gz`` and
``nyc_payroll_fy2016_sample_nonames.csv.gz``, whose columns are skipped without it). The exit status
is 1 if a target is missed. A Markdown copy goes to ``benchmarks/out/found_bounds.md``.

Every run is a whole public call, ``sd.mean(x, bounds="find", epsilon=...)``, with bounds that are
searched (``laplace``, judged below) and from sums of octaves (``octaves``). Its error is compared
with that of the best clip in hindsight at the whole epsilon: the two bounds, among the records,
with the least root of bias squared plus variance; the biases of the two sides are not let cancel,
as that would be luck and no choice of bounds. *Trimmed*: without the worst 5% of runs. A *failure*
is a run whose error is more than ten times the best.

* *Each*: where n times epsilon is 1000 or more the trimmed root mean square error is at most four
  times the best, and at most 2.1 times in geometric mean.
* *Failures*: at most 1% of those runs, 10% for capital gains, of which half a percent are 99,999.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import sourdine as sd
from sourdine.frames.frame import Frame

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
EPSILONS, NUMBERS = (0.1, 1.0), (1000, 10_000, 250_000)
ENOUGH, GEOMETRIC, EACH, OFTEN = 1000, 2.1, 4.0, 10.0
MOST_FAILURES = {"capital gain": 0.1}
"""The share of runs that may fail, 1% where nothing is said."""
FILES = {
    "payroll": ("nyc_payroll_fy2016_sample_nonames.csv.gz", "RegularGrossPaid"),
    "capital gain": ("adult_all.csv.gz", "capital-gain"),
    "hours": ("adult_all.csv.gz", "hours-per-week"),
}


def _mixture(rng: np.random.Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.3, -rng.exponential(50, n), rng.normal(20, 5, n))


LAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal(1e6, 1)": lambda rng, n: rng.normal(1e6, 1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "Pareto 1.5": lambda rng, n: rng.pareto(1.5, n) + 1,
    "timestamps": lambda rng, n: 1.7e9 + np.floor(rng.random(n) * 86400),
    "mixture": _mixture,
    "all zero": lambda rng, n: np.zeros(n),  # noqa: ARG005
    "constant": lambda rng, n: np.full(n, 37.5),  # noqa: ARG005
    "exponential": lambda rng, n: rng.exponential(3, n),
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
    "t3": lambda rng, n: rng.standard_t(3, n) * 5 + 40,
    "lognormal 2": lambda rng, n: rng.lognormal(3, 2, n),
    "beta": lambda rng, n: rng.beta(2, 5, n),
    "Poisson": lambda rng, n: rng.poisson(3, n).astype(float),
    "two peaks": lambda rng, n: rng.normal(0, 3, n) + np.where(rng.random(n) < 0.5, -30, 30),
    "few far": lambda rng, n: np.where(rng.random(n) < 0.02, 1000, rng.normal(50, 10, n)),
}
METHODS = ("laplace", "octaves")
NEW = list(LAWS)[8:]
"""Laws without targets: beside few records far away a search leaves all of them out."""


@dataclass(frozen=True)
class Cell:
    """One column of records at one epsilon."""

    name: str
    epsilon: float
    n: int
    runs: int
    data: str | None
    method: str = "laplace"

    def records(self) -> Floats:
        """Return the records, in order; of a file, evenly spaced ones of all."""
        if self.name in LAWS:
            rng = np.random.default_rng([self.n, len(self.name)])
            return np.sort(LAWS[self.name](rng, self.n))
        every = np.sort(_column(self.name, self.data))
        evenly = (np.arange(self.n) + 0.5) * len(every) / self.n
        return every[evenly.astype(int)]


@dataclass(frozen=True)
class Measured:
    """What the runs of a cell showed; ratios are to the best clip, or errors where that is 0."""

    cell: Cell
    best: float
    whole: float
    trimmed: float
    failures: float

    @property
    def judged(self) -> bool:
        """Whether the targets are for this cell."""
        old = self.cell.name not in NEW and self.cell.method == METHODS[0]
        return old and self.cell.n * self.cell.epsilon >= ENOUGH

    @property
    def missed(self) -> bool:
        """Whether a target of this cell is missed."""
        allowed = MOST_FAILURES.get(self.cell.name, 0.01)
        chance = allowed + 3 * sqrt(allowed / self.cell.runs)
        far = self.best > 0 and (self.trimmed > EACH or self.failures > chance)
        return self.judged and far


def _column(name: str, data: str | None) -> Floats:
    if name == "wages":
        return sd.data.wages().astype(float)
    file, column = FILES[name]
    with gzip.open(Path(data or "") / file, "rt") as lines:
        return np.array([float(row[column] or 0) for row in csv.DictReader(lines)])


def _best(x: Floats, epsilon: float) -> float:
    """Return the least error of a mean between any two records as bounds."""
    n, sums = len(x), np.concatenate(([0.0], np.cumsum(x)))
    ranks = np.unique([*range(min(60, n)), *(np.geomspace(1, n, 120).astype(int) - 1)])
    low, high = np.meshgrid(np.unique(x[ranks]), np.unique(x[n - 1 - ranks]))
    low, high = low[low < high], high[low < high]
    if not len(low):
        return 0.0
    i, j = np.searchsorted(x, low), np.searchsorted(x, high)
    mean = (low * i + sums[j] - sums[i] + high * (n - j)) / n
    p = (mean - low) / (high - low)
    noise = 2 * ((high - low) / (n * epsilon)) ** 2 * (p * p + (1 - p) ** 2)
    bias = (low * i - sums[i]) / n + (sums[n] - sums[j] - high * (n - j)) / n
    return float(np.sqrt((bias**2 + noise).min()))


def measure(cell: Cell) -> Measured:
    """Run the public call many times."""
    x = cell.records()
    frame, truth = Frame(x), float(x.mean())
    found = [
        float(sd.mean(frame, bounds="find", epsilon=cell.epsilon, method=cell.method).value)
        for _ in range(cell.runs)
    ]
    errors = np.sort(np.abs(np.array(found) - truth))
    best = _best(x, cell.epsilon)
    unit, kept = best or 1.0, errors[: ceil(0.95 * cell.runs)]
    return Measured(
        cell,
        best,
        float(np.sqrt((errors**2).mean())) / unit,
        float(np.sqrt((kept**2).mean())) / unit,
        float((errors > OFTEN * unit).mean()),
    )


def _cells(runs: int, few: int, data: str | None) -> list[Cell]:
    there = [name for name, (file, _) in FILES.items() if data and (Path(data) / file).exists()]
    return [
        Cell(name, epsilon, n, few if n == NUMBERS[-1] else runs, data, method)
        for name in ("wages", *there, *LAWS)
        for method in METHODS
        for epsilon in EPSILONS
        for n in NUMBERS
    ]


def _row(name: str, measured: list[Measured]) -> list[str]:
    texts = []
    for m in measured:
        mark = " *missed*" if m.missed else ""
        texts.append(f"{m.whole:.2g} / {m.trimmed:.2g} / {100 * m.failures:.1f}%{mark}")
    return [name, *texts]


def main() -> int:
    """Measure all cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--few", type=int, default=40, help="runs of the largest number of records")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", help="a directory with further data")
    options = parser.parse_args()
    cells = _cells(options.runs, options.few, options.data)
    with ProcessPoolExecutor(options.jobs) as pool:
        measured = list(pool.map(measure, cells))
    heads = ["mean of", *(f"epsilon {e:g}, n {n}" for e in EPSILONS for n in NUMBERS)]
    names = list(dict.fromkeys((m.cell.name, m.cell.method) for m in measured))
    rows = [
        _row(" by ".join(own), [m for m in measured if (m.cell.name, m.cell.method) == own])
        for own in names
    ]
    logs = [np.log(m.trimmed) for m in measured if m.judged and m.best > 0]
    geometric = float(np.exp(np.mean(logs)))
    table = Table(*heads, title="error over that of the best clip: all runs / trimmed / failures")
    for row in rows:
        table.add_row(*row)
    Console(width=170).print(table)
    told = f"trimmed, geometric mean where n epsilon is at least {ENOUGH}: {geometric:.2f}"
    for method in METHODS:
        for product in sorted({m.cell.n * m.cell.epsilon for m in measured}):
            own = [
                m.trimmed
                for m in measured
                if m.best > 0 and (m.cell.method, m.cell.n * m.cell.epsilon) == (method, product)
            ]
            mean = float(np.exp(np.mean(np.log(own))))
            told += f"\n{method}, n epsilon {product:g}: geometric {mean:.2f}, worst {max(own):.2f}"
    print(told)
    out = Path(__file__).parent / "out" / "found_bounds.md"
    out.parent.mkdir(exist_ok=True)
    lines = [heads, ["---"] * len(heads), *rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    out.write_text(f"{text}\n\n{told}\n", "utf-8")
    return int(geometric > GEOMETRIC or any(m.missed for m in measured))


if __name__ == "__main__":
    sys.exit(main())
