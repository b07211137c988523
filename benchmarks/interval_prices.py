"""What the default interval of a median and of deciles costs in accuracy, compared with none.

For each number of records and each epsilon: the rank error that 95 of 100 answers stay within,
with `interval=None` and with the default interval, and the half width of that interval, all in
percentage points of rank. Records lie evenly, so a rank is a rank. ``--runs`` changes the number
of answers (300); the table goes to ``benchmarks/out/interval_prices.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sourdine as sd

SIZES = (500, 5000, 50_000)
EPSILONS = (0.1, 1)
ORDERS = {"median": [0.5], "deciles": [i / 10 for i in range(1, 10)]}
OUT = Path(__file__).parent / "out" / "interval_prices.md"


def measured(orders: list[float], n: int, epsilon: float, runs: int) -> tuple[float, ...]:
    """Return both rank errors and the half width of the widest interval, in percentage points.

    Last comes how often an interval reaches an end of the range.
    """
    x = np.arange(n) + 0.5
    truth = np.ceil(np.array(orders) * n) - 0.5
    asked = {"bounds": (0, n), "step": 0.5, "epsilon": epsilon}
    plain, bought, half, ended = [], [], [], 0
    for _ in range(runs):
        value = sd.quantiles(x, orders, **asked, interval=None).value
        plain.append(np.abs(value - truth).max())
        release = sd.quantiles(x, orders, **asked)
        bought.append(np.abs(release.value - truth).max())
        low, high = release.interval()
        half.append((high - low).max() / 2)
        ended += bool((low <= 0).any() or (high >= n).any())
    errors = (np.quantile(errors, 0.95) for errors in (plain, bought))
    return (*(100 * e / n for e in errors), 100 * float(np.median(half)) / n, ended / runs)


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    cases = [(name, n, eps) for name in ORDERS for n in SIZES for eps in EPSILONS]
    heads = (
        "statistic",
        "n",
        "epsilon",
        "error, none",
        "error, default",
        "half width",
        "to an end",
    )
    lines = []
    for name, n, epsilon in track(cases, "Measuring"):
        found = measured(ORDERS[name], n, epsilon, runs)
        shown = [f"{x:.3g}" for x in found[:3]]
        lines.append((name, f"{n:,}", f"{epsilon:g}", *shown, f"{100 * found[3]:.0f}%"))
    table = Table(*heads, title="95% of answers, in percentage points of rank")
    for line in lines:
        table.add_row(*line)
    Console().print(table)
    OUT.parent.mkdir(exist_ok=True)
    rows = [heads, ["---"] * len(heads), *lines]
    OUT.write_text("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")


if __name__ == "__main__":
    main()
