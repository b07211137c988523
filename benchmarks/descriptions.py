"""Whether the intervals of descriptions hold: Adult, wages, payroll and Pima, each described anew.

Run ``python benchmarks/descriptions.py`` (``--runs 20`` for a rough look). For every column of
numbers: in which part of the runs the 95 % interval holds the mean, and all deciles, of the values
within the bounds that were found. The exit status is 1 if one holds in fewer than 95 %, less four
standard errors. Tables that do not lie beside the repository are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sourdine as sd
from sourdine.data import wages

DECILES = [k / 10 for k in range(1, 10)]


def tables() -> dict[str, pd.DataFrame]:
    """Return the tables there are."""
    found = {"wages": pd.DataFrame({"wage": np.asarray(wages(), float)})}
    beside = {
        "Adult": "adult_all.csv.gz",
        "payroll": "nyc_payroll_fy2016_sample_nonames.csv.gz",
        "Pima": "diabetes.csv",
    }
    for name, file in beside.items():
        for path in Path(__file__).resolve().parents[2].glob(f"*/data/{file}"):
            found[name] = pd.read_csv(path)
    return found


def held(release: Any, table: pd.DataFrame) -> dict[tuple[str, str], bool]:
    """Return which intervals hold the truth."""
    ends, out = release.interval(0.95), {}
    for name, numbers in release.value.items():
        if "mean" not in numbers:
            continue
        x = np.sort(table[name].dropna().to_numpy(float))
        x = np.clip(x, numbers["lowest"], numbers["highest"])
        low, high = ends[name]["mean"]
        fine = 1e-5 * (numbers["highest"] - numbers["lowest"])
        out[name, "mean"] = low - fine <= x.mean() <= high + fine
        truth = {f"{round(100 * q)} %": x[ceil(q * len(x)) - 1] for q in DECILES}
        inside = [ends[name][q][0] - fine <= t <= ends[name][q][1] + fine for q, t in truth.items()]
        out[name, "deciles"] = all(inside)
    return out


def main() -> None:
    """Print the table; fail if an interval holds too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    shown, missed = Table("table", "column", "of", "holds"), 0
    for name, table in tables().items():
        seen = defaultdict(list)
        for _ in track(range(runs), description=name):
            for what, ok in held(sd.describe(table, epsilon=1), table).items():
                seen[what].append(ok)
        for (column, of), oks in seen.items():
            part = float(np.mean(oks))
            bad = part < 0.95 - 4 * sqrt(0.0475 / len(oks))
            missed += bad
            shown.add_row(name, column, of, f"{part:.3f}", style="red" if bad else None)
    Console(width=100).print(shown)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
