"""Repeated surveys: the mean squared error of each round beside its closed form, and the cost.

Run ``python benchmarks/rounds.py`` (``--repeats 2`` for a rough look). The set-up is that of
LOLOHA's paper (Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023): hours worked a week of the 45,222
complete records of Adult, k = 96 values, 260 rounds, in each of which the values are dealt out anew
among the people; a permanent epsilon of 1, 2 and 4, and 0.4 of it for one round; hashed to two
values. Where the table does not lie beside, a stand-in of as many people and values is drawn, and
the output says so. The error is the mean over all values, rounds and repeats of the squared error
of a share. The exit status is 1 if it is not within 5% of its closed form, if a budget is not the
one stated, or if the exact law of a small history breaks it. A Markdown copy goes to
``benchmarks/out/rounds.md``.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourdine.audit.exhaustive import worst_case
from sourdine.local.rounds.histories import Histories, alike, any_two, stays
from sourdine.local.rounds.memoised import MemoisedHashing, PermanentResponse
from sourdine.noise import SeededSource

PERMANENT, ONCE, VALUES = (1, 2, 4), Fraction(2, 5), 2
PEOPLE, CATEGORIES, ROUNDS, REPEATS = 45_222, 96, 260, 20
NEAR = 0.05
COLUMN = "hours-per-week"

Codes = NDArray[np.int64]


def hours() -> tuple[Codes, str]:
    """Return the codes of the values, and where they are from."""
    for path in Path(__file__).resolve().parents[2].glob("*/data/adult_all.csv.gz"):
        import pandas as pd

        table = pd.read_csv(path, skipinitialspace=True, na_values="?").dropna()
        codes = np.unique(table[COLUMN].to_numpy(), return_inverse=True)[1]
        return np.asarray(codes, np.int64), "Adult, hours a week"
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, CATEGORIES + 1) ** 1.5
    drawn = rng.choice(CATEGORIES, PEOPLE, p=weights / weights.sum())
    return drawn, "a stand-in: Adult is not at hand"


def error(oracle: MemoisedHashing, codes: Codes, seed: int) -> float:
    """Return the mean squared error of the shares over all rounds of one survey."""
    source, rng = SeededSource(seed), np.random.default_rng(seed)
    n, (p, q) = codes.size, oracle.chances
    truth = np.bincount(codes, minlength=oracle.categories) / n
    memory, total = oracle.remember(n, source), 0.0
    for _ in range(ROUNDS):
        reports = oracle.again(memory, rng.permutation(codes), source)
        found = (oracle.support(oracle.tally(reports)) / n - q) / (p - q)
        total += float(np.mean((found - truth) ** 2))
    return total / ROUNDS


def closed_form(oracle: MemoisedHashing, codes: Codes) -> float:
    """Return the mean variance of the shares, by the formula."""
    n, (p, q) = codes.size, oracle.chances
    f = np.bincount(codes, minlength=oracle.categories) / n
    return float(np.mean((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2)))


def audited(epsilon: Fraction, permanent: Fraction) -> bool:
    """Return whether small histories keep their losses, and weaker copies do not."""

    def small(between: str, factor: Fraction) -> Histories:
        own = {"epsilon": factor * epsilon, "permanent": factor * permanent}
        hashed = MemoisedHashing(**own, categories=3) if between != "alike" else None
        oracle = hashed or PermanentResponse(**own, categories=VALUES)
        return Histories(oracle=oracle, rounds=4, between=between)

    for between in ("stays", "alike", "any"):
        mine, weak = small(between, Fraction(1)), small(between, Fraction(21, 20))
        k = 2 if between == "alike" else 3
        every = [(c,) * 4 for c in range(k)] if between == "stays" else product(range(k), repeat=4)
        inputs = list(every)
        if not worst_case(mine, inputs).within(mine.guarantee):
            return False
        if worst_case(weak, inputs, mine.guarantee).within(mine.guarantee):
            return False
    return True


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    codes, origin = hours()
    k = int(codes.max()) + 1
    heads = (
        *("permanent", "one round", "MSE", "closed form", "ratio", "rare form"),
        *("stays", "alike", "any two", "audited"),
    )
    lines, met = [], True
    for permanent in PERMANENT:
        once = ONCE * permanent
        oracle = MemoisedHashing(epsilon=once, permanent=permanent, categories=k, values=VALUES)
        runs = track(range(repeats), f"permanent {permanent}", transient=True)
        found = float(np.mean([error(oracle, codes, seed) for seed in runs]))
        form, rare = closed_form(oracle, codes), oracle.noise_variance / codes.size
        exact = audited(once, Fraction(permanent))
        spent = [float(loss(oracle, ROUNDS)) for loss in (stays, alike, any_two)]
        budget = abs(spent[1] - VALUES * permanent) < 1e-6 and spent[0] <= permanent
        met &= abs(found / form - 1) <= NEAR and budget and exact
        errors = [f"{found:.3e}", f"{form:.3e}", f"{found / form:.3f}", f"{found / rare:.3f}"]
        costs = [f"{x:.4g}" for x in spent]
        said = "yes" if exact else "NO"
        line = (str(permanent), f"{float(once):g}", *errors, *costs, said)
        lines.append(line)
    said = f"{origin}: {codes.size} people, {k} values, {ROUNDS} rounds, {repeats} repeats"
    table = Table(*heads, title=said)
    for line in lines:
        table.add_row(*line)
    Console(width=120).print(table)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    rows = [heads, ["---"] * len(heads), *lines]
    text = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    (out / "rounds.md").write_text(f"{said}\n\n{text}\n", "utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
